"""Scenarios from files: YAML or TOML, one file or a folder of them, checked whole before anything is run.

    [[scenarios]]                                  scenarios:
    id = "capital"                                   - id: capital
    question = "Capital of France?"                    question: Capital of France?
    tools_should_include = ["search"]                  tools_should_include: [search]

A file holds `scenarios` (and `defaults` for all of them), a list, or one scenario.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.errors import UsageError, closest
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._yaml import read_yaml

SUFFIXES = (".toml", ".yaml", ".yml")
LARGEST = 4 << 20  # bytes of one file
_TOML_ID = re.compile(r"\s*id\s*=\s*[\"']")


class Place(NamedTuple):
    """Where a scenario is written; the line of its id, where that is known."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """One scenario as it was found: what it says, and where."""

    given: object
    place: str
    lines: Mapping[str, str]  # where each of its keys stands
    origin: Place | None = None


def load_scenarios(path: "str | Path | Scenario | Mapping[str, Any] | Iterable[Any]") -> list[Scenario]:
    """Return the scenarios of a file, a folder, or Python objects (scenarios, mappings, or several of either).

    Of a folder all files that end in .toml, .yaml or .yml are read, in order of their names, those of folders inside
    too. Everything is checked: keys, values, ids (unique over all files), scorers and what these need. What is wrong
    raises `UsageError` with the file, the line or the scenario, and what was probably meant.

    >>> [scenario.id for scenario in load_scenarios({"id": "s1", "question": "Capital of France?"})]
    ['s1']
    """
    return [scenario for scenario, _ in located(path)]


def located(path: Any) -> list[tuple[Scenario, Place | None]]:
    """Return the scenarios, as `load_scenarios` does, each with where it is written."""
    scenarios: list[tuple[Scenario, Place | None]] = []
    places: dict[str, str] = {}
    for found in _found(path):
        scenario = _read(found)
        if scenario.id in places:
            message = f"{found.place}: the id {scenario.id!a} is taken already, by {places[scenario.id]}"
            raise UsageError(message, code="duplicate-id")
        places[scenario.id] = found.place
        scenarios.append((scenario, found.origin))
    if not scenarios:
        raise UsageError(f"{path if isinstance(path, str | Path) else 'the list'} holds no scenario", code="empty")
    return scenarios


def _found(source: Any) -> Iterator[_Found]:
    if isinstance(source, str | Path):
        yield from _in_path(Path(source))
    elif isinstance(source, Scenario | Mapping):
        yield _Found(source, _named(source, "the scenario"), {})
    elif isinstance(source, Iterable):
        for number, one in enumerate(source, 1):
            yield _Found(one, _named(one, f"scenario {number}"), {})
    else:
        raise UsageError(f"scenarios are a path, mappings or Scenario objects, got {type(source).__name__}")


def _read(found: _Found) -> Scenario:
    """Make the scenario, and have it checked by whoever will use it."""
    try:
        scenario = Scenario.of(found.given)
        check_scorers(scenario)
    except UsageError as error:
        # The message names the key that it is about, so the place can be that key's own.
        raise type(error)(f"{_place(error.message, found)}: {error.message}", code=error.code) from None
    except TypeError as error:
        raise UsageError(f"{found.place}: {error}", code="bad-scenario") from None
    return scenario


def _place(message: str, found: _Found) -> str:
    """Return the line of the key that is not known, else of the one that the message begins with."""
    unknown = [line for key, line in found.lines.items() if f" no {key!r}" in message]
    first = [line for key, line in found.lines.items() if message.startswith((f"{key} ", f"{key}:"))]
    return next(iter((*unknown, *first)), found.place)


def check_scorers(scenario: Scenario) -> None:
    """Raise `UsageError` if a scorer is not there, is there twice, or needs a column that the scenario has not."""
    from adjudge.scenarios._score import columns_of

    names: set[str] = set()
    for use in scenario.scorers:
        scorer = use.made()
        if scorer.is_group:
            message = f"scorers: {scorer.name} looks at several runs at once, which a scenario has not"
            raise UsageError(message, code="bad-scenario")
        scorer.check(columns_of(scenario))
        if scorer.name in names:
            raise UsageError(f"scorers: {scorer.name} stands there twice", code="bad-scenario")
        names.add(scorer.name)


def _in_path(path: Path) -> Iterator[_Found]:
    if not path.is_dir():
        yield from _in_file(path)
        return
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    shown = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not shown:
        raise UsageError(f"{path} holds no file that ends in {', '.join(SUFFIXES)}", code="empty")
    for file in shown:
        yield from _in_file(file)


def _in_file(file: Path) -> Iterator[_Found]:
    text = text_of(file)
    if file.suffix not in SUFFIXES:
        raise UsageError(f"{file}: a scenario file ends in {', '.join(SUFFIXES)}", code="bad-scenario")
    if file.suffix == ".toml":
        ids = _toml_ids(text)
        for found in _in_document(read_toml(text, str(file)), {}, file=str(file)):
            yield replace(found, origin=Place(str(file), ids.get(_id_of(found.given))))
    else:
        yield from _in_document(*read_yaml(text, str(file)), file=str(file))


def text_of(file: Path) -> str:
    """Return what a file holds, within bounds."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", code="cannot-read") from None
    if len(data) > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST} bytes", code="bad-scenario")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8 at byte {error.start + 1}", code="bad-scenario") from None


