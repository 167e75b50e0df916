"""What is sent, how far a client goes for it, and what may be made of the reply."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from adjudge.errors import AdjudgeError, UsageError
from adjudge.http._reply import HttpReply

__all__ = ["Again", "Exchange", "Limits", "Reader", "Request"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a client goes: calls at once, attempts, seconds for one attempt and in total, bytes of a reply.

    A server that asks to wait for longer than `max_wait_s` gets no second attempt: the error comes at once.
    """

    in_flight: int = 64
    attempts: int = 8
    attempt_timeout_s: float = 60.0
    deadline_s: float = 120.0
    max_wait_s: float = 60.0
    max_reply_bytes: int = 8_000_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            # Written so that NaN is refused too.
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, not {getattr(self, name)!r}", code="bad-limit")


@dataclass(frozen=True, slots=True)
class Request:
    """One request with its body as bytes. `headers` is called when they are sent, so that no key is kept or shown."""

    url: str
    body: bytes | None = None
    method: str = "POST"
    headers: Callable[[], Mapping[str, str]] = dict


@dataclass(frozen=True, slots=True)
class Again:
    """What a reader returns for a reply that is worth another attempt, at most `times` more where given.

    `error` is what stands when there is none left.
    """

    error: AdjudgeError
    times: int | None = None


Reader: TypeAlias = Callable[[HttpReply], T | Again]
"""Makes a value of a reply, or says that it is worth another attempt, or raises what stands for good."""

Exchange: TypeAlias = Callable[[Request], Awaitable[HttpReply | Again]]
"""Makes one attempt, in place of the client's own connections; what it raises is final."""
