"""Answers that are a letter, perhaps with a sign: options, grades, blood types, languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._options import by_letter, letter_of
from adjudge.judges.local._pair import Candidate, read_question
from adjudge.judges.local._tier0 import assess

ASKED = read_question("Which one is it?")


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("A", "A"),
        ("A", "a"),
        ("A", "(A)"),
        ("A", "**A**"),
        ("A", "A."),
        ("A", "A) Paris"),
        ("A", "Answer: A"),
        ("A", "The answer is A, not B."),
        ("A", "The correct answer is (A) Paris."),
        ("A", "I choose A because B is wrong."),
        ("A", "It must be A"),
        ("A", "<answer>A</answer>"),
        ("A", '{"answer": "A"}'),
        ("(D)", "D"),
        ("b", "B"),
        ("O", "It is type O."),
        ("AB-", "AB negative"),
        ("A-", "an A minus"),
        ("C#", "It was written in C#."),
        ("C#", "C sharp"),
        ("C++", "C++"),
    ],
)
def test_the_letter(reference: str, response: str) -> None:
    """The accepted letter is found by itself, after `answer`, before a bracket, or as the only letter there is."""
    seen = assess("Which one is it?", (reference,), response)
    assert (seen.is_right, seen.reasons) == (True, ("letter",))


@pytest.mark.parametrize(
    ("reference", "response", "reason"),
    [
        ("A", "B", "other-letter"),
        ("A", "The answer is B.", "other-letter"),
        ("A", "Answer: B. A is wrong.", "other-letter"),
        ("A", "I", "other-letter"),
        ("A", "A or B", "hedged"),
        ("A", "A, B, C, D", "many-answers"),
        ("A", "Not A.", "negated"),
        ("A", "The answer is not A.", "negated"),
        ("A+", "A-", "other-letter"),
        ("A+", "A", "other-letter"),
        ("O", "O negative", "other-letter"),
        ("C", "C++", "other-letter"),
        ("C++", "It is written in C.", "other-letter"),
    ],
)
def test_another_letter(reference: str, response: str, reason: str) -> None:
    """Another letter, another sign, several letters, a denial: wrong, with that name."""
    seen = assess("Which one is it?", (reference,), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (False, (reason,), True)


@pytest.mark.parametrize(
    "response",
    [
        "It melts at 9 °C.",
        "It is a bird.",
        "A bird in the hand",
        "The answer is a bird.",
        "Paris",
        "I am",
        "I rule out A",
    ],
)
def test_no_letter(response: str) -> None:
    """An article, the first person and what is doubted are no letters; what gives none is left to the model."""
    assert by_letter(ASKED, frozenset("A"), Candidate(response)) is None
    assert not assess("Which one is it?", ("A",), response).is_right


def test_letters_beside_words() -> None:
    """Where a word is accepted too, nothing is decided by letters, nor by others where several are asked for."""
    assert letter_of(["A", "Paris"]) == frozenset()
    assert assess("Which genes are in it?", ("V",), "The V, D and J genes").reasons != ("hedged",)
    assert assess("Which vitamin is it?", ("vitamin C", "C"), "vitamin C").reasons == ("contained",)


@given(st.text(alphabet="aA Bthe.()answer:isC+#-*' \n", max_size=3000))
def test_any_text(text: str) -> None:
    """Whatever a text is made of, it is judged or left, and soon."""
    found = by_letter(ASKED, frozenset("A"), Candidate(text))
    assert found is None or found[1] in ("letter", "other-letter", "hedged", "many-answers", "negated")
