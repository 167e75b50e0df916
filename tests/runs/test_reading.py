"""Runs read back: everything that happened, from files of today and from those of before scores had a detail."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate, open_run
from adjudge.errors import RunError, UsageError
from adjudge.judges import LLMJudge
from adjudge.model import ChatReply, ChatRequest, Score
from adjudge.runs import RunConfig, judge_file, merge_runs, rescore_run, resume_run, score_run
from adjudge.scenarios import run_scenarios
from adjudge.statistics import Mean, Moments, estimate_mean, mean_of
from adjudge.testing import ChatServer, Fault
from support import GOLDEN

OLD = GOLDEN / "runs"
ROWS = [{"id": f"q{n}", "question": f"{n}?", "reference": "x", "response": "the x"} for n in range(6)]
QUICK = RunConfig(cache="off", workers=2)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Give a judge that says CORRECT to everything."""
    with ChatServer() as server:
        yield server


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return copies of run files that an older adjudge wrote."""
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def agent(question: str) -> str:
    """Stand for the agent of that name which answered the scenarios of the older file."""
    raise AssertionError(f"{question} was asked again")


@pytest.mark.parametrize(
    ("name", "state", "scored"), [("judged", "done", 12), ("evaluated", "done", 12), ("stopped", "stopped", 5)]
)
def test_older_files_are_shown(old: Path, name: str, state: str, scored: int) -> None:
    """A run file of today's schema that was written before scores had a detail opens with all that is in it."""
    run = open_run(old / f"{name}.run")
    assert (run.state.state, run.counts["scored"], run.summary.rows) == (state, scored, 12)
    assert len(list(run.cases())) == 12
    assert len(list(run.scores())) == 12 * len(run.plan.names)
    assert all(one.score.detail is None for one in run.scores())
    if name != "stopped":
        assert run.summary.agreement is not None  # which is the judge's


def test_an_older_file_is_gone_on_with(old: Path, server: ChatServer) -> None:
    """A run that an older adjudge stopped goes on: what was paid for is not asked again."""
    done = resume_run(str(old / "stopped.run"), options={"base_url": server.base_url}, limits={"max_calls": 100})
    assert done.undecided is None
    assert len(server.calls) == 7
    assert open_run(old / "stopped.run").counts == {"scored": 12, "unscored": 0, "error": 0}


def test_an_older_file_is_rescored_and_merged(old: Path, tmp_path: Path) -> None:
    """Rescoring and merging take older files, too."""
    again = rescore_run(str(old / "judged.run"), scorers=["local:0"], run=str(tmp_path / "again.run"))
    assert again.summary is not None
    assert again.summary.tallies[0].counts["scored"] == 12
    shutil.copy(old / "evaluated.run", tmp_path / "same.run")
    assert merge_runs(tmp_path / "all.run", [old / "evaluated.run", tmp_path / "same.run"]).cases == 12


def test_results_of_scenarios_in_an_older_file(old: Path) -> None:
    """A check that is called again with a finished older file gives the same results."""
    scenarios: list[dict[str, Any]] = [
        {
            "id": "capital",
            "question": "Capital of France?",
            "tools_should_include": ["search"],
            "references": ["Paris"],
            "scorers": ["qa_f1_reward"],
            "repeats": 2,
        },
        {"id": "other", "question": "Capital of Peru?", "tools_should_include": ["lookup"]},
    ]
    found = run_scenarios(scenarios, agent, run=old / "scenarios.run").results
    known = json.loads((old / "scenarios.json").read_text())
    assert [{name: value for name, value in one.items() if name != "seconds"} for one in found] == known


