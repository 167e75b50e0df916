"""How a run asks models: within its budgets, each question once, every reply written down before it is used.

A request is answered, in this order, from the run file (a resumed run), by an equal request that is in flight, from
the cache, or by a call. Before a call the budgets are checked and the request is kept. After it the raw reply is kept
before its place in flight is free again (so at most as many calls as there are places can be paid twice), and it is on
disk before whoever asked may look at it.

Budgets are hard: a call that could exceed one is not made. Its cost is not known before it is made, so the most that it
can cost is set aside first, and its real cost is booked when it is known.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextvars import Token
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from adjudge.errors import AdjudgeError, Caught, RunStopped, UsageError
from adjudge.http import AttemptWatch, attempt_watch
from adjudge.model import Ask, ChatModel, ChatReply, ChatRequest
from adjudge.runs._cache import Cache, Entry, is_worth_keeping, request_key
from adjudge.runs._journal import Journal
from adjudge.runs._plan import RunConfig
from adjudge.runs._records import ReplyRecord, Source, encode, write_attempt, write_reply, write_request

REPLY_TOKENS = 1024  # set aside for a reply whose length the request does not bound
IMAGE_TOKENS = 3000  # set aside for an image: more than any common model counts for one
MESSAGE_TOKENS = 16  # what a message costs beside its text


@dataclass(frozen=True, slots=True)
class Reserve:
    """The tokens and dollars that are set aside for one call."""

    tokens: int
    cost: float


@dataclass(slots=True, eq=False)
class Budget:
    """What a run has spent, and what is set aside for its calls in flight (`held_...`)."""

    config: RunConfig
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    held_calls: int = 0
    held_tokens: int = 0
    held_cost: float = 0.0
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def reserve(self, request: ChatRequest | None) -> Reserve:
        """Set aside the most that one more call can cost; raise `RunStopped` where even that call alone is too much.

        Without a request only the number of calls is known.
        """
        config = self.config
        prompt, reply = 0, 0
        if request is not None and (config.max_tokens is not None or config.max_cost is not None):
            prompt, reply = most_tokens(request)
        reserve = Reserve(prompt + reply, 0.0 if config.price is None else self.price(prompt, reply, config.price))
        while (spent := self._spent_by(1, reserve.tokens, reserve.cost)) is not None:
            # Calls in flight mostly cost less than is set aside for them: wait for one before giving up.
            if not self.held_calls:
                raise RunStopped(f"the next call could exceed the budget of {spent}", code="budget-spent")
            self.settled.clear()
            await self.settled.wait()
        self.held_calls += 1
        self.held_tokens += reserve.tokens
        self.held_cost += reserve.cost
        return reserve

    def retry(self) -> None:
        """Book one more attempt of a call in flight, or raise `RunStopped`."""
        spent = self._spent_by(calls=1)
        if spent is not None:
            raise RunStopped(f"the next call could exceed the budget of {spent}", code="budget-spent")
        self.calls += 1

    def _spent_by(self, calls: int = 0, tokens: int = 0, cost: float = 0.0) -> str | None:
        """Say which budget so much more could exceed."""
        config = self.config
        if config.max_calls is not None and self.calls + self.held_calls + calls > config.max_calls:
            return f"{config.max_calls} calls"
        if config.max_tokens is not None and self.tokens + self.held_tokens + tokens > config.max_tokens:
            return f"{config.max_tokens} tokens"
        if config.max_cost is not None and self.cost + self.held_cost + cost > config.max_cost:
            return f"{config.max_cost:g} dollars"
        return None

    def settle(self, reserve: Reserve, reply: ChatReply | None, *, made: bool = True) -> float | None:
        """Free what was set aside for a call, book its reply, and return its cost in dollars, where it is known."""
        self.held_calls -= 1
        self.held_tokens -= reserve.tokens
        self.held_cost -= reserve.cost
        self.settled.set()
        self.calls += made
        return None if reply is None else self.book(reply.prompt_tokens or 0, reply.completion_tokens or 0)

    def book(self, prompt: int, completion: int) -> float | None:
        """Book tokens that the endpoint counted, whatever its reply was worth; return their cost, where it is known."""
        price = self.config.price
        cost = None if price is None else self.price(prompt, completion, price)
        self.tokens += prompt + completion
        self.cost += cost or 0.0
        return cost

    def price(self, prompt: int, completion: int, price: tuple[float, float]) -> float:
        """Return the cost of so many tokens in dollars, at that price for a million of each kind."""
        return (prompt * price[0] + completion * price[1]) / 1e6


def most_tokens(request: ChatRequest) -> tuple[int, int]:
    """Return the most tokens that a request and its reply can have: a token of text has at least one byte."""
    prompt = 0 if request.schema is None else len(encode(request.schema))
    for message in request.messages:
        prompt += len(message.text.encode("utf-8", "replace")) + MESSAGE_TOKENS
        # Whatever is not text counts as an image, the dearest kind of part.
        parts: Any = message.content if isinstance(message.content, list | tuple) else ()
        for part in parts:
            if not isinstance(part, Mapping) or part.get("type") != "text":
                prompt += IMAGE_TOKENS
    return prompt, request.max_tokens or REPLY_TOKENS


@dataclass(slots=True, eq=False)
class Row:
    """One row in progress: the replies that it got in an earlier session, its clock, and the error that stopped it.

    `attempts` counts its calls, `last` says how the last failed one failed. `entries` are the replies that the cache
    gets if the row is scored.
    """

    seq: int
    known: Mapping[bytes, ChatReply]
    clock: "Clock"
    stopped: AdjudgeError | None = None
    attempts: int = 0
    last: str | None = None
    entries: list[Entry] = field(default_factory=list)

    def tried(self) -> str:
        """Say what the row has tried, for the message that it is out of time."""
        if not self.attempts:
            return ""
        times = " and 1 attempt" if self.attempts == 1 else f" and {self.attempts} attempts"
        return times if self.last is None else f"{times}; the last: {self.last}"


@dataclass(slots=True, eq=False)
class Clock:
    """The time that a row itself has taken.

    Waiting for a free place, for a turn at the endpoint, for another row that asks the same, or for the disk does not
    count: `with clock:` pauses it, and pauses may overlap. `paused` is what they took. The engine looks at all clocks
    now and then, because a timer for every row would cost more than the row.
    """

    task: asyncio.Task[Any] | None = None
    expired: bool = False
    _began: float = field(default_factory=time.monotonic)
    paused: float = 0.0
    _since: float = 0.0
    _pauses: int = 0

    def __enter__(self) -> None:
        if not self._pauses:
            self._since = time.monotonic()
        self._pauses += 1

    def __exit__(self, *_: object) -> None:
        self._pauses -= 1
        if not self._pauses:
            self.paused += time.monotonic() - self._since

    def taken(self) -> float:
        """Return the seconds so far."""
        return (self._since if self._pauses else time.monotonic()) - self._began - self.paused


@dataclass(slots=True, eq=False)
class CallInFlight:
    """One call: `async with CallInFlight(...) as call:` makes room for it within the budgets, and writes it down.

    Whoever makes the call fills in its reply or its fault. Without a request it is a call of an agent that has its own
    client. `keep` says whether the reply may go to the cache. As an `AttemptWatch` it counts the call's attempts
    against the budget and its row, and keeps why they failed.
    """

    asker: "Asker"
    row: Row
    key: bytes
    body: bytes
    request: ChatRequest | None = None
    keep: bool = False
    number: int = 0
    attempts: int = 1
    wasted: tuple[int, int] = (0, 0)  # prompt and completion tokens of attempts that were worth nothing
    lost: float = 0.0  # what they cost
    has_begun: bool = False
    began: float = 0.0  # the attempt that is in progress
    reply: ChatReply | None = None
    fault: str | None = "cancelled: the call was given up"  # unless it comes to its end
    error: BaseException | None = None
    written: asyncio.Future[None] | None = None  # done when the reply is on disk
    _reserve: Reserve = Reserve(0, 0.0)
    _started: float = 0.0
    _token: "Token[AttemptWatch | None] | None" = None

    async def __aenter__(self) -> Self:
        asker, row = self.asker, self.row
        if asker.stopping is not None:
            asker.refuse(row, asker.stopping)
        with row.clock:
            try:
                self._reserve = await asker.budget.reserve(self.request)
            except RunStopped as error:
                asker.stop(row, error)
                raise
            await asker.places.acquire()
        asker.in_flight += 1
        try:
            if asker.stopping is not None:  # while the row waited
                asker.refuse(row, asker.stopping)
            asker.last_number += 1
            self.number = asker.last_number
            request = write_request(self.number, row.seq, self.key, time.time(), self.body)
            asker.journal.keep(request, is_awaited=False)
        except AdjudgeError:
            asker.in_flight -= 1
            asker.places.release()
            raise
        self._started = self.began = time.monotonic()
        self._token = attempt_watch.set(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        asker, reply = self.asker, self.reply
        try:
            if self._token is not None:
                attempt_watch.reset(self._token)
            # A client that knows that its endpoint takes no schemas fails without calling anybody.
            made = self.has_begun or getattr(self.error, "code", None) != "schema-unsupported"
            # Where the endpoint does not say what a reply cost, it counts as the most that was set aside for it.
            if reply is not None and reply.prompt_tokens is None and reply.completion_tokens is None:
                self.wasted = (self.wasted[0] + self._reserve.tokens, self.wasted[1])
                self.lost += self._reserve.cost
                asker.budget.tokens += self._reserve.tokens
                asker.budget.cost += self._reserve.cost
            cost = asker.budget.settle(self._reserve, reply, made=made)
            if self.lost:
                cost = self.lost + (cost or 0.0)
            seconds, attempts = time.monotonic() - self._started, self.attempts if made else 0
            source: Source = "agent" if self.request is None else "call"
            record = ReplyRecord(reply, self.fault, source, seconds, attempts, cost, self.wasted)
            if reply is None:
                if asker.journal.fault is None:
                    asker.journal.put(write_reply(self.number, record, key=self.key))
                return
            # Before the place is free: at most `workers` replies can be lost to a kill.
            raw = encode(reply)
            self.written = asker.journal.keep(write_reply(self.number, record, raw, key=self.key))
            if self.keep and asker.cache is not None and is_worth_keeping(reply):
                self.row.entries.append((self.key, raw))
        finally:
            asker.in_flight -= 1
            asker.places.release()

    def waiting(self) -> Clock:
        """Return the context in which the row's clock is paused."""
        return self.row.clock

    def begin(self, attempt: int) -> None:
        """Book an attempt; the first one is booked already."""
        self.has_begun = True
        self.row.attempts += 1
        if attempt > 1:
            self.asker.budget.retry()
            self.attempts += 1
        self.began = time.monotonic()

    def failed(self, attempt: int, error: AdjudgeError) -> None:
        """Keep why an attempt failed."""
        seconds = time.monotonic() - self.began
        self.row.last = error.reason
        # Endpoints charge for replies that are worth nothing, too.
        usage = getattr(error, "usage", None)
        prompt, completion = (self._reserve.tokens, 0) if usage == (0, 0) else usage or (0, 0)
        self.wasted = (self.wasted[0] + prompt, self.wasted[1] + completion)
        self.lost += self.asker.budget.book(prompt, completion) or 0.0
        self.asker.journal.put(write_attempt(self.number, attempt, seconds, error.reason))


