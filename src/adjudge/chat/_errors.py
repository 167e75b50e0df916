"""What can become of a question to a chat model, other than a reply.

    ChatError                code               retried   fatal
    ├── Unauthorised         unauthorised       no        yes   401, 403: a wrong key (no-key, bad-key: none)
    ├── QuotaExceeded        quota              no        yes   402, and 429 that says so: the account has run out
    ├── BadRequest           bad-request        no        no    400 and every other 4xx; a redirect is `redirect`
    ├── NotFound             not-found          no        no    404: no such model or path
    ├── RateLimited          rate-limited       yes       no    429
    ├── ServerFailed         server-error       yes       no    408, 409, 425, 5xx
    ├── Unreachable          unreachable        yes       no    no connection, reset, closed (tls, proxy)
    ├── ChatTimeout          timeout, deadline  yes       no    one attempt, or all of them, took too long
    └── MalformedReply       malformed-reply    twice     no    a 200 that is not a chat reply: not JSON, too large

`fatal` means that every other call would end in the same way: a run stops and keeps what it has. Null content and
refusals are replies, not errors.
"""

from typing import ClassVar

from adjudge.errors import AdjudgeError

__all__ = [
    "BadRequest",
    "ChatError",
    "ChatTimeout",
    "MalformedReply",
    "NotFound",
    "QuotaExceeded",
    "RateLimited",
    "ServerFailed",
    "Unauthorised",
    "Unreachable",
]


class ChatError(AdjudgeError):
    """A chat model gave no reply. Where `fatal`, it will give none to any other question either."""

    default_code: ClassVar[str] = "chat"
    fatal: ClassVar[bool] = False


class Unauthorised(ChatError):
    """The key is wrong or missing."""

    default_code = "unauthorised"
    fatal = True


class QuotaExceeded(ChatError):
    """The account has run out of money or calls."""

    default_code = "quota"
    fatal = True


class BadRequest(ChatError):
    """The endpoint does not take this request; one that takes no JSON schemas is `schema-unsupported`."""

    default_code = "bad-request"
    detail: str = ""
    """The endpoint's explanation, of which the message shows the beginning."""
    param: str | None = None
    """The part of the request that the endpoint names as the cause."""
    is_guess: bool = False
    """Whether the cause was only found in the words of the explanation, which may quote the prompt."""


class NotFound(ChatError):
    """The endpoint has no such model or path."""

    default_code = "not-found"


class RateLimited(ChatError):
    """The endpoint was still refusing after the last attempt, or asks to wait for too long."""

    default_code = "rate-limited"


class ServerFailed(ChatError):
    """The endpoint failed on its side."""

    default_code = "server-error"


class Unreachable(ChatError):
    """There was no connection, or it ended before the reply was whole."""

    default_code = "unreachable"


class ChatTimeout(ChatError):
    """The reply did not come in time: `timeout` for one attempt, `deadline` for the whole call."""

    default_code = "timeout"


class MalformedReply(ChatError):
    """The endpoint answered 200 with something that is not a chat reply."""

    default_code = "malformed-reply"
    usage: tuple[int, int] = (0, 0)
    """The tokens that the endpoint counted all the same: prompt and completion."""
