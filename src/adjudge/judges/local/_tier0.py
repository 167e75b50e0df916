"""Tier 0: rules, then the model; a probability, a verdict and the names of what was seen.

The rules and their order are in `_rules.py`: those of a stage are asked in turn, and the first one that speaks decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log

from adjudge.judges.local._aliases import as_meant, rewritten
from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._features import Pair
from adjudge.judges.local._limits import LEAST, LONGEST
from adjudge.judges.local._model import Model, chance, load_model
from adjudge.judges.local._nearness import Seen
from adjudge.judges.local._options import options_of, spoken
from adjudge.judges.local._pair import Candidate, Decision, Prepared, prepare
from adjudge.judges.local._rules import RULES, Stage, first
from adjudge.judges.local._tiers import RULED_OUT, UNSURE, Assessment

_RULED_IN, _RULED_OUT = 0.95, 0.05  # by rules that may err
_EXACT = 0.99  # a reference, word for word or as a fuller name
_LIKELY = frozenset(("number", "acronym", "spelling", "both-refuse", "yes-no"))  # by rules that may err
_COARSER = 0.6  # where something is: the country of the town, the continent of the country
_CAPPED = 0.18  # the most that a rule about the words of an answer leaves to the model
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
    pair = read(question, references, text)
    decided = first(Stage.FRONT, pair)
    if decided is not None:
        return _ruled(*decided)
    pair = pair.having(as_meant(pair.prepared, pair.candidate))
    decided = first(Stage.CHOICE, pair)
    if decided is not None:
        return _ruled(*decided)
    # Where no option is chosen plainly, the question is judged as if it listed none.
    if options_of(pair.question) is not None:
        plainly = spoken(pair.question, pair.prepared.texts)
        if plainly[0] != pair.question:
            return assess(*plainly, pair.candidate.text)
    decided, pair = _of_kind(pair)
    decided = decided or first(Stage.SAID, pair)
    return _weighed(pair) if decided is None else _with_features(_ruled(*decided), pair)


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


def read(question: str, references: tuple[str, ...], text: str) -> Pair:
    """Return a row as rules see it."""
    answer = answer_of(text)
    return Pair(question[:LONGEST], prepare(references), Candidate(answer), text, answer)


def _of_kind(pair: Pair) -> tuple[Decision | None, Pair]:
    """Return what rules about a kind of answers say, and the pair as it is looked at from there on."""
    decided = first(Stage.KIND, pair)
    if decided is not None:
        return decided, pair
    # Only what no rule knows as it is written is rewritten and looked at again.
    other = pair.having(rewritten(pair.asked, pair.prepared, pair.candidate))
    return (None if other is pair else first(Stage.KIND, other)), other


def spoke(question: str, references: tuple[str, ...], text: str) -> Iterator[tuple[str, Decision]]:
    """Yield the rules that have something to say of a response and what each says, in their order.

    >>> [*spoke("Which city is it?", ("Paris",), "It is not Paris or Lyon.")]
    [('denied', (False, 'negated')), ('choice', (False, 'hedged'))]
    """
    pair = read(question, references, text)
    pair = pair.having(as_meant(pair.prepared, pair.candidate))
    _, other = _of_kind(pair)
    for rule in RULES:
        if rule.stage is Stage.NAMED and not other.is_named:
            continue
        said = rule.says(pair if rule.stage in (Stage.FRONT, Stage.CHOICE) else other)
        if said is not None:
            yield rule.name, (False, said) if isinstance(said, str) else said


def _with_features(ruled: Assessment, pair: Pair) -> Assessment:
    """Return what a rule decided; with the features, if encoders may overturn it."""
    if ruled.is_right or ruled.reasons[0] not in OVERTURNED:
        return ruled
    return replace(ruled, values=pair.seen.values, statement=pair.prepared.explains)


def _weighed(pair: Pair) -> Assessment:
    """Assess by what was seen: rules about the words of an answer bound what the model says of them."""
    model, prepared, candidate, seen = load_model(), pair.prepared, pair.candidate, pair.seen
    fault = (first(Stage.NAMED, pair) if pair.is_named else None) or first(Stage.FAULT, pair)
    mention, probability = first(Stage.MENTION, pair), pair.chance
    if pair.is_mention and mention is None:
        probability = max(probability, 0.5)
    if fault is not None:
        # The model may be even less sure than the rule.
        capped = doubted(min(probability, _CAPPED), model, prepared, candidate)
        return Assessment(capped, (fault[1],), ruled=True, values=seen.values, statement=prepared.explains)
    probability = doubted(probability, model, prepared, candidate)
    reasons = _reasons(probability, prepared, candidate, _sign(seen) if mention is None else mention[1])
    return Assessment(probability, reasons, values=seen.values, statement=prepared.explains)


def _ruled(is_right: bool, reason: str) -> Assessment:
    if reason == "coarser-place":
        return Assessment(_COARSER, (reason, "low-confidence"), ruled=True)
    if is_right:
        return Assessment(_EXACT if reason not in _LIKELY else _RULED_IN, (reason,), ruled=True)
    # Rules that may err are as sure of WRONG as such rules are of CORRECT.
    return Assessment(RULED_OUT if reason not in OVERTURNED else _RULED_OUT, (reason,), ruled=True)


def _reasons(probability: float, prepared: Prepared, candidate: Candidate, loudest: str) -> tuple[str, ...]:
    """Return what speaks loudest, and whether the judge is weak on such a row."""
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


def _sign(seen: Seen) -> str:
    """Return the name of what speaks loudest for or against a candidate that no rule decides."""
    if seen.contained or seen.stated:
        return "contained" if seen.contained else "number"
    if seen.dates in ("coarser", "clash") and not seen.complete:
        return "coarser-date" if seen.dates == "coarser" else "other-date"
    return _of_number(seen) or ("all-words" if seen.complete else "refusal" if seen.refuses else _of_part(seen))


def _of_number(seen: Seen) -> str | None:
    """Name how a candidate mentions the number that is asked for."""
    if seen.best is None or not seen.best.is_number:
        return None
    if seen.numbers in ("match", "rounded"):
        return "number" if seen.numbers == "match" else "rounded-number"
    if seen.number_match:
        return None
    return "no-number" if seen.numbers == "missing" else "other-number"


def _of_part(seen: Seen) -> str:
    """Name how a candidate that lacks words of every reference relates to the nearest one."""
    if seen.acronym:
        return "acronym"
    if seen.is_part:
        return "part-of-reference"
    if seen.best is not None and seen.best.members and seen.members < 1:
        return "list-incomplete"
    return "not-contained"
