"""Tier 1: what tier 0 sees, joined by two encoders that have read far more than the labelled rows.

Rules decide as in tier 0. Elsewhere its features are weighed with the reader's logit and, where no reference stands in
the candidate, with the sentence encoder's cosines. Where references are statements, tier 0's own opinion has two thirds
of the say, since there the reader relies on the questions that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1
from typing import TYPE_CHECKING

from adjudge.judges.local import _tier0
from adjudge.judges.local._encoder import logits
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._lists.choices import spoken
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import chance, load_fusion, load_model
from adjudge.judges.local._reading.answer import answer_of
from adjudge.judges.local._tier0 import UNSURE, Assessment

if TYPE_CHECKING:
    from adjudge.judges.local._encoder import Row

AGREEMENT = (
    "local judge, tier 1; agreement with people: accuracy 94 % (kappa .84) on Natural Questions,"
    " 98 % (.93) on TriviaQA, 82 % (.65) on NQ301, 74 to 82 % on explanations"
)
"""How far a verdict of tier 1 can be trusted, on validation rows; `docs/judges/local.md` has all figures."""

_KNOWN = re.compile(r"[A-Za-z0-9]")
_SIZE, _GIVEN, _CONTAINED, _ALIKE = (NAMES.index(name) for name in ("size", "references", "contained", "trigram"))
_NEAR = COSINES.index("text_best")
_SHORT = 40  # words of an answer in which a reader that sees a trick is believed
_RIGHT, _TRICK = -2.0, 2.0  # log-odds below and above which it does
_CAPPED = 0.3
_FEW, _FAR = 12, 0.4  # few words that mean nothing near the reference: what pleases a reader says nothing at all
_SPELT, _SURE = 0.25, 0.9  # an answer that is spelt like the reference is rather another name
_LEFT = 0.49  # the most that such an answer is left with
_LOOKED_AT = 50  # references that are looked at


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoders say of a row: log-odds of right and of a trick; cosines where no reference is contained."""

    right: float
    trick: float
    cosines: tuple[float, ...] = ()
    names: bool = False
    """Whether a reference is a name: another one near it in meaning is somebody else."""


def assess_many(rows: Sequence[Row]) -> list[Assessment]:
    """Assess responses; the encoders read those that no rule decides, many at a time.

    >>> one, other = assess_many([
    ...     ("Where do goats come from?", ("Iran",), "They come from Persia, today called Iran."),
    ...     ("Where do goats come from?", ("Iran",), "Not from Iran."),
    ... ])
    >>> one.is_right, other.is_right, other.reasons
    (True, False, ('negated',))
    """
    found = [_tier0.assess(*row) for row in rows]
    for at, reading in read_many(rows, found).items():
        found[at] = fused(found[at], reading)
    return found


def read_many(rows: Sequence[Row], seen: Sequence[Assessment]) -> dict[int, Reading]:
    """Return what the encoders say of the rows that no rule decided, by their place."""
    given = {
        at: (*spoken(question, references), answer_of(text))
        for at, ((question, references, text), one) in enumerate(zip(rows, seen, strict=True))
        if not one.ruled and _is_latin(references)
    }
    apart = [at for at in given if not seen[at].statement and not seen[at].values[_CONTAINED]]
    near = dict(zip(apart, cosines([given[at] for at in apart]), strict=True))
    said = zip(given.items(), logits(list(given.values())), strict=True)
    return {
        at: Reading(right, trick, near.get(at, ()), are_names(references))
        for (at, (_, references, _)), (right, trick) in said
    }


def _is_latin(references: Sequence[str]) -> bool:
    """Whether a reference has letters or figures that the encoders know; of other scripts they know next to nothing."""
    return any(_KNOWN.search(one) is not None for one in references[:_LOOKED_AT])


def fused(seen: Assessment, reading: Reading) -> Assessment:
    """Return what tier 0 saw, weighed together with what the encoders say."""
    fusion = load_fusion()
    values = (*seen.values, reading.right)
    if seen.statement:
        own = load_model().statements.log_odds(seen.values)
        probability = chance((2 * own + fusion.statements.log_odds(values)) / 3)
    elif seen.values[_CONTAINED]:
        probability = _bounded(chance(fusion.contained.log_odds(values)), seen, reading)
    else:
        probability = _bounded(chance(fusion.apart.log_odds((*values, *reading.cosines))), seen, reading)
    reasons = [reason for reason in seen.reasons if reason != "low-confidence"]
    if (probability >= 0.5) != seen.is_right:
        reasons.insert(0, "same-meaning" if probability >= 0.5 else "other-meaning")
    if seen.statement or UNSURE[0] < probability < UNSURE[1]:
        reasons.append("low-confidence")
    return Assessment(probability, tuple(reasons), values=seen.values, statement=seen.statement)


def are_names(references: Sequence[str]) -> bool:
    """Whether a reference is written as names are: every longer word begins with a capital letter, or a digit.

    >>> are_names(["Lake of Constance"]), are_names(["the lake"]), are_names(["1989"])
    (True, False, False)
    """
    longer = ([word for word in one.split() if len(word) > 3] for one in references[:_LOOKED_AT])
    return any(
        words and words[0].isalpha() and all(word[0].isupper() or word[0].isdigit() for word in words)
        for words in longer
    )


def _bounded(probability: float, seen: Assessment, reading: Reading) -> float:
    """Return a probability with what the labelled rows are too tame, or too much alike, to teach."""
    # Both features are logarithms.
    words, given = (round(expm1(seen.values[at])) for at in (_SIZE, _GIVEN))
    if not reading.cosines:
        is_trick = words <= _SHORT and reading.right < _RIGHT and reading.trick > _TRICK
        probability = min(probability, _CAPPED) if is_trick else probability
    elif not seen.is_right and words <= _FEW and not _is_vouched_for(probability, seen, reading):
        probability = min(probability, _LEFT)
    doubt = load_fusion().doubt
    if probability < 0.5 and words <= doubt["words"] and given <= doubt["references"]:
        probability += doubt["share"] * (1 - 2 * probability)
    return probability


def _is_vouched_for(probability: float, seen: Assessment, reading: Reading) -> bool:
    """Whether a short answer that has no words of a reference is near enough to one in meaning."""
    is_alike = seen.values[_ALIKE] >= _SPELT
    # A name near another in meaning is somebody else, so letters decide there.
    if reading.names or is_alike:
        return is_alike and probability >= _SURE
    return reading.cosines[_NEAR] >= _FAR
