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
def test_rows_that_are_spliced_have_an_outcome(
    one: dict[str, object], other: dict[str, object], at: int, new: str
) -> None:
    """Rows that are cut and put together in the middle are judged."""
    text, response = str(one["response"]), str(other["response"])
    references = other["reference"]
    assert isinstance(references, list)
    spliced = text[:at] + new + response[at:]
    for row in ((str(one["question"]), tuple(references), spliced), (str(other["question"]), (spliced,), response)):
        assert 0 <= assess(*row).probability <= 1


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
