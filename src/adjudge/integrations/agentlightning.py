"""Agent Lightning: a scorer's number as the reward of a rollout, emitted as a span.

    good = make_emit_reward("qa_f1_reward")

    @agl.rollout
    def capital(task, llm):
        answer = ...
        good(task["question"], answer, task)

Agent Lightning makes 0.0 of a rollout without a reward. So a row without a number raises: the attempt has failed, and
is tried again where its store was told to. Written against agentlightning 0.3.
"""

from collections.abc import Callable, Mapping
from typing import Any

from adjudge.errors import UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault, check_on_fault
from adjudge.integrations._rollouts import rollout_row
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["make_emit_reward"]


def make_emit_reward(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    name: str | None = None,
    on_fault: OnFault = "raise",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Callable[..., Any]:
    """Return `emit(prompt, completion, columns)`, which scores a rollout and emits its reward as a span.

    The completion is a text or messages. The parts are further dimensions of the reward. Of a scorer that waits for a
    model it is async.
    """
    check_on_fault(on_fault)
    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and Agent Lightning asks for one", code="unknown-groups"
        )
    if on_fault == "mask":
        raise UsageError("Agent Lightning cannot mask a row: on_fault is raise or zero")
    policy = FaultPolicy(name or made.name, "zero", max_failed=max_failed, window=window)

    def emit(prompt: Any, completion: Any, columns: Mapping[str, Any]) -> Score:
        return _emit(made.score(rollout_row(prompt, completion, columns)), policy, on_fault)

    async def aemit(prompt: Any, completion: Any, columns: Mapping[str, Any]) -> Score:
        return _emit(await made.ascore(rollout_row(prompt, completion, columns)), policy, on_fault)

    return aemit if made.is_async else emit


def _emit(score: Score, policy: FaultPolicy, on_fault: OnFault) -> Score:
    from agentlightning import emit_annotation, emit_reward

    (value,) = policy.settle([score])
    excess = policy.excess
    if score.value is None:
        # What the rollout lacks is in its trace.
        emit_annotation({"adjudge": {"scorer": policy.name, "status": score.status, "reason": score.reason}})
        if on_fault == "raise":
            raise RewardFault(f"{policy.name}: the rollout is {score.status}: {score.reason}")
    if excess is not None:
        raise RewardFault(excess, code="too-many-faults")
    parts = {part: number for part, number in score.parts.items() if number is not None and part != policy.name}
    emit_reward({policy.name: value, **parts}, primary_key=policy.name)
    return score
