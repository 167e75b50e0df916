"""Other forms of a reference in a response, written as the reference is: all that is seen is then seen of them too.

"the Bureau of Land Management"  ->  "the BLM", where that is the reference; and the other way round
"the Norwegian team"             ->  "the Norway team"
"Myanmar"                        ->  "Burma"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice

from adjudge.judges.local._lexicon import lexicon
from adjudge.judges.local._names.places import other_names
from adjudge.judges.local._reading.candidate import Candidate
from adjudge.judges.local._reading.words import stem, words

_LOOKED_AT = 50  # references
_LONGEST = 80  # characters of a reference that has other forms
_MOST = 4000  # characters in which they are looked for
_ACRONYM = re.compile(r"(?:[A-Z]\.?){3,7}")
_SMALL = r"(?:of|the|and|for|in|on|to|de|&)"
_RUN = re.compile(rf"\b[A-Z][\w'’]*(?:(?:\s{_SMALL}){{0,2}}[\s-][A-Z][\w'’]*){{2,9}}")
_NOT_BEFORE = r"(?i:oceans?|seas?|gulf|channel|territory|guiana|polynesia|samoa|guinea|indies|river|languages?|steps)"
_NOT_AFTER = r"(?<!North.)(?<!South.)(?<!East.)(?<!West.)(?<!Northern.)(?<!Latin.)(?<!Central.)(?<!Native.)(?<!New.)"
_MEMBERS = re.compile(r"\s*[,;&]\s*(?:and\s+)?|\s+and\s+")
_LANGUAGE = frozenset(("language", "languages", "speak", "speaks", "spoken"))
_PART = re.compile(r"[\w'’&]+")


@dataclass(frozen=True, slots=True)
class Aliases:
    """What to look for instead of the references."""

    hints: frozenset[str]  # a response without any of these words has none of the forms but runs of words
    initials: Mapping[str, str]  # the references of several words, by their initials
    acronyms: Mapping[str, str]  # those that are initials
    countries: Mapping[str, Mapping[str, str]]  # other words for the countries among them, by their last stem


def aliases_of(references: Iterable[tuple[str, str]]) -> Aliases:
    """Read what other forms references have, which are given with their initials.

    >>> found = aliases_of([("Bureau of Land Management", "blm"), ("B.L.M.", "")])
    >>> found.initials, found.acronyms
    ({'blm': 'Bureau of Land Management'}, {'blm': 'B.L.M.'})
    >>> aliases_of([("Mali", ""), ("New Mali", "nm")]).countries
    {'malian': {'malian': 'Mali'}}
    """
    initials: dict[str, str] = {}
    acronyms: dict[str, str] = {}
    countries: dict[str, dict[str, str]] = {}
    for given, letters in islice(references, _LOOKED_AT):
        text = given.strip()
        if not text or len(text) > _LONGEST:
            continue
        for name, written in (*_of_countries(text), *((name, text) for name in other_names(text))):
            countries.setdefault(stem(words(name)[-1]), {})[name] = written
        if _ACRONYM.fullmatch(text):
            acronyms[text.replace(".", "").lower()] = text
        elif len(letters) > 2 and letters.isalpha():
            initials[letters] = text
    return Aliases(frozenset((*initials, *countries)), initials, acronyms, countries)


def _of_countries(text: str) -> list[tuple[str, str]]:
    """Return the other words for countries, each with how it is written in a text that is a list of some, or one."""
    known = _countries()
    members = {one: known.get(one.lower().removeprefix("the ").rstrip("."), ()) for one in _MEMBERS.split(text)}
    if not all(members.values()):
        # For example `Seattle, USA`.
        return []
    return [(name, member) for member, others in members.items() for name in others]


@cache
def _countries() -> dict[str, tuple[str, ...]]:
    """Return by each word for a country the others; those in capitals are initials."""
    rows = [[name.replace("_", " ") for name in row.split()] for row in lexicon("countries")["names"]]
    return {name.lower(): tuple(one for one in row if one != name) for row in rows for name in row}


def as_written(aliases: Aliases, candidate: Candidate, asked: frozenset[str]) -> str:
    """Return a candidate with the forms of a reference written as it is; those of the question's words are left."""
    text, is_place = candidate.text, _LANGUAGE.isdisjoint(asked)
    for hint in sorted((aliases.hints & candidate.unique) - asked):
        if hint in aliases.initials:
            text = _spelt_out(text, hint, aliases.initials[hint])
        for name, country in aliases.countries.get(hint, {}).items() if is_place else ():
            text = text if asked.issuperset(words(name)) else _named(text, name, country)
    if aliases.acronyms:
        text = _RUN.sub(lambda run: _shortened(run[0], aliases.acronyms, asked), text[:_MOST]) + text[_MOST:]
    return text


def _named(text: str, name: str, country: str) -> str:
    """Write another word for a country as the country, unless it is a part of another name: `the Indian Ocean`."""
    if name.isupper():
        return _spelt_out(text, name.lower(), country)
    written = re.escape(name.lower() if text.islower() else name.title() if name.islower() else name)
    return re.sub(rf"{_NOT_AFTER}\b{written}s?\b(?!\s{_NOT_BEFORE}\b)", lambda _: country, text)


def _spelt_out(text: str, letters: str, full: str) -> str:
    """Write initials in capitals as what they stand for, unless all is in capitals or brackets say what they are."""
    if text.isupper() and len(text) > 2 * len(letters):
        return text
    dotted = r"\.?\s?".join(letters.upper())
    return re.sub(rf"\b{dotted}\b\.?(?!\w|\s?\([A-Z])", lambda _: full, text)


def _shortened(run: str, acronyms: Mapping[str, str], asked: frozenset[str]) -> str:
    """Write those words of a run of capitalised ones as initials that are what a reference's stand for."""
    parts = list(_PART.finditer(run))
    for at, first in enumerate(parts):
        capitals = letters = ""
        for part in parts[at:] if first[0][0].isupper() else ():
            is_capital = part[0][0].isupper()
            letters += part[0][0].lower()
            capitals += letters[-1] if is_capital else ""
            found = capitals if capitals in acronyms else letters
            if is_capital and found in acronyms and found not in asked:
                return run[: first.start()] + acronyms[found] + run[part.end() :]
    return run
