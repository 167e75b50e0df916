"""Questions and candidates as they are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from adjudge.judges.local._reading.facts import MONTHS, dates_of, numbers_of
from adjudge.judges.local._reading.words import ARTICLES, DENIALS, LONGEST, STOP, evened, mended, stem, words

# Patterns begin with the characters that they may begin with, and look back after them: that is searched much faster.
_SENTENCE = re.compile(r"[.!?\n](?:(?<=\n)\n*|(?<!\n)\s+(?=[A-Z\d\"'(*-]))")  # where one ends
_CAPITAL = re.compile(r"[A-Z](?<=[^\s.!?:*\"]\s.)[^\W_]+")  # not at the start of a sentence
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][^\W_]+")
_ITEM = re.compile(r",(?!\d{3})|[;/|•\n?]|[.!]\s|\s-\s|and(?<!\wand)\b|or(?<!\wor)\b|\d(?<!\w\d)[.)]\s")
_LETTERS = re.compile(r"[^\W_]+")
_KEPT = 1000  # characters of a question that is worth keeping
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
    return _cached(text) if len(text) <= _KEPT else _read(text)


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


_cached = lru_cache(maxsize=2048)(_read)


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
