"""A row as the encoder reads it: `[CLS] question [SEP] references [SEP] candidate [SEP]`, cut to a bounded length.

Training and judging use these same functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

REFERENCES = 8
"""References that are read; the nearest ones by their words."""
LONGEST_QUESTION, LONGEST_REFERENCE, LONGEST_CANDIDATE = 64, 64, 128
"""Tokens that are read of each part; all references together count as one."""
KEPT = 200
"""Characters of a text that is worth keeping: thousands of long ones would fill the memory."""
CLS, SEP, SEMICOLON = 101, 102, 1025

Ids = Callable[[str], Sequence[int]]
"""The tokens of a text, as numbers."""

_LOOKED_AT = 1000  # references among which the nearest are looked for
_HEAD, _TAIL = 3000, 1000  # characters of a long text that are read
_WORD = re.compile(r"\w+")
_BROKEN = re.compile("[\u00c2\u00c3\u00c5\u00e2][\u0080-\u00bf\u0152-\u2122]")


def plain(text: str) -> str:
    """Return a text as it is read: only the ends of a long one, no lone surrogates, UTF-8 read as Windows-1252 mended.

    >>> plain("DÃ¡in"), plain("a " + chr(0xDC00)), len(plain("word " * 10**6))
    ('Dáin', 'a ?', 4001)
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    text = text.encode("utf-8", "replace").decode("utf-8")
    # Such pairs of letters are nearly always UTF-8 that was read as Windows-1252.
    if _BROKEN.search(text):
        try:
            return text.encode("cp1252").decode("utf-8")
        except UnicodeError:
            return text
    return text


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a reference, for finding the nearest."""

    joined: str
    counts: Counter[str]
    trigrams: frozenset[str]


def _words(text: str) -> _Words:
    found = _WORD.findall(text.lower())
    joined = " ".join(found)
    padded = f" {joined} "
    return _Words(joined, Counter(found), frozenset(padded[at : at + 3] for at in range(len(padded) - 2)))


_kept_words = lru_cache(maxsize=8192)(_words)


def nearest(references: Sequence[str], candidate: str) -> tuple[str, ...]:
    """Return the references that a candidate could mean, nearest first: whole ones, then by shared words and trigrams.

    >>> nearest(["Lyon", "city of Paris", "Paris"], "It is Paris.")
    ('Paris', 'city of Paris', 'Lyon')
    """
    given = _words(candidate)
    padded = f" {given.joined} "
    ranked = []
    for place, reference in enumerate(dict.fromkeys(references[:_LOOKED_AT])):
        # References come again with every response to their question.
        gold = _kept_words(reference) if len(reference) <= KEPT else _words(reference)
        recall = sum(min(count, given.counts[word]) for word, count in gold.counts.items())
        alike = recall / max(1, gold.counts.total()) + len(gold.trigrams & given.trigrams) / max(1, len(gold.trigrams))
        whole = bool(gold.joined) and f" {gold.joined} " in padded
        ranked.append((not whole, -round(alike, 6), -len(gold.joined) if whole else place, place, reference))
    ranked.sort()
    return tuple(reference for *_, reference in ranked[:REFERENCES])


def cut(ids: Sequence[int], longest: int) -> Sequence[int]:
    """Leave out the middle of a long text: what it opens and what it ends with say most.

    >>> cut(range(200), 128)[94:98], len(cut(range(200), 64))
    ([94, 95, 168, 169], 64)
    """
    if len(ids) <= longest:
        return ids
    head = longest * 3 // 4 if longest == LONGEST_CANDIDATE else longest // 3
    return [*ids[:head], *ids[len(ids) - (longest - head) :]]


def sequence(ids: Ids, question: str, references: Sequence[str], candidate: str) -> tuple[list[int], list[int]]:
    """Return the tokens of a row and the segment of each: 0 question, 1 references, 2 candidate."""
    said = plain(candidate)
    gold: list[int] = []
    for reference in nearest([plain(one) for one in references[:_LOOKED_AT]], said):
        more = cut(ids(reference), LONGEST_REFERENCE)
        if not gold:
            gold += more
        elif len(gold) + len(more) < LONGEST_REFERENCE:
            # The nearest reference is always read; others only as far as there is room.
            gold += [SEMICOLON, *more]
    parts = (cut(ids(plain(question)), LONGEST_QUESTION), gold, cut(ids(said), LONGEST_CANDIDATE))
    tokens, segments = [CLS], [0]
    for at, part in enumerate(parts):
        tokens += [*part, SEP]
        segments += [at] * (len(part) + 1)
    return tokens, segments
