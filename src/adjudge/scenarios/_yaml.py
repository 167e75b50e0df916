"""YAML, as far as a scenario file needs it: mappings, lists and plain values, each with the line it stands on.

Tags, anchors, aliases, merge keys and repeated keys are refused, so nothing is constructed and nothing multiplies.
Plain values are those of YAML 1.2: `no` and `2024-01-01` are texts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import MissingExtra, UsageError

DEEPEST = 32
MOST = 200_000  # values in a file

_NUMBER = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Reading:
    """A document while it is read, and the lines of its parts."""

    events: Iterator[Any]
    file: str
    lines: dict[Path, int] = field(default_factory=dict)
    count: int = 0


def read_yaml(text: str, file: str) -> tuple[Any, dict[Path, int]]:
    """Return the one document of a file, with the line of every part by its path; `UsageError` names the place."""
    try:
        import yaml
    except ImportError:
        raise MissingExtra.of("yaml", f"{file}: reading YAML") from None
    reading = Reading(yaml.parse(text, Loader=yaml.SafeLoader), file)
    try:
        document = None
        for event in reading.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if reading.lines:
                    raise _refused(reading, event, "a second document in one file")
                document = _value(reading, next(reading.events), ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise UsageError(f"{file}{line}: not YAML: {problem}", code="bad-scenario") from None
    return document, reading.lines


def _value(reading: Reading, event: Any, path: Path) -> Any:
    """Read one value, and all that is in it."""
    import yaml

    reading.count += 1
    if reading.count > MOST or len(path) > DEEPEST:
        raise _refused(reading, event, "too many values" if reading.count > MOST else "nested too deeply")
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise _refused(reading, event, "anchors and aliases are not read")
    if getattr(event, "tag", None) is not None:
        raise _refused(reading, event, f"the tag {event.tag!r} is not read")
    reading.lines[path] = event.start_mark.line + 1
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Any] = []
        while not isinstance(event := next(reading.events), yaml.SequenceEndEvent):
            items.append(_value(reading, event, (*path, len(items))))
        return items
    return _mapping(reading, path)


def _mapping(reading: Reading, path: Path) -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = {}
    while not isinstance(event := next(reading.events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise _refused(reading, event, "a key must be a plain text")
        _value(reading, event, (*path, event.value))  # refuses what no key may be, and notes its line
        key = event.value
        if key == "<<" and event.style is None:
            raise _refused(reading, event, "merge keys are not read")
        if key in found:
            raise _refused(reading, event, f"the key {key!r} stands there twice")
        line = reading.lines[*path, key]
        found[key] = _value(reading, next(reading.events), (*path, key))
        reading.lines[*path, key] = line
    return found


def _scalar(event: Any) -> Any:
    text: str = event.value
    if event.style is not None:  # in quotes, or a block
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _refused(reading: Reading, event: Any, what: str) -> UsageError:
    return UsageError(f"{reading.file}, line {event.start_mark.line + 1}: {what}", code="bad-scenario")
