r"""Rows from a file, in chunks: cheap to cut, decoded where they are scored.

    for chunk in read_chunks("rows.jsonl"):
        for row in chunk.rows():
            row.number, row.columns, row.fault

A row that cannot be read is a row with a `fault`, so that the others go on and none is lost. Chunks are cut by size
alone: the same file gives the same chunks whatever happens to them afterwards. In JSON lines, a row's number is that
of its line; in CSV and Parquet it counts the records from 1.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from adjudge.errors import DataError, MissingExtra, RowError, UsageError, closest
from adjudge.model import decode_json

Format: TypeAlias = Literal["jsonl", "csv", "parquet"]
"""How rows are written in a file."""

FORMATS: tuple[Format, ...] = ("jsonl", "csv", "parquet")
BLOCK = 1 << 18  # bytes of JSON lines in a chunk, about
RECORDS = 1024  # records of CSV or Parquet in a chunk

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class RowRead(NamedTuple):
    """One row of a file: its columns, or why it has none."""

    number: int
    columns: dict[str, Any] | None
    fault: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some consecutive rows, not decoded yet, and small enough to be sent to another process."""

    first: int
    lines: bytes | None = None  # JSON lines
    place: tuple[str, int, int] | None = None  # or where they are: file, offset, size
    records: Sequence[Sequence[str] | Mapping[str, Any] | str] = ()  # CSV cells, Parquet columns, or a fault's text
    header: Sequence[str] = ()
    numbers: Sequence[int] | None = None  # the rows' numbers, where they do not simply go on from `first`

    @property
    def size(self) -> int:
        """How many bytes of a file it is, where that is known."""
        return self.place[2] if self.place is not None else len(self.lines or b"")

    def rows(self) -> list[RowRead]:
        """Decode the rows."""
        lines = self.lines
        if self.place is not None:
            path, offset, size = self.place
            with Path(path).open("rb") as file:
                file.seek(offset)
                lines = file.read(size)
        if lines is None:
            numbers = self.numbers or range(self.first, self.first + len(self.records))
            return [self._record(number, record) for number, record in zip(numbers, self.records, strict=True)]
        rows: list[RowRead] = []
        pieces = lines.split(b"\n")
        for number, line in enumerate(pieces, self.first):
            if not line or line.isspace():
                continue
            columns, fault = None, None
            try:
                found = decode_json(line)
            except RowError as error:
                # Whatever follows the last line end is a line that was perhaps not written to its end.
                is_cut = number == self.first + len(pieces) - 1
                hint = " (the last line, without a line end: was the file cut off?)" if is_cut else ""
                fault = f"bad-row: line {number}: {error.message}{hint}"
            else:
                if isinstance(found, dict):
                    columns = found
                else:
                    fault = f"bad-row: line {number}: expected an object, got {type(found).__name__}"
            rows.append(RowRead(number, columns, fault))
        return rows

    def _record(self, number: int, record: Sequence[str] | Mapping[str, Any] | str) -> RowRead:
        if isinstance(record, str):
            return RowRead(number, None, record)
        if isinstance(record, Mapping):
            return RowRead(number, dict(record), None)
        if len(record) != len(self.header):
            fault = f"bad-row: row {number} has {len(record)} cells, the header {len(self.header)}"
            return RowRead(number, None, fault)
        if any(_is_undecoded(cell) for cell in record):
            return RowRead(number, None, f"bad-row: row {number} is not UTF-8")
        return RowRead(number, dict(zip(self.header, record, strict=True)), None)


def format_of(path: str, given: str | None = None) -> Format:
    """Return the format of a file by its name, unless it is given.

    >>> format_of("rows.csv")
    'csv'
    """
    if given is not None:
        if given not in FORMATS:
            raise UsageError(f"no format is called {given!r}{closest(given, FORMATS)} (there are {', '.join(FORMATS)})")
        return given
    if path == "-":
        return "jsonl"
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        ending = repr(suffix) if suffix else "a name without an ending"
        names = "call it .jsonl, .csv or .parquet, or say --format to adjudge score"
        raise UsageError(f"{path}: cannot tell the format from {ending}: {names}")
    return _SUFFIXES[suffix]


