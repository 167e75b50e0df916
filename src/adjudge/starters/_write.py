"""Writes the files of one kind into a folder; nothing is written over.

write_starter("scorer", "brevity")     ->  brevity.py, test_brevity.py, docs/brevity.md
"""

import sys
from collections.abc import Mapping
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path

from adjudge.errors import UsageError, closest

_OWN = {"{name}.py": "code.template", "test_{name}.py": "test.template", "docs/{name}.md": "page.template"}
KINDS: Mapping[str, Mapping[str, str]] = {
    "scenario": {"scenarios/starter.toml": "starter.toml", "gate.toml": "gate.toml"},
    "scorer": _OWN,
    "judge": _OWN,
    "decoder": _OWN,
    "environment": _OWN,
}
"""What is written for each kind: where it goes, and the file that it is made from."""


def write_starter(kind: str = "scenario", name: str | None = None, folder: str | Path = ".") -> list[Path]:
    """Write the first files of a kind into a folder, and return their paths.

    All but a scenario need a `name`. Where one of the files exists already, nothing is written, and `UsageError` says
    so.
    """
    if kind not in KINDS:
        raise UsageError(
            f"there is no starter {kind!r}{closest(kind, KINDS)}: {', '.join(KINDS)}", code="unknown-starter"
        )
    is_named = KINDS[kind] is _OWN
    if is_named and not (name and name.isidentifier() and name.isascii() and not iskeyword(name) and len(name) <= 100):
        given = "" if name is None else f", and {name!r} is not one"
        raise UsageError(f"a {kind} needs a name that Python can import, such as brevity{given}", code="bad-name")
    if is_named and name in sys.stdlib_module_names:
        raise UsageError(f"{name!r} is a module of Python, which yours would hide: take another name", code="bad-name")
    if name and not is_named:
        raise UsageError("a scenario takes no name: name a folder", code="bad-name")
    places = {Path(folder) / place.format(name=name): made for place, made in KINDS[kind].items()}
    # All places are checked before the first file is written: half a starter would help nobody.
    for place in places:
        if place.exists() or place.is_symlink():
            raise UsageError(f"{place} exists already and is not overwritten: name another folder", code="exists")
    for place, made in places.items():
        text = (files("adjudge.starters") / kind / made).read_text(encoding="utf-8")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8") as file:
                file.write(text.replace("NAME", name) if name else text)
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}", code="cannot-write") from None
    return list(places)
