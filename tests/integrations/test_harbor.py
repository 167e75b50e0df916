"""A trial of Harbor, as its verifier finds it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.integrations.harbor import score_trial
from cli.command import F1, adjudge
from trainers import golden

ROW = {"question": "Capital of France?", "answer": "Paris"}
STEPS = [
    {"step_id": 1, "source": "user", "message": "Capital of France?"},
    {"step_id": 2, "source": "agent", "message": "Paris"},
]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a trial's logs, in which the agent has written a reward of its own."""
    record = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": STEPS}
    for name in ("agent", "verifier"):
        (tmp_path / "logs" / name).mkdir(parents=True)
    (tmp_path / "logs" / "agent" / "trajectory.json").write_text(json.dumps(record))
    (tmp_path / "logs" / "verifier" / "reward.json").write_text('{"reward": 7}')
    (tmp_path / "logs" / "verifier" / "reward.txt").write_text("7")
    return tmp_path / "logs"


def rewards(logs: Path) -> dict[str, Any]:
    """Return what Harbor reads, by file."""
    return {path.name: json.loads(path.read_text()) for path in (logs / "verifier").iterdir()}


def test_a_number_is_the_reward(logs: Path) -> None:
    """The value is `reward`, the parts stand beside it."""
    assert score_trial(ROW, "qa_f1_reward", logs=logs).value == 1.0
    assert rewards(logs) == {"reward.json": {"reward": 1.0, "f1": 1.0, "em": 1.0, "precision": 1.0, "recall": 1.0}}


def test_without_a_number_there_is_no_file(logs: Path) -> None:
    """Neither an answer that is missing nor a trajectory that is missing becomes a 0, or keeps what the agent wrote."""
    assert score_trial({"question": "?"}, "qa_f1_reward", logs=logs).status == "error"
    assert rewards(logs) == {}
    (logs / "agent" / "trajectory.json").unlink()
    assert str(score_trial(ROW, "qa_f1_reward", logs=logs).reason).startswith("no-trajectory")
    assert rewards(logs) == {}


def test_the_answer_may_be_a_file(logs: Path, tmp_path: Path) -> None:
    """What the agent wrote is the response; without the file it said nothing, which is wrong and no fault."""
    answer = tmp_path / "answer.txt"
    assert score_trial(ROW, "qa_em_reward", logs=logs, answer_file=answer).value == 0.0
    answer.write_text("Paris\n")
    assert score_trial(ROW, "qa_em_reward", logs=logs, answer_file=answer).value == 1.0


def test_without_a_trajectory_the_answer_file_is_enough(logs: Path, tmp_path: Path) -> None:
    """TRL plays trials itself and leaves no trajectory: a scorer that looks at the answer alone has a number."""
    (logs / "agent" / "trajectory.json").unlink()
    answer = tmp_path / "answer.txt"
    answer.write_text("Paris")
    assert score_trial(ROW, "qa_em_reward", logs=logs, answer_file=answer).value == 1.0
    # What a tool did nobody knows, and least of all a column of the row.
    row = {**ROW, "trajectory": [{"role": "tool", "content": "x"}]}
    assert score_trial(row, "qa_f1_reward_tool", logs=logs, answer_file=answer).status == "error"
    assert rewards(logs) == {}
    (logs / "agent" / "trajectory.json").write_text("{")
    assert str(score_trial(ROW, "qa_em_reward", logs=logs, answer_file=answer).reason).startswith("no-trajectory")


def test_a_judge_reads_the_trial_and_no_column(logs: Path) -> None:
    """A row may have a column `response`, of another model say."""
    row = {**ROW, "response": "Lyon", "candidate": "Lyon"}
    assert score_trial(row, "local:0", logs=logs).value == 1.0


