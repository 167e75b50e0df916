"""The reference in another form: word for word, its initials, a fuller name, a number of its range."""

from __future__ import annotations

import re

from adjudge.judges.local._model import load_model
from adjudge.judges.local._names.names import is_same_name
from adjudge.judges.local._quantities.quantities import is_other_currency
from adjudge.judges.local._quantities.values import is_same_value
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.sounds import sound
from adjudge.judges.local._reading.words import DENIALS, STOP, stemmed, stems_of

_SHORT = 8  # words of a candidate that is the reference and nothing else
_WORDS_OF_ONE = 3  # words of a candidate that may be one word
_LOOKED_AT = 50  # references
_LONG_NAME = 9  # letters of a name that is known without one of its vowels
_VOWELS = re.compile("[aeiouy]+")
_SOUNDED = 5  # letters of a stem that is long enough to be known by its sound
_TWINS = frozenset(("desert", "dessert", "discret", "discreet", "canvas", "canvass", "finish", "finnish"))
_H = re.compile("([cst])h")  # no silent one: `through` is not `trough`
_BODIES = stemmed("organization company agency union firm party body corporation institution")
_BRACKETS = re.compile(r"\s*([^()?]+?)\s\((?:(?:played|portrayed|voiced|sung|written|directed) by )?([^()?]+)\)[\s.!]*")
_OTHERS = DENIALS | {"or", "but", "except", "excluding", "unlike", "besides", "rather", "instead", "wrong", "false"}


def same(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    """Return the name of the form in which a short candidate is a reference and nothing else, if it is one."""
    size = len(candidate.plain)
    if not 0 < size <= _SHORT or prepared.explains:
        return None
    # `5 dollars` is not `5 euros`, though all other rules would call them the same number.
    if candidate.numbers and is_other_currency(prepared.texts, candidate):
        return None
    if any(one.padded == candidate.padded for one in prepared.references) or _is_joined(prepared, candidate):
        return "contained"
    if is_same_value(prepared.texts, candidate.text):
        return "number"
    return _same_in_words(asked, prepared, candidate)


def _same_in_words(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    if not candidate.numbers and _is_misspelt(prepared, candidate):
        return "spelling"
    if len(candidate.stems) == 1:
        if asked.kind == "who" and _is_last_name(prepared, candidate.plain[-1]):
            return "spelling"
        is_acronym = candidate.unique.isdisjoint(asked.plain) and _is_acronym(asked, prepared, candidate)
        return "acronym" if is_acronym else None
    return _same_of_several(asked, prepared, candidate)


def _is_last_name(prepared: Prepared, word: str) -> bool:
    """Whether a long word is the last name of a reference with a vowel more or less: `Shakspeare`."""
    if len(word) < _LONG_NAME:
        return False
    lasts = {one.name[-1] for one in prepared.references[:_LOOKED_AT] if one.name}
    return any(
        abs(len(last) - len(word)) == 1 and last[0] == word[0] and _VOWELS.sub("", last) == _VOWELS.sub("", word)
        for last in lasts
    )


def _is_joined(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference with other blanks: `egg plant`."""
    size, joined = len(candidate.stems), candidate.joined
    if size > _WORDS_OF_ONE or candidate.numbers or not joined:
        return False
    return any(
        len(one.stems) != size and one.padded[1] == joined[0] and one.padded.replace(" ", "") == joined
        for one in prepared.references
    )


def _is_bracketed(prepared: Prepared, text: str) -> bool:
    """Whether a name of several words is all that stands within brackets, or before them: a role and its actor."""
    found = _BRACKETS.fullmatch(text)
    if found is None:
        return False
    sides = [f" {' '.join(stems_of(side))} " for side in found.groups()]
    return any(len(one.stems) > 1 and one.padded in sides for one in prepared.references)


def _same_of_several(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    # A denial or an alternative among the words means that it is not a reference and nothing else.
    if not _OTHERS.isdisjoint(candidate.plain):
        return None
    if candidate.numbers:
        is_in_range = "range" not in asked.plain and _is_in_range(prepared, candidate)
        return "number" if is_in_range or _is_same_day(prepared, candidate) else None
    if prepared.union.isdisjoint(candidate.unique) and not _may_be_name(prepared, candidate):
        return None
    if is_same_name(asked, prepared.texts, candidate):
        return "same-name"
    return "contained" if "(" in candidate.text and _is_bracketed(prepared, candidate.text) else None


def _may_be_name(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether first and last words of a name begin as a reference's do, though none is written as there."""
    first, last = candidate.plain[0][0], candidate.plain[-1][0]
    return any(one.name and one.name[0][0] == first and one.name[-1][0] == last for one in prepared.references)


def _is_misspelt(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference whose words are misspelt by their sound: `elefant`."""
    stems, size = candidate.stems, len(candidate.stems)
    for reference in prepared.references[:_LOOKED_AT]:
        if len(reference.stems) != size or reference.padded[1] != candidate.padded[1]:
            continue
        # Words in the same places: only those that differ must sound alike.
        others = [pair for pair in zip(reference.stems, stems, strict=True) if pair[0] != pair[1]]
        if others and all(_is_sound(*pair) for pair in others):
            # A word that exists is another word, not a misspelling.
            return not any(one in load_model().learnt[0] for _, one in others)
    return False


def _is_sound(one: str, other: str) -> bool:
    """Whether two long words begin with one letter and sound alike."""
    if one[0] != other[0] or min(len(one), len(other)) <= _SOUNDED or other in _TWINS:
        return False
    return sound(_H.sub(r"\1x", one)) == sound(_H.sub(r"\1x", other))


def _is_acronym(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is the initials of a reference, in capitals; two letters only where an organisation is."""
    word = candidate.plain[-1]
    is_long = len(word) > 2 or (len(word) == 2 and not _BODIES.isdisjoint(asked.content))
    is_written = is_long and sum(map(str.isupper, candidate.text)) == len(word)
    return is_written and any(one.initials == word for one in prepared.references)


def _is_same_day(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference's day, month and year and nothing else."""
    if len(candidate.dates) != 1 or candidate.dates[0] not in prepared.figures.days:
        return False
    return len(candidate.content) == len(candidate.dates[0])


def _is_in_range(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the one number of a candidate lies in the range that a reference states, in its words."""
    if len(candidate.numbers) != 1:
        return False
    value = next(iter(candidate.numbers))
    rest = {one for one in candidate.unique if not one[0].isdigit() and one not in STOP}
    return any(
        one.range is not None and one.range[0] <= value <= one.range[1] and rest <= one.content
        for one in prepared.references[:_LOOKED_AT]
    )
