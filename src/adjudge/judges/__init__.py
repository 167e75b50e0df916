"""Judges: a question, its references and a response in, a verdict or rubric scores out, or why there is neither.

get_judge("openai:gpt-4o").judge("Capital of France?", "Paris", "It is Paris.")     -> Judgement
judge_reward(get_judge("local"))                                                    a reward like every other
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.judges._calibration import Calibration, LabelledRow, calibrate, load_calibration
    from adjudge.judges._canaries import CanaryReport, canaries, canary_report, with_canaries
    from adjudge.judges._cascade import CascadeJudge, CascadeReport
    from adjudge.judges._llm import LLMJudge
    from adjudge.judges._panel import PanelJudge
    from adjudge.judges._registry import get_judge
    from adjudge.judges._rubric import QUALITY, RubricJudge
    from adjudge.judges._scorer import JudgeScorer, judge_reward, judge_scorer, quality_judge
    from adjudge.judges._vacuous import is_vacuous
    from adjudge.judges.local import LocalJudge

__all__ = [
    "QUALITY",
    "Calibration",
    "CanaryReport",
    "CascadeJudge",
    "CascadeReport",
    "JudgeScorer",
    "LLMJudge",
    "LabelledRow",
    "LocalJudge",
    "PanelJudge",
    "RubricJudge",
    "calibrate",
    "canaries",
    "canary_report",
    "get_judge",
    "is_vacuous",
    "judge_reward",
    "judge_scorer",
    "load_calibration",
    "quality_judge",
    "with_canaries",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_calibration": ("Calibration", "LabelledRow", "calibrate", "load_calibration"),
        "_canaries": ("CanaryReport", "canaries", "canary_report", "with_canaries"),
        "_cascade": ("CascadeJudge", "CascadeReport"),
        "_llm": ("LLMJudge",),
        "_panel": ("PanelJudge",),
        "_registry": ("get_judge",),
        "_rubric": ("QUALITY", "RubricJudge"),
        "_scorer": ("JudgeScorer", "judge_reward", "judge_scorer", "quality_judge"),
        "_vacuous": ("is_vacuous",),
        "local": ("LocalJudge",),
    },
)
