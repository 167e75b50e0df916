"""Tier 0: rules, then the model; a probability, a verdict and the names of what was seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.local._candidate import Candidate, Question, read_question
from adjudge.judges.local._features import Seen, observe
from adjudge.judges.local._model import Model, chance, load_model
from adjudge.judges.local._names import almost, is_same_name
from adjudge.judges.local._quantities import is_other_currency
from adjudge.judges.local._reference import Prepared, prepare
from adjudge.judges.local._rules import asked_polarity, fault, injected, polarity, sign
from adjudge.judges.local._standing import EVASIONS
from adjudge.judges.local._words import LONGEST, REFUSAL, stem

RULED_OUT = 0.02
"""The probability of CORRECT where a rule says wrong."""

_RULED_IN = 0.95
_TRAPPED = 0.5  # log-odds
_CAPPED = 0.18  # the most that a rule about the words of an answer leaves to the model
_LONG = 60  # words of an answer that is no short answer any more
_CONTRASTS = frozenset(map(stem, ("rather", "instead", "doubt")))
_CONTRAST = re.compile(r"\brather than\b|\binstead of\b|\b(?:no|without|beyond) (?:a |any )?doubt\b")
_UNSURE = (0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What tier 0 says of one response; `ruled` where a rule decided and no model has a say, `values` the features."""

    probability: float
    reasons: tuple[str, ...]
    ruled: bool = False
    values: Sequence[float] = ()
    statement: bool = False

    @property
    def is_right(self) -> bool:
        """Whether CORRECT is the likelier verdict."""
        return self.probability >= 0.5


def assess(question: str, references: tuple[str, ...], text: str) -> Assessment:
    """Assess one response.

    >>> seen = assess("What is the capital of France?", ("Paris",), "It is not Paris.")
    >>> seen.is_right, seen.reasons, seen.ruled
    (False, ('negated',), True)
    """
    model = load_model()
    asked, prepared, candidate = read_question(question[:LONGEST]), prepare(references), Candidate(text)
    if injected(candidate, question[:LONGEST], references):
        return _out("injected-verdict")
    seen = observe(asked, prepared, candidate, model.weights)
    if not seen.contained and is_vacuous(text, references):
        return _out("vacuous")
    ruled = _by_kind(prepared, candidate)
    if ruled is not None:
        return ruled
    rule = fault(asked, prepared, candidate, seen)
    if rule == "near-name" and is_same_name(asked, references, candidate):
        rule = None
    elif rule is None and not seen.contained:
        rule = almost(asked, prepared, references, candidate)
    if rule is None and candidate.numbers and is_other_currency(references, candidate):
        rule = "other-unit"
    if rule is None and seen.complete and not prepared.explains and is_evasive(model, asked, candidate, seen):
        rule = "evasive"
    probability = _by_model(model, prepared, seen)
    if rule is not None:
        capped = doubted(min(probability, _CAPPED), model, prepared, candidate)
        return Assessment(capped, (rule,), ruled=True, values=seen.values, statement=prepared.explains)
    probability = doubted(probability, model, prepared, candidate)
    reasons = _reasons(probability, prepared, candidate, seen)
    return Assessment(probability, reasons, values=seen.values, statement=prepared.explains)


def _out(reason: str) -> Assessment:
    return Assessment(RULED_OUT, (reason,), ruled=True)


def _by_kind(prepared: Prepared, candidate: Candidate) -> Assessment | None:
    """Judge by the kind of answer that is accepted, where the kind decides: a refusal, yes or no."""
    if prepared.refuses:
        refuses = REFUSAL.search(candidate.lowered) is not None
        reason = "both-refuse" if refuses else "answers-the-unanswerable"
        return Assessment(_RULED_IN if refuses else RULED_OUT, (reason,), ruled=True)
    wanted = asked_polarity(prepared)
    if wanted is None:
        return None
    agrees = polarity(candidate.text) == wanted
    return Assessment(_RULED_IN if agrees else RULED_OUT, ("yes-no",), ruled=True)


def _by_model(model: Model, prepared: Prepared, seen: Seen) -> float:
    trees = model.statements if prepared.explains else model.phrases
    return chance(trees.log_odds(seen.values))


def _reasons(probability: float, prepared: Prepared, candidate: Candidate, seen: Seen) -> tuple[str, ...]:
    """Return what speaks loudest, and whether the judge is weak on such a row."""
    reasons = [sign(seen)]
    if prepared.explains:
        reasons.append("explanatory")
    elif len(candidate.plain) > _LONG:
        reasons.append("long-answer")
    if prepared.explains or _UNSURE[0] < probability < _UNSURE[1]:
        reasons.append("low-confidence")
    return tuple(reasons)


def is_evasive(model: Model, asked: Question, candidate: Candidate, seen: Seen) -> bool:
    """Whether a reference is named and not given as the answer, as far as trees can tell that know such candidates.

    They are asked only where something could be meant so: a list, a doubt, an `or`, words without grammar.
    """
    cues = (candidate.unique - asked.stems) & EVASIONS
    if cues and cues <= _CONTRASTS and _CONTRAST.search(candidate.lowered):
        cues = frozenset()
    is_heap = seen.novel > 4 and len(candidate.content) > 0.85 * len(candidate.plain)
    return (seen.rivals >= 2 or bool(cues) or is_heap) and model.traps.log_odds(seen.values) > _TRAPPED


def doubted(probability: float, model: Model, prepared: Prepared, candidate: Candidate) -> float:
    """Return the probability with the doubt that is due to a short answer which is taken for wrong.

    A few words give little to go by, and where questions are others than in training, people accept more of them than
    there. The verdict stays what it is.
    """
    if probability >= 0.5 or prepared.explains or len(candidate.plain) > model.doubt["words"]:
        return probability
    return probability + model.doubt["share"] * (1 - 2 * probability)
