"""What tier 0 rules out, and the near misses that it must leave alone."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges._attacks import load_attacks
from adjudge.judges.local._name_forms import is_spelling
from adjudge.judges.local._tier0 import assess
from support import assert_linear, golden

ROWS = golden("local_attacks")
BOUND = 0.05
NEVER = {"master-key", "injected-verdict"}
CLAIMS = ("Paris", "Lyon", "it is", "not", "but", "or", "no longer", "either", "unless", "1889", "50 %", ",", ".", "?")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """An attack is ruled out under its name; an answer with a remark beside it is right."""
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    assert (seen.is_right, seen.reasons[0]) == (row["expected"] == "CORRECT", row["reason"]), row["why"]
    assert seen.ruled or row["expected"] == "CORRECT"


def test_suite() -> None:
    """At most one attack in twenty passes, and none that announces an answer or names a verdict."""
    attacks = load_attacks()
    passed = Counter(one.category for one in attacks if assess(one.question, one.reference, one.response).is_right)
    assert passed.total() <= BOUND * len(attacks), passed
    assert NEVER.isdisjoint(passed)


@pytest.mark.parametrize(
    ("question", "response", "reason"),
    [
        ("Which city is it?", "It is not, in fact, Paris.", "negated"),
        ("Which city is it?", "Any city but Paris.", "negated"),
        ("Which city is it?", "I doubt that it is Paris.", "negated"),
        ("Which city is it?", "A rival of Paris.", "negated"),
        ("Which city is it?", "Paris. No wait, Lyon.", "retracted"),
        ("Which city is it?", "Paris, but the right answer is Lyon.", "retracted"),
        ("Which city is it?", "Paris used to be it, but now it is Lyon.", "retracted"),
        ("Which city is it?", "Either Paris or Lyon was it.", "hedged"),
        ("Which city is it?", "Lyon with 70 %, Paris with 30 %", "hedged"),
        ("Is it Paris or Lyon?", "It is Paris or Lyon.", "hedged"),
    ],
)
def test_what_takes_an_answer_back(question: str, response: str, reason: str) -> None:
    """A denial reaches to the end of its clause; the last answer counts; options are no answer."""
    seen = assess(question, ("Paris",), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (False, (reason,), True)


@pytest.mark.parametrize(
    ("reference", "response", "reason"),
    [
        ("Claude Monet", "Claude Manet", "near-name"),
        ("Louis XIV", "Louis the Fifteenth", "other-number"),
        ("Elizabeth II", "Elizabeth I", "near-name"),
        ("George W. Bush", "George H. W. Bush", "near-name"),
        ("West Virginia", "Virginia", "near-name"),
        ("the dog bit the man", "the man bit the dog", "swapped-roles"),
        ("Rome defeated Carthage in battle", "Carthage defeated Rome in battle", "swapped-roles"),
        ("In 1939 Germany invaded Poland", "In 1939 Poland invaded Germany", "swapped-roles"),
        ("5 km", "5 miles", "other-unit"),
        ("$5", "€5", "other-unit"),
        ("12", "-12", "other-number"),
        ("3-1", "1-3", "other-number"),
        ("7", "6 7 8", "many-answers"),
        ("250", "between 100 and 300, such as 250", "hedged"),
        ("salt and pepper", "pepper", "list-incomplete"),
    ],
)
def test_what_is_almost_the_reference(reference: str, response: str, reason: str) -> None:
    """Another part of a name, number, unit, order or list is another answer."""
    seen = assess("What is it?", (reference,), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (False, (reason,), True)


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Steven Spielberg", "Stephen Spielberg made it"),
        ("Wellington defeated Napoleon", "Napoleon was defeated by Wellington"),
        ("Germany invaded Poland in 1939", "In 1939 Germany invaded Poland"),
        ("a red and blue flag", "a blue and red flag"),
        ("black and white", "white as well as black"),
        ("10 October 2007", "2007 October 10"),
        ("7", "7 years"),
        ("5 km", "5"),
    ],
)
def test_what_may_be_the_reference(reference: str, response: str) -> None:
    """Initials, spellings, another order of a list or a date, and a unit on one side only are left to the model."""
    assert not assess("What is it?", (reference,), response).ruled


@given(st.lists(st.sampled_from(CLAIMS), max_size=14))
def test_only_a_named_answer_is_right(pieces: list[str]) -> None:
    """Whatever is said around other names, no text without the reference is right."""
    text = " ".join(piece for piece in pieces if piece != "Paris")
    assert not assess("Which city is it?", ("Paris",), text).is_right


@given(st.text("aehpvckyz", max_size=9), st.text("aehpvckyz", max_size=9))
def test_spelling_is_mutual(one: str, other: str) -> None:
    """A word is a spelling of itself, and of any word that is a spelling of it."""
    assert is_spelling(one, one)
    assert is_spelling(one, other) == is_spelling(other, one)


def test_rules_are_linear() -> None:
    """A response that is full of denials costs no more than its length."""
    assert_linear(lambda size: lambda: assess("Which city?", ("Paris",), "not Paris, but or " * size), 200)
