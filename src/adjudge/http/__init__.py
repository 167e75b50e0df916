"""A pooled HTTP client that asks as often as it may, as gently as the server wants, and never for ever.

    async with HttpClient(Limits(in_flight=32, deadline_s=20)) as client:
        reply = await client.fetch(Request(url, body=b"{}"))

Retries with full jitter, `Retry-After` and rate-limit headers, a back-off that all calls to one endpoint share, as many
calls as the server carries (learnt, see `_pace`), replies of bounded size, total deadlines, verified TLS, no redirects.
aiohttp is imported with the first request.
"""

from adjudge.http._address import check_url, is_public
from adjudge.http._client import HttpClient
from adjudge.http._errors import (
    AddressRefused,
    AttemptTimeout,
    BadStatus,
    ClientClosed,
    ConnectionFailed,
    DeadlineExceeded,
    HttpError,
    ReplyTooLarge,
    ReplyUnreadable,
)
from adjudge.http._reply import HttpReply
from adjudge.http._request import Again, Exchange, Limits, Reader, Request
from adjudge.http._retry import is_transient, retry_after_s
from adjudge.http._secret import hide, probes_of
from adjudge.http._serving import LoopThread, ThreadedServer, is_loopback, is_own_name, listening, server_log
from adjudge.http._watch import AttemptWatch, attempt_watch

__all__ = [
    "AddressRefused",
    "Again",
    "AttemptTimeout",
    "AttemptWatch",
    "BadStatus",
    "ClientClosed",
    "ConnectionFailed",
    "DeadlineExceeded",
    "Exchange",
    "HttpClient",
    "HttpError",
    "HttpReply",
    "Limits",
    "LoopThread",
    "Reader",
    "ReplyTooLarge",
    "ReplyUnreadable",
    "Request",
    "ThreadedServer",
    "attempt_watch",
    "check_url",
    "hide",
    "is_loopback",
    "is_own_name",
    "is_public",
    "is_transient",
    "listening",
    "probes_of",
    "retry_after_s",
    "server_log",
]
