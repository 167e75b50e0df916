"""The first files of a project: a scenario file and a gate, both to be written over by hand."""

from importlib.resources import files
from pathlib import Path

from adjudge.errors import UsageError

STARTERS = {"scenarios/starter.toml": "scenarios.toml", "gate.toml": "gate.toml"}


def write_starter(folder: str | Path) -> list[Path]:
    """Write the files into a folder and return where they are; where one of them exists already, nothing is written."""
    places = {Path(folder) / place: name for place, name in STARTERS.items()}
    for place in places:
        if place.exists() or place.is_symlink():
            raise UsageError(f"{place} exists already, and nothing is written over: name another folder", code="exists")
    for place, name in places.items():
        text = (files("adjudge.scenarios") / "starter" / name).read_text(encoding="utf-8")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}", code="cannot-write") from None
    return list(places)
