"""SkyRL: an environment of skyrl-gym whose reward is a scorer's.

    skyrl_gym.register(id="capitals", entry_point=environment("qa_f1_reward"))      one response

    class Search(environment("qa_f1_reward_tool")):                                 several turns
        def reply(self, messages): ...

SkyRL has no word for a row without a number. It is 0.0, with `unscored` or `error` in the metrics of its episode.
Written against skyrl-gym 0.4.
"""

from collections.abc import Callable
from typing import Any

from adjudge.errors import Caught, UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import rollout_row, with_answer
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["environment"]


def environment(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    on_fault: OnFault = "zero",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Any:
    """Return the class of an environment for `skyrl_gym.register`; a subclass with a `reply` has several turns."""
    from skyrl_gym.envs.base_text_env import BaseTextEnv

    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and SkyRL asks for one at a time", code="unknown-groups"
        )
    if on_fault == "mask":
        raise UsageError("SkyRL cannot mask a row: on_fault is zero or raise")
    policy = FaultPolicy(made.name, on_fault, max_failed=max_failed, window=window)

    class ScoredEnv(BaseTextEnv):  # type: ignore[misc]  # untyped where skyrl-gym is not installed
        """An episode: a prompt, what the agent and the environment say in turn, the score of it all."""

        def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
            super().__init__()
            del env_config
            self.extras = extras or {}
            self.prompt: Any = self.extras.get("prompt")
            self.score: Score | None = None
            self.messages: list[dict[str, Any]] = []  # since the prompt
            # SkyRL always gives it; without it, `reply` alone ends the episode.
            self.max_turns = self.extras.get("max_turns")

        def reply(self, messages: list[dict[str, Any]]) -> Any:
            """Return what the environment says to the agent: a text, messages, or None, which ends the episode."""
            del messages

        def init(self, prompt: Any) -> Any:
            self.prompt = prompt
            return super().init(prompt)

        def step(self, action: str) -> Any:
            self.turns += 1
            self.messages.append({"role": "assistant", "content": action})
            said: Any = None
            with Caught() as caught:
                said = self.reply(self.messages) if self.max_turns is None or self.turns < self.max_turns else None
            if said is not None:
                heard = [{"role": "user", "content": said}] if isinstance(said, str) else list(said)
                self.messages += heard
                return {"observations": heard, "reward": 0.0, "done": False, "metadata": {}}
            # A tool that died is not the agent's doing.
            self.score = self._score() if caught.reason is None else Score.error(caught.reason)
            (value,) = policy.settle([self.score])
            if policy.excess is not None:
                raise RewardFault(policy.excess, code="too-many-faults")
            metadata = {"status": self.score.status, "reason": self.score.reason}
            return {"observations": [], "reward": value or 0.0, "done": True, "metadata": metadata}

        def _score(self) -> Score:
            # Rewards ask for `answer`, and SkyRL's data sets have a ground truth.
            truth = (self.extras.get("reward_spec") or {}).get("ground_truth")
            return made.score(rollout_row(self.prompt, self.messages, with_answer(self.extras, truth)))

        def get_metrics(self) -> dict[str, Any]:
            if self.score is None:
                return {}
            # SkyRL takes the mean over all episodes, so each has both, and an unknown part is left out.
            known = {part: value for part, value in self.score.parts.items() if value is not None}
            return {**known, **{name: float(self.score.status == name) for name in ("unscored", "error")}}

    return ScoredEnv
