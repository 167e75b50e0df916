"""Shards of one job become one run: `merge_runs("all.run", ["a.run", "b.run"])`.

The cases come in the order of the files, with everything that happened to them, and the result is what one run over
all rows would have been. It is written beside its place and moved there when it is whole; the shards are left as they
are.
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
from adjudge.runs._copy import copied, forgotten
from adjudge.runs._export import KNOWN, known_in
from adjudge.runs._journal import tail_files
from adjudge.runs._plan import PLAN, Plan, plan_from
from adjudge.runs._records import CaseRecord, Write, write_case, write_meta
from adjudge.runs._source import COMPLETE
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
"""  # the cases of a unit stand one behind the other


@dataclass(slots=True)
class Merged:
    """What came of a merge: the file, its cases, and the cases that were there more than once."""

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

    A case that is in two files with equal content is kept once; with other content the merge is refused. A shard that
    is not done is refused, unless `partial`: then its cases come without scores, and `adjudge resume` goes on with
    them. A shard that does not hold all its cases is always refused, and so is one that somebody is writing.
    """
    target = Path(out)
    if target.exists():
        raise UsageError(f"{target} is there already: name another file", code="cannot-write")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder for a run file", code="cannot-write")
    paths = [Path(file) for file in files]
    if len(paths) < 2:
        raise UsageError("give at least two run files to merge")
    with ExitStack() as stack:
        shards = [_opened(stack, index, path) for index, path in enumerate(paths)]
        for shard in shards:
            _check_shard(shard, shards, partial=partial)
        lock = run_lock(target)
        lock.acquire()
        stack.callback(lock.release)
        return _written(target, shards)


def _opened(stack: ExitStack, index: int, path: Path) -> _Shard:
    if any(tail.exists() for tail in tail_files(path)):
        Store.write(path).close()  # its writer was killed: what it had paid for goes into the file first
    store = stack.enter_context(Store.read(path))
    store.hold()
    holder = run_lock(path).holder()
    if holder is not None:
        raise RunError(f"{path} is in use by process {holder}: wait for it, or end it", code="run-locked")
    return _Shard(index, store, plan_from(store.meta(PLAN), path))


def _check_shard(shard: _Shard, shards: Sequence[_Shard], *, partial: bool) -> None:
    """Refuse a file that is no shard of the same job, or one that is not ready."""
    first = shards[0]
    if any(shard.path.samefile(other.path) for other in shards[: shard.index]):
        raise UsageError(f"{shard.path} is given twice")
    ours, theirs = _compared(first.plan), _compared(shard.plan)
    for name, value in ours.items():
        if theirs[name] != value:
            message = f"{shard.path} and {first.path} are runs of different jobs: {name} is {theirs[name]}, not {value}"
            raise RunError(message, code="run-mismatch")
    total, done = shard.store.count(), sum(shard.store.counts().values())
    if shard.store.meta(COMPLETE) != total:
        message = f"{shard.path} does not hold all its cases yet"
        raise UsageError(f"{message}: adjudge resume {shard.path}", code="not-complete")
    if done < total and not partial:
        message = f"{shard.path} is not done ({done:,} of {total:,} rows)"
        raise UsageError(f"{message}: adjudge resume {shard.path}, or merge with --partial", code="not-complete")


def _compared(plan: Plan) -> dict[str, Any]:
    """Return what shards of one job have in common; each may ask a server of its own."""
    options = {name: value for name, value in plan.options.items() if name != "base_url"}
    return {**{name: getattr(plan, name) for name in SAME}, "options": options, "seed": plan.config.get("seed")}


def _written(target: Path, shards: Sequence[_Shard]) -> Merged:
    """Write the merged run beside its place, and move it there."""
    with _beside(target) as place:
        try:
            with Store.write(place) as store:
                merged = _Merge(store, target).run(shards)
        except RunError as error:
            if error.code != "disk-full":
                raise
            raise RunError(f"no room to write {target}: make room and merge again", code="disk-full") from error
        if target.exists():  # whoever writes a run has its lock; this is somebody else's file
            raise UsageError(f"{target} is there already: name another file", code="cannot-write")
        os.replace(place, target)  # noqa: PTH105 (one step of the operating system)
    return merged


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give a place beside the target, and leave nothing there; what a killed merge left goes too."""
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
    """One merge while it goes on."""

    def __init__(self, store: Store, target: Path) -> None:
        self.store = store
        self.result = Merged(target)
        self._numbers = count(1)
        self._digests: set[str] = set()

    def run(self, shards: Sequence[_Shard]) -> Merged:
        """Take the shards one after the other."""
        for statement in (
            IDS,
            "CREATE INDEX temp.by_id ON ids (id)",
            UNITS,
            "CREATE INDEX temp.by_name ON units (name)",
        ):
            self.store.rows(statement)
        known = known_in(shards[0].store)
        self.store.commit([write_meta(PLAN, _plan_of(shards)), write_meta(KNOWN, known)])
        for shard in shards:
            for page in _pages(shard.store):
                self._take(shard, page)
            self._digests.add(shard.plan.digest or "")
        result = self.result
        self.store.commit([write_meta(COMPLETE, result.cases)])
        result.missing = result.cases - sum(self.store.counts().values())
        return result

    def _take(self, shard: _Shard, page: Sequence[Sequence[CaseRecord]]) -> None:
        """Take some units of a shard: new ones at the end, those that are there already not again."""
        writes: list[Write] = []
        seqs: dict[int, int] = {}
        for unit in page:
            there = self._places(shard, unit)
            if there is None:
                writes += self._new(shard, unit, seqs)
            else:
                self._again(shard, unit, there)
        writes += copied(shard.store, seqs, self._numbers)
        writes += self._canaries(shard, seqs)
        self.store.commit(writes)

    def _places(self, shard: _Shard, unit: Sequence[CaseRecord]) -> dict[int, int] | None:
        """Return where the cases of a unit are in the merged file already; None where none of them is."""
        found: dict[int, int] = {}
        for case in unit:
            there = self._place(shard, case)
            if there is not None:
                found[case.seq] = there
        if not found:
            self._refuse_torn(shard, unit)
            return None
        together = self.store.rows(TOGETHER, next(iter(found.values())))
        if len(found) < len(unit) or {row[0] for row in together} != set(found.values()):
            message = f"{shard.path}: case {unit[0].id!r} was worked on together with other cases"
            raise RunError(f"{message} than in an earlier file", code="torn-unit")
        return found

    def _place(self, shard: _Shard, case: CaseRecord) -> int | None:
        """Return where an equal case of an earlier file is; another case of that id is refused."""
        if not _has_id(case):
            if shard.plan.digest in self._digests:
                message = f"{shard.path} is a run of rows that another file has too, and case {case.id!r} has no id"
                raise RunError(f"{message} to tell it by", code="no-id")
            return None
        query = "SELECT content, seq FROM temp.ids WHERE id = ? AND file < ? ORDER BY seq"
        known = self.store.rows(query, _key(case.id), shard.index)
        if not known:
            return None
        content = _content(case)
        for other, seq in known:
            if other == content:
                return int(seq)
        message = f"case {case.id!r} of {shard.path} is in an earlier file with other content"
        raise RunError(f"{message}: these are not shards of one set of cases", code="conflicting-case")

    def _refuse_torn(self, shard: _Shard, unit: Sequence[CaseRecord]) -> None:
        """Refuse rows that belong together but were worked on in two files."""
        column, row = shard.plan.unit, unit[0].row
        if column is None or row is None or row.get(column) is None:
            return
        name = _key(row[column])
        if self.store.rows("SELECT 1 FROM temp.units WHERE name = ? AND file < ?", name, shard.index):
            message = f"{shard.path}: other rows of {column} {row[column]!r} are in an earlier file"
            raise RunError(f"{message}: they belong into one shard", code="torn-unit")
        self.store.rows("INSERT INTO temp.units VALUES (?, ?)", name, shard.index)

    def _new(self, shard: _Shard, unit: Sequence[CaseRecord], seqs: dict[int, int]) -> Iterator[Write]:
        """Put a unit at the end of the merged file."""
        first = self.result.cases
        for case in unit:
            seq = seqs[case.seq] = self.result.cases
            self.result.cases += 1
            # A row without an id of its own is called by its place, as in one run over all rows.
            id_ = seq + 1 if case.id == case.seq + 1 and not _has_id(case) else case.id
            yield write_case(CaseRecord(seq, first, id_, case.row, case.fault))
            if _has_id(case):
                values = (_key(case.id), _content(case), seq, shard.index)
                yield "INSERT INTO temp.ids VALUES (?, ?, ?, ?)", values

    def _canaries(self, shard: _Shard, seqs: dict[int, int]) -> Iterator[Write]:
        """Take the canaries of cases that were taken."""
        if not seqs or not shard.plan.config.get("canaries"):
            return
        places: dict[int, int] = {}
        for canary in shard.store.canaries(number_of(min(seqs)), max(seqs) - min(seqs) + 1):
            place = seqs.get(number_of(canary.seq))
            if place is not None:
                number = places[canary.seq] = number_of(place)
                yield write_case(replace(canary, seq=number, unit=number))
        yield from copied(shard.store, places, self._numbers)

    def _again(self, shard: _Shard, unit: Sequence[CaseRecord], places: dict[int, int]) -> None:
        """Keep a unit that is there already once: what has scores, else what came first."""
        result = self.result
        ours = self._scores(self.store, list(places.values()))
        theirs = self._scores(shard.store, list(places))
        if None in ours and None not in theirs:
            self.store.commit([*forgotten(places.values()), *copied(shard.store, places, self._numbers)])
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
            yield units[:-1]  # the last one may go on
            units = units[-1:]
    if units:
        yield units


def _has_id(case: CaseRecord) -> bool:
    """Say whether a case has an id of its own, and not only its number."""
    return case.row is not None and case.row.get("id") is not None


def _key(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _content(case: CaseRecord) -> bytes:
    """Return what cases of equal content have in common, whatever the order of their columns."""
    return blake2b(_key([case.row, case.fault]), digest_size=16).digest()
