"""First names and the short forms by which people go."""

from __future__ import annotations

from functools import cache

from adjudge.judges.local._lexicon import lexicon
from adjudge.judges.local._reading.words import stem


@cache
def _forms() -> dict[str, frozenset[str]]:
    """Return by the stem of a first name the stems of its other forms."""
    found: dict[str, set[str]] = {}
    for full, *shorts in (line.split() for line in lexicon("names")["first"].split(";")):
        for short in shorts:
            found.setdefault(stem(short), set()).add(stem(full))
            found.setdefault(stem(full), set()).add(stem(short))
    return {name: frozenset(others) for name, others in found.items()}


def is_nickname(one: str, other: str) -> bool:
    """Return whether of a word and a stem one is a short form of the other.

    >>> is_nickname("johnny", stem("john")), is_nickname("nicholas", stem("nick")), is_nickname("bill", stem("will"))
    (True, True, False)
    """
    return stem(one) in _forms().get(other, ())
