r"""Rows from a file, in chunks: cheap to cut, decoded where they are scored.

    for chunk in read_chunks("rows.jsonl"):
        for row in chunk.rows():
            row.number, row.columns, row.fault

A row that cannot be read is a row with a `fault`, so that the others go on and none is lost. Chunks are cut by size
alone: the same file gives the same chunks whatever happens to them afterwards. In JSON lines, a row's number is that
of its line; in CSV and Parquet it counts the records from 1.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Self, TypeAlias, cast

from adjudge.datasets._parquet import LARGEST_ROW, load_library, parquet_slices
from adjudge.errors import DataError, RowError, UsageError, closest
from adjudge.model import decode_json

Format: TypeAlias = Literal["jsonl", "csv", "parquet"]
"""How rows are written in a file."""

FORMATS: tuple[Format, ...] = ("jsonl", "csv", "parquet")
BLOCK = 1 << 18  # bytes of JSON lines in a chunk, about
RECORDS = 1024  # records of CSV or Parquet in a chunk
_LARGE_CHUNK = 1 << 24  # characters of CSV after which a chunk ends earlier
_LONG_LINE = 1 << 22  # bytes of a line whose values are counted before they are decoded
_MOST_VALUES = 2_000_000  # of a row in JSON

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_BOM = b"\xef\xbb\xbf"
_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}"])', re.DOTALL)
_SIGN = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{},"])', re.DOTALL)
"""What cuts a JSON array: inside of an item the next bracket, between items a comma too, whatever texts come before.

A `"` is that of a text without an end.
"""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def _check_values(line: bytes) -> None:
    """Refuse a line whose values would take far more memory than its bytes, such as `[[],[],...`."""
    values = line.count(b",") + line.count(b"[") + line.count(b"{")
    if values > _MOST_VALUES:
        raise RowError(f"more than the {_MOST_VALUES:,} values that a row may have")


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
    word: str = "line"  # what a row is in messages

    @property
    def size(self) -> int:
        """How many bytes of a file it is, where that is known."""
        return self.place[2] if self.place is not None else len(self.lines or b"")

    def content(self) -> bytes | None:
        """Return the JSON lines as they are in the file; None where the rows are records."""
        if self.place is None:
            return self.lines
        path, offset, size = self.place
        with Path(path).open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def rows(self) -> list[RowRead]:
        """Decode the rows."""
        lines = self.lines if self.place is None else self.content()
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
                if len(line) > _LONG_LINE:
                    _check_values(line)
                found = decode_json(line)
            except RowError as error:
                # Whatever follows the last line end is a line that was perhaps not written to its end.
                is_cut = number == self.first + len(pieces) - 1
                hint = " (the last line, without a line end: was the file cut off?)" if is_cut else ""
                fault = f"bad-row: {self.word} {number}: {error.message}{hint}"
            else:
                if isinstance(found, dict):
                    columns = found
                else:
                    fault = f"bad-row: {self.word} {number}: expected an object, got {type(found).__name__}"
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
            yield from _array_chunks(file, rest.lstrip()[1:], path)
            return
        # A pipe can be read once: its lines travel with the chunk. A file's are read again where they are scored.
        is_file = path != "-" and Path(path).is_file()
        while block := (rest or read(BLOCK)):
            rest = b""
            # A chunk ends where a line ends; the last one where the file does.
            if not block.endswith(b"\n"):
                block += file.readline(LARGEST_ROW)
            whole = block.rfind(b"\n") + 1
            # The rest of a line that is too long is passed over and never held: its row is a fault, the others go on.
            if len(block) - whole > LARGEST_ROW or (not whole and len(block) > LARGEST_ROW):
                if whole:
                    yield Chunk(number, place=(path, offset, whole)) if is_file else Chunk(number, lines=block[:whole])
                number += block.count(b"\n")
                offset += len(block)
                del block
                while line := file.readline(BLOCK):
                    offset += len(line)
                    if line.endswith(b"\n"):
                        break
                fault = f"bad-row: line {number}: longer than the {LARGEST_ROW:,} bytes that a row may have"
                yield Chunk(number, records=[fault])
                number += 1
                continue
            yield Chunk(number, place=(path, offset, len(block))) if is_file else Chunk(number, lines=block)
            number += block.count(b"\n")
            offset += len(block)


def _array_chunks(file: BufferedReader, start: bytes, path: str) -> Iterator[Chunk]:
    """Cut a JSON array into chunks of its items, each as a line; a row's number is its place in the array."""
    items: list[bytes] = []
    number, size = 1, 0
    for item in _items(file, start, path):
        # Line ends are white space in JSON, never part of a text.
        items.append(item.replace(b"\n", b" ").replace(b"\r", b" "))
        size += len(item)
        if size >= BLOCK:
            yield Chunk(number, lines=b"\n".join(items) + b"\n", word="item")
            number, items, size = number + len(items), [], 0
    if items:
        yield Chunk(number, lines=b"\n".join(items) + b"\n", word="item")


