"""The monitor's file: a line of JSON for each window and each warning, so that a kill loses at most the last line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.errors import DataError
from adjudge.monitoring._counts import WindowCounts
from adjudge.monitoring._state import MonitorState

OWNER_ONLY = 0o600  # examples are responses: nobody else's business


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
