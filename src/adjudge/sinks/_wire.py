"""How one kind of receiver is spoken to: its keys, its requests, and what its replies mean.

OutboxError         the outbox cannot be used: held by another process, damaged, too new, no room
DeliveryFault       nothing was acknowledged, and not because of a score: it stays pending
BatchRefused        the receiver refuses what is in the request: it is cut in halves until the bad score is alone
"""

import asyncio
import os
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any, ClassVar, Protocol, cast

import msgspec

from adjudge.chat import Key
from adjudge.errors import AdjudgeError, RowError, UsageError
from adjudge.http import Again, BadStatus, HttpClient, HttpReply, Request, hide, is_transient
from adjudge.model import decode_json
from adjudge.sinks._scores import OutScore, why_not_sendable

REFUSALS = (400, 413, 422)
"""Statuses with which receivers refuse what is in a request."""

_LONGEST_TEXT = 300
_MOST_BYTES = 20_000  # well over that, so that no key is cut in two and overlooked


class OutboxError(AdjudgeError):
    """An outbox cannot be used: another process holds it, it is damaged, or there is no room for it."""

    default_code = "outbox"


class DeliveryFault(AdjudgeError):
    """A receiver acknowledged nothing, for a reason that is not in the scores; they stay pending."""

    default_code = "not-delivered"


class BatchRefused(AdjudgeError):
    """A receiver refuses a request because of something in it."""

    default_code = "refused"


def setting(given: str | None, *names: str) -> str | None:
    """Return what was given, or the first of the environment variables that is set."""
    return given or next((value for name in names if (value := os.environ.get(name))), None)


def address(given: str | None, *names: str) -> str | None:
    """Return the URL that was given or is set; it is kept with the scores, so one with a password is refused."""
    found = setting(given, *names)
    if found is None:
        return None
    # The outbox keeps the address, and an outbox may be passed on.
    if "@" in (found.partition("://")[2] or found).partition("/")[0]:
        raise UsageError(f"remove the password from the URL and pass it as a key ({' or '.join(names)})")
    if "?" in found or "#" in found:
        raise UsageError(f"remove the query from the URL and pass a key apart ({' or '.join(names)})")
    if not found.lower().startswith(("http://", "https://")):
        raise UsageError(f"a URL must begin with http:// or https://, got {found[:80]!r} ({' or '.join(names)})")
    return found.rstrip("/")


class Credentials(Protocol):
    """What a receiver recognises us by."""

    def headers(self) -> dict[str, str]:
        """Return the headers of a request, made when it is sent."""
        ...

    def secrets(self) -> list[str]:
        """Return what must not be shown, the longest first."""
        ...


class BasicKeys:
    """A public and a secret key, given or from the environment variables of these names, as basic authentication."""

    def __init__(self, public: str | None, secret: str | None, names: tuple[str, str]) -> None:
        self._user, self._password = Key(public, names[0]), Key(secret, names[1])
        self._names = " and ".join(names)

    @property
    def owner(self) -> str:
        """Whose keys these are: a digest of the public one, empty where it is missing."""
        user = self._user.reveal()
        return sha256(user.encode()).hexdigest()[:16] if user else ""

    def headers(self) -> dict[str, str]:
        """Return the header; without keys raise a `DeliveryFault` that names the missing variables."""
        if not self._user.reveal() or not self._password.reveal():
            raise DeliveryFault(f"keys are missing: set {self._names}", code="no-key")
        return {"Authorization": f"Basic {self.secrets()[0]}"}

    def secrets(self) -> list[str]:
        """Return both keys as the header has them, and the secret one."""
        user, password = self._user.reveal() or "", self._password.reveal() or ""
        return [b64encode(f"{user}:{password}".encode()).decode("ascii"), password]


class TokenKey:
    """A bearer token, given or from the environment variable of this name; without one no header is sent."""

    def __init__(self, token: str | None, name: str) -> None:
        self._key = Key(token, name)

    def headers(self) -> dict[str, str]:
        """Return the header, if there is a token."""
        token = self._key.reveal()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def secrets(self) -> list[str]:
        """Return the token."""
        return [self._key.reveal() or ""]


class Unready(str):
    """Why a receiver cannot take a score yet, for example because its trace has not arrived: it stays pending."""

    __slots__ = ()


