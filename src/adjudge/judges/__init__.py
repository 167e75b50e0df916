"""Judges: a question, its references and a response in, a verdict or rubric scores out, or why there is neither.

get_judge("openai:gpt-4o").judge("Capital of France?", "Paris", "It is Paris.")     -> Judgement
judge_reward(get_judge("local"))                                                    a reward like every other
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.judges._attacks import Attack, load_attacks
    from adjudge.judges._calibration import (
        Calibration,
        Corrected,
        LabelledRow,
        Probe,
        calibrate,
        labelled,
        load_calibration,
    )
    from adjudge.judges._canaries import CanaryReport, canaries, canary_report, pair_canaries, with_canaries
    from adjudge.judges._cascade import CascadeJudge, CascadeReport, CascadeTally
    from adjudge.judges._criteria import CriteriaJudge, Criterion, RubricScorer
    from adjudge.judges._curve import reliability_svg
    from adjudge.judges._fit import Fit, fit_judge, load_fit
    from adjudge.judges._llm import LLMJudge
    from adjudge.judges._panel import PanelJudge
    from adjudge.judges._registry import CASCADE_OPTIONS, get_judge
    from adjudge.judges._rubric import QUALITY, RubricJudge
    from adjudge.judges._scorer import JudgeScorer, judge_reward, judge_scorer, quality_judge
    from adjudge.judges._vacuous import is_vacuous
    from adjudge.judges.local import LocalJudge

__all__ = [
    "CASCADE_OPTIONS",
    "QUALITY",
    "Attack",
    "Calibration",
    "CanaryReport",
    "CascadeJudge",
    "CascadeReport",
    "CascadeTally",
    "Corrected",
    "CriteriaJudge",
    "Criterion",
    "Fit",
    "JudgeScorer",
    "LLMJudge",
    "LabelledRow",
    "LocalJudge",
    "PanelJudge",
    "Probe",
    "RubricJudge",
    "RubricScorer",
    "calibrate",
    "canaries",
    "canary_report",
    "fit_judge",
    "get_judge",
    "is_vacuous",
    "judge_reward",
    "judge_scorer",
    "labelled",
    "load_attacks",
    "load_calibration",
    "load_fit",
    "pair_canaries",
    "quality_judge",
    "reliability_svg",
    "with_canaries",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_attacks": ("Attack", "load_attacks"),
        "_calibration": (
            "Calibration",
            "Corrected",
            "LabelledRow",
            "Probe",
            "calibrate",
            "labelled",
            "load_calibration",
        ),
        "_canaries": ("CanaryReport", "canaries", "canary_report", "pair_canaries", "with_canaries"),
        "_cascade": ("CascadeJudge", "CascadeReport", "CascadeTally"),
        "_criteria": ("CriteriaJudge", "Criterion", "RubricScorer"),
        "_curve": ("reliability_svg",),
        "_fit": ("Fit", "fit_judge", "load_fit"),
        "_llm": ("LLMJudge",),
        "_panel": ("PanelJudge",),
        "_registry": ("CASCADE_OPTIONS", "get_judge"),
        "_rubric": ("QUALITY", "RubricJudge"),
        "_scorer": ("JudgeScorer", "judge_reward", "judge_scorer", "quality_judge"),
        "_vacuous": ("is_vacuous",),
        "local": ("LocalJudge",),
    },
)
