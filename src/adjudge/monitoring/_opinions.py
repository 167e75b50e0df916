"""What somebody else says: responses that are known to be wrong beside the rows, and a cheap judge on rewarded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adjudge.judges import pair_canaries
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES, one_value
from adjudge.monitoring._counts import WindowCounts
from adjudge.monitoring._observe import Observation, observe
from adjudge.monitoring._window import Scale, show

if TYPE_CHECKING:
    from adjudge.model import Score
    from adjudge.rewards import Scorer

MOST_ASKED = 16  # rows of a window


def make_canaries(rows: Sequence[Mapping[str, Any]], rate: float, seed: str) -> list[dict[str, Any]]:
    """Return for a share of the rows the same row with a response that is known to be wrong."""
    read = [
        {
            "id": f"{seed}:{number}",
            "question": one_value(row, QUESTIONS)[1],
            "reference": one_value(row, REFERENCES)[1],
        }
        for number, row in enumerate(rows)
    ]
    found = []
    for row, (_, canary) in zip(rows, pair_canaries(read, rate, 0), strict=True):
        names = [name for name in RESPONSES if name in row]
        if canary is not None and names:
            found.append({**row, **dict.fromkeys(names, canary["response"])})
    return found


def count_canaries(
    counts: WindowCounts, rows: Sequence[Mapping[str, Any]], scores: Sequence[Score], scale: Scale
) -> None:
    """Add how many canaries were scored, and how many of them were called right."""
    for row, score in zip(rows, scores, strict=True):
        if score.value is None:
            continue
        is_fooled = score.value >= scale.high
        counts.sums["canaries"] += 1
        counts.sums["canaries.right"] += is_fooled
        if is_fooled:
            counts.add_example("canary", observe(row, score, None, with_text=True), show)


def count_opinions(counts: WindowCounts, observations: Sequence[Observation], second: Scorer, scale: Scale) -> None:
    """Ask a second scorer about rewarded rows, one of each prompt, and add how often it says otherwise."""
    chosen: dict[object, Observation] = {}
    for number, one in enumerate(observations):
        if one.text is not None and scale.is_high(one) and len(chosen) < MOST_ASKED:
            chosen.setdefault(number if one.group is None else one.group, one)
    theirs = Scale(second, None)
    asked = [one.text.row() for one in chosen.values() if one.text is not None]
    for one, score in zip(chosen.values(), second.score_many(asked), strict=True):
        if score.value is None:
            continue
        is_against = score.value < theirs.high
        counts.sums["seconds"] += 1
        counts.sums["against"] += is_against
        if is_against:
            counts.add_example("disagreement", one, show)
