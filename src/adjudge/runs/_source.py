"""Where the engine's work comes from: cases go into the run file as they are read, and come out unit by unit.

Reading runs ahead of the work; when it is complete the file holds everything, and what the cases were read from is no
longer needed.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice

from adjudge.datasets import RepeatFinder, sort_ids
from adjudge.errors import Caught, DataError, RunError
from adjudge.model import ChatReply
from adjudge.runs._cases import CaseRead, number_of
from adjudge.runs._journal import Journal
from adjudge.runs._records import CaseRecord, TrajectoryRecord, write_case, write_meta
from adjudge.runs._score_file import refuse_torn
from adjudge.runs._store import Store

PAGE = 256  # cases read at once
COMPLETE = "complete"


class Source:
    """The cases of one run, in order; `take` gives each unit to one worker."""

    def __init__(
        self, journal: Journal, *, unit_column: str | None, begun: set[int], resumed: bool, in_pages: bool = False
    ) -> None:
        self.count = 0  # cases in the file
        self.complete = False
        self._journal = journal
        self._unit_column = unit_column
        self._in_pages = in_pages and unit_column is None  # whether cases that need nobody are worked on by the page
        self._begun = begun
        self._resumed = resumed
        self._after = -1
        self.has_canaries = False
        self._swept = -1  # the last case whose canary has been taken
        self._open: list[CaseRecord] = []  # the unit whose end has not been seen yet
        self._units: deque[list[CaseRecord]] = deque()
        self._taking = asyncio.Lock()
        self._more = asyncio.Event()
        self._closed = False

    def close(self) -> None:
        """Give out no more work."""
        self._closed = True
        self._more.set()

    async def read(self, cases: Iterator[CaseRead] | None, *, check_groups: bool) -> None:
        """Put cases into the file; those that are there already must be the same ones."""
        try:
            there = await self._journal.read(Store.count)
            if cases is None:
                raise RunError("the run was stopped before all its cases were read: give them again", code="no-cases")
            with ExitStack() as stack:
                groups = stack.enter_context(RepeatFinder()) if check_groups else None
                await self._read(cases, there, groups)
                if groups is not None:
                    refuse_torn(groups)
            await self._journal.commit(write_meta(COMPLETE, self.count))
            self.complete = True
        finally:
            self._more.set()

    async def _read(self, cases: Iterator[CaseRead], there: int, groups: RepeatFinder | None) -> None:
        unit, current = 0, None
        while True:
            with Caught() as caught:
                page = await asyncio.to_thread(list, islice(cases, PAGE))
            if caught.reason is not None:
                raise DataError(f"the cases cannot be read: {caught.reason}", code="bad-cases")
            if not page:
                return
            records: list[CaseRecord] = []
            canaries: list[CaseRecord] = []
            for read in page:
                seq = self.count + len(records)
                value = None if read.row is None or self._unit_column is None else read.row.get(self._unit_column)
                name = None if value is None else repr(value)
                if name is None or name != current:
                    unit, current = seq, name
                    if groups is not None and name is not None:
                        groups.add(sort_ids([(name, seq + 1)]))
                records.append(CaseRecord(seq, unit, read.id, read.row, read.fault))
                if read.canary is not None and seq >= there:
                    number = number_of(seq)
                    canaries.append(CaseRecord(number, number, read.canary["id"], read.canary))
            await self._write(records, there, canaries)
            self.count += len(records)
            self._more.set()

    async def _write(self, records: Sequence[CaseRecord], there: int, canaries: Sequence[CaseRecord]) -> None:
        writes = [write_case(record) for record in records]
        new = [write for write in writes if write[1][0] >= there]
        known = writes[: len(writes) - len(new)]
        if known:
            first, last = known[0][1][0], known[-1][1][0]
            sums = await self._journal.read(Store.case_sums, first, last)
            if sums != [write[1][3] for write in known]:
                message = "these are not the cases that the run began with: name another run file"
                raise RunError(message, code="run-mismatch")
        if new:
            await self._journal.commit(*new, *map(write_case, canaries))

    async def take(self) -> list[CaseRecord] | None:
        """Return the next unit without scores; None when there is none left."""
        async with self._taking:
            while not self._units and not self._closed:
                self._more.clear()
                complete = self.complete
                page = await self._journal.read(Store.pending, self._after, PAGE)
                if self.has_canaries and (page or complete):
                    await self._sweep(page[-1].seq if page else self.count - 1)
                for case in page:
                    self._after = case.seq
                    if self._open and self._open[0].unit != case.unit and not self._in_pages:
                        self._units.append(self._open)
                        self._open = []
                    self._open.append(case)
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

    async def known(self, seq: int) -> Mapping[bytes, ChatReply]:
        """Return the replies that a case was given before the run was interrupted."""
        if seq not in self._begun:
            return {}
        return await self._journal.read(Store.replies, seq)

    async def trajectory(self, seq: int) -> TrajectoryRecord | None:
        """Return what the agent did for a case before the run was interrupted."""
        if not self._resumed:
            return None
        found = await self._journal.read(Store.trajectories, seq, seq)
        return found.get(seq)
