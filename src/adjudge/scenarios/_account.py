"""What was asked in a run, and what the agent did, as reports show it."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from adjudge.errors import RowError
from adjudge.model import ToolCall, decode_json, encode_json
from adjudge.runs import RunRow, plain_message

DEEPEST = 30  # levels of what an agent wrote
_ACCOUNT = ("messages", "calls", "agents", "complete", "sources", "prompt_tokens", "completion_tokens", "cost")


def account_of(row: RunRow) -> dict[str, Any]:
    """Return what was asked in one run, and what the agent did; None for what the record does not show."""
    case, done = row.case.row or {}, row.trajectory
    record = None if done is None else done.trajectory
    asked = {"question": case.get("question"), "turns": case.get("scenario", {}).get("turns")}
    if record is None:
        return {**asked, **dict.fromkeys(_ACCOUNT), "unknown": {}, "fault": None if done is None else done.fault}
    calls = None if record.tool_calls is None else [_call(at, one) for at, one in enumerate(record.tool_calls, 1)]
    return {
        **asked,
        "messages": [_flat(plain_message(one)) for one in record.messages],
        "calls": calls,
        "agents": None if "agents" in record.unknown else list(record.agents_called),
        "unknown": dict(record.unknown),
        "complete": record.complete,
        "sources": list(record.sources),
        "prompt_tokens": record.prompt_tokens,
        "completion_tokens": record.completion_tokens,
        "cost": record.cost,
        "fault": None,
    }


def _call(order: int, call: ToolCall) -> dict[str, Any]:
    """Return one call of a tool; arguments that are JSON text of an object are that object."""
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            read = decode_json(arguments.encode("utf-8", "surrogatepass"))
        except (RowError, RecursionError):
            read = None
        arguments = read if isinstance(read, dict) else arguments
    return {"order": order, **asdict(replace(call, arguments=_flat(arguments)))}


def _flat(value: Any, levels: int = DEEPEST) -> Any:
    """Return a value in which what is nested too deeply is JSON text: a report must not grow with depth."""
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not levels:
        try:
            return encode_json(value).decode()
        except (RowError, RecursionError):
            return "[nested too deeply]"
    if isinstance(value, Mapping):
        return {key: _flat(one, levels - 1) for key, one in value.items()}
    return [_flat(one, levels - 1) for one in value]
