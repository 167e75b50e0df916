r"""What trainers send, as rows, and what they get back.

    row         {"final_response": "Paris", "answer": "Paris", ...}         POST /score, a row as scorers know it
    openrlhf    {"query": "<prompt><response>", "prompt": ..., "label": ...}    POST /get_reward, cut out of its lists
    slime       {"prompt": ..., "response": ..., "label": ...}              POST /slime
    nemo        {"responses_create_params": ..., "response": ..., ...}      POST /verify

Read in OpenRLHF 0.11 (`utils/agent.py`), slime at 624b824a (`rollout/rm_hub`) and NeMo Gym at 07d6b0d0 (`judge.py`,
`base_resources_server.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from adjudge.errors import RowError
from adjudge.integrations.nemo_gym import row_of_request
from adjudge.integrations.openrlhf import row_of_query
from adjudge.integrations.slime import row_of_sample
from adjudge.rewards import Row

Shape: TypeAlias = Literal["row", "openrlhf", "slime", "nemo"]


class ScoreReply(msgspec.Struct, frozen=True):
    """A score as the scoring process wrote it."""

    value: float | None
    status: str
    reason: str | None
    parts: dict[str, float | None]


def row_of(shape: Shape, found: Mapping[str, Any]) -> Row:
    """Return what a trainer sent as a row."""
    return _ROWS[shape](found)


def _openrlhf(found: Mapping[str, Any]) -> Row:
    query, prompt = found.get("query"), found.get("prompt")
    if not isinstance(query, str) or not isinstance(prompt, str):
        raise RowError("query and prompts must be lists of texts")
    return row_of_query(query, prompt, found.get("label"))


def _slime(found: Mapping[str, Any]) -> Row:
    if "response" not in found:
        raise RowError("there is no 'response'")
    return row_of_sample(found.get("prompt"), found["response"], {"answer": found.get("label")})


_ROWS: dict[str, Callable[[Mapping[str, Any]], Row]] = {
    "row": dict,
    "openrlhf": _openrlhf,
    "slime": _slime,
    "nemo": row_of_request,
}


def openrlhf_reply(scores: Sequence[ScoreReply]) -> dict[str, Any]:
    """Return the reply of a reward model's server; a row without a number is 0, with the outcome beside it."""
    values = [score.value or 0.0 for score in scores]
    outcomes = ("scored", "unscored", "error")
    logs = {outcome: [float(score.status == outcome) for score in scores] for outcome in outcomes}
    return {"rewards": values, "scores": values, "extra_logs": logs}


def slime_reply(score: ScoreReply) -> dict[str, Any]:
    """Return what becomes a sample's `reward`; `--reward-key reward` takes the number out of it."""
    return {
        "reward": score.value or 0.0,
        "remove_sample": score.value is None,
        "status": score.status,
        "reason": score.reason,
    }


def nemo_reply(score: ScoreReply) -> dict[str, Any]:
    """Return what is added to NeMo Gym's request: a row of a failure class is in no mean and is tried again."""
    if score.value is not None:
        return {"reward": score.value, "reason": score.reason}
    return {"reward": 0.0, "_ng_failure_class": "judge_failed", "_ng_failure_judge_error": score.reason}
