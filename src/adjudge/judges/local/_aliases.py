"""Other forms of a reference in a response, written as the reference is: all that is seen is then seen of them too.

"the Bureau of Land Management"  ->  "the BLM", where that is the reference; and the other way round
"the Norwegian team"             ->  "the Norway team"
"Myanmar"                        ->  "Burma"
Who asks where Dakar is, accepts `Africa` for `Senegal`, if not gladly: `places.json` (WordNet) knows what lies in what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import NamedTuple

from adjudge.judges.local._answer import corrected
from adjudge.judges.local._facts import as_spelt, dated, writings_of
from adjudge.judges.local._limits import PART, PASSAGE, REFERENCES
from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import DENIALS, STOP, lexicon, stem, stemmed, words

_WORDS_OF_PLACE = 5  # words of a name
_OTHERS = DENIALS | {"or"}
_PARTS = stemmed(
    "north south east west northern southern eastern western northeast northwest southeast southwest northeastern"
    " northwestern southeastern southwestern central middle upper lower part region area coast mountains somewhere"
    " located situated found lies"
)
_MOUNT = frozenset(("mount", "mt"))


class _Table(NamedTuple):
    places: Mapping[str, frozenset[int]]  # what a place lies in, by numbers
    regions: Mapping[str, frozenset[int]]  # the numbers that a name may have
    names: Mapping[str, Sequence[Sequence[str]]]  # the names of the places that a name means: one, or several


def is_coarser_place(asked: Question, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a candidate says where something is by naming what a reference lies in, and no other place."""
    if "where" not in asked.plain or len(candidate.plain) > PASSAGE or not _OTHERS.isdisjoint(candidate.plain):
        return False
    table = _table()
    golds = [lying for text in references[:REFERENCES] if (lying := _lying(text, table))]
    if not golds:
        return False
    named, rest = _named_places(asked, candidate.content, table)
    if not named or not _may_be_names(candidate).isdisjoint(rest):
        return False
    return any(all(not wholes.isdisjoint(gold) for wholes in named) for gold in golds)


def _lying(text: str, table: _Table) -> frozenset[int] | None:
    """Return what a reference lies in; of `Aventura, Florida`, if need be, what the last part lies in."""
    for part in (text, text.rpartition(",")[2]):
        lying = table.places.get(_key(part[:100]))
        if lying:
            return lying
    return None


def _named_places(asked: Question, content: Sequence[str], table: _Table) -> tuple[list[frozenset[int]], list[str]]:
    """Return the places that words name beyond the question's, each as what it may be, and the words that remain."""
    named: list[frozenset[int]] = []
    rest: list[str] = []
    at = 0
    while at < len(content):
        # The longest name comes first: `New York City` before `New York`.
        for size in range(min(_WORDS_OF_PLACE, len(content) - at), 0, -1):
            key = " ".join(content[at : at + size])
            if (key in table.regions or key in table.places) and not _PARTS.issuperset(content[at : at + size]):
                if not asked.content.issuperset(content[at : at + size]):
                    named.append(table.regions.get(key, frozenset()))
                at += size
                break
        else:
            if content[at] not in asked.content and content[at] not in _PARTS:
                rest.append(content[at])
            at += 1
    return named, rest


def _may_be_names(candidate: Candidate) -> frozenset[str]:
    """Return the words of a candidate that may be names: capitalised ones; all of them where nothing is."""
    # Whoever writes without capitals names places without them, too.
    is_lower = candidate.text == candidate.text.lower()
    return candidate.unique if is_lower else frozenset(map(stem, candidate.names()))


def is_in_another(asked: Question, references: Sequence[str], text: str) -> bool:
    """Whether a text is a reference's town with a region in which it does not lie: `Paris, Texas` for `Paris`."""
    town, _, region = text.strip(" .!\n").rpartition(",")
    # Of most texts a look at the comma is enough.
    if not town or len(text) > _LONGEST:
        return False
    table, key = _table(), _key(region)
    wholes = table.regions.get(key, frozenset()) | table.places.get(key, frozenset())
    if key not in table.regions or not asked.content.isdisjoint(key.split()):
        return False
    names = [_key(one) for one in references[:REFERENCES] if len(one) <= _LONGEST]
    lying = [table.places[name] for name in names if name == _key(town) and name in table.places]
    return bool(lying) and all(wholes.isdisjoint(one) for one in lying)


def other_names(text: str) -> list[str]:
    """Return the other names of the place that a reference names, none if it may be another place.

    >>> other_names("Burma")[:2], other_names("Atlantis")
    (['Myanmar', 'Republic of the Union of Myanmar'], [])
    """
    found = _table().names.get(_key(text), ()) if text[:1].isupper() else ()
    names = found[0] if len(found) == 1 else ()
    # No abbreviation, and no other word in a sentence.
    return [name for name in names if text not in name and len(name) > 2 and name[0].isupper() and "." not in name]


@lru_cache(maxsize=20_000)
def _key(name: str) -> str:
    plain = [word for word in words(name) if word not in _MOUNT]
    return " ".join([stem(word) for word in plain if word not in STOP] or plain)


@cache
def _table() -> _Table:
    """Read the table, once."""
    record = json.loads(files("adjudge.judges.local").joinpath("places.json").read_text(encoding="utf-8"))
    regions: dict[str, set[int]] = {}
    for number, names in enumerate(record["regions"]):
        for name in names:
            regions.setdefault(_key(name), set()).add(number)
    places = {_key(name): frozenset(numbers) for name, numbers in record["places"].items()}
    groups: dict[str, list[list[str]]] = {}
    for group in record["names"]:
        for key in set(map(_key, group)):
            groups.setdefault(key, []).append(group)
    return _Table(places, {key: frozenset(numbers) for key, numbers in regions.items()}, groups)


_LONGEST = 80  # characters of a reference that has other forms
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
    for given, letters in islice(references, REFERENCES):
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
        text = _RUN.sub(lambda run: _shortened(run[0], aliases.acronyms, asked), text[:PART]) + text[PART:]
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


def as_meant(prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return what a candidate says after it has corrected itself, if it names a reference there; else all of it."""
    tail = corrected(candidate.text, candidate.unique)
    if tail is None:
        return candidate
    rest = Candidate(tail)
    return rest if any(one.padded in rest.padded for one in prepared.references) else candidate


def rewritten(asked: Question, prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return a candidate that has a reference in another form with the reference in its place."""
    if prepared.explains or any(one.padded in candidate.padded for one in prepared.references):
        return candidate
    text = as_written(prepared.facet(aliases_of, prepared.forms), candidate, asked.plain)
    text = as_spelt(prepared.facet(writings_of), text)
    if candidate.numbers:
        text = dated(text, [date for one in prepared.references for date in one.dates])
    return candidate if text == candidate.text else Candidate(text)
