"""Merge the run files of one job's shards: `merge_runs("all.run", ["a.run", "b.run"])`.

The cases keep the order of the files and everything that happened to them: the result is the same as one run over all
rows. It is written under a temporary name and renamed when it is whole; the shards do not change.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from adjudge.errors import RunError, UsageError
from adjudge.runs._cases import number_of
from adjudge.runs._copy import copy_records, delete_records
from adjudge.runs._export import KNOWN, known_in
from adjudge.runs._journal import Tail
from adjudge.runs._plan import PLAN, Plan, plan_from, write_plan
from adjudge.runs._records import COMPLETE, RUN_ID, CaseRecord, Write, write_case, write_meta
from adjudge.runs._score_file import check_place
from adjudge.runs._seal import is_sealed
from adjudge.runs._store import Store, run_lock

PAGE = 256  # cases looked at together
SHOWN = 3  # repeated cases that are named
SAME = ("kind", "scorers", "judge", "agent", "editions", "names", "ranges", "by_name", "unit")

IDS = "CREATE TEMP TABLE ids (id BLOB NOT NULL, content BLOB NOT NULL, seq INTEGER NOT NULL, file INTEGER NOT NULL)"
UNITS = "CREATE TEMP TABLE units (name BLOB NOT NULL, file INTEGER NOT NULL)"
TOGETHER = """
    WITH RECURSIVE one(seq, unit) AS (
        SELECT seq, unit FROM cases WHERE seq = (SELECT unit FROM cases WHERE seq = ?)
        UNION ALL SELECT cases.seq, cases.unit FROM cases JOIN one ON cases.seq = one.seq + 1 AND cases.unit = one.unit)
    SELECT seq FROM one
