"""The engine: every row ends in one of three outcomes, whatever happens, and the same rows give the same bytes."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import DataError, RunError, RunStopped, UsageError
from adjudge.judges import LabelledRow, LLMJudge, LocalJudge, calibrate, judge_reward
from adjudge.model import Case, Conversation, Message, Trajectory, Turn
from adjudge.rewards import reward
from adjudge.runs import RunConfig, RunResult, aevaluate, evaluate
from adjudge.runs._source import Source
from adjudge.runs._store import Store
from adjudge.testing import ChatServer
from runs.doubles import AskingJudge, Fatal, Model, rows
from runs.test_run_file import OFF, exported


def odd(prompt: str) -> str | Exception:
    """Answer in every way there is, by the number in the prompt."""
    number = int(prompt.split()[2])
    if number % 7 == 0:
        return KeyError("stray")
    if number % 7 == 1:
        return "dunno"
    if number % 7 == 2:
        return DataError("no service", code="unreachable")
    return "CORRECT" if number % 2 else "WRONG"


def test_three_counts(tmp_path: Path) -> None:
    """Scored, unscored and error add up to the rows, and every failure has its typed reason."""
    result = evaluate([*rows(70), {"id": "bare"}, 5], judge=AskingJudge(Model(odd)), run=tmp_path / "a.run", config=OFF)  # type: ignore[list-item]
    assert result.counts == {"scored": 40, "unscored": 10, "error": 22}
    reasons = {str(row.id): row.score.reason for row in result.scores}
    assert reasons["r0"] == "model-failed: the model failed: raised: KeyError: 'stray'"
    assert reasons["r1"] == "unreadable: dunno"
    assert reasons["r2"] == "unreachable: no service"
    assert reasons["bare"] == "missing-column: the row has no question: call it question, query, prompt or input"
    assert str(reasons["72"]).startswith("bad-row: row 72 must be a Case or a mapping, got int")
    (tally,) = result.summary.tallies
    assert tally.total == 72
    assert tally.mean is not None
    assert tally.mean.n == 40
    assert tally.bounds is not None


@pytest.mark.parametrize("workers", [1, 8])
def test_same_bytes(tmp_path: Path, workers: int) -> None:
    """The number of workers changes no byte of what a run says."""
    one = evaluate(
        rows(200),
        scorers=["qa_f1_reward", "qa_em_reward"],
        judge=AskingJudge(Model(odd, pause=0.001)),
        run=tmp_path / "a.run",
        config=RunConfig(cache="off", workers=workers),
    )
    other = evaluate(
        rows(200),
        scorers=["qa_f1_reward", "qa_em_reward"],
        judge=AskingJudge(Model(odd)),
        run=tmp_path / "b.run",
        config=OFF,
    )
    assert exported(one.file) == exported(other.file)
    assert one.summary == other.summary


@pytest.mark.parametrize("workers", [1, 5])
def test_in_flight(tmp_path: Path, workers: int) -> None:
    """Never more calls are in flight than there are workers, and as many where there is work."""
    model = Model(pause=0.01)
    evaluate(rows(60), judge=AskingJudge(model), run=tmp_path / "a.run", config=RunConfig(cache="off", workers=workers))
    assert model.most == workers


def test_cases_and_agent(tmp_path: Path) -> None:
    """An agent answers cases, in the order of a conversation's turns with what was said before; scorers see it."""
    heard: list[tuple[str, int]] = []

    async def agent(question: str, history: Sequence[dict[str, Any]]) -> str:
        heard.append((question, len(history)))
        await asyncio.sleep(0.001)
        return question.upper()

    talk = Conversation("c", tuple(Turn(f"turn {n}", (f"TURN {n}",)) for n in range(3)))
    cases = [Case("one", "paris", references=("Paris",)), *talk.cases(), Case("two", "rome", references=("x",))]
    result = evaluate(cases, agent=agent, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    assert [row.score.value for row in result.scores] == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert [turn for turn in heard if turn[0].startswith("turn")] == [("turn 0", 0), ("turn 1", 2), ("turn 2", 4)]


def test_sync_agent_that_fails(tmp_path: Path) -> None:
    """What an agent raises, and what it returns that is no answer, are errors of their rows alone."""

    def agent(question: str) -> Any:
        if question == "a":
            raise SystemExit(1)
        return 5 if question == "b" else "fine"

    cases = [Case(name, name, references=("fine",)) for name in "abc"]
    result = evaluate(cases, agent=agent, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    scores = [row.score for row in result.scores]
    assert [score.status for score in scores] == ["error", "error", "scored"]
    assert str(scores[0].reason).startswith("agent-failed: raised: RuntimeError: SystemExit")
    assert str(scores[1].reason).startswith("agent-failed: bad-answer")


def test_agent_is_not_asked_twice(tmp_path: Path) -> None:
    """A run that was stopped after the agent answered goes on with the same answers."""
    asked: list[str] = []

    async def agent(question: str) -> str:
        asked.append(question)
        return question

    model = Model(lambda prompt: Fatal("wrong key"))
    cases = [Case(f"c{n}", f"q{n}", references=("x",)) for n in range(5)]
    path = tmp_path / "a.run"
    with pytest.raises(RunStopped, match="wrong key"):
        evaluate(cases, agent=agent, judge=AskingJudge(model), run=path, config=RunConfig(cache="off", workers=1))
    before = len(asked)
    assert before >= 1
    model.say = lambda prompt: "CORRECT"
    result = evaluate(cases, agent=agent, judge=AskingJudge(model), run=path, config=OFF)
    assert result.counts["scored"] == 5
    assert len(asked) == len(set(asked)) == 5


def test_trajectories(tmp_path: Path) -> None:
    """Saved trajectories, by id or side by side, stand in for an agent; a case without one is an error."""
    cases = [Case(name, "q", references=("yes",)) for name in ("a", "b")]
    by_id = {"a": Trajectory((Message("assistant", "yes"),), final_response="yes")}
    result = evaluate(cases, trajectories=by_id, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    assert [row.score.status for row in result.scores] == ["scored", "error"]
    beside = [{"id": "a", "messages": [{"role": "assistant", "content": "yes"}]}, {"id": "b", "final_response": "no"}]
    result = evaluate(cases, trajectories=beside, scorers=["qa_em_reward"], run=tmp_path / "b.run", config=OFF)
    assert [row.score.value for row in result.scores] == [1.0, 0.0]
    with pytest.raises(RunStopped, match="comes with the trajectory of"):
        evaluate(cases, trajectories=beside[::-1], scorers=["qa_em_reward"], run=tmp_path / "c.run", config=OFF)


def test_group_rewards(tmp_path: Path) -> None:
    """A group reward sees the whole group; a torn group is refused before anything is scored."""

    @reward(group=True)
    def size(final_response: list[str]) -> list[float]:
        return [float(len(final_response))] * len(final_response)

    grouped = [{"id": n, "group_id": n // 3, "final_response": "x"} for n in range(300)]
    result = evaluate(grouped, scorers=[size], run=tmp_path / "a.run", config=OFF)
    assert {row.score.value for row in result.scores} == {3.0}
    with pytest.raises(RunStopped, match="are not next to one another"):
        evaluate([*grouped, grouped[0]], scorers=[size], run=tmp_path / "b.run", config=OFF)


def test_deadline(tmp_path: Path) -> None:
    """A row that takes too long is an error of its own; the others are scored, and the wait for a place is free."""

    class Slow(Model):
        async def complete(self, request: Any) -> Any:
            if "3 + 1" in request.messages[-1].text:
                await asyncio.sleep(60)
            return await super().complete(request)

    config = RunConfig(cache="off", workers=1, deadline=1.0)
    result = evaluate(rows(8), judge=AskingJudge(Slow(pause=0.2)), run=tmp_path / "a.run", config=config)
    assert result.counts == {"scored": 7, "unscored": 0, "error": 1}
    assert [row.score.reason for row in result.scores][3] == "deadline: no score within 1 seconds"


def test_fatal(tmp_path: Path) -> None:
    """A refused key stops the run at once; what was done is kept and the rest is done when it goes on."""
    answered: list[str] = []

    def say(prompt: str) -> str | Exception:
        if len(answered) == 20:
            return Fatal("the key is refused")
        answered.append(prompt)
        return "CORRECT"

    model = Model(say)
    path = tmp_path / "a.run"
    with pytest.raises(RunStopped, match="refused; what was done is in") as caught:
        evaluate(rows(500), judge=AskingJudge(model), run=path, config=RunConfig(cache="off", workers=4))
    assert caught.value.code == "unauthorised"
    assert model.calls < 40
    stopped = RunResult(path)
    assert stopped.counts == {"scored": 20, "unscored": 0, "error": 480}
    model.say = lambda prompt: "CORRECT"
    model.calls = 0
    assert evaluate(rows(500), judge=AskingJudge(model), run=path, config=OFF).counts["scored"] == 500
    assert model.calls == 480


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"max_calls": 50}, 50), ({"max_tokens": 2000}, 60), ({"max_cost": 0.02, "price": (10.0, 20.0)}, 60)],
)
def test_budgets(tmp_path: Path, limits: dict[str, Any], most: int) -> None:
    """A budget of calls, tokens or dollars is never gone over, over all sessions of a run together."""
    model = Model(pause=0.001)
    path = tmp_path / "a.run"
    for _ in range(2):
        with pytest.raises(RunStopped, match="budget") as caught:
            evaluate(rows(500), judge=AskingJudge(model), run=path, config=RunConfig(cache="off", workers=8, **limits))
        assert caught.value.code == "budget-spent"
    assert 20 <= model.calls <= most
    assert RunResult(path).counts["scored"] == model.calls
    assert evaluate(rows(500), judge=AskingJudge(model), run=path, config=OFF).counts["scored"] == 500
    assert model.calls == 500


def test_cache(tmp_path: Path) -> None:
    """An equal request is paid once: in one run, across runs, and by eight equal rows at the same time."""
    config = RunConfig(cache=str(tmp_path / "cache.sqlite"), workers=8)
    model = Model(pause=0.005)
    equal = [{**row, "id": n} for row in rows(10) for n in range(8)]
    first = evaluate(equal, judge=AskingJudge(model), run=tmp_path / "a.run", config=config)
    assert (first.counts["scored"], model.calls) == (80, 10)
    again = evaluate(equal, judge=AskingJudge(model), run=tmp_path / "b.run", config=config)
    assert model.calls == 10
    assert exported(first.file) == exported(again.file)


def test_failures_are_not_cached(tmp_path: Path) -> None:
    """A failed call is asked again by the next run, and shared only by those that waited for it."""
    config = RunConfig(cache=str(tmp_path / "cache.sqlite"))
    model = Model(lambda prompt: DataError("down", code="unreachable"))
    assert evaluate(rows(5), judge=AskingJudge(model), run=tmp_path / "a.run", config=config).counts["error"] == 5
    model.say = lambda prompt: "WRONG"
    assert evaluate(rows(5), judge=AskingJudge(model), run=tmp_path / "b.run", config=config).counts["scored"] == 5


@pytest.mark.parametrize("damage", ["entry", "file", "folder"])
def test_damaged_cache(tmp_path: Path, damage: str) -> None:
    """A corrupt entry is a miss, and a cache that cannot be used is said to be, and done without."""
    import sqlite3
    from contextlib import closing

    path = tmp_path / "cache.sqlite"
    config = RunConfig(cache=str(path))
    model = Model()
    evaluate(rows(5), judge=AskingJudge(model), run=tmp_path / "a.run", config=config)
    if damage == "entry":
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("UPDATE replies SET body = replace(body, 'CORRECT', 'WRONG')")
    elif damage == "file":
        path.write_bytes(b"no database at all" * 100)
    else:
        path.unlink()
        path.mkdir()
    result = evaluate(rows(5), judge=AskingJudge(model), run=tmp_path / "b.run", config=config)
    assert (result.counts["scored"], model.calls) == (5, 10)
    assert {row.score.value for row in result.scores} == {1.0}
    assert bool(result.warnings) == (damage != "entry")


def test_judge_as_a_reward(tmp_path: Path) -> None:
    """A judge that stands among the scorers asks through the run, too: kept, cached, and paid once."""
    config = RunConfig(cache=str(tmp_path / "cache.sqlite"))
    with ChatServer() as server:
        judge = LLMJudge("m", base_url=server.base_url, api_key="none")
        for name in ("a", "b"):
            result = evaluate(
                rows(20), scorers=[judge_reward(judge), "qa_em_reward"], run=tmp_path / f"{name}.run", config=config
            )
            assert result.counts["scored"] == 20
        assert server.counts.calls == 20
    with Store.read(tmp_path / "a.run") as store:
        assert store.totals()[0] == 20


def test_other_run(tmp_path: Path) -> None:
    """A run file goes on only with the same cases, scorers and judge."""
    path = tmp_path / "a.run"
    evaluate(rows(5), judge=AskingJudge(), run=path, config=OFF)
    with pytest.raises(RunError, match="other scorers or judge"):
        evaluate(rows(5), judge=AskingJudge(version="2"), run=path, config=OFF)
    with pytest.raises(RunError, match="other scorers or judge"):
        evaluate(rows(5), judge=AskingJudge(), scorers=["qa_f1_reward"], run=path, config=OFF)


def test_other_cases(tmp_path: Path) -> None:
    """A run that was stopped while its cases were read goes on only with the same cases."""
    path = tmp_path / "a.run"

    def broken() -> Iterator[dict[str, Any]]:
        yield from rows(300)
        raise OSError("the disk went away")

    with pytest.raises(RunStopped, match="the disk went away"):
        evaluate(broken(), judge=AskingJudge(), run=path, config=OFF)
    with pytest.raises(RunError, match="case 1 is not the one"):
        evaluate(rows(400, start=1), judge=AskingJudge(), run=path, config=OFF)
    assert evaluate(rows(400), judge=AskingJudge(), run=path, config=OFF).counts["scored"] == 400


def test_cancellation(tmp_path: Path) -> None:
    """A run that is cancelled leaves its file in order, and goes on from there."""
    model = Model(pause=0.01)
    path = tmp_path / "a.run"
    config = RunConfig(cache="off", workers=4)

    async def cancelled() -> None:
        task = asyncio.create_task(aevaluate(rows(200), judge=AskingJudge(model), run=path, config=config))
        while model.calls < 40:  # noqa: ASYNC110 (the model tells nobody)
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    threads = threading.active_count()
    asyncio.run(cancelled())
    assert threading.active_count() <= threads + 1  # the loop's own helper may linger
    done = RunResult(path).counts["scored"]
    assert 0 < done < 200
    before = model.calls
    result = evaluate(rows(200), judge=AskingJudge(model), run=path, config=config)
    assert result.counts["scored"] == 200
    assert model.calls <= 200 + 4
    assert model.calls - before <= 200 - done


def test_calls_are_wrong(tmp_path: Path) -> None:
    """A call without a scorer, with limits that cannot be, or inside an event loop is refused in words."""
    with pytest.raises(UsageError, match="name a scorer or a judge"):
        evaluate(rows(1), run=tmp_path / "a.run")
    with pytest.raises(UsageError, match="workers"):
        RunConfig(workers=0)
    with pytest.raises(UsageError, match="price"):
        RunConfig(max_cost=1.0)
    with pytest.raises(UsageError, match="not a folder"):
        evaluate(rows(1), scorers=["qa_f1_reward"], run=tmp_path / "none" / "a.run")

    async def inside() -> None:
        with pytest.raises(UsageError, match="event loop"):
            evaluate(rows(1), scorers=["qa_f1_reward"], run=tmp_path / "a.run")

    asyncio.run(inside())


MEMORY = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._store import Store
from adjudge.testing import ChatServer
from runs.doubles import AskingJudge, Model, rows
class Quiet(Model):
    async def complete(self, request):
        self.prompts.clear()
        return await super().complete(request)
config = RunConfig(cache="off", workers=64)
evaluate(rows(int(sys.argv[3])), judge=AskingJudge(Quiet()), run=sys.argv[2], config=config)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_is_flat(tmp_path: Path) -> None:
    """Six times the rows take no more memory, give or take a few megabytes."""
    peaks = []
    for size in (2000, 12_000):
        arguments = [str(Path(__file__).parent.parent), str(tmp_path / f"{size}.run"), str(size)]
        done = subprocess.run([sys.executable, "-c", MEMORY, *arguments], check=True, capture_output=True, text=True)
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] < peaks[0] + 12, peaks


