"""The reader of tier 1: which words of a response are given as its answer, in whatever text, alone and in any batch."""

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.judges.local._encoder import ends
from adjudge.judges.local._reader import (
    LONGEST_SAID,
    LONGEST_SPAN,
    RESPONSE,
    Encoded,
    asserted_by,
    encode,
    places_of,
    read_many,
)
from adjudge.judges.local._sequence import CLS, LONGEST_QUESTION, SEP, plain

FEW = 3  # words around the answer that do no harm
WHOLE, TOUCHED = 27, 33  # of the 40 validation rows: with harmless boundaries, with any that have or touch the answer
REFUSALS = (
    ("Who won the cup in 1987?", "I could not find that."),
    ("What is the rent?", "I'm sorry, but the contract doesn't say."),
    ("When does the train leave?", "I don't have access to the timetable."),
    ("Which file has the bug?", "There is not enough information to answer this."),
)


def has_all(said: str | None, gold: str | None) -> bool:
    """Whether a span has the right one with a few words more at most."""
    if said is None or gold is None:
        return said is gold
    return gold in said and len(said.split()) <= len(gold.split()) + FEW


def touches(said: str | None, gold: str | None) -> bool:
    """Whether one of two spans is a part of the other."""
    if said is None or gold is None:
        return said is gold
    return gold in said or said in gold


