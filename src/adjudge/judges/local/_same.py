"""The reference in another form: word for word, its initials, a fuller name, the same quantity in another unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._model import load_model
from adjudge.judges.local._names import is_same_name
from adjudge.judges.local._quantities import is_other_currency, units_of
from adjudge.judges.local._reference import Prepared
from adjudge.judges.local._spellings import sound
from adjudge.judges.local._values import is_same_value
from adjudge.judges.local._words import ARTICLES, DENIALS, STOP, stem, words
from adjudge.text.units import read_unit

_SHORT = 8  # words of a candidate that is the reference and nothing else
_WORDS_OF_ONE = 3  # words of a candidate that may be one word
_LOOKED_AT = 50  # references
_FIGURES = 3  # figures of a quantity that is precise enough to be another one's
_OFF = 0.02  # the most by which a rounded quantity is another
_SENTENCE = 20  # words of a candidate that states one quantity
_SOUNDED = 5  # letters of a stem that is long enough to be known by its sound
_TWINS = frozenset(("desert", "dessert"))
_H = re.compile("([cst])h")  # no silent one: `through` is not `trough`
_BODY = "organization company agency union firm party body corporation institution"
_BODIES = frozenset(map(stem, _BODY.split()))
_BRACKETS = re.compile(r"\s*([^()?]+?)\s\((?:(?:played|portrayed|voiced|sung|written|directed) by )?([^()?]+)\)[\s.!]*")
_NAMES = {"t": "ton", "kmh": "kph"}
_OTHERS = DENIALS | {"or", "but", "except", "excluding", "unlike", "besides", "rather", "instead", "wrong", "false"}
_BOUNDS = _OTHERS | {"than", "least", "under", "over", "nearly", "almost", "up", "half", "every", "per"}


class _Scale(NamedTuple):
    """A unit: what it measures, how many base units one of it is, and where its zero lies."""

    dimension: str
    factor: float
    zero: float = 0.0


_SCALES = {
    "k": _Scale("temperature", 1.0), "c": _Scale("temperature", 1.0, 273.15), "f": _Scale("temperature", 5 / 9, 459.67),
    "lb": _Scale("mass", 0.45359237), "oz": _Scale("mass", 0.45359237 / 16),
    "decade": _Scale("months", 120.0), "century": _Scale("months", 1200.0),
}  # fmt: skip


def same(asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate) -> str | None:
    """Return the name of the form in which a short candidate is a reference and nothing else, if it is one."""
    size = len(candidate.plain)
    if not 0 < size <= _SHORT or prepared.explains:
        is_stated = _SHORT < size <= _SENTENCE and candidate.numbers and _states_quantity(asked, prepared, candidate)
        return "number" if is_stated else None
    if candidate.numbers and is_other_currency(references, candidate):
        return None
    if any(one.padded == candidate.padded for one in prepared.references) or _is_joined(prepared, candidate):
        return "contained"
    if is_same_value(references, candidate.text):
        return "number"
    return _same_in_words(asked, prepared, references, candidate)


def _same_in_words(asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate) -> str | None:
    if not candidate.numbers and _is_misspelt(prepared, candidate):
        return "spelling"
    if len(candidate.stems) == 1:
        is_acronym = candidate.unique.isdisjoint(asked.plain) and _is_acronym(asked, prepared, candidate)
        return "acronym" if is_acronym else None
    return _same_of_several(asked, prepared, references, candidate)


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
    sides = [f" {' '.join(stem(word) for word in words(side) if word not in ARTICLES)} " for side in found.groups()]
    return any(len(one.stems) > 1 and one.padded in sides for one in prepared.references)


def _same_of_several(
    asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate
) -> str | None:
    if not _OTHERS.isdisjoint(candidate.plain):
        return None
    if candidate.numbers:
        is_same = _is_same_quantity(prepared, _quantity(candidate.stems)) or _is_in_range(prepared, candidate)
        return "number" if is_same else None
    if prepared.union.isdisjoint(candidate.unique) and not _may_be_name(prepared, candidate):
        return None
    if is_same_name(asked, references, candidate):
        return "same-name"
    return "contained" if "(" in candidate.text and _is_bracketed(prepared, candidate.text) else None


def _may_be_name(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether first and last words of a name begin as a reference's do, though none is written as there."""
    first, last = candidate.plain[0][0], candidate.plain[-1][0]
    return any(one.name and one.name[0][0] == first and one.name[-1][0] == last for one in prepared.references)


def _is_misspelt(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference with words that only sound as its do and are no others: `elefant`."""
    stems, size = candidate.stems, len(candidate.stems)
    for reference in prepared.references[:_LOOKED_AT]:
        if len(reference.stems) != size or reference.padded[1] != candidate.padded[1]:
            continue
        others = [pair for pair in zip(reference.stems, stems, strict=True) if pair[0] != pair[1]]
        if others and all(_is_sound(*pair) for pair in others):
            return not any(one in load_model().weights for _, one in others)
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


def _states_quantity(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the one number in a sentence that the question lacks is a reference's in another unit."""
    if len(candidate.numbers) > 2 or prepared.explains or not _BOUNDS.isdisjoint(candidate.plain):
        return False
    if not any(one.is_number for one in prepared.references[:_LOOKED_AT]):
        return False
    stems = [one for one in candidate.stems if not (one[0].isdigit() and one in asked.plain)]
    return _is_same_quantity(prepared, _quantity(stems), in_its_unit=False)


def _is_same_quantity(prepared: Prepared, given: _Quantity | None, *, in_its_unit: bool = True) -> bool:
    """Whether a quantity is a reference's in another unit of the same kind, or in its own."""
    if given is None:
        return False
    for reference in prepared.references[:_LOOKED_AT]:
        gold = _quantity(reference.stems) if reference.is_number else None
        if gold is None or gold[1].dimension != given[1].dimension:
            continue
        if gold[1] == given[1]:
            if in_its_unit and gold[0] == given[0]:
                return True
        elif _is_equal(gold, given) or (_precision(given[0]) >= _FIGURES and _is_equal(given, gold)):
            return True
    return False


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


_Quantity = tuple[str, _Scale]


def _quantity(stems: Sequence[str]) -> _Quantity | None:
    """Return the number and the unit of words that have one of each."""
    found = units_of(stems)
    if len(found) != 1:
        return None
    figure, names = next(iter(found.items()))
    name = next(iter(names))
    scale = None if name is None or len(names) > 1 else _scale(name)
    if scale is None or len(figure) > 15:
        return None
    at = stems.index(figure)
    return f"-{figure}" if at and stems[at - 1] in ("minus", "negative") else figure, scale


def _scale(name: str) -> _Scale | None:
    if name in _SCALES:
        return _SCALES[name]
    unit = read_unit(_NAMES.get(name, name))
    return None if unit is None else _Scale(unit.dimension, float(unit.factor))


def _is_equal(one: _Quantity, other: _Quantity) -> bool:
    """Whether the other quantity is the first one at its precision."""
    (figure, mine), (given, yours) = one, other
    places = len(figure.partition(".")[2])
    converted = (float(given) + yours.zero) * yours.factor / mine.factor - mine.zero
    is_near = abs(converted - float(figure)) <= _OFF * abs(converted)  # 25 months are no 2 years
    return is_near and converted < 1e15 and round(converted, places) == float(figure)


def _precision(figure: str) -> int:
    return len(figure.replace(".", "").strip("-0"))
