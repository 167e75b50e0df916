"""A run is bound to what it was started with: its cases, their order, the saved answers, the code that answers."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import RunError
from adjudge.runs import RunConfig, evaluate

OFF = RunConfig(cache="off")
SCORERS = ["qa_f1_reward"]


def rows(count: int, answer: str = "Paris") -> list[dict[str, Any]]:
    """Return rows that a reward scores."""
    return [{"id": n, "answer": "Paris", "final_response": f"{answer} {n}"} for n in range(count)]


def refused(cases: Any, run: Path, **options: Any) -> str:
    """Return why a run is not resumed with these cases."""
    with pytest.raises(RunError) as caught:
        evaluate(cases, scorers=SCORERS, run=run, config=OFF, **options)
    assert caught.value.code == "run-mismatch"
    return caught.value.message


def test_the_same_cases_again(tmp_path: Path) -> None:
    """The same cases again give the same scores, whatever kind of iterable holds them."""
    first = evaluate(rows(600), scorers=SCORERS, run=tmp_path / "a.run", config=OFF)
    again = evaluate((row for row in rows(600)), scorers=SCORERS, run=tmp_path / "a.run", config=OFF)
    assert list(first.scores) == list(again.scores)


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        (rows(600, "Rome"), "case 1 "),
        ([*rows(599), {"id": 599, "answer": "x", "final_response": "x"}], "case 600 "),
        (rows(599), "599 of the 600 cases"),
        (rows(601), "more than the 600 cases"),
        (rows(600)[::-1], "case 1 "),
        ([], "0 of the 600 cases"),
    ],
)
def test_other_cases_are_refused(tmp_path: Path, cases: Any, words: str) -> None:
    """A complete run never returns its scores for other cases: fewer, more, changed, or in another order."""
    evaluate(rows(600), scorers=SCORERS, run=tmp_path / "a.run", config=OFF)
    message = refused(cases, tmp_path / "a.run")
    assert words in message
    assert "another run file" in message


def test_other_trajectories_are_refused(tmp_path: Path) -> None:
    """Saved answers belong to the cases: others, given by id or as a file, are refused."""
    cases = [{"id": str(n), "answer": "Paris"} for n in range(3)]
    saved = {str(n): {"final_response": "Paris"} for n in range(3)}
    evaluate(cases, trajectories=saved, scorers=SCORERS, run=tmp_path / "a.run", config=OFF)
    assert "case 2 " in refused(cases, tmp_path / "a.run", trajectories={**saved, "1": {"final_response": "Rome"}})
    file, answers = tmp_path / "cases.jsonl", tmp_path / "answers.jsonl"
    file.write_text("".join(f'{{"id": {n}, "answer": "Paris"}}\n' for n in range(3)))
    answers.write_text("".join(f'{{"id": {n}, "final_response": "Paris"}}\n' for n in range(3)))
    evaluate(file, trajectories=answers, scorers=SCORERS, run=tmp_path / "b.run", config=OFF)
    answers.write_text("".join(f'{{"id": {n}, "final_response": "Rome"}}\n' for n in range(3)))
    assert "case 1 " in refused(file, tmp_path / "b.run", trajectories=answers)


KILLED = """
import os, sys
from adjudge import evaluate
from adjudge.runs import RunConfig
def rows():
    for n in range(1500):
        if n == 600:  # the pages before this one are in the file
            import time
            time.sleep(1)
            os._exit(9)
        yield {"id": n, "answer": "Paris", "final_response": f"Paris {n}"}
evaluate(rows(), scorers=["qa_f1_reward"], run=sys.argv[1], config=RunConfig(cache="off"))
"""


def test_cases_cut_short_by_a_kill(tmp_path: Path) -> None:
    """A run killed while its cases were read takes the rest of them, and no shorter list."""
    run = tmp_path / "a.run"
    assert subprocess.run([sys.executable, "-c", KILLED, str(run)], check=False).returncode == 9
    assert "100 of the 512 cases" in refused(rows(100), run)
    result = evaluate(rows(1500), scorers=SCORERS, run=run, config=OFF)
    assert result.counts == {"scored": 1500, "unscored": 0, "error": 0}


AGENT = """
from adjudge import evaluate
from adjudge.runs import RunConfig
import sys
def agent(question):
    return {answer!r}
result = evaluate([{{"id": 1, "question": "Capital?", "answer": "Paris"}}], agent=agent, scorers=["qa_f1_reward"],
                  run=sys.argv[1], config=RunConfig(cache="off", accept_changes={accept}))
print([row.score.value for row in result.scores], result.warnings)
"""


def run_agent(folder: Path, answer: str, *, accept: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a script whose agent gives that answer."""
    script = folder / "script.py"
    script.write_text(AGENT.format(answer=answer, accept=accept))
    command = [sys.executable, str(script), str(folder / "a.run")]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_a_changed_agent_is_refused(tmp_path: Path) -> None:
    """An agent whose source has changed is another agent, although its name is the same; a person may accept it."""
    assert run_agent(tmp_path, "Paris").stdout.startswith("[1.0]")
    assert run_agent(tmp_path, "Paris").stdout.startswith("[1.0]")
    changed = run_agent(tmp_path, "Rome")
    assert "run-mismatch" in changed.stderr or "has changed since the run began" in changed.stderr
    assert changed.returncode
    accepted = run_agent(tmp_path, "Rome", accept=True)
    assert accepted.stdout.startswith("[1.0]")  # what was scored stays; the change is on record
    assert run_agent(tmp_path, "Rome").returncode == 0
    assert run_agent(tmp_path, "Paris").returncode


def test_a_scorer_without_source_is_a_warning(tmp_path: Path) -> None:
    """Where the source cannot be read, a resumed run says that a change would not be seen."""

    def run() -> tuple[str, ...]:
        scorer = lambda final_response: 1.0  # noqa: E731 (what is tested)
        return evaluate(rows(2), scorers=[scorer], run=tmp_path / "a.run", config=OFF).warnings

    assert run() == ()
    assert len(warnings := run()) == 1
    assert "<lambda>" in warnings[0]
