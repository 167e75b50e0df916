"""OpenEnv: a scorer as the rubric of an environment.

    class Capitals(Environment):
        def __init__(self):
            super().__init__(rubric=rubric("qa_f1_reward", row=self.row))

A step that ends the episode has the scorer's number for its reward, or none (null) where the row has no number. Written
against openenv-core 0.3.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from adjudge.errors import UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["Steps", "rubric"]

Steps: TypeAlias = Sequence[tuple[Any, Any]]
"""The actions of an episode, each with the observation that followed."""


def rubric(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    row: Callable[[Steps], Mapping[str, Any]],
    name: str | None = None,
    on_fault: OnFault = "mask",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Any:
    """Return a scorer, or what `get_scorer` makes one of, as a rubric; `row` makes a row of an episode's steps.

    The environment knows the task, and so the accepted answer: what it puts into an observation, the agent sees. Of an
    episode that goes on, the reward is OpenEnv's 0.0.
    """
    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and an environment has one", code="unknown-groups"
        )
    kind = _async_class() if made.is_async else _base_class()
    return kind(made, row, _policy(name or made.name, on_fault, max_failed, window))


@cache
def _policy(name: str, on_fault: OnFault, max_failed: float, window: int) -> FaultPolicy:
    """Return the policy of a name: each client has an environment of its own, and the faults of all count together."""
    return FaultPolicy(name, on_fault, max_failed=max_failed, window=window)


@cache
def _base_class() -> Any:
    """Return what both have in common, made when it is first asked for: it needs OpenEnv itself."""
    from openenv.core.rubrics import TrajectoryRubric

    class ScorerRubric(TrajectoryRubric):  # type: ignore[misc]  # untyped where OpenEnv is not installed
        """Scores an episode when it ends; `score` is the last one's, with its status, reason and parts."""

        def __init__(self, scorer: Scorer, row: Callable[[Steps], Mapping[str, Any]], policy: FaultPolicy) -> None:
            super().__init__()
            self.scorer = scorer
            self.row = row
            self.policy = policy
            self.score: Score | None = None

        def settle(self, score: Score) -> float | None:
            """Return what the environment gets for a score."""
            self.score = score
            value: float | None = self.policy.settle([score])[0]
            if self.policy.excess is not None:
                raise RewardFault(self.policy.excess, code="too-many-faults")
            return value

        def score_trajectory(self, trajectory: Steps) -> float | None:
            """Score an episode."""
            return self.settle(self.scorer.score(self.row(trajectory)))

        def compute_step_rewards(self) -> list[float | None]:
            """Return the reward of each step: that of the episode comes with its last one."""
            before = [self.intermediate_reward] * (len(self.trajectory) - 1)
            return [*before, self.last_score] if self.trajectory else []

        def reset(self) -> None:
            super().reset()
            self.score = self.last_score = None

    return ScorerRubric


@cache
def _async_class() -> Any:
    """Return the class for a scorer that waits for a model; OpenEnv looks whether `forward` is async."""

    class AsyncScorerRubric(_base_class()):  # type: ignore[misc]
        """The same, awaited: its environment needs `step_async`."""

        async def forward(self, action: Any, observation: Any) -> float | None:
            self._trajectory.append((action, observation))
            if not getattr(observation, "done", False):
                return float(self.intermediate_reward)
            value: float | None = self.settle(await self.scorer.ascore(self.row(self.trajectory)))
            return value

    return AsyncScorerRubric
