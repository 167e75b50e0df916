"""TRL: a scorer as a reward function, and our worlds as environments, for GRPO, RLOO and Online DPO.

    good = reward_function("qa_f1_reward")
    trainer = GRPOTrainer(..., reward_funcs=good, callbacks=[good.callback])

A row without a number is None for TRL, which then leaves it out of its group's mean and gives it no advantage. It does
so only where *every* reward function says None: of an error in one and 1.0 in another it makes 1.0. So a composite is
one function, `weighted(...)`, and not a list. Written against TRL 1.16.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from adjudge.calling import run_sync
from adjudge.environments import Context, EnvAcquireTimeout, EnvSpec, Pool, default_spec
from adjudge.errors import Caught, UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import Row, rollout_row, with_groups
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer, reward

if TYPE_CHECKING:
    from transformers import TrainerCallback

__all__ = ["EnvironmentFactory", "RewardFunction", "environment_factory", "reward_function", "trial_reward"]

# What TRL passes beside the columns of the data set.
_ITS_OWN = frozenset({"completion_ids", "environments", "log_extra", "log_metric", "trainer_state"})

_REWARDS = {
    "alfworld": "alfworld_episode_reward",
    "scienceworld": "scienceworld_reward",
    "webshop": "webshop_reward",
}


class RewardFunction:
    """A scorer in TRL's shape: `f(prompts=, completions=, <columns>=[...])` gives a number or None for each rollout."""

    def __init__(self, scorer: Scorer, policy: FaultPolicy, *, group_size: int | None, pairs: bool) -> None:
        self.scorer = scorer
        self.policy = policy
        self.group_size = group_size
        self.pairs = pairs
        self.has_callback = False  # whether a trainer has one, which stops it
        self.__name__ = policy.name

    def __call__(self, /, *, prompts: Sequence[Any], completions: Sequence[Any], **given: Any) -> list[float | None]:
        """Score the rollouts of a batch."""
        rows, contexts = self._rows(prompts, completions, given)
        return self._finish(self.scorer.score_many(rows, contexts=contexts), given)

    @property
    def callback(self) -> TrainerCallback:
        """What stops the trainer, on every rank at once, when too many rollouts have no number."""
        return _stop_class()(self)

    def _rows(
        self, prompts: Sequence[Any], completions: Sequence[Any], given: Mapping[str, Any]
    ) -> tuple[list[Row], list[Context | None]]:
        # Online DPO is told by what it passes. It adds None up as 0.
        if "trainer_state" in given and "log_metric" not in given and self.policy.on_fault == "mask" and not self.pairs:
            raise UsageError(
                "this trainer makes 0 of a row without a number: give pairs=True where it is Online DPO, else on_fault="
            )
        worlds = given.get("environments") or [None] * len(prompts)
        if any(isinstance(world, TrlEnvironment) and hasattr(world, "get_reward") for world in worlds):
            raise UsageError(
                "TRL adds a number to that of a world that died: give environment_factory(..., own_reward=False), and "
                "the world's reward as a part of this one, such as weighted({'webshop_reward': 0.8, ...})"
            )
        rows = []
        for index, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
            columns = {name: values[index] for name, values in given.items() if name not in _ITS_OWN}
            rows.append(rollout_row(prompt, completion, columns))
        with_groups(self.scorer, rows, self.group_size)
        return rows, [getattr(world, "context", None) for world in worlds]

    def _finish(self, scores: Sequence[Score], given: Mapping[str, Any]) -> list[float | None]:
        values = self.policy.settle(scores)
        if "log_metric" in given:
            for name, value in self.policy.metrics(scores).items():
                given["log_metric"](name, value)
            given["log_extra"](f"{self.__name__}/reason", [score.reason for score in scores])
        # Without a state this is a child process of the trainer, whose callback does not see these rollouts.
        if not self.has_callback or "trainer_state" not in given:
            _end(self.policy.excess)
        return _as_siblings(values) if self.pairs else values


class AsyncRewardFunction(RewardFunction):
    """The same for a scorer that waits for a model or an environment: TRL awaits it beside the others."""

    async def __call__(  # type: ignore[override]  # TRL looks whether this is async
        self, /, *, prompts: Sequence[Any], completions: Sequence[Any], **given: Any
    ) -> list[float | None]:
        """Score the rollouts of a batch."""
        rows, contexts = self._rows(prompts, completions, given)
        return self._finish(await self.scorer.ascore_many(rows, contexts=contexts), given)


