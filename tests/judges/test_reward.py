"""A judge as a reward, and judges by name."""

import asyncio
import json
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.judges import LLMJudge, LocalJudge, PanelJudge, RubricJudge, get_judge, judge_reward
from adjudge.model import ChatReply, Provenance
from adjudge.prompts import load_prompt
from adjudge.rewards import get_scorer
from judges.models import CORRECT, WRONG, Fatal, Passing, Scripted

ROW = {"question": "What is the capital of France?", "final_response": "It is Paris."}


@pytest.mark.parametrize(
    ("said", "status", "value", "reason"),
    [
        (CORRECT, "scored", 1.0, "Same city."),
        (WRONG, "scored", 0.0, "Another city."),
        (ChatReply(None, refusal="No."), "unscored", None, "refusal: No."),
        (Passing("500"), "error", None, "server-error: 500"),
    ],
)
@pytest.mark.parametrize("column", ["reference", "answer"])
def test_a_verdict_is_a_score(said: Any, status: str, value: float | None, reason: str, column: str) -> None:
    """CORRECT is 1, WRONG is 0, and what could not be judged has no number; the provenance names judge and prompt."""
    scorer = get_scorer(judge_reward(LLMJudge(chat=Scripted(said))))
    score = scorer.score({**ROW, column: "Paris"})
    assert (score.status, score.value, score.reason) == (status, value, reason)
    assert score.provenance == Provenance(
        "scripted", "evaluation/verdict/v1", "scripted", load_prompt("evaluation/verdict/v1").hash
    )


def test_many_rows_at_once() -> None:
    """Rows are judged side by side, in order, one bad row beside the others; inside a loop too."""
    model = Scripted(
        lambda request: CORRECT if "| Paris" in request.messages[1].text.rpartition("graded")[2] else WRONG
    )
    scorer = get_scorer(judge_reward(LLMJudge(chat=model)))
    rows = [{"question": "q", "reference": "Paris", "final_response": text} for text in ("Paris", "Lyon", "Paris")]
    rows.append({"question": "q", "final_response": "Paris"})
    scores = asyncio.run(scorer.ascore_many(rows))
    assert [score.value for score in scores] == [1.0, 0.0, 1.0, None]
    assert scores[3].reason == (
        "missing-column: the row has no reference to judge by: call it reference, references, answer or ground_truth"
    )


def test_a_fatal_error_stops_the_rows() -> None:
    """A wrong key is raised, once, whatever the number of rows: nobody pays ten thousand refused calls for it."""
    model = Scripted(Fatal("the key is wrong"))
    scorer = get_scorer(judge_reward(LLMJudge(chat=model)))
    with pytest.raises(Fatal):
        scorer.score_many([{**ROW, "answer": "Paris"}] * 1000)
    assert len(model.requests) <= 64


def test_a_rubric_is_a_score() -> None:
    """The value is the mean of the scores, the parts are the scores, there even where they are unknown."""
    said = {"reasoning": "ok", "answer_quality": 0.5, "factual_correctness": 1.0, "completeness": 0.75}
    good = get_scorer(judge_reward(RubricJudge(chat=Scripted(json.dumps(said)))))
    score = good.score({**ROW, "criteria": ["Names a city"], "sources": ["Paris is the capital."]})
    assert (score.value, score.reason) == (0.75, "ok")
    assert score.parts == {"answer_quality": 0.5, "factual_correctness": 1.0, "completeness": 0.75}
    bad = get_scorer(judge_reward(RubricJudge(chat=Scripted("?")))).score({**ROW, "sources": None})
    assert (bad.status, set(bad.parts.values())) == ("unscored", {None})


def test_a_panel_is_a_score() -> None:
    """The agreement of a panel is a part of its score."""
    members = [LLMJudge(chat=Scripted(said, str(n))) for n, said in enumerate((CORRECT, CORRECT, WRONG))]
    score = get_scorer(judge_reward(PanelJudge(members), name="panel")).score({**ROW, "answer": "Paris"})
    assert score.value == 1.0
    assert score.parts == {"agreement": 2 / 3}
    assert score.provenance is not None
    assert score.provenance.scorer == "panel"


def test_the_local_judge_needs_no_event_loop() -> None:
    """As a reward the local judge can be called from anywhere."""
    scorer = get_scorer(judge_reward(LocalJudge()))

    async def inside() -> Any:
        return scorer.score({**ROW, "answer": "Paris"}).value

    assert not scorer.is_async
    assert asyncio.run(inside()) == 1.0


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("local", "local:1"),
        ("local:0", "local:0"),
        (" openai:gpt-4o ", "openai:gpt-4o"),
        ("openai:org/model:tag", "openai:org/model:tag"),
        ("anthropic:claude", "anthropic:claude"),
        ("panel:local:0,openai:a, openai:b", "panel:local:0,openai:a,openai:b"),
    ],
)
def test_judges_by_name(spec: str, name: str) -> None:
    """The grammar names every kind of judge."""
    assert get_judge(spec).name == name


def test_options_reach_the_judges_that_ask() -> None:
    """Options go to every judge that asks a model, in a panel too."""
    judge = get_judge("panel:openai:a,local", base_url="http://127.0.0.1:1/v1", structured=False)
    assert isinstance(judge, PanelJudge)
    asking = judge.members[0]
    assert isinstance(asking, LLMJudge)
    assert (asking.base_url, asking.structured) == ("http://127.0.0.1:1/v1", False)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("opnai:gpt", "did you mean 'openai:gpt'"),
        ("locla", "did you mean 'local'"),
        ("gpt-4o", "did you mean 'openai:gpt-4o'?"),
        ("xyzzy", "there are local, openai:MODEL, anthropic:MODEL, litellm:MODEL, panel:A,B"),
        ("", "there are local"),
        ("openai", "write openai:MODEL"),
        ("openai:", "write openai:MODEL"),
        ("local:9", "it has 'local:0'"),
        ("panel:local", "at least two"),
        ("panel:local,", "at least two"),
        ("panel:local,panel:local", "no panels"),
        ("panel:local,gtp", "no judge is called 'gtp'"),
    ],
)
def test_unknown_judges_are_refused(spec: str, says: str) -> None:
    """A name that means nothing says what was probably meant, or which kinds there are."""
    with pytest.raises(UsageError) as caught:
        get_judge(spec)
    assert says in caught.value.message
    assert caught.value.code == "unknown-judge"
