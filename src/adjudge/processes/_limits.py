"""How long a job may take: CPU time first, the wall clock as a backstop.

The CPU limit counts the time that the worker itself was running since it took the job, so that other processes on
the machine cannot use it up. The wall backstop is for jobs that sleep; time in which the worker was ready to run but
waited in the scheduler's queue does not count where the kernel reports it (Linux: `/proc/PID/schedstat`).
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from adjudge.errors import UsageError
from adjudge.processes._errors import JobTimeout

__all__ = ["JobLimits", "Meter", "cpu_time", "own_timer", "queued_time"]

_SLICE_S = 0.1
"""The longest that the owner waits before it reads the worker's clock again: the overrun of a threaded job."""

_LEAST_S = 0.005
"""The shortest: near its limit a job is checked this often instead of in a busy loop."""

_SCHEDULER_CLOCK = 2
"""Linux's CPUCLOCK_SCHED: the process clock in nanoseconds."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one job may use: seconds of the worker's CPU time, and of wall-clock time as a backstop."""

    cpu_s: float
    wall_s: float

    def __post_init__(self) -> None:
        for name, seconds in (("cpu_s", self.cpu_s), ("wall_s", self.wall_s)):
            # Written so that NaN is rejected too.
            if not seconds > 0:
                raise UsageError(f"{name} must be a number of seconds above 0, not {seconds!r}", code="bad-limit")

    def overrun(self) -> JobTimeout:
        """Return the error of a job that used too much CPU time."""
        return JobTimeout(f"the job used more than {self.cpu_s:g} s of CPU time and its worker was killed")


def cpu_time(pid: int) -> float | None:
    """Return the seconds of CPU time that a process has used, or None if the system cannot report it.

    The id is what `clock_getcpuclockid` makes of a pid on Linux; one system call, no file of `/proc` to parse.
    """
    try:
        return time.clock_gettime((~pid << 3) | _SCHEDULER_CLOCK)
    except (OSError, OverflowError, AttributeError):
        return None


def own_timer(cpu_s: float) -> float:
    """Return the seconds for a worker's own CPU timer: 0.0, which is off, if its owner can read its clock."""
    return 0.0 if _is_readable(cpu_time) else cpu_s


@cache
def _is_readable(clock: Callable[[int], float | None]) -> bool:
    return clock(os.getpid()) is not None


def queued_time(pid: int) -> float:
    """Return the seconds that a process was ready to run but waited for a core; 0.0 if the system cannot report it."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:  # noqa: PTH123  # read while a job runs, pathlib is an import
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class Meter:
    """One job's use of its limits, from the moment its worker takes it."""

    __slots__ = ("_cpu_start", "_limits", "_pid", "_queued_start", "_wall_start")

    def __init__(self, pid: int, limits: JobLimits, cpu_start: float | None) -> None:
        self._pid = pid
        self._limits = limits
        self._cpu_start = cpu_start
        self._queued_start: float | None = None
        self._wall_start = time.monotonic()

    def first_look(self) -> float:
        """Return how long to wait before the first look at the clocks: most jobs are done by then."""
        return min(self._limits.cpu_s, self._limits.wall_s, _SLICE_S)

    def next_look(self) -> float:
        """Return how long to wait before the next look; raises `JobTimeout` if a limit is reached."""
        if self._queued_start is None:
            # Not read when the job starts: it costs as much as a small job, and at most one slice is lost here.
            self._queued_start = queued_time(self._pid)
        return min(max(self._cpu_left(), _LEAST_S), max(self._wall_left(), _LEAST_S), _SLICE_S)

    def _cpu_left(self) -> float:
        now = None if self._cpu_start is None else cpu_time(self._pid)
        if now is None or self._cpu_start is None:
            return _SLICE_S
        left = self._limits.cpu_s - (now - self._cpu_start)
        if left <= 0:
            raise self._limits.overrun()
        return left

    def _wall_left(self) -> float:
        left = self._limits.wall_s - (time.monotonic() - self._wall_start)
        if left <= 0:
            left += queued_time(self._pid) - (self._queued_start or 0.0)
        if left <= 0:
            raise JobTimeout(
                f"the job was not done after {self._limits.wall_s:g} s of wall-clock time and its worker was killed"
            )
        return left
