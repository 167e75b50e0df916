"""slime: a scorer as its `--custom-rm-path`, for one sample, and for the samples of one prompt with `--group-rm`.

    good = make_custom_rm("qa_f1_reward")           in my_rewards.py
    --custom-rm-path my_rewards.good

A row without a number is removed from the loss, by `remove_sample`. slime still takes its reward for the mean of its
group: with `--group-rm` that is the mean of the others, so that their advantages are those of a group without it; alone
it is 0.0. Read in the source of slime 0.3.1, and not run.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from adjudge.errors import UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import Row, rollout_row, with_answer, without_end_tokens
from adjudge.rewards import Scorer, get_scorer

__all__ = ["make_custom_rm", "row_of_sample"]


def make_custom_rm(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    on_fault: OnFault = "mask",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return a scorer, or what `get_scorer` makes one of, as `custom_rm(args, sample)`, which takes a list as well."""
    made = get_scorer(scorer)
    policy = FaultPolicy(made.name, on_fault, max_failed=max_failed, window=window)

    async def custom_rm(args: Any, sample: Any, **_: Any) -> Any:
        # A list may also be several samples of one rollout, so only the option says that it is a group.
        grouped = isinstance(sample, list) and bool(args.group_rm)
        if made.is_group and not grouped:
            raise UsageError(f"{made.name} looks at all rollouts of one prompt: add --group-rm", code="unknown-groups")
        samples = sample if isinstance(sample, list) else [sample]
        scores = await made.ascore_many([_row(one) for one in samples])
        values = policy.settle(scores)
        if policy.excess is not None:
            raise RewardFault(policy.excess, code="too-many-faults")
        known = [value for value in values if value is not None] if grouped else []
        instead = sum(known) / len(known) if known else 0.0
        for one, score, value in zip(samples, scores, values, strict=True):
            one.remove_sample = one.remove_sample or value is None
            if isinstance(one.metadata, dict | None):
                one.metadata = {**(one.metadata or {}), "adjudge": {"status": score.status, "reason": score.reason}}
        rewards = [instead if value is None else value for value in values]
        return rewards if isinstance(sample, list) else rewards[0]

    return custom_rm


def _row(sample: Any) -> Row:
    """Return a sample as a row: its label is the answer, its metadata are columns."""
    # Rewards ask for `answer`, and slime's data sets call it the label.
    columns = with_answer(sample.metadata if isinstance(sample.metadata, dict) else {}, sample.label)
    if sample.group_index is not None:
        columns["group_id"] = sample.group_index
    return row_of_sample(sample.prompt, sample.response, columns)


def row_of_sample(prompt: Any, response: Any, columns: Mapping[str, Any]) -> Row:
    """Return what slime has of a sample as a row; unless it skips special tokens, its responses end in some.

    >>> row_of_sample("Capital of France?", "Paris<|im_end|>", {"answer": "Paris"})["final_response"]
    'Paris'
    """
    return rollout_row(prompt, without_end_tokens(response) if isinstance(response, str) else response, columns)