def reward_function(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    name: str | None = None,
    on_fault: OnFault = "mask",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
    group_size: int | None = None,
    pairs: bool = False,
) -> RewardFunction:
    """Return a scorer, or what `get_scorer` makes one of, as a reward function for TRL.

    `group_size` is TRL's `num_generations`, for scorers that look at all rollouts of one prompt. `pairs` is for Online
    DPO, which compares two rollouts of a prompt: one without a number has the number of the other.
    """
    made = get_scorer(scorer)
    if group_size is not None and group_size < 1:
        raise UsageError(f"group_size is a number of rollouts, got {group_size!r}")
    policy = FaultPolicy(name or made.name, on_fault, max_failed=max_failed, window=window)
    # Online DPO awaits nothing.
    kind = AsyncRewardFunction if made.is_async and not pairs else RewardFunction
    return kind(made, policy, group_size=group_size, pairs=pairs)


@reward(name="trial")
def _trial(world: Any) -> float:
    """Return what the verifier of a trial said; without a reward file that raises."""
    return float(world.reward)


class TrialReward(RewardFunction):
    """The rewards of environments that have a `reward`, as those of `trl.experimental.harbor`."""

    def _rows(
        self, prompts: Sequence[Any], completions: Sequence[Any], given: Mapping[str, Any]
    ) -> tuple[list[Row], list[Context | None]]:
        del prompts, completions
        worlds = given.get("environments")
        if not worlds:
            raise UsageError("the reward of a trial is that of its environment: give environment_factory=")
        return [{"world": world} for world in worlds], [None] * len(worlds)


def trial_reward(
    *, name: str = "trial", on_fault: OnFault = "mask", max_failed: float = MAX_FAILED, window: int = WINDOW
) -> RewardFunction:
    """Return the reward of the trials of `trl.experimental.harbor`, in place of `HarborSpec.reward_funcs`.

    There a trial without a reward file raises, which ends the training; here it has no number.
    """
    policy = FaultPolicy(name, on_fault, max_failed=max_failed, window=window)
    return TrialReward(get_scorer(_trial), policy, group_size=None, pairs=False)


class TrlEnvironment:
    """One environment as TRL drives it: `reset` starts an episode, further methods are tools.

    A world that cannot be started is a fault of its rollout alone, and not the end of the training.
    """

    def __init__(self, factory: EnvironmentFactory) -> None:
        self.context: Context | None = None
        self._factory = factory
        self._columns: dict[str, Any] = {}
        self._fault: str | None = None

    def reset(self, **columns: Any) -> str:
        """Start an episode of the row's task; returns the first observation."""
        factory = self._factory
        if factory.task not in columns:
            raise UsageError(f"the data set has no column {factory.task!r} for the task: give task=")
        # Each episode is a rollout of its own; the one before gives its environment back.
        if self.context is not None:
            self.context.sync.release_resource()
        self.context = Context(f"trl-{uuid4().hex}", pools=[factory.pool])
        self._columns, self._fault = {**columns, "final_response": None}, None
        try:
            environment = self.context.sync.acquire_resource(factory.spec)
        except EnvAcquireTimeout as error:
            raise EnvAcquireTimeout(f"{error.message}; TRL resets a whole batch at once: give size=") from error
        with Caught() as caught:
            return environment.reset(columns[factory.task])
        self._fault = caught.reason
        return "The environment could not be started."

    def _act(self, action: str) -> str:
        if self.context is None:
            raise UsageError("no episode was started")
        return self.context.sync.acquire_resource(self._factory.spec).step(action).observation


class TextEnvironment(TrlEnvironment):
    """A world that takes actions as text: ALFWorld, ScienceWorld, or one of your own."""

    def act(self, action: str) -> str:
        """Do one action in the world and see what happens.

        Args:
            action: The action, in words, such as "look around" or "go to cabinet 1".
        """
        return self._act(action)


class ShopEnvironment(TrlEnvironment):
    """The shop: a search bar and things to click."""

    def search(self, query: str) -> str:
        """Search the shop; works on the page that has the search bar.

        Args:
            query: The words to search for.
        """
        return self._act(f"search[{query}]")

    def click(self, target: str) -> str:
        """Click a button, a product or an option on the page.

        Args:
            target: The text of what to click, as the page shows it, such as "buy now" or a product's number.
        """
        return self._act(f"click[{target}]")


class _OwnReward(TrlEnvironment):
    """TRL takes the reward of an environment that has this method, beside all reward functions."""

    def get_reward(self) -> float | None:
        """Return the reward of the episode; None where the environment died."""
        return self._factory.settle(self._columns, self.context, self._fault)


class TextEpisode(_OwnReward, TextEnvironment):
    """Such a world with its own reward."""


class ShopEpisode(_OwnReward, ShopEnvironment):
    """The shop with its own reward."""


