"""What can become of an HTTP request, other than a reply.

    HttpError
    ├── ConnectionFailed    no connection, or it was reset or closed before the reply was whole
    ├── AttemptTimeout      one attempt took longer than it may
    ├── DeadlineExceeded    the request took longer than it may, waits and retries included
    ├── BadStatus           the server answered with an error
    ├── ReplyTooLarge       the reply is over the size bound; no more of it was read
    ├── ReplyUnreadable     the reply is not HTTP, or not in the encoding that it claims
    ├── AddressRefused      an address that may not be called: not http(s), or private where that is not allowed
    └── ClientClosed        the client was closed

The first three have been retried when they reach you, `BadStatus` where the status is one that may pass.
"""

from typing import ClassVar

from adjudge.errors import AdjudgeError

__all__ = [
    "AddressRefused",
    "AttemptTimeout",
    "BadStatus",
    "ClientClosed",
    "ConnectionFailed",
    "DeadlineExceeded",
    "HttpError",
    "ReplyTooLarge",
    "ReplyUnreadable",
]


class HttpError(AdjudgeError):
    """An HTTP request came to nothing."""

    default_code: ClassVar[str] = "http"


class ConnectionFailed(HttpError):
    """There was no connection, or it ended before the reply was whole. A certificate that is not good is `tls`.

    Where a proxy is in between that cannot be reached or refuses, it is `proxy`.
    """

    default_code = "unreachable"


class AttemptTimeout(HttpError):
    """One attempt took longer than it may."""

    default_code = "timeout"


class DeadlineExceeded(HttpError):
    """The request took longer than it may in total, waits and retries included."""

    default_code = "deadline"


class BadStatus(HttpError):
    """The server answered with an error."""

    default_code = "http-status"

    def __init__(self, message: str, *, code: str | None = None, status: int = 0) -> None:
        super().__init__(message, code=code)
        self.status = status

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_status, (self.message, self.code, self.status))


def _rebuild_status(message: str, code: str, status: int) -> BadStatus:
    return BadStatus(message, code=code, status=status)


class ReplyTooLarge(HttpError):
    """The reply is over the size bound; no more of it was read."""

    default_code = "reply-too-large"


class ReplyUnreadable(HttpError):
    """The reply is not HTTP, or not in the encoding that it claims."""

    default_code = "reply-unreadable"


class AddressRefused(HttpError):
    """An address that may not be called."""

    default_code = "address-refused"


class ClientClosed(HttpError):
    """The client was closed."""

    default_code = "client-closed"
