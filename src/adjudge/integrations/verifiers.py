"""verifiers: a scorer as a `@vf.reward` of a task, and as a `Rubric` before version 0.4.

    class Capital(vf.Task[CapitalData]):                    # 0.4
        good = rubric("qa_f1_reward")

    vf.SingleTurnEnv(dataset=..., rubric=rubric("qa_f1_reward"))        # 0.1 to 0.3

From 0.4 on, a row without a number raises: the rollout is then kept with an error, and without a reward. A `Rubric`
makes 0.0 of whatever it cannot use, so there such a row is 0.0, and metrics of weight 0 say what it is. Written against
verifiers 0.4.0, and 0.1.14 and 0.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adjudge.errors import UsageError
from adjudge.integrations._policy import FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import Row, rollout_row, with_answer
from adjudge.rewards import Scorer, get_scorer

__all__ = ["TaskReward", "rubric"]


def rubric(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    name: str | None = None,
    weight: float = 1.0,
    on_fault: OnFault = "mask",
) -> Any:
    """Return a scorer, or what `get_scorer` makes one of, as what this version of verifiers takes for a reward."""
    import verifiers

    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and verifiers asks for one at a time",
            code="unknown-groups",
        )
    policy = FaultPolicy(name or made.name, on_fault)
    if hasattr(verifiers, "Rubric"):
        return _rubric(verifiers, made, policy, weight)
    return TaskReward(made, policy, weight)


class TaskReward:
    """One scorer as a `@vf.reward`, either an attribute of a task's class or the `fn` of its config.

    It is an object and not a function, so that it is called in the same way in both places.
    """

    reward = True  # what `@vf.reward` writes on a function, as are the next two
    reward_priority = 0

    def __init__(self, scorer: Scorer, policy: FaultPolicy, weight: float) -> None:
        self.scorer = scorer
        self.policy = policy
        self._vf_weight = weight
        self.__name__ = policy.name

    async def __call__(self, task: Any, trace: Any) -> float:
        """Score a finished rollout; its parts are metrics, its status and reason are in `trace.info`."""
        score = await self.scorer.ascore(_row_of_trace(task, trace))
        trace.info[self.__name__] = {"status": score.status, "reason": score.reason}
        known = {part: value for part, value in score.parts.items() if value is not None}
        trace.record_metrics({f"{self.__name__}/{part}": value for part, value in known.items()})
        (value,) = self.policy.settle([score])
        if value is None:
            raise RewardFault(f"{self.__name__}: the rollout is {score.status}: {score.reason}")
        return value


def _row_of_trace(task: Any, trace: Any) -> Row:
    """Return a rollout of verifiers 0.4 as a row: the fields of its task are the columns."""
    columns = task.model_dump()
    prompt = columns.get("prompt")
    nodes = list(trace.nodes)
    # What comes before the first reply was in the prompt, and was not done by the agent.
    first = next((index for index, node in enumerate(nodes) if node.sampled), len(nodes))
    did = [node.message.model_dump(exclude_none=True) for node in nodes[first:]]
    # With agents below it, the last message may be one of theirs; without a node it has said nothing.
    return rollout_row(prompt, did, columns, response=trace.root_reply if did else "")


def _rubric(verifiers: Any, scorer: Scorer, policy: FaultPolicy, weight: float) -> Any:
    """Return a `Rubric` of one reward, and of metrics that are 1.0 for a row without a number."""
    if policy.on_fault == "raise":
        raise UsageError("a Rubric makes 0.0 of a reward that raises: update verifiers to 0.4, or leave on_fault out")

    async def reward(prompt: Any, completion: Any, state: Any, **columns: Any) -> float:
        more = columns.pop("info", None)
        # An answer that is missing is the empty text here, which is not an accepted answer.
        answer = columns.pop("answer", "")
        columns = {**(more if isinstance(more, Mapping) else {}), **columns}
        if answer != "":
            columns = with_answer(columns, answer)
        score = await scorer.ascore(rollout_row(_messages(prompt), _messages(completion), columns))
        # The metrics below are asked after this, with the same state.
        state[policy.name] = {"status": score.status, "reason": score.reason, "parts": dict(score.parts)}
        return policy.settle([score])[0] or 0.0

    async def unscored(state: Any) -> float:
        return float(state[policy.name]["status"] == "unscored")

    async def error(state: Any) -> float:
        return float(state[policy.name]["status"] == "error")

    reward.__name__ = policy.name
    unscored.__name__ = f"{policy.name}/unscored"
    error.__name__ = f"{policy.name}/error"
    return verifiers.Rubric(funcs=[reward, unscored, error], weights=[weight, 0.0, 0.0])


def _messages(value: Any) -> Any:
    """Return messages as mappings; some versions have objects."""
    if isinstance(value, list):
        return [one.model_dump(exclude_none=True) if hasattr(one, "model_dump") else one for one in value]
    return value
