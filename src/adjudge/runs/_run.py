"""One session of a run: opens and locks the file, connects all parts, and closes them again whatever happens."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, Caught, DataError, RunError, RunStopped, UsageError
from adjudge.judges import Calibration
from adjudge.runs._ask import Asker, Budget
from adjudge.runs._cache import Cache
from adjudge.runs._cases import Cases, digest_of, read_cases, with_canaries
from adjudge.runs._engine import Engine, Progress
from adjudge.runs._export import keep_known
from adjudge.runs._fleet import Dispatcher, Fleet
from adjudge.runs._journal import Journal
from adjudge.runs._plan import (
    ACCEPTED,
    GROUP,
    PLAN,
    Job,
    Plan,
    RunConfig,
    clients_of,
    digests_of,
    plan_from,
    write_plan,
)
from adjudge.runs._records import EARLY, RUN_ID, write_meta
from adjudge.runs._source import Source
from adjudge.runs._store import Store

if TYPE_CHECKING:
    from adjudge.runs._stopping import EarlyStop, Stopping

PAGE = 1024  # cases read at once to put them in order
AHEAD = 2  # cases for each worker that a run which may stop early asks beyond those that it has looked at
TICK = 0.25  # seconds between two looks at the progress


@dataclass(frozen=True, slots=True)
class RunTask:
    """What one session does: its job, its cases (None: the file has them already), and its limits."""

    path: Path
    job: Job
    plan: Plan
    config: RunConfig
    cases: Cases | None = None
    trajectories: object = None
    retry_failed: bool = False  # whether rows that ended in an error are worked on again
    retry_unscored: bool = False  # whether rows that have no score are, although nothing failed
    signals: bool = False  # whether SIGINT and SIGTERM stop the run properly
    watch: Callable[[Progress], None] | None = None
    calibration: Calibration | None = None  # what was measured of the judge
    stopping: Stopping | None = None  # what the run may be stopped for, where not the thresholds of its config
    fleet: Fleet | None = None  # who does the work, where not this process
    secret: bytes | None = None  # the key of nonces, where not the cache's
    first_number: int = 0  # requests are numbered after it


@dataclass(frozen=True, slots=True)
class Session:
    """How a session ended: at its last case, or by the error that stopped it."""

    plan: Plan
    stopped: AdjudgeError | None = None
    signal: int | None = None
    warnings: tuple[str, ...] = ()
    early: EarlyStop | None = None  # how the run ended, where it might stop early


async def run_session(work: RunTask) -> Session:
    """Do one session of a run; `RunError` where the file cannot be used, any other error that stops it is returned."""
    if work.fleet is not None and (work.config.stop_early or work.stopping is not None):
        raise UsageError("a run that may stop early looks at its scores as they come: leave --ray or --stop-early out")
    if work.config.thresholds or work.config.stop_early or work.stopping is not None:
        from adjudge.runs._stopping import check_stopping

        work = replace(work, stopping=check_stopping(work))
    with ExitStack() as stack:
        store = stack.enter_context(Store.write(work.path))
        warnings: list[str] = []
        plan = agree(store, work, warnings)
        if store.meta(EARLY) is not None:
            # It is decided again, from the same cases, or now works through all of them.
            store.commit([("DELETE FROM meta WHERE name = ?", (EARLY,))])
        if work.job.judge is not None:
            keep_known(store, work.job.judge, work.calibration)
        if work.retry_failed:
            store.forget("error")
        if work.retry_unscored:
            store.forget("unscored")
        # A cache only saves money: a run without one is still right, so a fault of it is a warning.
        cache: Cache | None = None
        if work.config.cache != "off":
            try:
                cache = stack.enter_context(closing(Cache.open(work.config.cache)))
            except RunError as error:
                warnings.append(f"{error.message}; the run continues without a cache")
        journal = Journal(store, cache)
        try:
            async with clients_of(work.job, work.config, cache, work.secret):
                session = await _work_through(work, Session(plan), journal, cache)
        finally:
            # Shielded: what was paid for must reach the file even where the session itself is cancelled.
            await asyncio.shield(asyncio.ensure_future(journal.close()))
        if journal.fault is not None:
            raise journal.fault
        if cache is not None and cache.fault is not None:
            warnings.append(f"the cache {cache.path} could not be used throughout: {cache.fault}")
        return replace(session, warnings=tuple(warnings))


def agree(store: Store, work: RunTask, warnings: list[str]) -> Plan:
    """Write the plan into a new file, or check that an older file has the same one."""
    if work.config.canaries and work.job.judge is None:
        raise UsageError("canaries need a judge, and the run has none")
    code = digests_of(work.job)
    plan = replace(work.plan.resolved(work.job, work.config), code=code)
    if isinstance(work.cases, str | Path):
        source = "-" if str(work.cases) == "-" else str(Path(work.cases).resolve())  # found from any folder
        plan = replace(plan, source=source, digest=digest_of(work.cases))
    stored = store.meta(PLAN)
    if stored is None:
        store.commit(write_plan(store.meta(RUN_ID), plan))
        return plan
    # A session without cases resumes those in the file, so their digest is not compared.
    older = plan_from(stored, store.path)
    older.check_same(plan if work.cases is not None else replace(plan, digest=older.digest), store.path)
    # Code is compared with what the last session used: a change that somebody accepted is on record.
    accepted: list[dict[str, Any]] = store.meta(ACCEPTED) or []
    known = dict(older.code)
    for entry in accepted:
        known.update(entry["code"])
    unread = (name for name, digest in code.items() if digest is None)
    warnings.extend(
        f"the source of {name} cannot be read: if it has changed, this run does not notice" for name in unread
    )
    changed = {name: digest for name, digest in code.items() if digest and known.get(name) not in (None, digest)}
    if changed and not work.config.accept_changes:
        message = f"{', '.join(changed)} has changed since the run began: name another run file, or accept the change"
        raise RunError(
            f"{store.path}: {message} (--accept-changes, or accept_changes in RunConfig)", code="run-mismatch"
        )
    if changed:
        entry = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "code": changed}
        store.commit([write_meta(ACCEPTED, [*accepted, entry])])
    return older


async def _work_through(work: RunTask, session: Session, journal: Journal, cache: Cache | None) -> Session:
    """Work until the run is done, decided or stopped; return the session with how it ended."""
    config, job = work.config, work.job
    reached = await journal.read(Store.checkpoint)
    budget = Budget(config, reached.attempts, reached.tokens, reached.cost)
    last_request = max(reached.last_request, work.first_number)
    asker = Asker(journal, budget, cache, asyncio.Semaphore(config.workers), last_request)
    source = Source(
        journal, reached, unit_column=job.unit_column, in_pages=job.is_pure, has_canaries=config.canaries > 0
    )
    secret = None if asker.cache is None else asker.cache.secret
    engine = (
        Engine(job, source, asker, workers=config.workers, deadline=config.deadline)
        if work.fleet is None
        else Dispatcher(work.fleet, session.plan, source, asker, secret=secret)
    )
    engine.progress.counts.update(reached.counts)
    engine.progress.done = sum(reached.counts.values())
    with ExitStack() as stack:
        caught = stack.enter_context(_signals(engine)) if work.signals else []
        if work.watch is not None:
            stack.callback(asyncio.create_task(_tick(engine, source, work.watch)).cancel)
        reading: asyncio.Task[None] | None = None
        stopped: AdjudgeError | None = None
        try:
            # Cases that are given again are compared with those in the file; of a file the digest was compared.
            is_file = isinstance(work.cases, str | Path) and str(work.cases) != "-"
            is_compared = work.cases is None or (is_file and work.trajectories is None)
            if not (source.complete and is_compared):
                reading = asyncio.create_task(_read(work, source, engine))
                # Other cases, and torn groups, must be found before anything is scored.
                if source.complete or job.unit_column == GROUP or work.stopping is not None:
                    await reading
            # Where every case has its scores already, all of them decide.
            is_open = engine.failure is None and engine.progress.done < source.count
            if work.stopping is not None and isinstance(engine, Engine) and is_open:
                await _put_in_order(work, work.stopping, journal, source, engine)
            await engine.run()
        except AdjudgeError as error:
            if isinstance(error, RunError) and not isinstance(error, RunStopped):
                raise
            stopped = error
        finally:
            if reading is not None:
                # A run that a budget stopped still reads its cases to the end, so that `adjudge resume` has them all;
                # a person who interrupts it does not want to wait for that.
                if stopped is None or caught:
                    reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading
        if work.watch is not None:
            engine.progress.total = source.count
            work.watch(engine.measure())
        early = None if engine.stopper is None else engine.stopper.decided
        stopped = stopped if early is None else None
        if early is not None and early.spared:
            journal.put(write_meta(EARLY, early))
        return replace(session, stopped=stopped, signal=caught[0] if caught else None, early=early)


async def _put_in_order(work: RunTask, stopping: Stopping, journal: Journal, source: Source, engine: Engine) -> None:
    """Put all cases into a random order, and look at those that earlier sessions finished."""
    from adjudge.runs._stopping import Stopper

    stopper = engine.stopper = Stopper(stopping, seed=work.config.seed, unit_column=work.job.unit_column)
    last = -1
    while page := await journal.read(Store.cases, last, PAGE):
        for case in page:
            stopper.add(case)
        last = page[-1].seq
    units = stopper.start()
    # What is slow holds up the look at all that come after it: without an end to how far the work runs ahead, most
    # cases would have been asked by the time that a decision is seen.
    source.put_in_order(units, most_ahead=max(AHEAD * work.config.workers, stopper.largest))
    for first in range(0, last + 1, PAGE):
        done = await journal.read(Store.scores, first, first + PAGE - 1)
        for seq, scores in done.items():
            engine.look_at(seq, scores)


async def _read(work: RunTask, source: Source, engine: Engine | Dispatcher) -> None:
    """Read the cases into the file; any failure stops the engine, which would wait for more cases for ever."""
    with Caught(fatal_too=True) as caught:
        cases = None
        if work.cases is not None:
            cases = read_cases(work.cases, work.trajectories, columns=work.plan.columns, format=work.plan.format)
            # A pipe that says nothing is a command that failed, not a run without rows.
            first = next(cases, None) if str(work.cases) == "-" else ()
            if first is None:
                raise DataError("standard input holds no rows", code="no-rows")
            cases = chain([first], cases) if first else cases
        if cases is not None and work.config.canaries:
            cases = with_canaries(cases, work.config.canaries, work.config.seed)
        await source.read(cases, check_groups=work.job.unit_column == GROUP)
    if isinstance(caught.error, AdjudgeError):
        engine.stop(caught.error)
    elif caught.reason is not None:
        engine.stop(RunError(f"the cases cannot be read: {caught.reason}", code="bad-cases"))


async def _tick(engine: Engine | Dispatcher, source: Source, watch: Callable[[Progress], None]) -> None:
    while True:
        progress = engine.measure()
        progress.total = source.count if source.complete else None
        watch(progress)
        await asyncio.sleep(TICK)


@contextmanager
def _signals(engine: Engine | Dispatcher) -> Iterator[list[int]]:
    """Stop the run on SIGINT and SIGTERM; the list says which of them came."""
    caught: list[int] = []
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        caught.append(number)
        engine.stop(RunStopped("interrupted", code="interrupted"))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        yield caught
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
