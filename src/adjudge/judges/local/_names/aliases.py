"""Other forms of a reference in a response, written as the reference is: all that is seen is then seen of them too.

"the Bureau of Land Management"  ->  "the BLM", where that is the reference; and the other way round
"the Norwegian team"             ->  "the Norway team"
"played byAda Moss in19782."     ->  "played by Ada Moss in 1978.": the marks of citations stuck to figures, blanks lost
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from adjudge.judges.local._names.countries import OTHER_NAMES
from adjudge.judges.local._names.nicknames import other_forms
from adjudge.judges.local._names.places import is_known_place, other_names
from adjudge.judges.local._reading.candidate import Candidate
from adjudge.judges.local._reading.facts import spans_of
from adjudge.judges.local._reading.sounds import spellings, varies
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
_FIGURE = re.compile(
    r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)|(?<![\d,.])\d{4}(?!\d)|\d+\.\d+"
)  # sums, years, decimals
_MARKED = re.compile(r"(?<![\d,.])([12]\d{3}s?|\d{1,3}(?:,\d{3})+)\d{1,2}(?=[.,;:!?)\]\"”](?!\d)|\s*$)")
_CAMEL = re.compile(r"[A-Z](?<=[a-z].)[a-z]")  # what every word that lost its blank has: `byAda`
_STUCK = re.compile(r"\b([a-z]{2,})([A-Z][a-z]+)")
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_MONTHS = tuple(name.lower() for name in month_name[1:])
_LONG = 5  # letters of a word that may have several spellings
_MARKED_YEAR = (5, 6)  # figures of a year and its marks
_FEW = 5  # blanks of a text that is long enough for citations
_PERSON = re.compile(r"([A-Z][a-z]+)(?:\s[A-Z][\w'’.-]*){0,2}\s([A-Z][a-z]{2,})")
_BEFORE_NAMES = re.compile(r"\b[A-Z][a-z]+(?=((?:\s[A-Z][\w'’.-]*){1,3}))")
_PART = re.compile(r"[\w'’&]+")


@dataclass(frozen=True, slots=True)
class Aliases:
    """What to look for instead of the references."""

    hints: frozenset[str]  # a response without any of these words has none of the named forms
    initials: Mapping[str, str]  # the references of several words, by their initials
    acronyms: Mapping[str, str]  # those that are initials
    countries: Mapping[str, Mapping[str, str]]  # other words for the countries among them, by their last stem
    years: frozenset[str]
    sums: frozenset[str]  # numbers from a thousand on, as they are written with commas
    decimals: frozenset[str]
    names: frozenset[str]  # words with a capital, and months
    spellings: Mapping[str, str]  # longer words with a capital, by what their spellings have in common
    varies: bool  # whether one of these has letters that are written in several ways
    people: Mapping[str, tuple[str, str, frozenset[str]]]  # first and last names, forms of the first, by the last stem
    places: tuple[str, ...]  # those that are known places


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
    figures: list[str] = []
    names = set(_MONTHS)
    people: dict[str, tuple[str, str, frozenset[str]]] = {}
    places: list[str] = []
    for given, letters in islice(references, _LOOKED_AT):
        text = given.strip()
        if not text or len(text) > _LONGEST:
            continue
        found = _FIGURE.findall(text)
        if found:
            figures += [*found, *(str(year) for span in spans_of((), text) for year in span)]
        for word in map(str.lower, _CAPITALISED.findall(text)):
            names.update((word, stem(word)))
        others = _of_countries(text)
        if is_known_place(text):
            places.append(text)
            others += _of_place(text)
        for name, written in others:
            countries.setdefault(stem(words(name)[-1]), {})[name] = written
        if _ACRONYM.fullmatch(text):
            acronyms[text.replace(".", "").lower()] = text
            continue
        person = _PERSON.fullmatch(text)
        forms = other_forms(stem(person[1].lower())) if person is not None else None
        if person is not None and forms:
            people[stem(person[2].lower())] = person[1], person[2], forms
        if len(letters) > 2 and letters.isalpha():
            initials[letters] = text
    years = frozenset(one for one in figures if len(one) == 4 and "1000" <= one <= "2100")
    sums = frozenset(one for one in figures if "," in one)
    decimals = frozenset(one for one in figures if "." in one)
    longer = sorted(name for name in names.difference(_MONTHS) if len(name) >= _LONG)
    spelt = {key: name for name in longer for key in spellings(name)}
    hints = frozenset((*initials, *countries, *people))
    return Aliases(
        hints,
        initials,
        acronyms,
        countries,
        years,
        sums,
        decimals,
        frozenset(names),
        spelt,
        varies(" ".join(longer)),
        people,
        tuple(places),
    )


def _of_countries(text: str) -> list[tuple[str, str]]:
    """Return the other words for countries, each with how it is written in a text that is a list of some, or one."""
    members = {one: OTHER_NAMES.get(one.lower().removeprefix("the ").rstrip("."), ()) for one in _MEMBERS.split(text)}
    if not all(members.values()):
        # For example `Seattle, USA`.
        return []
    return [(name, member) for member, others in members.items() for name in others]


def _of_place(text: str) -> list[tuple[str, str]]:
    """Return the other names of a place that are no other word in a sentence, and no end of another's."""
    names = [name for name in other_names(text) if text not in name and len(name) > 2 and name[0].isupper()]
    return [(name, text) for name in names if "." not in name and not name.startswith("Republic")]


