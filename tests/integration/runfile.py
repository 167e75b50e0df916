"""What a run file holds, read without our own code."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def rows_of(path: Path, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds in a run file."""
    with closing(sqlite3.connect(path)) as file:
        return file.execute(query).fetchall()


def calls_of(path: Path) -> int:
    """Return how many calls a run has made."""
    ((calls,),) = rows_of(path, "SELECT coalesce(sum(attempts), 0) FROM replies")
    return int(calls)


def bodies_of(path: Path, table: str) -> list[Any]:
    """Return the bodies of a table's records."""
    return [json.loads(body) for (body,) in rows_of(path, f"SELECT body FROM {table}")]  # noqa: S608 (our own names)
