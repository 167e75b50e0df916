"""Tier 0: rules, then the model; a probability, a verdict and the names of what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.local._assessment import RULED_OUT, UNSURE, Assessment
from adjudge.judges.local._decisions import at_once, by_kind
from adjudge.judges.local._denials.opposites import is_opposite
from adjudge.judges.local._denials.roles import is_swapped
from adjudge.judges.local._features import NAMES, Seen, observe
from adjudge.judges.local._injections import injected
from adjudge.judges.local._lists.options import by_option, options_of, spoken
from adjudge.judges.local._mentions import LEAST
from adjudge.judges.local._model import Model, chance, load_model
from adjudge.judges.local._names.names import almost, is_elsewhere, is_part
from adjudge.judges.local._names.places import is_coarser_place
from adjudge.judges.local._quantities.quantities import is_other_currency
from adjudge.judges.local._reading.answer import answer_of, untagged
from adjudge.judges.local._reading.candidate import Candidate, Question, read_question
from adjudge.judges.local._reading.reference import Prepared, prepare
from adjudge.judges.local._reading.words import LONGEST
from adjudge.judges.local._rewriting import as_meant, rewritten
from adjudge.judges.local._rules import fault, is_chatter, sign
from adjudge.judges.local._stated import stated

_RULED_IN = 0.95
_EXACT = 0.99  # a reference, word for word or as a fuller name
_LIKELY = frozenset(("number", "acronym", "spelling", "same-place", "both-refuse", "yes-no"))  # by rules that may err
_COARSER = 0.6  # where something is: the country of the town, the continent of the country
_CAPPED = 0.18  # the most that a rule about the words of an answer leaves to the model
_OF_NUMBERS = frozenset(("other-number", "other-date", "other-unit"))
_MENTIONS, _NEW_BEFORE = NAMES.index("mentions"), NAMES.index("new_before")
_GIVEN_UP = (
    (8, (0.0, 0.0)),
    (12, (0.2, 0.08)),
    (LONGEST, (0.43, 0.2)),
)  # words; what is left to a mention, to a first one
_LEFT = 0.49  # the most for talk that has no word of any reference
_CERTAIN = frozenset(("vacuous", "injected-verdict"))  # wrong for what a response does, whatever the question is
_SHARE = 0.001  # the least probability that is told from none
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
    # A longer candidate may state the number in other words, beside another one.
    places = stated(asked, prepared, candidate) if decision in (None, (False, "other-number")) else ()
    if decision is not None and not places:
        return _with_features(_ruled(*decision), asked, prepared, candidate)
    seen = observe(asked, prepared, candidate, load_model().learnt, places)
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
    """Assess responses, each by itself; WRONG as surely as such verdicts were right on rows from elsewhere."""
    found = [assess(*row) for row in rows]
    worth = load_model().earned
    return [earned(one, worth[how_wrong(one, row[2])]) for one, row in zip(found, rows, strict=True)]


def how_wrong(seen: Assessment, text: str) -> str:
    """Return the kind of a verdict: whether a rule or the model gave it, and whether the response is longer."""
    return f"{'rule' if seen.ruled else 'model'}, {'longer' if len(text.split()) > LEAST else 'short'}"


def earned(seen: Assessment, factor: float) -> Assessment:
    """Return an assessment with the log-odds of WRONG multiplied by what they were worth on rows from elsewhere.

    Training rows are trivia, where nearly all that is in other words than the reference is wrong. Elsewhere less is.
    """
    if seen.is_right or seen.reasons[0] in _CERTAIN:
        return seen
    share = max(seen.probability, _SHARE)
    probability = chance(factor * log(share / (1 - share)))
    if probability <= UNSURE[0] or "low-confidence" in seen.reasons:
        return replace(seen, probability=probability)
    return replace(seen, probability=probability, reasons=(*seen.reasons, "low-confidence"))


def _with_features(
    ruled: Assessment, asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen | None = None
) -> Assessment:
    """Return what a rule decided; with the features, if encoders may overturn it."""
    if ruled.is_right or ruled.reasons[0] not in OVERTURNED:
        return ruled
    seen = seen or observe(asked, prepared, candidate, load_model().learnt)
    return replace(ruled, values=seen.values, statement=prepared.explains)


def _weighed(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> Assessment:
    """Assess by what was seen: rules about the words of an answer bound what the model says of them."""
    model, is_apart = load_model(), not (seen.contained or prepared.explains)
    if is_apart and is_coarser_place(asked, prepared.texts, candidate):
        return Assessment(_COARSER, ("coarser-place", "low-confidence"), ruled=True)
    rule = _rule(asked, prepared, candidate, seen)
    if seen.stated and rule in _OF_NUMBERS:
        rule = None
    # Explanations, mentions and short phrases were learnt apart: the same features mean different things there.
    is_mention = bool(seen.values[_MENTIONS]) and not prepared.explains
    phrases = model.mentions if is_mention else model.phrases
    trees = model.statements if prepared.explains else phrases
    probability = chance(trees.log_odds(seen.values))
    if is_mention and probability > _given_up(seen, candidate):
        probability = max(probability, 0.5)
    if rule is not None:
        # The model may be even less sure than the rule.
        capped = doubted(min(probability, _CAPPED), model, prepared, candidate)
        return Assessment(capped, (rule,), ruled=True, values=seen.values, statement=prepared.explains)
    # Fluent talk without a word of a reference must not pass as an answer.
    if probability >= 0.5 and is_apart and is_chatter(prepared, candidate, seen):
        probability = _LEFT
    probability = doubted(probability, model, prepared, candidate)
    reasons = _reasons(probability, prepared, candidate, seen)
    return Assessment(probability, reasons, values=seen.values, statement=prepared.explains)


def _given_up(seen: Seen, candidate: Candidate) -> float:
    """Return the most that may be left to a reference that is there, for it to be taken for something else.

    Few words hold little else, and what a response begins with is mostly its answer: there the trees have to be surer.
    """
    first = seen.values[_NEW_BEFORE] == 0
    return next(share[first] for words, share in _GIVEN_UP if len(candidate.plain) <= words)


def _rule(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return the name of the rule by which a candidate is wrong, if there is one."""
    rule = fault(asked, prepared, candidate, seen)
    if rule == "near-name" and is_part(prepared.texts, candidate):
        return None
    if rule is not None:
        return rule
    if is_elsewhere(prepared, candidate):
        return "near-name"
    if is_opposite((one.stems for one in prepared.references), candidate.stems):
        return "opposite"
    if not seen.contained:
        is_other = is_swapped(prepared, candidate)
        rule = "swapped-roles" if is_other else almost(asked, prepared, candidate, is_complete=seen.complete)
    if rule is None and candidate.numbers and is_other_currency(prepared.texts, candidate):
        return "other-unit"
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
    loudest = "only-mentioned" if probability < 0.5 and seen.values[_MENTIONS] else sign(seen)
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
