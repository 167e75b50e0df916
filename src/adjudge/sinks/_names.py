"""The scores of one scenario, under the names that dashboards know them by."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adjudge.sinks._scores import DataType, OutScore

__all__ = ["scenario_scores"]

QUALITY = ("answer_quality", "factual_correctness", "completeness")


def scenario_scores(result: Mapping[str, Any], like: OutScore) -> list[OutScore]:
    """Return what a scenario's result says, as scores for the place of `like` (trace, session, run, metadata).

    `workflow_pass`, `quality_answer_quality`, `quality_factual_correctness`, `quality_completeness` and, of a complete
    set, their mean `quality_overall`; the judge's reasoning is the comment. What was not asked for gives no score; what
    was asked for and has no value gives one without a value, which sinks list and do not send.

    >>> quality = {"answer_quality": 0.75, "factual_correctness": 1.0, "completeness": 0.5, "reasoning": "Fair."}
    >>> scores = scenario_scores({"workflow": {"pass": True}, "quality": quality}, OutScore("", trace_id="t1"))
    >>> [(score.name, score.value) for score in scores][::4]
    [('workflow_pass', True), ('quality_overall', 0.75)]
    """
    found: list[OutScore] = []
    told = result.get("reason") or "; ".join(result.get("reasons") or ()) or result.get("status")
    why = str(told or "not scored")
    workflow, quality = result.get("workflow"), result.get("quality")
    if workflow is not None:
        passed = workflow.get("pass")
        found.append(_scored(like, "workflow_pass", passed, None if passed is not None else why))
    if quality is not None:
        values = {name: quality.get(name) for name in QUALITY}
        if all(isinstance(value, int | float) for value in values.values()):
            values["overall"] = sum(values.values()) / len(QUALITY)
        comment = quality.get("reasoning")
        for name, value in values.items():
            reason = None if value is not None else why
            found.append(replace(_scored(like, f"quality_{name}", value, reason), comment=comment))
    return found


def _scored(like: OutScore, name: str, value: Any, reason: str | None) -> OutScore:
    kind: DataType = "boolean" if name == "workflow_pass" else "numeric"
    return replace(like, name=name, value=value, data_type=kind, reason=reason, id="")