class Wire(ABC):
    """One receiver: what it takes and how to send it; a class for each kind has its own `post`."""

    name: ClassVar[str]
    receiver: ClassVar[str]  # what messages call it
    variables: ClassVar[str]  # of the environment, that hold its keys
    addresses: ClassVar[tuple[str, ...]]  # variables that hold its address
    default: ClassVar[str] = ""  # its address where none is given or set
    most_bytes: ClassVar[int] = 900_000  # of scores in one request; Langfuse takes a body of 1 MB

    def __init__(self, host: str | None, credentials: Credentials) -> None:
        self._given = host
        self._credentials = credentials

    @property
    def most(self) -> int:
        """How many scores go into one request, or are on their way at once."""
        return 8

    @property
    def host(self) -> str:
        """The address to send to, which may be missing until something is sent."""
        return address(self._given, *self.addresses) or self.default

    @property
    def project(self) -> str:
        """Which of the receiver's projects our keys open; empty where keys do not say."""
        return ""

    def about(self) -> dict[str, str]:
        """Return what is needed to send again later; never a key."""
        return {"kind": self.name, "host": self.host, "project": self.project}

    def why_not(self, score: OutScore) -> str | None:
        """Return why this receiver cannot take a score, or None: it needs a value, and a trace or a session."""
        return why_not_sendable(score, placed=True)

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:  # noqa: ARG002 (for those that can)
        """Return whether the receiver knows the session, and the one trace of the session, if it has exactly one."""
        return False, None

    @abstractmethod
    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send scores once: for each None where it was acknowledged, or the reason why it is refused, or `Unready`.

        Raises `BatchRefused` where the receiver refuses one of them and does not say which, `DeliveryFault` or an
        `HttpError` where nothing was acknowledged.
        """

    async def ask(self, client: HttpClient, url: str, body: object = None, method: str = "POST") -> HttpReply:
        """Send a request, with retries; the reply has a status of 2xx, of `REFUSALS`, 404 or 405."""
        headers = self._credentials.headers
        request = Request(url, method=method, headers=headers)
        if body is not None:
            content = msgspec.json.encode(body)
            request = Request(url, content, method, lambda: {"Content-Type": "application/json", **headers()})
        reply = await client.send(request, _settled)
        # Not a refusal of scores: with another key they will be taken.
        if reply.status in (401, 403):
            message = f"{self.receiver} answered {reply.status}: check {self.variables}"
            raise DeliveryFault(message, code="unauthorised")
        if not (200 <= reply.status < 300 or reply.status in (*REFUSALS, 404, 405)):
            raise self.fault(reply)
        return reply

    def fault(self, reply: HttpReply) -> DeliveryFault:
        """Return the error for a status that no receiver at the right address has."""
        return DeliveryFault(f"{self.receiver} answered {reply.status}: check its address", code="http-status")

    def refusal(self, reply: HttpReply) -> BatchRefused:
        """Return the error for a refusal, with the text of the reply."""
        return BatchRefused(self.quote(reply))

    def quote(self, reply: HttpReply) -> str:
        """Return the text of a refusal: on one line, short, without our keys."""
        # A proxy may repeat the request, and our keys with it.
        text = hide(reply.body[:_MOST_BYTES], *self._credentials.secrets()).decode("utf-8", "replace")
        line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
        return f"the receiver answered {reply.status}: {line[:_LONGEST_TEXT]}"

    def read(self, reply: HttpReply) -> dict[str, Any]:
        """Read an acknowledgement; a web page with status 200 is not one."""
        try:
            value = decode_json(reply.body)
        except RowError:
            value = None
        if not isinstance(value, dict):
            message = f"{self.receiver} answered {reply.status} without a JSON object: check its address"
            raise DeliveryFault(message, code="reply")
        return value


async def each(post: Callable[[OutScore], Awaitable[str | None]], scores: Sequence[OutScore]) -> list[str | None]:
    """Send one request a score, all at once; those that are acknowledged count even where others fail."""
    # Raised: a programming error, or a fault of every request. One fault among others leaves its score pending.
    results = await asyncio.gather(*(post(score) for score in scores), return_exceptions=True)
    faults = [one for one in results if isinstance(one, BaseException) and not isinstance(one, BatchRefused)]
    strange = [fault for fault in faults if not isinstance(fault, AdjudgeError)]
    if strange or (faults and len(faults) == len(results)):
        raise (strange or faults)[0]
    return [_reason_of(one) for one in results]


def _reason_of(result: str | BaseException | None) -> str | None:
    if isinstance(result, BatchRefused):
        return result.reason
    return Unready(result.reason) if isinstance(result, AdjudgeError) else cast("str | None", result)


def _settled(reply: HttpReply) -> "HttpReply | Again":
    if is_transient(reply.status):
        return Again(BadStatus(f"the receiver answered {reply.status}", status=reply.status))
    return reply
