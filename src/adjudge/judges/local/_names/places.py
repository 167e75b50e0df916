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
from adjudge.judges.local._reading.words import DENIALS, STOP, stem, stemmed, words

_LONGEST = 30  # words of an answer that says where something is, and little else
_LOOKED_AT = 20  # references
_MOST = 5  # words of a name
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
    names: dict[str, list[list[str]]] = {}
    for group in record["names"]:
        for key in set(map(_key, group)):
            names.setdefault(key, []).append(group)
    return _Table(places, {key: frozenset(numbers) for key, numbers in regions.items()}, names)
