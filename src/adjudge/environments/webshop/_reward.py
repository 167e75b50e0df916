"""What a purchase is worth: the shop's rule, pure; and the three comparisons that it needs: colours, texts, nouns.

    reward = r_type · (attributes met + options met + [price <= upper]) / (|attributes| + |options| + 1)

1 of 3 attributes, 2 of 2 options and the price met: 4/6. 1 of 3, 2 of 3 and the price: 4/7, and 2/7 with r_type 0.5.

Reference: S. Yao, H. Chen, J. Yang, K. Narasimhan, "WebShop", 2022; the formula is that of its public code. It is right
where that code is wrong: colours by whole words, options by their values, and no goal makes it crash.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

from adjudge.environments.webshop._goods import Goal, Item
from adjudge.environments.webshop._words import BRANDS, kinds
from adjudge.errors import MissingExtra, UsageError, closest

__all__ = ["NounFinder", "Purchase", "colour_of", "noun_finder", "score_purchase", "token_set_ratio"]

ALIKE = 85  # two texts mean the same above this ratio
NO_NOUNS = 0.2  # title score if the goal's title has no noun


@dataclass(frozen=True, slots=True)
class Purchase:
    """What was bought, what it is worth, and why.

    `nouns` names the noun finder behind `title_score`. `price_met` is `price <= price_upper`.
    """

    asin: str
    options: Mapping[str, str]
    reward: float
    r_type: float
    title_score: float
    query_match: bool
    category_match: bool
    attributes_met: tuple[str, ...]
    options_met: tuple[str, ...]
    price_met: bool
    nouns: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "attributes_met": list(self.attributes_met), "options_met": list(self.options_met)}


def score_purchase(goal: Goal, item: Item, options: Mapping[str, str], nouns: "NounFinder") -> Purchase:
    """Score the item, bought with these options, against the goal."""
    query, category = item.query == goal.query, _shared(item.product_category, goal.product_category) >= 2
    title = _title_score(goal.title, item.title, nouns)
    r_type = _r_type(title, is_match=query or category)
    attributes = tuple(each for each in goal.attributes if has_attribute(item, each))
    chosen = tuple(options.values())
    met = tuple(each for each in goal.options.values() if any(same_option(each, one) for one in chosen))
    price = item.price <= goal.price_upper
    share = (len(attributes) + len(met) + price) / (len(goal.attributes) + len(goal.options) + 1)
    return Purchase(
        asin=item.asin,
        options=dict(options),
        reward=r_type * share,
        r_type=r_type,
        title_score=title,
        query_match=query,
        category_match=category,
        attributes_met=attributes,
        options_met=met,
        price_met=price,
        nouns=nouns.name,
    )


def has_attribute(item: Item, wanted: str) -> bool:
    """Return whether an item has an attribute: like one of its own, or in its title, bullets or description."""
    if any(token_set_ratio(own, wanted) > ALIKE for own in item.attributes):
        return True
    words = wanted.lower()
    return any(words in text.lower() for text in (item.title, " ".join(item.bullets), item.description))


def same_option(wanted: str, chosen: str) -> bool:
    """Return whether two option values mean the same: the same colour or, if one names none, similar texts.

    >>> same_option("Navy Blue", "blue"), same_option("red", "wired"), same_option("gold", "rose gold")
    (True, False, False)
    """
    colour, other = colour_of(wanted), colour_of(chosen)
    if colour is not None and other is not None:
        return colour == other
    return token_set_ratio(colour or wanted, other or chosen) > ALIKE


def _shared(one: str, other: str) -> int:
    """Count the parts that two category paths share, in any order."""
    parts = ({part for each in path.split("›") if (part := each.strip())} for path in (one, other))
    return len(set.intersection(*parts))


def _title_score(goal: str, bought: str, nouns: "NounFinder") -> float:
    """Return the share of the goal title's nouns that the bought title has; one that occurs twice is met once."""
    wanted = nouns.nouns(goal)
    return len({*wanted} & {*nouns.nouns(bought)}) / len(wanted) if wanted else NO_NOUNS


