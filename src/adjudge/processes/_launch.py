"""Starting, watching and ending one process.

The child is started by `subprocess` (no fork of our threads' state, no `multiprocessing` and its rules about who
may have children), in a session and process group of its own, with two descriptors: the channel, and a lifeline whose
other end nobody but us holds.
"""

import fcntl
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from adjudge.processes import _fork
from adjudge.processes._errors import WorkerStartError

if TYPE_CHECKING:
    import socket
    import subprocess

__all__ = ["KERNEL_WATCH", "Process", "Stderr", "launch"]

Stderr = Literal["inherit", "discard"]

KERNEL_WATCH = hasattr(fcntl, "F_SETSIG")
"""Whether the kernel can kill a process when a pipe hangs up (Linux)."""

_REAP_S = 5.0

_BOOTSTRAP = (
    "import sys; sys.path[:] = {path!r}; from adjudge.processes._child import main; main({channel}, {lifeline})"
)


class Process:
    """One started child: its pid, our end of its channel, and how it ends."""

    def __init__(self, popen: "subprocess.Popen[bytes]", channel: "socket.socket", lifeline: int) -> None:
        self.pid = popen.pid
        self.channel = channel
        self._lifeline = lifeline
        self._popen = popen
        self._ending = threading.Lock()
        self._foreign = False

    @property
    def running(self) -> bool:
        """Whether the child still holds its end of the channel."""
        descriptor = self.channel.fileno()
        if descriptor < 0:
            return False
        poll = select.poll()
        poll.register(descriptor, 0)
        return not poll.poll(0)

    def kill(self) -> None:
        """Send SIGKILL to the child and its whole group; returns at once, frees nothing."""
        # Not waited for: whoever holds it has sent the signal already. Held, because after the reaping the
        # pid may be somebody else's.
        if not self._foreign and self._ending.acquire(blocking=False):
            try:
                self._signal()
            finally:
                self._ending.release()

    def end(self, grace_s: float = 0.0) -> int | None:
        """Close the channel, wait `grace_s` for the child to leave, kill what is left, and return the exit status.

        Only for whoever has the channel to itself: a closed descriptor's number is soon another file's.
        """
        if self._foreign:
            return None
        with self._ending:
            self.channel.close()
            if grace_s > 0:
                self._left_within(grace_s)
            self._signal()
            if self._lifeline >= 0:
                os.close(self._lifeline)
                self._lifeline = -1
            self._wait(_REAP_S)
            return self._popen.returncode

    def after_fork(self) -> None:
        """In a forked child: this process is not ours to speak to, to signal or to wait for."""
        self._foreign = True
        self.channel.close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        self._popen.returncode = 0  # or its finaliser would warn about a child that still runs

    def _signal(self) -> None:
        # Also when the child is dead: its own children may not be. Until it is reaped the group's id is taken.
        if self._popen.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def _left_within(self, seconds: float) -> bool:
        """Whether the child left of its own will, without reaping it where that can be avoided."""
        import time

        deadline = time.monotonic() + seconds
        while not self._left():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def _left(self) -> bool:
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True

    def _wait(self, seconds: float) -> None:
        import subprocess

        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)


def launch(stderr: Stderr) -> Process:
    """Start a child that waits for its setup."""
    import socket
    import subprocess

    if not sys.executable:
        raise WorkerStartError("the path of the Python interpreter is not known here (sys.executable is empty)")
    with _fork.guard():
        ours, theirs = socket.socketpair()
        watched, lifeline = os.pipe()
        code = _BOOTSTRAP.format(
            path=list(map(str, sys.path)),
            channel=theirs.fileno(),
            lifeline=watched,
        )
        output = _usable_stderr() if stderr == "inherit" else subprocess.DEVNULL
        try:
            popen = subprocess.Popen(  # noqa: S603  # our own interpreter and code
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(), watched),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            os.close(lifeline)
            raise WorkerStartError(f"no worker process could be started: {error}") from error
        finally:
            theirs.close()
            os.close(watched)
        ours.setblocking(False)  # noqa: FBT003  # its only parameter
        process = Process(popen, ours, lifeline)
        _fork.register(process)
    return process


def _usable_stderr() -> int:
    """Our standard error, or the null device where it is closed."""
    import subprocess

    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
