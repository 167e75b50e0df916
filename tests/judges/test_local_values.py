"""Answers in which every character counts, and values in another writing: what is the same, and what is another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._denials.opposites import are_opposite
from adjudge.judges.local._model import load_fusion
from adjudge.judges.local._quantities.values import is_same_value, read_value
from adjudge.judges.local._reading.words import stem, words
from adjudge.judges.local._tier0 import assess, earned
from adjudge.judges.local._tier1 import assess_many


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("3/4", "0.75"),
        ("3/4", "three quarters"),
        ("3/4", "75 %"),
        ("2/3", "two thirds"),
        ("2/3", "0.67"),
        ("1 1/2", "one and a half"),
        ("¼", "a quarter"),
        ("20%", "0.2"),
        ("2.72", "2.71828"),
        ("6.02e23", "6.02 × 10^23"),
        ("1500", "1.5e3"),
        ("7", "x = 7"),
        ("0", "none"),
        ("0", "There are none."),
        ("9:15 pm", "21:15"),
        ("14:00", "2 pm"),
        ("9.58 m/s", "9.58 metres per second"),
        ("True", "yes"),
        ("False", "It is not true."),
        ("July 20, 1969", "1969-07-20"),
    ],
)
def test_the_same_value(reference: str, response: str) -> None:
    """A fraction, a percentage, a time, a date or a truth value may be written in another way."""
    assert assess("What is it?", (reference,), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("What share is it?", "3/4", "4/3"),
        ("What share is it?", "1/3", "third"),
        ("What share is it?", "3/4", "7.5 %"),
        ("When does it start?", "9:15 pm", "9:15 am"),
        ("When does it start?", "14:00", "4 pm"),
        ("How many are there?", "100", "90"),
        ("How many are there?", "300", "320"),
        ("How many are there?", "10-20", "20-30"),
        ("How many are there?", "10-20", "10 to 30"),
        ("Is it so?", "True", "no"),
        ("Is it so?", "False", "It is true."),
        ("Which version is it?", "2.10", "2.1"),
        ("Which version is it?", "2.1", "2.10"),
        ("What is its formula?", "CO2", "CO"),
        ("What is its formula?", "H2SO4", "H2SO3"),
        ("Which flight is it?", "LH-440", "LH-404"),
        ("What is the address?", "ann@example.org", "anna@example.org"),
        ("What is the address?", "https://example.org/a", "https://example.org/b"),
        ("どこですか", "大阪", "大津"),
        ("Which gas is it?", "carbon monoxide", "carbon dioxide"),
        ("Which key is it in?", "G minor", "G major"),
        ("Which key is it in?", "F# minor", "F minor"),
        ("What is too high?", "hypertension", "hypotension"),
        ("Which side is it on?", "the left bank", "the right bank"),
    ],
)
def test_another_value(question: str, reference: str, response: str) -> None:
    """A near value, another character of a code, the opposite of a word: wrong."""
    assert not assess(question, (reference,), response).is_right


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("H2O", "H₂O"),
        ("H2O", "It is H2O."),
        ("LH-440", "LH440"),
        ("ann@example.org", "You can write to ann@example.org."),
        ("2.10", "2.10"),
        ("大阪", "大阪です"),
        ("F# minor", "F sharp minor"),
    ],
)
def test_the_same_code(reference: str, response: str) -> None:
    """A code that is there, character for character, is the same, in other type and with other dashes too."""
    assert assess("Which version is it?", (reference,), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Who discovered it?", "Alexander Fleming", "It was discovered by Fleming."),
        ("Who painted it?", "Claude Monet", "Painted by Monet."),
        ("Who wrote Hamlet?", "William Shakespeare", "It was written by Shakespeare."),
    ],
)
def test_a_last_name_in_a_clause(question: str, reference: str, response: str) -> None:
    """What stands before a last name in a clause is no other first name."""
    assert assess(question, (reference,), response).is_right


def test_opposites() -> None:
    """Opposites are told by a table, or by their beginnings; words that only look alike are none."""
    assert are_opposite("north", "south")
    assert are_opposite("intracellular", "intercellular")
    assert not are_opposite("north", "west")
    assert not are_opposite("triangl", "diangl"[:3])
    assert not are_opposite("information", "outing")


@pytest.mark.parametrize("pair", ["lower upper", "lower higher", "even odd", "evening morning", "liquid gas"])
def test_opposites_of_several_words(pair: str) -> None:
    """A word that is the opposite of several others is so of each, from either side."""
    one, other = map(stem, pair.split())
    assert are_opposite(one, other)
    assert are_opposite(other, one)


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=1000))
def test_fractions(amount: object) -> None:
    """A fraction is its own value however it is written."""
    text = str(amount)
    found = read_value(text)
    assert found is not None
    assert found.amount == amount
    assert is_same_value([text], f"the answer is {text}.")


@given(st.text(max_size=60))
def test_any_text_has_a_value_or_none(text: str) -> None:
    """No text is too odd to be read."""
    assert read_value(text) is None or isinstance(read_value(text), tuple)


def test_signs_that_are_words() -> None:
    """Sharps, pluses and units with a slash are words of their own."""
    assert words("C# and C++") == ["c", "sharp", "and", "c", "plus", "plus"]
    assert words("9 m/s") == ["9", "m", "per", "s"]


def test_scripts_that_the_encoders_cannot_read() -> None:
    """Where references are in another script, tier 1 says what tier 0 says, and WRONG no more surely than is earned."""
    row = ("ما عاصمة مصر؟", ("القاهرة",), "دمشق")
    assert assess_many([row]) == [earned(assess(*row), load_fusion().earned)]
