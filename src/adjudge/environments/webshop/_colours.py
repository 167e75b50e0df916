"""Which colour an option means, by whole words: "wired" is not red, and "rose gold" is not gold."""

import re
from itertools import pairwise

__all__ = ["colour_of"]

_WORD = re.compile(r"[^\W_]+")

# In the order of the alphabet, because of two colours in one text the first in this order counts, as in the original:
# "navy blue" is blue on both sides. Words that only shade a colour (dark, light, royal) are none here.
_COLOURS = frozenset(
    """alabaster amber apricot aqua aquamarine azure beige black blue blush bordeaux bronze brown burgundy camel camo
    caramel champagne charcoal chestnut chocolate cobalt cognac copper coral cranberry cream crimson cyan ebony eggplant
    emerald espresso fuchsia gold graphite green grey indigo ivory jade khaki lavender lilac lime magenta maroon mauve
    merlot mint mocha multicolor mustard navy nude ochre olive orange peach pewter pink plum purple rainbow red rose
    ruby rust sage salmon sand sapphire scarlet silver slate tan taupe teal terracotta turquoise violet walnut wheat
    white wine yellow""".split()  # noqa: SIM905 (a vocabulary reads best as words)
)
_SPELT = {"gray": "grey", "multicolour": "multicolor", "multicoloured": "multicolor", "multicolored": "multicolor"}
_COMPOUND = frozenset({("rose", "gold"), ("white", "gold"), ("off", "white"), ("gun", "metal"), ("army", "green")})


def colour_of(text: str) -> str | None:
    """Return the colour that a text names, or None.

    >>> [colour_of(text) for text in ("Wired", "rose gold", "gold", "Light Gray", "navy blue", "xl")]
    [None, 'rose gold', 'gold', 'grey', 'blue', None]
    """
    words = [_SPELT.get(word, word) for word in _WORD.findall(text.lower())]
    for pair in pairwise(words):
        if pair in _COMPOUND:
            return " ".join(pair)
    return min((word for word in words if word in _COLOURS), default=None)