def _items(file: BufferedReader, buffer: bytes, path: str) -> Iterator[bytes]:
    """Give the items of an array that has begun; only brackets, commas and texts are looked at."""
    begin = at = depth = 0
    count = 0
    while True:
        mark = (_BRACKET if depth else _SIGN).match(buffer, at)
        # A text without its end may go on in the next block.
        if mark is None or mark[1] == b'"':
            held = buffer[begin:]
            if len(held) > LARGEST_ROW:
                limit = f"longer than the {LARGEST_ROW:,} bytes that a row may have"
                raise DataError(f"{path}: item {count + 1} of the array is {limit}", code="too-large")
            # What is held is looked at again, so every block is as long as that: the work stays in proportion.
            block = file.read(max(BLOCK, len(held)))
            at = (mark.start(1) if mark is not None else len(buffer)) - begin
            buffer, begin = held + block, 0
            if not block:
                raise DataError(f"{path}: the array is not closed after item {count}: was the file cut off?")
            continue
        sign, at = mark[1], mark.end()
        if depth == 0 and sign in (b",", b"]"):
            item = buffer[begin : mark.start(1)]
            begin = at
            if item.strip() or count or sign == b",":
                count += 1
                # Nothing between two commas is an item that is not a row.
                yield item if item.strip() else b"null"
            if sign == b"]":
                if buffer[at:].strip() or file.read(BLOCK).strip():
                    raise DataError(f"{path}: something follows the end of the array")
                return
        elif sign in (b"[", b"{"):
            depth += 1
        elif sign in (b"]", b"}"):
            depth -= 1


def _csv_chunks(path: str) -> Iterator[Chunk]:
    import csv
    import io

    # A cell may hold a whole trajectory.
    csv.field_size_limit(LARGEST_ROW)
    with _open(path) as file:
        peeked = io.BufferedReader(cast("io.RawIOBase", file))
        if peeked.peek(4).startswith(_UTF16):
            raise DataError(f"{path} is UTF-16; adjudge reads UTF-8")
        text = io.TextIOWrapper(peeked, encoding="utf-8-sig", errors="surrogateescape", newline="")
        lines = _CsvLines(text, path)
        reader = csv.reader(lines, strict=True)
        first = 1
        found = _csv_records(reader, csv.Error, lines)
        header = _header(next(found, []), path)
        records: list[Sequence[str] | str] = []
        size = 0
        for record in found:
            records.append(record)
            size += lines.size
            if len(records) == RECORDS or size > _LARGE_CHUNK:
                yield Chunk(first, records=records, header=header)
                first += len(records)
                records, size = [], 0
        if records:
            yield Chunk(first, records=records, header=header)


def _header(names: Sequence[str] | str, path: str) -> Sequence[str]:
    if isinstance(names, str):
        raise DataError(f"{path}: the header cannot be read: {names.removeprefix('bad-row: ')}")
    known: set[str] = set()
    for name in names:
        if name in known:
            raise DataError(f"{path}: two columns are called {name!r}")
        known.add(name)
    split = next((sign for sign in (";", "\t") if len(names) == 1 and sign in names[0]), None)
    if split is not None:
        what = "semicolons" if split == ";" else "tabs"
        raise DataError(f"{path}: its columns are separated by {what}; adjudge reads commas: export it again as CSV")
    return names


class _CsvLines:
    """The lines of a file, and how many characters of them the record took that is being read; those are limited."""

    def __init__(self, text: IO[str], path: str) -> None:
        self._text = text
        self.path = path
        self.begun = 1
        self.size = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._text.readline(LARGEST_ROW + 1)
        self.size += len(line)
        if self.size > LARGEST_ROW:
            limit = f"longer than the {LARGEST_ROW:,} characters that a row may have"
            raise DataError(f"{self.path}: the row that begins on line {self.begun} is {limit}", code="too-large")
        if not line:
            raise StopIteration
        return line


def _csv_records(reader: Any, broken: type[Exception], lines: _CsvLines) -> Iterator[Sequence[str] | str]:
    """Read records, those that are not CSV as faults; a quote that swallows more than its line ends the reading."""
    while True:
        begun = lines.begun = reader.line_num + 1
        lines.size = 0
        try:
            record = next(reader)
        except StopIteration:
            return
        except broken as error:
            if reader.line_num > begun:
                raise DataError(f"{lines.path}: the quote that opens on line {begun} is never closed") from None
            yield f"bad-row: line {begun}: not CSV: {error}"
            continue
        if record:
            yield record


def _is_undecoded(cell: str) -> bool:
    return not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell)


def _parquet_chunks(path: str) -> Iterator[Chunk]:
    load_library()
    first = 1
    with _open(path) as source:
        seekable: Any = source
        # Parquet is read from its end: what cannot be wound back is held in memory.
        if not source.seekable():
            from io import BytesIO

            seekable = BytesIO(source.read())
        for records in parquet_slices(seekable, path, None, RECORDS):
            yield Chunk(first, records=records)
            first += len(records)
