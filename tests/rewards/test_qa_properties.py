"""What holds of the QA rewards for any text."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.errors import DataError
from adjudge.rewards import contains_reward, get_reward, qa_em_reward, qa_f1_reward, qa_f1_reward_tool
from adjudge.text import extract_answer, normalise_answer, strip_thinking, tokens
from support import assert_linear

# Every code point, lone surrogates included, and words that collide often.
anything = st.text(st.characters(), max_size=40)
words = st.lists(st.sampled_from(["a", "the", "Yes", "no", "noanswer", "b", "B.", "c-d", "’", "é", "e\u0301", "\x00"]))
texts = st.one_of(anything, words.map(" ".join))
NUMBERS = ("reward", "f1", "em", "precision", "recall")


@given(texts, texts)
def test_scores_lie_between_0_and_1_and_em_implies_f1(response: str, answer: str) -> None:
    """Every number lies in 0..1, an exact match is a full match, and f1 lies between precision and recall."""
    result = qa_f1_reward(response, answer)
    assert all(0.0 <= result[name] <= 1.0 for name in NUMBERS)
    assert result["reward"] == result["f1"]
    if result["em"] == 1.0:
        assert result["f1"] == result["precision"] == result["recall"] == 1.0
    low, high = sorted((result["precision"], result["recall"]))
    assert low <= result["f1"] <= high or result["f1"] == pytest.approx(low)


@given(texts, texts)
def test_precision_and_recall_swap_with_the_sides(response: str, answer: str) -> None:
    """Swapping response and answer swaps precision and recall and changes nothing else."""
    one, other = qa_f1_reward(response, answer), qa_f1_reward(answer, response)
    assert (one["precision"], one["recall"]) == (other["recall"], other["precision"])
    assert (one["f1"], one["em"]) == (other["f1"], other["em"])


@given(texts)
@example("a\u0301 THE \u0301a")
@example("ΑΣ. Σ")
@example("İ")
def test_normalising_is_idempotent(text: str) -> None:
    """What is normalised stays as it is, and is its tokens."""
    once = normalise_answer(text)
    assert normalise_answer(once) == once
    assert once.split() == tokens(text)


@given(texts)
def test_a_response_equals_itself(text: str) -> None:
    """Any text is an exact match of itself."""
    assert qa_f1_reward(text, text)["em"] == 1.0


@given(texts, st.lists(st.one_of(texts, st.integers(-9, 9), st.just(3.0)), min_size=1, max_size=20))
@example("b b yes", ["b", "b b b", "yes", "", *["c b yes b"] * 8])
def test_more_references_never_hurt(response: str, answers: list[Any]) -> None:
    """The best of several references counts: it is one of them, and no other is better."""
    best = qa_f1_reward(response, answers)
    each = [qa_f1_reward(response, answer) for answer in answers]
    assert best in each
    assert (best["f1"], best["em"]) == max((one["f1"], one["em"]) for one in each)


@given(texts, texts, st.booleans())
def test_the_tool_ladder(response: str, answer: str, used: bool) -> None:
    """0 without a tool, 0.1 with one and a wrong answer, 1 with one and a correct answer; the rest is honest."""
    trajectory = [{"role": "tool", "content": ""}] if used else []
    result = qa_f1_reward_tool(response, answer, trajectory)
    plain = qa_f1_reward(response, answer)
    assert {name: result[name] for name in NUMBERS[1:]} == {name: plain[name] for name in NUMBERS[1:]}
    assert result["reward"] == (0.0 if not used else 1.0 if plain["em"] == 1.0 else 0.1)


@given(
    st.one_of(st.none(), texts, st.integers(), st.floats()),
    st.one_of(texts, st.integers(), st.lists(texts, min_size=1)),
)
def test_called_or_asked_the_numbers_are_the_same(response: Any, answer: Any) -> None:
    """The function, one Score and a batch of Scores agree, and none raises."""
    row = {"final_response": response, "answer": answer, "trajectory": []}
    for function in (qa_f1_reward, qa_em_reward, qa_f1_reward_tool):
        direct = function(**row)
        scorer = get_reward(function)
        score = scorer.score(row)
        assert {"reward": score.value, **score.parts} == direct
        assert scorer.score_many([row, row]) == [score, score]


@pytest.mark.parametrize("answer", [None, [], [None], {"text": "x"}, True, ["x", 3j]])
def test_a_gold_that_is_none_is_no_score(answer: Any) -> None:
    """A row without a usable answer is an error, and raised where the function is called."""
    for name, function in (("qa_f1_reward", qa_f1_reward), ("contains_reward", contains_reward)):
        assert get_reward(name).score({"final_response": "x", "answer": answer}).status == "error"
        with pytest.raises(DataError):
            function("x", answer)


@pytest.mark.parametrize("response", [b"bytes", ["list"], {"a": 1}, True])
def test_a_response_that_is_no_text_is_an_error(response: Any) -> None:
    """What is no response is nobody's wrong answer."""
    assert get_reward("qa_f1_reward").score({"final_response": response, "answer": "x"}).status == "error"


@pytest.mark.parametrize(
    "option",
    [{"min_tool_calls": 0}, {"min_tool_calls": True}, {"ignore_tools": 3}, {"f1_threshold": 0}, {"f1_threshold": "x"}],
)
def test_bad_options_are_errors(option: dict[str, Any]) -> None:
    """An option that makes no sense gives no number."""
    row = {"final_response": "x", "answer": "x", "trajectory": []}
    score = get_reward("qa_f1_reward_tool", **option).score(row)
    assert str(score.reason).startswith("bad-option")


SHAPES = {
    "words": "word ",
    "one word": "w",
    "articles": "the a an ",
    "punctuation": "!?.,",
    "unicode": "naïve “quote” – ",
    "marks": "a\u0301",
    "NUL": "a\x00",
    "surrogates": "\ud800 ",
    "white space": "\u3000\t",
    "think tags": "<think>",
    "closing tags": "</think>",
    "boxes": "\\boxed{",
    "braces": "{}",
    "box ends": "\\boxed{}}",
    "backslashes": "\\",
    "answers": "the answer is ",
    "hashes": "####",
    "answer tags": "<answer>",
    "spaces in tags": "<think   ",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_linear_time_on_a_megabyte(shape: str) -> None:
    """Twice the text costs about twice the time, up to a megabyte, in every function that reads a response."""
    piece = SHAPES[shape]

    def text(size: int) -> str:
        return piece * (size // len(piece))

    size = 500_000
    assert_linear(lambda n: lambda: qa_f1_reward(text(n), text(n)), size, apart=16)
    assert_linear(lambda n: lambda: contains_reward(text(n), text(n // 2) + "x"), size, apart=16)
    assert_linear(lambda n: lambda: extract_answer(text(n)), size, apart=16)
    assert_linear(lambda n: lambda: strip_thinking(text(n)), size, apart=16)


# What one reference is, and how it is said in a response.
REFERENCES: dict[str, list[Any]] = {
    "texts": ["q w e r t y u i"],
    "numbers": [-12345.5],
    "texts and numbers": ["q", 1],
    "whole numbers": [3.0],
}


@pytest.mark.parametrize("shape", REFERENCES)
def test_linear_time_in_references(shape: str) -> None:
    """A long response beside many references is read once, and not once for each of them."""
    given = REFERENCES[shape]
    assert_linear(lambda n: lambda: qa_f1_reward("b c -1.5 " * (n // 8), given * (n // 16)), 10_000)
