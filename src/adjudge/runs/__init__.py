"""Runs: rows or cases in, scores and their summary out.

score_file("rows.jsonl", ["qa_f1_reward"])                     a light pass over a file: no run file
evaluate(cases, agent=agent, scorers=[...], judge="local")     a run: everything that happened is in one file
open_run("july.run")                                           that file, read back
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names
from adjudge.runs._score_file import check_place, row_label, score_file
from adjudge.runs._summary import Summary, Tally

if TYPE_CHECKING:
    from adjudge.runs._attack import Attacked, AttackKind, attack_judge
    from adjudge.runs._calibrate import Calibrated, calibrate_file, paired_difference
    from adjudge.runs._cases import CaseRead, cluster_of, plain_message, read_cases
    from adjudge.runs._desk import Desk
    from adjudge.runs._engine import Progress
    from adjudge.runs._estimate import CostEstimate, estimate, estimate_rescore, estimate_resume
    from adjudge.runs._evaluate import RunResult, aevaluate, evaluate
    from adjudge.runs._fit import fit_file
    from adjudge.runs._fleet import Fleet, MemberLost
    from adjudge.runs._merge import merge_runs, pack_run
    from adjudge.runs._plan import Job, Plan, RunConfig, make_job
    from adjudge.runs._reading import (
        Attempt,
        RowReply,
        RowScore,
        RowTrajectory,
        RunCase,
        RunFile,
        RunRow,
        RunState,
        list_runs,
        open_run,
    )
    from adjudge.runs._run import RunTask, Session, run_session
    from adjudge.runs._seal import GivenAgain
    from adjudge.runs._sessions import (
        Evaluation,
        Finished,
        evaluate_file,
        judge_file,
        rescore_run,
        resume_run,
        score_run,
    )
    from adjudge.runs._shards import Segment, Shard, forget_shard, recover_shard, work_shard
    from adjudge.runs._stopping import EarlyStop, Stopping, Target, TargetFinding, UnscoredLimit
    from adjudge.runs._store import new_run_file, runs_folder

__all__ = [
    "AttackKind",
    "Attacked",
    "Attempt",
    "Calibrated",
    "CaseRead",
    "CostEstimate",
    "Desk",
    "EarlyStop",
    "Evaluation",
    "Finished",
    "Fleet",
    "GivenAgain",
    "Job",
    "MemberLost",
    "Plan",
    "Progress",
    "RowReply",
    "RowScore",
    "RowTrajectory",
    "RunCase",
    "RunConfig",
    "RunFile",
    "RunResult",
    "RunRow",
    "RunState",
    "RunTask",
    "Segment",
    "Session",
    "Shard",
    "Stopping",
    "Summary",
    "Tally",
    "Target",
    "TargetFinding",
    "UnscoredLimit",
    "aevaluate",
    "attack_judge",
    "calibrate_file",
    "check_place",
    "cluster_of",
    "estimate",
    "estimate_rescore",
    "estimate_resume",
    "evaluate",
    "evaluate_file",
    "fit_file",
    "forget_shard",
    "judge_file",
    "list_runs",
    "make_job",
    "merge_runs",
    "new_run_file",
    "open_run",
    "pack_run",
    "paired_difference",
    "plain_message",
    "read_cases",
    "recover_shard",
    "rescore_run",
    "resume_run",
    "row_label",
    "run_session",
    "runs_folder",
    "score_file",
    "score_run",
    "work_shard",
]

# Loaded when first used: scoring a file imports neither the database nor the event loop.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_attack": ("AttackKind", "Attacked", "attack_judge"),
        "_calibrate": ("Calibrated", "calibrate_file", "paired_difference"),
        "_cases": ("CaseRead", "cluster_of", "plain_message", "read_cases"),
        "_desk": ("Desk",),
        "_engine": ("Progress",),
        "_estimate": ("CostEstimate", "estimate", "estimate_rescore", "estimate_resume"),
        "_evaluate": ("RunResult", "aevaluate", "evaluate"),
        "_fit": ("fit_file",),
        "_fleet": ("Fleet", "MemberLost"),
        "_merge": ("merge_runs", "pack_run"),
        "_plan": ("Job", "Plan", "RunConfig", "make_job"),
        "_reading": (
            "Attempt",
            "RowReply",
            "RowScore",
            "RowTrajectory",
            "RunCase",
            "RunFile",
            "RunRow",
            "RunState",
            "list_runs",
            "open_run",
        ),
        "_run": ("RunTask", "Session", "run_session"),
        "_seal": ("GivenAgain",),
        "_sessions": (
            "Evaluation",
            "Finished",
            "evaluate_file",
            "judge_file",
            "rescore_run",
            "resume_run",
            "score_run",
        ),
        "_shards": ("Segment", "Shard", "forget_shard", "recover_shard", "work_shard"),
        "_stopping": ("EarlyStop", "UnscoredLimit", "Stopping", "Target", "TargetFinding"),
        "_store": ("new_run_file", "runs_folder"),
    },
)
