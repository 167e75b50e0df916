"""Delivery from the outbox to a receiver: in batches, marked when acknowledged, halved where a batch is refused."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.http import BadStatus, HttpClient, Limits
from adjudge.sinks._outbox import End, Entry, Outbox
from adjudge.sinks._scores import OutScore, Receipt, Rejected, cleaned_score, why_not_sendable
from adjudge.sinks._wire import BatchRefused, OutboxError, Unready, Wire

LIMITS = Limits(in_flight=8, attempts=6, attempt_timeout_s=30.0, deadline_s=60.0, max_wait_s=30.0)
"""The limits of one request; beyond them its scores stay pending."""

_READ = 1_000  # entries read from the outbox at a time
_AT_ONCE = 8  # sessions that are looked up at once
_FAILURES = 2  # batches in a row without an acknowledgement after which the receiver counts as down


class RemoteSink:
    """A sink with an outbox: scores are kept in it, sent, and stay until the receiver has acknowledged them."""

    def __init__(self, wire: Wire, outbox: str | Path, limits: Limits | None = None) -> None:
        self.outbox = Path(outbox)
        self._wire = wire
        self._limits = limits or LIMITS

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Keep the scores, send what is pending, and return the receipt of all. Not inside an event loop."""
        return run_sync(self.asend(scores))

    async def asend(self, scores: Iterable[OutScore]) -> Receipt:
        """Keep the scores, send what is pending, and return the receipt of all."""
        with Outbox(self.outbox) as outbox:
            sink = outbox.add(self._wire.name, self._wire.about(), scores)
            try:
                return await deliver(outbox, sink, self._wire, self._limits)
            except OutboxError as error:
                if error.code != "outbox-locked":
                    raise
                # They are kept, and another process is sending them.
                return outbox.receipt(sink, error.reason)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(outbox={str(self.outbox)!r})"


class ClientSink(RemoteSink, ABC):
    """A sink that may be given a `client` of the receiver's own library, which then gets the scores at once."""

    def __init__(self, wire: Wire, outbox: str | Path, limits: Limits | None, client: object | None) -> None:
        super().__init__(wire, outbox, limits)
        self._client: Any = client

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Give the scores to the client, or send them through the outbox; not inside an event loop."""
        return super().send(scores) if self._client is None else self._hand_over(scores)

    async def asend(self, scores: Iterable[OutScore]) -> Receipt:
        """Give the scores to the client, or send them through the outbox."""
        if self._client is None:
            return await super().asend(scores)
        return await asyncio.to_thread(self._hand_over, list(scores))

    def _hand_over(self, scores: Iterable[OutScore]) -> Receipt:
        """Give the scores to the client; an exception is that score's reason."""
        emit, ask_for_trace = self._emitter()
        cleaned = [cleaned_score(score) for score in scores]
        rejected = []
        for score in cleaned:
            reason = why_not_sendable(score, placed=ask_for_trace)
            if reason is None:
                with Caught(fatal_too=True) as caught:
                    emit(score)
                reason = caught.reason
            if reason is not None:
                rejected.append(Rejected(score.id, score.name, reason, score.trace_id))
        return Receipt(unconfirmed=len(cleaned) - len(rejected), rejected=tuple(rejected))

    @abstractmethod
    def _emitter(self) -> tuple[Callable[[OutScore], None], bool]:
        """Return a function that gives one score to the client, and whether a score needs a trace or session."""