def read_toml(text: str, file: str) -> Any:
    """Read TOML; `UsageError` names the place."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}", code="bad-scenario") from None
    except RecursionError:
        raise UsageError(f"{file}: nested too deeply", code="bad-scenario") from None


def _toml_ids(text: str) -> dict[object, int]:
    """Return on which line each id stands, as far as that is plain: on a line of its own, and on one only."""
    import tomllib

    found: dict[object, list[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if _TOML_ID.match(line):
            with suppress(tomllib.TOMLDecodeError):
                found.setdefault(tomllib.loads(line)["id"], []).append(number)
    return {identity: lines[0] for identity, lines in found.items() if len(lines) == 1}


def _in_document(document: Any, lines: Mapping[tuple[str | int, ...], int], file: str) -> Iterator[_Found]:
    """Give the scenarios of one file, with the file's defaults under them."""
    prefix: tuple[str | int, ...] = ()
    defaults: Mapping[str, Any] = {}
    several: Any = document
    if isinstance(document, Mapping):
        several = [document]
        if "id" not in document and "question" not in document:
            defaults = _defaults(document, file)
            several, prefix = document.get("scenarios"), ("scenarios",)
    if not isinstance(several, list):
        raise UsageError(f"{file}: scenarios must be a list, got {type(several).__name__}", code="bad-scenario")
    depth = 0 if several is not document and not prefix else len(prefix) + 1
    inside: dict[tuple[str | int, ...], dict[str, int]] = {}
    for at, number in lines.items():
        if len(at) > depth:
            inside.setdefault(at[:depth], {})[str(at[-1])] = number
    for index, given in enumerate(several):
        path = (*prefix, index) if depth else ()
        line = f", line {lines[path]}" if path in lines else ""
        place = _named(given, f"{file}{line}, scenario {index + 1}")
        found = inside.get(path, {}).items()
        keys = {key: _named(given, f"{file}, line {number}, scenario {index + 1}") for key, number in found}
        whole = _over(defaults, given) if isinstance(given, Mapping) else given
        yield _Found(whole, place, keys, Place(file, lines.get((*path, "id"))))


def _defaults(document: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    for key in document:
        if key not in ("scenarios", "defaults"):
            hint = closest(str(key), ("scenarios", "defaults"))
            raise UsageError(f"{file}: a file has scenarios and defaults, not {key!r}{hint}", code="unknown-key")
    defaults = document.get("defaults", {})
    if not isinstance(defaults, Mapping) or "id" in defaults:
        raise UsageError(f"{file}: defaults must be a mapping without an id", code="bad-scenario")
    return defaults


def _over(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a scenario over the defaults; what both say of the workflow is joined."""
    whole = {**defaults, **given}
    both = [each.get("workflow") for each in (defaults, given)]
    if all(isinstance(one, Mapping) for one in both):
        whole["workflow"] = {**both[0], **both[1]}  # type: ignore[dict-item]  # mappings, as was looked
    return whole


def _id_of(given: object) -> object:
    identity = given.get("id") if isinstance(given, Mapping) else getattr(given, "id", None)
    return identity if isinstance(identity, str) else None


def _named(given: object, place: str) -> str:
    """Return a place with the scenario's id, where it has one."""
    identity = _id_of(given)
    return f"{place} ({identity[:40]!a})" if isinstance(identity, str) and identity else place
