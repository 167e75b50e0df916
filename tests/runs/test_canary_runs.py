"""Canaries in a run: the judge is tested on answers that are known to be bad, and no row's number changes."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import RunStopped, UsageError
from adjudge.judges import LocalJudge
from adjudge.model import Case
from adjudge.rewards import reward
from adjudge.runs import RunConfig, RunResult, evaluate
from adjudge.runs._merge import merge_runs
from adjudge.runs._reading import run_state
from adjudge.testing import ChatServer, correct
from cli.command import adjudge
from cli.judging import judge, lines, write_rows
from runs.doubles import AskingJudge, Fatal, Model, rows
from runs.test_run_file import OFF, exported

SOME = RunConfig(cache="off", canaries=0.2)


def reported(path: Path) -> tuple[int, int]:
    """Return how many canaries were judged, and how many of them were taken."""
    report = RunResult(path).summary.canaries
    assert report is not None
    return report.scored, report.false_positives


@pytest.mark.parametrize(("say", "taken"), [("CORRECT", 1.0), ("WRONG", 0.0)])
def test_rate(tmp_path: Path, say: str, taken: float) -> None:
    """A judge that takes everything takes every canary, one that takes nothing none; the rows are what they were."""
    named: dict[str, Any] = {"scorers": ["qa_f1_reward"], "judge": AskingJudge(Model(lambda prompt: say))}
    mixed = evaluate(rows(200), **named, run=tmp_path / "a.run", config=SOME)
    plain = evaluate(rows(200), **named, run=tmp_path / "b.run", config=OFF)
    assert mixed.counts == plain.counts == {"scored": 200, "unscored": 0, "error": 0}
    assert exported(mixed.file) == exported(plain.file)
    assert mixed.summary.tallies == plain.summary.tallies
    assert plain.summary.canaries is None
    judged, false = reported(mixed.file)
    assert 20 < judged < 60
    assert false == taken * judged
    assert run_state(mixed.file).calls == 200 + judged


def test_going_on(tmp_path: Path) -> None:
    """A run that was stopped goes on to the same canaries, each judged once; so do merged shards."""
    whole = evaluate(rows(300), judge=AskingJudge(), run=tmp_path / "whole.run", config=SOME).file
    judged = reported(whole)[0]
    model = Model(lambda prompt: Fatal("no") if model.calls > 100 else "CORRECT")
    path = tmp_path / "a.run"
    with pytest.raises(RunStopped):
        evaluate(rows(300), judge=AskingJudge(model), run=path, config=SOME)
    done = run_state(path)
    model.say, model.calls = lambda prompt: "CORRECT", 0
    evaluate(rows(300), judge=AskingJudge(model), run=path, config=SOME)
    assert reported(path) == (judged, judged)
    assert model.calls < 300 + judged - done.done + 5
    shards = [
        evaluate(rows(150, start), judge=AskingJudge(), run=tmp_path / f"{start}.run", config=SOME).file
        for start in (0, 150)
    ]
    merged = merge_runs(tmp_path / "all.run", shards).file
    assert exported(merged) == exported(whole)
    assert reported(merged)[0] == sum(reported(shard)[0] for shard in shards)


def test_done_with_the_last_canary(tmp_path: Path) -> None:
    """A run whose rows are scored is not done before its canaries are."""
    path = evaluate(rows(20), judge=AskingJudge(), run=tmp_path / "a.run", config=SOME).file
    assert run_state(path).state == "done"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM scores WHERE seq = (SELECT min(seq) FROM scores)")
    connection.close()
    assert run_state(path).state == "stopped"


def test_only_the_judge_meets_them(tmp_path: Path) -> None:
    """Agents and scorers never see a canary, and groups stay whole."""
    asked: list[str] = []

    def agent(case: Case) -> str:
        asked.append(case.id)
        return "42"

    @reward(group=True)
    def size(final_response: list[str]) -> list[float]:
        return [float(len(final_response))] * len(final_response)

    grouped = [{**row, "group_id": n // 4} for n, row in enumerate(rows(40))]
    config = RunConfig(cache="off", canaries=1.0)
    result = evaluate(grouped, agent=agent, scorers=[size], judge=LocalJudge(), run=tmp_path / "a.run", config=config)
    assert sorted(asked) == sorted(row["id"] for row in grouped)
    assert {row.score.value for row in result.scores if row.scorer == "size"} == {4.0}
    assert reported(result.file) == (40, 0)
    with pytest.raises(UsageError, match="canaries need a judge"):
        evaluate(rows(1), scorers=["qa_f1_reward"], run=tmp_path / "b.run", config=SOME)
    with pytest.raises(UsageError, match="canaries is a share"):
        RunConfig(canaries=2.0)


def test_command(tmp_path: Path) -> None:
    """The command says beside its table how many canaries the judge took; the output has the rows alone."""
    write_rows(tmp_path / "rows.jsonl", 60)
    with ChatServer(correct) as server:
        planned = judge(tmp_path, server, "--canaries", "50%", "--dry-run").stdout.decode()
        result = judge(tmp_path, server, "--canaries", "50%")
        calls = server.counts.calls
    assert result.returncode == 0, result.stderr
    assert len(lines(tmp_path / "out.jsonl")) == 60
    shown = result.stdout.decode()
    assert " known-bad answers were called CORRECT (" in shown
    assert "60 of 60 rows" in adjudge("show", "a.run", cwd=tmp_path).stdout.decode()
    assert f"calls             {calls:,}\n" in planned
