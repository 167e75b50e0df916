"""Scenarios from files: YAML or TOML, one file or a folder of them, checked whole before anything is run.

    [[scenarios]]                                  scenarios:
    id = "capital"                                   - id: capital
    question = "Capital of France?"                    question: Capital of France?
    tools_should_include = ["search"]                  tools_should_include: [search]

A file holds `scenarios` (and, for all of them, `defaults` and the names of `agents`), a list, or one scenario.

Of YAML only plain data is read, as YAML 1.2 has it: `no` and `2024-01-01` are texts. Tags, anchors, aliases, merge keys
and repeated keys are refused, so that nothing is constructed and nothing multiplies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.errors import MissingExtra, UsageError, closest
from adjudge.model import Trajectory
from adjudge.rewards import Reward, Scorer
from adjudge.scenarios._scenario import Scenario
from adjudge.traces import AgentNames, read_agent_names

SUFFIXES = (".toml", ".yaml", ".yml")
LARGEST = 4 << 20  # bytes of one file
DEEPEST = 32  # levels of a YAML file
MOST = 200_000  # values in a YAML file

_TOML_ID = re.compile(r"\s*id\s*=\s*[\"']")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_CHECKS = frozenset({"adjudge.rewards.assertions", "adjudge.rewards.limits"})
_FILE_KEYS = ("scenarios", "defaults", "agents")

KeyPath = tuple[str | int, ...]


class ScenarioPlace(NamedTuple):
    """Where a scenario is written: the file, and the line of its id where that is known."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One scenario as a source has it: its content, its file and its number there, its line and those of its keys."""

    given: object
    number: int | None = None
    file: str | None = None
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    place: ScenarioPlace | None = None

    def describe(self, message: str = "") -> str:
        """Return where the scenario is, for the beginning of a message: the line is that of the key it is about."""
        unknown = [line for key, line in self.lines.items() if f" no {key!r}" in message]
        first = [line for key, line in self.lines.items() if message.startswith((f"{key} ", f"{key}:"))]
        line = next(iter((*unknown, *first)), self.line)
        parts = [
            self.file,
            None if line is None else f"line {line}",
            "the scenario" if self.number is None else f"scenario {self.number}",
        ]
        where = ", ".join(part for part in parts if part is not None)
        identity = self.given.get("id") if isinstance(self.given, Mapping) else getattr(self.given, "id", None)
        return f"{where} ({identity[:40]!a})" if isinstance(identity, str) and identity else where


def load_scenarios(path: "str | Path | Scenario | Mapping[str, Any] | Iterable[Any]") -> list[Scenario]:
    """Return the scenarios of a file, a folder, or Python objects (scenarios, mappings, or several of any of these).

    Of a folder all files that end in .toml, .yaml or .yml are read, in order of their names, those of inner folders
    too. Everything is checked: keys, values, ids (unique over all files), scorers and the columns that they need. A
    fault raises `UsageError` with the file, the line or the scenario, and what was probably meant.

    >>> [scenario.id for scenario in load_scenarios({"id": "s1", "question": "Capital of France?"})]
    ['s1']
    """
    return [scenario for scenario, _ in locate_scenarios(path)]


def locate_scenarios(path: Any) -> list[tuple[Scenario, ScenarioPlace | None]]:
    """Return the scenarios, as `load_scenarios` does, each with where it is written."""
    scenarios: dict[str, tuple[Scenario, ScenarioPlace | None]] = {}
    entries: dict[str, _Entry] = {}
    for entry in _entries(path):
        try:
            scenario = Scenario.of(entry.given)
            if scenario.scorers:
                _check_scorers(scenario)
        except UsageError as error:
            raise type(error)(f"{entry.describe(error.message)}: {error.message}", code=error.code) from None
        except TypeError as error:
            raise UsageError(f"{entry.describe()}: {error}", code="bad-scenario") from None
        if scenario.id in entries:
            message = f"the id {scenario.id!a} is already used by {entries[scenario.id].describe()}"
            raise UsageError(f"{entry.describe()}: {message}", code="duplicate-id")
        entries[scenario.id] = entry
        scenarios[scenario.id] = scenario, entry.place
    if not scenarios:
        raise UsageError(f"{path if isinstance(path, str | Path) else 'the list'} holds no scenario", code="empty")
    return list(scenarios.values())


