"""Places that lie in one another, and those that have several names.

Who asks where Dakar is, accepts `Africa` for `Senegal`, if not gladly. `Burma` is Myanmar; `Paris, France` is
Paris, and `Paris, Texas` is not.

The table (`places.json`, from WordNet) has a few thousand places; what it does not know is left to the models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.sounds import is_spelling
from adjudge.judges.local._reading.words import DENIALS, STOP, stem, stemmed, words

_LONGEST = 30  # words of an answer that says where something is, and little else
_LOOKED_AT = 20  # references
_MOST = 5  # words of a name
_LONG = 7  # letters of a name that is known by the others, if one is wrong
_ABBREVIATED = 4  # letters of a name that may be a word
_OTHERS = DENIALS | {"or"}
_PARTS = stemmed(
    "north south east west northern southern eastern western northeast northwest southeast southwest northeastern"
    " northwestern southeastern southwestern central middle upper lower part region area coast mountains somewhere"
    " located situated found lies"
)
_FORMER = stemmed("czechoslovakia yugoslavia prussia ussr persia bohemia byzantium")
_MOUNT = frozenset(("mount", "mt"))
_KINDS = stemmed("island isles peninsula mountain range river lake city state strait")


class _Table(NamedTuple):
    places: Mapping[str, frozenset[int]]  # what a place lies in, by numbers
    regions: Mapping[str, frozenset[int]]  # the numbers that a name may have
    others: Mapping[str, frozenset[int]]  # what places of the same name lie in
    names: Mapping[str, frozenset[int]]  # the places that a name means: one, but for abbreviations
    groups: Sequence[Sequence[str]]  # the names of those


def is_coarser_place(asked: Question, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a candidate says where something is by naming what a reference lies in, and no other place."""
    if "where" not in asked.plain or len(candidate.plain) > _LONGEST or not _OTHERS.isdisjoint(candidate.plain):
        return False
    table = _table()
    golds = [lying for text in references[:_LOOKED_AT] if (lying := _lying(text, table))]
    if not golds:
        return False
    named, rest = _named(asked, candidate.content, table)
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


def _named(asked: Question, content: Sequence[str], table: _Table) -> tuple[list[frozenset[int]], list[str]]:
    """Return the places that words name beyond the question's, each as what it may be, and the words that remain."""
    named: list[frozenset[int]] = []
    rest: list[str] = []
    at = 0
    while at < len(content):
        # The longest name comes first: `New York City` before `New York`.
        for size in range(min(_MOST, len(content) - at), 0, -1):
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


def other_names(text: str) -> Sequence[str]:
    """Return all names of the place that a reference names, none if it may be another one.

    >>> other_names("Burma")[:3], other_names("Atlantis")
    (['Myanmar', 'Union of Burma', 'Burma'], ())
    """
    table = _table()
    found = table.names.get(_key(text), ()) if text[:1].isupper() or text.startswith("the ") else ()
    return table.groups[next(iter(found))] if len(found) == 1 else ()


def is_known_place(text: str) -> bool:
    """Whether a reference is the name of a place that the table knows, perhaps with what it lies in."""
    table, (home, _, _) = _table(), text.rpartition(",")
    return any(key in table.names or key in table.places for key in (_key(text), _key(home) if home else ""))


def by_place(asked: Question, references: Sequence[str], candidate: Candidate) -> bool | None:
    """Say whether a candidate that is a place and nothing else is that of a reference; None if that is not plain."""
    if not 0 < len(candidate.plain) <= 2 * _MOST:
        return None
    table, text = _table(), candidate.text.strip(" .!\n")
    # Few texts can be places; a cheap look spares the others the table.
    is_likely = len(candidate.plain) == 1 or "," in text or _key(text) in table.names
    if not is_likely or not _may_be_place(text):
        return None
    town, _, region = text.rpartition(",")
    is_elsewhere = False
    for reference in references[:_LOOKED_AT]:
        if len(reference) > 2 * _LONGEST:
            continue
        if _is_same(asked, reference, text, table) or _is_misspelt(reference, text, table):
            return True
        lies = _lies_in(reference, town, region, table) if town else None
        if lies:
            return True
        is_asked = town and not asked.content.isdisjoint(_key(region).split())
        is_elsewhere = is_elsewhere or (lies is False and not is_asked) or _is_namesake(reference, text, table)
    return False if is_elsewhere else None


