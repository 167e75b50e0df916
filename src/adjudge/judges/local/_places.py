"""Places that lie in one another: who asks where Dakar is, accepts `Africa` for `Senegal`, if not gladly.

The table (`places.json`, from WordNet) has a few thousand places; what it does not know is left to the models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._words import DENIALS, STOP, stem, words

_LONGEST = 30  # words of an answer that says where something is, and little else
_LOOKED_AT = 20  # references
_MOST = 5  # words of a name
_OTHERS = DENIALS | {"or"}
_WORDS = (
    "north south east west northern southern eastern western northeast northwest southeast southwest northeastern"
    " northwestern southeastern southwestern central middle upper lower part region area coast mountains somewhere"
    " located situated found lies"
)
_PARTS = frozenset(map(stem, _WORDS.split()))


class _Table(NamedTuple):
    places: Mapping[str, frozenset[int]]  # what a place lies in, by numbers
    regions: Mapping[str, frozenset[int]]  # the numbers that a name may have


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
    is_lower = candidate.text == candidate.text.lower()
    return candidate.unique if is_lower else frozenset(map(stem, candidate.names()))


def _key(name: str) -> str:
    return " ".join(stem(word) for word in words(name) if word not in STOP)


@cache
def _table() -> _Table:
    """Read the table, once."""
    record = json.loads(files(__package__).joinpath("places.json").read_text(encoding="utf-8"))
    regions: dict[str, set[int]] = {}
    for number, names in enumerate(record["regions"]):
        for name in names:
            regions.setdefault(_key(name), set()).add(number)
    places = {_key(name): frozenset(numbers) for name, numbers in record["places"].items()}
    return _Table(places, {key: frozenset(numbers) for key, numbers in regions.items()})
