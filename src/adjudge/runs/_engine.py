"""The engine: takes cases from the run file, works on many at once, and writes their scores into the file.

About twice as many rows are in progress as calls in flight, because a row that waits for the disk holds no place. Cases
come out of the file a page at a time, so memory does not grow with their number.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, Caught, RunStopped, UsageError
from adjudge.model import Message, Score, asking, gathering
from adjudge.runs._agent import AgentCalls
from adjudge.runs._ask import Asker, Clock, Row
from adjudge.runs._cases import answered
from adjudge.runs._plan import Job
from adjudge.runs._records import CaseRecord, Write, write_scores

if TYPE_CHECKING:
    from adjudge.model import Judge, Judgement, Status
    from adjudge.runs._cache import Entry
    from adjudge.runs._source import Source
    from adjudge.runs._stopping import Stopper

ENOUGH = 64  # rows that a judge is given at once, where they come one by one
PATIENCE = 1.0  # seconds that rows wait for others to be judged together with
SPARE = 32  # rows that may wait for the disk, however few workers there are
GRACE = 2.0  # seconds that calls in flight get when a run is stopped


@dataclass(slots=True)
class Progress:
    """How far a run is, while it runs."""

    total: int | None = None
    done: int = 0
    in_flight: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(slots=True, eq=False)
class Gathering:
    """Rows of many workers that wait for a judge which takes many at once.

    They are judged together when there are enough, when every worker waits here, or when the first has waited long.
    """

    expected: int = 0  # workers that may still bring rows
    _batches: dict[int, _Batch] = field(default_factory=dict)  # those that gather, by the id of their judge
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _warm: set[int] = field(default_factory=set)  # judges that have loaded their models

    def leave(self) -> None:
        """Expect one worker less; if all the others wait here, judge their rows now."""
        self.expected -= 1
        if self.expected <= 0:
            for batch in list(self._batches.values()):
                self._judge_now(batch)

    async def judge(self, clock: Clock, judge: Judge, rows: Sequence[Mapping[str, Any]]) -> Sequence[Judgement]:
        """Judge rows together with those of others; an error of the judge is raised for all.

        Waiting for others is not the row's own time, being judged is.
        """
        batch = self._batches.get(id(judge))
        if batch is None:
            batch = self._batches[id(judge)] = _Batch(judge)
            asyncio.get_running_loop().call_later(PATIENCE, self._judge_now, batch)
        first = len(batch.rows)
        batch.rows.extend(rows)
        if len(batch.rows) >= ENOUGH:
            self._judge_now(batch)
        batch.waiting += 1
        self.leave()  # a worker that waits here brings no more rows until it has its judgements
        try:
            with clock:
                await batch.has_begun.wait()
            return (await asyncio.shield(batch.judgements))[first : first + len(rows)]
        finally:
            if not batch.judgements.done():  # cancelled: whoever is judged is expected again by the batch itself
                batch.waiting -= 1
                self.expected += 1

    def _judge_now(self, batch: _Batch) -> None:
        """Judge the rows that have gathered, unless they have been judged."""
        if self._batches.get(id(batch.judge)) is batch:
            del self._batches[id(batch.judge)]
            self._tasks.add(task := asyncio.create_task(self._run(batch)))
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: _Batch) -> None:
        """Ask the judge once, and expect everybody again before anybody can come back with the next row."""
        with Caught(fatal_too=True) as caught:
            # Loading a model is nobody's time.
            load = getattr(batch.judge, "warm_up", None)
            if callable(load) and id(batch.judge) not in self._warm:
                await asyncio.to_thread(load)
                self._warm.add(id(batch.judge))
            batch.has_begun.set()
            found = await batch.judge.ajudge_many(batch.rows)
            if len(found) != len(batch.rows):
                raise UsageError(f"{batch.judge.name} gave {len(found)} judgements for {len(batch.rows)} rows")
        batch.has_begun.set()
        self.expected += batch.waiting
        if caught.reason is None:
            batch.judgements.set_result(found)
            return
        # A future cannot hold every exception; ours may be fatal, and stay what they are.
        error = caught.error if isinstance(caught.error, AdjudgeError) else RuntimeError(caught.reason)
        batch.judgements.set_exception(error)
        batch.judgements.exception()  # marks it as seen: all who waited may have been cancelled


class _Batch:
    """Rows that are judged together."""

    def __init__(self, judge: Judge) -> None:
        self.judge: Any = judge
        self.rows: list[Mapping[str, Any]] = []
        self.waiting = 0  # workers that wait for it
        self.has_begun = asyncio.Event()
        self.judgements: asyncio.Future[Sequence[Judgement]] = asyncio.get_running_loop().create_future()


class Engine:
    """Works through the cases of one run."""

    def __init__(self, job: Job, source: Source, asker: Asker, *, workers: int, deadline: float) -> None:
        self.job = job
        self.asker = asker
        self.journal = asker.journal
        self.progress = Progress()
        self._source = source
        self._deadline = deadline
        # More rows than calls: those that wait for the disk hold no place. An agent that answers units together gets as
        # many as it asks for, so that its batches are always the same.
        room = workers if job.has_own_means else 2 * workers + SPARE
        self._room = getattr(job.agent, "together", None) or room
        self._stop = asyncio.Event()
        self._clocks: dict[Clock, float] = {}  # clocks of the rows in progress, with the seconds that each row has
        self.failure: AdjudgeError | None = None
        self._agent = None if job.agent is None else AgentCalls(job.agent, asker, source, self._clocks, deadline)
        self._gathering = Gathering()
        self.stopper: Stopper | None = None  # of a run that may end before all its cases are needed
        self._batches = any(hasattr(judge, "ajudge_many") for judge in job.judges)  # whether anybody takes many rows
        asker.on_stop = self.stop

    def stop(self, error: AdjudgeError) -> None:
        """Take no more work and let the calls in flight end; `run` then raises the error."""
        self.failure = self.failure or error
        self.asker.stopping = self.failure
        self._source.close()
        self._stop.set()

    async def run(self) -> None:
        """Work until every case has its scores; a stopped run raises the error that stopped it."""
        tasks = {asyncio.create_task(self._work()) for _ in range(self._room)}
        stopped: asyncio.Task[Any] = asyncio.create_task(self._stop.wait())
        clocks = asyncio.create_task(self._keep_time())
        try:
            # Until all workers are done, or somebody stops the run; then what is in flight gets a little more time.
            left: set[asyncio.Task[Any]] = {*tasks}
            while left and not stopped.done():
                _, waiting = await asyncio.wait({*left, stopped}, return_when=asyncio.FIRST_COMPLETED)
                left = waiting - {stopped}
            if left:
                await asyncio.wait(left, timeout=GRACE)
        finally:
            for task in (*tasks, stopped, clocks):
                task.cancel()
            results = await asyncio.gather(*tasks, stopped, clocks, return_exceptions=True)
        if self.failure is not None:
            raise self.failure
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def _keep_time(self) -> None:
        """Cancel rows that have taken too long."""
        tick = min(0.1, self._deadline / 10)
        while True:
            began = time.monotonic()
            await asyncio.sleep(tick)
            # While the loop stands still, because of an import or a busy machine, no row gets any further.
            lag = time.monotonic() - began - tick
            for clock, deadline in self._clocks.items():
                if lag > tick:
                    clock.paused += lag
                if not clock.expired and clock.task is not None and clock.taken() > deadline:
                    clock.expired = True
                    clock.task.cancel()

    async def _work(self) -> None:
        self._gathering.expected += 1
        try:
            while not self._stop.is_set():
                unit = await self._source.take()
                if unit is None:
                    return
                await self._unit(unit)
        except AdjudgeError as error:  # the run file cannot be read or written: no other row could be scored either
            self.stop(error)
            raise
        finally:
            self._gathering.leave()

    async def _unit(self, unit: Sequence[CaseRecord]) -> None:
        """Answer and score the cases of one unit; their scores are written together."""
        task = asyncio.current_task()
        clock = Clock(task)
        begun = self._source.begun
        rows = [Row(case.seq, await self._source.known(case.seq) if case.seq in begun else {}, clock) for case in unit]
        scores: list[list[Score] | None] = [None] * len(unit)
        self._clocks[clock] = self._deadline * len(unit)
        try:
            await self._fill(unit, rows, scores)
        except asyncio.CancelledError:
            if task is None or not clock.expired or task.uncancel():
                raise  # cancelled by somebody else, not by the clock
        except AdjudgeError as error:
            if not getattr(error, "fatal", False):
                raise
            rows[0].stopped = error
            self.stop(error)
        finally:
            del self._clocks[clock]
        if any(row.stopped is not None for row in rows):
            return  # the run is being stopped: the next session works on these cases
        # A case without scores by now is one that ran out of time.
        found = [
            self.job.failed(f"deadline: no score within {self._deadline:g} seconds{row.tried()}")
            if given is None
            else given
            for given, row in zip(scores, rows, strict=True)
        ]
        if unit[0].seq < 0:  # a canary does not count as a row
            self.journal.put(*write_scores(unit[0].seq, found[0][-1:], first=self.job.judged or 0))
            return
        # In one group: a unit that is killed in the middle is scored again as a whole. Other runs are spared only
        # replies that led to a score: what nobody could read may be better next time.
        writes: list[Write] = []
        entries: list[Entry] = []
        is_scored = True
        for case, row, given in zip(unit, rows, found, strict=True):
            writes += write_scores(case.seq, given)
            entries += row.entries
            statuses = [score.status for score in given]
            worst: Status = "error" if "error" in statuses else "unscored" if "unscored" in statuses else "scored"
            self.progress.counts[worst] += 1
            is_scored = is_scored and worst == "scored"
        self.journal.put(*writes, entries=entries if is_scored else ())
        self.progress.done += len(found)
        if self.stopper is not None:
            for case, given in zip(unit, found, strict=True):
                self.look_at(case.seq, given)

    def look_at(self, seq: int, scores: Sequence[Score]) -> None:
        """Show the scores of a case to the stopper; a run that it decides needs no other case."""
        if self.stopper is None:
            return
        if self.stopper.finish(seq, scores):
            self.stop(RunStopped("the thresholds are decided", code="decided"))
        self._source.advance(self.stopper.looked_at)

    async def _fill(self, unit: Sequence[CaseRecord], rows: Sequence[Row], scores: list[list[Score] | None]) -> None:
        """Fill in the scores of a unit's cases."""
        is_canary = unit[0].seq < 0
        ready: list[int] = []
        columns: list[Mapping[str, Any]] = []
        history: list[Message] = []
        for index, (case, row) in enumerate(zip(unit, rows, strict=True)):
            if case.row is None or case.fault is not None:
                scores[index] = self.job.failed(case.fault or "bad-row")
                continue
            row_columns = case.row
            if self._agent is not None and not is_canary:
                record = await self._agent.answer(case, row, history)
                if record.trajectory is None:
                    scores[index] = self.job.failed(record.fault or "agent-failed")
                    continue
                answer = {"final_response": record.trajectory.final_response, "trajectory": record.trajectory}
                row_columns = answered(case.row, answer)
            ready.append(index)
            columns.append(row_columns)
        found: list[list[Score]] = [[] for _ in ready]
        # Only the judge sees a canary.
        for scorer in [self.job.scorers[self.job.judged or 0]] if is_canary else self.job.scorers:
            # A scorer that asks a model is called for one row at a time, so that requests, replies and time are booked
            # on that row; one that looks at a whole group books them on the first row.
            is_alone = scorer.has_async and not scorer.is_group and not self.job.is_pure
            places = range(len(ready))
            for part in [[place] for place in places] if is_alone else [places] if ready else []:
                row = rows[ready[part[0]]]
                # Whoever has models in this context asks them through the run: `asking(models)(request)`.
                asks = asking.set(partial(partial, self.asker.answer, row))
                gathers = gathering.set(partial(self._gathering.judge, row.clock)) if self._batches else None
                try:
                    labels = [unit[ready[place]].id for place in part]
                    given = await scorer.ascore_many([columns[place] for place in part], labels=labels)
                finally:
                    asking.reset(asks)
                    if gathers is not None:
                        gathering.reset(gathers)
                for place, score in zip(part, given, strict=True):
                    found[place].append(score)
        for index, all_scores in zip(ready, found, strict=True):
            scores[index] = all_scores

    def measure(self) -> Progress:
        """Return the progress so far."""
        progress, budget = self.progress, self.asker.budget
        progress.in_flight = self.asker.in_flight
        progress.calls, progress.tokens, progress.cost = budget.calls, budget.tokens, budget.cost
        return progress
