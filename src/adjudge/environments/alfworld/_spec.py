"""What is asked for: ALFWorld under given limits, with or without the official games."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.environments._world import EnvSpec
from adjudge.environments.alfworld._games import checked_name

if TYPE_CHECKING:
    from adjudge.environments.alfworld._world import Alfworld

__all__ = ["AlfworldSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlfworldSpec(EnvSpec):
    """ALFWorld's text games: our own, and the official ones where their folder is there.

    `data` is the official data folder (else what ALFWORLD_DATA names). Its files are code: it must be one that you
    trust. It is no part of a task, so that no row can name one.
    """

    kind: ClassVar[str] = "alfworld"
    home: ClassVar[str] = "worker"
    deterministic: ClassVar[bool] = True

    data: str | None = None

    def build(self) -> "Alfworld":
        """Load the engine, here: parts of it are under the GPL."""
        from adjudge.environments.alfworld._world import Alfworld

        return Alfworld(self)

    def task(self, task: Any) -> str:
        """Return the name of a game: one of ours, or split/task/trial of the official data."""
        return checked_name(task)
