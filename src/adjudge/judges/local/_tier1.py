"""Tier 1: what tier 0 sees, and what three encoders read that have seen far more than the labelled rows.

The reader says what a response asserts, the judge what it thinks of question, references and response together, and
where no reference stands in the response the sentence encoder how near they are. Trees weigh all of it. Rules decide as
in tier 0, but for those that look at words which may belong to something else (`OVERTURNED`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING

from adjudge.judges.local import _tier0
from adjudge.judges.local._encoder import logits
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._lists.choices import spoken
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import chance, load_fusion
from adjudge.judges.local._reader import Asserted, places_of, read_many
from adjudge.judges.local._reading.answer import answer_of
from adjudge.judges.local._tier0 import OVERTURNED, UNSURE, Assessment

if TYPE_CHECKING:
    from adjudge.judges.local._encoder import Row

_KNOWN = re.compile(r"[A-Za-z0-9]")
_CONTAINED = NAMES.index("contained")
_LOOKED_AT = 50  # references that are looked at
_FAR = 15.0  # log-odds beyond which it makes no difference
_SHARE = 0.001  # the least probability that is told from none
_LONG = 12  # words of an assertion


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoders say of a row; cosines where no reference is contained and references are no statements."""

    asserted: str | None
    judged: tuple[float, float]
    """The log-odds of right, and of a trick."""
    said: tuple[float, ...]
    cosines: tuple[float, ...] = ()


def assess_many(rows: Sequence[Row]) -> list[Assessment]:
    """Assess responses; the encoders read those that no rule decides, many at a time.

    >>> one, other = assess_many([
    ...     ("Where do goats come from?", ("Iran",), "They come from Persia, today called Iran."),
    ...     ("Where do goats come from?", ("Iran",), "Not from Iran."),
    ... ])
    >>> one.is_right, one.asserted, other.is_right, other.reasons
    (True, 'Iran', False, ('negated',))
    """
    found = [_tier0.assess(*row) for row in rows]
    for at, reading in read_rows(rows, found).items():
        found[at] = fused(found[at], reading)
    return found


def read_rows(rows: Sequence[Row], seen: Sequence[Assessment]) -> dict[int, Reading]:
    """Return what the encoders say of the rows that no rule decides, by their place."""
    given = {
        at: (*spoken(question, references), answer_of(text))
        for at, ((question, references, text), one) in enumerate(zip(rows, seen, strict=True))
        if one.values and (not one.ruled or one.reasons[0] in OVERTURNED) and _is_latin(references)
    }
    apart = [at for at in given if not seen[at].statement and not seen[at].values[_CONTAINED]]
    near = dict(zip(apart, cosines([given[at] for at in apart]), strict=True))
    asserted = read_many([(question, text) for question, _, text in given.values()])
    judged = logits(list(given.values()))
    return {
        at: Reading(said.text, verdict, said_values(row, said), near.get(at, ()))
        for (at, row), said, verdict in zip(given.items(), asserted, judged, strict=True)
    }


def said_values(row: Row, asserted: Asserted) -> tuple[float, ...]:
    """Return the values that `SAID` names."""
    question, references, text = row
    places = places_of(references, text)
    belief = asserted.belief(places) if places else 0.0
    odds = size = 0.0
    is_right = False
    if asserted.text is not None:
        opinion = _tier0.assess(question, references, asserted.text)
        share = min(max(opinion.probability, _SHARE), 1 - _SHARE)
        odds, is_right = log(share / (1 - share)), opinion.is_right
        size = min(len(asserted.text.split()), _LONG) / _LONG
    return (
        float(bool(places)), _bounded(belief), _bounded(asserted.sure), float(asserted.text is None), odds,
        float(is_right), size,
    )  # fmt: skip


def _bounded(value: float) -> float:
    return max(-_FAR, min(_FAR, value))


def _is_latin(references: Sequence[str]) -> bool:
    """Whether a reference has letters or figures that the encoders know; of other scripts they know next to nothing."""
    return any(_KNOWN.search(one) is not None for one in references[:_LOOKED_AT])


def fused(seen: Assessment, reading: Reading) -> Assessment:
    """Return what tier 0 saw, weighed together with what the encoders say."""
    fusion = load_fusion()
    trees = fusion.statements if seen.statement else fusion.contained if seen.values[_CONTAINED] else fusion.apart
    values = (*seen.values, *reading.judged, *reading.said, *reading.cosines)
    probability = chance(trees.log_odds(values))
    if seen.ruled and probability < 0.5:
        # The rule and the encoders agree.
        return replace(seen, asserted=reading.asserted)
    reasons = [reason for reason in seen.reasons if reason != "low-confidence"]
    if (probability >= 0.5) != seen.is_right:
        reasons.insert(0, "same-meaning" if probability >= 0.5 else "other-meaning")
    if seen.statement or UNSURE[0] < probability < UNSURE[1]:
        reasons.append("low-confidence")
    return Assessment(
        probability, tuple(reasons), values=seen.values, statement=seen.statement, asserted=reading.asserted
    )
