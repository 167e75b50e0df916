"""The gate as a file or a mapping: read strictly, with what was probably meant where a key is unknown."""

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from adjudge.errors import UsageError, closest
from adjudge.judges import QUALITY, Calibration, load_calibration
from adjudge.scenarios._against import read_rules
from adjudge.scenarios._gate import Gate, Threshold, bad_gate
from adjudge.scenarios._load import read_toml, text_of
from adjudge.traces import read_agent_names

METRICS = (*QUALITY, "overall")
_KEYS = tuple(each.name for each in fields(Gate) if each.name != "least_kappa")
_TAG_KEYS = tuple(
    name
    for name in _KEYS
    if name not in ("tags", "confidence", "require_calibrated", "least_kappa", "agents", "baseline")
)


def load_gate(source: str | Path | Mapping[str, Any] | Gate) -> Gate:
    """Return the gate of a TOML file, or of a mapping of the same form.

    An unknown key and a value that makes no sense raise `UsageError`, with what was probably meant. Without `workflow`,
    every workflow has to pass; the gate of a tag has only the thresholds that it names.

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
    _table(given, where, _KEYS, "a gate")
    # Defaults differ: the whole gate is strict, the gate of a tag has only what it names.
    found = _numbers(given, where, default=Threshold(1.0), max_unscored=0.0)
    inner: dict[str, Gate] = {}
    for name, one in _table(given.get("tags", {}), f"{where}: tags").items():
        place = f"{where}: tags.{name}"
        table = _table(one, place, _TAG_KEYS, "the gate of a tag")
        inner[name] = Gate(**_numbers(table, place, default=None, max_unscored=1.0))
    confidence = _number(given.get("confidence", 0.95), f"{where}: confidence")
    if not 0.5 <= confidence < 1.0:
        raise bad_gate(f"{where}: confidence must be from 0.5 to below 1, got {confidence!r}")
    known, least_kappa = given.get("require_calibrated"), None
    if isinstance(known, Mapping):
        place = f"{where}: require_calibrated"
        table = _table(known, place, ("file", "kappa"), "a required calibration")
        known = table.get("file")
        least_kappa = _threshold(table["kappa"], f"{place}.kappa", is_share=True) if "kappa" in table else None
        if known is None:
            raise bad_gate(f"{place}: give the calibration as file")
    if known is not None and not isinstance(known, str | Calibration):
        raise bad_gate(f"{where}: require_calibrated must be the path of a calibration, got {known!r}")
    calibration = load_calibration(folder / known) if isinstance(known, str) else known
    agents = read_agent_names(given.get("agents", {}), f"{where}: agents")
    baseline = None
    if "baseline" in given:
        baseline = read_rules(given["baseline"], f"{where}: baseline", folder)
    return Gate(
        **found,
        tags=inner,
        confidence=confidence,
        require_calibrated=calibration,
        least_kappa=least_kappa,
        agents=agents,
        baseline=baseline,
    )


def _numbers(given: Mapping[str, Any], where: str, *, default: Threshold | None, max_unscored: float) -> dict[str, Any]:
    rows = given.get("min_rows", 1)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise bad_gate(f"{where}: min_rows must be a whole number, at least 1, got {rows!r}")
    share = _number(given.get("max_unscored", max_unscored), f"{where}: max_unscored")
    if not 0.0 <= share <= 1.0:
        raise bad_gate(f"{where}: max_unscored is a share from 0 to 1, got {share!r}")
    quality = _table(given.get("quality", {}), f"{where}: quality", METRICS, "the quality")
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
    bare = given if isinstance(given, Mapping) else {"min": given}
    table = _table(bare, where, ("min", "lower_end"), "a threshold")
    if "min" not in table:
        raise bad_gate(f"{where}: a threshold needs min")
    least, lower_end = _number(table["min"], f"{where}: min"), table.get("lower_end", False)
    if not isinstance(lower_end, bool):
        raise bad_gate(f"{where}: lower_end is true or false, got {lower_end!r}")
    if is_share and not 0.0 <= least <= 1.0:
        raise bad_gate(f"{where}: must be from 0 to 1, got {least!r}: 90 % is 0.9")
    return Threshold(least, lower_end)


def _number(given: Any, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise bad_gate(f"{where} must be a number, got {given!r}")
    return float(given)


def _table(given: Any, where: str, known: tuple[str, ...] | None = None, what: str = "") -> Mapping[str, Any]:
    """Return a table that has only the known keys; any, where none are known."""
    if not isinstance(given, Mapping):
        raise bad_gate(f"{where} must be a table, got {given!r}")
    for key in given:
        if known is not None and key not in known:
            raise UsageError(f"{where}: {what} has no {key!r}{closest(str(key), known)}", code="unknown-key")
    return given
