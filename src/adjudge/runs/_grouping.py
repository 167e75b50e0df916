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
    be found. Rows without a group, unreadable ones among them, do not part the rows around them.
    """
    records: list[dict[str, Any] | str] = []
    numbers: list[int] = []
    current = ""
    size = strays = 0  # rows of the current group, and rows without a group since its last
    for chunk in chunks:
        for number, columns, fault in chunk.rows():
            group = None if columns is None else named(columns).get(GROUP)
            name = current if group is None else repr(group)
            if name != current:
                seen.add(sort_ids([(name, number)]))
                current, size = name, 0
                if len(records) >= ENOUGH:
                    yield Chunk(numbers[0], records=records, numbers=numbers)
                    records, numbers = [], []
            size, strays = (size, strays + 1) if group is None else (size + 1, 0)
            if size > LARGEST:
                raise DataError(f"group {current} has more than {LARGEST} rows", code="group-too-large")
            records.append(fault or "bad-row" if columns is None else columns)
            numbers.append(number)
            if strays > LARGEST:  # the group is over; if it goes on after all, it is a torn one
                yield Chunk(numbers[0], records=records, numbers=numbers)
                records, numbers, current, size, strays = [], [], "", 0, 0
    if records:
        yield Chunk(numbers[0], records=records, numbers=numbers)
