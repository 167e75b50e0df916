"""Whose time a row's deadline counts, and what the row says when it is over."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate
from adjudge.judges import LLMJudge
from adjudge.model import Judgement
from adjudge.runs import RunConfig
from adjudge.testing import ChatServer, Fault, correct
from runs.doubles import AskingJudge, Model

HANGING = 16  # calls that the client makes at once before it knows the server


def rows(count: int, question: str = "Question {}?") -> list[dict[str, Any]]:
    """Return rows that differ in their questions."""
    return [
        {"id": n, "question": question.format(n), "reference": "Paris", "response": "It is Paris."}
        for n in range(count)
    ]


def test_a_late_row_names_the_last_failure(tmp_path: Path) -> None:
    """Where the row's time is over before the client's, the row says what the client met."""
    with ChatServer([Fault("500"), Fault("hang")]) as server:
        judge = LLMJudge("m", base_url=server.base_url, api_key="k")
        judge.chat = judge.client(deadline_s=60)
        config = RunConfig(cache="off", deadline=1)
        result = evaluate(rows(1), judge=judge, run=tmp_path / "a.run", config=config)
    (score,) = [row.score for row in result.scores]
    assert score.status == "error"
    assert str(score.reason).startswith("deadline: no score within 1 seconds and 2 attempts; the last: server-error: ")


def test_waiting_for_a_turn_is_not_the_rows_time(tmp_path: Path) -> None:
    """Rows behind others that hang until their deadlines are asked after them, with all of their own time."""

    def says(call: Any) -> Any:
        number = int(call.prompt.partition("Question ")[2].partition("?")[0])
        return Fault("hang") if number < HANGING else correct(call)

    with ChatServer(says) as server:
        judge = LLMJudge("m", base_url=server.base_url, api_key="k")
        config = RunConfig(cache="off", deadline=1.5, max_unscored=1)
        result = evaluate(rows(2 * HANGING), judge=judge, run=tmp_path / "a.run", config=config)
    reasons = [str(row.score.reason) for row in result.scores if row.score.status != "scored"]
    assert len(reasons) == HANGING, reasons
    assert all(reason.startswith("deadline") and "1 attempt" in reason for reason in reasons), reasons


def test_a_row_that_shares_an_answer_has_the_time_of_whoever_asks(tmp_path: Path) -> None:
    """A row whose question another row is about to ask waits as long as that one waits for its place."""
    model = Model(pause=0.15)
    cases = [*rows(8), *({**row, "id": f"again {row['id']}"} for row in rows(8))]
    config = RunConfig(cache="off", workers=1, deadline=1.0)
    result = evaluate(cases, judge=AskingJudge(model), run=tmp_path / "a.run", config=config)
    assert result.counts == {"scored": 16, "unscored": 0, "error": 0}
    assert model.calls == 8


class Loading(AskingJudge):
    """A judge that imports and loads what it needs when it is asked for the first time, as most do."""

    def __init__(self, *, many: bool) -> None:
        super().__init__(Model(pause=0.2))
        self._is_loaded = False
        if many:
            self.ajudge_many = self._ajudge_many

    def warm_up(self) -> None:
        """Load."""
        if not self._is_loaded:
            time.sleep(2.0)
            self._is_loaded = True

    async def ajudge(self, *args: Any, **kwargs: Any) -> Judgement:
        """Load while the event loop stands still; then ask."""
        self.warm_up()
        return await super().ajudge(*args, **kwargs)

    async def _ajudge_many(self, given: Sequence[Any]) -> list[Judgement]:
        await asyncio.to_thread(self.warm_up)
        return [Judgement(status="scored", verdict="CORRECT") for _ in given]


@pytest.mark.parametrize("many", [False, True], ids=["in the loop", "in a thread"])
def test_loading_is_not_the_rows_time(many: bool, tmp_path: Path) -> None:
    """The first rows do not pay for imports and models that are loaded when they are judged."""
    config = RunConfig(cache="off", workers=4, deadline=1.0)
    result = evaluate(rows(8), judge=Loading(many=many), run=tmp_path / "a.run", config=config)
    assert result.counts == {"scored": 8, "unscored": 0, "error": 0}
