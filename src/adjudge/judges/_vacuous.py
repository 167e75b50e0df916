"""Responses that say nothing: empty, punctuation, or words that only announce an answer."""

import re
from collections.abc import Sequence
from itertools import chain
from unicodedata import category, normalize

from adjudge.judges._openers import is_filler, is_opener
from adjudge.text import fold

_SEGMENT_END = re.compile(r"[\n\r.:;!?…。：；！？．｡、,،۔।|#*<>(){}\[\]/\\`~&$]+|\s[-–—]+\s")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_LONGEST = 200  # no opener is longer, so a longer segment says something
_SILENT = frozenset("PZCM")  # categories of characters that say nothing without letters: the first letter of each


def is_vacuous(response: str | None, references: Sequence[str] = ()) -> bool:
    """Return whether a response says nothing at all; one that gives a reference never does.

    >>> is_vacuous("Thought process:"), is_vacuous("Sure! Let's solve this step by step. Solution:"), is_vacuous("…")
    (True, True, True)
    >>> is_vacuous("Solution: 42"), is_vacuous("Solution", ["solution"]), is_vacuous(".", ["."])
    (False, False, False)
    """
    if response is None or not response.strip():
        return True
    if not _says_nothing(response):
        return False
    given, signs = f" {_words(response)} ", fold(response).strip()
    for reference in references:
        wanted = _words(reference)
        if f" {wanted} " in given if wanted else fold(reference).strip() == signs:
            return False
    return True


def _says_nothing(response: str) -> bool:
    """Return whether every segment is empty, an opener, or a filler beside one."""
    opened = worded = False
    start = 0
    for end in chain(_SEGMENT_END.finditer(response), (None,)):
        segment = response[start : end.start()] if end else response[start:]
        start = end.end() if end else start
        words = _words(segment) if len(segment) <= _LONGEST else ""
        if words:
            worded = True
            if is_opener(words):
                opened = True
            elif not is_filler(words):
                return False
        elif not _is_blank(segment):
            return False
    return opened or not worded


def _words(segment: str) -> str:
    if segment.isascii():
        return " ".join(_ASCII_WORD.findall(segment.lower().replace("'", "")))
    plain = normalize("NFKC", fold(segment)).casefold().replace("'", "")
    kept = "".join(c for c in plain if category(c) != "Cf")
    # Combining marks belong to the words of many scripts, but are no letters, and no words without any.
    words = "".join(c if c.isalnum() or category(c)[0] == "M" else " " for c in kept).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def _is_blank(segment: str) -> bool:
    """Return whether a segment without words has nothing else that could be an answer, such as an emoji or a sign."""
    return all(c.isspace() or category(c)[0] in _SILENT or category(c) == "Sk" for c in segment)
