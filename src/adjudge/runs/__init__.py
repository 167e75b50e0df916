"""Runs: rows or cases in, scores and what they amount to out.

score_file("rows.jsonl", ["qa_f1_reward"])                     a light pass over a file: no run file
evaluate(cases, agent=agent, scorers=[...], judge="local")     a run: everything that happened is in one file
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names
from adjudge.runs._score_file import score_file
from adjudge.runs._summary import Summary, Tally

if TYPE_CHECKING:
    from adjudge.runs._config import RunConfig
    from adjudge.runs._engine import Progress
    from adjudge.runs._evaluate import RowScore, RunResult, aevaluate, evaluate
    from adjudge.runs._plan import Plan

__all__ = [
    "Plan",
    "Progress",
    "RowScore",
    "RunConfig",
    "RunResult",
    "Summary",
    "Tally",
    "aevaluate",
    "evaluate",
    "score_file",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_config": ("RunConfig",),
        "_engine": ("Progress",),
        "_evaluate": ("RowScore", "RunResult", "aevaluate", "evaluate"),
        "_plan": ("Plan",),
    },
)
