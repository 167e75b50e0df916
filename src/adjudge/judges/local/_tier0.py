"""Tier 0: rules, then the model; a probability, a verdict and the names of what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.local._aliases import as_written
from adjudge.judges.local._answer import answer_of, corrected, unspaced, untagged
from adjudge.judges.local._candidate import Candidate, Question, read_question
from adjudge.judges.local._choices import by_option, spoken
from adjudge.judges.local._codes import by_code
from adjudge.judges.local._features import Seen, observe
from adjudge.judges.local._figures import is_marked_otherwise
from adjudge.judges.local._formulas import by_formula
from adjudge.judges.local._framed import FRAMES, unframed
from adjudge.judges.local._kinds import member
from adjudge.judges.local._letters import by_letter
from adjudge.judges.local._members import by_members
from adjudge.judges.local._model import Model, chance, load_model
from adjudge.judges.local._names import almost, is_elsewhere, is_part
from adjudge.judges.local._nearness import gives_number
from adjudge.judges.local._opposites import is_exchanged, is_opposite
from adjudge.judges.local._options import options_of
from adjudge.judges.local._places import by_place, is_coarser_place
from adjudge.judges.local._quantities import is_other_currency
from adjudge.judges.local._readings import by_quantity
from adjudge.judges.local._reference import Prepared, prepare
from adjudge.judges.local._refusals import refuses
from adjudge.judges.local._rules import fault, injected, is_chatter, polarity, repeats_figure, sign, wanted_polarity
from adjudge.judges.local._same import same
from adjudge.judges.local._senses import LONGEST as TURNED
from adjudge.judges.local._senses import may_turn, turned
from adjudge.judges.local._substances import by_substance
from adjudge.judges.local._words import LONGEST
from adjudge.judges.local._works import is_other_title
from adjudge.judges.local._writings import as_spelt, dated

RULED_OUT = 0.02
"""The probability of CORRECT where a rule says wrong."""

_RULED_IN = 0.95
_EXACT = 0.99  # a reference, word for word or as a fuller name
_COARSER = 0.6  # where something is: the country of the town, the continent of the country
_CAPPED = 0.18  # the most that a rule about the words of an answer leaves to the model
_LEFT = 0.49  # the most for talk that has no word of any reference
_LONG = 60  # words of an answer that is no short answer any more
UNSURE = (0.2, 0.8)
"""Probabilities between these are low confidence."""


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
    model, question = load_model(), question[:LONGEST]
    asked, prepared = read_question(question), prepare(references)
    answer = answer_of(text)
    candidate = Candidate(answer)
    if injected(candidate if answer == text else Candidate(untagged(text)), question, references):
        return _out("injected-verdict")
    candidate, references = _in_one_piece(prepared, _last_word(prepared, candidate)), prepared.texts
    ruled = _by_option(question, references, candidate) or _at_once(question, asked, prepared, candidate)
    if ruled is None:
        given, candidate = candidate, _rewritten(asked, prepared, candidate)
        ruled = None if candidate is given else _at_once(question, asked, prepared, candidate)
    if ruled is not None:
        return ruled
    seen = observe(asked, prepared, candidate, model.weights)
    if not seen.contained and is_vacuous(answer, references):
        return _out("vacuous")
    is_apart = not (seen.contained or prepared.explains)
    ruled = _by_kind(question, asked, prepared, candidate, seen)
    if ruled is None and is_apart and is_coarser_place(asked, references, candidate):
        ruled = Assessment(_COARSER, ("coarser-place", "low-confidence"), ruled=True)
    if ruled is not None:
        return ruled
    rule = _rule(asked, prepared, references, candidate, seen)
    probability = _by_model(model, prepared, seen)
    if rule is not None:
        capped = doubted(min(probability, _CAPPED), model, prepared, candidate)
        return Assessment(capped, (rule,), ruled=True, values=seen.values, statement=prepared.explains)
    if probability >= 0.5 and is_apart and is_chatter(prepared, candidate, seen):
        probability = _LEFT
    probability = doubted(probability, model, prepared, candidate)
    reasons = _reasons(probability, prepared, candidate, seen)
    return Assessment(probability, reasons, values=seen.values, statement=prepared.explains)


def _rule(
    asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate, seen: Seen
) -> str | None:
    """Return the name of the rule by which a candidate is wrong, if there is one."""
    rule = fault(asked, prepared, candidate, seen)
    if rule == "near-name" and is_part(references, candidate):
        return None
    if rule is not None:
        return rule
    if is_elsewhere(prepared, candidate):
        return "near-name"
    if is_opposite((one.stems for one in prepared.references), candidate.stems):
        return "opposite"
    if not seen.contained and len(candidate.plain) <= TURNED and is_exchanged(references, candidate.text):
        rule = "swapped-roles"
    elif not seen.contained:
        rule = almost(asked, prepared, references, candidate, is_complete=seen.complete)
    if rule is None and candidate.numbers and is_other_currency(references, candidate):
        return "other-unit"
    return rule


def _last_word(prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return what a candidate says after it has corrected itself, if it names a reference there; else all of it."""
    tail = corrected(candidate.text, candidate.unique)
    if tail is None:
        return candidate
    rest = Candidate(tail)
    return rest if any(one.padded in rest.padded for one in prepared.references) else candidate


