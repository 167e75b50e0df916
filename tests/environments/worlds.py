"""What the tests of the real worlds share: whether they can run here, and a world in a worker process."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

import pytest

from adjudge import environments
from adjudge.environments import EnvSpec, World
from adjudge.errors import AdjudgeError
from adjudge.processes import Worker

PACKAGES = {"scienceworld": ("scienceworld", "py4j"), "alfworld": ("alfworld", "textworld", "fast_downward")}


def needs(extra: str) -> pytest.MarkDecorator:
    """Skip where the extra or Java is missing, and say so; under ADJUDGE_WORLDS, as in CI, what is missing fails."""
    absent = [name for name in PACKAGES[extra] if find_spec(name) is None]
    reason = f"needs pip install 'adjudge[{extra}]'" if absent else ""
    if extra == "scienceworld" and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        reason = reason or "needs Java 17 or newer"
    return pytest.mark.skipif(bool(reason) and not os.environ.get("ADJUDGE_WORLDS"), reason=reason)


class Remote:
    """A world in a worker process of its own: the same calls, answered by plain data."""

    def __init__(self, spec: EnvSpec) -> None:
        self.worker = Worker("environments.worlds:answer", memory_mb=None)
        self.ask("build", spec)

    def ask(self, *call: Any) -> Any:
        """Call the world; an error that it raised is raised here."""
        answer = self.worker.call(call, cpu_s=100, wall_s=200)
        if isinstance(answer, dict) and "raised" in answer:
            raise getattr(environments, answer["raised"])(answer["message"], code=answer["code"])
        return answer

    def play(self, task: Any, actions: tuple[str, ...] | list[str]) -> list[Any]:
        """Play an episode and return all that was answered."""
        return [self.ask("reset", task), *(self.ask("step", action) for action in actions), self.ask("outcome")]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.close()


_worlds: list[World] = []


def answer(call: tuple[Any, ...]) -> Any:
    """Do one call, in the worker."""
    what, *arguments = call
    if what == "build":
        _worlds[:] = [arguments[0].build()]
        return os.environ.get("ALFWORLD_DATA")
    try:
        found = getattr(_worlds[0], what)
        answer = found(*arguments) if callable(found) else found
    except AdjudgeError as error:
        return {"raised": type(error).__name__, "message": error.message, "code": error.code}
    return _plain(answer)


def _plain(answer: Any) -> Any:
    if is_dataclass(answer) and not isinstance(answer, type):
        return asdict(answer)
    return dict(answer) if isinstance(answer, Mapping) else answer


def gone(pid: int, seconds: float = 60.0) -> bool:
    """Whether a process ends in time; one that nobody has reaped yet has ended too."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        try:
            status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        sleep(0.02)
    return False
