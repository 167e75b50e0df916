"""A run whose rows come one by one, from whoever asks, for as long as a server runs.

    async with Desk.open("openai:gpt-4.1-mini", path, RunConfig(max_cost=5, price=(0.4, 1.6))) as desk:
        score = await desk.score({"question": ..., "reference": ..., "response": ...})

One run file, one budget, one cache for all who ask. As in every run a reply is on disk before it is read, and each row
is a case of the file with its score. The file may be one of an earlier desk: what that spent counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, Self

from adjudge.errors import Caught, UsageError
from adjudge.model import Score, asking
from adjudge.rewards import Scorer
from adjudge.runs._ask import Asker, Budget, Clock, Row
from adjudge.runs._cache import Cache
from adjudge.runs._journal import Journal
from adjudge.runs._plan import Plan, RunConfig, clients_of, make_job
from adjudge.runs._records import COMPLETE, CaseRecord, write_case, write_meta, write_scores
from adjudge.runs._run import RunTask, agree
from adjudge.runs._score_file import row_label
from adjudge.runs._store import Store


class Desk:
    """Asks one scorer about rows, within the budget of a run."""

    def __init__(self, scorer: Scorer, asker: Asker, config: RunConfig, cases: int) -> None:
        self.scorer = scorer
        self.cases = cases  # in the run file so far
        self._asker = asker
        self._deadline = config.deadline
        self._room = asyncio.Semaphore(config.workers)

    @classmethod
    @asynccontextmanager
    async def open(cls, scorer: str, path: str | Path, config: RunConfig) -> AsyncIterator[Self]:
        """Open the run file, a new one if there is none, and connect the scorer's judges to their models."""
        job = make_job(scorers=[scorer])
        if job.scorers[0].is_group:
            raise UsageError(
                f"{scorer} looks at groups: a desk is asked about one row at a time", code="unknown-groups"
            )
        plan = Plan(scorers=(scorer,), by_name=True)
        with ExitStack() as stack:
            store = stack.enter_context(Store.write(path))
            agree(store, RunTask(Path(path), job, plan, config), [])
            cache = None if config.cache == "off" else stack.enter_context(closing(Cache.open(config.cache)))
            journal = Journal(store, cache)
            try:
                reached = await journal.read(Store.checkpoint)
                budget = Budget(config, reached.attempts, reached.tokens, reached.cost)
                asker = Asker(journal, budget, cache, asyncio.Semaphore(config.workers), reached.last_request)
                async with clients_of(job, config, cache):
                    desk = cls(job.scorers[0], asker, config, reached.cases)
                    yield desk
                journal.put(write_meta(COMPLETE, desk.cases))
            finally:
                await asyncio.shield(asyncio.ensure_future(journal.close()))

    async def score(self, row: Mapping[str, Any]) -> Score:
        """Return the score of one row; a spent budget, like every other fault, is an error of the row."""
        seq, self.cases = self.cases, self.cases + 1
        record = Row(seq, {}, Clock())
        with Caught(fatal_too=True) as caught:
            self._asker.journal.put(write_case(CaseRecord(seq, seq, row_label(row, seq + 1), row)))
            # Rows that wait for others have not begun: their time does not run.
            async with self._room:
                score = await self._ask(row, record)
            entries = record.entries if score.status == "scored" else ()
            # The next equal row may come before the journal has written these.
            if self._asker.cache is not None:
                self._asker.cache.hold(entries)
            self._asker.journal.put(*write_scores(seq, [score]), entries=entries)
            return score
        return self._failed(str(caught.reason))

    async def _ask(self, row: Mapping[str, Any], record: Row) -> Score:
        asks = asking.set(partial(partial, self._asker.answer, record))
        try:
            async with asyncio.timeout(self._deadline):
                return (await self.scorer.ascore_many([row]))[0]
        except TimeoutError:
            return self._failed(f"deadline: no score within {self._deadline:g} seconds{record.tried()}")
        finally:
            asking.reset(asks)

    def _failed(self, reason: str) -> Score:
        return Score.error(reason, parts=dict.fromkeys(self.scorer.parts or ()), provenance=self.scorer.provenance)
