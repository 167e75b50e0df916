"""verl: a scorer as its `compute_score`, and a reward manager for messages, tools and rows without a number.

    reward.custom_reward_function.path=pkg://adjudge.integrations.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.scorer=qa_f1_reward

verl has no word for a row without a number: a NaN would reach the weights, and None stops it. `compute_score` gives
0.0, with the columns `unscored` and `error` beside it. `RewardManager`, which exists where verl is installed, gives the
mean of the row's siblings instead: an advantage of zero. Written against verl 0.9.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from adjudge.errors import UsageError, closest
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import Row, check_lengths, rollout_row, with_answer
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["acompute_score", "compute_score", "make_compute_score"]

WAIT_S = 600.0  # for the siblings of a rollout without a number
QUIET_S = 10.0  # without any rollout, after which nobody waits in a validation
_VALIDATION = frozenset({"dev", "eval", "test", "val", "valid", "validation"})  # splits, as verl's data sets say them
_OPTIONS = ("scorer", "on_fault", "max_failed", "window", "wait_s")
_KEPT = 4096  # groups of rollouts that are remembered


class Adapter:
    """One scorer in verl's shape: rows out of what verl passes, dicts with the same keys out of scores."""

    def __init__(self, scorer: Scorer, policy: FaultPolicy) -> None:
        if scorer.is_group:
            raise UsageError(
                f"{scorer.name} looks at all rollouts of one prompt, and verl asks for one at a time",
                code="unknown-groups",
            )
        self.scorer = scorer
        self.policy = policy

    def finish(self, scores: Sequence[Score]) -> list[dict[str, Any]]:
        """Return what verl gets for each score."""
        values = self.policy.settle(scores)
        if self.policy.excess is not None:
            raise RewardFault(self.policy.excess, code="too-many-faults")
        return [self._result(score, value) for score, value in zip(scores, values, strict=True)]

    def _result(self, score: Score, value: float | None) -> dict[str, Any]:
        # The keys are those of the first row for verl, so undeclared parts, which may differ, are left out.
        parts = {name: score.parts.get(name) for name in self.scorer.parts or ()}
        return {
            **{name: 0.0 if part is None else part for name, part in parts.items()},
            "score": 0.0 if value is None else value,
            "unscored": float(score.status == "unscored"),
            "error": float(score.status == "error"),
            "reason": score.reason or "",
        }


@cache
def _adapter(scorer: Any, on_fault: OnFault, max_failed: float, window: int) -> Adapter:
    """Return the adapter of a scorer; verl asks row by row, and the faults of all rows count together."""
    made = get_scorer(scorer)
    return Adapter(made, FaultPolicy(made.name, on_fault, max_failed=max_failed, window=window))


def _chosen(
    scorer: Any = None,
    on_fault: OnFault = "zero",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
    **others: Any,  # what verl passes for its own reward models
) -> Adapter:
    _check_options(others)
    if scorer is None:
        raise UsageError("name the scorer: +reward.custom_reward_function.reward_kwargs.scorer=NAME")
    if on_fault == "mask":
        raise UsageError("compute_score cannot mask a row: use adjudge.integrations.verl.RewardManager")
    return _adapter(scorer, on_fault, max_failed, window)


def _check_options(given: Iterable[str]) -> None:
    """Refuse an option that is nearly one of ours; verl has others of its own in the same place."""
    for name in given:
        hint = "" if name in _OPTIONS else closest(str(name), _OPTIONS)
        if hint:
            raise UsageError(f"there is no option {name!r}{hint}", code="unknown-argument")


def _row(data_source: Any, solution: Any, ground_truth: Any, extra_info: Any) -> Row:
    columns = dict(extra_info) if isinstance(extra_info, Mapping) else {}
    # Rewards ask for `answer`, and verl's data sets call it `ground_truth`.
    columns = {**with_answer(columns, ground_truth), "data_source": data_source}
    return rollout_row(columns.get("prompt"), solution, columns)


