"""Results of `adjudge check`, as its gate counts them: from a run file, a `--json` report, or memory.

{"id": "refund", "status": "scored", "pass": true, "quality": {"completeness": 0.8, ...}, "average_quality": 0.9,
 "scores": {"contains_reward": {"value": 1.0, "parts": {}}}, "tags": ["money"], "seconds": 2.1}

    -> workflow 1.0, quality.overall 0.9, scorers.contains_reward 1.0, and not gated: quality.completeness 0.8, ...
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.comparison._build import COSTS, ResultsBuilder, bad_results, decode_as
from adjudge.comparison._results import Results

OVERALL = "quality.overall"


class _Scored(msgspec.Struct, gc=False):
    value: float | None = None
    parts: dict[str, float | None] = {}


class CheckRow(msgspec.Struct, gc=False):
    """What a comparison needs of one result of a check."""

    id: str
    passed: bool | None = msgspec.field(name="pass")
    quality: dict[str, float | str | None] | None = None
    average_quality: float | None = None
    scores: dict[str, _Scored] = {}
    tags: list[str] = []
    seconds: float | None = None
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    cost: float | None = None


class _Report(msgspec.Struct):
    results: list[CheckRow]


def check_results(results: Iterable[Mapping[str, Any]], name: str) -> Results:
    """Return the results of `run_scenarios` as one side of a comparison.

    >>> check_results([{"id": "refund", "pass": True}], "now").metrics["workflow"].values
    {'refund': (1.0,)}
    """
    found = ResultsBuilder(name)
    describe_check(found)
    for number, result in enumerate(results, 1):
        add_check(found, check_row(result, f"{name}, result {number}"))
    return found.results()


def read_report(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read a report that `adjudge check --json` wrote."""
    found = ResultsBuilder(str(path), keep)
    describe_check(found)
    for row in decode_as(_Report, content, path).results:
        add_check(found, row)
    return found.results()


def check_row(result: Any, place: object) -> CheckRow:
    """Return one result with its types checked."""
    try:
        return msgspec.convert(result, CheckRow)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise bad_results(place, str(error)) from None


def describe_check(found: ResultsBuilder, judge: str | None = None) -> None:
    """Say what is known of the numbers of a gate."""
    found.describe("workflow", range=(0.0, 1.0))
    found.describe(OVERALL, range=(0.0, 1.0), origin={} if judge is None else {"judge": judge})


def add_check(found: ResultsBuilder, row: CheckRow, costs: Mapping[str, float | None] | None = None) -> None:
    """Add one result, by the names of the gate; `costs` are what it took, where the result does not say that."""
    scores: dict[str, float | None] = {"workflow": None if row.passed is None else float(row.passed)}
    if row.quality is not None:
        scores[OVERALL] = row.average_quality
        for name, value in row.quality.items():
            # Beside the numbers there is the reasoning.
            if name != "reasoning" and not isinstance(value, str):
                scores[f"quality.{name}"] = value
                found.describe(f"quality.{name}", range=(0.0, 1.0), is_gated=False)
    for name, score in row.scores.items():
        scores[f"scorers.{name}"] = score.value
        for part, value in score.parts.items():
            scores[f"scorers.{name}.{part}"] = value
            found.describe(f"scorers.{name}.{part}", is_gated=False)
    if costs is None:
        took = (row.seconds, row.prompt_tokens, row.completion_tokens, row.cost)
        costs = dict(zip(COSTS, took, strict=True))
    found.add(row.id, scores, costs)
    found.fact(row.id, {}, tags=row.tags)
