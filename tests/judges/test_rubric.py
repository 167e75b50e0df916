"""RubricJudge: complete sets of scores, or none."""

import asyncio
import json
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.judges import QUALITY, RubricJudge
from adjudge.model import ChatReply, ChatRequest, Judge
from adjudge.prompts import load_prompt
from judges.models import Fatal, Passing, Scripted, echo
from support import golden

ATTACKS = golden("attacks")
GOOD = {"reasoning": "Clear.", "answer_quality": 0.9, "factual_correctness": "0.95", "completeness": 1}
CRITERIA = ["Names DIN-SQL", "Gives a metric"]


def test_quality_scores() -> None:
    """Three numbers and the reasoning come back; criteria, sources and response stand in the prompt."""
    model = Scripted(json.dumps(GOOD))
    judge = RubricJudge(chat=model)
    judgement = judge.judge("Which model?", CRITERIA, "DIN-SQL, 85.3 %", sources=["DIN-SQL reaches 85.3 %."])
    assert judgement.scores == {"answer_quality": 0.9, "factual_correctness": 0.95, "completeness": 1.0}
    assert list(judgement.scores) == list(QUALITY) == list(judge.names)
    assert (judgement.status, judgement.verdict, judgement.reason) == ("scored", None, "Clear.")
    assert judgement.prompt_hash == load_prompt("evaluation/quality/v1").hash
    assert isinstance(judge, Judge)
    (request,) = model.requests
    assert request.schema is not None
    assert request.schema["required"] == ["reasoning", *QUALITY]
    assert load_prompt("evaluation/quality/v1").read(request.messages[1].text) == {
        "question": "Which model?",
        "criteria": tuple(CRITERIA),
        "sources": ("DIN-SQL reaches 85.3 %.",),
        "response": "DIN-SQL, 85.3 %",
    }


def test_other_dimensions() -> None:
    """Own names, each with what it means, make another rubric."""
    model = Scripted('{"reasoning": "", "tone": 0.5}')
    judge = RubricJudge(chat=model, dimensions={"tone": "Is it friendly?"})
    judgement = judge.judge("Hello?", (), "Go away.")
    assert (judgement.scores, judgement.reason, judge.version) == ({"tone": 0.5}, None, "evaluation/rubric/v1")
    assert "| tone: Is it friendly?\n" in model.requests[0].messages[1].text


def test_scores_by_key() -> None:
    """Without schemas the scores stand as JSON behind the key."""

    def says(request: ChatRequest) -> str:
        key = request.messages[1].text.rpartition("the key ")[2].partition(" ")[0]
        return f"Let me see.\n{key} {json.dumps(GOOD)}"

    judgement = RubricJudge(chat=Scripted(says), structured=False).judge("q", "c", "r")
    assert (judgement.status, judgement.scores["completeness"], judgement.calls) == ("scored", 1.0, 1)


@pytest.mark.parametrize(
    "bad",
    [
        {"completeness": True},
        {"completeness": None},
        {"completeness": 1.2},
        {"completeness": -0.1},
        {"completeness": "high"},
        {"completeness": float("nan")},
        {"reasoning": 1},
    ],
)
def test_an_incomplete_set_is_unscored(bad: dict[str, Any]) -> None:
    """One bad number and none counts: asked again once, then unscored; never three zeros."""
    model = Scripted(json.dumps({**GOOD, **bad}))
    judgement = RubricJudge(chat=model).judge("q", "c", "r")
    assert (judgement.status, judgement.scores, judgement.calls) == ("unscored", {}, 2)
    again = RubricJudge(chat=Scripted([json.dumps({**GOOD, **bad}), json.dumps(GOOD)])).judge("q", "c", "r")
    assert (again.status, again.calls) == ("scored", 2)


def test_faults_are_as_for_verdicts() -> None:
    """A refusal is unscored, a failed call an error, a fatal one is raised, a bad row an error."""
    assert RubricJudge(chat=Scripted(ChatReply(None, refusal="No."))).judge("q", "c", "r").status == "unscored"
    assert RubricJudge(chat=Scripted(Passing("500"))).judge("q", "c", "r").status == "error"
    assert RubricJudge(chat=Scripted("")).judge("q", [b"c"], "r").status == "error"  # type: ignore[list-item]
    with pytest.raises(Fatal):
        RubricJudge(chat=Scripted(Fatal("401"))).judge("q", "c", "r")


@pytest.mark.parametrize(("response", "reason"), [("Solution:", "vacuous"), ("x" * 300, "too-long: 300 characters")])
def test_what_says_nothing_scores_zero(response: str, reason: str) -> None:
    """A vacuous response has earned nothing in any dimension, and nobody is asked."""
    model = Scripted(json.dumps(GOOD))
    judgement = RubricJudge(chat=model, max_response=299).judge("q", "c", response)
    assert (judgement.status, judgement.reason, set(judgement.scores.values())) == ("scored", reason, {0.0})
    assert model.requests == []


@pytest.mark.parametrize(
    "options", [{"dimensions": {}}, {"prompt": "evaluation/verdict/v1"}, {"dimensions": {"reasoning": ""}}]
)
def test_a_rubric_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    """A rubric has names, and a prompt with the slots for them."""
    with pytest.raises(UsageError):
        RubricJudge("m", **options)


@pytest.mark.parametrize("structured", [True, False])
def test_an_echo_judge_scores_nothing(structured: bool) -> None:
    """A judge that repeats the prompt gives no attack any score, wherever in the record it stands."""
    judge = RubricJudge(chat=Scripted(echo), structured=structured, gate=False)

    async def all_of_them() -> set[str]:
        texts = [row["response"] for row in ATTACKS]
        return {(await judge.ajudge(text, [text], text, sources=[text, text])).status for text in texts}

    assert asyncio.run(all_of_them()) == {"unscored"}