def _batch_rows(sources: Any, solutions: Any, truths: Any, extras: Any) -> list[Row]:
    extras = [None] * len(solutions) if extras is None else extras
    check_lengths(data_sources=sources, solution_strs=solutions, ground_truths=truths, extra_infos=extras)
    return [_row(*one) for one in zip(sources, solutions, truths, extras, strict=True)]


def compute_score(
    data_source: Any = None,
    solution_str: Any = None,
    ground_truth: Any = None,
    extra_info: Any = None,
    /,
    **given: Any,
) -> Any:
    """Score one rollout, or a batch, where the names are in the plural; `scorer` comes from the config.

    Keys of `extra_info` are columns of the row, such as `question` for a judge. PRIME's manager, which passes the four
    by position, takes a number alone.
    """
    if "solution_strs" in given:
        rows = _batch_rows(
            given.pop("data_sources"),
            given.pop("solution_strs"),
            given.pop("ground_truths"),
            given.pop("extra_infos", None),
        )
        adapter = _chosen(**given)
        return adapter.finish(adapter.scorer.score_many(rows))
    if "solution_str" not in given:
        adapter = _chosen(**given)
        row = _row(data_source, solution_str, ground_truth, extra_info)
        return adapter.finish([adapter.scorer.score(row)])[0]["score"]
    row = _row(
        given.pop("data_source", None),
        given.pop("solution_str"),
        given.pop("ground_truth", None),
        given.pop("extra_info", None),
    )
    adapter = _chosen(**given)
    return adapter.finish([adapter.scorer.score(row)])[0]


async def acompute_score(
    *, solution_str: Any, data_source: Any = None, ground_truth: Any = None, extra_info: Any = None, **options: Any
) -> dict[str, Any]:
    """Score one rollout, awaiting: for scorers that ask a model or an environment."""
    adapter = _chosen(**options)
    row = _row(data_source, solution_str, ground_truth, extra_info)
    return adapter.finish([await adapter.scorer.ascore(row)])[0]