def test_reading_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong while cases are read ends the run, with the reason; nobody waits for ever."""

    async def broken(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(Source, "_read", broken)
    with pytest.raises(RunError, match="cannot be read: raised: KeyError"):
        evaluate(rows(8), judge=AskingJudge(), run=tmp_path / "a.run", config=OFF)


def test_what_is_known_of_the_judge(tmp_path: Path) -> None:
    """The summary says how far the judge agrees with people and, given a calibration, what its mean is worth."""
    judge = LocalJudge(tier=0)
    cases = [{"id": n, "question": "Capital?", "reference": "Paris", "response": "Paris"} for n in range(3)]
    people = [LabelledRow(f"q{n}", label=n % 2 == 0, status="scored", verdict=n % 2 == 0) for n in range(40)]
    known = calibrate(people, judge=judge.name, version=judge.version)
    result = evaluate(cases, judge=judge, run=tmp_path / "a.run", calibration=known)
    assert result.summary.agreement == judge.agreement
    assert result.summary.corrected is not None
    assert result.summary.corrected.prediction_powered.value == 1.0
    known.save(tmp_path / "known.json")
    named = evaluate(cases, judge=judge, run=tmp_path / "named.run", calibration=tmp_path / "known.json")
    assert named.summary.corrected == result.summary.corrected
    for other in (replace(known, judge="local:1"), replace(known, version="0")):
        with pytest.raises(UsageError, match="the calibration is of"):
            evaluate(cases, judge=judge, run=tmp_path / "b.run", calibration=other)
    with pytest.raises(UsageError, match="the run has none"):
        evaluate(cases, scorers=["contains_reward"], run=tmp_path / "b.run", calibration=known)
