"""What watched a reward while a policy trained: its warnings, and how its figures went from window to window."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from adjudge.errors import UsageError
from adjudge.view._sources import stamp_of
from adjudge.view._templates import render

MARKS = (b'"kind": "window"', b'"kind": "warning"')
START = 1 << 12  # bytes in which the first line says what it is
LONGEST = 1 << 20  # bytes of a line that is read
MOST_WINDOWS, MOST_WARNINGS, MOST_FIGURES = 2_000, 200, 100
FIRST = ("mean", "scored", "unscored", "error", "high", "length", "length_correlation")
"""The figures that come first, in this order."""


@dataclass(slots=True)
class MonitorRun:
    """One training as its monitor saw it: figures by window, and warnings, the last ones of each."""

    run: str
    scorer: str
    windows: deque[Mapping[str, float]] = field(default_factory=lambda: deque(maxlen=MOST_WINDOWS))
    warnings: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_WARNINGS))
    speaking: tuple[str, ...] = ()
    rows: float = 0.0

    @property
    def series(self) -> dict[str, list[float]]:
        """The values of each figure by window, those that people look at first in front."""
        names = dict.fromkeys(name for window in self.windows for name in window if name != "rows")
        order = sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
        return {name: [one[name] for one in self.windows if name in one] for name in order[:MOST_FIGURES]}


def is_monitor(path: Path) -> bool:
    """Return whether a file looks like that of a monitor."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError:
        return False
    return start.startswith(b"{") and any(mark in start for mark in MARKS) and b'"scorer": ' in start


def monitor_page(path: Path, key: str, chosen: str = "") -> str:
    """Return the page of a monitor's file: one of its trainings, the last where none is chosen."""
    version = stamp_of(path)
    runs = read_monitor(path)
    if not runs:
        raise UsageError(f"{path.name} has no window of a monitor.")
    found = runs.get(chosen) or next(reversed(runs.values()))
    return render("monitor.html", name=path.name, key=key, found=found, others=[*runs], version=version)


def read_monitor(path: Path) -> dict[str, MonitorRun]:
    """Return the trainings of a file, the oldest first; lines that are not whole or not a monitor's are passed over."""
    runs: dict[str, MonitorRun] = {}
    for line in _lines(path):
        name, figures = line.get("run"), line.get("figures")
        if not isinstance(name, str) or not isinstance(figures, Mapping):
            continue
        run = runs.setdefault(name, MonitorRun(name, str(line.get("scorer", ""))))
        if line.get("kind") == "window":
            window = {str(label): value for label, value in figures.items() if _is_number(value)}
            run.windows.append(window)
            run.rows += window.get("rows", 0.0)
            speaking = line.get("speaking")
            run.speaking = tuple(map(str, speaking)) if isinstance(speaking, list) else ()
        elif line.get("kind") == "warning":
            run.warnings.appendleft(_warning(line, figures))
    return runs


def _warning(line: Mapping[str, Any], figures: Mapping[Any, Any]) -> dict[str, Any]:
    examples = line.get("examples")
    return {
        **{name: str(line.get(name, "")) for name in ("rule", "says", "do")},
        **{name: line[name] if _is_number(line.get(name)) else None for name in ("window", "rows", "threshold")},
        "figures": {str(name): value for name, value in figures.items() if _is_number(value)},
        "examples": [str(one) for one in examples] if isinstance(examples, list) else [],
    }


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
