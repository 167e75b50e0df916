r"""Traces out of files of any size: OTLP in JSON lines or in the collector's protobuf files.

Spans of one trace may be anywhere in the file, as the batches of several processes are. The file is read twice: first
for where each trace occurs last, in a table of fixed size, then for the spans. A trace is complete, and is passed on,
when that place is reached. Memory is bounded, whatever the file's size: the table (17 MB), one line or protobuf
message, the messages of the last 16 MB, and `hold` spans. If the open traces need more than that, the one that has
waited longest is passed on as it is; it and the rest of it, which is passed on later, are marked incomplete. The table
is a count-min sketch: where many traces share the same slots, one is passed on later than it could be, never earlier.
"""

import re
from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from adjudge.errors import TrajectoryError, UsageError
from adjudge.model import Trajectory
from adjudge.traces._agent_names import AgentNames
from adjudge.traces._assemble import assemble
from adjudge.traces._dialects import read_otlp_span
from adjudge.traces._messages import MessageCache
from adjudge.traces._otlp import hex_id, iter_otlp_spans, read_otlp_json
from adjudge.traces._protobuf import iter_frames, iter_protobuf_spans
from adjudge.traces._spans import Record, Span

_ARCHIVE = b"PK\x03\x04"  # how every `.eval` file of Inspect begins
HOLD = 20_000  # spans
_KNOWN = 16 << 20  # bytes whose messages are remembered, which saves reading them again
_ROWS, _BITS = 4, 20  # of the table
_TRACE_ID = re.compile(rb'"trace_?[iI]d"\s*:\s*"([^"\\]{1,100})"')


class Trace(NamedTuple):
    """One trace of a file: its id and what its agent did."""

    id: str
    trajectory: Trajectory


class _Lasts:
    """Where each trace was seen last: at the place that is given, or before it."""

    def __init__(self) -> None:
        self._rows = [array("I", bytes(4 << _BITS)) for _ in range(_ROWS)]
        self._torn = bytearray(1 << _BITS)

    def record(self, trace: str, place: int) -> None:
        for row, slot in zip(self._rows, _slots(trace), strict=True):
            row[slot] = place  # places only grow

    def last(self, trace: str) -> int:
        return min(row[slot] for row, slot in zip(self._rows, _slots(trace), strict=True))

    def tear(self, trace: str) -> None:
        self._torn[_slots(trace)[0]] = True

    def is_torn(self, trace: str) -> bool:
        """Say whether part of a trace was passed on before; rarely also of one that shares its slot in the table."""
        return bool(self._torn[_slots(trace)[0]])


def _slots(trace: str) -> list[int]:
    digest = int.from_bytes(blake2b(trace.encode(), digest_size=_ROWS * _BITS // 8).digest(), "little")
    return [(digest >> (row * _BITS)) & ((1 << _BITS) - 1) for row in range(_ROWS)]


def iter_traces(path: str | Path, *, hold: int = HOLD, agents: AgentNames | Collection[str] = ()) -> Iterator[Trace]:
    """Give the traces of an OTLP file one by one, in the order in which they end; at most `hold` spans are held.

    The samples of Inspect's `.eval` archives are given in the order of the archive, all of which is held. `agents` are
    names of agents, as for `load`.
    """
    if hold < 1:
        raise UsageError(f"hold must be at least 1, got {hold}")
    for record in _records(Path(path), hold):
        try:
            yield Trace(record.id, assemble(record, agents=agents))
        except RecursionError:
            raise TrajectoryError(f"{path}: trace {record.id} is nested too deeply") from None


def _records(path: Path, hold: int) -> Iterator[Record]:
    # Only a file is opened to see what it is: what is in a pipe can be read once.
    if path.is_file() and (content := _archive(path)):
        from adjudge.traces._inspect import decode_inspect, unpack

        yield from decode_inspect(unpack(content))
        return
    for identity, spans, faults in _group_spans(path, hold):
        yield Record(identity, tuple(spans), faults)


def _archive(path: Path) -> bytes:
    """Return the content of a file that is an archive; nothing of any other."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_ARCHIVE))
            return start + file.read() if start == _ARCHIVE else b""
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None


def _group_spans(path: Path, hold: int) -> Iterator[tuple[str, list[Span], tuple[str, ...]]]:
    """Give each trace's spans when its last place is reached, or when there is no room."""
    # The first pass over the file: where does each trace occur last?
    lasts = _Lasts()
    for place, trace in _trace_ids(path):
        lasts.record(trace, place)
    faults = (f"it did not fit: more than {hold} spans were under way",)
    # The second pass. The trace that was touched last is last in `held`, so the first has waited longest.
    # (A plain dictionary would look for its first entry behind all that were taken out.)
    held: OrderedDict[str, list[Span]] = OrderedDict()
    ending: dict[int, list[str]] = {}
    now = inside = 0
    for place, trace, span in _spans(path):
        # Traces whose last place was before this one are whole.
        for before in range(now, place):
            for done in ending.pop(before, ()):
                if done in held:
                    inside -= len(held[done])
                    yield done, held.pop(done), faults if lasts.is_torn(done) else ()
        now = place
        if trace not in held:
            ending.setdefault(lasts.last(trace), []).append(trace)
        spans = held[trace] = held.pop(trace, [])
        spans.append(span)
        inside += 1
        # No room: give the oldest as it is, and remember that it was torn.
        while inside > hold:
            oldest = next(iter(held))
            lasts.tear(oldest)
            inside -= len(held[oldest])
            yield oldest, held.pop(oldest), faults
    for trace, spans in held.items():
        yield trace, spans, faults if lasts.is_torn(trace) else ()


def _trace_ids(path: Path) -> Iterator[tuple[int, str]]:
    """Give the trace ids in a file with their places; in JSON by their look, so a few may not be ids."""
    for place, block, is_json in _blocks(path):
        if is_json:
            found = {each.decode("utf-8", "replace") for each in _TRACE_ID.findall(block)}
            names = {hex_id(each, f"{path}, line {place}") for each in found}
        else:
            names = {raw.trace for raw in iter_protobuf_spans(block)}
        for name in names:
            if name:
                yield place, name


def _spans(path: Path) -> Iterator[tuple[int, str, Span]]:
    cache: MessageCache = {}
    size = 0
    for place, block, is_json in _blocks(path):
        where = f"{path}, line {place}"
        # Messages are remembered to save reading them again, but not without a limit.
        size += len(block)
        if size > _KNOWN:
            cache.clear()
            size = len(block)
        for span in iter_otlp_spans(read_otlp_json(block, where), where) if is_json else iter_protobuf_spans(block):
            yield place, span.trace, read_otlp_span(span, cache)


def _blocks(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Give the lines of a file, or its protobuf messages, with their numbers, and which of the two they are."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file; traces are read from one that can be read twice")
    try:
        with path.open("rb") as file:
            is_json = file.read(1) != b"\x00"
            file.seek(0)
            blocks = (line for line in file) if is_json else iter_frames(file, str(path))
            yield from ((number, block, is_json) for number, block in enumerate(blocks, 1) if block.strip())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
