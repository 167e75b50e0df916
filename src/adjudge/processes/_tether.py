"""A program that must not outlive us, though another library starts it: `tethered(command)` is what to start instead.

    world ──> this file, leader of a group ──> the program

It looks every half second whether its parent is there, and ends its group when it is not. It is run as a file, without
our package, so that it starts at once.
"""

import os
import signal
import sys
import threading
import time

__all__ = ["tethered"]

_PERIOD_S = 0.5


def tethered(command: tuple[str, ...]) -> list[str]:
    """Return the command that runs a command until it ends or this process does."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PERIOD_S)
    os.killpg(0, signal.SIGKILL)


def _main(parent: str, *command: str) -> int:
    import subprocess  # for the file alone: our package is light to import

    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # the group that is ended must be ours alone
    program = subprocess.Popen(command)  # noqa: S603 (the command of a spec, which is code)
    threading.Thread(target=_follow, args=(int(parent),), daemon=True).start()
    return program.wait()


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