def run_sync(work: Coroutine[Any, Any, Receipt]) -> Receipt:
    """Await a delivery from code that cannot."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # An unused coroutine would be reported as never awaited.
    work.close()
    raise UsageError("sending has to wait for the network: inside an event loop use `await sink.asend(...)`")


async def deliver(outbox: Outbox, sink: str, wire: Wire, limits: Limits = LIMITS) -> Receipt:
    """Send the pending scores of one receiver; those not acknowledged stay, with the reason in the receipt."""
    with outbox.sending():
        async with HttpClient(limits) as client:
            fault = await _Delivery(outbox, sink, wire, client).run()
    return outbox.receipt(sink, fault)


class _Delivery:
    """One pass over the pending scores of a receiver."""

    def __init__(self, outbox: Outbox, sink: str, wire: Wire, client: HttpClient) -> None:
        self._outbox = outbox
        self._sink = sink
        self._wire = wire
        self._client = client
        self._fault: str | None = None
        self._failures = 0

    async def run(self) -> str | None:
        """Send everything that is pending, and return why something still is, or None."""
        after = 0
        # By number, not from the start: an entry that stays pending must not be tried for ever in one pass.
        while self._failures < _FAILURES and (entries := self._outbox.pending(self._sink, after, _READ)):
            after = entries[-1].number
            for batch in self._batches(await self._find_traces(self._sendable(entries))):
                await self._post(batch)
        return self._fault

    def _sendable(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries that the receiver can take, and reject the others."""
        reasons = [self._wire.why_not(entry.score) for entry in entries]
        pairs = list(zip(entries, reasons, strict=True))
        self._outbox.end(End(entry, "rejected", reason) for entry, reason in pairs if reason is not None)
        return [entry for entry, reason in pairs if reason is None]

    async def _find_traces(self, entries: list[Entry]) -> list[Entry]:
        """Find the traces of scores that name only a session; where that fails they keep the session."""
        # Each session is looked up once, however many scores name it.
        sessions = {entry.score.session_id: None for entry in entries if entry.score.trace_id is None}
        found = await self._traces([session for session in sessions if session is not None])
        placed = []
        for entry in entries:
            score = entry.score
            trace = found.get(score.session_id or "") if score.trace_id is None else None
            placed.append(replace(entry, score=replace(score, trace_id=trace)) if trace else entry)
        return placed

    async def _traces(self, sessions: Sequence[str]) -> dict[str, str]:
        """Ask for a few sessions at a time; once that fails, for no more."""
        found: dict[str, str] = {}
        for at in range(0, len(sessions), _AT_ONCE):
            part = sessions[at : at + _AT_ONCE]
            results = await asyncio.gather(*map(self._trace, part), return_exceptions=True)
            errors = [one for one in results if isinstance(one, BaseException)]
            for error in errors:
                # A receiver that cannot list traces can still take scores; a broken outbox ends the delivery.
                if isinstance(error, OutboxError) or not isinstance(error, AdjudgeError):
                    raise error
            found |= {session: one for session, one in zip(part, results, strict=True) if isinstance(one, str)}
            if errors:
                break
        return found

    async def _trace(self, session: str) -> str | None:
        # What the receiver said once is kept: every attempt must send a score to the same place.
        known, trace = self._outbox.trace_of(self._sink, session)
        if not known:
            known, trace = await self._wire.trace_of(self._client, session)
            if known:
                self._outbox.keep_trace(self._sink, session, trace)
        return trace

    def _batches(self, entries: Iterable[Entry]) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        size = 0
        for entry in entries:
            # Asked again for every entry: a wire finds out only from its first reply how many it may send.
            if batch and (len(batch) >= self._wire.most or size + entry.size > self._wire.most_bytes):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += entry.size
        if batch:
            yield batch

    async def _post(self, batch: list[Entry]) -> None:
        if self._failures >= _FAILURES:
            return
        try:
            reasons = await self._wire.post(self._client, [entry.score for entry in batch])
        except BatchRefused as refusal:
            self._failures = 0
            if len(batch) == 1:
                self._mark(batch, [refusal.reason])
                return
            # The receiver does not say which score it refuses: halve the batch until that one is alone.
            half = len(batch) // 2
            await self._post(batch[:half])
            await self._post(batch[half:])
        # An outbox that cannot be written is not a fault of the receiver.
        except OutboxError:
            raise
        except AdjudgeError as error:
            self._fault = error.reason
            # A server that fails on one batch may take the next; one that is down, or wants another key, will not.
            fails_here = isinstance(error, BadStatus) and error.status >= 500
            self._failures = self._failures + 1 if fails_here else _FAILURES
        else:
            self._failures = 0
            self._mark(batch, reasons)

    def _mark(self, batch: Sequence[Entry], reasons: Sequence[str | None]) -> None:
        ends = []
        for entry, reason in zip(batch, reasons, strict=True):
            # What is not ready has no end: the next delivery tries it again.
            if isinstance(reason, Unready):
                self._fault = reason
            else:
                ends.append(End(entry, "delivered" if reason is None else "rejected", reason))
        self._outbox.end(ends)
