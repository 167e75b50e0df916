"""What differs between two texts, word by word."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from adjudge.view._text import shown

MOST = 2_000  # words of each text that are compared: the time grows with their product


class Piece(NamedTuple):
    """A piece of both texts, or of one of them."""

    kind: Literal["same", "base", "new"]
    text: str


def word_diff(base: str, new: str) -> tuple[Piece, ...]:
    """Return the two texts as pieces, in order.

    >>> [(one.kind, one.text) for one in word_diff("It is Paris.", "It is Lyon.")]
    [('same', 'It is '), ('base', 'Paris'), ('new', 'Lyon'), ('same', '.')]
    """
    first, second = (re.findall(r"\w+|\s+|[^\w\s]", text)[:MOST] for text in (base, new))
    return tuple(_joined(first, second))


def _joined(first: list[str], second: list[str]) -> Iterator[Piece]:
    for kind, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        before, after = shown("".join(first[i:j])), shown("".join(second[k:m]))
        if kind == "equal":
            yield Piece("same", before)
            continue
        if before:
            yield Piece("base", before)
        if after:
            yield Piece("new", after)