def test_it_finds_what_is_asserted(training: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 40 responses by another hand it finds the whole span in 27, or that there is none, and in 6 more a part."""
    rows, _ = training
    given_ = rows.read("asserted-val")
    found = [one.text for one in read_many([(row["question"], row["response"]) for row in given_])]
    whole, touched = (
        sum(is_right(text, row["asserted"]) for row, text in zip(given_, found, strict=True))
        for is_right in (has_all, touches)
    )
    with capsys.disabled():
        sys.stdout.write(f"\nspans that the reader finds: {whole} whole and {touched} touching of {len(given_)}\n")
    assert len(given_) == 40
    assert whole >= WHOLE
    assert touched >= TOUCHED


@pytest.mark.parametrize(("question", "response"), REFUSALS)
def test_who_refuses_asserts_nothing(question: str, response: str) -> None:
    """A refusal gives no answer, and the reader is sure of it."""
    (found,) = read_many([(question, response)])
    assert found.text is None
    assert found.sure < 0


def test_batches_change_nothing(training: Any) -> None:
    """What the reader says of a token is the same to the last bit alone, in any batch and in any order."""
    rows, _ = training
    given_ = [encode(row["question"], row["response"]) for row in rows.read("asserted-val")]
    read = [(one.tokens, one.segments) for one in given_]
    together = ends(read)
    backwards = ends(read[::-1])[::-1]
    for row, here, there in zip(read, together, backwards, strict=True):
        (alone,) = ends([row])
        assert here.shape == (len(row[0]), 2)
        assert np.array_equal(alone, here)
        assert np.array_equal(alone, there)


def test_a_row_is_question_and_response() -> None:
    """Question and response follow each other, and every token of the response knows its place."""
    read = encode("Who won?", "Ana Sol.")
    assert (read.tokens[0], read.tokens[4], read.tokens[-1]) == (CLS, SEP, SEP)
    assert read.segments == [0] * 5 + [RESPONSE] * 4
    assert read.places == [None] * 5 + [(0, 3), (4, 7), (7, 8)] + [None]


def test_a_long_response_is_read_at_both_ends() -> None:
    """Of a long response the first two thirds and the last third of the limit are read, of a long question its ends."""
    text = " ".join(f"w{number}" for number in range(2000))
    read = encode("why " * 500, text)
    places = [place for place in read.places if place is not None]
    assert len(places) == LONGEST_SAID
    assert len(read.tokens) == LONGEST_SAID + LONGEST_QUESTION + 3
    assert (places[0], places[-1][1]) == ((0, 1), len(text))
    assert places == sorted(places)


def by_hand(said: list[str], first: list[float], last: list[float], none: float) -> tuple[str, Encoded, Any]:
    """Return a text of words, encoded behind a question without tokens, with logits for each word."""
    text, at, places = " ".join(said), 0, []
    for word in said:
        places.append((at, at + len(word)))
        at += len(word) + 1
    read = Encoded(
        [CLS, SEP, *range(5, 5 + len(said)), SEP], [0, 0] + [RESPONSE] * (len(said) + 1), [None, None, *places, None]
    )
    logits = np.array([[none / 2, none / 2], [99, 99], *zip(first, last, strict=True), [99, 99]], np.float32)
    return text, read, logits


def test_the_likeliest_span() -> None:
    """It lies in the response, ends where it begins or later, and beats none; what it beats it by is its sureness."""
    found = asserted_by(*by_hand(["in", "New", "York", "now"], [0, 5, 1, 0], [6, 0, 4, 0], none=2))
    assert (found.text, found.sure) == ("New York", 7.0)
    found = asserted_by(*by_hand(["in", "New", "York"], [0, 5, 1], [0, 0, 4], none=9))
    assert (found.text, found.sure) == (None, 0.0)
    assert asserted_by(*by_hand([], [], [], none=1)).text is None


def test_a_span_has_a_bound() -> None:
    """No span has more than thirty tokens."""
    words = [f"w{number}" for number in range(LONGEST_SPAN + 1)]
    first, last = [5.0] + [0.0] * LONGEST_SPAN, [0.0] * LONGEST_SPAN + [5.0]
    found = asserted_by(*by_hand(words, first, last, none=0))
    assert found.text is not None
    assert len(found.text.split()) <= LONGEST_SPAN
    assert found.sure == 5.0


def test_belief() -> None:
    """Belief in places is by how much the best span that touches one beats all others, and none."""
    text, read, logits = by_hand(["Rome", "or", "Paris"], [4, 0, 3], [4, 0, 3], none=1)
    found = asserted_by(text, read, logits)
    assert found.text == "Rome"
    assert found.belief([(0, 4)]) == 8.0 - 6.0
    assert found.belief([(8, 13)]) == 7.0 - 8.0  # from Rome to Paris, against Rome alone
    assert asserted_by(*by_hand(["Rome"], [4], [4], none=1)).belief([(0, 4)]) == 8.0 - 1.0


@pytest.mark.parametrize(
    ("references", "response", "places"),
    [
        (["Paris"], "Paris, not comparison. PARIS!", [(0, 5), (23, 28)]),
        (["Jean-Luc Picard"], "It is Jean Luc  Picard.", [(6, 22)]),
        (["3.5 km"], "3.5 km or 13.5 km", [(0, 6)]),
        (["a+b"], "a b", [(0, 3)]),
        (["..."], "...", []),
        ([""], "anything", []),
        ([], "anything", []),
        (["x"], "x " * 100, [(2 * at, 2 * at + 1) for at in range(8)]),
        (["東京"], "東京です。 東京", [(6, 8)]),
        ([*map(str, range(9))], "8", []),
    ],
)
def test_where_references_stand(references: list[str], response: str, places: list[tuple[int, int]]) -> None:
    """References are found as words, in any case, whatever is between them; eight places of each of eight."""
    assert places_of(references, response) == places


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text(st.characters()), st.text(st.characters())), max_size=4))
def test_any_text_can_be_read(rows: list[tuple[str, str]]) -> None:
    """Whatever the texts are, what is asserted is a part of the response as it is read, or nothing."""
    for (_, response), found in zip(rows, read_many(rows), strict=True):
        assert found.text is None or found.text in plain(response)
        assert np.isfinite(found.sure)
        assert np.isfinite(found.belief([(0, 1)]))


@pytest.mark.parametrize("response", ["", " ", "\ud800", "東京です", "word " * 200_000, "x" * 1_000_000, "\0"])
def test_odd_responses(response: str) -> None:
    """Empty texts, a lone surrogate, other scripts and a million characters are read like any other."""
    (found,) = read_many([("What is it?", response)])
    assert found.text is None or found.text in plain(response)
