"""The spec of ScienceWorld, and one task of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.environments._errors import EnvBadTask
from adjudge.environments._world import EnvSpec, whole
from adjudge.errors import UsageError, closest

if TYPE_CHECKING:
    from adjudge.environments.scienceworld._world import ScienceWorld

__all__ = ["ScienceWorldSpec", "ScienceWorldTask"]

_SIMPLIFICATIONS = ("teleportAction", "openDoors", "openContainers", "selfWateringFlowerPots", "noElectricalAction")
_LEAST_HEAP_MB = 64


@dataclass(frozen=True, slots=True)
class ScienceWorldTask:
    """One variation of one of the 30 tasks, by the simulator's own name of it.

    `simplifications` is `"easy"`, or any of `teleportAction`, `openDoors`, `openContainers`, `selfWateringFlowerPots`
    and `noElectricalAction` with commas between them; empty means none.
    """

    name: str
    variation: int = 0
    simplifications: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScienceWorldSpec(EnvSpec):
    """ScienceWorld with a limit on moves: the episode ends when the simulator has counted more than `step_limit`.

    A move is whatever takes time in the simulator: looking around takes none, waiting takes several. `heap_mb` bounds
    the heap of the Java process.
    """

    kind: ClassVar[str] = "scienceworld"
    home: ClassVar[str] = "worker"
    deterministic: ClassVar[bool] = True
    memory_mb: ClassVar[int | None] = None  # Java reserves more than it uses; its heap is bounded instead

    step_limit: int = 100
    heap_mb: int = 320

    def __post_init__(self) -> None:
        if type(self.step_limit) is not int or self.step_limit < 1:
            raise UsageError(f"step_limit must be at least 1, not {self.step_limit!r}", code="bad-spec")
        if type(self.heap_mb) is not int or self.heap_mb < _LEAST_HEAP_MB:
            raise UsageError(f"heap_mb must be at least {_LEAST_HEAP_MB}, not {self.heap_mb!r}", code="bad-spec")

    def build(self) -> "ScienceWorld":
        """Start a Java process with the simulator in it."""
        from adjudge.environments.scienceworld._world import ScienceWorld

        return ScienceWorld(self)

    def task(self, task: Any) -> dict[str, Any]:
        """Return a task (a `ScienceWorldTask`, a mapping of its fields or a bare name) as a mapping of all fields."""
        if isinstance(task, str):
            task = ScienceWorldTask(task)
        elif isinstance(task, Mapping):
            try:
                task = ScienceWorldTask(**task)
            except TypeError as error:
                raise EnvBadTask(f"a ScienceWorld task has name, variation and simplifications: {error}") from error
        if not isinstance(task, ScienceWorldTask):
            raise EnvBadTask(f"a ScienceWorld task must be a ScienceWorldTask or a mapping, not {type(task).__name__}")
        fields = asdict(task)
        # Rows read with numpy or pandas bring their own whole numbers.
        number = whole(task.variation)
        if number is not None:
            fields["variation"] = number
        _check(**fields)
        return fields


def _check(name: Any, variation: Any, simplifications: Any) -> None:
    """Reject what is wrong without asking a simulator; only the simulator knows which tasks exist."""
    if not isinstance(name, str) or not name:
        raise EnvBadTask(f"the name of a ScienceWorld task must be a text such as 'boil', not {name!r}")
    if type(variation) is not int or variation < 0:
        raise EnvBadTask(f"variation of {name!r} must be a whole number from 0, not {variation!r}")
    if not isinstance(simplifications, str):
        raise EnvBadTask(f"simplifications of {name!r} must be a text, not {simplifications!r}")
    if simplifications in {"", "easy"}:
        return
    for one in simplifications.split(","):
        if one not in _SIMPLIFICATIONS:
            known = ", ".join(_SIMPLIFICATIONS)
            raise EnvBadTask(
                f"simplifications must be 'easy', or any of {known} with commas and no spaces between them, "
                f"not {one!r}{closest(one, _SIMPLIFICATIONS)}"
            )
    if "noElectricalAction" in simplifications and ("power-component" in name or "conductivity" in name):
        raise EnvBadTask(f"{name!r} cannot be done under noElectricalAction")