def read_chunks(path: str, format: Format | None = None) -> Iterator[Chunk]:  # noqa: A002 (the word that users expect)
    """Cut a file, or standard input (`-`), into chunks of rows; an unreadable file raises `DataError`."""
    kind = format_of(path, format)
    if kind == "parquet":
        return _parquet_chunks(path)
    return _json_chunks(path) if kind == "jsonl" else _csv_chunks(path)


def read_rows(path: str, format: Format | None = None) -> Iterator[RowRead]:  # noqa: A002 (as in read_chunks)
    """Read a file row by row."""
    for chunk in read_chunks(path, format):
        yield from chunk.rows()


def _open(path: str) -> BufferedReader:
    if path == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed", code="cannot-read")
        # A buffer of our own: a thread that waits in Python's would keep the interpreter from ending.
        try:
            return open(sys.stdin.fileno(), "rb", closefd=False)
        except (AttributeError, OSError):  # replaced by something that is not a file
            return cast("BufferedReader", sys.stdin.buffer)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None


def _json_chunks(path: str) -> Iterator[Chunk]:
    with _open(path) as file:
        number = 1
        # Of a pipe what is there already: whoever writes into it may take a while to write more.
        read = file.read1 if path == "-" else file.read
        start = read(BLOCK)
        if start.startswith(_UTF16):
            raise DataError(f"{path} is UTF-16; adjudge reads UTF-8")
        rest = start.removeprefix(_BOM)
        offset = len(start) - len(rest)
        if rest.lstrip()[:1] == b"[":
            raise DataError(f"{path} is a JSON array; adjudge reads JSON lines, one object a line")
        # A pipe can be read once: its lines travel with the chunk. A file's are read again where they are scored.
        is_file = path != "-" and Path(path).is_file()
        while block := (rest or read(BLOCK)):
            # A chunk ends where a line ends; the last one where the file does.
            block += file.readline() if not block.endswith(b"\n") else b""
            rest = b""
            yield Chunk(number, place=(path, offset, len(block))) if is_file else Chunk(number, lines=block)
            number += block.count(b"\n")
            offset += len(block)


def _csv_chunks(path: str) -> Iterator[Chunk]:
    import csv
    import io

    # A cell may hold a whole trajectory.
    csv.field_size_limit((1 << 31) - 1)
    with _open(path) as file:
        peeked = io.BufferedReader(cast("io.RawIOBase", file))
        if peeked.peek(4).startswith(_UTF16):
            raise DataError(f"{path} is UTF-16; adjudge reads UTF-8")
        text = io.TextIOWrapper(peeked, encoding="utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(text, strict=True)
        first = 1
        found = _csv_records(reader, csv.Error, path)
        header = _header(next(found, []), path)
        records: list[Sequence[str] | str] = []
        for record in found:
            records.append(record)
            if len(records) == RECORDS:
                yield Chunk(first, records=records, header=header)
                first += len(records)
                records = []
        if records:
            yield Chunk(first, records=records, header=header)


def _header(names: Sequence[str] | str, path: str) -> Sequence[str]:
    if isinstance(names, str):
        raise DataError(f"{path}: the header cannot be read: {names.removeprefix('bad-row: ')}")
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise DataError(f"{path}: two columns are called {twice[0]!r}")
    return names


def _csv_records(reader: Any, broken: type[Exception], path: str) -> Iterator[Sequence[str] | str]:
    """Read records, those that are not CSV as faults; a quote that swallows more than its line ends the reading."""
    while True:
        begun = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except broken as error:
            if reader.line_num > begun:
                raise DataError(f"{path}: the quote that opens on line {begun} is never closed") from None
            yield f"bad-row: line {begun}: not CSV: {error}"
            continue
        if record:
            yield record


def _is_undecoded(cell: str) -> bool:
    return not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell)


def _parquet_chunks(path: str) -> Iterator[Chunk]:
    try:
        from pyarrow import ArrowException, BufferReader
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra.of("parquet", "reading Parquet") from None
    first = 1
    with _open(path) as source:
        # Parquet is read from its end: what cannot be wound back is held in memory.
        seekable = source if source.seekable() else BufferReader(source.read())
        try:
            file = ParquetFile(seekable)
            for batch in file.iter_batches(batch_size=RECORDS):
                records = batch.to_pylist()
                yield Chunk(first, records=records)
                first += len(records)
        except (ArrowException, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet: {error}") from None