"""  # the cases of a unit follow one another


@dataclass(slots=True)
class Merged:
    """The result of a merge: the file, its cases, and the cases that several files had."""

    file: Path
    cases: int = 0
    missing: int = 0  # cases without scores, for `adjudge resume`
    repeated: int = 0
    differing: int = 0  # repeated cases whose scores differ; those of the first file are kept
    examples: list[Any] = field(default_factory=list)  # ids of the first few repeated cases


@dataclass(frozen=True, slots=True)
class _Shard:
    """One of the files, as it was when the merge began."""

    index: int
    store: Store
    plan: Plan

    @property
    def path(self) -> Path:
        return self.store.path


def merge_runs(out: str | Path, files: Sequence[str | Path], *, partial: bool = False) -> Merged:
    """Make one run file of the run files of one job's shards.

    A case that two files have with equal content is kept once; with different content the merge is refused. A shard
    that is not done is refused, unless `partial`: then its other cases have no scores, and `adjudge resume` continues
    with them. A shard that does not hold all its cases is always refused, and so is one that is being written.
    """
    target = Path(out)
    if target.exists():
        raise UsageError(f"{target} exists already: name another file", code="cannot-write")
    if not target.parent.is_dir():
        message = f"{target.parent} is not a folder: a run file cannot be written there"
        raise UsageError(message, code="cannot-write")
    paths = [Path(file) for file in files]
    if len(paths) < 2:
        raise UsageError("give at least two run files to merge")
    with ExitStack() as stack:
        shards = [_open_shard(stack, index, path) for index, path in enumerate(paths)]
        for shard in shards:
            _check_shard(shard, shards, partial=partial)
        lock = run_lock(target)
        lock.acquire()
        stack.callback(lock.release)
        return _write_merged(target, shards)


def pack_run(file: str | Path, out: str | Path) -> Path:
    """Copy a run with everything that stands beside its file into one file, also while it is written.

    What a killed process left in the tail is in the copy too; the run itself is left as it is.
    """
    source, target = Path(file), Path(out)
    check_place(target, source)
    part = target.with_name(f"{target.name}.part")
    try:
        with Store.read(source) as store:
            left = list(Tail(source, store.meta(RUN_ID)).read())
            store.copy_to(part)
        with Store.write(part) as copy:
            copy.commit(left)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _open_shard(stack: ExitStack, index: int, path: Path) -> _Shard:
    if any(tail.exists() for tail in Tail(path).paths):
        Store.write(path).close()  # its writer was killed: opening the file to write saves what was paid for
    store = stack.enter_context(Store.read(path))
    # The snapshot comes before the look at the lock: whoever starts to write after it changes nothing that we see.
    store.hold()
    holder = run_lock(path).holder()
    if holder is not None:
        raise RunError(f"{path} is in use by process {holder}: wait for it, or end it", code="run-locked")
    return _Shard(index, store, plan_from(store.meta(PLAN), path))


def _check_shard(shard: _Shard, shards: Sequence[_Shard], *, partial: bool) -> None:
    """Raise for a file that is not a shard of the same job, or is not ready."""
    first = shards[0]
    if any(shard.path.samefile(other.path) for other in shards[: shard.index]):
        raise UsageError(f"{shard.path} is given twice")
    ours, theirs = _common(first.plan), _common(shard.plan)
    for name, value in ours.items():
        if theirs[name] != value:
            message = f"{shard.path} and {first.path} are runs of different jobs: {name} is {theirs[name]}, not {value}"
            raise RunError(message, code="run-mismatch")
    if shard.store.early_stop() is not None:
        message = f"{shard.path} was decided early, so its rows are a sample and not a shard"
        advice = "run the same command with --run and without --stop-early"
        raise UsageError(f"{message}: to finish it, {advice}", code="not-complete")
    total, done = shard.store.count(), sum(shard.store.counts().values())
    if shard.store.meta(COMPLETE) != total:
        message = f"{shard.path} does not hold all its cases yet"
        raise UsageError(f"{message}: adjudge resume {shard.path}", code="not-complete")
    if done < total and not partial:
        message = f"{shard.path} is not done ({done:,} of {total:,} rows)"
        raise UsageError(f"{message}: adjudge resume {shard.path}, or merge with --partial", code="not-complete")


def _common(plan: Plan) -> dict[str, Any]:
    """Return the settings that shards of one job share; each may use another server."""
    options = {name: value for name, value in plan.options.items() if name != "base_url"}
    return {**{name: getattr(plan, name) for name in SAME}, "options": options, "seed": plan.config.get("seed")}


def _write_merged(target: Path, shards: Sequence[_Shard]) -> Merged:
    """Write the merged run under a temporary name, and rename it."""
    with _temporary_place(target) as place:
        try:
            with Store.write(place) as store:
                merged = _Merge(store, target).run(shards)
        except RunError as error:
            if error.code != "disk-full":
                raise
            raise RunError(f"no room to write {target}: make room and merge again", code="disk-full") from error
        # We hold the lock of the run, so this is a file of another program: it must not be overwritten.
        if target.exists():
            raise UsageError(f"{target} exists already: name another file", code="cannot-write")
        os.replace(place, target)  # noqa: PTH105 (one step of the operating system)
    return merged


@contextmanager
def _temporary_place(target: Path) -> Iterator[Path]:
    """Give a path beside the target, and remove whatever is left there, by this or an earlier merge."""
    place = target.with_name(f"{target.name}.merging")
    parts = [
        place.with_name(f"{place.name}{end}") for end in ("", "-wal", "-shm", "-journal", ".lock", ".tail-0", ".tail-1")
    ]
    try:
        for part in parts:
            part.unlink(missing_ok=True)
        yield place
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


class _Merge:
    """One merge in progress."""

    def __init__(self, store: Store, target: Path) -> None:
        self.store = store
        self.result = Merged(target)
        self._numbers = count(1)
        self._digests: set[str] = set()

    def run(self, shards: Sequence[_Shard]) -> Merged:
        """Merge the shards one after the other."""
        # Which ids and units earlier files had is kept in SQLite too, so that memory does not grow with the cases.
        for statement in (
            IDS,
            "CREATE INDEX temp.by_id ON ids (id)",
            UNITS,
            "CREATE INDEX temp.by_name ON units (name)",
        ):
            self.store.rows(statement)
        known = known_in(shards[0].store)
        sealed = all(is_sealed(shard.store) for shard in shards)
        plan = write_plan(self.store.meta(RUN_ID), _plan_of(shards), sealed=sealed)
        self.store.commit([*plan, write_meta(KNOWN, known)])
        for shard in shards:
            for page in _pages(shard.store):
                self._take(shard, page)
            self._digests.add(shard.plan.digest or "")
        result = self.result
        self.store.commit([write_meta(COMPLETE, result.cases)])
        result.missing = result.cases - sum(self.store.counts().values())
        return result

    def _take(self, shard: _Shard, page: Sequence[Sequence[CaseRecord]]) -> None:
        """Take some units of a shard: new ones go to the end, those of an earlier file are kept once."""
        writes: list[Write] = []
        seqs: dict[int, int] = {}
        for unit in page:
            places = self._places(shard, unit)
            if places is None:
                writes += self._append(shard, unit, seqs)
            else:
                self._keep_once(shard, unit, places)
        writes += copy_records(shard.store, seqs, self._numbers)
        writes += self._canaries(shard, seqs)
        self.store.commit(writes)

    def _places(self, shard: _Shard, unit: Sequence[CaseRecord]) -> dict[int, int] | None:
        """Return the places that the cases of a unit have in the merged file already; None where they have none."""
        found: dict[int, int] = {}
        for case in unit:
            place = self._place(shard, case)
            if place is not None:
                found[case.seq] = place
        if not found:
            self._refuse_torn(shard, unit)
            return None
        # Either the whole unit was in an earlier file, and as one unit there, or the shards cut it differently.
        together = self.store.rows(TOGETHER, next(iter(found.values())))
        if len(found) < len(unit) or {row[0] for row in together} != set(found.values()):
            message = f"{shard.path}: case {unit[0].id!r} was worked on together with other cases"
            raise RunError(f"{message} than in an earlier file", code="torn-unit")
        return found

    def _place(self, shard: _Shard, case: CaseRecord) -> int | None:
        """Return the place of an equal case of an earlier file; a different case with that id is an error."""
        if not _has_id(case):
            # Without ids, two runs over the same file cannot be told from two runs over equal rows.
            if shard.plan.digest in self._digests:
                message = f"{shard.path} and an earlier file are runs of the same rows, and case {case.id!r} has no id"
                raise RunError(f"{message} by which to recognise it", code="no-id")
            return None
        query = "SELECT content, seq FROM temp.ids WHERE id = ? AND file < ? ORDER BY seq"
        known = self.store.rows(query, _key(case.id), shard.index)
        if not known:
            return None
        content = _content(case)
        for other, seq in known:
            if other == content:
                return int(seq)
        message = f"case {case.id!r} of {shard.path} is in an earlier file with different content"
        raise RunError(f"{message}: these are not shards of one set of cases", code="conflicting-case")

    def _refuse_torn(self, shard: _Shard, unit: Sequence[CaseRecord]) -> None:
        """Raise for rows of one unit that were worked on in two files."""
        column, row = shard.plan.unit, unit[0].row
        if column is None or row is None or row.get(column) is None:
            return
        name = _key(row[column])
        if self.store.rows("SELECT 1 FROM temp.units WHERE name = ? AND file < ?", name, shard.index):
            message = f"{shard.path}: other rows of {column} {row[column]!r} are in an earlier file"
            raise RunError(f"{message}: they belong in one shard", code="torn-unit")
        self.store.rows("INSERT INTO temp.units VALUES (?, ?)", name, shard.index)

    def _append(self, shard: _Shard, unit: Sequence[CaseRecord], seqs: dict[int, int]) -> Iterator[Write]:
        """Put a unit at the end of the merged file."""
        first = self.result.cases
        for case in unit:
            seq = seqs[case.seq] = self.result.cases
            self.result.cases += 1
            # A row without an id is named by its number in the merged file, as in one run over all rows.
            id_ = seq + 1 if case.id == case.seq + 1 and not _has_id(case) else case.id
            yield write_case(CaseRecord(seq, first, id_, case.row, case.fault))
            if _has_id(case):
                values = (_key(case.id), _content(case), seq, shard.index)
                yield "INSERT INTO temp.ids VALUES (?, ?, ?, ?)", values

    def _canaries(self, shard: _Shard, seqs: dict[int, int]) -> Iterator[Write]:
        """Give the canaries of the cases that were taken."""
        if not seqs or not shard.plan.config.get("canaries"):
            return
        places: dict[int, int] = {}
        for canary in shard.store.canaries(number_of(min(seqs)), max(seqs) - min(seqs) + 1):
            place = seqs.get(number_of(canary.seq))
            if place is not None:
                number = places[canary.seq] = number_of(place)
                yield write_case(replace(canary, seq=number, unit=number))
        yield from copy_records(shard.store, places, self._numbers)

    def _keep_once(self, shard: _Shard, unit: Sequence[CaseRecord], places: dict[int, int]) -> None:
        """Keep one copy of a unit that is there already: the one that has scores, else the first."""
        result = self.result
        ours = self._scores(self.store, list(places.values()))
        theirs = self._scores(shard.store, list(places))
        if None in ours and None not in theirs:
            self.store.commit([*delete_records(places.values()), *copy_records(shard.store, places, self._numbers)])
        elif None not in theirs:
            result.differing += sum(one != other for one, other in zip(ours, theirs, strict=True))
        result.repeated += len(unit)
        result.examples += [case.id for case in unit[: SHOWN - len(result.examples)]]

    def _scores(self, store: Store, seqs: Sequence[int]) -> list[Any]:
        """Return the values of the scores of those cases; None for a case that has none."""
        found: list[Any] = []
        for seq in seqs:
            scores = store.scores(seq, seq).get(seq)
            found.append(None if scores is None else [(score.status, score.value) for score in scores])
        return found


def _plan_of(shards: Sequence[_Shard]) -> Plan:
    plans = [shard.plan for shard in shards]
    return replace(
        plans[0],
        source=None,
        digest=None,
        merged=tuple(shard.path.name for shard in shards),
        adjudge=", ".join(dict.fromkeys(plan.adjudge for plan in plans)),
        started=min(plan.started for plan in plans),
    )


def _pages(store: Store) -> Iterator[list[list[CaseRecord]]]:
    """Give the units of a run, about a page of cases at a time."""
    last, units = -1, list[list[CaseRecord]]()
    while cases := store.cases(last, PAGE):
        for case in cases:
            if units and units[-1][0].unit == case.unit:
                units[-1].append(case)
            else:
                units.append([case])
        last = cases[-1].seq
        if len(units) > 1:
            yield units[:-1]  # the last one may continue on the next page
            units = units[-1:]
    if units:
        yield units


def _has_id(case: CaseRecord) -> bool:
    """Return whether a case has an id of its own, and not only its number."""
    return case.row is not None and case.row.get("id") is not None


def _key(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _content(case: CaseRecord) -> bytes:
    """Return a digest that cases of equal content share, whatever the order of their columns."""
    return blake2b(_key([case.row, case.fault]), digest_size=16).digest()