def _check_scorers(scenario: Scenario) -> None:
    """Raise `UsageError` if a scorer is unknown, is listed twice, or needs a column that the scenario lacks."""
    from adjudge.scenarios._score import case_row

    columns = {**case_row(scenario, 1), "final_response": None, "trajectory": None}
    names: set[str] = set()
    for use in scenario.scorers:
        scorer = use.make()
        if scorer.is_group:
            message = f"scorers: {scorer.name} compares several runs, and a scenario gives it one at a time"
            raise UsageError(message, code="bad-scenario")
        scorer.check(columns)
        _check_options(scorer, columns)
        if scorer.name in names:
            raise UsageError(f"scorers: {scorer.name} is listed twice", code="bad-scenario")
        names.add(scorer.name)


def _check_options(scorer: Scorer, columns: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an option that one of our own checks can never work with, before the agent is asked."""
    if scorer.is_binary and isinstance(scorer, Reward) and scorer.function.__module__ in _CHECKS:
        score = scorer.score({**columns, "final_response": "{}", "trajectory": Trajectory()})
        if score.status == "error" and (score.reason or "").startswith("bad-option: "):
            raise UsageError(f"scorers: {scorer.name}: {(score.reason or '')[12:]}", code="bad-option")


def _entries(source: Any) -> Iterator[_Entry]:
    if isinstance(source, str | Path):
        path = Path(source)
        files = [path]
        if path.is_dir():
            # Sorted by name, so that every machine reads a folder in the same order; hidden folders are not part of it.
            found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            files = [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]
            if not files:
                raise UsageError(f"{path} holds no file that ends in {', '.join(SUFFIXES)}", code="empty")
        for file in files:
            text, name = text_of(file), str(file)
            if file.suffix not in SUFFIXES:
                raise UsageError(f"{file}: a scenario file ends in {', '.join(SUFFIXES)}", code="bad-scenario")
            if file.suffix == ".toml":
                yield from _in_document(read_toml(text, name), {}, name, _toml_ids(text))
            else:
                yield from _in_document(*read_yaml(text, name), name)
    elif isinstance(source, Scenario | Mapping):
        yield _Entry(source)
    elif isinstance(source, Iterable):
        for number, one in enumerate(source, 1):
            yield from _entries(one) if isinstance(one, str | Path) else (_Entry(one, number),)
    else:
        raise UsageError(f"scenarios must be a path, mappings or Scenario objects, got {type(source).__name__}")


def text_of(file: Path) -> str:
    """Return the text of a file, within bounds."""
    try:
        # One byte more than allowed is enough to see that a file is too large.
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
    except (tomllib.TOMLDecodeError, ValueError) as error:  # an integer of too many digits is not an error of TOML
        raise UsageError(f"{file}: not TOML: {error}", code="bad-scenario") from None
    except RecursionError:
        raise UsageError(f"{file}: nested too deeply", code="bad-scenario") from None


def _toml_ids(text: str) -> dict[str, int]:
    """Return the lines of the ids, as far as they are plain to see: each on a line of its own, and on one only."""
    import tomllib

    # tomllib gives no lines. A line that reads as an id may also be part of a longer text, so an id found twice has
    # none.
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if _TOML_ID.match(line):
            with suppress(ValueError):
                found.setdefault(tomllib.loads(line)["id"], []).append(number)
    return {identity: lines[0] for identity, lines in found.items() if len(lines) == 1}


def _in_document(
    document: Any, lines: Mapping[KeyPath, int], file: str, ids: Mapping[str, int] | None = None
) -> Iterator[_Entry]:
    """Give the scenarios of one file, with the file's defaults under them; `lines` are by path, `ids` by id."""
    # A file is one scenario, or a list of them, or has them under `scenarios`: so many keys lead to each.
    prefix: KeyPath = ()
    depth = 1
    defaults: Mapping[str, Any] = {}
    several: Any = document
    if isinstance(document, Mapping):
        several, depth = [document], 0
        if "id" not in document and "question" not in document:
            defaults = _defaults(document, file)
            several, prefix, depth = document.get("scenarios"), ("scenarios",), 2
    if not isinstance(several, list):
        raise UsageError(f"{file}: scenarios must be a list, got {type(several).__name__}", code="bad-scenario")
    # The lines of the keys, by scenario, in one pass over the file.
    inside: dict[KeyPath, dict[str, int]] = {}
    for at, number in lines.items():
        if len(at) > depth:
            inside.setdefault(at[:depth], {})[str(at[-1])] = number
    for index, given in enumerate(several):
        path = (*prefix, index) if depth else ()
        whole = given
        if defaults and isinstance(given, Mapping):
            whole = {**defaults, **given}
            for key in ("workflow", "agents"):
                outer, inner = defaults.get(key), given.get(key)
                if isinstance(outer, Mapping) and isinstance(inner, Mapping):
                    whole[key] = {**outer, **inner}
        identity = whole.get("id") if isinstance(whole, Mapping) else None
        by_id = ids.get(identity) if ids and isinstance(identity, str) else None
        place = ScenarioPlace(file, lines.get((*path, "id"), by_id))
        yield _Entry(whole, index + 1, file, lines.get(path), inside.get(path, {}), place)


def _defaults(document: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    for key in document:
        if key not in _FILE_KEYS:
            hint = closest(str(key), _FILE_KEYS)
            raise UsageError(
                f"{file}: a file has scenarios, defaults and agents, not {key!r}{hint}", code="unknown-key"
            )
    defaults = document.get("defaults", {})
    if not isinstance(defaults, Mapping) or "id" in defaults:
        raise UsageError(f"{file}: defaults must be a mapping without an id", code="bad-scenario")
    # Names of agents are those of the whole file, so they have a place of their own.
    return {"agents": document["agents"], **defaults} if "agents" in document else defaults


@dataclass(slots=True)
class _YamlReader:
    """Reads the values of a document from its events, and notes the line of each by its path."""

    events: Iterator[Any]
    file: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    count: int = 0

    def value(self, event: Any, path: KeyPath) -> Any:
        """Read one value, and everything inside it."""
        import yaml

        self.count += 1
        # Bounds come first: a file from a stranger must not fill the memory or the stack.
        if self.count > MOST or len(path) > DEEPEST:
            raise self.fault(event, "too many values" if self.count > MOST else "nested too deeply")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise self.fault(event, "anchors and aliases are not supported")
        if getattr(event, "tag", None) is not None:
            raise self.fault(event, f"the tag {event.tag!r} is not supported")
        self.lines[path] = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            # A style means quotes or a block: then it is text, whatever it looks like.
            return event.value if event.style is not None else _plain_value(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self.value(event, (*path, len(items))))
            return items
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.fault(event, "a key must be plain text")
            key = event.value
            # Read for what it refuses (tags and anchors of the key) and for the key's line.
            self.value(event, (*path, key))
            if key == "<<" and event.style is None:
                raise self.fault(event, "merge keys are not supported")
            if key in found:
                raise self.fault(event, f"the key {key!r} appears twice")
            line = self.lines[*path, key]
            found[key] = self.value(next(self.events), (*path, key))
            # Reading the value has noted its own line: messages name that of the key.
            self.lines[*path, key] = line
        return found

    def fault(self, event: Any, what: str) -> UsageError:
        """Return the error for what is wrong at an event."""
        return UsageError(f"{self.file}, line {event.start_mark.line + 1}: {what}", code="bad-scenario")


def read_yaml(text: str, file: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the one document of a file, with the line of every part by its path; `UsageError` names the place."""
    try:
        import yaml
    except ImportError:
        raise MissingExtra.of("yaml", f"{file}: reading YAML") from None
    reader = _YamlReader(yaml.parse(text, Loader=yaml.SafeLoader), file)
    document = None
    try:
        # Only events are used, not PyYAML's constructors: they would make dates, floats and objects of plain words.
        for event in reader.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if reader.lines:
                    raise reader.fault(event, "a file must hold one YAML document, not several")
                document = reader.value(next(reader.events), ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise UsageError(f"{file}{line}: not YAML: {problem}", code="bad-scenario") from None
    return document, reader.lines


def _plain_value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def load_agent_names(path: str | Path) -> AgentNames:
    """Return the names of agents in a TOML or YAML file: its table `agents`, or the whole file where it has none."""
    file = Path(path)
    text = text_of(file)
    document = read_yaml(text, str(file))[0] if file.suffix in SUFFIXES[1:] else read_toml(text, str(file))
    inside = document.get("agents", document) if isinstance(document, Mapping) else document
    return read_agent_names(inside, f"{file}: agents")
