"""Judges: a question, its references and a response in, a verdict or rubric scores out, or why there is neither.

get_judge("openai:gpt-4o").judge("Capital of France?", "Paris", "It is Paris.")     -> Judgement
judge_reward(get_judge("local"))                                                    a reward like every other
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjudge.judges._calibration import Calibration, LabelledRow, calibrate, load_calibration
    from adjudge.judges._canaries import CanaryReport, canaries, canary_report, with_canaries
    from adjudge.judges._cascade import CascadeJudge, CascadeReport
    from adjudge.judges._llm import LLMJudge
    from adjudge.judges._panel import PanelJudge
    from adjudge.judges._registry import get_judge
    from adjudge.judges._reward import judge_reward
    from adjudge.judges._rubric import QUALITY, RubricJudge
    from adjudge.judges._vacuous import is_vacuous
    from adjudge.judges.local import LocalJudge

__all__ = [
    "QUALITY",
    "Calibration",
    "CanaryReport",
    "CascadeJudge",
    "CascadeReport",
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
    "load_calibration",
    "with_canaries",
]

# Each loaded when first used: whoever judges locally pays for no event loop.
_HOMES = {
    "_calibration": ("Calibration", "LabelledRow", "calibrate", "load_calibration"),
    "_canaries": ("CanaryReport", "canaries", "canary_report", "with_canaries"),
    "_cascade": ("CascadeJudge", "CascadeReport"),
    "_llm": ("LLMJudge",),
    "_panel": ("PanelJudge",),
    "_registry": ("get_judge",),
    "_reward": ("judge_reward",),
    "_rubric": ("QUALITY", "RubricJudge"),
    "_vacuous": ("is_vacuous",),
    "local": ("LocalJudge",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"adjudge.judges.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'adjudge.judges' has no attribute {name!r}")