def test_replies_have_prompt_and_reply(tmp_path: Path, server: ChatServer) -> None:
    """Every question to a model comes with its case, its prompt, the raw reply, its time and its cost."""
    judge = LLMJudge("m", base_url=server.base_url)
    evaluate(ROWS, judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off", price=(1.0, 2.0)))
    replies = list(open_run(tmp_path / "a.run").replies())
    assert sorted(reply.id for reply in replies) == [row["id"] for row in ROWS]
    for reply in replies:
        assert isinstance(reply.request, ChatRequest)
        assert isinstance(reply.reply, ChatReply)
        assert f"{reply.id[1:]}?" in reply.request.messages[-1].text
        assert (reply.source, reply.calls, reply.attempts, reply.fault) == ("call", 1, (), None)
        assert reply.seconds is not None
        assert reply.at > 1.7e9
        assert reply.cost is not None
        assert reply.cost > 0


def test_failed_attempts_are_there(tmp_path: Path) -> None:
    """An attempt that failed before the reply came is listed with its fault."""
    with ChatServer([Fault("500"), '{"reasoning": "Yes.", "verdict": "CORRECT"}']) as server:
        judge = LLMJudge("m", base_url=server.base_url)
        evaluate(ROWS[:1], judge=judge, run=tmp_path / "a.run", config=QUICK)
    (reply,) = open_run(tmp_path / "a.run").replies()
    assert reply.calls == 2
    assert [(one.number, "500" in one.fault) for one in reply.attempts] == [(1, True)]


def test_a_call_without_an_answer(tmp_path: Path) -> None:
    """A question whose every attempt failed has its fault, and no reply."""
    with ChatServer([Fault("400")] * 20) as server:
        judge = LLMJudge("m", base_url=server.base_url)
        evaluate(ROWS[:1], judge=judge, run=tmp_path / "a.run", config=QUICK)
    run = open_run(tmp_path / "a.run")
    assert all(reply.reply is None and reply.fault for reply in run.replies())
    assert run.counts == {"scored": 0, "unscored": 0, "error": 1}


def test_trajectories_of_an_agent(tmp_path: Path) -> None:
    """What the agent did is there, with its time; a failed answer with its fault; its own call without a prompt."""

    def agent(question: str) -> str:
        if question == "2?":
            raise ValueError("no idea")
        return f"answer to {question}"

    cases = [{"id": row["id"], "question": row["question"], "answer": "x"} for row in ROWS]
    evaluate(cases, agent=agent, scorers=["qa_f1_reward"], run=tmp_path / "a.run")
    run = open_run(tmp_path / "a.run")
    found = list(run.trajectories())
    assert [one.id for one in found] == [row["id"] for row in ROWS]
    said = [one.trajectory.final_response if one.trajectory else one.fault for one in found]
    assert said[0] == "answer to 0?"
    assert "no idea" in str(said[2])
    assert {(reply.source, reply.request) for reply in run.replies()} == {("agent", None)}
    rows = list(run.rows())
    assert rows[0].trajectory is not None
    assert rows[0].scores is not None
    assert (rows[0].case.id, rows[0].scores[0].status) == ("q0", "scored")


def test_a_detail_is_kept(tmp_path: Path) -> None:
    """What a scorer puts into `detail` comes back as it was, whatever its structure."""
    detail = {"steps": [{"name": "a", "seen": None}], "ünïcode": [1, 2.5, True]}

    def scored(final_response: str) -> Score:
        return Score.scored(1.0, detail=detail)

    evaluate([{"id": 1, "final_response": "x"}], scorers=[scored], run=tmp_path / "a.run")
    (row,) = open_run(tmp_path / "a.run").scores()
    assert row.score.detail == detail


def test_a_done_run_is_written_again(tmp_path: Path) -> None:
    """A run can be exported at any time: the same bytes as the command wrote."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    judge_file(str(rows), "local:0", run=str(tmp_path / "a.run"), out=str(tmp_path / "a.jsonl"))
    open_run(tmp_path / "a.run").export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_scoring_into_a_run(tmp_path: Path) -> None:
    """`score_run` leaves a run that goes on, and can be rescored; a mapped column is read under its new name."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": row["id"], "gold": "x", "final_response": "x"}) + "\n" for row in ROWS))
    path = str(tmp_path / "a.run")
    done = score_run(str(rows), ["qa_em_reward"], columns={"answer": "gold"}, run=path)
    again = score_run(str(rows), ["qa_em_reward"], columns={"answer": "gold"}, run=path)
    assert done.summary is not None
    assert again.summary is not None
    assert done.summary.tallies[0].mean == again.summary.tallies[0].mean
    assert open_run(path).plan.columns == (("answer", "gold"),)
    other = rescore_run(path, scorers=["qa_f1_reward"], run=str(tmp_path / "b.run"))
    assert other.summary is not None
    assert other.summary.tallies[0].counts["scored"] == 6


