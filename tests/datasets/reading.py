"""Reads a file in a process of its own and says how it went, and how much memory that took.

    python tests/datasets/reading.py rows.parquet [conversations]

prints the number of rows, the faults of the first few, the error if one ended the reading, and the growth of the
memory at its peak, in bytes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from adjudge.datasets import read_conversations, read_rows
from adjudge.errors import AdjudgeError


def peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def faults_of(path: str, *, as_conversations: bool) -> Iterator[str | None]:
    """Give what is wrong with each row; None for a good one."""
    if not as_conversations:
        yield from (row.fault for row in read_rows(path))
        return
    found: list[str] = []
    for _ in read_conversations(path, on_fault=lambda error: found.append(error.message)):
        yield None
    yield from found


def main(path: str, *more: str) -> None:
    """Read the file."""
    # Whatever is imported late is imported now.
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401 (same)

    before = peak()
    rows, error = 0, ""
    faults: list[str] = []
    try:
        for fault in faults_of(path, as_conversations=bool(more)):
            rows += 1
            if fault is not None and len(faults) < 3:
                faults.append(fault)
    except AdjudgeError as raised:
        error = f"{type(raised).__name__}: {raised.reason}"
    print(json.dumps({"rows": rows, "faults": faults, "error": error, "grown": peak() - before}))  # noqa: T201 (its aim)


if __name__ == "__main__":
    main(*sys.argv[1:])
