"""Chunks that never cut a group of rollouts in two, for scorers that see all rollouts of one prompt at once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from adjudge.datasets import Chunk, RepeatFinder, sort_ids
from adjudge.errors import DataError

GROUP = "group_id"
ENOUGH = 1024  # rows after which a chunk ends with its group
LARGEST = 65_536  # rows of one group that are held at once


def by_group(
    chunks: Iterable[Chunk], named: Callable[[dict[str, Any]], dict[str, Any]], seen: RepeatFinder
) -> Iterator[Chunk]:
    """Cut the rows anew so that rows of one `group_id` that stand together stay together.

    `named` gives a row its argument names. `seen` is told where each group begins, so that one that begins twice can
    be found. A row without a group is an error row.
    """
    records: list[dict[str, Any] | str] = []
    numbers: list[int] = []
    current = ""
    begun = 0  # where the current group begins among the records
    for chunk in chunks:
        for number, columns, fault in chunk.rows():
            row = None if columns is None else named(columns)
            if row is None or row.get(GROUP) is None:
                record: dict[str, Any] | str = fault or f"missing-column: row {number} has no column {GROUP!r}"
            else:
                record, group = row, repr(row[GROUP])
                if group != current:
                    seen.add(sort_ids([(group, number)]))
                    if len(records) >= ENOUGH:
                        yield Chunk(numbers[0], records=records, numbers=numbers)
                        records, numbers = [], []
                    current, begun = group, len(records)
            records.append(record)
            numbers.append(number)
            if len(records) - begun > LARGEST:
                raise DataError(f"group {current} has more than {LARGEST} rows", code="group-too-large")
    if records:
        yield Chunk(numbers[0], records=records, numbers=numbers)
