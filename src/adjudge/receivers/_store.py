"""Spans as they arrive, by trace, in bounded memory."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adjudge.errors import UsageError
from adjudge.receivers._requests import Arrival, Note
from adjudge.receivers._whole import Links, Outstanding, find_outstanding
from adjudge.traces import OtlpEvent, Record, Span, add_log_events

_MOST_EVICTED = 10_000  # ids of dropped traces that are remembered
_MOST_SESSIONS = 100  # of one trace; every one of them is looked at whenever the trace grows
_TRACE = 2_000  # bytes of memory that an empty trace takes, measured
_SESSION = 1_500  # and a session's name in a trace, at most


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """How much an endpoint takes: bytes of a request, memory for all that it holds, requests at once, seconds for one.

    `request_bytes` counts a request when it is unpacked; `held_bytes` the memory of decoded spans. Requests that are
    being read or decoded take up to half of `held_bytes` (or 2 MB, if that is more) beside it: a body with an emoji in
    it, whose texts may take seven times their bytes, is refused (413) above a nineteenth of `held_bytes`. Headers must
    arrive within `header_s` seconds, a body within `read_s`.
    """

    request_bytes: int = 32 << 20
    held_bytes: int = 256 << 20
    at_once: int = 64
    read_s: float = 30.0
    header_s: float = 10.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            # Written so that NaN is refused too.
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, not {getattr(self, name)!r}", code="bad-limit")


@dataclass(frozen=True, slots=True)
class EndpointCounts:
    """The counts of an endpoint: requests, those it refused, spans taken and rejected, traces held and dropped."""

    requests: int = 0
    refused: int = 0
    spans: int = 0
    rejected: int = 0
    traces: int = 0
    evicted: int = 0


@dataclass(slots=True)
class _Held:
    spans: list[Span] = field(default_factory=list)
    links: Links = field(default_factory=Links)
    sessions: set[str] = field(default_factory=set)
    notes: dict[str, dict[bytes, OtlpEvent]] = field(default_factory=dict)  # log records by span and digest
    size: int = _TRACE
    shows_work: bool = False  # of an agent, a tool or a model

    def with_notes(self) -> Iterator[Span]:
        """Give the spans with the messages of their log records."""
        for span in self.spans:
            yield add_log_events(span, [*self.notes[span.id].values()]) if span.id in self.notes else span

    def with_trace_id(self, trace: str) -> Iterator[Span]:
        """Give the spans with ids that are unique among several traces."""
        for span in self.with_notes():
            parent = f"{trace}:{span.parent}" if span.parent in self.links.ids else span.parent
            yield replace(span, id=f"{trace}:{span.id}", parent=parent)


class SpanStore:
    """Holds traces by their ids; where they are too large together, the one untouched for longest is dropped whole.

    A trace is found by its id, and by every session that one of its spans names.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        # The one that was touched last comes last. A plain dictionary would look for its first entry behind all those
        # that were taken out.
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._sessions: dict[str, dict[str, None]] = {}
        self._evicted: OrderedDict[str, None] = OrderedDict()
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._held)

    @property
    def ids(self) -> list[str]:
        """The ids of the traces that are held, the one that was touched last at the end."""
        return list(self._held)

    def add(self, arrivals: Iterable[Arrival], notes: Iterable[Note] = ()) -> set[str]:
        """Keep spans and log records that have arrived, and return the ids and sessions that they belong to."""
        touched = {}
        for one in arrivals:
            held = touched[one.trace] = self._touch(one.trace)
            held.spans.append(one.span)
            held.links.add(one.span)
            held.shows_work = held.shows_work or one.span.kind not in ("other", "aside")
            self._grow(held, one.size)
            if one.session is not None and one.session not in held.sessions and len(held.sessions) < _MOST_SESSIONS:
                held.sessions.add(one.session)
                self._sessions.setdefault(one.session, {})[one.trace] = None
                self._grow(held, _SESSION)
        for note in notes:
            held = touched[note.trace] = self._touch(note.trace)
            known = held.notes.setdefault(note.span, {})
            # Exporters may send a record twice.
            if note.digest not in known:
                known[note.digest] = note.event
                self._grow(held, note.size)
        while self._size > self._most:
            self._evict(next(iter(self._held)))
        return {key for trace, held in touched.items() for key in (trace, *held.sessions)}

    def link(self, session: str, trace: str) -> None:
        """Let a session have a trace that its agent names, whether or not a span of it has arrived."""
        held = self._touch(trace)
        if session != trace and session not in held.sessions and len(held.sessions) < _MOST_SESSIONS:
            held.sessions.add(session)
            self._sessions.setdefault(session, {})[trace] = None
            self._grow(held, _SESSION)

    def strangers(self, known: Collection[str]) -> list[str]:
        """Return the traces with spans that belong to none of these traces and sessions, the last one at the end."""
        return [
            trace
            for trace, held in self._held.items()
            if held.spans and trace not in known and held.sessions.isdisjoint(known)
        ]

    def find_inside(self, known: Collection[str], windows: Sequence[tuple[int, int]]) -> list[str]:
        """Return the strangers to these traces and sessions in which somebody worked, all of it inside of a window.

        Those that have not ended are somebody else's: what a run waits for has ended when it does.
        """
        found = []
        for trace in self.strangers(known):
            held = self._held[trace]
            if held.shows_work and self.find_outstanding(trace, parent=None, roots=1).late is None:
                times = [time for span in held.spans for time in (span.start, span.end) if time is not None]
                if times and any(first <= min(times) and max(times) <= last for first, last in windows):
                    found.append(trace)
        return found

    def _touch(self, trace: str) -> _Held:
        """Return what is held of a trace, as the last of all."""
        if trace not in self._held:
            self._held[trace] = _Held()
            self._size += _TRACE
        self._held.move_to_end(trace)
        return self._held[trace]

    def _grow(self, held: _Held, size: int) -> None:
        held.size += size
        self._size += size

    def find_outstanding(self, key: str, *, parent: str | None, roots: int) -> Outstanding:
        """Return what is still missing from a trace or a session."""
        return find_outstanding((self._held[trace].links for trace in self._traces(key)), parent=parent, roots=roots)

    def record(self, key: str) -> Record:
        """Return the spans of a trace, or of the traces of a session."""
        traces = list(self._traces(key))
        # Span ids are unique within a trace only: those of several traces get the trace's id before them.
        if len(traces) == 1:
            spans = tuple(self._held[traces[0]].with_notes())
        else:
            spans = tuple(span for trace in traces for span in self._held[trace].with_trace_id(trace))
        is_cut = any(name in self._evicted for name in (key, *traces))
        return Record(key, spans, ("spans were dropped: the endpoint held too much",) if is_cut else ())

    def forget(self, key: str) -> None:
        """Drop a trace, or the traces of a session, that nobody will ask for again."""
        for trace in list(self._traces(key)):
            self._drop(trace)

    def _traces(self, key: str) -> Iterator[str]:
        if key in self._held:
            yield key
        yield from (trace for trace in self._sessions.get(key, ()) if trace != key)

    def _evict(self, trace: str) -> None:
        self.evicted += 1
        # Remembered, so that what is left of a dropped trace is not taken for all of it.
        for name in (trace, *self._held[trace].sessions):
            self._evicted[name] = None
        # Bounded as well: an endpoint may run for weeks.
        while len(self._evicted) > _MOST_EVICTED:
            self._evicted.popitem(last=False)
        self._drop(trace)

    def _drop(self, trace: str) -> None:
        held = self._held.pop(trace)
        self._size -= held.size
        for session in held.sessions:
            self._sessions[session].pop(trace, None)
            if not self._sessions[session]:
                del self._sessions[session]
