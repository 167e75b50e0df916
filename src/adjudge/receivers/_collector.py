"""The endpoint's work on its event loop: takes requests, keeps spans, and wakes whoever waits for a trace."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from adjudge.errors import Caught
from adjudge.http import listening
from adjudge.receivers._requests import (
    CONTENT_TYPES,
    PACKINGS,
    Batch,
    Encoding,
    RequestTooLarge,
    acceptance,
    read_logs,
    read_request,
    refusal,
    unpack,
)
from adjudge.receivers._store import EndpointCounts, EndpointLimits, SpanStore
from adjudge.receivers._whole import REMOTE_SETTLE, ReceiverError, Wait
from adjudge.traces import Record

if TYPE_CHECKING:
    from aiohttp import web

PATH = "/v1/traces"
LOGS_PATH = "/v1/logs"  # where some instrumentations send the messages
LANGFUSE_PATH = "/api/public/otel/v1/traces"  # where Langfuse's SDK sends the same
_Read: TypeAlias = Callable[[bytes, Encoding, int], Batch]
_LEAST = 1 << 20  # bytes that requests may take, however little the endpoint holds
_MOST_EXPECTED = 10_000
_LOOK_AGAIN = 0.1  # seconds
_ASTRAY = (
    "spans of agents, tools or models arrived meanwhile under a trace that belongs to no run, and may be part of this "
    "one: pass the context on to threads (contextvars.copy_context().run), or return trace_id"
)
_LONG = 256 << 10  # a body of more bytes is decoded off the loop


class _Refused(ReceiverError):
    """A request is refused, with this HTTP status."""

    def __init__(self, message: str, status: int, *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.status = status


class Collector:
    """Everything that an endpoint holds. Used on its own loop only, except `counts`."""

    def __init__(self, limits: EndpointLimits) -> None:
        self.limits = limits
        self.store = SpanStore(limits.held_bytes)
        self._counts = EndpointCounts()
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._expected: OrderedDict[str, None] = OrderedDict()  # traces and sessions that somebody asked for
        self._underway: dict[str, int] = {}  # when each run that is under way began
        self._open: set[str] = set()  # those of them whose traces are not whole yet
        self._waits: set[asyncio.Task[Any] | None] = set()
        self._reading: dict[asyncio.Timeout, None] = {}  # bodies that are under way, the oldest first
        self._busy = 0
        # Beside what is held: bodies that have arrived, and one of them while it is decoded.
        self._arrived = 0
        self._most_arrived = max(limits.held_bytes // 8, _LEAST)
        self._most_decoded = max(limits.held_bytes * 3 // 8, _LEAST)
        self._decoding = asyncio.Lock()
        self._is_closing = False
        self._why = ""  # a span could not be read

    @property
    def counts(self) -> EndpointCounts:
        """The counts so far."""
        return replace(self._counts, traces=len(self.store), evicted=self.store.evicted)

    @asynccontextmanager
    async def serving(self, host: str, port: int) -> AsyncIterator[int]:
        """Listen; yields the port."""
        from aiohttp import web

        self._is_closing = False
        app = web.Application()
        # SDKs differ in where they send; what they send is the same.
        for path in (PATH, LANGFUSE_PATH, LOGS_PATH):
            app.router.add_post(path, self._export)
        # Unpacked by us, up to a limit: aiohttp would unpack a bomb whole.
        options = {"auto_decompress": False, "handler_cancellation": True}
        async with listening(app, host, port, header_s=self.limits.header_s, **options) as found:
            try:
                yield found
            finally:
                await self._release()

    async def whole(self, key: str, wait: Wait, also: Sequence[str] = ()) -> tuple[Record, str | None]:
        """Return a trace once it is whole; or what has arrived, and what is missing, once time is out.

        `also` are traces that the agent says it worked under, beside the one that it was given.
        """
        self._expect(key, *also)
        for trace in also:
            self.store.link(key, trace)
        task = asyncio.current_task()
        changed = asyncio.Event()
        self._waiting.setdefault(key, set()).add(changed)
        self._waits.add(task)
        try:
            late = await self._wait(key, wait, changed)
        finally:
            self._waits.discard(task)
            self._waiting[key].discard(changed)
            if not self._waiting[key]:
                del self._waiting[key]
            self._open.discard(key)
        record = self.store.record(key)
        if late is not None and not record.spans:
            late = self._explain(late)
        if late is not None and self._why:
            late = f"{late}; spans that could not be read: {self._counts.rejected}, among them: {self._why}"
        return record, late

    async def run(self, key: str, wait: Wait, also: Sequence[str]) -> tuple[Record, str | None, str | None]:
        """Return the same as `whole`, and why spans of other traces may be a part of a run that is under way."""
        answered = time.time_ns()
        record, late = await self.whole(key, wait, also)
        return record, late, await self._find_astray(key, answered, record, wait.timeout)

    def begin(self, key: str) -> None:
        """Note that a run is under way, whose trace or session is called that."""
        self._expect(key)
        self._underway[key] = time.time_ns()
        self._open.add(key)

    def end(self, key: str) -> None:
        """Note that a run is not under way any more."""
        self._underway.pop(key, None)
        self._open.discard(key)

    def _expect(self, *keys: str) -> None:
        self._expected.update(dict.fromkeys(keys))
        while len(self._expected) > _MOST_EXPECTED:
            self._expected.popitem(last=False)

    async def _find_astray(self, key: str, answered: int, record: Record, seconds: float) -> str | None:
        """Say why spans of other traces may be a part of a run that is under way; None where there are none.

        They may also belong to another run, whose agent names its trace when it answers. That is waited for, at most
        so many `seconds`.
        """
        times = [at for span in record.spans for at in (span.start, span.end) if at is not None]
        if key not in self._underway or not times:
            return None
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        others = set(self._open)
        # The run's time by the agent's clock, which may be that of another host, and by ours.
        windows = [(min(times), max(times)), (self._underway[key], answered)]
        while self.store.find_inside(self._expected, windows):
            if self._open.isdisjoint(others) or self._is_closing or clock() >= deadline:
                return _ASTRAY
            await asyncio.sleep(_LOOK_AGAIN)
        return None

    def _explain(self, late: str) -> str:
        """Say what to do where no span has arrived: the agent may have sent them under a trace of its own."""
        found = self.store.strangers(self._expected)
        if not found:
            return f"{late}: start the agent with OTEL_EXPORTER_OTLP_ENDPOINT set to the address of this endpoint"
        others = "" if len(found) == 1 else f" and {len(found) - 1} others"
        sent = f"the agent sent spans under trace {found[-1][:40]}{others}, which it was not given"
        return f"{late} under the trace of this run; {sent}: pass the traceparent header on, or return trace_id"

    def now(self, key: str, wait: Wait) -> tuple[Record, str | None]:
        """Return what has arrived of a trace, and what is missing."""
        return self.store.record(key), self.store.find_outstanding(key, parent=wait.parent, roots=wait.roots).late

    async def _wait(self, key: str, wait: Wait, changed: asyncio.Event) -> str | None:
        clock = asyncio.get_running_loop().time
        deadline = clock() + wait.timeout
        while True:
            changed.clear()
            # A trace that is whole must stay so for a while; longer where another process may still send spans.
            late, is_sure = self.store.find_outstanding(key, parent=wait.parent, roots=wait.roots)
            quiet = wait.settle if is_sure else max(wait.settle, REMOTE_SETTLE)
            left = deadline - clock()
            if left <= 0 or self._is_closing:
                return late
            try:
                async with asyncio.timeout(min(left, quiet) if late is None else left):
                    await changed.wait()
            except TimeoutError:
                # Nothing more has arrived for a while: the trace is settled.
                if late is None:
                    return None

    async def _release(self) -> None:
        """Wake everybody who waits, and wait until they are gone."""
        self._is_closing = True
        # Whoever waits gets what has arrived so far, not an error.
        for events in self._waiting.values():
            for event in events:
                event.set()
        if self._waits:
            await asyncio.wait([task for task in self._waits if task is not None])

    def _count(self, **more: int) -> None:
        known = self._counts
        self._counts = replace(known, **{name: getattr(known, name) + number for name, number in more.items()})

    async def _export(self, request: "web.Request") -> "web.Response":
        """Answer one export request; whatever is in it, the answer is valid OTLP."""
        from aiohttp import web

        encoding: Encoding = CONTENT_TYPES.get(request.content_type, "json")
        content_type = "application/json" if encoding == "json" else "application/x-protobuf"
        self._count(requests=1)
        batch = None
        with Caught() as caught:
            batch = await self._read(request, encoding)
        if batch is not None:
            self._keep(batch)
            return web.Response(body=acceptance(batch, encoding), content_type=content_type)
        self._count(refused=1)
        error = caught.error
        if error is not None:
            # Its traceback holds the body, and with this frame it is a circle: that would stay until Python looks for
            # circles, while others send more.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        status = 413 if isinstance(error, RequestTooLarge) else 400
        if isinstance(error, _Refused):
            status = error.status
        headers = {"Retry-After": "1"} if status == 503 else {}
        why = refusal(caught.reason or "bad-body", encoding)
        return web.Response(body=why, status=status, content_type=content_type, headers=headers)

    def _keep(self, batch: Batch) -> None:
        self._count(spans=len(batch.arrivals), rejected=batch.rejected)
        self._why = batch.why or self._why
        for key in self.store.add(batch.arrivals, batch.notes):
            for event in self._waiting.get(key, ()):
                event.set()

    async def _read(self, request: "web.Request", encoding: Encoding) -> Batch:
        packing = request.headers.get("Content-Encoding", "").strip().lower()
        if request.content_type not in CONTENT_TYPES:
            raise _Refused("only application/json and application/x-protobuf are read", 415, code="bad-content-type")
        if packing not in PACKINGS:
            raise _Refused("only gzip and deflate are unpacked", 415, code="bad-content-encoding")
        read = read_logs if request.path == LOGS_PATH else read_request
        body = bytearray()
        try:
            await self._receive(request, body)
            # Counted by hand: a request beyond the limit is refused at once, it does not queue.
            self._busy += 1
            try:
                if self._busy > self.limits.at_once:
                    raise _Refused("too many requests at once", 503, code="busy")
                # Unpacking and decoding much would block everybody else's requests, and take much memory: one by one.
                if len(body) <= _LONG and packing in ("", "identity"):
                    return self._decode(body, packing, encoding, read)
                async with self._decoding:
                    return await asyncio.to_thread(self._decode, body, packing, encoding, read)
            finally:
                self._busy -= 1
        finally:
            self._arrived -= len(body)

    def _decode(self, body: bytearray, packing: str, encoding: Encoding, read: _Read) -> Batch:
        largest = min(self.limits.request_bytes, self._most_decoded)
        return read(unpack(bytes(body), packing, largest), encoding, self._most_decoded)

    async def _receive(self, request: "web.Request", body: bytearray) -> None:
        """Read a body, and count its bytes while they are held.

        A body that takes long gives way to others: where too many are under way, the oldest of them is given up.
        """
        largest = min(self.limits.request_bytes, self._most_arrived)
        # Refused before it is read, where the sender says how long it is.
        if request.content_length is not None and request.content_length > largest:
            raise RequestTooLarge(f"the body is larger than {largest:,} bytes")
        if len(self._reading) >= self.limits.at_once:
            oldest = next(iter(self._reading))
            del self._reading[oldest]
            oldest.reschedule(0.0)
        try:
            async with asyncio.timeout(self.limits.read_s) as limit:
                self._reading[limit] = None
                try:
                    async for chunk in request.content.iter_any():
                        body += chunk
                        self._arrived += len(chunk)
                        if len(body) > largest:
                            raise RequestTooLarge(f"the body is larger than {largest:,} bytes")
                        if self._arrived > self._most_arrived:
                            raise _Refused("too much arrives at once", 503, code="busy")
                finally:
                    self._reading.pop(limit, None)
        except TimeoutError:
            raise _Refused("the body did not arrive in time", 408, code="slow-body") from None
