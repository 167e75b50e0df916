"""Chapter 1: the rollouts of a small research assistant, scored by several rewards.

The sample is our own and in the public domain (CC0): 12 questions with 4 rollouts each, and three broken rows.
"""

from importlib.resources import as_file, files
from pathlib import Path

from adjudge.datasets import read_rows
from adjudge.demo._scene import Scene
from adjudge.model import Trajectory
from adjudge.runs import score_file

SCORERS = ("qa_f1_reward", "qa_f1_reward_tool", "format_reward")


def sample_path() -> Path:
    """Return where the sample rollouts are, as a file that can be copied."""
    with as_file(files("adjudge.demo") / "rollouts.jsonl") as path:
        return path


def chapter(scene: Scene) -> None:
    """Score the sample rollouts and show the scores."""
    path = str(sample_path())
    rows = [row.columns for row in read_rows(path) if row.columns is not None]
    scene.say(f"1. Rewards: {len(rows)} rollouts of a small research assistant, each scored by {len(SCORERS)} rewards")
    for row in (rows[1], rows[7], rows[18]):
        used = ", ".join(Trajectory.from_messages(row["trajectory"]).tools_used) or "none"
        lines = [f"wanted {row['answer']!r}", f"got    {row['final_response']!r}", f"tools  {used}"]
        scene.say("\n        ".join([f"    {row['question']}", *lines]))
    scene.show(score_file(path, SCORERS))
    scene.say(
        "Three rows of the sample are broken on purpose, and two have no record of tool calls. They are counted apart "
        "and named, never scored 0, and the lines below the table say where the mean would lie with them."
    )
