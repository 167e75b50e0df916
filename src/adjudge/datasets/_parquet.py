"""Conversations in Parquet: texts are read through, images are looked up when somebody needs one.

A file of a few hundred conversations may hold a gigabyte of images; memory holds a few of them, and the row group that
is looked through.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from adjudge.errors import DataError, MissingExtra

RECORDS = 256  # of texts, read at once
IMAGES = 8  # read at once
IMAGE = "image"


def open_parquet(path: Path) -> Any:
    """Open a file; one that is not Parquet is a `DataError`."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra.of("parquet", "reading Parquet") from None
    try:
        return ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (OSError, ValueError) as error:
        # This is what pyarrow raises for a file that is not Parquet.
        raise DataError(f"{path} cannot be read as Parquet: {error}") from None


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any], Callable[[], Any] | None]]:
    """Give the rows with their numbers, without the image; it comes with the function beside them."""
    with open_parquet(path) as file:
        from pyarrow import ArrowException

        names = file.schema_arrow.names
        images = ParquetImages(path) if IMAGE in names else None
        number = 0
        try:
            for batch in file.iter_batches(batch_size=RECORDS, columns=[name for name in names if name != IMAGE]):
                for columns in batch.to_pylist():
                    yield number + 1, columns, None if images is None else partial(images.at, number)
                    number += 1
        except (ArrowException, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet after row {number}: {error}") from None


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
            return self._held[index - self._first]

    def _read(self, index: int) -> None:
        with open_parquet(self._path) as file:
            group, first = 0, 0
            while first + (size := file.metadata.row_group(group).num_rows) <= index:
                group, first = group + 1, first + size
            for batch in file.iter_batches(batch_size=IMAGES, row_groups=[group], columns=[IMAGE]):
                if index < first + batch.num_rows:
                    self._first, self._held = first, batch.column(0).to_pylist()
                    return
                first += batch.num_rows
