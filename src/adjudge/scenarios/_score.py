"""What becomes of one run of a scenario: its workflow, its quality and its scorers as one result, and that as a score.

The score's value is whether the scenario passed; the whole result stands in its notes, so that a run file holds it and
a resumed run gives the same.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.errors import AdjudgeError, Caught
from adjudge.judges import QUALITY
from adjudge.model import Score, Status, Trajectory, decode_json, to_json
from adjudge.rewards import Scorer, reward
from adjudge.scenarios._quality import average, judge_quality, no_quality
from adjudge.scenarios._scenario import Scenario
from adjudge.workflow import WorkflowResult, check_workflow, validate_workflow

NAME = "scenario"
RESULT = "result"
PARTS = ("workflow_pass", "clarification_pass", *(f"quality_{name}" for name in QUALITY), "quality_overall")
_WORST: tuple[Status, ...] = ("error", "unscored", "scored")


@dataclass(frozen=True, slots=True)
class Judging:
    """By what the runs of scenarios are judged."""

    scenarios: Mapping[str, Scenario]
    scorers: Mapping[str, Sequence[Scorer]]
    judge: Any = None

    @classmethod
    def of(cls, scenarios: Sequence[Scenario], judge: Any) -> "Judging":
        """Make the scorers of every scenario."""
        made = {one.id: tuple(use.made() for use in one.scorers) for one in scenarios}
        return cls({one.id: one for one in scenarios}, made, judge)

    def reward(self) -> Callable[..., Any]:
        """Return what scores a run of any of the scenarios."""
        judge = "" if self.judge is None else f", quality by {self.judge.name} {self.judge.version}"
        # A run file that is complete is not held against the cases again, but its editions are.
        edition = f"1, scenarios {self._digest()}{judge}"

        @reward(name=NAME, version=edition, parts=PARTS, range=(0.0, 1.0))
        async def scenario(final_response: Any, trajectory: Trajectory, group_id: str, **row: Any) -> Score:
            """1 if the workflow, and the clarification where one is expected, are as they should be, else 0."""
            columns = {**row, "final_response": final_response, "trajectory": trajectory, "group_id": group_id}
            return _score(await self.result(self.scenarios[group_id], trajectory, columns))

        return scenario

    def _digest(self) -> str:
        """Return a short digest of everything that the scenarios say."""
        from hashlib import blake2b

        digest = blake2b(digest_size=8)
        for scenario in self.scenarios.values():
            digest.update(to_json(scenario.plain()))
        return digest.hexdigest()

    async def result(self, scenario: Scenario, record: Trajectory, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Judge one run."""
        checked = await _check(scenario, record)
        statuses: list[Status] = [checked.status]
        reasons = list(checked.reasons)
        quality = None
        if self.judge is not None:
            quality, status, why = await judge_quality(self.judge, scenario, record)
            statuses.append(status)
            reasons += [] if why is None else [f"quality: {why}"]
        scores: dict[str, Any] = {}
        for scorer in self.scorers[scenario.id]:
            score = await scorer.ascore(columns)
            scores[scorer.name] = _plain(score)
            statuses.append(score.status)
            reasons += [] if score.status == "scored" else [f"{scorer.name}: {score.reason}"]
        return {
            **_head(scenario, columns["repeat"]),
            "status": next(status for status in _WORST if status in statuses),
            "pass": checked.passed,
            "workflow": dict(checked.workflow),
            "quality": quality,
            "average_quality": average(quality),
            "clarification": None if checked.clarification is None else dict(checked.clarification),
            "scores": scores,
            "reasons": reasons,
            "warnings": [finding.reason for finding in checked.warnings],
            "requested_not_executed": list(checked.requested_not_executed),
            "response": record.final_response,
            "trace_id": record.trace_id,
            "seconds": record.seconds,
        }


def result_of(score: Score, row: Mapping[str, Any], judging: Judging, trace: str | None) -> dict[str, Any]:
    """Return the result that the score of a row holds; of a run that came to nothing, one that says why."""
    scenario = judging.scenarios[row["group_id"]]
    kept = (score.notes or {}).get(RESULT)
    if kept is not None:
        found: dict[str, Any] = decode_json(kept)
        return found
    workflow = validate_workflow(scenario, agents_called=None, tools_used=None)
    return {
        **_head(scenario, row["repeat"]),
        "status": score.status,
        "pass": None,
        "workflow": {**workflow, "pass": None},
        "quality": None if judging.judge is None else no_quality(),
        "average_quality": None,
        "clarification": None,
        "scores": {},
        "reasons": [score.reason or score.status],
        "warnings": [],
        "requested_not_executed": [],
        "response": None,
        "trace_id": trace,
        "seconds": None,
    }


def columns_of(scenario: Scenario) -> dict[str, Any]:
    """Return what a scorer can take of a run of the scenario, by name."""
    return {**case_row(scenario, 1), "final_response": None, "trajectory": None}


def case_row(scenario: Scenario, repeat: int) -> dict[str, Any]:
    """Return one run of a scenario as the row of a case."""
    row: dict[str, Any] = {
        **scenario.metadata,
        "id": f"{scenario.id}#{repeat}",
        "question": scenario.question,
        "group_id": scenario.id,
        "repeat": repeat,
        "tags": list(scenario.tags),
        "scenario": scenario.plain(),
    }
    if scenario.references:
        row["references"] = row["answer"] = list(scenario.references)
    if scenario.expected_answer_criteria is not None:
        row["criteria"] = scenario.expected_answer_criteria
    return row


async def _check(scenario: Scenario, record: Trajectory) -> WorkflowResult:
    """Check the workflow; rules on arguments may wait for another process, or for somebody's function."""
    if scenario.workflow.tools_arguments:
        return await asyncio.to_thread(check_workflow, scenario.workflow, record)
    return check_workflow(scenario.workflow, record)


def _head(scenario: Scenario, repeat: int) -> dict[str, Any]:
    return {"id": scenario.id, "repeat": repeat, "tags": list(scenario.tags)}


def _plain(score: Score) -> dict[str, Any]:
    return {"value": score.value, "status": score.status, "reason": score.reason, "parts": dict(score.parts)}


def _score(result: Mapping[str, Any]) -> Score:
    """Return a result as a score: a number only where everything that was asked has an answer."""
    clarification, quality = result["clarification"] or {}, result["quality"] or {}
    numbers = {
        "workflow_pass": result["workflow"]["pass"],
        "clarification_pass": clarification.get("pass"),
        **{f"quality_{name}": quality.get(name) for name in QUALITY},
        "quality_overall": result["average_quality"],
    }
    parts = {name: None if value is None else float(value) for name, value in numbers.items()}
    with Caught() as caught:
        notes = {RESULT: to_json(result).decode()}
    if caught.reason is not None:
        raise AdjudgeError(f"the result cannot be kept: {caught.reason}", code="bad-result")
    reason = "; ".join(result["reasons"]) or None
    if result["status"] == "scored":
        return Score.scored(float(result["pass"]), reason=reason, parts=parts, notes=notes)
    make = Score.unscored if result["status"] == "unscored" else Score.error
    return make(reason or result["status"], parts=parts, notes=notes)
