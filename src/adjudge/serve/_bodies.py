"""Bodies of requests: cut into rows or fields, which are not read here, or refused."""

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from adjudge.errors import AdjudgeError, RowError
from adjudge.model import decode_json

if TYPE_CHECKING:
    from aiohttp import web


class RequestRefused(AdjudgeError):
    """A request that is not answered with scores, but with a status of HTTP."""

    def __init__(self, message: str, *, status: int, code: str) -> None:
        super().__init__(message, code=code)
        self.status = status


def busy() -> RequestRefused:
    """Return the refusal of what would have to be kept for too long."""
    return RequestRefused("too much is waiting already: ask again", status=429, code="busy")


def body_faults() -> tuple[type[Exception], ...]:
    """Return what reading a body may raise: its sender has gone, or it is not framed as HTTP frames bodies."""
    from aiohttp import web
    from aiohttp.http_exceptions import HttpProcessingError

    return ConnectionError, web.RequestPayloadError, HttpProcessingError


async def expect_body(request: "web.BaseRequest") -> None:
    """Tell a client to send its body, if it waits for that, as curl does with a large one."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0


class RowsBody(msgspec.Struct):
    """The body of `/score`."""

    rows: list[msgspec.Raw]
    scorer: str | None = None


class OpenRLHFBody(msgspec.Struct):
    """The body of `/get_reward`."""

    query: list[msgspec.Raw]
    prompts: list[msgspec.Raw]
    labels: list[msgspec.Raw] | None = None


Body = TypeVar("Body", RowsBody, OpenRLHFBody)


def cut_body(kind: type[Body], body: bytes) -> Body:
    """Cut a body into its rows, which are not read here."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found = _slowly(body, error)
    listed = {name: [_raw(one) for one in value] if isinstance(value, list) else value for name, value in found.items()}
    try:
        return msgspec.convert(listed, kind)
    except msgspec.ValidationError as error:
        raise _unreadable(error) from None


def cut_fields(body: bytes) -> dict[str, msgspec.Raw]:
    """Cut a body into its fields."""
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return {name: _raw(value) for name, value in _slowly(body, error).items()}


def _slowly(body: bytes, error: Exception) -> dict[str, Any]:
    """Read a body that msgspec refuses whole, so that only the row at fault is refused.

    That is one with the escape of half a character, which is legal and which models write, or with the NaN that Python
    writes for an empty cell.
    """
    try:
        found = decode_json(body) if b"\\u" in body else json.loads(body.decode())
    except (RowError, ValueError, RecursionError):
        raise _unreadable(error) from None
    if not isinstance(found, dict):
        raise _unreadable(error)
    return found


def _raw(value: object) -> msgspec.Raw:
    # Python's writer: numbers beyond every limit come back as they came.
    return msgspec.Raw(json.dumps(value).encode())


def _unreadable(error: Exception) -> RequestRefused:
    return RequestRefused(f"the body cannot be read: {str(error)[:200]}", status=400, code="bad-body")
