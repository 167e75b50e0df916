"""The job of a math worker, in a process that writes down every event by which text could become action.

The log is a file named by the environment, opened before the first job: a worker that is killed keeps its entries.
"""

import os
import re
import sys
from types import CodeType
from typing import Any

from adjudge.rewards.math import _symbolic
from rewards.math.hostile import LOG

PLACES = tuple({os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix)})
LAZY = frozenset({"sympy", "mpmath", "adjudge"})  # what the comparison itself may still import
REACHES_OUT = (
    "subprocess.", "socket.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.remove", "os.rename",
    "os.mkdir", "os.rmdir", "os.chmod", "os.putenv", "os.kill", "shutil.", "ctypes.", "code.", "pty.", "urllib.",
    "http.", "ftplib.", "smtplib.", "webbrowser.", "builtins.input", "builtins.breakpoint", "sys.addaudithook",
    "sys.settrace", "pickle.find_class", "tempfile.", "sqlite3.",
)  # fmt: skip
OWN_WORDS = re.compile(r"monomial_\w+|[abr]\d+|[ABk]|def|return|if|else|None|Integer|from|sympy|import|:")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_log = os.open(os.environ.get(LOG, os.devnull), os.O_WRONLY | os.O_APPEND)
_armed = [False]
_own: list[bool] = []


def _arithmetic(source: object) -> bool:
    """Whether a source is what sympy itself writes to add and divide exponents: its own words and no others."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else str(source)
    return all(OWN_WORDS.fullmatch(word) for word in re.findall(r"[^\W\d]\w*|[^\w\s(),=+*<>/-]", text))


def _suspicious(event: str, args: tuple[Any, ...]) -> bool:
    match event:
        case "exec":
            code, own = args[0], _own.pop() if _own else False
            # The body of an installed module that is imported; anything else is code made here.
            installed = isinstance(code, CodeType) and code.co_name == "<module>" and _installed(code.co_filename)
            return not (installed or own)
        case "compile":
            if _arithmetic(args[0]):
                _own[:] = [True]
                return False
            return not _installed(os.fsdecode(args[1]) if args[1] is not None else "")
        case "import":
            root = str(args[0]).partition(".")[0]
            return root not in LAZY and root not in sys.stdlib_module_names
        case "open":
            mode, flags = args[1], args[2]
            return any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & WRITING)
        case _:
            return event.startswith(REACHES_OUT)


def _installed(path: str) -> bool:
    return path.startswith("<frozen ") or os.path.realpath(path).startswith(PLACES)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _armed[0]:
        _armed[0] = False  # what the note itself causes is no event of the job
        try:
            if _suspicious(event, args):
                os.write(_log, f"{event} {args!r}"[:400].replace("\n", " ").encode("utf-8", "replace") + b"\n")
        finally:
            _armed[0] = True


if LOG in os.environ:
    sys.addaudithook(_hook)


def job(payload: dict[str, Any]) -> dict[str, Any]:
    """Do what a math worker does; code under `python` is what it would be if text were executed."""
    _armed[0] = True
    try:
        if "python" in payload:
            exec(payload["python"], {})  # noqa: S102 (to show that the hook sees it)
            return {}
        return _symbolic.job(payload)
    finally:
        _armed[0] = False
