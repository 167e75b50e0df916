"""The workflow check as a scorer: a reward while an agent is trained, a gate when it is released."""

from collections.abc import Sequence
from typing import Any

from adjudge.model import Provenance, Score
from adjudge.rewards import Row, by_row, reward
from adjudge.workflow import check_workflow

PARTS = ("agents", "tools", "clarification")


def _score(row: Row, provenance: Provenance) -> Score:
    """Score one row."""
    result = check_workflow(row["workflow"], row["trajectory"])
    verdicts = {
        "agents": result.workflow["agents"]["pass"],
        "tools": result.workflow["tools"]["pass"],
        "clarification": None if result.clarification is None else result.clarification["pass"],
    }
    parts = {name: None if verdict is None else float(verdict) for name, verdict in verdicts.items()}
    reason = "; ".join(result.reasons) or None
    # An incomplete record decides nothing: neither 0 nor 1 would be true.
    if result.passed is None:
        return Score.unscored(reason or "incomplete-trace", parts=parts, provenance=provenance)
    return Score.scored(float(result.passed), reason=reason, parts=parts, provenance=provenance)


_batch = by_row(_score, PARTS)


async def _abatch(rows: Sequence[Row], provenance: Provenance) -> Sequence[Score]:
    """Score rows without holding up the event loop: a rule on arguments may wait for another process."""
    import asyncio

    return await asyncio.to_thread(_batch, rows, provenance)


@reward(version="1", binary=True, parts=PARTS, range=(0.0, 1.0), batch=_batch, abatch=_abatch)
def workflow_reward(trajectory: Any, workflow: Any) -> dict[str, Any]:
    """1 if the agents and tools of the trajectory are those that the workflow expects, else 0.

    `workflow` is a `WorkflowExpectation` or a mapping of its fields. A record that is known to be incomplete has no
    number: called directly, the dict then says `unscored`.

    >>> called = [{"role": "tool", "name": "search", "content": "..."}]
    >>> workflow_reward(called, {"tools_should_include": ["search"]})["reward"]
    1.0
    """
    score = _score({"trajectory": trajectory, "workflow": workflow}, Provenance("workflow_reward", "1"))
    found: dict[str, Any] = dict(score.parts)
    if score.reason is not None:
        found["reason"] = score.reason
    return {"unscored": score.reason, **found} if score.value is None else {"reward": score.value, **found}
