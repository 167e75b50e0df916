"""The engine: cases from the file, worked on by many at once, their scores into the file.

Rows in progress are a bounded number, twice the calls in flight: a row that waits for the disk holds no place. Cases
come out of the file a page at a time, so that memory does not grow with their number.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.judges.columns import QUESTIONS, text_in
from adjudge.model import Message, Score, asking, gathering
from adjudge.runs._agent import AgentCalls
from adjudge.runs._ask import Asker, Clock, Row
from adjudge.runs._cases import answered
from adjudge.runs._job import Job
from adjudge.runs._records import CaseRecord, TrajectoryRecord, write_scores

if TYPE_CHECKING:
    from adjudge.model import Judge, Judgement
    from adjudge.rewards import Scorer
    from adjudge.runs._source import Source

_WORST_FIRST = ("error", "unscored", "scored")
ENOUGH = 64  # rows that a judge is given at once, where they come one by one
PATIENCE = 1.0  # seconds that rows wait for others to be judged with
SPARE = 32  # rows that may wait for the disk however few workers there are
GRACE = 2.0  # seconds that calls in flight get when a run is stopped


@dataclass(slots=True)
class Progress:
    """How a run stands, while it goes on."""

    total: int | None = None
    done: int = 0
    in_flight: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class Gathering:
    """Rows of many workers that wait for a judge which takes many at once.

    They are judged together when enough are there, when every worker waits here, or when the first has waited long.
    """

    def __init__(self) -> None:
        self._expected = 0  # workers that may still bring rows
        self._batches: dict[int, _Batch] = {}  # those that gather, by judge
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def guest(self) -> Iterator[None]:
        """Wait for this worker's rows, too, until it has no more."""
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1
            self._judge_if_all_wait()

    async def judge(self, clock: Clock, judge: Judge, rows: Sequence[Mapping[str, Any]]) -> Sequence[Judgement]:
        """Judge rows together with those of others; what the judge raises, everybody gets.

        Waiting for others is not the row's own time, being judged is.
        """
        batch = self._batches.get(id(judge))
        if batch is None:
            batch = self._batches[id(judge)] = _Batch(judge)
            asyncio.get_running_loop().call_later(PATIENCE, self._judge_now, batch)
        first = len(batch.rows)
        batch.rows.extend(rows)
        self._expected -= 1
        try:
            if len(batch.rows) >= ENOUGH:
                self._judge_now(batch)
            self._judge_if_all_wait()
            with clock:
                await batch.has_begun.wait()
            return (await asyncio.shield(batch.judgements))[first : first + len(rows)]
        finally:
            self._expected += 1

    def _judge_if_all_wait(self) -> None:
        if self._expected <= 0:
            for batch in list(self._batches.values()):
                self._judge_now(batch)

    def _judge_now(self, batch: _Batch) -> None:
        """Judge what has gathered, unless that is done already."""
        if self._batches.get(id(batch.judge)) is batch:
            del self._batches[id(batch.judge)]
            batch.has_begun.set()
            self._tasks.add(task := asyncio.create_task(batch.run()))
            task.add_done_callback(self._tasks.discard)


