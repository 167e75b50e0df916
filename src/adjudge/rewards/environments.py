"""How an episode in a live environment ended, read through the rollout's context; reading it never advances it.

    await webshop_reward(final_response, context=context, task_id=0)      {"reward": 2/3, "output": "..."}

An environment is anything with `outcome()`, or with the read command that clients of other libraries define. A fault of
the environment is never the agent's: a direct call then returns `reward` 0.0 and an `error`, and the engine makes it an
error Score. A rollout that acquired its environment and started no episode is 0.0 with the reason `no-episode`; one of
which neither this process nor the environment's server knows an environment is an error, `no-environment`.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.model import Outcome
from adjudge.rewards._tag import reward
from adjudge.text.values import plain

__all__ = ["alfworld_episode_reward", "episode_reward", "scienceworld_reward", "webshop_reward"]

_NO_EPISODE = "no-episode"
_NO_ENVIRONMENT = "no-environment"
_BAD_TASK = "env-bad-task"  # codes: this package cannot import the types of environment errors
_PROTOCOL = "env-protocol"
_ANY = object()

Read = Callable[[Any], Awaitable[Outcome]]


@reward(version="2", parts=(), range=(0.0, 1.0))
async def webshop_reward(final_response: str | None, context: Any, task_id: Any) -> dict[str, Any]:  # noqa: ARG001 (the seed's signature)
    """How well the purchase fits the goal of `task_id`, from 0 to 1; 0 without a purchase.

    A `task_id` other than the one with which the episode was started is `EnvBadTask`.
    """

    async def read(env: Any) -> Outcome:
        return _from_mapping(await _maybe(env.step("get_reward", task_id)), "webshop", least=0.0)

    outcome, error = await _outcome(context, "webshop", read, task_id)
    if outcome is None:
        return {"reward": 0.0, "output": "", "error": error}
    return _with_reason({"reward": _number(outcome.reward), "output": outcome.observation}, outcome)


@reward(version="2", binary=True, parts=(), range=(0.0, 1.0))
async def alfworld_episode_reward(context: Any) -> dict[str, Any]:
    """1 when the episode was won, else 0."""
    outcome, error = await _outcome(context, "alfworld", _read_alfworld)
    if outcome is None:
        return {"reward": 0.0, "error": error}
    won = _number(outcome.reward) if outcome.success is None else float(outcome.success)
    return _with_reason({"reward": won}, outcome)


@reward(version="2", parts=("score_raw", "success", "failed"), range=(0.0, 1.0))
async def scienceworld_reward(final_response: str | None, context: Any) -> dict[str, Any]:  # noqa: ARG001 (the seed's signature)
    """Score so far as a share of 100, from 0 to 1; a negative one is 0.

    `score_raw` is the score itself, from -100 to 100; `success` means that the task was completed, `failed` that it
    can no longer be.
    """
    outcome, error = await _outcome(context, "scienceworld", _read_scienceworld)
    if outcome is None:
        return {"reward": 0.0, "output": "", "score_raw": None, "success": None, "failed": None, "error": error}
    score = outcome.score_raw
    share = _number(outcome.reward) if score is None else score / 100.0
    result = {
        "reward": min(1.0, max(0.0, share)),
        "output": outcome.observation,
        "score_raw": score,
        "success": outcome.success,
        "failed": outcome.failed,
    }
    return _with_reason(result, outcome)


@reward(version="1", parts=("success",))
async def episode_reward(context: Any, kind: str) -> dict[str, Any]:
    """Value of the episode in the rollout's environment of this kind, as the environment itself says.

    For environments of your own: `episode_reward(kind='maze')`. One that says nothing is an error.
    """

    async def read(env: Any) -> Outcome:
        raise AdjudgeError(f"{type(env).__name__} has no outcome()", code=_PROTOCOL)

    outcome, error = await _outcome(context, kind, read)
    if outcome is not None and outcome.reward is None and outcome.done_reason != _NO_EPISODE:
        error = f"{_PROTOCOL}: the {kind} environment says nothing of a reward"
    if outcome is None or error:
        return {"reward": 0.0, "success": None, "error": error}
    return _with_reason({"reward": _number(outcome.reward), "success": outcome.success}, outcome)


async def _outcome(context: Any, kind: str, read: Read, task: Any = _ANY) -> tuple[Outcome | None, str]:
    """Return the outcome of the rollout's episode, or the fault of its environment.

    A fault of the call or the row (a missing package, another task) is raised.
    """
    if not hasattr(context, "acquire_resource"):
        raise UsageError(f"{kind} needs the rollout's Context, got {type(context).__name__}", code="missing-context")
    env = outcome = None
    with Caught() as caught:
        env = await _environment(context, kind)
        # Clients of other libraries have no `outcome`: they answer a read command.
        if not hasattr(env, "outcome"):
            return await read(env), ""
        found = await _maybe(env.outcome())
        if not hasattr(found, "done_reason"):
            raise AdjudgeError(f"{kind} answered {type(found).__name__} instead of an Outcome", code=_PROTOCOL)
        outcome = found
    # A wrong call is the caller's to fix; anything else is a fault of the environment and becomes the error.
    if isinstance(caught.error, UsageError):
        raise caught.error
    if outcome is not None and outcome.done_reason != _NO_EPISODE and task is not _ANY:
        # The episode must have been started with the row's task.
        expect = getattr(env, "expect", None)
        if callable(expect):
            expect(plain(task))
        elif outcome.task is not None and outcome.task != plain(task):
            raise AdjudgeError(f"the episode was started with task {outcome.task!r}, not with {task!r}", code=_BAD_TASK)
    return outcome, str(caught.reason or "")


async def _environment(context: Any, kind: str) -> Any:
    """Return the rollout's environment, wherever it was acquired."""
    # Acquiring could start a fresh one, without an episode, whose reward would be 0.
    reach = getattr(context, "reach_resource", None)
    if callable(reach):
        env = await reach(kind)
        if env is None:
            raise AdjudgeError(
                f"rollout {context.rollout_id} has no {kind} environment in this process, and no server of its pools "
                f"knows one: score it where it was played, or give its Context the same pools",
                code=_NO_ENVIRONMENT,
            )
        return env
    env = await _maybe(context.acquire_resource(kind))
    if env is None:
        raise AdjudgeError(f"the context gave no {kind} environment", code=_PROTOCOL)
    return env


