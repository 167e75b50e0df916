"""Harbor: a scorer verifies a task, by `adjudge score ROW --harbor` inside its `tests/test.sh`.

    /logs/agent/trajectory.json         what the agent did, in ATIF
    /logs/verifier/reward.json          {"reward": 1.0, "f1": 1.0}, where it has a number, else no file

Without a reward file the trial is an error of its verifier, and not a 0. What an agent may have left in place of the
reward is removed first. The paths are those that verifiers 0.4 reads in Harbor's tasks; not run with Harbor itself.
"""

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adjudge.errors import AdjudgeError, DataError, UsageError
from adjudge.integrations._rollouts import with_response
from adjudge.model import Score, Trajectory
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs import read_cases
from adjudge.traces import load

__all__ = ["score_trial"]

_MAX_ANSWER = 1 << 20  # bytes
_MAX_TRAJECTORY = 1 << 27  # bytes; a long trial has some ten million


def score_trial(
    row: str | Path | Mapping[str, Any],
    scorer: str | Callable[..., Any] | Scorer,
    *,
    logs: str | Path = "/logs",
    answer_file: str | Path | None = None,
) -> Score:
    """Score what the agent of a trial did, and write Harbor's reward file if there is a number.

    `row`, or the only row of a file, has the other columns, such as `answer`. The response is the agent's last reply,
    or the text in `answer_file`, which the agent was asked to write.
    """
    made, folder = get_scorer(scorer), Path(logs) / "verifier"
    for name in ("reward.json", "reward.txt"):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            return Score.error(f"bad-reward-file: {folder / name} cannot be removed: {error.strerror}")
    reads = list(read_cases([row] if isinstance(row, Mapping) else row))
    columns = reads[0].row if len(reads) == 1 else None
    if columns is None:
        raise UsageError("a trial has one row, with the columns that its agent does not write, such as the answer")
    asked = {name: value for name, value in columns.items() if name != "trajectory"}
    place = Path(logs) / "agent" / "trajectory.json"
    # Where TRL plays a trial there is no agent of Harbor's, and so no such file: then there is the answer alone.
    if answer_file is None or os.path.lexists(place):
        try:
            asked["trajectory"] = _trajectory(place)
        except AdjudgeError as error:
            return Score.error(f"no-trajectory: {error}")
    response = asked["trajectory"].final_response if answer_file is None else _written(Path(answer_file))
    score = made.score(with_response(asked, response))
    if score.value is not None:
        parts = {name: value for name, value in score.parts.items() if value is not None}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reward.json").write_text(json.dumps({**parts, "reward": score.value}), encoding="utf-8")
    return score


def _trajectory(path: Path) -> Trajectory:
    """Return the record of the trial; the agent may have put anything in its place."""
    content = _content(path, _MAX_TRAJECTORY)
    if content is None:
        raise DataError(f"{path} is not an ordinary file that can be read")
    if len(content) == _MAX_TRAJECTORY:
        raise DataError(f"{path} has {_MAX_TRAJECTORY:,} bytes or more, which is too much")
    record = load(content, format="atif")
    if not record.messages:
        raise DataError(f"{path} has no steps")
    return record


def _written(path: Path) -> str:
    """Return what the agent wrote into a file of its workspace; nothing where that is not an ordinary file."""
    # A link above the file could lead to the answers.
    content = _content(path, _MAX_ANSWER) if path.resolve() == path.absolute() else None
    return "" if content is None else content.decode("utf-8", "replace").strip()


def _content(path: Path, most: int) -> bytes | None:
    """Return the beginning of an ordinary file, or None: a link could lead anywhere, and a pipe never ends."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)
