"""What a run allows its agents, its rows and its scorers' judges."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.judges import LLMJudge
from adjudge.model import Case, Message, Score, Trajectory
from adjudge.rewards import get_reward
from adjudge.runs import Plan, RunConfig, evaluate
from adjudge.runs._cases import CaseRead
from adjudge.runs._plan import Job
from adjudge.runs._run import RunTask, run_session
from adjudge.testing import ChatServer, Fault


class Pairs:
    """An agent that answers when two conversations have asked, and not before."""

    name = "pairs"
    together = 2

    def __init__(self) -> None:
        self.waiting: list[asyncio.Event] = []
        self.most = 0

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Wait for the other."""
        event = asyncio.Event()
        self.waiting.append(event)
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) == 2:
            for other in self.waiting:
                other.set()
            self.waiting.clear()
        await event.wait()
        return Trajectory(final_response=case.question)


def test_so_many_units_and_no_more() -> None:
    """An agent that says how many units it answers together has exactly so many in progress."""
    agent = Pairs()
    rows = [{"id": n, "question": str(n), "answer": str(n), "conversation_id": str(n // 2)} for n in range(20)]
    result = evaluate(rows, agent=agent, scorers=["qa_em_reward"], config=RunConfig(cache="off", workers=16))
    assert result.counts == {"scored": 20, "unscored": 0, "error": 0}
    assert agent.most == 2


def test_a_row_with_a_fault_keeps_its_columns(tmp_path: Path) -> None:
    """A case that is known but cannot be scored is an error of that reason, and its columns stay in the file."""
    rows = [
        CaseRead("a", {"answer": "x", "final_response": "x"}),
        CaseRead("b", {"answer": "y"}, "agent-failed: it is gone"),
    ]
    result = evaluate(rows, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=RunConfig(cache="off"))
    first, second = (row.score for row in result.scores)
    assert first.value == 1.0
    assert (second.status, second.reason) == ("error", "agent-failed: it is gone")
    from adjudge.runs._store import Store

    with Store.read(tmp_path / "a.run") as store:
        assert store.cases(0, 1)[0].row == {"answer": "y"}


def test_judges_of_scorers_get_clients_of_the_run(tmp_path: Path) -> None:
    """A judge that a scorer asks has the run's limits and its own number of attempts, and its client is closed."""
    with ChatServer(Fault("503", retry_after=0.01)) as server:
        judge = LLMJudge("m", server.base_url, "key", attempts=2)

        async def judged(final_response: str) -> Score:
            found = await judge.ajudge("?", "red", final_response)
            return Score.error(found.reason or "")

        scorer: Any = _With(judge, get_reward(judged))
        work = RunTask(
            tmp_path / "a.run", Job((scorer,)), Plan(), RunConfig(cache="off"), [{"final_response": "blue sky"}]
        )
        asyncio.run(run_session(work))
        assert server.counts.calls == 2
    assert judge.chat is None


class _With:
    """A scorer that says which judge it asks."""

    def __init__(self, judge: LLMJudge, scorer: Any) -> None:
        self.judges = (judge,)
        self._scorer = scorer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)


@pytest.mark.parametrize("attempts", [1, 3])
def test_attempts_of_a_judge(attempts: int) -> None:
    """A judge makes as many attempts of one question as it was told, at most."""
    with ChatServer(Fault("503", retry_after=0.01)) as server:
        found = LLMJudge("m", server.base_url, "key", attempts=attempts).judge("?", "red", "It is blue.")
        assert server.counts.calls == attempts
    assert found.status == "error"
