"""The outcome of asking one scorer about one trajectory.

Score.scored(0.5, parts={"f1": 0.5, "em": 0.0})     judged: here is the number
Score.unscored("tool-use-unknown")                  no verdict could be reached, and why
Score.error("env-died: no answer in 60 s")          something broke, and what
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["scored", "unscored", "error"]
"""The three outcomes; none of them ever turns into another."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a score comes from: enough to know whether two scores may be compared."""

    scorer: str
    version: str
    judge: str | None = None
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True, init=False)
class Score:
    """One of three outcomes; `value` is a finite number exactly when `status` is `scored`.

    `parts` are named numbers beside the value, the same names in every score of one scorer; a part that is
    not known is None. `steps` are values for the single steps of the trajectory, where a scorer gives them.
    `notes` are texts that the scorer returned (an environment's last observation, say). `detail` is anything else that
    it wants kept, in whatever structure JSON can hold; its schema is the scorer's own.

    >>> Score.scored(1.0).value
    1.0
    >>> Score.error("env-died: no answer").value is None
    True
    """

    value: float | None
    status: Status = "scored"
    reason: str | None = None
    parts: Mapping[str, float | None] = field(default_factory=dict)
    steps: tuple[float, ...] | None = None
    notes: Mapping[str, str] | None = None
    provenance: Provenance | None = None
    detail: Any = None

    def __init__(
        self,
        value: float | None,
        status: Status = "scored",
        reason: str | None = None,
        parts: Mapping[str, float | None] | None = None,
        steps: tuple[float, ...] | None = None,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
        detail: Any = None,
    ) -> None:
        # x - x is 0 for every finite x and NaN for NaN and the infinities.
        if status != "scored" or type(value) is not float or value - value != 0:
            value = _checked(value, status, reason)
        _set_value(self, value)
        _set_status(self, status)
        _set_reason(self, reason)
        _set_parts(self, {} if parts is None else parts)
        _set_steps(self, steps)
        _set_notes(self, notes)
        _set_provenance(self, provenance)
        _set_detail(self, detail)

    def __post_init__(self) -> None:
        """Check a score that was read from JSON, which does not come through the constructor."""
        value = self.value
        if self.status != "scored" or type(value) is not float or value - value != 0:
            _set_value(self, _checked(value, self.status, self.reason))
        for number in (*self.parts.values(), *(self.steps or ())):
            if number is not None and number - number != 0:
                raise ValueError(f"parts and steps of a Score are finite, got {number!r}")

    @classmethod
    def scored(
        cls,
        value: float,
        *,
        reason: str | None = None,
        parts: Mapping[str, float | None] | None = None,
        steps: tuple[float, ...] | None = None,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
        detail: Any = None,
    ) -> "Score":
        """Return a number, with its parts."""
        return cls(value, "scored", reason, parts, steps, notes, provenance, detail)

    @classmethod
    def unscored(
        cls,
        reason: str,
        *,
        parts: Mapping[str, float | None] | None = None,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
        detail: Any = None,
    ) -> "Score":
        """No verdict could be reached: a judge refused, a trace was incomplete."""
        return cls(None, "unscored", reason, parts, None, notes, provenance, detail)

    @classmethod
    def error(
        cls,
        reason: str,
        *,
        parts: Mapping[str, float | None] | None = None,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
        detail: Any = None,
    ) -> "Score":
        """Something that is not the response's fault broke: a service, an environment, a row."""
        return cls(None, "error", reason, parts, None, notes, provenance, detail)


def _checked(value: float | None, status: str, reason: str | None) -> float | None:
    """Return the value as a float, or raise `ValueError` if the three do not go together."""
    if status == "scored":
        # A number that no float can hold is refused like an infinite one.
        try:
            number = float(value) if isinstance(value, int | float) else math.nan
        except OverflowError:
            number = math.inf
        if number - number != 0:
            raise ValueError(f"a scored Score needs a finite value, got {value!r}")
        return number
    if status not in ("unscored", "error"):
        raise ValueError(f"status must be scored, unscored or error, got {status!r}")
    if value is not None or not reason or not isinstance(reason, str):
        raise ValueError(f"an {status} Score has no value and gives its reason")
    return None


# Written out, because scores are made by the million: a third less than the generated constructor takes.
(_set_value, _set_status, _set_reason, _set_parts, _set_steps, _set_notes, _set_provenance, _set_detail) = (
    Score.__dict__[each.name].__set__ for each in fields(Score)
)
