"""The gate as a file: `gate.toml`, checked whole.

max_unscored = 0.05
workflow = 0.9                                 a number: what the mean has to be at least
quality = { overall = 0.8, factual_correctness = { min = 0.9, lower_end = true } }
scorers = { contains_reward = 0.7 }
require_calibrated = "calibration/local-0.json"    beside the gate file: the judge must be the one that was measured

[tags.safety]                                  a gate of its own for the scenarios of a tag
workflow = 1.0
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from adjudge.errors import UsageError, closest
from adjudge.judges import Calibration, load_calibration
from adjudge.scenarios._gate import METRICS, Gate, Threshold
from adjudge.scenarios._load import read_toml, text_of

_KEYS = tuple(each.name for each in fields(Gate))
_TAG_KEYS = tuple(name for name in _KEYS if name not in ("tags", "confidence", "require_calibrated"))


def load_gate(source: str | Path | Mapping[str, Any] | Gate) -> Gate:
    """Return the gate of a TOML file, or of a mapping of the same form.

    A key that nobody knows and a value that makes no sense raise `UsageError`, with what was probably meant. Where
    `workflow` is not said, every workflow has to pass; of a tag, only what is said is held against it.

    >>> load_gate({"workflow": 0.9, "quality": {"overall": 0.8}}).quality["overall"]
    Threshold(min=0.8, lower_end=False)
    """
    if isinstance(source, Gate):
        return source
    if isinstance(source, Mapping):
        return _gate(source, "the gate", Path())
    path = Path(source)
    return _gate(read_toml(text_of(path), str(path)), str(path), path.parent)


def _gate(given: Mapping[str, Any], where: str, folder: Path) -> Gate:
    _refuse_unknown(given, _KEYS, where, "a gate")
    tags = _table(given.get("tags", {}), f"{where}: tags")
    found = _numbers(given, where, default=Threshold(1.0))
    inner = {name: _tag_gate(one, f"{where}: tags.{name}") for name, one in tags.items()}
    confidence = _number(given.get("confidence", 0.95), f"{where}: confidence")
    if not 0.5 <= confidence < 1.0:
        raise _bad(f"{where}: confidence must be from 0.5 to below 1, got {confidence!r}")
    known = given.get("require_calibrated")
    if known is not None and not isinstance(known, str | Calibration):
        raise _bad(f"{where}: require_calibrated names the file of a calibration, got {known!r}")
    calibration = load_calibration(folder / known) if isinstance(known, str) else known
    return Gate(**found, tags=inner, confidence=confidence, require_calibrated=calibration)


def _tag_gate(given: Any, where: str) -> Gate:
    table = _table(given, where)
    _refuse_unknown(table, _TAG_KEYS, where, "the gate of a tag")
    return Gate(**_numbers(table, where, default=None, max_unscored=1.0))


def _numbers(
    given: Mapping[str, Any], where: str, *, default: Threshold | None, max_unscored: float = 0.0
) -> dict[str, Any]:
    rows = given.get("min_rows", 1)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise _bad(f"{where}: min_rows must be a whole number from 1 on, got {rows!r}")
    share = _number(given.get("max_unscored", max_unscored), f"{where}: max_unscored")
    if not 0.0 <= share <= 1.0:
        raise _bad(f"{where}: max_unscored is a share from 0 to 1, got {share!r}")
    quality = _table(given.get("quality", {}), f"{where}: quality")
    _refuse_unknown(quality, METRICS, f"{where}: quality", "the quality")
    scorers = _table(given.get("scorers", {}), f"{where}: scorers")
    workflow = given.get("workflow")
    return {
        "workflow": default if workflow is None else _threshold(workflow, f"{where}: workflow", is_share=True),
        "quality": {name: _threshold(one, f"{where}: quality.{name}", is_share=True) for name, one in quality.items()},
        "scorers": {name: _threshold(one, f"{where}: scorers.{name}") for name, one in scorers.items()},
        "max_unscored": share,
        "min_rows": rows,
    }


def _threshold(given: Any, where: str, *, is_share: bool = False) -> Threshold:
    table = given if isinstance(given, Mapping) else {"min": given}
    _refuse_unknown(table, ("min", "lower_end"), where, "a threshold")
    if "min" not in table:
        raise _bad(f"{where}: a threshold needs min")
    least, lower_end = _number(table["min"], f"{where}: min"), table.get("lower_end", False)
    if not isinstance(lower_end, bool):
        raise _bad(f"{where}: lower_end is true or false, got {lower_end!r}")
    if is_share and not 0.0 <= least <= 1.0:
        raise _bad(f"{where}: must be from 0 to 1, got {least!r}: 90 % is 0.9")
    return Threshold(least, lower_end)


def _number(given: Any, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise _bad(f"{where} must be a number, got {given!r}")
    return float(given)


def _table(given: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise _bad(f"{where} must be a table, got {given!r}")
    return given


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], where: str, what: str) -> None:
    for key in given:
        if key not in known:
            raise UsageError(f"{where}: {what} has no {key!r}{closest(str(key), known)}", code="unknown-key")


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad-gate")
