"""Where the engine's work comes from: cases go into the run file as they are read, and come out unit by unit.

Reading runs ahead of the work. When it is complete the run file holds every case, and the file that they were read from
is not needed any more.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice

from adjudge.calling import in_thread
from adjudge.datasets import RepeatFinder, sort_ids
from adjudge.errors import Caught, DataError, RunError
from adjudge.model import ChatReply
from adjudge.runs._cases import CaseRead, number_of
from adjudge.runs._journal import Journal
from adjudge.runs._records import COMPLETE, CaseRecord, TrajectoryRecord, Write, write_case, write_meta
from adjudge.runs._score_file import refuse_torn
from adjudge.runs._store import Checkpoint, Store

PAGE = 256  # cases read at once


class Source:
    """The cases of one run, in order; `take` gives each unit to one worker."""

    def __init__(
        self,
        journal: Journal,
        checkpoint: Checkpoint,
        *,
        unit_column: str | None,
        in_pages: bool = False,
        has_canaries: bool = False,
    ) -> None:
        self.count = checkpoint.total or 0  # cases that have been read
        self.complete = checkpoint.total is not None
        self.begun = checkpoint.begun
        self._stored = checkpoint.cases  # cases in the file when the session began
        self._journal = journal
        self._unit_column = unit_column
        self._in_pages = in_pages and unit_column is None  # cases that wait for nothing are scored a page at a time
        self._has_canaries = has_canaries
        self._after = -1  # the last case that came out of the file
        self._swept = -1  # the last case whose canary has been taken
        self._open: list[CaseRecord] = []  # the unit that may have more cases
        self._units: deque[list[CaseRecord]] = deque()
        self._taking = asyncio.Lock()
        self._more = asyncio.Event()
        self._closed = False
        self._order: Iterator[Sequence[int]] | None = None  # units in an order of their own, by their cases' numbers
        self._ordered: deque[tuple[int, list[CaseRecord]]] = deque()  # the next ones, each with where it ends there
        self._end = 0  # where the last of them ends
        self._looked_at = 0  # cases, from the beginning of that order, that are done with
        self._most_ahead = 0  # cases that may be given out beyond them

    def close(self) -> None:
        """Give out no more work."""
        self._closed = True
        self._more.set()

    async def read(self, cases: Iterator[CaseRead] | None, *, check_groups: bool) -> None:
        """Put cases into the file; those that it has already must be the same ones, in the same order."""
        has_all, self.count = self.complete, 0
        try:
            if cases is None:
                raise RunError("the run was stopped before all its cases were read: give them again", code="no-cases")
            with ExitStack() as stack:
                groups = stack.enter_context(RepeatFinder()) if check_groups else None
                await self._read(cases, groups)
                if groups is not None:
                    refuse_torn(groups)
            if self.count < self._stored:
                raise _mismatch(f"only {self.count} of the {self._stored} cases that the run began with are given")
            if not has_all:
                await self._journal.commit(write_meta(COMPLETE, self.count))
                self.complete = True
        finally:
            self._more.set()

    async def _read(self, cases: Iterator[CaseRead], groups: RepeatFinder | None) -> None:
        """Put cases into the file, a page at a time, and note where each group begins."""
        unit, current = 0, None
        while True:
            # Whatever iterable the caller gave may raise and may block, so it runs in a thread; one of its own, because
            # a run that is stopped does not wait until a pipe has more to say.
            with Caught() as caught:
                page: list[CaseRead] = await in_thread(list, islice(cases, PAGE))
            if caught.reason is not None:
                raise DataError(f"the cases cannot be read: {caught.reason}", code="bad-cases")
            if not page:
                return
            records: list[CaseRecord] = []
            canaries: list[CaseRecord] = []
            for read in page:
                seq = self.count + len(records)
                # Neighbours with the same value in the unit column are one unit; a case without one is a unit alone.
                value = None if read.row is None or self._unit_column is None else read.row.get(self._unit_column)
                name = None if value is None else repr(value)
                if name is None or name != current:
                    unit, current = seq, name
                    if groups is not None and name is not None:
                        groups.add(sort_ids([(name, seq + 1)]))
                records.append(CaseRecord(seq, unit, read.id, read.row, read.fault))
                if read.canary is not None and seq >= self._stored:
                    number = number_of(seq)
                    canaries.append(CaseRecord(number, number, read.canary["id"], read.canary))
            await self._write([write_case(record) for record in records], canaries)
            self.count += len(records)
            self._more.set()

    async def _write(self, writes: Sequence[Write], canaries: Sequence[CaseRecord]) -> None:
        """Write the next cases; an earlier session wrote the first ones, whose checksums are compared instead."""
        known = max(0, min(self._stored - self.count, len(writes)))
        if known:
            sums = await self._journal.read(Store.case_sums, self.count, self.count + known - 1)
            for index, (stored, (_, values)) in enumerate(zip(sums, writes, strict=False)):
                if stored != values[-1]:
                    raise _mismatch(f"case {self.count + index + 1} is not the one that the run began with")
        if known < len(writes):
            if self.complete:
                raise _mismatch(f"these are more than the {self._stored} cases that the run began with")
            await self._journal.commit(*writes[known:], *map(write_case, canaries))

    async def take(self) -> list[CaseRecord] | None:
        """Return the next unit without scores; None when no unit is left."""
        async with self._taking:
            if self._order is not None:
                return await self._take_in_order(self._order)
            while not self._units and not self._closed:
                # In this order: cases that are written after the look at `complete` set `more` again.
                self._more.clear()
                complete = self.complete
                page = await self._journal.read(Store.pending, self._after, PAGE)
                if self._has_canaries and (page or complete):
                    await self._sweep(page[-1].seq if page else self.count - 1)
                for case in page:
                    self._after = case.seq
                    if self._open and self._open[0].unit != case.unit and not self._in_pages:
                        self._units.append(self._open)
                        self._open = []
                    self._open.append(case)
                # Without a unit column the end of a page ends the unit; else only the next unit, or the end, does.
                if page and self._unit_column is None:
                    self._units.append(self._open)
                    self._open = []
                elif not page and complete:
                    if self._open:
                        self._units.append(self._open)
                        self._open = []
                    elif not self._units:
                        return None
                elif not page:
                    await self._more.wait()
            return None if self._closed else self._units.popleft()

    async def _sweep(self, last: int) -> None:
        """Take the canaries of the cases up to the last one; each is a unit of its own."""
        swept, self._swept = self._swept, last
        first = number_of(last)
        open_ = await self._journal.read(Store.open_canaries, first, number_of(swept + 1))
        self._units.extend([case] for case in open_)

    def put_in_order(self, units: Iterable[Sequence[int]], *, most_ahead: int) -> None:
        """Give out units, by the numbers of their cases, in this order; all cases have been read.

        No more than so many cases are given out beyond those that `advance` says are done with.
        """
        self._order, self._most_ahead = iter(units), most_ahead

    def advance(self, looked_at: int) -> None:
        """Note how many cases, from the beginning of the order, are done with."""
        self._looked_at = looked_at
        self._more.set()

    async def _take_in_order(self, order: Iterator[Sequence[int]]) -> list[CaseRecord] | None:
        while not self._closed:
            if not self._ordered:
                units = list(islice(order, PAGE))
                if not units:
                    return None
                for unit, cases in zip(units, await self._journal.read(Store.open_units, units), strict=True):
                    self._end += len(unit)
                    if cases:
                        self._ordered.append((self._end, cases))
            elif self._ordered[0][0] <= self._looked_at + self._most_ahead:
                return self._ordered.popleft()[1]
            else:
                self._more.clear()
                await self._more.wait()
        return None

    async def known(self, seq: int) -> Mapping[bytes, ChatReply]:
        """Return the replies that one of the cases in `begun` got before the run was interrupted."""
        return await self._journal.read(Store.replies, seq)

    async def trajectory(self, seq: int) -> TrajectoryRecord | None:
        """Return what the agent did for a case before the run was interrupted."""
        if not self._stored:
            return None
        found = await self._journal.read(Store.trajectories, seq, seq)
        return found.get(seq)


def _mismatch(what: str) -> RunError:
    advice = "name another run file, or score what the run holds again with adjudge rescore"
    return RunError(f"{what}: {advice}", code="run-mismatch")