@dataclass(slots=True, eq=False)
class Asker:
    """Asks models on behalf of the rows of one run."""

    journal: Journal
    budget: Budget
    cache: Cache | None
    places: asyncio.Semaphore  # as many calls as may be in flight
    last_number: int = 0  # the number of the last request in the file
    in_flight: int = 0
    stopping: AdjudgeError | None = None
    on_stop: Callable[[AdjudgeError], None] | None = None
    _shared: dict[bytes, asyncio.Future[tuple[ChatReply | None, AdjudgeError | None]]] = field(default_factory=dict)

    async def answer(
        self, row: Row, chats: Mapping[str, ChatModel], request: ChatRequest, *, is_agent: bool = False
    ) -> ChatReply:
        """Answer a request of a row to one of these models: from the file, with another row, from the cache, by a call.

        An agent's answers are samples: they are neither shared with other rows nor taken from other runs.
        """
        chat = chats.get(request.model)
        if chat is None:
            raise UsageError(f"there is no client for the model {request.model!r}", code="unknown-model")
        body = encode(request)
        key = request_key(chat, body)
        # A resumed run: what an earlier session paid for is not asked again.
        known = row.known.get(key)
        if known is not None:
            return known
        if is_agent:
            return await self._call(row, request, body, key, chat.complete, keep=False)
        # Another row may be asking the same: its reply is ours, and its failure, too.
        while (shared := self._shared.get(key)) is not None:
            with row.clock:  # the row that asks has a clock of its own
                reply, error = await asyncio.shield(shared)
            if error is not None:
                row.stopped = self.stopping
                raise error
            if reply is not None:  # else that row was cancelled, and one of the others has to ask
                self._write_both(row, body, key, ReplyRecord(reply, source="shared"))
                return reply
        cached = None if self.cache is None else self.cache.find(key)
        if cached is not None:
            self._write_both(row, body, key, ReplyRecord(cached, source="cache"))
            return cached
        # From here on rows that ask the same wait for this one.
        future = asyncio.get_running_loop().create_future()
        self._shared[key] = future
        try:
            reply = await self._call(row, request, body, key, chat.complete)
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
        """Call the model; its reply is on disk when this returns."""
        async with CallInFlight(self, row, key, body, request, keep) as call:
            with Caught(fatal_too=True) as caught:
                call.reply = await transport(request)
            call.fault = caught.reason
            call.error = caught.error
        # The place is free for another call while this row waits for the disk.
        if call.written is not None:
            with row.clock:
                await call.written
            self.journal.check()
        if isinstance(call.error, AdjudgeError):
            if getattr(call.error, "fatal", False):
                self.stop(row, call.error)
            raise call.error
        if call.reply is None:
            raise AdjudgeError(f"the model failed: {call.fault}", code="model-failed")
        return call.reply

    def _write_both(self, row: Row, body: bytes, key: bytes, record: ReplyRecord) -> None:
        """Write a request together with its reply, which cost nothing."""
        self.last_number += 1
        number = self.last_number
        request = write_request(number, row.seq, key, time.time(), body)
        self.journal.put(request, write_reply(number, record, key=key))

    def refuse(self, row: Row, error: AdjudgeError) -> NoReturn:
        """Raise `RunStopped`: a run that is being stopped because of this error makes no more calls."""
        row.stopped = error
        raise RunStopped(f"no more calls are made: {error.reason}")

    def stop(self, row: Row, error: AdjudgeError) -> None:
        """Stop the run because of an error of this row."""
        row.stopped = error
        self.stopping = self.stopping or error
        if self.on_stop is not None:
            self.on_stop(error)
