r"""What trainers send, as rows, and what they get back.

    row         {"final_response": "Paris", "answer": "Paris", ...}         POST /score, a row as scorers know it
    openrlhf    {"query": "<prompt><response>", "prompt": ..., "label": ...}    POST /get_reward, cut out of its lists
    slime       {"prompt": ..., "response": ..., "label": ...}              POST /slime
    nemo        {"responses_create_params": ..., "response": ..., ...}      POST /verify

Read in OpenRLHF 0.11 (`utils/agent.py`), slime at 624b824a (`rollout/rm_hub`) and NeMo Gym at 07d6b0d0 (`judge.py`,
`base_resources_server.py`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from adjudge.errors import RowError
from adjudge.integrations import rollout_row
from adjudge.rewards import Row

Shape: TypeAlias = Literal["row", "openrlhf", "slime", "nemo"]

# What a tokenizer writes for its special tokens: <|im_end|>, </s>, <eos>, <end_of_turn>, <｜end▁of▁sentence｜>.
_SPECIAL = r"(?:<[|｜][^<>|｜\s]{1,40}[|｜]>|</?s>|<(?:bos|eos|pad|end_of_turn)>)"
_BEFORE = re.compile(rf"(?:\s*{_SPECIAL})*\s*")
_LAST = re.compile(rf"{_SPECIAL}\s*\Z")
_MOST_SPECIAL = 4096  # characters at the end that may be special tokens


class ScoreReply(msgspec.Struct, frozen=True):
    """A score as the scoring process wrote it."""

    value: float | None
    status: str
    reason: str | None
    parts: dict[str, float | None]


def response_of(query: str, prompt: str) -> str:
    """Return what follows the prompt in OpenRLHF's query, without the special tokens around it.

    >>> response_of("<s>Capital of France? It is Paris.</s>", "Capital of France?")
    'It is Paris.'
    """
    # The tokenizer may have put its own token before a prompt, and a prompt may begin with one.
    start = query.find(prompt, 0, len(prompt) + 80)
    if start < 0 or _BEFORE.fullmatch(query[:start]) is None:
        raise RowError("the query does not begin with its prompt: which part is the response is not known")
    response = query[start + len(prompt) :]
    kept, end = response[:-_MOST_SPECIAL], response[-_MOST_SPECIAL:].rstrip()
    while (found := _LAST.search(end)) is not None:
        end = end[: found.start()].rstrip()
    return (kept + end).strip()


def row_of(shape: Shape, found: Mapping[str, Any]) -> Row:
    """Return what a trainer sent as a row."""
    return _ROWS[shape](found)


def _openrlhf(found: Mapping[str, Any]) -> Row:
    query, prompt = found.get("query"), found.get("prompt")
    if not isinstance(query, str) or not isinstance(prompt, str):
        raise RowError("query and prompts must be lists of texts")
    return rollout_row(prompt, response_of(query, prompt), {"answer": found.get("label")})


def _slime(found: Mapping[str, Any]) -> Row:
    if "response" not in found:
        raise RowError("there is no 'response'")
    return rollout_row(found.get("prompt"), found["response"], {"answer": found.get("label")})


def _nemo(found: Mapping[str, Any]) -> Row:
    asked, answered = found.get("responses_create_params"), found.get("response")
    if not isinstance(asked, dict) or not isinstance(answered, dict):
        raise RowError("responses_create_params and response must be objects")
    columns = {name: value for name, value in found.items() if name not in ("responses_create_params", "response")}
    if "expected_answer" in columns:
        columns.setdefault("answer", columns["expected_answer"])
    given = asked.get("input")
    prompt = [message for item in given for message in _messages(item)] if isinstance(given, list) else given
    output = answered.get("output")
    messages = [message for item in output for message in _messages(item)] if isinstance(output, list) else []
    # Without a message there is no response, which is an answer of the agent: an empty one.
    return rollout_row(prompt, messages or "", columns)


def _messages(item: Any) -> Sequence[dict[str, Any]]:
    """Return an item of OpenAI's Responses interface as a message; one that says nothing is none."""
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        return ({"role": item.get("role", "assistant"), "content": item.get("content")},)
    if kind == "function_call":
        call = {"name": item.get("name"), "arguments": item.get("arguments")}
        return (
            {"role": "assistant", "tool_calls": [{"id": item.get("call_id"), "type": "function", "function": call}]},
        )
    if kind == "function_call_output":
        return ({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")},)
    return ()


_ROWS: dict[str, Callable[[Mapping[str, Any]], Row]] = {
    "row": dict,
    "openrlhf": _openrlhf,
    "slime": _slime,
    "nemo": _nemo,
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
