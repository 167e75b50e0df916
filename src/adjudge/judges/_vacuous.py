"""Responses that say nothing: empty, punctuation, or words that only announce an answer.

Such words are a list, `openers.txt`, and sentences that match `_ANNOUNCEMENT`.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pkgutil import get_data
from unicodedata import category, normalize

from adjudge.text import fold

_SEGMENT_END = re.compile(r"[\n\r.:;!?…。：；！？．｡、,،۔।|#*<>(){}\[\]/\\`~&$]+|\s[-–—]+\s")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_LONGEST = 200  # no opener is longer, so a longer segment says something
_SILENT = frozenset("PZCM")  # categories of characters that say nothing without letters: the first letter of each

_WHO = (
    r"(?:lets|let us|let me|we|we will|we need to|we can|we should|i|i will|i ll|ill|i need to|i am going to|"
    r"im going to)"
)
_DO = (
    r"(?:solve|think|work|go|break|start|begin|analyse|analyze|consider|reason|approach|look|figure|find|answer|address|"
    r"walk|tackle|proceed|do|try|take|explain|examine|dive|first)"
)
_ABOUT = (
    r"(?:this|the|it|that|these|about|through|at|out|by|with|down|into|in|on|to|for|of|and|a|an|your|my|our|given|"
    r"question|problem|task|query|answer|solution|equation|exercise|request|step|steps|carefully|together|logically|"
    r"systematically|methodically|detail|deep|first|one|smaller|parts|time|everything|asked|"
    r"thinking|analysing|analyzing|considering|solving|answering|breaking|looking|finding|solve|think|find|"
    r"again|now|here|closely|look|statement)"
)
_BEFORE = r"(?:(?:so|ok|okay|alright|well|now|first|sure|to begin|to start) )*"
_ANNOUNCEMENT = re.compile(rf"{_BEFORE}{_WHO} (?:now |first |all |carefully |just |quickly )*{_DO}(?: {_ABOUT})*")


@cache
def _openers_and_fillers() -> tuple[frozenset[str], frozenset[str]]:
    """Return words that only announce an answer, and pleasantries, which say nothing beside such words."""
    data = get_data("adjudge.judges", "openers.txt") or b""
    lines = [line for line in data.decode("utf-8").split("\n") if line and not line.startswith("#")]
    return (
        frozenset(line for line in lines if not line.startswith("+")),
        frozenset(line[1:] for line in lines if line.startswith("+")),
    )


def is_vacuous(response: str | None, references: Sequence[str] = ()) -> bool:
    """Return whether a response says nothing at all; one that gives a reference never does.

    >>> is_vacuous("Thought process:"), is_vacuous("Sure! Let's solve this step by step. Solution:"), is_vacuous("…")
    (True, True, True)
    >>> is_vacuous("Solution: 42"), is_vacuous("Solution", ["solution"]), is_vacuous(".", ["."])
    (False, False, False)
    """
    if response is None or not response.strip():
        return True
    # It says something unless every segment is empty, an opener, or a filler beside an opener.
    openers, fillers = _openers_and_fillers()
    opened = worded = False
    start = 0
    for end in chain(_SEGMENT_END.finditer(response), (None,)):
        segment = response[start : end.start()] if end else response[start:]
        start = end.end() if end else start
        words = _words(segment) if len(segment) <= _LONGEST else ""
        if words:
            worded = True
            if words in openers or _ANNOUNCEMENT.fullmatch(words) is not None:
                opened = True
            elif words not in fillers:
                return False
        elif not _is_blank(segment):
            return False
    if worded and not opened:
        return False
    # Such words are an answer all the same where a reference consists of them.
    given, signs = f" {_words(response)} ", fold(response).strip()
    for reference in references:
        wanted = _words(reference)
        if f" {wanted} " in given if wanted else fold(reference).strip() == signs:
            return False
    return True


def _words(segment: str) -> str:
    if segment.isascii():
        return " ".join(_ASCII_WORD.findall(segment.lower().replace("'", "")))
    plain = normalize("NFKC", fold(segment)).casefold().replace("'", "")
    kept = "".join(c for c in plain if category(c) != "Cf")
    # Combining marks belong to the words of many scripts, but they are not letters, and not words without letters.
    words = "".join(c if c.isalnum() or category(c)[0] == "M" else " " for c in kept).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def _is_blank(segment: str) -> bool:
    """Return whether a segment without words has nothing else that could be an answer, such as an emoji or a sign."""
    return all(c.isspace() or category(c)[0] in _SILENT or category(c) == "Sk" for c in segment)
