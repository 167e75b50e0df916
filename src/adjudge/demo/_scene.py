"""Where a chapter of the tour plays: `say` prints a paragraph, `show` a summary, `folder` keeps its runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adjudge.runs import Summary


@dataclass(frozen=True, slots=True)
class Scene:
    """What a chapter has to play with."""

    say: Callable[[str], None]
    show: Callable[[Summary], None]
    folder: Path

    def new_run(self, name: str) -> Path:
        """Return where a run goes; one of an earlier tour would be resumed, and is removed."""
        for old in self.folder.glob(f"{name}.run*"):
            old.unlink()
        return self.folder / f"{name}.run"
