"""What nobody expects to judge: the local judge says something of it, in a time that its length bounds."""

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._tier0 import assess
from adjudge.judges.local._tier1 import assess_many
from support import assert_linear, golden

PIECES = (
    "1e999999", "10^999999", "x10^-9999", " × 10^99", "31/02/2020", "0000-00-00", "99:99", "24:60", "1/0", "0/0", "½",
    "²³", "⁻⁹", "٣٤", "१२", "百万", "①", "Ⅻ", "MMMM", "XIV", "\ud800", "\udfff", "\\u", "(", "[", "{", "}", "|", ")",
    "\\frac{1}{0}", "\\frac", "\\boxed{", "\\sqrt{-1}", "$", "$5m", "€ 9,99", "1,,,2", ",,,,", "1.000.000", "...", "-",
    "−", "±", "%", "°", "°C", "m/s", "km", "per week", "5'11\"", "^", "=", "<=", "\n", "\0", "\u200b", "\u0301",
    "İ", "ſ", "(A) ", "(B) ", "1. ", "2. ", '{"answer": ', '"', "[1, 2", "null", "yes", "no", "NaN", "-inf", "0x",
    "H2O", "Fe2(SO4)3", "CO₂", "x^2+1", "sin(", "π", "5!", "9**9", "0.(3)", "192.168.0.1", "+1 (555) 123-4567", "a@b.c",
    "http://", "#FFF", "v1.2.3", "3rd", "0th", "minus", "a dozen", "half past", "the nineties", "'90s", "0th century",
    "13 pm", "Feb 30", "1776", "40.71° N, 74.01° W", "and", "or", ", ", "U.S.", "Georgia", "Paris, Texas", "Bill",
    "colour", "III", "left", "C++", "O-", " ", "", "`", "```", "<think>", "</answer>", "git ", "a -> b", "字", "🙂",
    "9" * 400, "x" * 300,
)  # fmt: skip
_TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=6).map("".join)


@given(_TEXTS, st.lists(_TEXTS, max_size=3), _TEXTS)
def test_pieces_of_any_kind_have_an_outcome(question: str, references: list[str], text: str) -> None:
    """Whatever the rules look for, put together in any way, is judged."""
    assert 0 <= assess(question, tuple(references), text).probability <= 1


@given(st.sampled_from(golden("local_quantities")), st.sampled_from(golden("local_forms")), st.integers(0, 60), _TEXTS)
def test_spliced_rows_have_an_outcome(one: dict[str, Any], other: dict[str, Any], at: int, new: str) -> None:
    """Rows that are cut and put together in the middle are judged."""
    spliced = one["response"][:at] + new + other["response"][at:]
    assert 0 <= assess(one["question"], tuple(other["reference"]), spliced).probability <= 1
    assert 0 <= assess(other["question"], (spliced,), other["response"]).probability <= 1


def test_figures_without_end_are_no_fraction() -> None:
    """A number of more figures than Python reads is none, wherever it stands."""
    for text in (f"1 {'1' * 5000}/2 km", f"{'1' * 5000}/2 km", f"1/{'2' * 5000} km", f"{'1' * 5000} km"):
        assert not assess("How far is it?", ("5 km",), text).is_right
        assert not assess("How far is it?", (text,), "5 km").is_right


_BLANKS = " \t\n\u00a0\u202f"


@pytest.mark.parametrize("run", ["A", "A.", "Aa", f" {_BLANKS}", f",{_BLANKS}", "1,", "'", "1.234"])
@pytest.mark.parametrize("end", [" 5", " or c", "("])
def test_long_references_are_linear(run: str, end: str) -> None:
    """A run of one thing in a reference costs no more than its length; short of what is kept, it would cost nothing."""
    assert_linear(lambda size: lambda: assess("What is it?", (f"a{run * (size // len(run))}{end}",), "Rome"), 6000)


@pytest.mark.parametrize("run", [_BLANKS, ".234", "1", ",234", " 234", "A", "|", "{", "a-"])
@pytest.mark.parametrize("end", ["(", "5", " km"])
def test_long_responses_are_linear(run: str, end: str) -> None:
    """A run of one thing in a response costs no more than its length."""
    references = ("Paul Smith", "5 km", "1,234,567")
    assert_linear(lambda size: lambda: assess("What is it?", references, f"1{run * (size // len(run))}{end}"), 9000)


