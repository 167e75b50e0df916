"""Questions, references and candidates as they are compared; each is read once.

Some questions have hundreds of references, so these are prepared once for all candidates; what a rule makes of them
is a facet, read when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median_low
from typing import Any, TypeVar

from adjudge.judges.local._answer import in_one_piece
from adjudge.judges.local._facts import MONTHS, Date, Span, dates_of, numbers_of, range_of, spans_of
from adjudge.judges.local._limits import LONGEST
from adjudge.judges.local._words import ARTICLES, DENIALS, STOP, VERBS, evened, mended, stem, stems_of, words

# Patterns begin with the characters that they may begin with, and look back after them: that is searched much faster.
_SENTENCE = re.compile(r"[.!?\n](?:(?<=\n)\n*|(?<!\n)\s+(?=[A-Z\d\"'(*-]))")  # where one ends
_CAPITAL = re.compile(r"[A-Z](?<=[^\s.!?:*\"]\s.)[^\W_]+")  # not at the start of a sentence
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][^\W_]+")
_ITEM = re.compile(r",(?!\d{3})|[;/|•\n?]|[.!]\s|\s-\s|and(?<!\wand)\b|or(?<!\wor)\b|\d(?<!\w\d)[.)]\s")
_LETTERS = re.compile(r"[^\W_]+")
_KEPT_QUESTION = 1000  # characters of a question that is worth keeping
_KINDS = (
    ("who", re.compile(r"\b(?:who|whom|whose)\b")),
    ("when", re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century|decade)\b")),
    ("where", re.compile(r"\bwhere\b|\b(?:what|which) (?:country|city|state|place|county|continent|river|island)\b")),
    ("count", re.compile(r"\bhow (?:many|much|long|old|far|tall|high|big|often|large)\b|\bwhat number\b")),
    ("why", re.compile(r"\b(?:why|explain|describe|how)\b")),
)
KINDS = tuple(name for name, _ in _KINDS)
"""What a question may ask for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question."""

    plain: frozenset[str]
    stems: frozenset[str]
    padded: str  # the stems in their order
    content: frozenset[str]
    size: int
    kind: str | None  # one of `KINDS`
    wants_list: bool
    denies: bool


_OWNED = re.compile(r"['’]s\b")  # `the women's singles` are not women
_MANY = r"(?!does\b)\w{2,}[^suia\W]s\b"
_PLURAL = re.compile(
    rf"\b(?:what|which|who|name|list)(?: (?:\w+ )?{_MANY})? (?:are|were)\b"
    rf"|\b(?:what|which|name|list|won|wins) (?:the )?{_MANY}"
    rf"|\b(?:what|which|name|list) (?:\w+ ){{1,2}}{_MANY} (?:are|were|have|had|do|did|can|live|use|border|make|form)\b"
    rf"|^(?:\w+ ){{0,2}}{_MANY} (?:that|who|which|to|with|in|of|for|from)\b"
    rf"|\b(?:kind|type|sort)s? of {_MANY}"
    r"|\blist\b|\bname (?:the|all|two|\d)|\b(?:what|who)(?: i| wa|)s in\b"
)


def read_question(text: str) -> Question:
    """Prepare a question; the same one is prepared once, if it is short."""
    return _cached_question(text) if len(text) <= _KEPT_QUESTION else _read(text)


def _read(text: str) -> Question:
    plain = words(text)
    lowered = " ".join(plain)
    kind = next((name for name, pattern in _KINDS if pattern.search(lowered)), None)
    content = frozenset(stem(word) for word in plain if word not in STOP)
    # `the women's singles` looks like a plural, and is one thing.
    owned = _OWNED.sub("", text)
    wants_list = _PLURAL.search(lowered if owned == text else " ".join(words(owned))) is not None
    stems = [stem(word) for word in plain if word not in ARTICLES]
    return Question(
        frozenset(plain),
        frozenset(stems),
        f" {' '.join(stems)} ",
        content,
        len(plain),
        kind,
        wants_list,
        denies=not DENIALS.isdisjoint(plain),
    )


_cached_question = lru_cache(maxsize=2048)(_read)


Decision = tuple[bool, str]
"""Whether a candidate is right, and the name of the rule that says so."""


class Candidate:
    """A candidate, prepared for all references."""

    __slots__ = (
        "bare", "content", "dates", "first", "lowered", "numbers", "padded", "plain", "sentences", "stems", "text",
        "unique",
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        self.text = text = mended(evened(text[:LONGEST]))
        self.plain = plain = words(text)
        self.lowered = " ".join(plain)
        self.stems = [stem(word) for word in plain if word not in ARTICLES]
        self.padded = f" {' '.join(self.stems)} "
        self.content = [one for one in self.stems if one not in STOP]
        self.bare = f" {' '.join(self.content)} "
        self.unique = frozenset(self.stems)
        self.numbers = numbers_of(plain)
        # Dates are costly to find, and need a figure or the name of a month.
        self.dates = dates_of(plain, text) if self.numbers or not MONTHS.isdisjoint(plain) else []
        # The first sentence often is the answer, the rest explains it.
        cut = _SENTENCE.search(text)
        self.sentences = 1
        self.first = self.unique
        if cut is not None:
            self.sentences = 1 + min(20, len(_SENTENCE.findall(text)))
            self.first = frozenset(map(stem, plain[: len(text[: cut.start()].split())]))

    @property
    def joined(self) -> str:
        """The stems without blanks: some systems lose them (`byRufus`)."""
        return self.padded.replace(" ", "")

    def capitals(self) -> list[str]:
        """Return the stems of capitalised words, but for the first of a sentence."""
        found = _CAPITAL.findall(self.text, 0, 2000)
        return [stem(part) for part in words(" ".join(found))] if found else []

    def names(self) -> frozenset[str]:
        """Return the words that may be names: capitalised ones, or all of a short answer without capitals."""
        if len(self.plain) <= 4 and self.text == self.text.lower():
            return frozenset(self.plain)
        return frozenset(words(" ".join(_CAPITALISED.findall(self.text, 0, 4000))))

    def items(self) -> list[list[str]]:
        """Return the content words of the parts of an enumeration; parts of a sentence are too long to be any."""
        parts = _ITEM.split(self.text[:2000].lower())
        if len(parts) < 3:
            return []
        found = []
        for part in parts:
            if 0 < len(part.strip()) <= 80:
                item = [stem(word) for word in _LETTERS.findall(part) if word not in STOP]
                if 0 < len(item) <= 5:
                    found.append(item)
        return found


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
        text = in_one_piece(mended(evened(given[:LONGEST])))
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