class _Batch:
    """Rows that are judged together."""

    def __init__(self, judge: Judge) -> None:
        self.judge: Any = judge
        self.rows: list[Mapping[str, Any]] = []
        self.has_begun = asyncio.Event()
        self.judgements: asyncio.Future[Sequence[Judgement]] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Ask the judge, once."""
        with Caught(fatal_too=True) as caught:
            found = await self.judge.ajudge_many(self.rows)
            if len(found) != len(self.rows):
                raise UsageError(f"{self.judge.name} gave {len(found)} judgements for {len(self.rows)} rows")
            self.judgements.set_result(found)
        if caught.reason is not None:
            # A future cannot hold every exception; ours may be fatal, and stay what they are.
            error = caught.error if isinstance(caught.error, AdjudgeError) else RuntimeError(caught.reason)
            self.judgements.set_exception(error)
            self.judgements.exception()  # it is nobody's loss if all who waited have gone


class Engine:
    """Works through the cases of one run."""

    def __init__(self, job: Job, source: Source, asker: Asker, *, workers: int, deadline: float) -> None:
        self.job = job
        self.asker = asker
        self.journal = asker.journal
        self.progress = Progress()
        self._source = source
        self._deadline = deadline
        # An agent that answers its units together is given so many, no more: its batches are then always the same.
        self._room = getattr(job.agent, "together", None) or 2 * workers + SPARE
        self._stop = asyncio.Event()
        self._clocks: dict[Clock, float] = {}  # of the rows in progress, with the seconds they have
        self._error: AdjudgeError | None = None
        self._agent = None if job.agent is None else AgentCalls(job.agent, asker, self._clocks, deadline)
        self._gathering = Gathering()
        asker.on_stop = self.stop

    def stop(self, error: AdjudgeError) -> None:
        """Take no more work, and end when what is in flight has; `run` raises the error."""
        self._error = self._error or error
        self.asker.stopping = self._error
        self._source.close()
        self._stop.set()

    async def run(self) -> None:
        """Work until every case has its scores; a stopped run raises what stopped it."""
        tasks = {asyncio.create_task(self._work()) for _ in range(self._room)}
        stopped: asyncio.Task[Any] = asyncio.create_task(self._stop.wait())
        clocks = asyncio.create_task(self._keep_time())
        try:
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
        if self._error is not None:
            raise self._error
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def _keep_time(self) -> None:
        """End rows that have taken too long."""
        while True:
            await asyncio.sleep(min(0.1, self._deadline / 10))
            for clock, deadline in self._clocks.items():
                if not clock.expired and clock.task is not None and clock.taken() > deadline:
                    clock.expired = True
                    clock.task.cancel()

    async def _work(self) -> None:
        with self._gathering.guest():
            while not self._stop.is_set():
                unit = await self._source.take()
                if unit is None:
                    return
                try:
                    await self._unit(unit)
                except AdjudgeError as error:  # the run file failed: nothing can go on
                    self.stop(error)
                    raise

    async def _unit(self, unit: Sequence[CaseRecord]) -> None:
        """Answer and score the cases of one unit; their scores are written together."""
        task = asyncio.current_task()
        clock = Clock(task)
        rows = [Row(case.seq, await self._source.known(case.seq), clock) for case in unit]
        scores: list[list[Score] | None] = [None] * len(unit)
        self._clocks[clock] = self._deadline * len(unit)
        try:
            await self._fill(unit, rows, scores)
        except asyncio.CancelledError:
            if task is None or not clock.expired or task.uncancel():
                raise  # somebody else wants an end
        except AdjudgeError as error:
            if not getattr(error, "fatal", False):
                raise
            rows[0].stopped = error
            self.stop(error)
        finally:
            del self._clocks[clock]
        if any(row.stopped is not None for row in rows):
            return  # the run is being stopped: these cases are for the next session
        found = [self._late(row) if one is None else one for one, row in zip(scores, rows, strict=True)]
        if unit[0].seq < 0:  # a canary is not one of the rows
            self.journal.put(*write_scores(unit[0].seq, found[0][-1:], first=self.job.judged or 0))
            return
        self.journal.put(
            *(write for case, one in zip(unit, found, strict=True) for write in write_scores(case.seq, one))
        )
        for one in found:
            statuses = {score.status for score in one}
            self.progress.counts[next(status for status in _WORST_FIRST if status in statuses)] += 1
        self.progress.done += len(found)

    def _late(self, row: Row) -> list[Score]:
        return self.job.failed(f"deadline: no score within {self._deadline:g} seconds{row.tried()}")

    async def _fill(self, unit: Sequence[CaseRecord], rows: Sequence[Row], scores: list[list[Score] | None]) -> None:
        """Fill in the scores of a unit's cases."""
        if unit[0].seq < 0:  # a canary is for the judge alone
            judge = self.job.scorers[self.job.judged or 0]
            scores[0] = (await self._score([unit[0].id], [unit[0].row or {}], rows, [judge]))[0]
            return
        ready: list[int] = []
        columns: list[Mapping[str, Any]] = []
        history: list[Message] = []
        for index, (case, row) in enumerate(zip(unit, rows, strict=True)):
            if case.row is None or case.fault is not None:
                scores[index] = self.job.failed(case.fault or "bad-row")
                continue
            overlay = case.row
            if self._agent is not None:
                record = await self._answer(self._agent, case, row, history)
                if record.trajectory is None:
                    scores[index] = self.job.failed(record.fault or "agent-failed")
                    continue
                answer = {"final_response": record.trajectory.final_response, "trajectory": record.trajectory}
                overlay = answered(case.row, answer)
            ready.append(index)
            columns.append(overlay)
        if ready:
            ids, those = [unit[index].id for index in ready], [rows[index] for index in ready]
            given = await self._score(ids, columns, those, self.job.scorers)
            for index, one in zip(ready, given, strict=True):
                scores[index] = one

    async def _score(
        self, ids: Sequence[Any], columns: Sequence[Mapping[str, Any]], rows: Sequence[Row], scorers: Sequence[Scorer]
    ) -> list[list[Score]]:
        """Ask scorers about rows that have everything."""
        scores: list[list[Score]] = [[] for _ in rows]
        for scorer in scorers:
            # Whoever asks a model asks it for one row, so that requests, replies and time are booked on that row; a
            # scorer that looks at a whole group books them on its first.
            alone = scorer.has_async and not scorer.is_group and not self.job.is_pure
            for part in [[index] for index in range(len(rows))] if alone else [range(len(rows))]:
                row = rows[part[0]]
                asks = asking.set(partial(self.asker.of, row))
                gathers = gathering.set(partial(self._gathering.judge, row.clock))
                try:
                    found = await scorer.ascore_many([columns[i] for i in part], labels=[ids[i] for i in part])
                finally:
                    asking.reset(asks)
                    gathering.reset(gathers)
                for index, score in zip(part, found, strict=True):
                    scores[index].append(score)
        return scores

    async def _answer(self, agent: AgentCalls, case: CaseRecord, row: Row, history: list[Message]) -> TrajectoryRecord:
        """Return what the agent does for a case: from the file, or by asking it now."""
        record = await self._source.trajectory(case.seq)
        if record is None:
            record = await agent.answer(case, row, history)
        question = Message("user", text_in(case.row or {}, QUESTIONS) or "")
        reply = None if record.trajectory is None else record.trajectory.final_response
        history += [question, Message("assistant", reply or "")]
        return record

    def measure(self) -> Progress:
        """Return how the run stands."""
        progress, budget = self.progress, self.asker.budget
        progress.in_flight = self.asker.in_flight
        progress.calls, progress.tokens, progress.cost = budget.calls, budget.tokens, budget.cost
        return progress
