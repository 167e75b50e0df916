"""What a monitor remembers: the counts of its last windows, and those of all rows.

Its file has a line of JSON for each window and each warning, so that a kill loses at most the last line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adjudge.errors import DataError, UsageError
from adjudge.monitoring._counts import WindowCounts, merge_counts
from adjudge.monitoring._rules import RULES, signals

REMEMBERED = 16  # windows
OWNER_ONLY = 0o600  # examples are responses: nobody else's business


@dataclass(frozen=True, slots=True)
class Alert:
    """What a rule says, with the figures, the first of which is beyond the threshold, and up to three examples."""

    rule: str
    says: str
    do: str
    figures: Mapping[str, float]
    threshold: float
    examples: tuple[str, ...]
    rows: int

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.4g}" for name, value in self.figures.items())
        examples = "".join(f"\n  {example}" for example in self.examples)
        return (
            f"{self.rule}: {self.says} ({figures}; threshold {self.threshold:.4g}; after {self.rows} rollouts)\n"
            f"  What to do: {self.do}.{examples}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has."""
        return {**asdict(self), "figures": dict(self.figures), "examples": list(self.examples)}


@dataclass(slots=True)
class MonitorState:
    """The counts of the last windows by their number, and of all rows; the n-th windows of processes are one."""

    scorer: str
    version: str
    total: WindowCounts = field(default_factory=WindowCounts)
    windows: dict[int, WindowCounts] = field(default_factory=dict)

    def add(self, index: int, counts: WindowCounts) -> None:
        """Add rows to a window, and forget windows that are too old."""
        self.merge(MonitorState(self.scorer, self.version, counts, {index: counts}))

    def merge(self, other: MonitorState) -> None:
        """Add the rows of another process."""
        if (other.scorer, other.version) != (self.scorer, self.version):
            theirs, ours = f"{other.scorer} {other.version}", f"{self.scorer} {self.version}"
            raise UsageError(f"states of two scorers cannot be merged: {ours} and {theirs}", code="state-mismatch")
        self.total = merge_counts(self.total, other.total)
        for index, counts in other.windows.items():
            self.windows[index] = merge_counts(self.windows.get(index, WindowCounts()), counts)
        for old in sorted(self.windows)[:-REMEMBERED]:
            del self.windows[old]

    def alerts(self, names: Collection[str]) -> list[Alert]:
        """Return what these rules say at the end of the last window, in the order of the rules."""
        if not self.windows:
            return []
        windows = [self.windows[index] for index in sorted(self.windows)]
        examples = merge_counts(*windows[-2:]).examples
        rows = self.total.sums["rows"]
        return [
            Alert(rule.name, rule.says, rule.do, *signal, examples.get(rule.name, ()), rows)
            for rule, signal in signals(windows, max(self.windows) + 1, names)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has."""
        windows = {str(index): self.windows[index].to_json() for index in sorted(self.windows)}
        return {"scorer": self.scorer, "version": self.version, "total": self.total.to_json(), "windows": windows}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> MonitorState:
        """Read what `to_json` returned; anything else is a `DataError`."""
        try:
            windows = {int(index): WindowCounts.of_json(counts) for index, counts in value["windows"].items()}
            state = cls(str(value["scorer"]), str(value["version"]))
            state.merge(cls(state.scorer, state.version, WindowCounts.of_json(value["total"]), windows))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the state of a monitor cannot be read: {error!r}", code="bad-state") from None
        return state


def merge(states: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the state of all processes together; the order of the states does not matter."""
    read = [MonitorState.of_json(state) for state in states]
    if not read:
        raise UsageError("there is no state to merge")
    for other in read[1:]:
        read[0].merge(other)
    return read[0].to_json()


def alerts(state: Mapping[str, Any]) -> list[Alert]:
    """Return what all rules say of a state, such as one that was merged."""
    return MonitorState.of_json(state).alerts([rule.name for rule in RULES])


def append_line(path: Path, line: Mapping[str, Any]) -> None:
    """Append one line; after one that a killed process left without its end, on a line of its own."""
    data = json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, OWNER_ONLY)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def load_state(path: str | Path) -> dict[str, Any]:
    """Return the state that a monitor's file leads to, as `Monitor.state` returns it; `merge` takes those of workers.

    Lines that are not whole are passed over. A file without a window raises `DataError`.
    """
    state: MonitorState | None = None
    for line in Path(path).read_bytes().splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if not isinstance(found, dict) or found.get("kind") != "window":
            continue
        index = found.get("window")
        if not isinstance(index, int):
            raise DataError(f"{path}: a window without its number", code="bad-state")
        state = state or MonitorState(str(found.get("scorer")), str(found.get("version")))
        state.add(index, WindowCounts.of_json(found.get("counts") or {}))
    if state is None:
        raise DataError(f"{path} has no window of a monitor", code="bad-state")
    return state.to_json()
