"""What decides at once: a candidate that is a reference and nothing else, or of a kind that has rules of its own.

Each kind says (right or wrong, reason), or None where it has nothing to say.
"""

from __future__ import annotations

from adjudge.judges.local._codes import by_code, code_of
from adjudge.judges.local._evasions import are_absent, refuses
from adjudge.judges.local._formulas import by_formula, by_substance, formulas_of, substances_of
from adjudge.judges.local._members import by_members, lists_of
from adjudge.judges.local._names import same
from adjudge.judges.local._options import by_letter, letter_of
from adjudge.judges.local._pair import Candidate, Decision, Prepared, Question
from adjudge.judges.local._quantities import by_quantity, is_marked_otherwise
from adjudge.judges.local._senses import LONGEST as TURNED
from adjudge.judges.local._senses import polarity, senses_of, turned, wanted_polarity


def at_once(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge a candidate that is a reference and nothing else, or of a kind with rules of its own."""
    # The most particular kind of reference comes first: a letter, a formula or a code allows no near miss.
    found = (
        by_letter(asked, prepared.facet(letter_of), candidate)
        or by_formula(question, prepared.facet(formulas_of), candidate)
        or by_code(asked, prepared.facet(code_of), candidate)
        or by_substance(asked, prepared.facet(substances_of), prepared.texts, candidate)
        or (by_members(question, asked, prepared, candidate) if prepared.facet(lists_of) or asked.wants_list else None)
        or _by_sense(question, asked, prepared, candidate)
    )
    if found is not None:
        return found
    quantity = by_quantity(asked, prepared, candidate)
    # Another quantity is wrong whatever its words; the right one may still be said in the wrong way.
    if quantity is not None and not quantity[0]:
        return quantity
    form = same(asked, prepared, candidate)
    if form == "contained" and candidate.numbers and is_marked_otherwise(prepared.texts, candidate.text):
        return False, "other-number"
    return quantity if form is None else (True, form)


def by_kind(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge by whether a candidate refuses, or by its yes or no, where that is the accepted answer."""
    if prepared.facet(are_absent, prepared.forms):
        is_refusal = refuses(asked, candidate)
        return is_refusal, "both-refuse" if is_refusal else "answers-the-unanswerable"
    wanted = wanted_polarity(prepared)
    return None if wanted is None else (polarity(question, candidate.text) == wanted, "yes-no")


def _by_sense(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge a short statement that turns what a reference says round, or has another word of a kind in it."""
    # A long statement says more than one thing: turning one of them round decides nothing.
    if len(candidate.plain) > TURNED or prepared.facet(are_absent, prepared.forms):
        return None
    found = None
    is_said = prepared.facet(senses_of) and len(candidate.numbers) < len(candidate.content)
    is_open = is_said and not asked.denies and wanted_polarity(prepared) is None
    if is_open and all(one.padded != candidate.padded for one in prepared.references):
        found = turned(question, asked.content, prepared.facet(senses_of), candidate.text)
    if found is None:
        return None
    return found in ("same-sense", "yes-no"), "yes-no" if found == "other-yes-no" else found
