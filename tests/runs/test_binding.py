"""A run is bound to what it was started with: its cases, their order, the saved answers, the code that answers."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge import open_run
from adjudge.errors import RunError
from adjudge.model import ChatReply
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._records import ReplyRecord, write_reply, write_request
from adjudge.runs._store import Store

from . import doubles
from .doubles import AskingJudge, Model

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


def test_one_run_under_two_names(tmp_path: Path) -> None:
    """A run that is written under one name cannot be written under another one: a link, a relative path."""
    real, link = tmp_path / "a.run", tmp_path / "b.run"
    with Store.write(real):
        link.symlink_to(real)
        for name in (link, tmp_path / "." / "a.run", Path(os.path.relpath(real))):
            with pytest.raises(RunError, match="in use by process"):
                Store.write(name)
    with Store.write(link):
        assert sorted(path.name for path in tmp_path.glob("*.lock")) == ["a.run.lock"]
    (tmp_path / "c.run").hardlink_to(real)
    with pytest.raises(RunError, match="hard link") as caught:
        Store.write(real)
    assert caught.value.code == "run-linked"


def test_a_reply_belongs_to_its_request(tmp_path: Path) -> None:
    """A reply counts only for the request with the same content, whatever their numbers say."""
    reply = ReplyRecord(ChatReply("CORRECT"))
    with Store.write(tmp_path / "a.run") as store:
        store.commit([write_request(1, 0, b"ours", 0.0, b"{}"), write_reply(1, reply, key=b"theirs")])
        store.commit([write_request(2, 0, b"mine", 0.0, b"{}"), write_reply(2, reply, key=b"mine")])
        store.commit([write_request(3, 0, b"older", 0.0, b"{}"), write_reply(3, reply)])
        assert list(store.replies(0)) == [b"mine", b"older"]


PAID = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[2])
from adjudge.runs import RunConfig, evaluate
from runs.doubles import AskingJudge, Model, rows
class Dies(Model):
    async def complete(self, request):
        if self.calls == 60:
            await asyncio.sleep(float(sys.argv[3]))
            os._exit(9)
        return await super().complete(request)
evaluate(rows(100), judge=AskingJudge(Dies()), run=sys.argv[1], config=RunConfig(cache="off", workers=4))
"""


def killed(run: Path, pause: float) -> None:
    """Leave a run that was killed after 60 replies and a pause."""
    command = [sys.executable, "-c", PAID, str(run), str(Path(__file__).parent.parent), str(pause)]
    assert subprocess.run(command, check=False).returncode == 9


def test_a_removed_run_leaves_nothing(tmp_path: Path) -> None:
    """A new run does not take over what a removed run of the same name left beside it."""
    run = tmp_path / "a.run"
    killed(run, 0.0)
    assert list(tmp_path.glob("a.run.tail-*"))
    run.unlink()
    model = Model()
    result = evaluate(doubles.rows(3), judge=AskingJudge(model), run=run, config=OFF)
    assert (model.calls, result.counts["scored"]) == (3, 3)
    assert len(list(open_run(run).replies())) == 3


def test_a_run_is_one_file(tmp_path: Path) -> None:
    """Soon after a write the run file alone, without what stands beside it, holds it; nobody has to end the run."""
    run, copy = tmp_path / "a.run", tmp_path / "elsewhere" / "a.run"
    copy.parent.mkdir()
    command = [sys.executable, "-c", PAID, str(run), str(Path(__file__).parent.parent), "600"]
    with subprocess.Popen(command) as process:
        try:
            for _ in range(600):
                time.sleep(0.1)
                if run.exists() and run.stat().st_size > 4096:
                    shutil.copy(run, copy)
                    if open_run(copy).counts["scored"] == 60:
                        break
        finally:
            process.kill()
    assert open_run(copy).counts == {"scored": 60, "unscored": 0, "error": 40}
    assert sum(reply.reply is not None for reply in open_run(copy).replies()) == 60
