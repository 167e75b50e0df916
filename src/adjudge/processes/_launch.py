"""Starting, watching and ending one process.

`subprocess` starts the child (no fork of our threads' state, and none of `multiprocessing`'s rules about who may have
children) in a session and process group of its own, with two descriptors: the channel, and a lifeline whose other end
only we hold.
"""

import fcntl
import os
import select
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from adjudge.errors import UsageError
from adjudge.processes._errors import WorkerStartError
from adjudge.processes._fork import guard, register_after_fork

if TYPE_CHECKING:
    import socket
    import subprocess
    from types import ModuleType

__all__ = ["KERNEL_WATCH", "Process", "Stderr", "check_options", "launch", "load_means", "means_loaded"]

Stderr = Literal["inherit", "discard"]

KERNEL_WATCH = hasattr(fcntl, "F_SETSIG")
"""Whether the kernel can kill a process when a pipe hangs up (Linux)."""

_REAP_S = 5.0

_BOOTSTRAP = (
    "import sys; sys.path[:] = {path!r}; from adjudge.processes._child import main; main({channel}, {lifeline})"
)


_loaded: "list[ModuleType]" = []


def means_loaded() -> bool:
    """Whether the first job's imports are done."""
    return bool(_loaded)


def load_means() -> "ModuleType":
    """Import what the first job needs, and return the module of the child's side.

    No fork can happen meanwhile: a child forked in the middle could never finish the imports.
    """
    if not _loaded:
        with guard():
            import socket  # noqa: F401 (these two for `launch`)
            import subprocess  # noqa: F401

            from adjudge.processes import _child

            _loaded.append(_child)
    return _loaded[0]


def check_options(target: str, *, memory_mb: int | None, warm: Iterable[str], stderr: str) -> tuple[str, ...]:
    """Reject options that could never start a worker, and return the modules to import in advance."""
    module, colon, path = target.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *path.split("."))):
        raise UsageError(f"a target must be 'module:function', not {target!r}", code="bad-target")
    if module == "__main__":
        raise UsageError(
            f"{target!r} is in the running script, which a worker does not import; put it in a module",
            code="bad-target",
        )
    if isinstance(warm, str):
        raise UsageError(f"warm must be a sequence of module names: ({warm!r},)", code="bad-warm")
    if memory_mb is not None and memory_mb <= 0:
        raise UsageError(f"memory_mb must be above 0 or None, not {memory_mb!r}", code="bad-limit")
    if stderr not in {"inherit", "discard"}:
        raise UsageError(f"stderr must be 'inherit' or 'discard', not {stderr!r}", code="bad-stderr")
    return tuple(warm)


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
        """Send SIGKILL to the child and its whole group; returns immediately and frees nothing."""
        # Never waited for: whoever holds the lock has sent the signal already. Held while signalling, because after
        # the reaping the pid may belong to another process.
        if not self._foreign and self._ending.acquire(blocking=False):
            try:
                self._signal()
            finally:
                self._ending.release()

    def end(self, grace_s: float = 0.0) -> int | None:
        """Close the channel, wait `grace_s` for the child to leave, kill what is left, and return the exit status.

        Call it only while nobody else uses the channel: the number of a closed descriptor soon means another file.
        """
        import subprocess
        import time

        if self._foreign:
            return None
        with self._ending:
            self.channel.close()
            deadline = time.monotonic() + grace_s
            while grace_s > 0 and not self._has_left() and time.monotonic() <= deadline:
                time.sleep(0.005)
            self._signal()
            self._drop_lifeline()
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(_REAP_S)
            return self._popen.returncode

    def after_fork(self) -> None:
        """In a forked child: the parent owns this process; do not talk to it, signal it or wait for it."""
        self._foreign = True
        self.channel.close()
        self._drop_lifeline()
        self._popen.returncode = 0  # or its finaliser would warn about a child that still runs

    def _signal(self) -> None:
        # Also if the child is dead: its own children may live. Until it is reaped nobody else gets the group's id.
        if self._popen.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def _drop_lifeline(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _has_left(self) -> bool:
        """Whether the child has exited, without reaping it where that can be avoided: its group may not be gone."""
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True


def launch(stderr: Stderr) -> Process:
    """Start a child that waits for its setup."""
    import socket
    import subprocess

    if not sys.executable:
        raise WorkerStartError("cannot start a worker: sys.executable is empty, so the Python interpreter is unknown")
    with guard():
        ours, theirs = socket.socketpair()
        watched, lifeline = os.pipe()
        code = _BOOTSTRAP.format(path=list(map(str, sys.path)), channel=theirs.fileno(), lifeline=watched)
        output = subprocess.DEVNULL
        if stderr == "inherit":
            with suppress(OSError):  # our standard error may be closed
                os.fstat(2)
                output = 2
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
        register_after_fork(process)
    return process
