"""Judges and an agent under test on a real server, from Python: both forms of asking, three outcomes, one run file."""

from pathlib import Path

import pytest

from adjudge import Case, evaluate
from adjudge.agents import ChatAgent
from adjudge.errors import RunStopped
from adjudge.judges import LLMJudge, RubricJudge
from adjudge.model import Judgement
from adjudge.runs import RunConfig
from integration.llama import KEY, LlamaProcess
from integration.runfile import bodies_of, calls_of, rows_of

QUESTION = ("Capital of France?", "Paris", "It is Paris.")
CONFIG = RunConfig(cache="off", workers=2)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the key where clients look for it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def check_typed(judgement: Judgement) -> None:
    """Check that a judgement is scored, or unscored after the one question more."""
    if judgement.status != "scored":
        assert (judgement.status, judgement.calls) == ("unscored", 2)
        assert (judgement.reason or "").partition(":")[0] in ("unreadable", "truncated")
    assert judgement.raw


@pytest.mark.parametrize("structured", [True, False])
def test_verdict(server: LlamaProcess, structured: bool) -> None:
    """A verdict is asked for by schema, or on a line with a key, and read or not read as the rules say."""
    judge = LLMJudge("smollm2", server.base_url, KEY, structured=structured, max_tokens=100)
    judgement = judge.judge(*QUESTION)
    check_typed(judgement)
    assert (judgement.verdict in ("CORRECT", "WRONG")) == (judgement.status == "scored")
    assert getattr(judge.chat, "structured", None) is True  # this server knows schemas: nothing was given up


@pytest.mark.parametrize("structured", [True, False])
def test_rubric(server: LlamaProcess, structured: bool) -> None:
    """Rubric scores are all there and in range, or there is none."""
    judge = RubricJudge("smollm2", server.base_url, KEY, structured=structured, max_tokens=100)
    judgement = judge.judge("Where is my parcel?", ["Gives a date"], "On Friday.", sources=["ETA: Friday"])
    check_typed(judgement)
    assert (len(judgement.scores) == 3) == (judgement.status == "scored")
    assert all(0.0 <= value <= 1.0 for value in judgement.scores.values())


def test_fallback_run(tmp_path: Path, server: LlamaProcess) -> None:
    """A run without schemas sends none, records every call, and ends with every row typed."""
    judge = LLMJudge("smollm2", server.base_url, KEY, structured=False, max_tokens=60)
    rows = [{"id": n, "question": f"{n} + 1?", "reference": str(n + 1), "response": f"It is {n + 1}."} for n in (1, 2)]
    result = evaluate(rows, judge=judge, run=tmp_path / "a.run", config=CONFIG)
    assert result.counts["error"] == 0
    assert sum(result.counts.values()) == 2
    assert all("response_format" not in str(body) for body in bodies_of(tmp_path / "a.run", "requests"))
    assert 2 <= calls_of(tmp_path / "a.run") <= 4


@pytest.mark.usefixtures("key")
def test_agent_under_test(tmp_path: Path, server: LlamaProcess) -> None:
    """The model answers cases, a reward and a judge score them, and a stopped run goes on without asking it again."""
    run = tmp_path / "a.run"
    cases = [
        Case("c1", "What is the capital of France?", references=("Paris",)),
        Case("c2", "Say the word yes.", references=("yes",)),
    ]

    def go(judge: LLMJudge) -> dict[str, int]:
        agent = ChatAgent("smollm2", base_url=server.base_url, system="Answer in one word.", max_tokens=24)
        return evaluate(cases, agent=agent, scorers=["contains_reward"], judge=judge, run=run, config=CONFIG).counts

    with pytest.raises(RunStopped) as stopped:
        go(LLMJudge("smollm2", server.base_url, "sk-wrong", max_tokens=100))
    assert stopped.value.code == "unauthorised"
    answered = rows_of(run, "SELECT seq, body FROM trajectories")
    counts = go(LLMJudge("smollm2", server.base_url, KEY, max_tokens=100))
    assert counts["error"] == 0
    assert sum(counts.values()) == 2
    trajectories = rows_of(run, "SELECT seq, body FROM trajectories ORDER BY seq")
    assert len(trajectories) == 2
    assert set(answered) <= set(trajectories)
    assert rows_of(run, "SELECT count(*) FROM scores") == [(4,)]