class EnvironmentFactory:
    """Makes the worlds of a training; TRL calls it once for each rollout of a batch."""

    def __init__(self, spec: EnvSpec, policy: FaultPolicy, *, task: str, size: int, own_reward: bool) -> None:
        self.spec = spec
        self.own_reward = own_reward
        self.policy = policy
        self.task = task
        self.pool = Pool(spec, size)
        self.scorer = _episode_scorer(spec)
        self.has_callback = False

    def __call__(self) -> TrlEnvironment:
        """Make a world; its environment is acquired when an episode starts."""
        if self.spec.kind == "webshop":
            return ShopEpisode(self) if self.own_reward else ShopEnvironment(self)
        return TextEpisode(self) if self.own_reward else TextEnvironment(self)

    @property
    def callback(self) -> TrainerCallback:
        """What stops the trainer, on every rank at once, when too many rollouts have no number."""
        return _stop_class()(self)

    def settle(self, columns: Mapping[str, Any], context: Context | None, fault: str | None) -> float | None:
        """Return what TRL gets for the episode of a rollout."""
        if fault is None:
            work = self.scorer.ascore_many([columns], contexts=[context])
            scores = run_sync(work, self.scorer.name, anywhere=True)
        else:
            scores = [Score.error(fault)]
        (value,) = self.policy.settle(scores)
        if not self.has_callback:
            _end(self.policy.excess)
        return value


def environment_factory(
    spec: EnvSpec | str,
    *,
    task: str = "task_id",
    size: int = 64,
    own_reward: bool = True,
    on_fault: OnFault = "mask",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> EnvironmentFactory:
    """Return a factory of worlds for `environment_factory=`; `spec` is a kind such as "webshop", or a spec.

    `task` is the column whose value an episode is started with. TRL resets a whole batch at once, so `size`, the most
    worlds at a time, is at least the rollouts of one batch. With `own_reward=False` TRL takes no reward from the
    worlds: a reward function gives it, with the worlds' contexts.
    """
    made = default_spec(spec) if isinstance(spec, str) else spec
    policy = FaultPolicy(made.kind, on_fault, max_failed=max_failed, window=window)
    return EnvironmentFactory(made, policy, task=task, size=size, own_reward=own_reward)


def _episode_scorer(spec: EnvSpec) -> Scorer:
    """Return the reward of a kind; that of a world of somebody's own is what its outcome says."""
    if spec.kind in _REWARDS:
        return get_scorer(_REWARDS[spec.kind])

    @reward(name=spec.kind)
    async def episode_reward(context: Any) -> float:
        outcome = await (await context.acquire_resource(spec)).outcome()
        return 0.0 if outcome.reward is None else float(outcome.reward)

    return get_scorer(episode_reward)


@cache
def _stop_class() -> Any:
    """Return the callback's class, made when it is first needed: importing transformers takes seconds."""
    from transformers import TrainerCallback

    class StopOnFaults(TrainerCallback):  # type: ignore[misc]  # untyped where transformers is not installed
        """Stops the training when too many rollouts have no number."""

        def __init__(self, source: RewardFunction | EnvironmentFactory) -> None:
            self.source = source
            self.policy = source.policy

        def on_init_end(self, *_: Any, **__: Any) -> None:
            """Note that a trainer has this: where none has, too many faults end the training with an error."""
            self.source.has_callback = True

        on_train_begin = on_init_end  # of one that is added later

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            """Look after each step, on every rank, so that none waits for one that has stopped."""
            del state
            excess = self.policy.excess
            if _any_rank(excess is not None, args.device):
                control.should_training_stop = True
                why = excess or f"{self.policy.name}: too many rollouts of another rank have no number"
                warnings.warn(f"training stops: {why}", stacklevel=1)
            return control

    return StopOnFaults


def _any_rank(flag: bool, device: Any) -> bool:
    """Return whether the flag is set on any rank."""
    from torch import distributed, tensor

    if not (distributed.is_available() and distributed.is_initialized()):
        return flag
    shared = tensor([float(flag)], device=device)
    distributed.all_reduce(shared, op=distributed.ReduceOp.MAX)
    return bool(shared.item())


def _end(excess: str | None) -> None:
    """End the training where no callback would, unless other ranks would wait for this one for ever."""
    if excess is None:
        return
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        raise RewardFault(f"{excess}; with callbacks=[reward.callback] it ends in order", code="too-many-faults")
    warnings.warn(f"{excess}; callbacks=[reward.callback] would stop the training", stacklevel=4)


def _as_siblings(values: Sequence[float | None]) -> list[float | None]:
    """Give a rollout without a number that of the other one of its prompt: neither is then the better one."""
    half = len(values) // 2
    others = [*values[half:], *values[:half]]
    return [other if value is None else value for value, other in zip(values, others, strict=True)]
