"""What is known of a run's judge, kept in its file: whoever looks at the run sees it beside the numbers."""

import math
from dataclasses import dataclass

import msgspec

from adjudge.errors import RunError
from adjudge.judges._calibration import Calibration, Corrected
from adjudge.runs._records import write_meta
from adjudge.runs._store import Store
from adjudge.runs._summary import Tally
from adjudge.statistics import Estimate

KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Known:
    """How far the judge says that it agrees with people, what was measured of it, and a cascade's rule."""

    agreement: str | None = None
    calibration: Calibration | None = None
    rule: str | None = None

    def corrected(self, tally: Tally) -> Corrected | None:
        """Return a mean of the judge's verdicts once its faults are taken out."""
        mean, moments = tally.mean, tally.moments
        if mean is None or self.calibration is None:
            return None
        n = moments.n
        se = math.sqrt(moments.squares / (n - 1) / n) if n > 1 else None
        return self.calibration.corrected(Estimate(mean.value, se, mean.low, mean.high, n, None, None, mean.method))


def known_in(store: Store) -> Known:
    """Return what a run file says of its judge."""
    stored = store.meta(KNOWN)
    try:
        return Known() if stored is None else msgspec.convert(stored, Known)
    except msgspec.ValidationError as error:
        raise RunError(f"{store.path}: its calibration cannot be read: {error}", code="run-damaged") from None


def keep_known(store: Store, judge: object, calibration: Calibration | None) -> None:
    """Write what is known of the judge into the run file; an older calibration stays where no other one is named."""
    older = known_in(store)
    agreement, rule = (getattr(judge, name, None) for name in ("agreement", "rule"))
    known = Known(agreement, calibration or older.calibration, rule)
    if known != older:
        store.commit([write_meta(KNOWN, known)])
