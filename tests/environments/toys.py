"""Small worlds for the tests: a counter that knows what it was told, and ways for it to break."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from adjudge.environments import EnvBadTask, EnvSpec, World
from adjudge.errors import MissingExtra
from adjudge.model import Outcome, Step


class Counter:
    """Counts up to its task's number; says what it heard, so that lost or changed text shows."""

    def __init__(self, spec: "ToySpec") -> None:
        self._spec = spec
        self._heard: list[str] = []
        self._goal: int | None = None
        self._kept: list[bytes] = []

    def reset(self, task: Any) -> str:
        """Start at nothing."""
        if not 0 <= task["goal"] < 1000:
            raise EnvBadTask(f"there is no goal {task['goal']}")
        if task.get("deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        self._heard = []
        self._goal = task["goal"]
        return f"count to {self._goal}"

    def info(self) -> dict[str, Any]:
        """Say what can be done."""
        return {"commands": ["up", "say ..."]}

    def step(self, action: str) -> Step:
        """Hear one more thing."""
        if action in {"crash", "die", "hang", "grow", "odd"}:
            broken: Step = getattr(self, f"_{action}")()
            return broken
        if action.startswith("sleep "):
            time.sleep(float(action.partition(" ")[2]))
        self._heard.append(action)
        count = len(self._heard)
        done = count == self._goal
        return Step(f"{count}: {action}", reward=float(done), done=done, info={"heard": count, "pid": os.getpid()})

    def outcome(self) -> Outcome:
        """Say how far it has come."""
        count, goal = len(self._heard), self._goal or 0
        return Outcome(
            reward=min(1.0, count / goal) if goal else 1.0,
            success=count >= goal,
            observation="|".join(self._heard),
            done_reason="counted" if goal and count >= goal else None,
        )

    def close(self) -> None:
        """Nothing to free."""

    def _crash(self) -> Step:
        raise ZeroDivisionError("the toy broke")

    def _die(self) -> Step:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def _hang(self) -> Step:
        while True:
            time.sleep(60)

    def _grow(self) -> Step:
        while True:
            self._kept.append(bytes(50_000_000))

    def _odd(self) -> Step:
        return Step("odd", info={"no": object()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToySpec(EnvSpec):
    """A counter that may be replayed."""

    kind: ClassVar[str] = "toy"
    deterministic: ClassVar[bool] = True

    colour: str = "red"

    def build(self) -> World:
        """Make a counter."""
        if self.colour == "missing":
            raise MissingExtra.of("toys", "this counter")
        if self.colour == "broken":
            raise ValueError("no paint")
        return Counter(self)

    def task(self, task: Any) -> Any:
        """Take a number for a goal."""
        if isinstance(task, int) and not isinstance(task, bool):
            return {"goal": task}
        if isinstance(task, dict) and "goal" in task:
            return task
        raise EnvBadTask(f"{task!r} is no goal")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChancySpec(ToySpec):
    """A counter that may not be replayed."""

    kind: ClassVar[str] = "chancy"
    deterministic: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FrailSpec(ToySpec):
    """A counter whose process is killed in some of its starts; `log` is a file with a line for each start."""

    kind: ClassVar[str] = "frail"

    log: str = ""
    deadly: tuple[int, ...] = ()  # the numbers of the starts, from 1

    def build(self) -> World:
        """Make a counter, or die on the way."""
        with Path(self.log).open("a", encoding="ascii") as file:
            file.write("start\n")
        if self.starts() in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return Counter(self)

    def starts(self) -> int:
        """Count the starts so far."""
        return len(Path(self.log).read_text(encoding="ascii").splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class FrailChancySpec(FrailSpec):
    """The same, and it may not be replayed."""

    kind: ClassVar[str] = "frail-chancy"
    deterministic: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FarSpec(ToySpec):
    """A counter that a reward knows, so that its reward can be asked for in another process."""

    kind: ClassVar[str] = "scienceworld"


@dataclass(frozen=True, slots=True, kw_only=True)
class FarChancySpec(FarSpec):
    """The same, and it may not be replayed."""

    deterministic: ClassVar[bool] = False
