"""Words that sound alike, or are written almost alike."""

from __future__ import annotations

import re

_SOUNDS = tuple(
    pair.split("-") for pair in ["oe-o", "ae-a", "ue-u", "ph-f", "v-f", "ck-k", "c-k", "q-k", "y-i", "z-s", "h-"]
)
_LONG_SOUNDS = (("tch", "ch"), ("ye", "e"), ("ai", "a"), ("ei", "e"), ("w", "v"))  # where enough is left to know it by
_DOUBLED = re.compile(r"(.)\1+")


def is_spelling(one: str, other: str) -> bool:
    """Return whether two words sound alike, or are long and differ in one letter.

    >>> is_spelling("stephen", "steven"), is_spelling("shakespeare", "shakespere"), is_spelling("manet", "monet")
    (True, True, False)
    """
    is_long = min(len(one), len(other)) > 5
    one, other = sound(one), sound(other)
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if not is_long or len(longer) - len(shorter) > 1:
        return False
    head = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    rest, more = shorter[head:], longer[head:]
    if len(rest) == len(more):
        return rest[1:] == more[1:] or (rest[:2] == more[1::-1] and rest[2:] == more[2:])
    return rest == more[1:]


def sound(word: str, *, is_long: bool = True) -> str:
    """Return a name as it sounds, whoever wrote it in Latin letters: `Tchaikovsky` as `Chaikovskii`.

    >>> sound("tchaikovsky") == sound("chaikovskii"), sound("dutta", is_long=False) == sound("duta", is_long=False)
    (True, False)
    """
    for sign, heard in (*_LONG_SOUNDS, *_SOUNDS) if is_long else _SOUNDS:
        word = word.replace(sign, heard)
    return _DOUBLED.sub(r"\1", word) if is_long else word
