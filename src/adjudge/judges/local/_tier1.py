"""Tier 1: what tier 0 sees, and what three encoders read that have seen far more than the labelled rows.

The reader says what a response asserts, the judge what it thinks of question, references and response together, and
where no reference stands in the response the sentence encoder how near they are. Trees weigh all of it. Rules decide as
in tier 0, but for those that look at words which may belong to something else (`OVERTURNED`): there a right assertion
overturns the rule. What tier 0 takes for wrong is not accepted on nearness of meaning alone (`_is_vouched_for`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, log
from typing import TYPE_CHECKING

from adjudge.judges.local import _tier0
from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._encoder import logits
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._limits import REFERENCES
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import chance, load_fusion
from adjudge.judges.local._options import spoken
from adjudge.judges.local._reader import SAID, Asserted, places_of, read_many
from adjudge.judges.local._tier0 import OVERTURNED, earned
from adjudge.judges.local._tiers import UNSURE, Assessment

if TYPE_CHECKING:
    from adjudge.judges.local._encoder import Row

_KNOWN = re.compile(r"[A-Za-z0-9]")
_YES_NO = re.compile(r"(?:^|[.!?:;,\n])\W*(?:yes|no)\b", re.IGNORECASE)
_SIZE, _GIVEN, _CONTAINED, _ALIKE = (NAMES.index(name) for name in ("size", "references", "contained", "trigram"))
_NEAR = COSINES.index("text_best")
_SURE_OF, _ODDS = (SAID.index(name) for name in ("said_sure", "said_odds"))
_FAR = 15.0  # log-odds beyond which it makes no difference
_SHARE = 0.001  # the least probability that is told from none
_LONG = 12  # words of an assertion
_SETTLED = 2.9  # log-odds at which tier 0 is as sure of an assertion as its rules are: not of a part of a name
_NOTHING = -8.0  # log-odds at which the reader is sure that nothing is asserted
_FEW, _FAR_OFF = 12, 0.4  # few words that mean nothing near the reference: what pleases a judge says nothing at all
_BARE, _SPELT, _SURE = 4, 0.25, 0.8  # a bare answer that is spelt like the reference is rather another name
_LEFT = 0.49  # the most that is left to what nothing vouches for


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoders say of a row; cosines where no reference is contained and references are no statements."""

    asserted: str | None
    judged: tuple[float, float]
    """The log-odds of right, and of a trick."""
    said: tuple[float, ...]
    """What is made of the assertion: the values that `SAID` names."""
    cosines: tuple[float, ...] = ()
    names: bool = False
    """Whether a reference is a name: another one near it in meaning is somebody else."""
    yes_no: bool = False
    """Whether the response says yes or no in so many words, at the beginning of a sentence or after a comma."""


def assess_many(rows: Sequence[Row]) -> list[Assessment]:
    """Assess responses; the encoders read those that no rule decides, many at a time.

    >>> one, other = assess_many([
    ...     ("Who won?", ("Ana Sol",), "Karlo came second, behind Ana Sol, who won."),
    ...     ("Who won?", ("Ana Sol",), "Not Ana Sol."),
    ... ])
    >>> one.is_right, one.asserted, other.is_right, other.reasons
    (True, 'Ana Sol', False, ('negated', 'low-confidence'))
    """
    found = [_tier0.assess(*row) for row in rows]
    for at, reading in read_rows(rows, found).items():
        found[at] = fused(found[at], reading)
    return [earned(one, load_fusion().earned) for one in found]


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
        at: Reading(
            said.text,
            verdict,
            said_values(row, said),
            near.get(at, ()),
            are_names(row[1]),
            bool(_YES_NO.search(row[2])),
        )
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
    return any(_KNOWN.search(one) is not None for one in references[:REFERENCES])


def fused(seen: Assessment, reading: Reading) -> Assessment:
    """Return what tier 0 saw, weighed together with what the encoders say."""
    fusion = load_fusion()
    trees = fusion.statements if seen.statement else fusion.contained if seen.values[_CONTAINED] else fusion.apart
    values = (*seen.values, *reading.judged, *reading.said, *reading.cosines)
    probability = chance(trees.log_odds(values))
    if seen.ruled and not (probability >= 0.5 and _is_overturned(seen, reading)):
        return replace(seen, asserted=reading.asserted)
    if not (seen.statement or seen.ruled):
        if not (seen.is_right or _is_vouched_for(probability, seen, reading)):
            probability = min(probability, _LEFT)
        probability = _doubted(probability, seen)
    reasons = [reason for reason in seen.reasons if reason != "low-confidence"]
    if (probability >= 0.5) != seen.is_right:
        reasons.insert(0, "same-meaning" if probability >= 0.5 else "other-meaning")
    if seen.statement or UNSURE[0] < probability < UNSURE[1]:
        reasons.append("low-confidence")
    return Assessment(
        probability, tuple(reasons), values=seen.values, statement=seen.statement, asserted=reading.asserted
    )


def are_names(references: Sequence[str]) -> bool:
    """Return whether a reference is written as names are: every longer word begins with a capital letter, or a digit.

    >>> are_names(["Lake of Constance"]), are_names(["the lake"]), are_names(["1989"])
    (True, False, False)
    """
    longer = ([word for word in one.split() if len(word) > 3] for one in references[:REFERENCES])
    return any(
        words and words[0].isalpha() and all(word[0].isupper() or word[0].isdigit() for word in words)
        for words in longer
    )


def _is_overturned(seen: Assessment, reading: Reading) -> bool:
    """Whether what a response asserts speaks against the rule that called it wrong."""
    # A yes or no is not a span of prose: there the judge is believed, unless the response says one.
    if seen.reasons[0] == "yes-no":
        return not reading.yes_no
    return reading.said[_ODDS] >= _SETTLED


def _is_vouched_for(probability: float, seen: Assessment, reading: Reading) -> bool:
    """Whether more than nearness in meaning speaks for a response that tier 0 takes for wrong."""
    if seen.values[_CONTAINED] or reading.said[_ODDS] >= _SETTLED:
        return True
    if reading.said[_SURE_OF] < _NOTHING:
        return False
    words, is_alike = round(expm1(seen.values[_SIZE])), seen.values[_ALIKE] >= _SPELT
    # A name near another in meaning is somebody else, so letters decide there.
    if words <= _BARE and (reading.names or is_alike):
        return is_alike and probability >= _SURE
    return words > _FEW or reading.cosines[_NEAR] >= _FAR_OFF


def _doubted(probability: float, seen: Assessment) -> float:
    """Return the probability with the doubt that is due to few words, beside few references, taken for wrong."""
    doubt = load_fusion().doubt
    words, given = (round(expm1(seen.values[at])) for at in (_SIZE, _GIVEN))  # both features are logarithms
    if probability >= 0.5 or words > doubt["words"] or given > doubt["references"]:
        return probability
    return probability + doubt["share"] * (1 - 2 * probability)
