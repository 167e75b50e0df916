"""Other forms of a reference in a response, written as the reference is: all that is seen is then seen of them too.

"the Bureau of Land Management"  ->  "the BLM", where that is the reference; and the other way round
"the Norwegian team"             ->  "the Norway team"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adjudge.judges.local._countries import OTHER_NAMES
from adjudge.judges.local._words import STOP, stem, words

_LOOKED_AT = 50  # references
_LONGEST = 80  # characters of a reference that has other forms
_MOST = 4000  # characters in which they are looked for
_ACRONYM = re.compile(r"(?:[A-Z]\.?){3,7}")
_SMALL = r"(?:of|the|and|for|in|on|to|de|&)"
_RUN = re.compile(rf"\b[A-Z][\w'’]*(?:(?:\s{_SMALL}){{0,2}}[\s-][A-Z][\w'’]*){{2,9}}")
_NOT_BEFORE = r"(?i:oceans?|seas?|gulf|channel|territory|guiana|polynesia|samoa|guinea|indies|river|languages?|steps)"
_NOT_AFTER = "".join(
    rf"(?<!\b{word}.)" for word in "North South East West Northern Latin Central Native American Equatorial New".split()
)
_LANGUAGE = frozenset("language languages speak speaks spoken".split())
_PART = re.compile(r"[\w'’&]+")


@dataclass(frozen=True, slots=True)
class Aliases:
    """What to look for instead of the references."""

    hints: frozenset[str]  # a response without any of these words has none of the named forms
    initials: Mapping[str, str]  # the references of several words, by their initials
    acronyms: Mapping[str, str]  # those that are initials
    countries: Mapping[str, Mapping[str, str]]  # other words for the countries among them, by their last stem


def aliases_of(texts: Iterable[str]) -> Aliases:
    """Read what other forms references have.

    >>> found = aliases_of(["Bureau of Land Management", "B.L.M."])
    >>> found.initials, found.acronyms
    ({'blm': 'Bureau of Land Management'}, {'blm': 'B.L.M.'})
    >>> aliases_of(["Norway", "New Norway"]).countries
    {'norwegian': {'norwegian': 'Norway'}}
    """
    initials: dict[str, str] = {}
    acronyms: dict[str, str] = {}
    countries: dict[str, dict[str, str]] = {}
    for given in list(texts)[:_LOOKED_AT]:
        text = given.strip()
        if not text or len(text) > _LONGEST:
            continue
        for name in OTHER_NAMES.get(text.lower().removeprefix("the ").rstrip("."), ()):
            countries.setdefault(stem(words(name)[-1]), {})[name] = text
        if _ACRONYM.fullmatch(text):
            acronyms[text.replace(".", "").lower()] = text
            continue
        letters = "".join(word[0] for word in words(text) if word not in STOP)
        if len(letters) > 2 and letters.isalpha():
            initials[letters] = text
    return Aliases(frozenset((*initials, *countries)), initials, acronyms, countries)


def as_written(aliases: Aliases, text: str, stems: frozenset[str], asked: frozenset[str]) -> str:
    """Return a text with the forms of a reference written as it is; forms that the question has are left alone."""
    if not aliases.hints.isdisjoint(stems):
        is_place = _LANGUAGE.isdisjoint(asked)
        for hint in aliases.hints & stems:
            if hint in asked:
                continue
            if hint in aliases.initials:
                text = _spelt_out(text, hint, aliases.initials[hint])
            for name, country in aliases.countries.get(hint, {}).items() if is_place else ():
                text = _named(text, name, country)
    if aliases.acronyms:
        text = _RUN.sub(lambda run: _shortened(run[0], aliases.acronyms, asked), text[:_MOST]) + text[_MOST:]
    return text


def _named(text: str, name: str, country: str) -> str:
    """Write another word for a country as the country, unless it is a part of another name: `the Indian Ocean`."""
    if name.isupper():
        return _spelt_out(text, name.lower(), country)
    written = name if text.islower() else name.title()
    return re.sub(rf"{_NOT_AFTER}\b{written}s?\b(?!\s{_NOT_BEFORE}\b)", lambda _: country, text)


def _spelt_out(text: str, letters: str, full: str) -> str:
    """Write initials in capitals as what they stand for, unless all is in capitals or brackets say what they are."""
    if text.isupper():
        return text
    dotted = r"\.?\s?".join(letters.upper())
    return re.sub(rf"\b{dotted}\b\.?(?!\w|\s?\([A-Z])", lambda _: full, text)


def _shortened(run: str, acronyms: Mapping[str, str], asked: frozenset[str]) -> str:
    """Write those words of a run of capitalised ones as initials that are what a reference's stand for."""
    parts = list(_PART.finditer(run))
    for acronym, text in acronyms.items():
        if acronym in asked:
            continue
        for first in range(len(parts)):
            for last in range(first + 2, len(parts)):
                found = parts[first : last + 1]
                capitals = "".join(part[0][0] for part in found if part[0][0].isupper()).lower()
                if len(capitals) > len(acronym):
                    break
                if acronym in (capitals, "".join(part[0][0] for part in found).lower()) and found[-1][0][0].isupper():
                    return run[: found[0].start()] + text + run[found[-1].end() :]
    return run
