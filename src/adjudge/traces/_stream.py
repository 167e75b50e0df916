r"""Traces out of files of any size: OTLP in JSON lines or in the collector's protobuf files.

Spans of one trace may be anywhere in the file, as batches of several processes are. A trace is given out when its root
has come and nothing of it for a while, or at the end of the file. What is held at a time is bounded, whatever the
file's size: one line (or one protobuf message) and `hold` spans. Where that is too little for the traces that are under
way, the one that has waited longest is given out as it is, and is not complete.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from adjudge.errors import TrajectoryError, UsageError
from adjudge.model import Trajectory
from adjudge.traces._spans import Record, Span

HOLD = 20_000  # spans
_QUIET = 10  # a trace with a root is taken to be whole after hold / 10 spans of other traces


class Trace(NamedTuple):
    """One trace of a file: its id and what its agent did."""

    id: str
    trajectory: Trajectory


@dataclass(slots=True)
class _Open:
    """A trace that is being collected."""

    spans: list[Span] = field(default_factory=list)
    has_root: bool = False
    last: int = 0  # how many spans had been read when its last one came


def iter_traces(path: str | Path, *, hold: int = HOLD) -> Iterator[Trace]:
    """Give the traces of an OTLP file one by one; at most `hold` spans are in memory.

    A span that comes after its trace was given out makes a second one of the same id, which is incomplete: its parent
    is not there.
    """
    if hold < 1:
        raise UsageError(f"hold must be at least 1, got {hold}")
    from adjudge.traces._assemble import assemble

    for identity, found, faults in _grouped(Path(path), hold):
        try:
            yield Trace(identity, assemble(Record(identity, tuple(found.spans), faults)))
        except RecursionError:
            raise TrajectoryError(f"{path}: trace {identity} is nested too deeply") from None


def _grouped(path: Path, hold: int) -> Iterator[tuple[str, _Open, tuple[str, ...]]]:
    held: dict[str, _Open] = {}  # the one that was touched last stands last
    inside = 0
    for count, (identity, span) in enumerate(_spans(path), 1):
        inside += 1
        entry = held.pop(identity, None) or _Open()
        held[identity] = entry
        entry.spans.append(span)
        entry.has_root = entry.has_root or span.parent is None or span.is_entry
        entry.last = count
        while held:
            oldest = next(iter(held))
            is_quiet = held[oldest].has_root and count - held[oldest].last >= hold / _QUIET
            if not is_quiet and inside <= hold:
                break
            inside -= len(held[oldest].spans)
            early = () if is_quiet else (f"more than {hold} spans were under way: it was given out early",)
            yield oldest, held.pop(oldest), early
    for identity, entry in held.items():
        yield identity, entry, ()


def _spans(path: Path) -> Iterator[tuple[str, Span]]:
    from adjudge.traces._dialects import read_span
    from adjudge.traces._otlp import raw_spans
    from adjudge.traces._protobuf import protobuf_spans
    from adjudge.traces._values import decoded

    try:
        with path.open("rb") as file:
            if file.read(1) == b"\x00":
                file.seek(0)
                for message in _messages(file, path):
                    yield from ((raw.trace, read_span(raw)) for raw in protobuf_spans(message))
                return
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line.isspace():
                    where = f"{path}, line {number}"
                    yield from ((raw.trace, read_span(raw)) for raw in raw_spans(decoded(line, where), where))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None


def _messages(file: IO[bytes], path: Path) -> Iterator[bytes]:
    while size := file.read(4):
        length = int.from_bytes(size, "big")
        message = file.read(length)
        if len(size) < 4 or len(message) < length:
            raise TrajectoryError(f"{path}: the file ends within a protobuf message")
        yield message