def _may_be_place(text: str) -> bool:
    """Whether a text looks like one name: its first and its last word have a capital, or none has one."""
    last = text.rpartition(" ")[2]
    return text.islower() or (last != last.lower() and (text[0].isupper() or text[:4] == "the "))


def _is_same(asked: Question, reference: str, text: str, table: _Table) -> bool:
    """Whether a text is another name of a reference's place; of a question about names that is not plain."""
    mine = other_names(reference)
    if not mine:
        return False
    key = _key(text)
    given = table.names.get(key, frozenset())
    if given.isdisjoint(table.names[_key(reference)]) or not _is_written(text, mine):
        return False
    return not any(asked.content.issuperset(_key(name).split()) for name in mine if name[0].isupper())


def _is_misspelt(reference: str, text: str, table: _Table) -> bool:
    """Whether a word is the name of a reference's place but for one letter, and no place itself: `Lubljana`."""
    one, other = _key(reference), _key(text)
    if one == other or min(len(one), len(other)) < _LONG or " " in one + other or one not in table.places:
        return False
    # A misspelling that is another place is that place.
    is_known = other in table.places or other in table.regions or other in table.names
    return not is_known and one[0] == other[0] and one[-2:] == other[-2:] and is_spelling(one, other)


def _is_namesake(reference: str, text: str, table: _Table) -> bool:
    """Whether a text is another place that shares a word with a reference's: `Guinea` for `Equatorial Guinea`."""
    one, other = _key(reference), _key(text)
    mine, yours = table.names.get(one, ()), table.names.get(other, ())
    if not len(mine) == len(yours) == 1 or mine == yours:
        return False
    apart = set(one.split()) ^ set(other.split())
    if len(apart) == len(one.split()) + len(other.split()) or _KINDS.issuperset(apart):
        return False
    wholes = (table.places.get(one, frozenset()) & table.regions.get(other, frozenset())) or (
        table.places.get(other, frozenset()) & table.regions.get(one, frozenset())
    )
    return not wholes


def _is_written(text: str, names: Sequence[str]) -> bool:
    """Whether a name is written as one of those is: abbreviations in capitals."""
    bare = text.removeprefix("the ").replace(".", "")
    return len(bare) > _ABBREVIATED or any(name.replace(".", "") == bare for name in names)


def _lies_in(reference: str, town: str, region: str, table: _Table) -> bool | None:
    """Say whether a reference's town lies in a region; None if the town or the region is another one, or not known."""
    whole = table.regions.get(_key(region))
    home, _, own = reference.rpartition(",")
    name = _key(home or reference)
    if whole is None or name != _key(town):
        return None
    # For example `Portland, OR` for `Portland, Oregon`.
    if home:
        lying = table.regions.get(_key(own))
        return None if lying is None else not whole.isdisjoint(lying) or None
    lying = table.places.get(name)
    # A name that several places share says nothing about where this one is.
    if not lying or len(table.regions.get(name, ())) > 1:
        return None
    if not whole.isdisjoint(lying):
        return True
    # Continents are in no wider place.
    wider = table.places.get(_key(region), frozenset())
    is_plain = wider and wider.isdisjoint(lying) and name not in table.others and _key(region) not in _FORMER
    return False if is_plain else None


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
    others = {_key(name): frozenset(numbers) for name, numbers in record["others"].items()}
    groups = record["names"]
    named: dict[str, set[int]] = {}
    for number, names in enumerate(groups):
        for name in names:
            named.setdefault(_key(name), set()).add(number)
    return _Table(places, _frozen(regions), others, _frozen(named), groups)


def _frozen(sets: Mapping[str, set[int]]) -> dict[str, frozenset[int]]:
    return {key: frozenset(numbers) for key, numbers in sets.items()}