def _in_one_piece(prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return a candidate with its figures in one piece (`1, 776`), if they are a reference's then; else as it is."""
    text = unspaced(candidate.text) if candidate.numbers else None
    if text is None or any(one.padded in candidate.padded for one in prepared.references):
        return candidate
    rest = Candidate(text)
    return rest if gives_number(prepared, rest) else candidate


def _rewritten(asked: Question, prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return a candidate that has a reference in another form with the reference in its place."""
    if prepared.explains:
        return candidate
    text = as_written(prepared.aliases, candidate, asked.plain)
    if prepared.figures.writings:
        text = as_spelt(prepared.figures.writings, text)
    if prepared.figures.days and candidate.numbers:
        text = dated(text, prepared.figures.days)
    if text == candidate.text or any(one.padded in candidate.padded for one in prepared.references):
        return candidate
    return Candidate(text)


def _out(reason: str) -> Assessment:
    return Assessment(RULED_OUT, (reason,), ruled=True)


def _by_option(question: str, references: tuple[str, ...], candidate: Candidate) -> Assessment | None:
    """Judge by the options that a question lists; where none is chosen plainly, as if it listed none."""
    options = options_of(question)
    if options is None:
        return None
    plainly = spoken(question, references)
    if plainly[0] == question:
        return None
    chosen = by_option(options, references, candidate)
    return assess(*plainly, candidate.text) if chosen is None else _ruled(*chosen)


def _ruled(is_right: bool, reason: str) -> Assessment:
    return Assessment(_EXACT if is_right else RULED_OUT, (reason,), ruled=True)


def _at_once(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Assessment | None:
    """Judge a candidate that is a reference and nothing else, or in which every character counts."""
    exact = (
        by_letter(asked, prepared.letters, candidate)
        or by_formula(prepared.formulas, candidate)
        or by_code(asked, prepared.code, prepared.texts, candidate)
        or by_substance(asked, prepared.substances, prepared.texts, candidate)
        or (by_members(question, asked, prepared, candidate) if prepared.lists or asked.wants_list else None)
        or _by_sense(question, asked, prepared, candidate)
    )
    if exact is not None:
        return _ruled(*exact)
    quantity = by_quantity(asked, prepared, candidate) if prepared.figures else None
    if quantity is not None and not quantity[0]:
        return _out(quantity[1])
    form = same(asked, prepared, prepared.texts, candidate) or (None if quantity is None else quantity[1])
    if form is None:
        found = _by_name(asked, prepared, candidate)
        bare = unframed(candidate) if found is None and candidate.plain[:1] and candidate.plain[0] in FRAMES else None
        return found if bare is None else _unframed(asked, prepared, Candidate(bare))
    if form == "contained" and candidate.numbers:
        if repeats_figure(question, prepared.texts, candidate):
            return _out("repeats-question")
        if is_marked_otherwise(prepared.texts, candidate.text):
            return _out("other-number")
    return Assessment(_EXACT if form in ("contained", "same-name") else _RULED_IN, (form,), ruled=True)


def _unframed(asked: Question, prepared: Prepared, candidate: Candidate) -> Assessment | None:
    """Judge what is left of `It is ...`, where it is a reference in another form, or another thing of a near name."""
    form = same(asked, prepared, prepared.texts, candidate)
    if form in ("spelling", "acronym", "same-name"):
        return Assessment(_RULED_IN, (form,), ruled=True)
    return _by_name(asked, prepared, candidate) if form is None else None


def _by_name(asked: Question, prepared: Prepared, candidate: Candidate) -> Assessment | None:
    """Judge a candidate that is the name of a place or of a work and nothing else."""
    places = prepared.aliases.places
    is_right = by_place(asked, places, candidate) if places and not prepared.explains else None
    if is_right:
        return Assessment(_RULED_IN, ("same-place",), ruled=True)
    return _out("near-name") if is_right is False or is_other_title(asked, prepared.texts, candidate) else None


def _by_sense(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> tuple[bool, str] | None:
    """Judge a short statement that turns what a reference says round, or has another word of a kind in it."""
    if len(candidate.plain) > TURNED or prepared.refuses:
        return None
    found = None
    if prepared.is_turned or may_turn(candidate.unique, prepared.turning, prepared.union):
        is_said = len(candidate.numbers) < len(candidate.content)
        is_open = is_said and not asked.denies and wanted_polarity(prepared) is None
        if is_open and all(one.padded != candidate.padded for one in prepared.references):
            found = turned(question, asked.content, prepared.senses, candidate.text)
    found = found or member(asked, prepared, candidate)
    if found is None:
        return None
    return found in ("same-sense", "yes-no"), "yes-no" if found == "other-yes-no" else found


def _by_kind(question: str, asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> Assessment | None:
    """Judge by the kind of answer that is accepted, where it decides: a refusal, yes or no, any words at all."""
    if prepared.refuses:
        is_refusal = refuses(asked, candidate)
        reason = "both-refuse" if is_refusal else "answers-the-unanswerable"
        return Assessment(_RULED_IN if is_refusal else RULED_OUT, (reason,), ruled=True)
    wanted = wanted_polarity(prepared)
    if wanted is None:
        return None if candidate.content or seen.contained else _out("vacuous")
    agrees = polarity(question, candidate.text) == wanted
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
