"""Who is free, who is leased and who waits: the state of one pool, under one lock that is held for microseconds.

A member is starting, idle, leased, dirty or dead:

    starting ──> idle ──> leased ──> dirty ──> leased ...
                  │         │          │
                  └─────────┴──────────┴─────> dead

A dirty member was used before: whoever gets it first asks whether it answers, and cannot act in it before a reset.
Nothing here waits, starts or ends anything: the pool's callbacks do, on the background loop.
"""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Literal

from adjudge.environments._loops import Ticket
from adjudge.environments._world import Instance, PoolLimits
from adjudge.errors import AdjudgeError, UsageError

__all__ = ["Counts", "InstanceTicket", "Member", "Roster"]

_WAITS_KEPT = 1000
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_MOST_FAILURES = 10  # more make the pause no longer

State = Literal["idle", "leased", "dirty", "dead"]


@dataclass(frozen=True, slots=True)
class Counts:
    """One pool at one moment, and since it was made.

    Now: instances that are `starting`, `idle` (never used), `dirty` (used, not yet handed out again) and `leased`,
    and the rollouts that are `waiting`. Since it was made: instances that were started (`starts`) and that are gone
    (`dead`), of these the `recycles` for episodes, age or memory and the `faults`; leases `given` and `returned`, of
    these the `reaped`, which nobody called in time; `timeouts` of waiting. Always starts = starting + idle + dirty +
    leased + dead; given - returned leases are open.

    `waited_s` is the total time that rollouts have waited for an instance, `longest_wait_s` the longest wait,
    `median_wait_s` that of the last thousand.
    """

    starting: int = 0
    idle: int = 0
    dirty: int = 0
    leased: int = 0
    waiting: int = 0
    starts: int = 0
    dead: int = 0
    recycles: int = 0
    given: int = 0
    returned: int = 0
    reaped: int = 0
    timeouts: int = 0
    faults: int = 0
    waited_s: float = 0.0
    longest_wait_s: float = 0.0
    median_wait_s: float = 0.0

    @property
    def free(self) -> int:
        """How many instances are not in use."""
        return self.idle + self.dirty


class Member:
    """One instance of a pool."""

    __slots__ = ("born", "episodes", "instance", "state")

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.state: State = "idle"
        self.episodes = 0
        self.born = time.monotonic()


class InstanceTicket(Ticket):
    """A ticket for a member, or for the error that takes its place."""

    __slots__ = ("error", "member", "since")

    def __init__(self) -> None:
        super().__init__()
        self.member: Member | None = None
        self.error: AdjudgeError | None = None
        self.since = time.monotonic()


