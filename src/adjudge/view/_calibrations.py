"""How far a judge agrees with people: what was measured of it, and a run's score corrected for its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adjudge.judges import Calibration, Corrected, load_calibration
from adjudge.statistics import Agreement, Estimate
from adjudge.view._figures import ScorerFigures
from adjudge.view._templates import render

MARK = b'"right_called_right"'
START = 1 << 13  # bytes in which a calibration names its counts


def is_calibration(path: Path) -> bool:
    """Return whether a file looks like a calibration."""
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return MARK in file.read(START)
    except OSError:
        return False


def calibration_page(path: Path) -> str:
    """Return the page of a calibration."""
    return render("calibration.html", name=path.name, found=CalibrationView.of(load_calibration(path)))


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """A calibration for a page; `corrected` are the ways to correct a run's score, by name."""

    calibration: Calibration
    rates: Mapping[str, Estimate | None]
    corrected: Mapping[str, Estimate]
    observed: Estimate | None = None

    @classmethod
    def of(cls, known: Calibration, scores: ScorerFigures | None = None) -> CalibrationView:
        """Lay out a calibration, and the mean of the judge's scores in a run."""
        found = None if scores is None else _corrected(known, scores)
        ways = {} if found is None else _ways(found)
        return cls(known, _rates(known.agreement), ways, None if found is None else found.observed)


def _corrected(known: Calibration, scores: ScorerFigures) -> Corrected | None:
    mean = scores.mean
    if mean is None or scores.se is None:
        return None
    return known.corrected(Estimate(mean.value, scores.se, mean.low, mean.high, mean.n, None, None, mean.method))


def _ways(found: Corrected) -> dict[str, Estimate]:
    ways = {"by the judge's error rates": found.rogan_gladen, "by its mean error": found.prediction_powered}
    return {name: one for name, one in ways.items() if one is not None}


def _rates(known: Agreement | None) -> dict[str, Estimate | None]:
    if known is None:
        return {}
    return {
        "accuracy": known.accuracy,
        "kappa": known.kappa,
        "right kept (sensitivity)": known.sensitivity,
        "wrong caught (specificity)": known.specificity,
    }