def test_many_references_beside_options_are_not_all_read() -> None:
    """Where a question lists options, the first references are looked at, and the others kept."""
    question, many = "Which is it? (A) Rome (B) Paris", tuple(f"Name{n} Other{n}" for n in range(100_000))
    assert assess(question, ("B", *many), "It is Paris.").is_right
    [seen] = assess_many([(question, ("B", *many), "Lutetia")])
    assert 0 <= seen.probability <= 1


_SEEDED = """
from adjudge.judges.local._tier0 import assess
from support import golden
for row in [*golden("local_forms"), *golden("local_quantities"), *golden("local_names")]:
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    print(row["id"], seen.probability, seen.reasons, seen.ruled, list(seen.values))
"""


def test_what_is_said_does_not_depend_on_hashes() -> None:
    """Two processes whose sets have another order say the same of every row."""
    said = {
        subprocess.run(
            [sys.executable, "-c", _SEEDED],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert all(said)


@pytest.mark.parametrize(
    ("reference", "response", "reason"),
    [
        ("10", "10⁶", "other-number"),
        ("10⁶", "10", "other-number"),
        ("2", "2³.", "other-number"),
        ("5", "√5", "other-number"),
        ("1e3", "1e-3", "other-number"),
        ("5", "±5", "other-number"),
        (">5", "5", "other-number"),
        ("x_2", "x^2", "other-number"),
        ("Article 5", "Article 5(a)", "other-number"),
        ("Room 5", "Room 5a", "other-number"),
        ("[0, 1)", "(0, 1]", "other-formula"),
    ],
)
def test_signs_beside_figures_count(reference: str, response: str, reason: str) -> None:
    """What has the words of a reference and another sign beside its figures is another thing."""
    seen = assess("What is it?", (reference,), response)
    assert (seen.is_right, seen.reasons) == (False, (reason,))
    assert assess("What is it?", (reference,), reference).is_right


@pytest.mark.parametrize("response", ["1994⁶", "in 1994.⁶", "1994 a year later"])
def test_notes_beside_figures_do_not_count(response: str) -> None:
    """The mark of a footnote after a year is no power, an article no letter of it."""
    assert assess("When was it?", ("1994",), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Which university is it?", "Indiana University", "Indiana State University"),
        ("Which league is it?", "American League", "American Football League"),
        ("Which church is it?", "Church of England", "Church of New England"),
        ("What did he do?", "He moved to Paris", "He moved from Paris"),
        ("What did he do?", "He walked into the house", "He walked out of the house"),
        ("What is it?", "discrete", "discreet"),
        ("Who wrote it?", "J. K. Rowling", "J. R. Rowling"),
        ("Which book is it?", "War and Peace", "Peace and War"),
        ("Who were they?", "Ann and Bob", "Neither Ann nor Bob"),
        ("Which language is it?", "Finnish", "Finish"),
    ],
)
def test_other_things_are_not_ruled_in(question: str, reference: str, response: str) -> None:
    """No rule takes a body for the one of a shorter name, a way for its opposite, a word for its twin."""
    seen = assess(question, (reference,), response)
    assert not (seen.ruled and seen.is_right)


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("What are the next three numbers?", "2, 4, 8", "8, 4, 2"),
        ("What is the combination of the safe?", "12, 5, 33", "33, 5, 12"),
        ("What is the sequence?", "A, B, C", "C, B, A"),
        ("What are the coordinates?", "3, 4, 5", "5, 4, 3"),
        ("Who beat whom?", "Rome and Carthage", "Carthage and Rome"),
        ("Who finished first and who second?", "Ann and Bob", "Bob and Ann"),
        ("Who are the winner and the loser?", "Ann and Bob", "Bob and Ann"),
    ],
)
def test_other_orders_are_not_ruled_in(question: str, reference: str, response: str) -> None:
    """Where the order says who is who, or numbers come in a row, no rule takes another order for the same."""
    seen = assess(question, (reference,), response)
    assert not (seen.ruled and seen.is_right)


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Which primes are below 8?", "2, 3, 5, 7", "7, 5, 3, 2"),
        ("Which combination of colours makes green?", "yellow and blue", "blue and yellow"),
        ("Who was president?", "Bill Clinton", "William Jefferson Clinton"),
        ("Which company is it?", "Microsoft Corporation", "Microsoft Corp."),
        ("Which flag is it?", "-v", "the `-v` flag"),
        ("Who was it?", "J. K. Rowling", "J. Rowling"),
        ("Who was it?", "Xi Jinping", "Jinping Xi"),
    ],
)
def test_the_same_in_another_form_is_still_right(question: str, reference: str, response: str) -> None:
    """What these rules leave alone stays right."""
    assert assess(question, (reference,), response).is_right
