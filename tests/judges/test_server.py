"""LLMJudge and RubricJudge with the real client, against a real server: every fault ends typed."""

import asyncio
from typing import Any

import pytest

from adjudge.chat import ChatError, Unauthorised
from adjudge.judges import LLMJudge, RubricJudge, get_judge
from adjudge.model import Judgement
from adjudge.testing import ChatServer, Fault, Reply, correct, scores, wrong
from judges.models import CORRECT, QUESTION
from support import golden

ATTACKS = golden("attacks")


@pytest.mark.parametrize(("script", "verdict"), [(correct, "CORRECT"), (wrong, "WRONG")])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("structured", [True, False])
def test_a_verdict_over_the_wire(script: Any, verdict: str, api: Any, structured: bool) -> None:
    """Both interfaces and both forms of reply give the verdict in one call."""
    with ChatServer(script) as server:
        judge = LLMJudge("m", server.base_url, "a-key", api=api, structured=structured)
        judgement = judge.judge(*QUESTION, "It is Paris.")
        assert (judgement.status, judgement.verdict, judgement.judge) == ("scored", verdict, f"{api}:m")
        assert server.counts.calls == judgement.calls == 1
        assert (server.calls[0].schema is not None) is structured


def test_an_endpoint_without_schemas_is_asked_by_key() -> None:
    """A server that rejects schemas costs one refused call; from then on the verdict stands behind a key."""
    with ChatServer(correct, rejects=["response_format"]) as server:
        judge = LLMJudge("m", server.base_url, "a-key")
        verdicts = [judge.judge(*QUESTION, f"Paris, {n}.").verdict for n in range(3)]
        assert verdicts == ["CORRECT"] * 3
        assert server.counts.calls == 4
        assert [call.schema is None for call in server.calls] == [False, True, True, True]
        assert "without quotation marks" in server.calls[1].prompt


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_many_at_once_at_an_endpoint_without_schemas(api: Any) -> None:
    """Rows that were under way when the endpoint rejected the schema are asked by key as well."""

    async def all_of_them(base_url: str) -> list[Judgement]:
        judge = LLMJudge("m", base_url, "a-key", api=api)
        return await asyncio.gather(*(judge.ajudge(*QUESTION, f"Paris, {n}.") for n in range(20)))

    with ChatServer(correct, rejects=["response_format", "tools"]) as server:
        judgements = asyncio.run(all_of_them(server.base_url))
        assert server.counts.calls <= 40
    assert [one.verdict for one in judgements] == ["CORRECT"] * 20


def test_rubric_scores_over_the_wire() -> None:
    """A rubric comes back complete."""
    with ChatServer(lambda call: scores(call, 0.75)) as server:
        judgement = RubricJudge("m", server.base_url, "a-key").judge("q", "criteria", "It is Paris.", sources="s")
    assert judgement.status == "scored"
    assert set(judgement.scores.values()) == {0.75}


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (Reply(None), "unscored", "no-content"),
        (Reply(None, refusal="I cannot help."), "unscored", "refusal"),
        ("The response is CORRECT.", "unscored", "unreadable"),
        (Reply('{"verdict": "COR', finish_reason="length"), "unscored", "truncated"),
        ({"choices": []}, "error", "malformed-reply"),
    ],
)
def test_odd_replies_end_typed(said: Any, status: str, code: str) -> None:
    """Whatever comes back with 200 is unscored or an error, with a reason."""
    with ChatServer(said) as server:
        judgement = LLMJudge("m", server.base_url, "a-key").judge(*QUESTION, "It is Paris.")
    assert (judgement.status, judgement.verdict) == (status, None)
    assert str(judgement.reason).startswith(code)


def test_a_wrong_key_stops() -> None:
    """A key that the server rejects is raised at once, and does not stand in the message."""
    with ChatServer(correct, key="right-key-123") as server:
        with pytest.raises(Unauthorised) as caught:
            LLMJudge("m", server.base_url, "wrong-key-456").judge(*QUESTION, "It is Paris.")
        assert server.counts.calls == 1
    assert isinstance(caught.value, ChatError)
    assert "wrong-key-456" not in str(caught.value)


def test_passing_faults_pass() -> None:
    """A server that fails now and then still gives every row its verdict."""
    with ChatServer([Fault("500"), Fault("reset"), CORRECT]) as server:
        judgement = LLMJudge("m", server.base_url, "a-key").judge(*QUESTION, "It is Paris.")
    assert (judgement.status, judgement.verdict, judgement.calls) == ("scored", "CORRECT", 1)


def test_a_panel_over_the_wire() -> None:
    """Members that ask different models share nothing but the row."""

    def says(call: Any) -> str:
        return wrong(call) if call.model == "b" else correct(call)

    with ChatServer(says) as server:
        judge = get_judge("panel:openai:a,openai:b,openai:c", base_url=server.base_url, api_key="a-key")
        judgement = judge.judge(*QUESTION, "It is Paris.")
    assert (judgement.verdict, judgement.reason) == ("CORRECT", "2 of 3 say CORRECT; openai:b says WRONG")


@pytest.mark.parametrize("structured", [True, False])
def test_an_echo_server_scores_nothing(structured: bool) -> None:
    """A server that repeats the prompt gives no attack a verdict; what never reached it is vacuous and wrong."""

    async def all_of_them(base_url: str) -> list[Judgement]:
        judge = LLMJudge("m", base_url, "a-key", structured=structured)
        return await asyncio.gather(*(judge.ajudge(*QUESTION, row["response"]) for row in ATTACKS))

    with ChatServer(lambda call: call.prompt) as server:
        judgements = asyncio.run(all_of_them(server.base_url))
        assert server.counts.calls == sum(judgement.calls for judgement in judgements)
    assert [one for one in judgements if one.verdict == "CORRECT" or one.status == "error"] == []
    assert {one.reason for one in judgements if one.status == "scored"} == {"vacuous"}
