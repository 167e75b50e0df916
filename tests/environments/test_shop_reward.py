"""What a purchase is worth: the golden table, and what holds for every purchase."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.environments.webshop import Goal, Item, WebShopSpec, noun_finder, score_purchase
from adjudge.environments.webshop._reward import colour_of, same_option, token_set_ratio
from adjudge.errors import MissingExtra, UsageError
from support import golden

ROWS = golden("shop")
TEXTS = st.text(st.sampled_from("abc rgoldse-|'()é中\n"), max_size=20) | st.text(max_size=10)


def goal_of(row: dict[str, Any]) -> Goal:
    """Return the goal of a row."""
    named = {**row["goal"], "attributes": tuple(row["goal"]["attributes"])}
    return Goal(asin="G", instruction="", category="", **named)


def item_of(row: dict[str, Any]) -> Item:
    """Return the item of a row."""
    given_ = row["item"]
    lists = {name: tuple(given_[name]) for name in ("attributes", "bullets")}
    return Item(asin="I", category="", price_tag="", **{**given_, **lists})


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_rewards_are_those_of_the_table(row: dict[str, Any]) -> None:
    """The reward and what it is made of are what the table says, and the noun finder is named."""
    bought = score_purchase(goal_of(row), item_of(row), row["options"], noun_finder(row["nouns"])).to_dict()
    for name, value in row["expected"].items():
        assert bought[name] == (pytest.approx(value) if isinstance(value, float) else value), (name, row["why"])
    assert bought["nouns"] == f"{row['nouns']}-1"


def test_table_is_broad() -> None:
    """The table has enough rows, each with its reason."""
    assert len(ROWS) >= 40
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["why"] for row in ROWS)
    assert max(Counter(row["pattern"] for row in ROWS).values()) <= 8


@st.composite
def purchases(draw: st.DrawFn) -> tuple[Goal, Item, dict[str, str]]:
    """Draw a goal, an item and options, of any texts and numbers."""
    texts = st.lists(TEXTS, max_size=3)
    options = st.dictionaries(TEXTS, TEXTS, max_size=3)
    numbers = st.floats(-10.0, 1e6, allow_nan=False)
    names = ("title", "query", "product_category")
    goal = {name: draw(TEXTS) for name in names} | {"options": draw(options), "price_upper": draw(numbers)}
    item = {name: draw(TEXTS) for name in (*names, "description")} | {"price": draw(numbers), "bullets": draw(texts)}
    row = {"goal": goal | {"attributes": draw(texts)}, "item": item | {"attributes": draw(texts)}}
    return goal_of(row), item_of(row), draw(options)


@given(purchases(), st.sampled_from(["lexicon", "words"]))
def test_every_reward_lies_between_0_and_1(bought: tuple[Goal, Item, dict[str, str]], nouns: str) -> None:
    """Whatever was wanted and bought, the reward lies in 0..1, and is the same the second time."""
    goal, item, options = bought
    once, again = (score_purchase(goal, item, options, noun_finder(nouns)) for _ in range(2))
    assert 0.0 <= once.reward <= 1.0
    assert once == again


def test_own_goals_are_reached_by_their_own_items() -> None:
    """Every goal of our catalogue has a purchase that is worth exactly 1."""
    catalogue = WebShopSpec().catalogue()
    nouns = noun_finder("lexicon")
    for goal in catalogue.goals:
        assert score_purchase(goal, catalogue.item(goal.asin), goal.options, nouns).reward == 1.0


@given(TEXTS, TEXTS)
def test_ratio_is_symmetric_and_bounded(one: str, other: str) -> None:
    """The token-set ratio lies in 0..100, does not depend on the order, and is 100 for a text with itself."""
    ratio = token_set_ratio(one, other)
    assert 0 <= ratio <= 100
    assert ratio == token_set_ratio(other, one)
    assert token_set_ratio(one, one) in (0, 100)
    assert token_set_ratio(f"{one} x", f"x {one}") == 100


@given(TEXTS, TEXTS)
def test_same_option_is_symmetric(one: str, other: str) -> None:
    """Whether two options mean the same does not depend on which was wanted."""
    assert same_option(one, other) == same_option(other, one)


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("red", "red"),
        ("Wired", None),
        ("hundred", None),
        ("rose gold", "rose gold"),
        ("ROSE-GOLD", "rose gold"),
        ("rose", "rose"),
        ("gold rose", "gold"),
        ("dark grey", "grey"),
        ("pink/white", "pink"),
        ("tank top", None),
        ("", None),
    ],
)
def test_colours_are_whole_words(text: str, colour: str | None) -> None:
    """A colour is a whole word; a compound is a colour of its own."""
    assert colour_of(text) == colour


def test_unknown_noun_finder_is_named() -> None:
    """An unknown noun finder is refused, and the closest one named."""
    with pytest.raises(UsageError, match="did you mean 'lexicon'"):
        noun_finder("lexikon")


def test_spacy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without spaCy its noun finder says what to install, and which one does without."""
    import sys

    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[spacy\]'"):
        noun_finder("spacy")


def test_spacy_gives_nouns_and_proper_nouns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spaCy finder takes what the model tags as nouns, and its name says which model in which version."""
    import sys
    from types import SimpleNamespace

    from adjudge.environments.webshop._reward import Spacy

    tags = {"Oakmere": "PROPN", "Blue": "ADJ", "Bottle": "NOUN"}

    class Model:
        meta = {"version": "3.8.0"}  # noqa: RUF012 (as spaCy has it)

        def __call__(self, text: str) -> list[Any]:
            return [SimpleNamespace(text=word, pos_=tags[word]) for word in text.split()]

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=lambda name, exclude: Model()))
    finder = Spacy()
    assert finder.name == "spacy:en_core_web_sm-3.8.0"
    assert finder.nouns("Oakmere Blue Bottle") == ("oakmere", "bottle")
