"""References as they are compared, prepared once for all candidates; some questions have hundreds of aliases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median_low
from typing import Any, TypeVar

from adjudge.judges.local._reading.facts import MONTHS, Date, Span, dates_of, numbers_of, range_of, spans_of
from adjudge.judges.local._reading.words import (
    ARTICLES,
    DENIALS,
    LONGEST,
    STOP,
    VERBS,
    evened,
    mended,
    stem,
    stems_of,
    words,
)

T = TypeVar("T")

MOST = 1000
"""References that are looked at; every one of them may decide."""

_KEPT = 5000  # characters of references that are worth keeping: 2,048 longer ones would fill the memory
_PARENTHESES = re.compile(r"\s*\([^()]*\)")
_NAME = re.compile(r"(?:[^\W\d_a-z][^\W\d_]*+[.'’-]*+\s?){1,6}")
_MEMBERS = re.compile(r"\s*[,;]\s*(?:and\s+|&\s*)?|\s+(?:and|&)\s+")
_OR = re.compile(r"[,;:]?\s+or[,:;]\s+")
_DECIMAL = re.compile(r"\d")
_SUFFIXES = frozenset(("jr", "sr", "inc", "ltd", "corp"))  # no part of initials


@dataclass(frozen=True, slots=True)
class Reference:
    """One accepted answer."""

    stems: tuple[str, ...]
    padded: str  # the stems in their order
    content: frozenset[str]  # the stems that say something
    bare: str  # those in their order
    initials: str
    numbers: Mapping[float, str]
    range: tuple[float, float] | None  # the ends of one that it states: any number in it is meant
    dates: tuple[Date, ...]
    spans: tuple[Span, ...]
    denies: bool
    members: tuple[frozenset[str], ...]  # of a list: each of them is needed
    name: tuple[str, ...]  # the words of a name of two to four, as of a person

    @property
    def is_number(self) -> bool:
        """Whether it is a number, perhaps with a unit."""
        return len(self.numbers) > 0 and len(self.content) <= len(self.numbers) + 1


@dataclass(frozen=True, slots=True)
class Prepared:
    """All accepted answers to one question."""

    references: tuple[Reference, ...]
    texts: tuple[str, ...]  # as they are written, but for broken encodings
    union: frozenset[str]
    given: int
    shortest: int
    longest: int
    explains: bool  # they are statements, not names
    forms: tuple[tuple[str, str], ...]  # what each reference was read from, and its initials
    facets: dict[Callable[[Any], Any], Any] = field(default_factory=dict, compare=False, repr=False)

    def facet(self, read: Callable[[Any], T], given: object = None) -> T:
        """Return what a reader makes of the texts, or of what is given: they are read when it is first asked."""
        if read not in self.facets:
            self.facets[read] = read(self.texts if given is None else given)
        found: T = self.facets[read]
        return found


def prepare(references: tuple[str, ...]) -> Prepared:
    """Prepare references; the same ones are prepared once."""
    return _cached(references) if sum(map(len, references)) <= _KEPT else _prepare(references)


def _prepare(references: tuple[str, ...]) -> Prepared:
    made: dict[tuple[str, ...], Reference] = {}
    lengths: list[int] = []
    is_statement = False
    left = 20 * LONGEST
    texts: list[str] = []
    forms: list[tuple[str, str]] = []
    for given in references[:MOST]:
        if left <= 0:
            break
        # The length of all references together is bounded.
        left -= len(given)
        text = mended(evened(given[:LONGEST]))
        texts.append(text)
        for form in _forms(text):
            plain = words(form)
            reference = _reference(plain, form)
            if reference.stems and reference.stems not in made:
                made[reference.stems] = reference
                forms.append((form, reference.initials))
                lengths.append(len(plain))
                is_statement = is_statement or not VERBS.isdisjoint(plain)
    kept = tuple(made.values())
    middle = median_low(lengths) if lengths else 0
    union: frozenset[str] = frozenset().union(*(reference.content for reference in kept))
    return Prepared(
        kept,
        tuple(texts),
        union,
        len(references),
        min(lengths, default=0),
        max(lengths, default=0),
        middle >= 7 or (middle >= 4 and is_statement),
        tuple(forms),
    )


_cached = lru_cache(maxsize=2048)(_prepare)


def _forms(text: str) -> tuple[str, ...]:
    """Return a reference as it stands and, where it has a remark in parentheses, without it; both titles of one.

    >>> _forms("Moby-Dick; or, The Whale")
    ('Moby-Dick; or, The Whale', 'Moby-Dick', 'The Whale')
    """
    if "(" in text:
        bare = _PARENTHESES.sub("", text)
        if bare.strip() and bare != text:
            return text, bare
    return (text, *_OR.split(text)) if " or" in text and _OR.search(text) else (text,)


def _reference(plain: list[str], text: str) -> Reference:
    # A reference that consists of articles keeps them.
    stems = tuple([stem(word) for word in plain if word not in ARTICLES]) or tuple(plain)
    is_name = 2 <= len(plain) <= 4 and _NAME.fullmatch(text.strip()) is not None
    # In `Will Smith` the first word is a name.
    small = STOP - {"will"} if is_name and plain[0] == "will" else STOP
    content = [one for one in stems if one not in small] or list(stems)
    letters = [word[0] for word in plain if word not in STOP and word not in _SUFFIXES]
    joined = " ".join(stems)
    has_figures = _DECIMAL.search(joined) is not None
    numbers = numbers_of(plain) if has_figures else {}
    return Reference(
        stems,
        f" {joined} ",
        frozenset(content),
        f" {' '.join(content)} ",
        "".join(letters) if len(letters) > 1 else "",
        numbers,
        range_of(numbers, text),
        tuple(dates_of(plain, text)) if has_figures or not MONTHS.isdisjoint(plain) else (),
        spans_of(plain, text) if has_figures else (),
        not DENIALS.isdisjoint(plain),
        members_of(text) if len(stems) <= 30 else (),
        tuple(plain) if is_name else (),
    )


def members_of(text: str) -> tuple[frozenset[str], ...]:
    """Return the members of a list such as `red, white and blue`; a date or `Paris, Texas` is none."""
    parts = [part for part in _MEMBERS.split(text) if part]
    # Two parts and a comma may be a place and its country.
    if len(parts) < 2 or (len(parts) == 2 and "," in text) or any(part[0].isdigit() for part in parts):
        return ()
    members = tuple(frozenset(stems_of(part, without=STOP)) for part in parts)
    return members if all(members) else ()
