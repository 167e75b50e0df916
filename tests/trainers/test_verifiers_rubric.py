"""Rubrics of verifiers before version 0.4, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has such a version.
"""

import asyncio
from typing import Any

import pytest

vf = pytest.importorskip("verifiers")
if not hasattr(vf, "Rubric"):
    pytest.skip("has no rubrics: test_verifiers", allow_module_level=True)

from adjudge.errors import UsageError  # noqa: E402
from adjudge.integrations.verifiers import rubric  # noqa: E402
from adjudge.model import Score  # noqa: E402
from trainers import golden  # noqa: E402

ASKED = [{"role": "user", "content": "Capital of France?"}]


def own(final_response: str, answer: str, prompt: str, level: str) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    asked = (answer, prompt, level) == ("Paris", "Capital of France?", "easy")
    return outcomes.get(final_response) or Score.scored(float(asked))


def states(responses: list[Any], **columns: Any) -> list[Any]:
    """Return finished rollouts."""
    return [
        vf.State(
            input={},
            prompt=columns.get("prompt", ASKED),
            completion=[{"role": "assistant", "content": one}] if isinstance(one, str) else one,
            trajectory=[],
            timing={},
            **{"answer": "", "info": {}, **{name: value for name, value in columns.items() if name != "prompt"}},
        )
        for one in responses
    ]


def scored(rubric: Any, given: list[Any]) -> list[float]:
    """Score rollouts one by one."""

    async def every() -> None:
        for state in given:
            await rubric.score_rollout(state)

    asyncio.run(every())
    return [state["reward"] for state in given]


def test_a_row_without_a_number_is_zero_and_a_metric_says_so() -> None:
    """Nothing else can be expressed: the value is 0.0, and metrics of weight 0 say what it is."""
    given = states(["Paris", "dead", "tie"], answer="Paris", info={"level": "easy"})
    assert scored(rubric(own, name="good"), given) == [1.0, 0.0, 0.0]
    assert [state["metrics"] for state in given] == [
        {"good": 1.0, "good/unscored": 0.0, "good/error": 0.0},
        {"good": 0.0, "good/unscored": 0.0, "good/error": 1.0},
        {"good": 0.0, "good/unscored": 1.0, "good/error": 0.0},
    ]
    assert given[1]["good"] == {"status": "error", "reason": "env-died: gone", "parts": {}}


def test_a_group_is_scored_like_its_rollouts() -> None:
    """All rollouts of a prompt at once, each with its own metrics."""
    given = states(["Paris", "dead"], answer="Paris", info={"level": "easy"})
    asyncio.run(rubric(own, name="good", weight=2.0).score_group(given))
    assert [state["reward"] for state in given] == [2.0, 0.0]
    assert [state["metrics"]["good/error"] for state in given] == [0.0, 1.0]


def test_an_empty_answer_is_no_reference() -> None:
    """A data set without answers has "" for one: an empty response does not equal it."""
    given = states([""])
    scored(rubric("qa_em_reward"), given)
    assert given[0]["metrics"]["qa_em_reward/error"] == 1.0


def test_the_answer_is_the_answer() -> None:
    """A worked solution in `info` is not what is compared with, whatever it is called there."""
    info = {"answer": "48 / 2 = 24, and 24 + 48 = 72. #### 72", "reference": "24"}
    for scorer in ("math_equal_reward", "local:0"):
        assert scored(rubric(scorer), states(["It is 72."], answer="72", info=info)) == [1.0]
    # Where there is no other, it is the answer.
    assert scored(rubric("qa_em_reward"), states(["72"], info={"answer": "72"})) == [1.0]


def test_tools_are_seen() -> None:
    """The messages of the completion are the trajectory."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "search", "arguments": "{}"}]}
    found = {"role": "tool", "tool_call_id": "1", "content": "Paris"}
    given = states([[call, found, {"role": "assistant", "content": "Paris"}]], answer="Paris")
    assert scored(rubric("qa_f1_reward_tool"), given) == [1.0]


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number is 0.0."""
    given = [states([row["response"]], prompt=row["prompt"], answer=row["answer"])[0] for row in golden.rows(scorer)]
    golden.check(scorer, scored(rubric(scorer), given), absent=0.0)


def test_raise_is_refused() -> None:
    """A rubric would make 0.0 of it without a word."""
    with pytest.raises(UsageError, match=r"0\.0 of a reward that raises"):
        rubric("qa_f1_reward", on_fault="raise")