async def _maybe(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _read_alfworld(env: Any) -> Outcome:
    answer = await _maybe(env.step(""))
    if not isinstance(answer, Sequence) or isinstance(answer, str) or len(answer) != 4:
        raise AdjudgeError(f"alfworld answered {type(answer).__name__} instead of four values", code=_PROTOCOL)
    observation, value, _, info = answer
    # Some clients answer in batches of one.
    won = _single(info.get("won")) if isinstance(info, Mapping) else None
    number = _number(_single(value))
    return Outcome(reward=number, success=number >= 1.0 if won is None else bool(won), observation=_text(observation))


async def _read_scienceworld(env: Any) -> Outcome:
    outcome = _from_mapping(await _maybe(env.step("get_reward")), "scienceworld", least=-1.0)
    share = _number(outcome.reward)
    return Outcome(
        reward=share,
        success=share >= 1.0,
        failed=share < 0.0,
        score_raw=100.0 * share,
        observation=outcome.observation,
    )


def _from_mapping(answer: Any, kind: str, *, least: float) -> Outcome:
    if not isinstance(answer, Mapping) or "reward" not in answer:
        raise AdjudgeError(f"{kind} answered {type(answer).__name__} without a reward", code=_PROTOCOL)
    share = _number(answer["reward"])
    if not least <= share <= 1.0:
        raise AdjudgeError(
            f"{kind} answered a reward of {share:g}, which is not between {least:g} and 1", code=_PROTOCOL
        )
    return Outcome(reward=share, observation=_text(answer.get("observation")))


def _single(value: Any) -> Any:
    """Return the one item of a batch of one, which some clients answer with."""
    value = plain(value)
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _number(value: Any) -> float:
    value = plain(value)
    if value is None:
        return 0.0
    if isinstance(value, str) or not hasattr(value, "__float__") or float(value) != float(value):
        raise AdjudgeError(f"the environment answered {value!r} instead of a number", code=_PROTOCOL)
    return float(value)


def _text(value: Any) -> str:
    value = _single(value)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _with_reason(result: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    if outcome.done_reason == _NO_EPISODE:
        result["reason"] = _NO_EPISODE
    return result
