"""Which reply is which error: statuses, bodies that are not chat replies, and what went wrong below."""

from collections.abc import Callable

from adjudge.chat._body import decode_body, error_text, read_usage
from adjudge.chat._errors import (
    BadRequest,
    ChatError,
    ChatTimeout,
    MalformedReply,
    NotFound,
    QuotaExceeded,
    RateLimited,
    ServerFailed,
    Unauthorised,
    Unreachable,
)
from adjudge.chat._key import Key, cleaned
from adjudge.http import (
    Again,
    AttemptTimeout,
    ConnectionFailed,
    DeadlineExceeded,
    HttpError,
    HttpReply,
    ReplyTooLarge,
    ReplyUnreadable,
    is_transient,
)
from adjudge.model import ChatReply

__all__ = ["as_chat_error", "read_reply"]

_MALFORMED_TIMES = 2
"""How often a reply that is not a chat reply is asked for again."""

_QUOTA_WORDS = (
    "insufficient_quota",
    "exceeded_current_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credit",
    "run out of credit",
    "out of credits",
)
"""What endpoints say when the money is gone. "Quota exceeded" alone may mean calls a minute, which pass."""

_FILTERED = ("content_filter", "content_policy_violation")
_LONGEST_DETAIL = 20_000


def read_reply(reply: HttpReply, read: Callable[[str], ChatReply], key: Key) -> ChatReply | Again:
    """Return what the model said, or that it is worth another attempt; raise what is not."""
    body = key.hidden(reply.body)
    if not 200 <= reply.status < 300:
        return _failed(reply.status, body.decode("utf-8", "replace"))
    try:
        # The codec that takes a byte order mark away by itself is ten times as slow.
        return read(body.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        problem = MalformedReply(f"the reply is not UTF-8 at byte {error.start + 1}")
    except MalformedReply as error:
        problem = error
        problem.usage = read_usage(body)
    return Again(problem, times=_MALFORMED_TIMES)


def _failed(status: int, body: str) -> ChatReply | Again:
    try:
        error = decode_body(body).get("error")
    except MalformedReply:
        error = None
    # Where the body does not have the usual shape, all of it is the message.
    said = error_text(error) or body
    parts = error if isinstance(error, dict) else {}
    text = f"the server answered {status}: {cleaned(said)}" if said else f"the server answered {status}"
    # Not in all of the body: it may repeat the prompt, and one row is not to stop a run.
    words = f"{cleaned(said)} {parts.get('type')} {parts.get('code')}".lower()
    out_of_quota = any(word in words for word in _QUOTA_WORDS)
    if status == 402 or (out_of_quota and status in (400, 403, 429)):
        raise QuotaExceeded(text)
    if status in (401, 403):
        raise Unauthorised(text)
    if status == 404:
        raise NotFound(text)
    if status == 429:
        return Again(RateLimited(text))
    if is_transient(status):
        return Again(ServerFailed(text))
    # A filtered prompt is an answer about this row, not a failure of the request.
    if status == 400 and parts.get("code") in _FILTERED:
        return ChatReply(None, finish_reason="content_filter", raw=body)
    problem = BadRequest(text, code=None if status >= 400 else "redirect")
    problem.detail = said[:_LONGEST_DETAIL]
    problem.param = param if isinstance(param := parts.get("param"), str) and param else None
    raise problem


def as_chat_error(error: HttpError) -> ChatError:
    """Return the chat error for a failure below; reason and wording stay."""
    if isinstance(error, ConnectionFailed):
        return Unreachable(error.message, code=error.code)
    if isinstance(error, AttemptTimeout | DeadlineExceeded):
        return ChatTimeout(error.message, code=error.code)
    if isinstance(error, ReplyTooLarge | ReplyUnreadable):
        return MalformedReply(error.message)
    return ChatError(error.message, code=error.code)
