"""Parquet: rows in slices that fit into memory; of conversations, images are looked up when somebody needs one.

A file of a few hundred conversations may hold a gigabyte of images; memory holds a few of them, and the row group that
is looked through.

A file of a kilobyte may unpack to gigabytes: one long text that a thousand rows refer to, one number that a list
repeats a hundred million times, a page of zeros. What a row group's own description gives away is refused before it is
read. Texts that rows refer to are looked at before they are copied into rows, and a row over the limit is a fault.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from adjudge.errors import DataError, MissingExtra

LARGEST_ROW = 1 << 26  # bytes of a row, in any format
RECORDS = 256  # of texts, read at once
IMAGES = 8  # read at once
IMAGE = "image"
_VALUE = 8  # bytes that a value takes in a list at least
_MOST_PACKED = 1000  # times its size in the file that data unpacks to; real data is far from it


def load_library() -> Any:
    """Return the library that reads Parquet; where it is not installed, say how to."""
    try:
        import pyarrow.parquet as library
    except ImportError:
        raise MissingExtra.of("parquet", "reading Parquet") from None
    return library


def open_parquet(source: Any, name: object, **options: Any) -> Any:
    """Open a file, or the path of one; what is not Parquet is a `DataError`."""
    library = load_library()
    try:
        return library.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20, **options)
    except (OSError, ValueError) as error:
        # This is what pyarrow raises for a file that is not Parquet.
        raise DataError(f"{name} cannot be read as Parquet: {error}") from None


def parquet_slices(
    source: Any, name: object, columns: Sequence[str] | None, records: int, groups: Sequence[int] | None = None
) -> Iterator[list[dict[str, Any] | str]]:
    """Give the rows of a file, some at a time; a row that is too large as what is wrong with it."""
    number = 0
    with open_parquet(source, name) as file:
        from pyarrow import ArrowException

        # Where a text may be copied into many rows, columns are read as references to texts.
        texts = [leaf.path for leaf in map(file.schema.column, range(len(file.schema))) if _is_text(leaf)]
        try:
            with open_parquet(source, name, read_dictionary=texts) as referring:
                for group in range(file.num_row_groups) if groups is None else groups:
                    for rows in _group_slices(
                        file, referring, group, f"{name}, row group {group + 1}", columns, records
                    ):
                        yield [
                            f"bad-row: row {number + at}: {row}" if isinstance(row, str) else row
                            for at, row in enumerate(rows, 1)
                        ]
                        number += len(rows)
        except (ArrowException, OSError) as error:
            raise DataError(f"{name} cannot be read as Parquet after row {number}: {error}") from None


def _group_slices(
    file: Any, referring: Any, group: int, where: str, columns: Sequence[str] | None, records: int
) -> Iterator[list[dict[str, Any] | str]]:
    per_row = _check_group(file.metadata.row_group(group), where)
    at_once = max(1, min(records, LARGEST_ROW // max(1, per_row)))
    options: dict[str, Any] = {"batch_size": at_once, "row_groups": [group], "columns": columns}
    # If every value were the longest text, would what is read at once be too much?
    is_risky = _longest_text(referring, file, options) * at_once * max(1, per_row // _VALUE) > LARGEST_ROW
    for batch in (referring if is_risky else file).iter_batches(**options):
        if is_risky or batch.nbytes > LARGEST_ROW:
            yield from _single_rows(batch)
        else:
            yield batch.to_pylist()


def _is_text(leaf: Any) -> bool:
    return bool(leaf.physical_type == "BYTE_ARRAY")


def _check_group(group: Any, where: str) -> int:
    """Return the bytes that the values of a row take on average at least; refuse a group that is packed to harm."""
    most = 0
    for column in map(group.column, range(group.num_columns)):
        size, values = column.total_uncompressed_size, column.num_values
        per_row = values * _VALUE // max(1, group.num_rows)
        most = max(most, per_row)
        is_bomb = size > LARGEST_ROW and size > _MOST_PACKED * column.total_compressed_size
        # More values than rows: a list. A flat column of equal values is small however it is read.
        is_bomb |= values > group.num_rows and values * _VALUE > LARGEST_ROW and values > _MOST_PACKED * size
        if is_bomb or max(per_row, size // max(1, group.num_rows)) > LARGEST_ROW:
            what = f"column {column.path_in_schema!a} unpacks from {column.total_compressed_size:,} bytes"
            limit = f"a row may have {LARGEST_ROW:,}"
            raise DataError(f"{where}: {what} to {size:,}, or {values:,} values; {limit}", code="too-large")
    return most


def _longest_text(referring: Any, file: Any, options: dict[str, Any]) -> int:
    """Return the length of the longest text that rows of a group refer to, where one of them could be long."""
    group = file.metadata.row_group(options["row_groups"][0])
    texts = 0
    for column in map(group.column, range(group.num_columns)):
        if column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in each for each in column.encodings):
            texts = max(texts, column.total_uncompressed_size)
    # Nearly always the texts of a small file; else one row shows all that the group refers to.
    if texts * options["batch_size"] <= LARGEST_ROW:
        return 0
    batch = next(referring.iter_batches(**{**options, "batch_size": 1}), None)
    return 0 if batch is None else max((_longest(column) for column in batch.columns), default=0)


def _parts(array: Any) -> list[Any]:
    """Return the arrays inside an array of lists, structs or maps."""
    from pyarrow import types

    kind = array.type
    if types.is_struct(kind):
        return list(array.flatten())
    if types.is_map(kind):
        return [array.keys, array.items]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [array.flatten()]
    return []


def _longest(array: Any) -> int:
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        return compute.max(compute.binary_length(array.dictionary)).as_py() or 0
    return max(map(_longest, _parts(array)), default=0)


def _size(array: Any) -> int:
    """Return the bytes of an array, with each text counted as often as it is referred to."""
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        lengths = compute.take(compute.binary_length(array.dictionary), array.indices)
        return (compute.sum(lengths).as_py() or 0) + _VALUE * len(array)
    parts = _parts(array)
    return sum(map(_size, parts)) if parts else max(int(array.nbytes), _VALUE * len(array))


def _single_rows(batch: Any) -> Iterator[list[dict[str, Any] | str]]:
    """Give the rows of a batch that may be large one by one, those over the limit as faults."""
    for index in range(batch.num_rows):
        row = batch.slice(index, 1)
        size = sum(map(_size, row.columns))
        if size > LARGEST_ROW:
            yield [f"its {size:,} bytes are more than the {LARGEST_ROW:,} that a row may have"]
        else:
            yield row.to_pylist()


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str, Callable[[], Any] | None]]:
    """Give the rows with their numbers, without the image; it comes with the function beside them."""
    with open_parquet(path, path) as file:
        names = file.schema_arrow.names
    images = ParquetImages(path) if IMAGE in names else None
    number = 0
    for rows in parquet_slices(path, path, [name for name in names if name != IMAGE], RECORDS):
        for columns in rows:
            yield number + 1, columns, None if images is None else partial(images.at, number)
            number += 1


class ParquetImages:
    """The images of a file by index, cheap for those that follow on one another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Agents ask from several threads.
        self._lock = Lock()
        self._first = 0
        self._held: list[Any] = []

    def at(self, index: int) -> Any:
        """Return the image of a row, counted from 0."""
        with self._lock:
            if not self._first <= index < self._first + len(self._held):
                self._read(index)
            found = self._held[index - self._first]
        # A text stands for an image that is too large.
        if isinstance(found, str):
            raise DataError(f"{self._path}: {found}", code="too-large")
        return found[IMAGE]

    def _read(self, index: int) -> None:
        with open_parquet(self._path, self._path) as file:
            group, first = 0, 0
            while first + (size := file.metadata.row_group(group).num_rows) <= index:
                group, first = group + 1, first + size
        for rows in parquet_slices(self._path, self._path, [IMAGE], IMAGES, [group]):
            if index < first + len(rows):
                self._first, self._held = first, rows
                return
            first += len(rows)