def as_written(aliases: Aliases, candidate: Candidate, asked: frozenset[str]) -> str:
    """Return a candidate with the forms of a reference written as it is; those of the question's words are left."""
    text, stems = candidate.text, candidate.unique
    found = aliases.hints & stems
    if found:
        text = _in_its_words(text, aliases, found - asked, stems, asked)
    known = aliases.spellings
    if (aliases.varies or varies(candidate.lowered)) and any(
        keys[0] in known or keys[-1] in known for keys in map(spellings, stems - aliases.names)
    ):
        text = _CAPITALISED.sub(lambda word: _respelt(word[0], aliases, asked), text)
    if _CAMEL.search(text) is not None:
        text = _STUCK.sub(lambda word: f"{word[1]} {word[2]}" if word[2].lower() in aliases.names else word[0], text)
    for figure in sorted(aliases.decimals):
        parted = figure.replace(".", ". ")
        text = re.sub(rf"(?<!\d){re.escape(parted)}(?!\d)", figure, text) if parted in text else text
    if aliases.years or aliases.sums:
        text = _unmarked(text, aliases, stems)
    if aliases.acronyms:
        text = _RUN.sub(lambda run: _shortened(run[0], aliases.acronyms, asked), text[:_MOST]) + text[_MOST:]
    return text


def _in_its_words(
    text: str, aliases: Aliases, found: frozenset[str], stems: frozenset[str], asked: frozenset[str]
) -> str:
    """Write initials, first names and words for countries as a reference does; `found` are the hints at them."""
    people, is_place = aliases.people, _LANGUAGE.isdisjoint(asked)
    for hint in sorted(found) if len(found) > 1 else found:
        if hint in people and not people[hint][2].isdisjoint(stems):
            text = _in_full(text, *people[hint])
        if hint in aliases.initials:
            text = _spelt_out(text, hint, aliases.initials[hint])
        if is_place and hint in aliases.countries:
            for name, country in aliases.countries[hint].items():
                text = text if asked.issuperset(words(name)) else _named(text, name, country)
    return text


def _respelt(word: str, aliases: Aliases, asked: frozenset[str]) -> str:
    """Write another spelling of a reference's word as the reference has it."""
    plain = "".join(words(word))
    if plain in aliases.names or plain in asked or len(plain) < _LONG:
        return word
    return next((aliases.spellings[key].title() for key in spellings(plain) if key in aliases.spellings), word)


def _unmarked(text: str, aliases: Aliases, stems: frozenset[str]) -> str:
    """Take the figures of citations off the end of a reference's number; a short text has none."""
    years, sums = aliases.years, aliases.sums
    is_year = "s" in stems or any(len(one) in _MARKED_YEAR and one[:4] in years for one in stems)
    if text.count(" ") < _FEW or not (is_year or any(one in text for one in sums)):
        return text
    return _MARKED.sub(lambda found: found[1] if found[1].rstrip("s") in years or found[1] in sums else found[0], text)


def _named(text: str, name: str, country: str) -> str:
    """Write another word for a country as the country, unless it is a part of another name: `the Indian Ocean`."""
    if name.isupper():
        return _spelt_out(text, name.lower(), country)
    written = re.escape(name.lower() if text.islower() else name.title() if name.islower() else name)
    return re.sub(rf"{_NOT_AFTER}\b{written}s?\b(?!\s{_NOT_BEFORE}\b)", lambda _: country, text)


def _in_full(text: str, first: str, last: str, forms: frozenset[str]) -> str:
    """Write the short form of a first name before a last one as the reference does, or the full one as it is short."""
    return _BEFORE_NAMES.sub(
        lambda name: first if stem(name[0].lower()) in forms and last in _PART.findall(name[1]) else name[0], text
    )


def _spelt_out(text: str, letters: str, full: str) -> str:
    """Write initials in capitals as what they stand for, unless all is in capitals or brackets say what they are."""
    if text.isupper():
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
