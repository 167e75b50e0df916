"""What the response contains, how it is structured, how long it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import ArgumentError
from adjudge.rewards import contains_reward, format_reward, get_reward, length_penalty


@pytest.mark.parametrize(
    ("response", "answer", "value"),
    [
        ("It is Paris, of course.", "Paris", 1.0),
        ("It is Paris, of course.", "paris of course", 1.0),
        ("Parisian", "Paris", 0.0),
        ("in the U.S.A. today", "USA", 1.0),
        ("York New", "New York", 0.0),
        ("x", ["y", "x"], 1.0),
        (None, "x", 0.0),
        ("", "", 1.0),
        ("x", "", 0.0),
        ("the", "a", 1.0),
        (1889, 1889, 1.0),
        ("<think>Paris, or Rome?</think>Lyon", "Paris", 0.0),
        ("<think>Rome?</think>Paris", "Paris", 1.0),
        ("1 < 2, so Paris", "Paris", 1.0),
    ],
)
def test_contains(response: Any, answer: Any, value: float) -> None:
    """An accepted answer stands in the response as whole words, in order."""
    assert contains_reward(response, answer) == value
    assert get_reward("contains_reward").score({"final_response": response, "answer": answer}).value == value


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        ("<think>a</think><answer>b</answer>", None),
        ("\n <think>a</think>\n\n<answer>b</answer> ", None),
        ("<think>a < b <i>c</i></think><answer>b</answer>", None),
        ("<answer>b</answer>", "wrong-structure"),
        ("<answer>b</answer><think>a</think>", "wrong-structure"),
        ("<think>a</think><answer>b", "wrong-structure"),
        ("<think>a</think><answer>b</answer><answer>c</answer>", "wrong-structure"),
        ("<think>a<answer>b</answer></think>", "wrong-structure"),
        ("<think>a<think>b</think></think><answer>b</answer>", "wrong-structure"),
        ("Sure! <think>a</think><answer>b</answer>", "text-outside"),
        ("<think>a</think> so <answer>b</answer>", "text-outside"),
        ("<think>a</think><answer>b</answer>.", "text-outside"),
        ("<think> </think><answer>b</answer>", "empty-tag"),
        ("<THINK>a</THINK><answer>b</answer>", "wrong-structure"),
        ("", "wrong-structure"),
        (None, "wrong-structure"),
    ],
)
def test_format(response: str | None, fault: str | None) -> None:
    """The tags stand once each, in order, filled, with nothing around them; the reason says what is wrong."""
    score = get_reward("format_reward").score({"final_response": response})
    assert score.value == format_reward(response) == (0.0 if fault else 1.0)
    assert (score.reason or "").partition(":")[0] == (fault or "")


def test_format_takes_other_tags() -> None:
    """Any list of tag names is a structure."""
    assert format_reward("<plan>a</plan><act>b</act><done>c</done>", structure=["plan", "act", "done"]) == 1.0
    for tags in ([], "think", ["a b"], [3]):
        with pytest.raises(ArgumentError):
            format_reward("x", structure=tags)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "value"), [(0, 0.0), (768, 0.0), (769, -1 / 256), (896, -0.5), (1024, -1.0), (5000, -1.0)]
)
def test_length_penalty(words: int, value: float) -> None:
    """0 up to limit - buffer, then a straight line to -1 at the limit."""
    assert length_penalty("w " * words) == {"reward": value, "length": float(words)}


@given(st.text(st.characters()), st.integers(1, 50), st.integers(1, 50), st.sampled_from(["words", "characters"]))
def test_length_penalty_never_rises_with_length(text: str, limit: int, buffer: int, unit: Any) -> None:
    """A longer response is never penalised less, and the penalty lies in -1..0."""
    limit = max(limit, buffer)
    one = length_penalty(text, max_length=limit, overlong_buffer=buffer, length_unit=unit)["reward"]
    two = length_penalty(f"{text} more", max_length=limit, overlong_buffer=buffer, length_unit=unit)["reward"]
    assert -1.0 <= two <= one <= 0.0


@pytest.mark.parametrize(
    "option",
    [{"max_length": 0}, {"overlong_buffer": 0}, {"max_length": 5}, {"length_unit": "lines"}, {"max_length": "x"}],
)
def test_length_penalty_refuses_nonsense(option: dict[str, Any]) -> None:
    """An option that makes no sense is a wrong call, and no number in a run."""
    with pytest.raises(ArgumentError):
        length_penalty("x", **option)
    assert get_reward("length_penalty", **option).score({"final_response": "x"}).status == "error"