def _r_type(title_score: float, *, is_match: bool) -> float:
    if title_score == 0.0:
        return 0.0
    if title_score < 0.1:
        return 0.1
    return 1.0 if is_match or title_score > 0.2 else 0.5


# Colours.

_COLOUR_WORD = re.compile(r"[^\W_]+")

# In alphabetical order, because of two colours in one text the first in this order counts, as in the original:
# "navy blue" is blue on both sides. Words that only shade a colour (dark, light, royal) are not in it.
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
    words = [_SPELT.get(word, word) for word in _COLOUR_WORD.findall(text.lower())]
    for pair in pairwise(words):
        if pair in _COMPOUND:
            return " ".join(pair)
    return min((word for word in words if word in _COLOURS), default=None)


# Texts.

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
    # A subset counts in full, however long the other text is.
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
    # Hyyrö's bit-parallel rule: a zero bit marks a character of the left text that is matched.
    full = (1 << len(left)) - 1
    row = full
    for character in right:
        met = row & places.get(character, 0)
        row = (row + met | row - met) & full
    return len(left) - row.bit_count()


# Nouns.

_TITLE_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SPACY_MODEL = "en_core_web_sm"  # what the original uses


@runtime_checkable
class NounFinder(Protocol):
    """Finds the nouns of a title. Every result that depends on it shows its `name`."""

    @property
    def name(self) -> str:
        """What results call it, version included."""
        ...

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the nouns of a title, proper nouns included, in lower case, as often as they occur."""
        ...


class Lexicon:
    """Knows the nouns of our own catalogue: brands, materials, kinds of things and what comes with them."""

    name = "lexicon-1"

    def __init__(self) -> None:
        words = {brand.lower() for brand in BRANDS}
        for kind in kinds():
            words.update(kind.name.split(), kind.materials, (extra.split()[-1] for extra in kind.extras))
        self._known = frozenset(words)

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the words that the lexicon has."""
        return tuple(word for word in _TITLE_WORD.findall(title.lower()) if word in self._known)


class Words:
    """Takes every word of three letters and more for a noun unless it is a function word."""

    name = "words-1"
    _FUNCTION = frozenset(
        "and are for from has into its not off our out per that the this was with without your".split()  # noqa: SIM905 (as words)
    )

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the words that could be nouns."""
        found = (word for word in _TITLE_WORD.findall(title.lower()) if len(word) > 2 and not word.isdigit())
        return tuple(word for word in found if word not in self._FUNCTION)


class Spacy:
    """Asks spaCy's small English model, as the original does."""

    def __init__(self) -> None:
        try:
            spacy: Any = import_module("spacy")
        except ImportError:
            raise MissingExtra.of("spacy", "nouns='spacy' (nouns='words' does without)") from None
        try:
            self._model: Any = spacy.load(_SPACY_MODEL, exclude=["parser", "ner", "lemmatizer"])
        except OSError:
            raise MissingExtra(f"spaCy's model is not there: python -m spacy download {_SPACY_MODEL}") from None
        self.name = f"spacy:{_SPACY_MODEL}-{self._model.meta.get('version', '?')}"

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return what the model takes for a noun or a proper noun."""
        return tuple(token.text.lower() for token in self._model(title) if token.pos_ in ("NOUN", "PROPN"))


_FINDERS: dict[str, type[Lexicon] | type[Words] | type[Spacy]] = {"lexicon": Lexicon, "words": Words, "spacy": Spacy}


@lru_cache(maxsize=len(_FINDERS))
def noun_finder(name: str) -> NounFinder:
    """Return the finder called `lexicon`, `words` or `spacy`, one for the whole process.

    >>> noun_finder("lexicon").nouns("Oakmere Leak Proof Steel Water Bottle with Carry Loop")
    ('oakmere', 'steel', 'water', 'bottle', 'loop')
    """
    if name not in _FINDERS:
        raise UsageError(f"there is no noun finder {name!r}{closest(name, _FINDERS)}: {', '.join(_FINDERS)}")
    return _FINDERS[name]()
