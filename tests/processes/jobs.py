"""What the tests have workers do: one function that picks the job by name, so that one pool can do them all."""

import ctypes
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

MEMORY: list[object] = []


def do(payload: tuple[str, Any]) -> object:
    """Do the job of that name with that argument."""
    name, argument = payload
    return JOBS[name](argument)


def echo(value: object) -> object:
    """Send the payload back."""
    return value


def spin(seconds: float) -> str:
    """Use that much CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "spun"


def spin_in_threads(seconds: float) -> str:
    """Use that much CPU time in two threads together, most of it without the interpreter lock."""
    import hashlib

    def work() -> None:
        while time.process_time() < end:
            hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)

    end = time.process_time() + seconds
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "spun"


def sleep(seconds: float) -> str:
    """Use no CPU time for that long."""
    time.sleep(seconds)
    return "slept"


def hold(folder: str) -> str:
    """Say that the job has begun by a file in this folder, and wait for another that says to end."""
    from pathlib import Path

    (Path(folder) / "begun").touch()
    while not (Path(folder) / "end").exists():
        time.sleep(0.005)
    return "held"


def interrupt(pid: int) -> None:
    """Interrupt the owner, which waits for this job, and never answer."""
    os.kill(pid, signal.SIGINT)
    time.sleep(500)


def hold_the_lock(_: object) -> int:
    """Never let go of the interpreter lock."""
    return sum(range(10**15))


def grow(_: object) -> int:
    """Take memory in small pieces until there is none."""
    pieces = []
    while True:
        pieces.append(bytearray(1 << 20))


def take_all(_: object) -> int:
    """Take more memory than there is, at once."""
    return len(b"x" * 10**12)


def die_of_recursion(_: object) -> object:
    """Recurse through C until the stack ends."""
    sys.setrecursionlimit(10**9)

    def deeper(value: int) -> list[Any]:
        return list(map(deeper, [value]))

    # From Python 3.12 on, recursion through C has a limit of its own; a small stack ends before it.
    threading.stack_size(1 << 16)
    thread = threading.Thread(target=deeper, args=(0,))
    thread.start()
    thread.join()
    return "survived"


def segfault(_: object) -> object:
    """Read address 0."""
    return ctypes.string_at(0)


def kill_self(number: int) -> None:
    """Send a signal to oneself."""
    os.kill(os.getpid(), number)
    time.sleep(60)


def leave(status: int) -> NoReturn:
    """Leave the interpreter in the ordinary way."""
    sys.exit(status)


def leave_now(status: int) -> NoReturn:
    """Leave without ceremony."""
    os._exit(status)


class HostileError(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def fail(text: str) -> NoReturn:
    """Raise an ordinary exception."""
    raise ValueError(text)


def fail_hostile(_: object) -> NoReturn:
    """Raise an exception that raises when it is looked at."""
    raise HostileError


def fail_out(_: object) -> NoReturn:
    """Raise what is not an Exception."""
    raise KeyboardInterrupt


def shout(text: str) -> str:
    """Write to every output there is, and try to read the input."""
    print(text)  # noqa: T201
    os.write(1, text.encode())
    os.write(2, text.encode())
    subprocess.run(["/bin/echo", text], check=True)
    return sys.stdin.read() + text


def channels() -> list[int]:
    """Find the worker's own end of its channel."""
    found = []
    for descriptor in range(3, 50):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                found.append(descriptor)
        except OSError:
            continue
    return found


def write_to_channel(data: bytes) -> str:
    """Write an answer of one's own."""
    for descriptor in channels():
        os.write(descriptor, data)
    time.sleep(60)
    return "unreachable"


def hang_up(_: object) -> str:
    """Close the channel and live on."""
    for descriptor in channels():
        socket.close(descriptor)
    time.sleep(60)
    return "unreachable"


def start_child(_: object) -> int:
    """Start a process of one's own that nobody waits for."""
    return subprocess.Popen(["/bin/sleep", "1000"]).pid


def nest(depth: int) -> object:
    """Return lists in lists."""
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


def remember(value: object) -> int:
    """Keep something from one job to the next."""
    MEMORY.append(value)
    return len(MEMORY)


def at_exit(path: str) -> str:
    """Leave a note when the interpreter ends in the ordinary way."""
    import atexit
    from pathlib import Path

    atexit.register(Path(path).write_text, "cleaned up", encoding="utf-8")
    return "registered"


def limits(_: object) -> dict[str, int]:
    """Tell the limits that hold here."""
    import resource

    return {
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "group": os.getpgrp(),
        "pid": os.getpid(),
        "session": os.getsid(0),
    }


JOBS: dict[str, Callable[[Any], object]] = {
    "at_exit": at_exit,
    "die_of_recursion": die_of_recursion,
    "echo": echo,
    "fail": fail,
    "fail_hostile": fail_hostile,
    "fail_out": fail_out,
    "grow": grow,
    "hang_up": hang_up,
    "hold": hold,
    "hold_the_lock": hold_the_lock,
    "interrupt": interrupt,
    "kill_self": kill_self,
    "leave": leave,
    "leave_now": leave_now,
    "limits": limits,
    "nest": nest,
    "pid": lambda _: os.getpid(),
    "remember": remember,
    "segfault": segfault,
    "shout": shout,
    "sleep": sleep,
    "spin": spin,
    "spin_in_threads": spin_in_threads,
    "start_child": start_child,
    "stop": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "take_all": take_all,
    "bytes": lambda count: b"x" * count,
    "huge_int": lambda _: 1 << 70,
    "object": lambda _: object(),
    "set_of_tuples": lambda _: [(1, 2), (3, 4)],
    "surrogate": lambda _: "\ud800",
    "write_to_channel": write_to_channel,
}
