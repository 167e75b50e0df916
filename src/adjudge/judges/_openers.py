"""Words that announce an answer and give none: a list in `openers.txt`, and sentences made of nothing else."""

import re
from functools import cache
from pkgutil import get_data

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
def _lines() -> tuple[frozenset[str], frozenset[str]]:
    """Return the openers and the fillers."""
    data = get_data("adjudge.judges", "openers.txt") or b""
    lines = [line for line in data.decode("utf-8").split("\n") if line and not line.startswith("#")]
    return (
        frozenset(line for line in lines if not line.startswith("+")),
        frozenset(line[1:] for line in lines if line.startswith("+")),
    )


def is_opener(words: str) -> bool:
    """Return whether a segment only announces an answer.

    >>> is_opener("lets now solve this problem step by step"), is_opener("lets buy the brewery")
    (True, False)
    """
    return words in _lines()[0] or _ANNOUNCEMENT.fullmatch(words) is not None


def is_filler(words: str) -> bool:
    """Return whether a segment is a pleasantry, which says nothing beside an opener."""
    return words in _lines()[1]
