"""A run whose cases others work on: shards go out, segments come back, and this file is the truth.

    cases ──> waiting ──(a member is free)──> out ──(segments)──> scored
                 ^                             │
                 └──(the member died, or its budget was spent)──┘

Whoever dies loses nothing that was shipped. What its disk still holds is read there; the rest of its cases go to
others.
Budgets are lent in parts that together never exceed what is left, and so are the places in flight.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Protocol

from adjudge.errors import AdjudgeError, ProcessError, RunError, RunStopped
from adjudge.runs._ask import Asker
from adjudge.runs._copy import raw_records
from adjudge.runs._plan import Plan
from adjudge.runs._records import RUN_ID, CaseRecord, Write
from adjudge.runs._shards import Segment, Shard, Spent
from adjudge.runs._store import Store

if TYPE_CHECKING:
    from adjudge.runs._engine import Progress
    from adjudge.runs._source import Source

CASES = 256  # of a shard, about
NUMBERS = 1 << 24  # that requests of a shard may have
LEAST = 64  # calls that are lent at least, where there are as many
MOST_LOST = 20  # members that die one after another, without a scored case in between
BUDGETS = ("max_calls", "max_tokens", "max_cost")


class MemberLost(ProcessError):
    """A member of the fleet died, or its machine did."""

    default_code = "member-lost"


class Fleet(Protocol):
    """Others who work on shards, numbered from 0; a member that died is replaced by whoever it is asked of next."""

    size: int

    def work(self, member: int, shard: Shard) -> AsyncIterator[Segment]:
        """Run a shard and give its segments; `MemberLost` where the member died."""
        ...

    async def recover(self, member: int, shard: Shard) -> Segment | None:
        """Return what a member that died has left on its disk; None where nobody can read that any more."""
        ...

    async def forget(self, member: int, shard: Shard) -> None:
        """Remove what is left of a shard whose records are safe; never raises."""
        ...


class Dispatcher:
    """Works through the cases of one run by a fleet, in the place of an `Engine`."""

    def __init__(self, fleet: Fleet, plan: Plan, source: "Source", asker: Asker, *, secret: bytes | None) -> None:
        from adjudge.runs._engine import Progress

        self.progress: Progress = Progress()
        self.failure: AdjudgeError | None = None
        self.stopper = None
        self._fleet = fleet
        self._plan = plan
        self._source = source
        self._journal = asker.journal
        self._budget = asker.budget
        # All members need the same one: a question that went out twice must be the same request.
        self._secret = secret or token_bytes(32)
        # More members than places in flight would have nothing to do.
        self._members = min(fleet.size, self._budget.config.workers)
        self._last_number = asker.last_number
        self._last_shard = 0
        self._waiting: deque[list[CaseRecord]] = deque()  # units that came back
        self._is_read = False  # whether the source has no more
        self._lent: dict[int, dict[str, Any]] = {}  # by shard
        self._whole: set[int] = set()  # shards that were lent all that was left
        self._booked: dict[int, Spent] = {}
        self._is_tight = False  # whether some shard has had too little: then one at a time gets all that is left
        self._lost = 0
        self._stop = asyncio.Event()
        self._turn = asyncio.Condition()
        asker.on_stop = self.stop

    def stop(self, error: AdjudgeError) -> None:
        """Send nothing out any more; `run` then raises the error."""
        self.failure = self.failure or error
        self._source.close()
        self._stop.set()

    async def run(self) -> None:
        """Work until every case has its scores; a stopped run raises the error that stopped it."""
        members = [asyncio.create_task(self._member(number)) for number in range(self._members)]
        stopped: asyncio.Task[Any] = asyncio.create_task(self._stop.wait())
        try:
            left: set[asyncio.Task[Any]] = {*members}
            while left and not stopped.done():
                done, waiting = await asyncio.wait({*left, stopped}, return_when=asyncio.FIRST_COMPLETED)
                for task in done - {stopped}:
                    task.result()  # raises what a member's task raised
                left = waiting - {stopped}
        finally:
            # A member that is left in the middle is asked for what it holds, as one that died.
            for task in (*members, stopped):
                task.cancel()
            await asyncio.gather(*members, stopped, return_exceptions=True)
        if self.failure is not None:
            raise self.failure

    def measure(self) -> "Progress":
        """Return the progress so far."""
        progress, budget = self.progress, self._budget
        progress.in_flight = len(self._lent)
        progress.calls, progress.tokens, progress.cost = budget.calls, budget.tokens, budget.cost
        return progress

    async def _member(self, number: int) -> None:
        """Give one member shard after shard."""
        while not self._stop.is_set():
            found = await self._next_units()
            if found is None:
                return
            shard_number, units = found
            done: dict[int, str] = {}
            try:
                shard = await self._shard(shard_number, units)
                await self._follow(number, shard, done)
            except RunError as error:  # this run file cannot be written
                self.stop(error)
                raise
            finally:
                await self._settle(shard_number, units, done)

    async def _follow(self, member: int, shard: Shard, done: dict[int, str]) -> None:
        """Take the segments of a shard as they come; from a disk, where its member is gone."""
        cancelled: asyncio.CancelledError | None = None
        try:
            async for segment in self._fleet.work(member, shard):
                await self._book(shard, segment, done)
            self._lost = 0
        except asyncio.CancelledError as error:
            cancelled = error
            await self._rescue(member, shard, done)
        except MemberLost as error:
            await self._rescue(member, shard, done)
            self._lost = 0 if done else self._lost + 1
            if self._lost >= MOST_LOST:
                message = f"{self._lost} members died one after another without scoring a row"
                self.stop(RunStopped(f"{message}; the last: {error.message}", code=MemberLost.default_code))
        await self._fleet.forget(member, shard)
        if cancelled is not None:
            raise cancelled

    async def _rescue(self, member: int, shard: Shard, done: dict[int, str]) -> None:
        """Take what a member that is gone, or is not waited for, has left on its disk."""
        left = await self._fleet.recover(member, shard)
        if left is not None:
            await self._book(shard, left, done)
        else:
            # Nobody knows what it has spent: budgets are hard, so all that it was lent counts.
            self._spend(shard, [self._lent[shard.number].get(name, 0) for name in BUDGETS])

    async def _book(self, shard: Shard, segment: Segment, done: dict[int, str]) -> None:
        """Write what a member did, and count it."""
        if segment.is_last:
            await self._journal.commit(*segment.writes)  # only then may its own file be forgotten
        else:
            self._journal.put(*segment.writes)
        new = {seq: end for seq, end in segment.done.items() if seq not in done}
        done.update(new)
        for seq, end in new.items():
            if seq >= 0:  # a canary does not count as a row
                self.progress.counts[end] += 1
                self.progress.done += 1
        self._spend(shard, segment.spent)
        if segment.stopped is not None:
            self._hear(shard, *segment.stopped)

    def _hear(self, shard: Shard, message: str, code: str) -> None:
        """Take note of why a shard ended before its last case."""
        if code != "budget-spent":
            self.stop(RunError(message, code=code) if code == "run-mismatch" else RunStopped(message, code=code))
        elif shard.number in self._whole:
            self.stop(RunStopped(message, code=code))
        self._is_tight = True

    def _spend(self, shard: Shard, spent: Sequence[float]) -> None:
        """Book what a shard has spent in all."""
        before = self._booked.get(shard.number, (0, 0, 0.0))
        # After a loss less may be known than was booked: what was booked stays.
        now = (max(int(spent[0]), before[0]), max(int(spent[1]), before[1]), max(float(spent[2]), before[2]))
        self._budget.calls += now[0] - before[0]
        self._budget.tokens += now[1] - before[1]
        self._budget.cost += now[2] - before[2]
        self._booked[shard.number] = now

    async def _settle(self, number: int, units: Sequence[list[CaseRecord]], done: dict[int, str]) -> None:
        """Take back what was lent, and the units that are not done."""
        async with self._turn:
            self._lent.pop(number, None)
            self._booked.pop(number, None)
            self._waiting.extend(unit for unit in units if any(case.seq not in done for case in unit))
            self._turn.notify_all()

    async def _next_units(self) -> tuple[int, list[list[CaseRecord]]] | None:
        """Return units for one shard, with its number: those that came back, or new ones; None when all are done."""
        async with self._turn:
            while True:
                units: list[list[CaseRecord]] = []
                count = 0
                while count < CASES and (unit := await self._next_unit()) is not None:
                    units.append(unit)
                    count += len(unit)
                if units:
                    self._last_shard += 1
                    self._lent[self._last_shard] = {}
                    return self._last_shard, units
                if not self._lent or self._stop.is_set():
                    return None
                await self._turn.wait()  # a shard that is out may come back

    async def _next_unit(self) -> list[CaseRecord] | None:
        if self._waiting:
            return self._waiting.popleft()
        unit = None if self._is_read else await self._source.take()
        self._is_read = unit is None
        return unit

    async def _shard(self, number: int, units: Sequence[list[CaseRecord]]) -> Shard:
        """Make a shard of units, with a part of the budgets and the replies that are known."""
        cases = tuple(case for unit in units for case in unit)
        limits = await self._lend(number)
        first_number = self._last_number
        self._last_number += NUMBERS
        return Shard(
            run_id=str(await self._journal.read(Store.meta, RUN_ID)),
            number=number,
            cases=cases,
            plan=self._plan,
            first_number=first_number,
            known=tuple(await self._journal.read(_known, [case.seq for case in cases])),
            limits={**limits, "workers": max(1, self._budget.config.workers // self._members)},
            secret=self._secret,
        )

    async def _lend(self, number: int) -> dict[str, Any]:
        """Lend a shard a part of each budget; all parts together never exceed what is left."""
        config, budget = self._budget.config, self._budget
        async with self._turn:
            while self._is_tight and any(lent for other, lent in self._lent.items() if other != number):
                await self._turn.wait()
            lent: dict[str, Any] = {}
            for place, (name, spent) in enumerate(
                zip(BUDGETS, (budget.calls, budget.tokens, budget.cost), strict=True)
            ):
                limit = getattr(config, name)
                if limit is None:
                    continue
                out = sum(
                    max(0, other[name] - self._booked.get(shard, (0, 0, 0.0))[place])
                    for shard, other in self._lent.items()
                    if name in other
                )
                left = max(0, limit - spent - out)
                part = left / (2 * self._members)
                if name == "max_calls":
                    part = max(part, LEAST)
                lent[name] = left if self._is_tight else min(left, part if name == "max_cost" else int(part))
            self._lent[number] = lent
            if self._is_tight:
                self._whole.add(number)
        return lent


def _known(store: Store, seqs: Sequence[int]) -> list[Write]:
    return list(raw_records(store, seqs))
