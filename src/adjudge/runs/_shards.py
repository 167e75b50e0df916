"""What a member of a fleet does: an ordinary run over some cases, in a file on its own disk, shipped as it is written.

    driver                                          member
    Shard (cases, known replies, limits)   ──────>  runs it: adjudge-fleet/RUN/3.run, with its tail
    its run file is the truth              <──────  Segment (requests, replies, scores of finished cases), 5 a second

Cases and requests have the numbers of the driver's file from the start, so a record is shipped as it is, checksum and
all. A member that is killed leaves its file: whoever comes to that disk next ships what it holds (`recover_shard`). A
disk that is gone takes with it what was not shipped, and no more.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

from adjudge.errors import AdjudgeError, Caught, RunError
from adjudge.runs._copy import raw_records
from adjudge.runs._plan import PLAN, Plan, make_job
from adjudge.runs._records import COMPLETE, CaseRecord, Write, write_case, write_meta
from adjudge.runs._store import Store

SHIP_S = 0.2  # seconds between two looks at what was committed
_ENDS = ("", "-wal", "-shm", "-journal", ".lock", ".tail-0", ".tail-1")

Spent = tuple[int, int, float]
"""Attempts, tokens and dollars."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Some units of a run for one member, with the replies that they have already and what they may cost."""

    run_id: str
    number: int
    cases: tuple[CaseRecord, ...]
    plan: Plan
    first_number: int  # the requests of this shard are numbered after it
    known: tuple[Write, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)  # of its RunConfig: workers, and the budgets it is lent
    secret: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Segment:
    """What a member has committed since the last one: records, how cases ended, and what all of it cost so far."""

    writes: list[Write]
    done: dict[int, str]
    spent: Spent
    is_last: bool = False
    stopped: tuple[str, str] | None = None  # the message and the code of what ended it before its last case


def fleet_folder(run_id: str) -> Path:
    """Return the folder for the shards of a run, on the local disk of this machine."""
    # A home folder is often on a network, where SQLite does not belong.
    folder = Path(tempfile.gettempdir(), f"adjudge-fleet-{os.getuid()}")
    for place in (folder, folder / run_id):
        place.mkdir(mode=0o700, exist_ok=True)
        if place.is_symlink() or place.stat().st_uid != os.getuid():
            raise RunError(f"{place} belongs to somebody else", code="cannot-write")
    return folder / run_id


def work_shard(shard: Shard) -> Iterator[Segment]:
    """Run a shard in this process, and give what is committed, again and again, until it is over."""
    folder = fleet_folder(shard.run_id)
    path = _file(folder, shard)
    before = _lay_out(path, shard)
    ended: list[tuple[str, str] | None] = []
    thread = Thread(target=lambda: ended.append(_run(path, shard, before)), name="adjudge-shard", daemon=True)
    thread.start()
    shipped: set[int] = set()
    while thread.is_alive():
        thread.join(SHIP_S)
        if thread.is_alive():
            with Store.read(path) as store:
                segment = _segment(store, shard, before, shipped)
            if segment.done:
                yield segment
    with Store.write(path) as store:
        last = _segment(store, shard, before, shipped, is_last=True)
    yield replace(last, stopped=ended[0] if ended else ("the shard ended without a word", "worker-died"))


def recover_shard(shard: Shard) -> Segment | None:
    """Return what the file of a member that died holds; None where this machine has no such file."""
    path = _file(fleet_folder(shard.run_id), shard)
    if not path.exists():
        return None
    # Opening it to write puts what the tail held into it: replies that were paid for and not committed.
    with Store.write(path) as store:
        return _segment(store, shard, _spent_before(shard), set(), is_last=True)


def forget_shard(shard: Shard) -> None:
    """Remove the file of a shard whose records the driver has."""
    path = _file(fleet_folder(shard.run_id), shard)
    for end in _ENDS:
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def spent_in(writes: tuple[Write, ...]) -> Spent:
    """Return what records cost: as the run file itself counts it, for records that are not in one."""
    replies = {values[0]: values for statement, values in writes if "INTO replies" in statement}
    requests = [values[0] for statement, values in writes if "INTO requests" in statement]
    made = [values for values in replies.values() if values[1] in ("call", "agent")]
    attempts = sum(values[3] for values in made) + sum(number not in replies for number in requests)
    tokens = sum((values[4] or 0) + (values[5] or 0) for values in made)
    return int(attempts), int(tokens), float(sum(values[6] or 0.0 for values in replies.values()))


def _file(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number}.run"


def _spent_before(shard: Shard) -> Spent:
    return spent_in(shard.known)


def _lay_out(path: Path, shard: Shard) -> Spent:
    """Write the run file with which the shard begins; return what its known replies have cost."""
    forget_shard(shard)
    # The number of the last case, or of the case that the last canary belongs to.
    last = max(case.seq if case.seq >= 0 else -(case.seq + 1) for case in shard.cases)
    with Store.write(path) as store:
        store.commit([write_meta(PLAN, shard.plan), *map(write_case, shard.cases), *shard.known])
        store.commit([write_meta(COMPLETE, last + 1)])
    return _spent_before(shard)


def _run(path: Path, shard: Shard, before: Spent) -> tuple[str, str] | None:
    """Do the session; return what stopped it."""
    from adjudge.runs._run import RunTask, run_session

    with Caught(fatal_too=True) as caught:
        limits = dict(shard.limits)
        # What was spent on these cases before is in the file, and counts there.
        for name, spent in zip(("max_calls", "max_tokens", "max_cost"), before, strict=True):
            if limits.get(name) is not None:
                limits[name] += spent
        plan = shard.plan
        config = replace(plan.run_config(), **limits)
        job = make_job(scorers=plan.scorers, judge=plan.judge, **plan.options)
        work = RunTask(path, job, plan, config, secret=shard.secret, first_number=shard.first_number)
        session = asyncio.run(run_session(work))
        return None if session.stopped is None else (session.stopped.message, session.stopped.code)
    error = caught.error
    return (error.message, error.code) if isinstance(error, AdjudgeError) else (str(caught.reason), "member-failed")


def _segment(store: Store, shard: Shard, before: Spent, shipped: set[int], *, is_last: bool = False) -> Segment:
    """Take what is new of the finished cases; at the end, what there is of the others too."""
    ends: dict[int, str] = {}
    for seq, status in store.rows("SELECT seq, status FROM scores ORDER BY seq"):
        # A case counts as its worst score.
        if seq not in shipped and ends.get(seq) != "error" and (seq not in ends or status != "scored"):
            ends[seq] = status
    wanted = {case.seq for case in shard.cases} - shipped if is_last else set(ends)
    writes = list(raw_records(store, wanted, above=shard.first_number))
    shipped.update(ends)
    _, attempts, tokens, cost, _ = store.totals()
    spent = (attempts - before[0], tokens - before[1], cost - before[2])
    return Segment(writes, ends, spent, is_last)