@pytest.mark.parametrize("content", [b"", b"no run at all" * 100])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is not a run is refused with a reason, one that is not there as well."""
    path = tmp_path / "a.run"
    path.write_bytes(content)
    with pytest.raises(RunError):
        open_run(path)
    with pytest.raises(UsageError, match="there is no such run file"):
        open_run(tmp_path / "b.run")


def test_one_row(tmp_path: Path) -> None:
    """A row is found by its number or its id, with its own replies; one that is not there is a plain error."""
    rows = [{"id": f"q{n}", "question": f"{n}?", "reference": str(n), "response": f"it is {n}"} for n in range(40)]
    with ChatServer() as server:
        judge = LLMJudge("m", base_url=server.base_url, api_key="none")
        evaluate(rows, judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off"))
    run = open_run(tmp_path / "a.run")
    assert run.find("q37") == 37
    assert run.row(37).case.id == "q37"
    assert [row.number for row in run.rows(35)] == [35, 36, 37, 38, 39]
    assert [reply.id for reply in run.replies(37)] == ["q37"]
    for ask in (lambda: run.row(40), lambda: run.row(-1), lambda: run.find("q40")):
        with pytest.raises(UsageError) as caught:
            ask()
        assert caught.value.code == "no-such-row"


def test_rows_that_belong_together_widen_the_interval(tmp_path: Path) -> None:
    """The interval of a run allows for rows of one conversation or group, and only where there are such rows."""

    def mean(column: str, size: int) -> Mean:
        rows = [
            {"id": n, column: f"c{n // size}", "answer": "a", "final_response": "a" if n // 10 % 2 else "b"}
            for n in range(100)
        ]
        evaluate(rows, scorers=["qa_em_reward"], run=tmp_path / f"{column}{size}.run")
        found = open_run(tmp_path / f"{column}{size}.run").summary.tallies[0].mean
        assert found is not None
        return found

    alone, turns, repeats = mean("conversation_id", 1), mean("conversation_id", 10), mean("group_id", 10)
    values = [float(n // 10 % 2) for n in range(100)]
    expected = estimate_mean(values, [n // 10 for n in range(100)], method="wilson")
    assert expected is not None
    assert (turns.value, turns.low, turns.high, turns.method) == (0.5, expected.low, expected.high, "clustered")
    assert repeats == turns
    assert alone == mean_of(Moments.of(values))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("requests.at", 1e308),
        ("requests.at", "x"),
        ("replies.seconds", "x"),
        ("replies.attempts", "x"),
        ("replies.cost", "x"),
    ],
)
def test_measures_of_another_kind(column: str, value: object, tmp_path: Path) -> None:
    """No checksum is over times, attempts and costs, so a file may hold anything there: it is damaged, and says so."""
    path = tmp_path / "a.run"
    shutil.copy(GOLDEN / "runs" / "stopped.run", path)
    table, _, name = column.partition(".")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} SET {name} = ?", (value,))  # noqa: S608 (our own text)
        connection.commit()
    with pytest.raises(RunError) as caught:
        list(open_run(path).replies())
    assert caught.value.code == "run-damaged"