def make_compute_score(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    on_fault: OnFault = "zero",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Callable[..., Any]:
    """Return `compute_score` of a scorer, async where the scorer waits, for a reward manager that is made in Python."""
    made = get_scorer(scorer)
    function = acompute_score if made.is_async else compute_score
    return partial(function, scorer=made, on_fault=on_fault, max_failed=max_failed, window=window)


class Siblings:
    """The rewards of rollouts by prompt: an actor of Ray, because siblings are scored by several workers."""

    def __init__(self) -> None:
        self._groups: OrderedDict[str, list[float | None]] = OrderedDict()
        self._changed = asyncio.Condition()

    async def settle(
        self, group: str, value: float | None, size: int, wait_s: float, quiet_s: float | None = None
    ) -> float | None:
        """Note a rollout's reward; without one, wait for the siblings and return their mean, None if they have none.

        The wait ends after `wait_s` seconds, and after `quiet_s` in which no rollout of any prompt came.
        """
        async with self._changed:
            values = self._groups.setdefault(group, [])
            values.append(value)
            while len(self._groups) > _KEPT:
                self._groups.popitem(last=False)
            self._changed.notify_all()
            if value is None:
                # Of siblings that never come, the mean is that of the others.
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        while len(values) < size:
                            await asyncio.wait_for(self._changed.wait(), quiet_s)
                known = [one for one in values if one is not None]
                value = sum(known) / len(known) if known else None
        return value


def rollout_messages(tokenizer: Any, ids: Sequence[int], turns: int | None) -> list[dict[str, Any]]:
    """Return a rollout's tokens as messages: verl puts the results of tools between the turns of the model.

    Whether tools ran is known from the number of turns, which the model cannot write: one of the user and one of the
    model, and two more for each round of tools. The final response is what follows the last header of the assistant.
    """
    begin = _header(tokenizer)
    place = max((i for i in range(len(ids) - len(begin) + 1) if list(ids[i : i + len(begin)]) == begin), default=None)
    rounds = 0 if turns is None else (turns - 1) // 2
    if not begin or place is None or rounds == 0:
        return [{"role": "assistant", "content": tokenizer.decode(ids, skip_special_tokens=True)}]
    before = tokenizer.decode(ids[:place], skip_special_tokens=True)
    final = tokenizer.decode(ids[place + len(begin) :], skip_special_tokens=True)
    # One result for each round; what was called, and with what, stays in the text.
    results = [{"role": "tool", "content": ""} for _ in range(rounds)]
    return [{"role": "assistant", "content": before}, *results, {"role": "assistant", "content": final}]


def _header(tokenizer: Any) -> list[int]:
    """Return the tokens with which a turn of the assistant begins."""
    if tokenizer.chat_template is None:
        return []
    asked = [{"role": "user", "content": "?"}]
    plain = tokenizer.apply_chat_template(asked, tokenize=False)
    begun = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    return list(tokenizer.encode(begun[len(plain) :], add_special_tokens=False))


@cache
def _manager_class() -> Any:
    """Return the manager's class, made when it is first asked for: it needs verl itself."""
    import ray
    from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

    class RewardManager(RewardManagerBase):  # type: ignore[misc]  # untyped where verl is not installed
        """Scores rollouts with their messages; one without a number gets the mean of its siblings."""

        def __init__(self, config: Any, tokenizer: Any, compute_score: Any, **_: Any) -> None:
            super().__init__(config, tokenizer, compute_score)
            custom = config.reward.get("custom_reward_function") or {}
            options = {**(custom.get("reward_kwargs") or {}), **(config.reward.get("reward_kwargs") or {})}
            _check_options(options)
            if not options.get("scorer"):
                raise UsageError("name the scorer: +reward.reward_kwargs.scorer=NAME")
            self.wait_s = float(options.get("wait_s", WAIT_S))
            self.adapter = _adapter(
                options["scorer"],
                options.get("on_fault", "mask"),
                float(options.get("max_failed", MAX_FAILED)),
                int(options.get("window", WINDOW)),
            )
            rollout = config.actor_rollout_ref.rollout
            self.rollouts = int(rollout.n)
            self.validations = int((rollout.get("val_kwargs") or {}).get("n", self.rollouts))  # of one prompt
            actor = ray.remote(num_cpus=0)(Siblings)
            # All workers of this training share one.
            self.siblings = actor.options(
                name="adjudge-siblings", namespace=ray.get_runtime_context().namespace, get_if_exists=True,
                max_concurrency=100_000,
            ).remote()  # fmt: skip

        async def run_single(self, data: Any) -> dict[str, Any]:
            """Score one rollout; of several outputs the last is what the agent ended with."""
            item = data[-1:][0]
            row = _row_of_item(item, self.tokenizer)
            score = await self.adapter.scorer.ascore(row)
            result = self.adapter.finish([score])[0]
            if self.adapter.policy.on_fault == "mask":
                group, value = item.non_tensor_batch.get("uid"), score.value
                if group is not None and self.rollouts > 1:
                    # verl does not say that it validates, and asks fewer times then.
                    quiet_s = (
                        QUIET_S if self.validations < self.rollouts and str(row.get("split")) in _VALIDATION else None
                    )
                    value = await self.siblings.settle.remote(str(group), value, self.rollouts, self.wait_s, quiet_s)
                result["score"] = 0.0 if value is None else value
            reward = result["score"]
            return {"reward_score": reward, "reward_extra_info": result}

    return RewardManager


def _row_of_item(item: Any, tokenizer: Any) -> Row:
    """Return a rollout of verl as a row: the columns of its data set, and its messages."""
    given = item.non_tensor_batch
    extra = dict(given.get("extra_info") or {})
    fields = given.get("tool_extra_fields") or {}
    length = int(item.batch["attention_mask"][-item.batch["responses"].shape[-1] :].sum())
    ids = item.batch["responses"][:length].tolist()
    # An agent loop of somebody's own may hand its messages over.
    messages = fields.get("messages") or rollout_messages(tokenizer, ids, given.get("__num_turns__"))
    prompt = given.get("raw_prompt")
    truth = (given.get("reward_model") or {}).get("ground_truth")
    columns = {**with_answer(extra, truth), "data_source": given.get("data_source")}
    return rollout_row(None if prompt is None else list(prompt), messages, columns)


def __getattr__(name: str) -> Any:
    if name == "RewardManager":
        return _manager_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
