"""A gate as what a check may be stopped for: its thresholds, and how many runs may lack an answer."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from adjudge.model import Score
from adjudge.runs import Stopping, Target, UnscoredLimit
from adjudge.scenarios._gate import Gate, GateNumber, numbers_of
from adjudge.scenarios._scenario import Scenario


def stopping_of(gate: Gate, scenarios: Sequence[Scenario]) -> Stopping:
    """Return what a check of these scenarios may be stopped for; `decide` then comes to the same verdict."""
    scorers = {one.id: {scorer.name: scorer for scorer in (use.make() for use in one.scorers)} for one in scenarios}
    targets: list[Target] = []
    limits: list[UnscoredLimit] = []
    for tag, part in {"": gate, **gate.tags}.items():
        limits.append(UnscoredLimit(part.max_unscored, partial(_is_among, tag, scorers)))
        for number in numbers_of(part, tag):
            made = [known[number.scorer] for known in scorers.values() if number.scorer in known]
            target = Target(
                number.name,
                number.threshold.min,
                partial(_read_score, number),
                # Of one scorer with several settings any may have no range, and then the number has none.
                _common_range([one.range for one in made]) if number.scorer else (0.0, 1.0),
                number.threshold.lower_end,
                partial(_is_among, tag, [key for key, known in scorers.items() if number.scorer in (None, *known)]),
                part.min_rows,
            )
            targets.append(target)
    return Stopping(tuple(targets), tuple(limits), gate.confidence)


def _common_range(ranges: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    known = [one for one in ranges if one is not None]
    if not known or len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _read_score(number: GateNumber, scores: Sequence[Score]) -> float | None:
    """Return a number of a run from its score, whose detail is the result; a failed run may have none."""
    value = None if scores[0].detail is None else number.read(scores[0].detail)
    return None if value is None else float(value)


def _is_among(tag: str, ids: Collection[str], row: Mapping[str, Any]) -> bool:
    return row["group_id"] in ids and (not tag or tag in row["tags"])
