"""One score on its way out, and what became of a delivery."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ["DataType", "OutScore", "Receipt", "Rejected", "Sink"]

DataType: TypeAlias = Literal["numeric", "boolean", "categorical"]
"""What a score's value is: a number, true or false, or one of a few words."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OutScore:
    """One score on its way out, the same for every receiver.

    `value` is a number, a truth value, a category, or None where there is no score; `reason` says why then.
    `data_type` follows from the value if it is not given. `id` is made of run, trace and name: the same score has the
    same id in every attempt to deliver it.

    >>> score = OutScore("workflow_pass", True, trace_id="4bf92f3577b34da6a3ce929d0e0e4736", run="july")
    >>> score.data_type, score.id == OutScore("workflow_pass", False, trace_id=score.trace_id, run="july").id
    ('boolean', True)
    """

    name: str
    value: bool | float | str | None = None
    data_type: DataType | None = None
    comment: str | None = None
    trace_id: str | None = None
    session_id: str | None = None
    observation_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    run: str = ""
    id: str = ""
    timestamp: datetime = field(default_factory=_now)

    def __post_init__(self) -> None:
        if self.data_type is None:
            kinds: dict[type, DataType] = {bool: "boolean", str: "categorical"}
            object.__setattr__(self, "data_type", kinds.get(type(self.value), "numeric"))
        if not self.id:
            object.__setattr__(self, "id", self._made_id())

    def _made_id(self) -> str:
        place = [self.trace_id, self.session_id, self.observation_id]
        if self.trace_id is None and self.session_id is None:
            place += [str(self.metadata.get(key)) for key in ("scenario_id", "repeat")]
        # A list's text says itself where each of its items ends.
        text = repr([self.run, *place, self.name]).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A score that will not be delivered, and why."""

    id: str
    name: str
    reason: str
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of the scores that a sink was given, in this and earlier deliveries of its outbox.

    `delivered` were acknowledged by the receiver; `unconfirmed` were handed to a client that does not say what becomes
    of them; `pending` are kept for `adjudge resend`, for the reason in `fault`; `rejected` will not be delivered.
    """

    delivered: int = 0
    pending: int = 0
    rejected: tuple[Rejected, ...] = ()
    unconfirmed: int = 0
    fault: str | None = None


class Sink(Protocol):
    """Whatever takes scores."""

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Deliver scores, as far as it goes; never raises because of what a score holds or a receiver does."""
        ...
