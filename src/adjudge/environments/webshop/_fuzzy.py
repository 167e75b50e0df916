"""How alike two short texts are: the token-set ratio, as the original's rules use it."""

import re

__all__ = ["token_set_ratio"]

_OTHER = re.compile(r"[\W_]")


def token_set_ratio(one: str, other: str) -> int:
    """Return 0..100: how alike the sets of words of two texts are, a shared part counting in full; 100 for a subset.

    With s the shared words, a and b the rest of either side, each sorted and joined by spaces, it is the greatest ratio
    among (s, s+a), (s, s+b) and (s+a, s+b); a ratio is 100 · 2 · LCS / (length + length), rounded half to even.

    >>> token_set_ratio("powder snow", "cool powder snow"), token_set_ratio("essential oil", "Essential Oils!")
    (100, 96)
    >>> token_set_ratio("black", "blue"), token_set_ratio("", "")
    (44, 0)
    """
    ours, theirs = _words(one), _words(other)
    if not ours or not theirs:
        return 0
    shared = ours & theirs
    if shared and (ours <= theirs or theirs <= ours):
        return 100
    left, right = " ".join(sorted(ours - shared)), " ".join(sorted(theirs - shared))
    both = len(" ".join(shared))
    lead = both + 1 if shared else 0  # the shared words and the space behind them
    whole = len(left) + len(right) + 2 * lead
    best = 100 - 100 * (len(left) + len(right) - 2 * _common(left, right)) / whole
    if shared:
        for rest in (left, right):
            best = max(best, 100 - 100 * (1 + len(rest)) / (both + lead + len(rest)))
    return round(best)


def _words(text: str) -> set[str]:
    return set(_OTHER.sub(" ", text.lower()).split())


def _common(left: str, right: str) -> int:
    """Return the length of the longest common subsequence: a row of the table is the bits of one number."""
    places: dict[str, int] = {}
    for place, character in enumerate(left):
        places[character] = places.get(character, 0) | 1 << place
    full = (1 << len(left)) - 1
    row = full
    for character in right:
        met = row & places.get(character, 0)
        row = (row + met | row - met) & full
    return len(left) - row.bit_count()