@pytest.mark.parametrize("kind", ["link", "folder-link", "pipe", "folder"])
def test_only_an_ordinary_file_is_read(logs: Path, tmp_path: Path, kind: str) -> None:
    """A link could lead to the answers, a pipe would never end: nothing was said."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "answer.txt").write_text("Paris")
    answer = tmp_path / "answer.txt"
    if kind == "link":
        answer.symlink_to(tmp_path / "tests" / "answer.txt")
    elif kind == "folder-link":
        (tmp_path / "app").symlink_to(tmp_path / "tests")
        answer = tmp_path / "app" / "answer.txt"
    elif kind == "pipe":
        os.mkfifo(answer)
    else:
        answer.mkdir()
    assert score_trial(ROW, "qa_em_reward", logs=logs, answer_file=answer).value == 0.0


@pytest.mark.parametrize("kind", ["link", "dangling-link", "pipe", "folder", "device", "huge", "no-steps"])
def test_only_an_ordinary_trajectory_is_read(logs: Path, tmp_path: Path, kind: str) -> None:
    """The agent may leave anything in its place: the trial is an error, which has no reward file, and it ends."""
    place = logs / "agent" / "trajectory.json"
    record = place.rename(tmp_path / "elsewhere.json")
    if kind == "link":
        place.symlink_to(record)
    elif kind == "dangling-link":
        place.symlink_to(tmp_path / "nowhere.json")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "huge":
        with place.open("wb") as file:
            file.truncate(1 << 32)
    else:
        place.write_text(json.dumps({**json.loads(record.read_text()), "steps": []}))
    answer = tmp_path / "answer.txt"
    answer.write_text("Paris")
    for answer_file in (None, answer):
        score = score_trial(ROW, "qa_f1_reward", logs=logs, answer_file=answer_file)
        assert str(score.reason).startswith("no-trajectory: "), score
        assert rewards(logs) == {}


def test_a_pipe_ends_the_command(logs: Path, tmp_path: Path) -> None:
    """It exits with 3, as where there is no trajectory."""
    place = logs / "agent" / "trajectory.json"
    place.unlink()
    os.mkfifo(place)
    (tmp_path / "row.jsonl").write_text(json.dumps(ROW) + "\n")
    done = adjudge("score", "row.jsonl", *F1, "--harbor", "--logs", str(logs), cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert b"no-trajectory" in done.stderr


def test_a_folder_in_place_of_the_reward_is_named(logs: Path) -> None:
    """A reward that cannot be removed is not left to stand for this one."""
    (logs / "verifier" / "reward.json").unlink()
    (logs / "verifier" / "reward.json").mkdir()
    score = score_trial(ROW, "qa_f1_reward", logs=logs)
    assert score.status == "error"
    assert "reward.json cannot be removed" in str(score.reason)


def test_one_row(logs: Path, tmp_path: Path) -> None:
    """A file of several rows is a wrong call."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW) + "\n")
    with pytest.raises(UsageError, match="one row"):
        score_trial(rows, "qa_f1_reward", logs=logs)


@pytest.mark.parametrize(
    ("row", "code", "said"), [(ROW, 0, "1.0\n"), ({"question": "?"}, 3, "undecided: the trial is error")]
)
def test_the_command(logs: Path, tmp_path: Path, row: Any, code: int, said: str) -> None:
    """It exits with 0 where there is a number, and with 3 where there is none, and says why."""
    (tmp_path / "row.jsonl").write_text(json.dumps(row) + "\n")
    done = adjudge("score", "row.jsonl", *F1, "--harbor", "--logs", str(logs), cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in (done.stdout + done.stderr).decode()
    assert (len(rewards(logs)) == 1) == (code == 0)


def test_what_the_agent_wrote_moves_no_cursor(logs: Path, tmp_path: Path) -> None:
    """Why a trial has no number may quote the agent: it is printed without escapes, and without commands for CI."""
    (tmp_path / "mine.py").write_text("def rule(final_response):\n    raise ValueError('\\x1b[2J' + '::error::no')\n")
    (tmp_path / "row.jsonl").write_text(json.dumps(ROW) + "\n")
    done = adjudge("score", "row.jsonl", "--scorer", "mine:rule", "--harbor", "--logs", str(logs), cwd=tmp_path)
    assert done.returncode == 3
    assert b"\x1b" not in done.stderr
    assert b"::error::" not in done.stderr


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(logs: Path, scorer: str) -> None:
    """Rows have the numbers that they have everywhere; a trial without a number has no reward file."""
    values = []
    place = logs / "agent" / "trajectory.json"
    record = json.loads(place.read_text())
    for row in golden.rows(scorer):
        said = [{**STEPS[0], "message": row["prompt"]}, {**STEPS[1], "message": row["response"]}]
        place.write_text(json.dumps({**record, "steps": said}))
        score_trial({"question": row["prompt"], "answer": row["answer"]}, scorer, logs=logs)
        values.append(rewards(logs).get("reward.json", {}).get("reward"))
    golden.check(scorer, values)
