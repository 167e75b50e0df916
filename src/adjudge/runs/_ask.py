"""The step that reaches outside, as a run does it: remembered, shared, limited, and written down before it is used.

A request is answered, in this order, from the run file (a resumed run), by an equal request that is under way, from
the cache, or by a call. Before a call the budgets are checked and the request is kept; after it the raw reply is kept
before its place in flight is given up (so many calls, and no more, can be paid twice), and on disk before whoever asked
may look at it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adjudge.errors import AdjudgeError, Caught, RunStopped, UsageError
from adjudge.http import attempt_watch
from adjudge.model import Ask, ChatModel, ChatReply, ChatRequest
from adjudge.runs._budget import Budget
from adjudge.runs._cache import Cache, is_worth_keeping, request_key
from adjudge.runs._journal import Journal
from adjudge.runs._records import ReplyRecord, encode, write_attempt, write_reply, write_request


@dataclass(slots=True, eq=False)
class Row:
    """One row while it is worked on: what it was answered before, its clock, and whether the run was stopped in it.

    `attempts` and `last` are how often it has called and in what way the last call failed that did.
    """

    seq: int
    known: Mapping[bytes, ChatReply]
    clock: "Clock"
    stopped: AdjudgeError | None = None
    attempts: int = 0
    last: str | None = None

    def tried(self) -> str:
        """Say what was tried, for a row that is out of time."""
        if not self.attempts:
            return ""
        times = " and 1 attempt" if self.attempts == 1 else f" and {self.attempts} attempts"
        return times if self.last is None else f"{times}; the last: {self.last}"


class Clock:
    """The time that a row has taken itself.

    Waiting for a free place, for a turn at the endpoint, for another row that asks the same, or for the disk does not
    count.

    `with clock:` stops it; pauses may overlap. Who looks at it is the engine, now and then: a timer for every row would
    cost more than the row.
    """

    __slots__ = ("_began", "_paused", "_pauses", "_since", "expired", "task")

    def __init__(self, task: "asyncio.Task[Any] | None" = None) -> None:
        self.task = task
        self.expired = False
        self._began = time.monotonic()
        self._since = 0.0
        self._paused = 0.0
        self._pauses = 0

    def __enter__(self) -> None:
        if not self._pauses:
            self._since = time.monotonic()
        self._pauses += 1

    def __exit__(self, *_: object) -> None:
        self._pauses -= 1
        if not self._pauses:
            self._paused += time.monotonic() - self._since

    def taken(self) -> float:
        """Return the seconds so far."""
        return (self._since if self._pauses else time.monotonic()) - self._began - self._paused


class Asker:
    """Gives every row its way to ask; one for a run."""

    def __init__(
        self, journal: Journal, budget: Budget, cache: Cache | None, *, workers: int, last_request: int = 0
    ) -> None:
        self.journal = journal
        self.budget = budget
        self.cache = cache
        self.places = asyncio.Semaphore(workers)
        self.in_flight = 0
        self.stopping: AdjudgeError | None = None
        self.on_stop: Callable[[AdjudgeError], None] | None = None
        self.last_number = last_request  # of the requests in the file
        self._shared: dict[bytes, asyncio.Future[tuple[ChatReply | None, AdjudgeError | None]]] = {}

    def of(self, row: Row, chats: Mapping[str, ChatModel], *, is_agent: bool = False) -> Ask:
        """Return the way in which this row asks those models.

        An agent's answers are samples: they are neither shared with other rows nor taken from other runs.
        """

        async def ask(request: ChatRequest) -> ChatReply:
            chat = chats.get(request.model)
            if chat is None:
                raise UsageError(f"nobody answers for the model {request.model!r}", code="unknown-model")
            body = encode(request)
            key = request_key(chat, body)
            known = row.known.get(key)
            if known is not None:
                return known
            if is_agent:
                return await self._call(row, request, body, key, chat.complete, keep=False)
            return await self._new(row, request, body, key, chat.complete)

        return ask

    async def enter(self, row: Row) -> None:
        """Wait for one of the places in flight, and hold it until `leave`."""
        with row.clock:
            await self.places.acquire()
        self.in_flight += 1
        if self.stopping is not None:
            self.leave()
            self.refuse_if_stopping(row)

    def leave(self) -> None:
        """Give up a place in flight."""
        self.in_flight -= 1
        self.places.release()

    async def _new(self, row: Row, request: ChatRequest, body: bytes, key: bytes, transport: Ask) -> ChatReply:
        while (shared := self._shared.get(key)) is not None:
            with row.clock:  # whoever asks has a clock, too
                reply, error = await asyncio.shield(shared)
            if error is not None:
                row.stopped = self.stopping
                raise error
            if reply is not None:  # else whoever asked was stopped, and somebody else must
                self._write_both(row, body, key, ReplyRecord(reply, source="shared"))
                return reply
        cached = None if self.cache is None else self.cache.find(key)
        if cached is not None:
            self._write_both(row, body, key, ReplyRecord(cached, source="cache"))
            return cached
        future = asyncio.get_running_loop().create_future()
        self._shared[key] = future
        try:
            reply = await self._call(row, request, body, key, transport)
            future.set_result((reply, None))
        except AdjudgeError as error:
            future.set_result((None, error))
            raise
        finally:
            del self._shared[key]
            if not future.done():
                future.set_result((None, None))
        return reply

    async def _call(
        self, row: Row, request: ChatRequest, body: bytes, key: bytes, transport: Ask, *, keep: bool = True
    ) -> ChatReply:
        self.refuse_if_stopping(row)
        with row.clock:
            try:
                reserve = await self.budget.reserve(request)
            except RunStopped as error:
                self.stop(row, error)
                raise
        self.last_number += 1
        number = self.last_number
        watch = Watch(number, self.journal, self.budget, row)
        record = ReplyRecord(None, fault="cancelled: the call was given up")
        failure: AdjudgeError | None = None
        await self.enter(row)
        try:
            self.journal.keep(write_request(number, row.seq, key, time.time(), body))
            started = time.monotonic()
            try:
                reply, fault, failure = await _attempt(transport, request, watch)
                record = ReplyRecord(reply, fault, seconds=time.monotonic() - started)
            finally:
                made = watch.made(failure)
                cost = self.budget.settle(reserve, record.reply, made=made)
                record = replace(record, attempts=watch.attempts if made else 0, cost=cost)
                if record.reply is None and self.journal.fault is None:
                    self.journal.put(write_reply(number, record))
            if record.reply is not None:
                raw = encode(record.reply)
                entry = (key, raw) if keep and is_worth_keeping(record.reply) else None
                written = self.journal.keep(write_reply(number, record, raw), entry=entry)
        finally:
            self.leave()
        if record.reply is not None:
            with row.clock:
                await written
            self.journal.check()
        if failure is not None:
            if getattr(failure, "fatal", False):
                self.stop(row, failure)
            raise failure
        if record.reply is None:
            raise AdjudgeError(f"the model failed: {record.fault}", code="model-failed")
        return record.reply

    def _write_both(self, row: Row, body: bytes, key: bytes, record: ReplyRecord) -> None:
        self.last_number += 1
        number = self.last_number
        self.journal.put(write_request(number, row.seq, key, time.time(), body), write_reply(number, record))

    def refuse_if_stopping(self, row: Row) -> None:
        """Make no more calls in a run that is being stopped."""
        if self.stopping is not None:
            row.stopped = self.stopping
            raise RunStopped("the run is being stopped")

    def stop(self, row: Row, error: AdjudgeError) -> None:
        """End the run because of what this row met."""
        row.stopped = error
        self.stopping = self.stopping or error
        if self.on_stop is not None:
            self.on_stop(error)


class Watch:
    """Counts the attempts of one call against the budget and its row, and keeps why they failed."""

    def __init__(self, number: int, journal: Journal, budget: Budget, row: Row) -> None:
        self.attempts = 1
        self._number = number
        self._journal = journal
        self._budget = budget
        self._row = row
        self._has_begun = False
        self._began = time.monotonic()

    def made(self, failure: AdjudgeError | None) -> bool:
        """Say whether anybody was called: a client that has learnt that its endpoint takes no schemas asks nobody."""
        return self._has_begun or failure is None or failure.code != "schema-unsupported"

    def waiting(self) -> Clock:
        """Stop the row's clock."""
        return self._row.clock

    def begin(self, attempt: int) -> None:
        """Book an attempt; the first one is booked already."""
        self._has_begun = True
        self._row.attempts += 1
        if attempt > 1:
            self._budget.again()
            self.attempts += 1
        self._began = time.monotonic()

    def failed(self, attempt: int, error: AdjudgeError) -> None:
        """Keep why an attempt failed."""
        seconds = time.monotonic() - self._began
        self._row.last = error.reason
        self._journal.put(write_attempt(self._number, attempt, seconds, error.reason))


async def _attempt(
    transport: Ask, request: ChatRequest, watch: Watch
) -> tuple[ChatReply | None, str | None, AdjudgeError | None]:
    """Call the model: its reply, or the fault in words, as an error of ours where it is one."""
    token = attempt_watch.set(watch)
    with Caught() as caught:
        try:
            return await transport(request), None, None
        except AdjudgeError as error:
            return None, error.reason, error
        finally:
            attempt_watch.reset(token)
    return None, caught.reason, None
