"""What a purchase is worth: the shop's rule, pure.

    reward = r_type · (attributes met + options met + [price <= upper]) / (|attributes| + |options| + 1)

1 of 3 attributes, 2 of 2 options and the price met: 4/6. 1 of 3, 2 of 3 and the price: 4/7, and 2/7 with r_type 0.5.

Reference: S. Yao, H. Chen, J. Yang, K. Narasimhan, "WebShop", 2022; the formula is that of its public code. Right where
that code is wrong: colours by whole words, options by their values, and no goal makes it crash.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from adjudge.environments.webshop._colours import colour_of
from adjudge.environments.webshop._fuzzy import token_set_ratio
from adjudge.environments.webshop._goods import Goal, Item
from adjudge.environments.webshop._nouns import NounFinder

__all__ = ["Purchase", "score_purchase"]

ALIKE = 85  # two texts mean the same above this ratio
NO_NOUNS = 0.2  # title score where the goal's title has no noun


@dataclass(frozen=True, slots=True)
class Purchase:
    """What was bought, what it is worth, and why.

    `nouns` names the noun finder that `title_score` rests on. `price_met` is `price <= price_upper`, whatever they are.
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


def score_purchase(goal: Goal, item: Item, options: Mapping[str, str], nouns: NounFinder) -> Purchase:
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
    """Say whether an item has an attribute: like one of its own, or in its title, bullets or description."""
    if any(token_set_ratio(own, wanted) > ALIKE for own in item.attributes):
        return True
    words = wanted.lower()
    return any(words in text.lower() for text in (item.title, " ".join(item.bullets), item.description))


def same_option(wanted: str, chosen: str) -> bool:
    """Say whether two option values mean the same: the same colour, or, where one names none, texts that are alike.

    >>> same_option("Navy Blue", "blue"), same_option("red", "wired"), same_option("gold", "rose gold")
    (True, False, False)
    """
    colour, other = colour_of(wanted), colour_of(chosen)
    if colour is not None and other is not None:
        return colour == other
    return token_set_ratio(colour or wanted, other or chosen) > ALIKE


def _shared(one: str, other: str) -> int:
    """Count the parts that two category paths share, in whatever order."""
    parts = ({part for each in path.split("›") if (part := each.strip())} for path in (one, other))
    return len(set.intersection(*parts))


def _title_score(goal: str, bought: str, nouns: NounFinder) -> float:
    """Return the share of the goal title's nouns that the bought title has; one that stands twice is met once."""
    wanted = nouns.nouns(goal)
    return len({*wanted} & {*nouns.nouns(bought)}) / len(wanted) if wanted else NO_NOUNS


def _r_type(title_score: float, *, is_match: bool) -> float:
    if title_score == 0.0:
        return 0.0
    if title_score < 0.1:
        return 0.1
    return 1.0 if is_match or title_score > 0.2 else 0.5
