"""The shop's token-set ratio is that of thefuzz, the package that the original's rules use."""

import random
from importlib import import_module
from typing import Any

from adjudge.environments.webshop import WebShopSpec
from adjudge.environments.webshop._reward import token_set_ratio

fuzz: Any = import_module("thefuzz.fuzz")  # it has no type hints of its own

ROWS = 20_000
WORDS = [
    "leak",
    "proof",
    "Leak-Proof",
    "oil",
    "oils",
    "x",
    "XL",
    "12",
    "pack",
    "of",
    "wide",
    "widely",
    "",
    "a_b",
    "don't",
]


def texts(chance: random.Random) -> str:
    """Make a text that stresses the ratio: shared words, near misses, punctuation, repeated words, odd white space."""
    if chance.random() < 0.2:
        return "".join(chance.choice([chr(code) for code in range(128)]) for _ in range(chance.randrange(14)))
    joints = [" ", " ", "  ", "\t", "-", ", ", " | "]
    return "".join(chance.choice(WORDS) + chance.choice(joints) for _ in range(chance.randrange(7)))


def test_identical_to_thefuzz_on_generated_texts() -> None:
    """On 20,000 pairs of ASCII texts both give the same number."""
    chance = random.Random(20261115)  # noqa: S311 (test data)
    for _ in range(ROWS):
        one, other = texts(chance), texts(chance)
        assert token_set_ratio(one, other) == fuzz.token_set_ratio(one, other), (one, other)


def test_identical_to_thefuzz_on_the_catalogue() -> None:
    """On all attributes and options of our catalogue, each with each, both give the same number."""
    catalogue = WebShopSpec().catalogue()
    attributes = {attribute for item in catalogue.items for attribute in item.attributes}
    options = {value for item in catalogue.items for values in item.options.values() for value in values}
    known = sorted(attributes | options)
    for one in known:
        for other in known:
            assert token_set_ratio(one, other) == fuzz.token_set_ratio(one, other), (one, other)
