"""Tier 0: rules, then the model; a probability, a verdict and the names of what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.local._aliases import as_meant, is_coarser_place, rewritten
from adjudge.judges.local._answer import answer_of, untagged
from adjudge.judges.local._decisions import at_once, by_kind
from adjudge.judges.local._evasions import injected
from adjudge.judges.local._features import Seen, observe
from adjudge.judges.local._model import Model, chance, load_model
from adjudge.judges.local._names import almost, is_elsewhere
from adjudge.judges.local._opposites import is_opposite, is_swapped
from adjudge.judges.local._options import by_option, options_of, spoken
from adjudge.judges.local._pair import Candidate, Prepared, Question, prepare, read_question
from adjudge.judges.local._rules import fault, sign
from adjudge.judges.local._tiers import RULED_OUT, UNSURE, Assessment
from adjudge.judges.local._words import LONGEST

_RULED_IN = 0.95
_EXACT = 0.99  # a reference, word for word or as a fuller name
_LIKELY = frozenset(("number", "acronym", "spelling", "same-place", "both-refuse", "yes-no"))  # by rules that may err
_COARSER = 0.6  # where something is: the country of the town, the continent of the country
_CAPPED = 0.18  # the most that a rule about the words of an answer leaves to the model
_LONG = 60  # words of the shortest answer that counts as long
OVERTURNED = frozenset(("names-nothing", "other-number", "retracted", "yes-no"))
"""Rules that call an answer wrong for words which may belong to something else: encoders may overturn them."""


def assess(question: str, references: tuple[str, ...], text: str) -> Assessment:
    """Assess one response.

    >>> seen = assess("What is the capital of France?", ("Paris",), "It is not Paris.")
    >>> seen.is_right, seen.reasons, seen.ruled
    (False, ('negated',), True)
    """
    question, answer = question[:LONGEST], answer_of(text)
    asked, prepared = read_question(question), prepare(references)
    candidate = Candidate(answer)
    # The whole text is looked at: an injected verdict may be outside of the answer.
    if injected(candidate if answer == text else Candidate(untagged(text)), question, references):
        return _ruled(is_right=False, reason="injected-verdict")
    candidate = as_meant(prepared, candidate)
    chosen = _by_option(question, prepared.texts, candidate)
    if chosen is not None:
        return chosen
    decision = at_once(question, asked, prepared, candidate)
    if decision is None:
        # Only what no rule knows as it is written is rewritten and looked at again.
        given, candidate = candidate, rewritten(asked, prepared, candidate)
        decision = None if candidate is given else at_once(question, asked, prepared, candidate)
    if decision is not None:
        return _with_features(_ruled(*decision), asked, prepared, candidate)
    seen = observe(asked, prepared, candidate, load_model().weights)
    # A reference may consist of words that say nothing elsewhere.
    if not seen.contained and is_vacuous(answer, prepared.texts):
        return _ruled(is_right=False, reason="vacuous")
    decision = by_kind(question, asked, prepared, candidate)
    if decision is None and not (candidate.content or seen.contained):
        decision = False, "vacuous"
    if decision is not None:
        return _with_features(_ruled(*decision), asked, prepared, candidate, seen)
    return _weighed(asked, prepared, candidate, seen)


def assess_many(rows: Sequence[tuple[str, tuple[str, ...], str]]) -> list[Assessment]:
    """Assess responses, each by itself."""
    return [assess(*row) for row in rows]


def _with_features(
    ruled: Assessment, asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen | None = None
) -> Assessment:
    """Return what a rule decided; with the features, if encoders may overturn it."""
    if ruled.is_right or ruled.reasons[0] not in OVERTURNED:
        return ruled
    seen = seen or observe(asked, prepared, candidate, load_model().weights)
    return replace(ruled, values=seen.values, statement=prepared.explains)


def _weighed(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> Assessment:
    """Assess by what was seen: rules about the words of an answer bound what the model says of them."""
    model, is_apart = load_model(), not (seen.contained or prepared.explains)
    if is_apart and is_coarser_place(asked, prepared.texts, candidate):
        return Assessment(_COARSER, ("coarser-place", "low-confidence"), ruled=True)
    rule = _rule(asked, prepared, candidate, seen)
    # Explanations and short phrases were learnt apart: the same features mean different things there.
    trees = model.statements if prepared.explains else model.phrases
    probability = chance(trees.log_odds(seen.values))
    if rule is not None:
        # The model may be even less sure than the rule.
        capped = doubted(min(probability, _CAPPED), model, prepared, candidate)
        return Assessment(capped, (rule,), ruled=True, values=seen.values, statement=prepared.explains)
    probability = doubted(probability, model, prepared, candidate)
    reasons = _reasons(probability, prepared, candidate, seen)
    return Assessment(probability, reasons, values=seen.values, statement=prepared.explains)


def _rule(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return the name of the rule by which a candidate is wrong, if there is one."""
    rule = fault(asked, prepared, candidate, seen)
    if rule is not None:
        return rule
    if is_elsewhere(prepared, candidate):
        return "near-name"
    if is_opposite((one.stems for one in prepared.references), candidate.stems):
        return "opposite"
    if not seen.contained:
        is_other = is_swapped(prepared, candidate)
        rule = "swapped-roles" if is_other else almost(asked, prepared, candidate, is_complete=seen.complete)
    return rule


def _by_option(question: str, references: tuple[str, ...], candidate: Candidate) -> Assessment | None:
    """Judge by the options that a question lists; where none is chosen plainly, as if it listed none."""
    options = options_of(question)
    if options is None:
        return None
    chosen = by_option(options, references, candidate)
    if chosen is not None:
        return _ruled(*chosen)
    plainly = spoken(question, references)
    # What is accepted is one of the options; else they are left as they are.
    is_option = plainly[0] != question
    return assess(*plainly, candidate.text) if is_option else None


def _ruled(is_right: bool, reason: str) -> Assessment:
    sure = _EXACT if reason not in _LIKELY else _RULED_IN
    return Assessment(sure if is_right else RULED_OUT, (reason,), ruled=True)


def _reasons(probability: float, prepared: Prepared, candidate: Candidate, seen: Seen) -> tuple[str, ...]:
    """Return what speaks loudest, and whether the judge is weak on such a row."""
    loudest = sign(seen)
    # What is accepted is not called incomplete.
    reasons = ["part-of-reference" if loudest == "list-incomplete" and probability >= 0.5 else loudest]
    if prepared.explains:
        reasons.append("explanatory")
    elif len(candidate.plain) > _LONG:
        reasons.append("long-answer")
    if prepared.explains or UNSURE[0] < probability < UNSURE[1]:
        reasons.append("low-confidence")
    return tuple(reasons)


def doubted(probability: float, model: Model, prepared: Prepared, candidate: Candidate) -> float:
    """Return the probability with the doubt that is due to a short answer which is taken for wrong.

    A few words give little to go by, and where questions are others than in training, people accept more of them than
    there. The verdict stays what it is.
    """
    if probability >= 0.5 or prepared.explains or len(candidate.plain) > model.doubt["words"]:
        return probability
    return probability + model.doubt["share"] * (1 - 2 * probability)
