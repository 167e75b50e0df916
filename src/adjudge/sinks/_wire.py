"""How one kind of receiver is spoken to, and what its replies mean."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from adjudge.errors import AdjudgeError
from adjudge.http import Again, BadStatus, HttpClient, HttpReply, Request, is_transient
from adjudge.sinks._errors import BatchRefused, DeliveryFault
from adjudge.sinks._scores import OutScore

__all__ = ["REFUSALS", "Unready", "Wire", "each", "exchange", "json_object", "refused", "said_by"]

REFUSALS = (400, 413, 422)
"""Statuses with which receivers refuse what is in a request."""

_LONGEST_TEXT = 300
_MOST_BYTES = 20_000  # well over that, so that no key is cut in two and overlooked


class Unready(str):
    """Why a receiver cannot have a score yet, as where its trace has not arrived: the score stays pending."""

    __slots__ = ()


class Wire(Protocol):
    """One receiver: what it takes and how it is asked."""

    name: str

    @property
    def most(self) -> int:
        """How many scores go into one request."""
        ...

    @property
    def most_bytes(self) -> int:
        """How many bytes of scores go into one request."""
        ...

    def about(self) -> Mapping[str, str]:
        """Return what is needed to send again later; never a key."""
        ...

    def why_not(self, score: OutScore) -> str | None:
        """Say why this receiver cannot have a score, if so."""
        ...

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:
        """Return whether the receiver said which trace a session stands for, and that trace, if there is one."""
        ...

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send scores once: for each None where it was acknowledged, or the reason why it is refused, or `Unready`.

        Raises `BatchRefused` where the receiver refuses one of them and does not say which, `DeliveryFault` or an
        `HttpError` where nothing was acknowledged.
        """
        ...


async def each(post: Callable[[OutScore], Awaitable[str | None]], scores: Sequence[OutScore]) -> list[str | None]:
    """Send one request a score, all at once; what some acknowledge counts, also where others come to nothing."""
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


async def exchange(client: HttpClient, request: Request, *, receiver: str, keys: str) -> HttpReply:
    """Send a request, again where that may help; what comes back is a 2xx or a status of `REFUSALS`, 404 or 405."""
    reply = await client.send(request, _settled)
    if reply.status in (401, 403):
        raise DeliveryFault(f"{receiver} answered {reply.status}: check {keys}", code="unauthorised")
    if not (200 <= reply.status < 300 or reply.status in (*REFUSALS, 404, 405)):
        raise DeliveryFault(f"{receiver} answered {reply.status}: check its address", code="http-status")
    return reply


def _settled(reply: HttpReply) -> "HttpReply | Again":
    if is_transient(reply.status):
        return Again(BadStatus(f"the receiver answered {reply.status}", status=reply.status))
    return reply


def json_object(reply: HttpReply, receiver: str) -> dict[str, Any]:
    """Read an acknowledgement; a web page with status 200 is none."""
    from adjudge.errors import RowError
    from adjudge.model import decode_json

    try:
        value = decode_json(reply.body)
    except RowError:
        value = None
    if not isinstance(value, dict):
        raise DeliveryFault(f"{receiver} answered {reply.status} with something else: check its address", code="reply")
    return value


def said_by(reply: HttpReply, secrets: Sequence[str] = ()) -> str:
    """Return what a receiver says about a request it refuses: on one line, short, without our keys."""
    text = reply.body[:_MOST_BYTES].decode("utf-8", "replace")
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return f"the receiver answered {reply.status}: {line[:_LONGEST_TEXT]}"


def refused(reply: HttpReply, secrets: Sequence[str] = ()) -> BatchRefused:
    """Return the error that stands for a refusal, with what the receiver says."""
    return BatchRefused(said_by(reply, secrets))
