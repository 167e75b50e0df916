"""Small kinds of words: another member in the same place is another answer."""

import pytest

from adjudge.judges.local._tier0 import assess


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Why was the match cancelled?", "because of rain", "because of snow"),
        ("What did he buy?", "a red car", "It was a green car."),
        ("Is the car red or blue?", "red", "The car is blue."),
        ("When is the meeting?", "on Monday", "The meeting is on Friday."),
        ("Who raised him?", "his grandmother", "His mother raised him."),
        ("Where does the sun rise?", "in the east", "It rises in the north."),
        ("What does she keep?", "two dogs", "She keeps two horses."),
        ("When did she visit?", "in early autumn", "in early summer"),
        ("Which planet did it visit?", "the planet Mars", "the planet Venus"),
    ],
)
def test_another_member(question: str, reference: str, response: str) -> None:
    """One word of a reference cannot be another of its kind."""
    assert assess(question, (reference,), response).reasons == ("other-member",)


@pytest.mark.parametrize(
    ("references", "response"),
    [
        (["a red car"], "a fast car"),  # of no kind
        (["a red car", "a blue car"], "a blue car"),
        (["a red car"], "a red car with a blue roof"),
        (["a red car"], "not a blue car"),
        (["her husband"], "his father"),  # one person may be both
        (["2016", "April 2016"], "March 2016"),
        (["North Carolina"], "South Carolina"),
    ],
)
def test_what_is_not_another_member(references: list[str], response: str) -> None:
    """Other words, several references, other owners, dates and names are left to other rules."""
    assert "other-member" not in assess("What is it?", tuple(references), response).reasons


@pytest.mark.parametrize(
    ("reference", "response"), [("in early autumn", "in early fall"), ("with his dad", "with his father")]
)
def test_another_name_of_a_member(reference: str, response: str) -> None:
    """A member may have two names."""
    found = assess("What is it?", (reference,), response)
    assert (found.is_right, found.reasons) == (True, ("same-sense",))
