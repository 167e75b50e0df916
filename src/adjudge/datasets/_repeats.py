"""Which ids stand twice in a data set too large to remember: told by a table on disk, in bounded memory."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Repeat:
    """An id that several rows have."""

    id: str
    first: int
    second: int
    times: int


class RepeatFinder:
    """Takes ids as they come and says in the end which came more than once.

    >>> with RepeatFinder() as finder:
    ...     finder.add([("a", 1), ("b", 2), ("a", 3)])
    ...     finder.repeats()
    (1, [Repeat(id='a', first=1, second=3, times=2)])
    """

    def __init__(self) -> None:
        # An unnamed database is a temporary file that SQLite keeps small parts of in memory and removes by itself.
        self._table = sqlite3.connect("", isolation_level=None)
        self._table.execute("PRAGMA journal_mode=OFF")
        self._table.execute("PRAGMA temp_store=FILE")
        self._table.execute("CREATE TABLE ids (id BLOB, number INTEGER)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._table.close()

    def add(self, ids: Iterable[tuple[str, int]]) -> None:
        """Note ids with the numbers of their rows."""
        self._table.execute("BEGIN")
        self._table.executemany(
            "INSERT INTO ids VALUES (?, ?)", ((id_.encode("utf-8", "surrogatepass"), number) for id_, number in ids)
        )
        self._table.execute("COMMIT")

    def repeats(self, most: int = 3) -> tuple[int, list[Repeat]]:
        """Return how many rows repeat an id, and the first few such ids."""
        groups = "SELECT id, MIN(number) AS first, COUNT(*) AS times FROM ids GROUP BY id HAVING COUNT(*) > 1"
        (rows,) = self._table.execute(f"SELECT COALESCE(SUM(times - 1), 0) FROM ({groups})").fetchone()  # noqa: S608
        found = self._table.execute(f"{groups} ORDER BY first LIMIT ?", (most,)).fetchall()
        return rows, [
            Repeat(id_.decode("utf-8", "surrogatepass"), first, self._after(id_, first), times)
            for id_, first, times in found
        ]

    def _after(self, id_: bytes, first: int) -> int:
        query = "SELECT MIN(number) FROM ids WHERE id = ? AND number > ?"
        number: int | None = self._table.execute(query, (id_, first)).fetchone()[0]
        return first if number is None else number