class Roster:
    """The members of one pool, handed out first come, first served."""

    def __init__(
        self, size: int, limits: PoolLimits, start: Callable[[int, float], object], end: Callable[[Member], object]
    ) -> None:
        self.lock = threading.Lock()
        self.limits = limits
        self._size = size
        self._start = start
        self._end = end
        self._free: list[Member] = []
        self._line: OrderedDict[InstanceTicket, None] = OrderedDict()  # leaving it costs the same anywhere
        self._out: set[Member] = set()
        self._starting = 0
        self._failures = 0  # starts that failed one after another
        self.failure: AdjudgeError | None = None  # of the last start, until one works
        self._closed = False
        self._waited_s = self._longest_wait_s = 0.0
        self._last_waits: deque[float] = deque(maxlen=_WAITS_KEPT)
        self.tally = dict.fromkeys(
            ("starts", "dead", "recycles", "given", "returned", "reaped", "timeouts", "faults"), 0
        )

    def take(self) -> Member | None:
        """Take a free member, or return None: the caller has to wait in line."""
        with self.lock:
            self._check_open()
            # A newcomer must not overtake those who already wait, even if a member is free for a moment.
            if not self._free or self._line:
                return None
            member = self._free.pop()
            self._out.add(member)
            return member

    def line_up(self, ticket: InstanceTicket, *, first: bool = False) -> None:
        """Wait in line (in front, for a rollout that lost its member), and start a member if the pool may have one."""
        with self.lock:
            self._check_open()
            self._line[ticket] = None
            if first:
                self._line.move_to_end(ticket, last=False)
            if self._free:
                self._offer(self._free.pop())
            starts = self._top_up()
        self._start(starts, 0.0)

    def leave(self, ticket: InstanceTicket) -> None:
        """Leave the line, and return a member that was handed over but not taken."""
        with self.lock:
            self._line.pop(ticket, None)
            member, ticket.member = ticket.member, None
        if member is not None:
            self.give_back(member)

    def redeem(self, ticket: InstanceTicket) -> Member:
        """Take the member out of a ticket that was called; from now on it belongs to the caller."""
        if ticket.error is not None:
            raise ticket.error
        member, ticket.member = ticket.member, None
        if member is None:
            raise UsageError("the pool was closed", code="pool-closed")
        waited_s = time.monotonic() - ticket.since
        with self.lock:
            # Sums for the mean, the last thousand for the median: the counts of a long run stay small.
            self._waited_s += waited_s
            self._longest_wait_s = max(self._longest_wait_s, waited_s)
            self._last_waits.append(waited_s)
        return member

    def give_back(self, member: Member, *, fit: bool = True) -> None:
        """Take a member back; one that is unfit, dead or due is ended, and another one started if somebody waits."""
        # Asked before the lock: reading the memory of a process takes longer than the lock may be held.
        due = fit and self._is_due(member)
        alive = fit and not due and member.instance.alive
        with self.lock:
            self._out.discard(member)
            member.state = "dirty"
            if alive and not self._closed:
                self._offer(member)
                starts = 0
            else:
                member.state = "dead"
                self.tally["dead"] += 1
                self.tally["recycles"] += due
                # One that its owner ended, or that ends with the pool, did not fail.
                self.tally["faults"] += not due and not self._closed and not member.instance.alive
                starts = self._top_up()
        if member.state == "dead":
            self._end(member)
        self._start(starts, 0.0)

    def add(self, member: Member) -> None:
        """Add a member that has been started."""
        with self.lock:
            self._starting -= 1
            self._failures, self.failure = 0, None
            if not self._closed:
                self._offer(member)
                return
            member.state = "dead"
            self.tally["dead"] += 1
        self._end(member)

    def report_failure(self, error: AdjudgeError) -> None:
        """Try a failed start again, after a pause, for as long as somebody waits.

        Nobody in line has done anything wrong: each waits until its own time is up. An error of the call, such as a
        missing package, goes to all at once: every start would fail in the same way.
        """
        with self.lock:
            self._starting -= 1
            self.tally["dead"] += 1
            self.tally["faults"] += 1
            self.failure = error
            # Short at first, because most failures are one killed process. Longer for what cannot start at all.
            pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._failures)
            self._failures = min(self._failures + 1, _MOST_FAILURES)
            while self._line and isinstance(error, UsageError):
                ticket, _ = self._line.popitem(last=False)
                ticket.error = copy(error)
                ticket.call()
            starts = self._top_up()
        self._start(starts, pause_s)

    def withdraw_start(self) -> bool:
        """Take back a start that has waited for its pause; False if somebody still needs it."""
        with self.lock:
            if self._line and not self._closed:
                return False
            self._starting -= 1
            self.tally["starts"] -= 1
            return True

    def close(self) -> None:
        """End what is free and refuse whoever waits; what is leased ends when it comes back."""
        with self.lock:
            self._closed = True
            # What is leased is not touched here: a call may be in progress, and it comes back with the end of its
            # lease.
            free, self._free = self._free, []
            line, self._line = list(self._line), OrderedDict()
            for member in free:
                member.state = "dead"
            self.tally["dead"] += len(free)
        for ticket in line:
            ticket.call()
        for member in free:
            self._end(member)

    def after_fork(self) -> None:
        """In a forked child: all members belong to the parent."""
        self.lock = threading.Lock()
        self._free, self._line, self._out = [], OrderedDict(), set()
        self._starting = self._failures = 0
        self.failure = None
        self.tally = dict.fromkeys(self.tally, 0)

    def counts(self) -> Counts:
        """Count members, leases and waits."""
        with self.lock:
            waits = sorted(self._last_waits)
            idle = sum(member.state == "idle" for member in self._free)
            return Counts(
                starting=self._starting,
                idle=idle,
                dirty=len(self._free) - idle,
                leased=len(self._out),
                waiting=len(self._line),
                waited_s=self._waited_s,
                longest_wait_s=self._longest_wait_s,
                median_wait_s=waits[len(waits) // 2] if waits else 0.0,
                **self.tally,
            )

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("the pool was closed", code="pool-closed")

    def _offer(self, member: Member) -> None:
        """Hand a member to the first in line whose loop still runs, or keep it."""
        while self._line:
            ticket, _ = self._line.popitem(last=False)
            # Put in before the call: the task may run on another thread at once.
            ticket.member = member
            self._out.add(member)
            if ticket.call():
                return
            ticket.member = None
            self._out.discard(member)
        self._free.append(member)

    def _top_up(self) -> int:
        """Return how many members to start for those who wait, and count them as starting."""
        # One start for each rollout in line that no start is under way for, as far as the pool has room.
        room = self._size - len(self._out) - len(self._free) - self._starting
        starts = 0 if self._closed else max(0, min(len(self._line) - self._starting, room))
        self._starting += starts
        self.tally["starts"] += starts
        return starts

    def _is_due(self, member: Member) -> bool:
        limits = self.limits
        if limits.episodes is not None and member.episodes >= limits.episodes:
            return True
        if limits.age_s is not None and time.monotonic() - member.born >= limits.age_s:
            return True
        return limits.memory_mb is not None and (member.instance.memory_mb() or 0.0) > limits.memory_mb
