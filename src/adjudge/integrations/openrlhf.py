"""OpenRLHF: a scorer as the `reward_func` of a file that `--reward.remote_url` names.

    reward_func = make_reward_func("qa_f1_reward")          in reward.py

OpenRLHF has no word for a row without a number, and what raises leaves its rollout without a reward, which fails later.
So such a row is 0.0, with `unscored` or `error` in what is logged. Written against OpenRLHF 0.11.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.errors import UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import rollout_row
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["make_reward_func"]

# What tokenizers put before a prompt and after a response: <s>, <|im_end|>, </s>, <eos>, <end_of_turn>.
_SPECIAL = r"<(?:\|[^<>|]{1,40}\||/?s|bos|eos|pad|end_of_turn)>"
_BEFORE = re.compile(rf"(?:{_SPECIAL}|\s)*")
_AFTER = re.compile(rf"(?:{_SPECIAL}|\s)+\Z")


def make_reward_func(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    on_fault: OnFault = "zero",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Callable[..., dict[str, Any]]:
    """Return a scorer, or what `get_scorer` makes one of, as a `reward_func(queries, prompts, labels)`."""
    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and OpenRLHF asks for one at a time",
            code="unknown-groups",
        )
    if on_fault == "mask":
        raise UsageError("OpenRLHF cannot mask a row: on_fault is zero or raise")
    policy = FaultPolicy(made.name, on_fault, max_failed=max_failed, window=window)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
        from torch import tensor

        scores = _scores(made, queries, prompts, labels)
        values = [value or 0.0 for value in policy.settle(scores)]
        if policy.excess is not None:
            raise RewardFault(policy.excess, code="too-many-faults")
        # All rollouts of a batch must log the same names, so undeclared parts, which may differ, are left out.
        logs = {part: [score.parts.get(part) or 0.0 for score in scores] for part in made.parts or ()}
        for status in ("unscored", "error"):
            logs[status] = [float(score.status == status) for score in scores]
        return {
            "rewards": tensor(values),
            "scores": tensor(values),
            "extra_logs": {name: tensor(numbers) for name, numbers in logs.items()},
        }

    return reward_func


def _scores(scorer: Scorer, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> list[Score]:
    """Score the rollouts whose prompt is found in the query; each of the others is an error."""
    responses = [response_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    rows = [
        rollout_row(prompt, response, {"answer": label})
        for prompt, response, label in zip(prompts, responses, labels, strict=True)
        if response is not None
    ]
    scored = iter(scorer.score_many(rows))
    lost = Score.error("unknown-response: the query does not begin with its prompt, so the response is unknown")
    return [lost if response is None else next(scored) for response in responses]


def response_of(query: str, prompt: str) -> str | None:
    """Return what follows the prompt in a query, without special tokens; None where the prompt does not come first.

    The prompt is not searched for: a model that copies the question would choose where its response begins.

    >>> response_of("<s>Capital of France? It is Paris.<|im_end|>", "Capital of France?")
    'It is Paris.'
    >>> response_of("...of France? Capital of France? Paris", "Capital of France?")
    """
    wanted = prompt.strip()
    # The prompt may itself begin with special tokens.
    places = {0, *(match.end() for match in re.finditer(rf"{_SPECIAL}|\s", _BEFORE.match(query)[0]))}  # type: ignore[index]
    for place in sorted(places):
        if query.startswith(wanted, place):
            return _AFTER.sub("", query[place + len(wanted) :]).strip()
    return None
