"""One run of a scenario, judged: its workflow, its quality and its scorers as one result, and that as a score.

The score's value is whether the scenario passed; the whole result is the score's `detail`, so that a run file holds it
and a resumed run gives the same.
"""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from adjudge.errors import AdjudgeError, Caught
from adjudge.judges import QUALITY, JudgeScorer
from adjudge.judges.columns import RESPONSES
from adjudge.model import Context, Provenance, Score, Status, Trajectory, decode_json, to_json
from adjudge.rewards import Row, Scorer
from adjudge.scenarios._scenario import Scenario
from adjudge.workflow import check_workflow, validate_workflow

NAME = "scenario"
LARGEST = 200_000  # characters of sources that a judge is shown
ROLES = {"user": "User", "assistant": "Assistant"}
_QUALITY = (*QUALITY, "reasoning")
_WORST: tuple[Status, ...] = ("error", "unscored", "scored")


class ScenarioScorer(Scorer):
    """1 if workflow, clarification where one is expected, and the scorers that decide are as they should be, else 0."""

    name = NAME
    parts = ("workflow_pass", "clarification_pass", *(f"quality_{name}" for name in QUALITY), "quality_overall")
    range = (0.0, 1.0)
    columns = ("final_response", "trajectory", "group_id")
    accepts = None
    is_async = True
    has_async = True
    is_group = False

    def __init__(self, scenarios: Sequence[Scenario], judge: Any) -> None:
        self.scenarios = {one.id: one for one in scenarios}
        self._scorers = {one.id: [(use.make(), use.threshold) for use in one.scorers] for one in scenarios}
        self._quality = None if judge is None else JudgeScorer(judge, name="quality", by_rubric=True)
        everybody = [scorer for scorers in self._scorers.values() for scorer, _ in scorers]
        if self._quality is not None:
            everybody.append(self._quality)
        self.members = tuple(everybody)
        self.judges = tuple(dict.fromkeys(one for scorer in everybody for one in scorer.judges))
        # A complete run file is not compared with the cases again, but with the versions of its scorers.
        digest = blake2b(digest_size=8)
        for scenario in scenarios:
            digest.update(to_json(scenario.plain()))
        quality = "" if judge is None else f", quality by {judge.name} {judge.version}"
        self.version = f"1, scenarios {digest.hexdigest()}{quality}"
        self.provenance = Provenance(NAME, self.version)

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        del contexts, labels
        scores: list[Score] = []
        for row in rows:
            result: dict[str, Any] = {}
            with Caught() as caught:
                result = await self._result(row)
            # A scorer of the user's may return what a run file cannot hold.
            with Caught() as unfit:
                to_json(result)
            fault = caught.reason
            if unfit.reason is not None:
                fault = AdjudgeError(f"the result cannot be kept: {unfit.reason}", code="bad-result").reason
            if fault is not None:
                scores.append(Score.error(fault, parts=dict.fromkeys(self.parts), provenance=self.provenance))
                continue
            clarification, quality = result["clarification"] or {}, result["quality"] or {}
            numbers = {
                "workflow_pass": result["workflow"]["pass"],
                "clarification_pass": clarification.get("pass"),
                **{f"quality_{name}": quality.get(name) for name in QUALITY},
                "quality_overall": result["average_quality"],
            }
            parts = {name: None if value is None else float(value) for name, value in numbers.items()}
            # A number only where everything that was asked has an answer.
            more: dict[str, Any] = {"parts": parts, "provenance": self.provenance, "detail": result}
            status, reason = result["status"], "; ".join(result["reasons"]) or None
            if status == "scored":
                scores.append(Score.scored(float(result["pass"]), reason=reason, **more))
            else:
                make = Score.unscored if status == "unscored" else Score.error
                scores.append(make(reason or status, **more))
        return scores

    async def _result(self, row: Row) -> dict[str, Any]:
        """Judge one run."""
        scenario, record = self.scenarios[row["group_id"]], row["trajectory"]
        # Rules on arguments may wait for another process, or for a user's function: not on the event loop.
        if scenario.workflow.tools_arguments:
            checked = await asyncio.to_thread(check_workflow, scenario.workflow, record)
        else:
            checked = check_workflow(scenario.workflow, record)
        # The worst status of workflow, quality and scorers is that of the whole.
        statuses: list[Status] = [checked.status]
        reasons = list(checked.reasons)
        quality = average = None
        if self._quality is not None:
            score = _without_answer(record) or await self._quality.ascore(_quality_row(scenario, record))
            quality, average, status, why = _quality_of(score)
            statuses.append(status)
            reasons += [] if why is None else [f"quality: {why}"]
        scores: dict[str, Any] = {}
        verdicts = [checked.passed]
        for scorer, threshold in self._scorers[scenario.id]:
            reads_answer = not set(RESPONSES).isdisjoint(scorer.columns)
            score = (_without_answer(record) if reads_answer else None) or await scorer.ascore(row)
            passed, why = _passed(scorer, threshold, score)
            scores[scorer.name] = {
                "value": score.value,
                "status": score.status,
                "reason": score.reason,
                "parts": dict(score.parts),
                "pass": passed,
                "gated": scorer.is_binary or threshold is not None,
            }
            statuses.append(score.status)
            reasons += [] if why is None else [f"{scorer.name}: {why}"]
            # One that decides, and could not be scored, leaves the verdict open.
            verdicts += [passed] if scores[scorer.name]["gated"] else []
        return {
            "id": scenario.id,
            "repeat": row["repeat"],
            "tags": list(scenario.tags),
            "status": next(status for status in _WORST if status in statuses),
            "pass": False if False in verdicts else None if None in verdicts else True,
            "workflow": dict(checked.workflow),
            "quality": quality,
            "average_quality": average,
            "clarification": None if checked.clarification is None else dict(checked.clarification),
            "scores": scores,
            "reasons": reasons,
            "warnings": [finding.reason for finding in checked.warnings],
            "requested_not_executed": list(checked.requested_not_executed),
            "response": record.final_response,
            "trace_id": record.trace_id,
            "seconds": record.seconds,
        }

    def explain(self, score: Score, row: Row, trace: str | None) -> dict[str, Any]:
        """Return the result of a row whose score has no detail: one that says why, or that of an older run file."""
        if score.notes is not None and "result" in score.notes:
            # Run files had the result here before scores had a detail.
            kept: dict[str, Any] = decode_json(score.notes["result"])
            return kept
        scenario = self.scenarios[row["group_id"]]
        workflow = validate_workflow(scenario, agents_called=None, tools_used=None)
        return {
            "id": scenario.id,
            "repeat": row["repeat"],
            "tags": list(scenario.tags),
            "status": score.status,
            "pass": None,
            "workflow": {**workflow, "pass": None},
            "quality": None if self._quality is None else dict.fromkeys(_QUALITY),
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


def _without_answer(record: Trajectory) -> Score | None:
    """Return the score of an answer that the record cannot show: none, which is not that of an empty one."""
    why = record.unknown.get("answer")
    if why is None or record.final_response is not None:
        return None
    return Score.unscored(f"incomplete-trace: the record cannot show the answer: {why}")


def _passed(scorer: Scorer, threshold: float | None, score: Score) -> tuple[bool | None, str | None]:
    """Return whether a scorer passes, and why it does not; None where it was not scored, or decides nothing."""
    if score.value is None:
        return None, score.reason
    if threshold is not None:
        passed = score.value >= threshold
        return passed, None if passed else f"below: {score.value:.4g} is less than {threshold:.4g}"
    if scorer.is_binary:
        passed = score.value == 1.0
        return passed, None if passed else score.reason or f"below: it is {score.value:.4g}, not 1"
    return None, None


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
        # Judges look for references, rewards for an answer: both get the same.
        row["references"] = row["answer"] = list(scenario.references)
    if scenario.expected_answer_criteria is not None:
        row["criteria"] = scenario.expected_answer_criteria
    return row


def _quality_of(score: Score) -> tuple[dict[str, Any], float | None, Status, str | None]:
    """Return the three numbers with the reasoning, their mean, the status, and why there are none; all or none."""
    if score.status != "scored":
        return dict.fromkeys(_QUALITY), None, score.status, score.reason
    numbers = [score.parts.get(name) for name in QUALITY]
    # A mean of two numbers would look like one of three: all or none.
    known = [number for number in numbers if number is not None]
    if len(known) < len(QUALITY):
        return dict.fromkeys(_QUALITY), None, "unscored", f"wrong-judge: it gave no {', '.join(QUALITY)}"
    quality = dict(zip(_QUALITY, (*known, score.reason), strict=True))
    return quality, float(sum(known)) / len(QUALITY), "scored", None


def _quality_row(scenario: Scenario, record: Trajectory) -> dict[str, Any]:
    """Return what a judge of quality is shown."""
    question = scenario.question
    if len(scenario.turns) > 1:  # the conversation up to the last reply
        # The last reply is judged by itself; what was said before it is the question.
        last = max((at for at, one in enumerate(record.messages) if one.role == "user"), default=-1)
        before = [one for one in record.messages[: last + 1] if one.role in ROLES and one.text]
        question = "\n\n".join(f"{ROLES[one.role]}: {one.text}" for one in before) or "\n\n".join(scenario.turns)
    return {
        "question": question,
        "criteria": scenario.expected_answer_criteria,
        "response": record.final_response,
        "sources": _sources_of(record),
    }


def _sources_of(record: Trajectory) -> tuple[str, ...]:
    """Return what the answer was made from: the sources that the record names, else what its tools returned."""
    # A record without sources still shows what the tools returned.
    results = (call.result for call in record.tool_calls or () if call.executed and call.result)
    left = LARGEST
    kept: list[str] = []
    for source in record.sources or results:
        if left <= 0:
            kept.append("[more sources were left out]")
            break
        kept.append(source if len(source) <= left else f"{source[:left]} [cut here]")
        left -= len(source)
    return tuple(kept)
