"""What each part of tier 0 is worth: the verdicts that turn right or wrong where it says nothing.

    python benchmarks/ablate.py                 a Markdown table, a line for each function that says something
    python benchmarks/ablate.py PATTERN...      of functions whose names have a pattern in them: `_rules.` are the rules

A function says nothing where it returns False, None or an empty tuple. It is switched off in every module that uses it,
and the rows for which it had said something are judged again. `+2 -5` in a column: without it two more verdicts of that
set are right and five more are wrong. What costs nothing when it is off does not pay for its lines, and goes.
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's
sys.path.insert(0, str(Path(__file__).parent.parent / "training"))

import functools
import importlib
import inspect
import json
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import rows as labelled

from adjudge.judges import canaries, local
from adjudge.judges._attacks import load_attacks
from adjudge.judges.local._rules import BY_STAGE

HERE = Path(__file__).parent
NATURAL = {"evouna_nq": "NQ", "evouna_tq": "TQ", "nq301": "NQ301", "semeval_beetle": "SemEval"}
NATURAL["semeval_scients"] = "SemEval"
HANDS = ("hand-a", "hand-c")  # the third one was sealed when this was measured
CANARIES = 400
SETS = ("NQ", "TQ", "NQ301", "SemEval", *(f"everyday {n}" for n in (1, 2, 3)), *HANDS, "pairs", "attacks", "canaries")
ENCODERS = frozenset("_encoder _explain _judge _meaning _model _reader _rubric _sequence _tier1 _tiers".split())
NOTHING: dict[str, Any] = {"bool": False, "None": None, "tuple": (), "Golds": ()}


class Row(NamedTuple):
    """A labelled row of a set."""

    set: str
    question: str
    references: tuple[str, ...]
    response: str
    is_right: bool


class Part(NamedTuple):
    """A function that may say nothing."""

    name: str
    function: FunctionType
    nothing: Any


def read() -> list[Row]:
    """Return the rows of all sets; of each natural row's question one canary."""
    found = [
        _row(NATURAL.get(row["source"], "pairs"), row) for name in labelled.VALIDATION for row in labelled.read(name)
    ]
    bases: dict[str, dict[str, Any]] = {}
    for row in found:
        if row.set in ("NQ", "TQ") and len(bases) < CANARIES:
            bases.setdefault(row.question, {**row._asdict(), "id": str(len(bases)), "reference": row.references})
    for line in (HERE / "everyday.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.append(_row(f"everyday {row['set']}", row))
    for name in HANDS:
        text = (HERE / "agents" / f"{name}.jsonl").read_text(encoding="utf-8")
        found += [_row(name, json.loads(line)) for line in text.splitlines()]
    found += [
        Row("attacks", one.question, tuple(one.reference), one.response, is_right=False) for one in load_attacks()
    ]
    return found + [_row("canaries", {**row, "label": 0}) for row in canaries(bases.values(), rate=1.0)]


def _row(name: str, row: dict[str, Any]) -> Row:
    said = row["candidate"] if "candidate" in row else row["response"]
    return Row(name, row["question"], tuple(row["reference"]), said, bool(row["label"]))


def modules() -> list[ModuleType]:
    """Return the modules of tier 0."""
    found = pkgutil.walk_packages(local.__path__, f"{local.__name__}.")
    return [importlib.import_module(one.name) for one in found if one.name.rpartition(".")[2] not in ENCODERS]


def parts(among: list[ModuleType]) -> Iterator[Part]:
    """Yield the functions that say something, or nothing."""
    for module in among:
        for name, one in vars(module).items():
            if isinstance(one, FunctionType) and one.__module__ == module.__name__:
                given = str(one.__annotations__.get("return", ""))
                kind = next((kind for kind in NOTHING if given.startswith(kind) or given.endswith(kind)), None)
                if kind is not None:
                    yield Part(f"{module.__name__.removeprefix(local.__name__ + '.')}.{name}", one, NOTHING[kind])


def put(among: list[ModuleType], old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Put one function in the place of another in every module."""
    for module in among:
        for name, one in list(vars(module).items()):
            if one is old:
                setattr(module, name, new)
    # The table holds functions too.
    for stage, some in BY_STAGE.items():
        BY_STAGE[stage] = tuple(rule._replace(says=new) if rule.says is old else rule for rule in some)


def forget(among: list[ModuleType]) -> None:
    """Empty every cache of what was read: it may come from a function that is off now."""
    for module in among:
        for one in vars(module).values():
            if hasattr(one, "cache_clear") and one.cache_parameters()["maxsize"] is not None:
                one.cache_clear()


def is_right(row: Row) -> bool:
    """Whether tier 0 calls a row CORRECT."""
    from adjudge.judges.local._tier0 import assess

    return assess(row.question, row.references, row.response).is_right


def noting(part: Part, places: set[int], at: list[int]) -> Callable[..., Any]:
    """Return a part that notes for which rows it says something."""

    @functools.wraps(part.function)
    def noted(*given: Any, **named: Any) -> Any:
        said = part.function(*given, **named)
        if said != part.nothing:
            places.add(at[0])
        return said

    return noted


Turned = Counter[tuple[str, str]]
"""How many verdicts turn right (`+`) and wrong (`-`), by set."""


def turned(part: Part, among: list[ModuleType], rows: dict[int, Row], said: dict[int, bool]) -> Turned | None:
    """Count the verdicts that turn without a part; None where its caller cannot do without it."""

    def off(*_: Any, **__: Any) -> Any:
        return part.nothing

    found: Turned = Counter()
    put(among, part.function, off)
    forget(among)
    try:
        for at, row in rows.items():
            now = is_right(row)
            if now != said[at]:
                found[row.set, "+" if now == row.is_right else "-"] += 1
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    finally:
        put(among, off, part.function)
    return found


def main() -> None:
    """Print the table."""
    among, rows = modules(), read()
    chosen = [one for one in parts(among) if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:])]
    at, places = [0], {one.name: set[int]() for one in chosen}
    noted = {one.name: noting(one, places[one.name], at) for one in chosen}
    for one in chosen:
        put(among, one.function, noted[one.name])
    said = {}
    for number, row in enumerate(rows):
        at[0] = number
        forget(among)
        said[number] = is_right(row)
    for one in chosen:
        put(among, noted[one.name], one.function)

    print(f"| function | lines | rows | {' | '.join(SETS)} |\n|---|---|---|{'---|' * len(SETS)}")
    for one in chosen:
        found = turned(one, among, {number: rows[number] for number in sorted(places[one.name])}, said)
        if found is None:
            continue
        cells = (" ".join(f"{sign}{found[name, sign]}" for sign in "+-" if found[name, sign]) for name in SETS)
        lines = len(inspect.getsource(one.function).splitlines())
        print(f"| `{one.name}` | {lines} | {len(places[one.name])} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
