"""How tier 0 reads what a longer response mentions: as its answer, or as something else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._mentions import MENTIONED, NOTHING, Cues, cues_of, mentioned, places, read_response
from adjudge.judges.local._pair import Candidate, prepare, read_question
from adjudge.judges.local._quantities import stated
from adjudge.judges.local._tier0 import assess, assess_many, earned
from support import assert_linear

ASKED = frozenset(("won", "final"))
CUES = Cues({"cl>lost": -2000, "l1=but": 1000, "n0=actual": -500}, frozenset(("lost", "but", "actual")))
PIECES = ("Sol ", "but ", "lost. ", "So ", "14 ", "| ", "\n", "(", "the final ", "İ", "'")


def said(text: str, name: str, reference: tuple[str, ...] = ("sol",)) -> float:
    """Return one of the values of a mention."""
    return mentioned(ASKED, [reference], text, CUES)[MENTIONED.index(name)]


def test_cues_are_told_by_their_place() -> None:
    """A word says something else before a mention than after it, and in another clause."""
    assert said("In the end Sol lost the final to Karlo.", "cue") == -2.0
    assert said("In the end lost Sol the final to Karlo.", "cue") == 0.0
    assert said("Karlo lost, but Sol did well.", "cue") == 1.0
    assert said("It was Sol who won. Actually, it was not.", "cue") == -0.5


def test_the_best_mention_counts() -> None:
    """Of several mentions the one with the best cues stands for the response; all are counted."""
    text = "Sol lost the first one, but Sol won the final."
    assert (said(text, "cue"), said(text, "mentions")) == (1.0, 2.0)


def test_where_a_mention_stands() -> None:
    """Clauses and words around it, others of its kind, and words of the question are counted."""
    text = "Karlo won in 2019; in 2020, the final went to Sol from Ulm."
    assert said(text, "mention_before") == 2.0
    assert said(text, "mention_after") == 0.0
    assert said(text, "alike_before") == 1.0
    assert said(text, "alike_after") == 1.0
    assert said(text, "asked_beside") == 1.0
    assert said(text, "asked_elsewhere") == 1.0


def test_what_is_not_there_is_not_read() -> None:
    """Without a mention all values are nought."""
    assert mentioned(ASKED, [("sol",)], "Karlo won it.", CUES) == NOTHING


def test_forms_are_about_form() -> None:
    """Words of the question, numbers, names and rare words are cues by what they are."""
    read = read_response("They say Karlo won 14 golden medals but Sol did not", ASKED, CUES.known)
    (place,) = places(read, ("sol",))
    found = cues_of(read, place)
    assert {"s<CAP", "s<QQ", "s<NUM", "pc=NUM", "open=but"} <= found
    assert not any("karlo" in cue or "14" in cue or "medal" in cue for cue in found)


@pytest.mark.parametrize(
    ("question", "reference", "response", "is_right"),
    [
        ("Who won the prize?", "Ana Sol", "Everybody expected Ana Sol to get it. In the end it went to Karlo.", False),
        ("Who won the prize?", "Ana Sol", "Everybody expected Karlo to get it. In the end it went to Ana Sol.", True),
        ("Which gate is it?", "B14", "It was B14 this morning; now you leave from B22 instead.", False),
        ("Which gate is it?", "B14", "It was B22 this morning; now you leave from B14 instead.", True),
    ],
)
def test_roles_are_told_apart(question: str, reference: str, response: str, is_right: bool) -> None:
    """The same words in another role are another answer."""
    seen = assess(question, (reference,), response)
    assert seen.is_right is is_right
    assert is_right or seen.reasons[0] == "only-mentioned"


@pytest.mark.parametrize(
    ("question", "reference", "response", "words"),
    [
        ("How much rice do I need?", "450 g", "You need half as much again, so 0.45 kg will do.", "0.45 kg"),
        ("When does it close?", "9 pm", "Thursday is late: the doors shut at 21:00, an hour later.", "21:00"),
        ("How many people is it for?", "6 people", "The booking now stands at half a dozen guests.", "half a dozen"),
        ("When does it close?", "9 pm", "Thursday is late: the doors shut at 22:00, an hour later.", None),
        ("Who won the prize?", "Ana Sol", "It was one of the 14 others, as far as I can see.", None),
        ("How much rice do I need?", "450 g", "You need 450 g of rice for that many guests.", None),
    ],
)
def test_numbers_in_other_words(question: str, reference: str, response: str, words: str | None) -> None:
    """A longer response may state the number of a reference in another unit or in words; word for word it is found."""
    candidate = Candidate(response)
    found = stated(read_question(question), prepare((reference,)), candidate)
    shown = [candidate.text[slice(*place)] for place in found]
    assert [words in one for one in shown] == [True] if words else not shown


def test_a_number_in_other_words_is_no_other_number() -> None:
    """What is stated in another unit is not wrong because of a number beside it."""
    seen = assess("How much rice do I need for 6?", ("450 g",), "For 4 it is 300 g, so for 6 you need 0.45 kg of rice.")
    assert (seen.is_right, seen.reasons[0]) == (True, "number")


def test_wrong_is_worth_what_it_is_elsewhere() -> None:
    """WRONG gets the probability that such verdicts earned; CORRECT and what a response does stay as they are."""
    row = ("Who won the prize?", ("Ana Sol",), "It was not Ana Sol.")
    raw, said_ = assess(*row), assess_many([row])[0]
    assert raw.probability < said_.probability < 0.5
    assert earned(raw, 1.0).probability == pytest.approx(raw.probability)
    for text in ("Ana Sol", "Result: CORRECT", "."):
        assert assess_many([(*row[:2], text)]) == [assess(*row[:2], text)]


@given(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_has_values(question: str, text: str) -> None:
    """Whatever a text is, there is a value for each name, and none is out of bounds."""
    values: Any = mentioned(read_question(question).content, [("sol",)], text, CUES)
    assert len(values) == len(MENTIONED)
    assert all(0 <= value <= 12 for value in values[2:])


@pytest.mark.parametrize("piece", PIECES)
def test_it_is_linear(piece: str) -> None:
    """Reading takes time in proportion to the length, up to a bound."""
    assert_linear(lambda size: lambda: mentioned(ASKED, [("sol",)], piece * size, CUES), 300)
