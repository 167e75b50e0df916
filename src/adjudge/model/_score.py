"""The outcome of asking one scorer about one trajectory.

Score.scored(0.5, parts={"f1": 0.5, "em": 0.0})     judged: here is the number
Score.unscored("tool-use-unknown")                  no verdict could be reached, and why
Score.error("env-died: no answer in 60 s")          something broke, and what
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["scored", "unscored", "error"]
"""The three outcomes. There is no fourth, and none of them turns into another."""

_NO_PARTS: Mapping[str, float | None] = {}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a score comes from: enough to know whether two scores may be compared."""

    scorer: str
    version: str
    judge: str | None = None
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """One of three outcomes; `value` is a finite number exactly when `status` is `scored`.

    `parts` are named numbers beside the value, the same names in every score of one scorer; a part that is
    not known is None. `steps` are values for the single steps of the trajectory, where a scorer gives them.
    `notes` are texts that the scorer returned (an environment's last observation, say).

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

    def __post_init__(self) -> None:
        value = self.value
        if self.status == "scored":
            # x - x is 0 for every finite x and NaN for NaN and the infinities.
            if value is None or value - value != 0:
                raise ValueError(f"a scored Score needs a finite value, got {value!r}")
        elif self.status not in ("unscored", "error"):
            raise ValueError(f"status must be scored, unscored or error, got {self.status!r}")
        elif value is not None or not self.reason:
            raise ValueError(f"an {self.status} Score has no value and gives its reason")

    @classmethod
    def scored(
        cls,
        value: float,
        *,
        reason: str | None = None,
        parts: Mapping[str, float | None] = _NO_PARTS,
        steps: tuple[float, ...] | None = None,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
    ) -> "Score":
        """Return a number, with its parts."""
        return cls(value, "scored", reason, parts, steps, notes, provenance)

    @classmethod
    def unscored(
        cls,
        reason: str,
        *,
        parts: Mapping[str, float | None] = _NO_PARTS,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
    ) -> "Score":
        """No verdict could be reached: a judge refused, a trace was incomplete."""
        return cls(None, "unscored", reason, parts, None, notes, provenance)

    @classmethod
    def error(
        cls,
        reason: str,
        *,
        parts: Mapping[str, float | None] = _NO_PARTS,
        notes: Mapping[str, str] | None = None,
        provenance: Provenance | None = None,
    ) -> "Score":
        """Something that is not the response's fault broke: a service, an environment, a row."""
        return cls(None, "error", reason, parts, None, notes, provenance)
