"""OpenRLHF: a scorer as the `reward_func` of a file that `--reward.remote_url` names.

    reward_func = make_reward_func("qa_f1_reward")          in reward.py

OpenRLHF has no word for a row without a number, and what raises leaves its rollout without a reward, which fails later.
So such a row is 0.0, with `unscored` or `error` in what is logged. Written against OpenRLHF 0.11.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.errors import Caught, RowError, UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import SPECIAL, Row, check_lengths, rollout_row, without_end_tokens
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

__all__ = ["make_reward_func", "response_of", "row_of_query"]

_BEFORE = re.compile(rf"(?:\s*{SPECIAL})*\s*")


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
    """Score the rollouts whose response is known; each of the others is an error."""
    check_lengths(queries=queries, prompts=prompts, labels=labels)
    rows: list[Row] = []
    faults: list[str | None] = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        with Caught() as caught:
            rows.append(row_of_query(query, prompt, label))
        faults.append(caught.reason)
    scored = iter(scorer.score_many(rows))
    return [next(scored) if fault is None else Score.error(fault) for fault in faults]


def row_of_query(query: str, prompt: str, label: Any) -> Row:
    """Return a query as a row; where a training names no label key, the label is "", which is no accepted answer."""
    return rollout_row(prompt, response_of(query, prompt), {"answer": None if label == "" else label})


def response_of(query: str, prompt: str) -> str:
    """Return what follows the prompt in a query, without the special tokens around it.

    The prompt is not searched for: a model that copies the question would choose where its response begins.

    >>> response_of("<s>Capital of France? It is Paris.</s>", "Capital of France?")
    'It is Paris.'
    """
    wanted = prompt.strip()
    # The tokenizer may have put its own token before a prompt, and a prompt may begin with one.
    start = query.find(wanted, 0, len(wanted) + 80)
    while start >= 0 and _BEFORE.fullmatch(query[:start]) is None:
        start = query.find(wanted, start + 1, len(wanted) + 80)
    if start < 0:
        raise RowError("the query does not begin with its prompt: which part is the response is not known")
    return without_end_tokens(query[start + len(wanted) :]).strip()
