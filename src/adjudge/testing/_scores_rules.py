"""What a dashboard asks of a request with scores, and how it answers."""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal

from adjudge.testing._faults import Act

__all__ = ["basic", "read_scores", "response", "why_not"]

_FIELDS = {
    *("id", "traceId", "sessionId", "observationId", "datasetRunId", "name", "value", "comment", "metadata"),
    *("environment", "dataType", "configId", "timestamp"),
}


def basic(user: str, password: str) -> str:
    """Return the header of HTTP basic authentication."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode('ascii')}"


def read_scores(body: bytes, form: Literal["list", "object"]) -> tuple[list[dict[str, Any]], str | None]:
    """Return the scores of a body, or what is wrong with it as a whole."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # an escaped lone surrogate cannot be stored
    except (ValueError, RecursionError) as error:
        return [], f"Invalid request data: {type(error).__name__}"
    listed = value if form == "list" else [value]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        return [], f"Invalid request data: expected {'an array of scores' if form == 'list' else 'a score'}"
    return listed, None


def why_not(score: Mapping[str, Any]) -> str | None:
    """Say which rule of the interface a score breaks, if any."""
    wrong = {
        "unknown field": not score.keys() <= _FIELDS,
        "id": not isinstance(score.get("id"), str) or not score["id"],
        "name": not isinstance(score.get("name"), str) or not score["name"] or "\x00" in score["name"],
        "value": not _fits(score.get("value"), score.get("dataType")),
        "traceId or sessionId": (score.get("traceId") is None) == (score.get("sessionId") is None),
        "observationId": score.get("observationId") is not None and score.get("traceId") is None,
        "timestamp": not _has_offset(score.get("timestamp")),
    }
    return next((f"Invalid request data: {what}" for what, is_wrong in wrong.items() if is_wrong), None)


def response(status: int, value: object) -> Act:
    """Answer with JSON."""
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
    return Act((f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body,))


def _refuse(name: str) -> float:
    raise ValueError(name)


def _fits(value: object, kind: object) -> bool:
    if kind == "CATEGORICAL":
        return isinstance(value, str) and bool(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (kind in ("NUMERIC", None) or (kind == "BOOLEAN" and value in (0, 1)))


def _has_offset(value: object) -> bool:
    if value is None:
        return True
    try:
        return datetime.fromisoformat(str(value)).tzinfo is not None
    except ValueError:
        return False
