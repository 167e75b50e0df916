"""What failed is asked again when somebody wants it, and is never kept where other runs would find it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import open_run
from adjudge.errors import RunStopped
from adjudge.judges import LLMJudge
from adjudge.model import ChatReply, ChatRequest
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._evaluate import RunResult
from adjudge.runs._plan import Plan, make_job
from adjudge.runs._reading import run_state
from adjudge.runs._run import RunTask, run_session
from adjudge.testing import ChatServer, Fault

from .doubles import AskingJudge, Model, rows


def judged(run: Path, model: Model, count: int = 6, *, cache: Path | None = None) -> RunResult:
    """Judge rows by a model."""
    config = RunConfig(cache="off" if cache is None else str(cache), workers=1)
    return evaluate(rows(count), judge=AskingJudge(model), run=run, config=config)


def test_the_cache_keeps_no_failures(tmp_path: Path) -> None:
    """A reply that led to no verdict is in its run, but the next run asks again; one that led to a verdict is kept."""
    warming = Model(lambda prompt: "warming up")
    first = judged(tmp_path / "a.run", warming, cache=tmp_path / "cache")
    assert (first.counts["unscored"], warming.calls) == (6, 6)
    assert len(list(open_run(tmp_path / "a.run").replies())) == 6
    well = Model()
    second = judged(tmp_path / "b.run", well, cache=tmp_path / "cache")
    assert (second.counts["scored"], well.calls) == (6, 6)
    third = judged(tmp_path / "c.run", well, cache=tmp_path / "cache")
    assert (third.counts["scored"], well.calls) == (6, 6)


@pytest.mark.parametrize("stopped_after", [None, 2])
def test_retry_unscored(tmp_path: Path, stopped_after: int | None) -> None:
    """Rows without a score are asked again, although the run holds replies; an interruption does not change that."""
    run = tmp_path / "a.run"
    half = Model(lambda prompt: "CORRECT" if "2" in prompt else "hm")
    cases = list(rows(6))
    config = RunConfig(cache="off", workers=1)
    asyncio.run(run_session(RunTask(run, make_job(judge=AskingJudge(half)), Plan(), config, cases)))
    unscored = open_run(run).counts["unscored"]
    assert 0 < unscored < 6
    well = Model()
    job = make_job(judge=AskingJudge(well))
    if stopped_after is not None:
        limited = RunConfig(cache="off", workers=1, max_calls=6 + stopped_after)
        session = asyncio.run(run_session(RunTask(run, job, Plan(), limited, cases, retry_unscored=True)))
        assert session.stopped is not None
        assert well.calls == stopped_after
    asyncio.run(run_session(RunTask(run, job, Plan(), config, cases, retry_unscored=stopped_after is None)))
    assert open_run(run).counts == {"scored": 6, "unscored": 0, "error": 0}
    assert well.calls == unscored
    asyncio.run(run_session(RunTask(run, job, Plan(), config, cases, retry_unscored=True)))
    assert well.calls == unscored


def test_replies_worth_nothing_are_booked(tmp_path: Path) -> None:
    """What the endpoint counts is spent, even where its reply has no choices; budgets hold over all sessions."""
    cases = [{"id": n, "question": "?", "reference": "red", "response": f"blue {n}"} for n in range(40)]
    config = RunConfig(cache="off", workers=1, max_tokens=100_000, max_cost=0.002, price=(100.0, 100.0))
    with ChatServer(Fault("no-choices"), process=True) as server:
        for _ in range(3):
            judge = LLMJudge("m", server.base_url, "key", max_tokens=1, gate=False)
            with pytest.raises(RunStopped, match="budget"):
                evaluate(cases, judge=judge, run=tmp_path / "a.run", config=config)
        calls = server.counts.calls
    # A reply costs 18 tokens, 0.0018 dollars.
    assert calls * 0.0018 <= 0.002 + 0.0018
    state = run_state(tmp_path / "a.run")
    assert (state.tokens, round(state.cost, 6)) == (18 * calls, round(0.0018 * calls, 6))


class Silent(Model):
    """Answers without saying what it used."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        reply = await super().complete(request)
        return replace(reply, prompt_tokens=None, completion_tokens=None)


def test_replies_without_usage_count_as_the_most(tmp_path: Path) -> None:
    """A budget of tokens holds where the endpoint does not say what it used: the most that was set aside is booked."""
    model = Silent()
    config = RunConfig(cache="off", workers=1, max_tokens=500)
    for _ in range(2):
        with pytest.raises(RunStopped, match="budget"):
            evaluate(rows(40), judge=AskingJudge(model), run=tmp_path / "a.run", config=config)
    assert 1 <= model.calls <= 8
    assert 0 < run_state(tmp_path / "a.run").tokens <= 500


def test_garbage_counts_as_the_most(tmp_path: Path) -> None:
    """The same holds for replies that nobody can read."""
    cases = [{"id": n, "question": "?", "reference": "red", "response": f"blue {n}"} for n in range(40)]
    config = RunConfig(cache="off", workers=1, max_tokens=9000)
    with ChatServer(Fault("wrong-json"), process=True) as server:
        judge = LLMJudge("m", server.base_url, "key", max_tokens=100, gate=False)
        with pytest.raises(RunStopped, match="budget"):
            evaluate(cases, judge=judge, run=tmp_path / "a.run", config=config)
        assert server.counts.calls <= 9
