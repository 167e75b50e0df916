"""Scoring a file of rows: chunks in, one line a row and scorer out, in input order, in flat memory.

    score_file("rows.jsonl", ["qa_f1_reward"], out="scores.jsonl", workers=4).tallies[0].mean

The parent reads blocks, the workers decode, score and encode, the parent writes: the same bytes for any number of
workers.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from adjudge.datasets import Chunk, Format, RepeatFinder, RowRead, json_line, read_chunks, sort_ids, whole_file
from adjudge.errors import ArgumentError, DataError, UsageError, closest
from adjudge.model import Score
from adjudge.processes import map_chunks
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs._summary import Summary, Tally

GROUP = "group_id"
ENOUGH = 1024  # rows after which a chunk ends with its group
LARGEST = 65_536  # rows of one group that are held in memory


Columns: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs: the name of an argument, and the column that supplies it."""


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """The result of one chunk."""

    lines: bytes
    tallies: tuple[Tally, ...]
    ids: list[bytes]  # sorted by `sort_ids`, for the RepeatFinder
    rows: int
    size: int


MapChunks: TypeAlias = Callable[[Callable[[Chunk], ChunkScores], Iterable[Chunk]], Iterator[ChunkScores]]
"""Applies a function to every chunk, wherever that is, and gives the results in the order of the chunks."""


def score_file(
    source: str,
    scorers: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    out: str | None = None,
    workers: int = 1,
    format: Format | None = None,  # noqa: A002 (the word that users expect)
    on_progress: Callable[[int, int], None] | None = None,
    map_over: "MapChunks | None" = None,
) -> Summary:
    """Score every row of a file (`-`: standard input) with every scorer, and return the summary.

    `columns` maps argument names to column names. `out` gets one JSON line a row and scorer, in input order. A row
    that cannot be read or scored is an error row, not the end of the run. `on_progress` is called with the rows and
    bytes done so far. `map_over` scores chunks elsewhere than in `workers` processes of this machine.
    """
    named, specs = tuple((columns or {}).items()), tuple(scorers)
    made = _scorers(specs)
    if not made:
        raise UsageError("name a scorer")
    check_place(out, source)
    check_mapping(made, named)
    tallies = tuple(Tally(scorer.name, scorer.range) for scorer in made)
    rows = size = 0
    with ExitStack() as stack:
        repeats = stack.enter_context(RepeatFinder())
        groups = stack.enter_context(RepeatFinder())
        chunks = _checked(read_chunks(source, format), made, named, source)
        if any(scorer.is_group for scorer in made):
            chunks = by_group(chunks, partial(rename, named), groups)
        file = stack.enter_context(whole_file(out)) if out is not None else None
        apply = map_over or partial(map_chunks, workers=workers)
        for done in apply(partial(score_chunk, specs, named), chunks):
            if file is not None:
                file.write(done.lines)
            for tally, more in zip(tallies, done.tallies, strict=True):
                tally.merge(more)
            repeats.add(done.ids)
            rows, size = rows + done.rows, size + done.size
            if on_progress is not None:
                on_progress(rows, size)
        refuse_torn(groups)
        return Summary(rows, tallies, tuple(_warnings(rows, source, repeats)))


def rename(columns: Columns, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its mapped columns under the argument names, too."""
    return {**row, **{name: row[column] for name, column in columns if column in row}} if columns else row


def row_label(row: Mapping[str, Any] | None, number: int) -> Any:
    """Return the name of a row in the output: its id, else its number."""
    identity = None if row is None else row.get("id")
    if isinstance(identity, float) and identity - identity != 0:
        return repr(identity)  # JSON cannot hold it as a number
    return number if identity is None else identity


def score_chunk(scorers: tuple[str, ...], columns: Columns, chunk: Chunk) -> ChunkScores:
    """Decode, score and encode one chunk; runs in a worker."""
    rows = chunk.rows()
    if columns:
        rows = [row if row.columns is None else row._replace(columns=rename(columns, row.columns)) for row in rows]
    labels = [row_label(row.columns, row.number) for row in rows]
    given: list[list[Score]] = []
    tallies: list[Tally] = []
    for scorer in _scorers(scorers):
        scores = _score_rows(rows, scorer)
        tally = Tally(scorer.name, scorer.range)
        tally.add(labels, scores)
        tallies.append(tally)
        given.append(scores)
    lines = [
        json_line(score_line(label, score), checked=True)
        for label, *scores in zip(labels, *given, strict=True)
        for score in scores
    ]
    # Rows without an id are named by their numbers, which cannot repeat.
    ids = sort_ids(
        (label_of(label), row.number)
        for label, row in zip(labels, rows, strict=True)
        if row.columns is not None and row.columns.get("id") is not None
    )
    return ChunkScores(b"".join(lines), tuple(tallies), ids, len(rows), chunk.size)


def _score_rows(rows: Sequence[RowRead], scorer: Scorer) -> list[Score]:
    """Score the rows that can be scored; the others get errors in their places."""
    # Nearly always no row is at fault: then nothing is copied.
    faults = [_fault(row, scorer.is_group) for row in rows]
    asked = rows if not any(faults) else [row for row, fault in zip(rows, faults, strict=True) if fault is None]
    columns = [row.columns for row in asked if row.columns is not None]
    scores = scorer.score_many(columns, labels=[row.number for row in asked])
    if len(scores) == len(rows):
        return scores
    unknown = dict.fromkeys(scorer.parts or ())
    given = iter(scores)
    return [
        next(given) if fault is None else Score.error(fault, parts=unknown, provenance=scorer.provenance)
        for fault in faults
    ]


def _fault(row: RowRead, grouped: bool) -> str | None:
    """Return why a row cannot be scored, or None."""
    if row.columns is None:
        return row.fault or "bad-row"
    if grouped and row.columns.get(GROUP) is None:
        return f"missing-column: row {row.number} has no column {GROUP!r}"
    return None


def score_line(identity: Any, score: Score) -> dict[str, Any]:
    """Return a score as a line of an output file has it."""
    provenance = score.provenance
    line: dict[str, Any] = {
        "id": identity,
        "scorer": None if provenance is None else provenance.scorer,
        "value": score.value,
        "status": score.status,
        "parts": score.parts,
        "reason": score.reason,
        "version": None if provenance is None else provenance.version,
    }
    if score.steps is not None:
        line["steps"] = score.steps
    if score.notes is not None:
        line["notes"] = score.notes
    return line


@lru_cache(maxsize=8)
def _scorers(names: tuple[str, ...]) -> tuple[Scorer, ...]:
    return tuple(get_scorer(name) for name in names)


def check_place(out: str | Path | None, *read: str | Path | None) -> None:
    """Raise `UsageError` for an output that cannot be written, or that is one of the files that are read."""
    if out is None or str(out) == "-":
        return
    target = Path(out)
    for other in (Path(one) for one in read if one is not None and str(one) != "-"):
        is_same = (
            target.samefile(other)
            if target.exists() and other.exists()
            else os.path.realpath(target) == os.path.realpath(other)
        )
        if is_same:
            raise UsageError(f"{out} is read by this call: it would be overwritten", code="cannot-write")
    if target.is_dir():
        raise UsageError(f"{out}: Is a directory", code="cannot-write")
    # A file is written beside its place and renamed, so its folder must be writable; a pipe or device is written to.
    folder = Path(os.path.realpath(target)).parent  # `resolve` fails on links that name each other
    if target.is_file() or not target.exists():
        if not folder.is_dir():
            raise UsageError(f"{out}: No such file or directory ({folder} is not a folder)", code="cannot-write")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(f"{out}: the folder {folder} cannot be written to", code="cannot-write")


def check_mapping(scorers: Sequence[Scorer], columns: Columns, more: Sequence[str] = ()) -> None:
    """Raise for a mapping of an argument which no scorer takes, and which is none of `more`."""
    taken = [scorer.accepts for scorer in scorers]
    # A scorer that takes everything (`accepts` is None) makes every mapping a valid one.
    known = {name for names in taken for name in names or ()} | {"id", GROUP, "prediction", *more}
    for name, _ in columns:
        if name not in known and None not in taken:
            raise ArgumentError(f"no scorer takes an argument {name!r}, which --map names{closest(name, known)}")


def _checked(chunks: Iterable[Chunk], scorers: Sequence[Scorer], columns: Columns, source: str) -> Iterator[Chunk]:
    """Check the columns of the first chunk before anything is scored."""
    source_chunks = iter(chunks)
    first = next(source_chunks, None)
    if first is None:
        return iter(())
    check_columns(((row.number, row.columns) for row in first.rows() if row.columns), scorers, columns, source)
    return chain([first], source_chunks)


def check_columns(
    rows: Iterable[tuple[int, Mapping[str, Any]]], scorers: Sequence[Scorer], columns: Columns, source: str
) -> None:
    """Raise for a file whose first rows, given with their numbers, lack a column that a scorer needs."""
    found = list(rows)
    present = dict.fromkeys(name for _, row in found for name in row)
    if not present:
        return
    for name, column in columns:
        if column not in present:
            message = f"{source} has no column {column!r}, which --map gives to {name!r}{closest(column, present)}"
            raise ArgumentError(message)
    named = [*present, *(name for name, _ in columns)]
    if columns and any(hasattr(scorer, "judge") for scorer in scorers):
        _refuse_hidden(columns, named)
    for scorer in scorers:
        try:
            scorer.check(named)
        except ArgumentError as error:
            message = f"{source} (from row {found[0][0]} on) has {error.message}"
            hint = f"its columns are {', '.join(present)}; one of another name is given by --map ARGUMENT=COLUMN"
            raise ArgumentError(f"{message}; {hint}") from None
        if scorer.is_group and GROUP not in named:
            message = f"{source} has no column {GROUP!r}, by which {scorer.name} groups rollouts"
            raise ArgumentError(f"{message}{closest(GROUP, present)}; --map {GROUP}=COLUMN names it")


def _refuse_hidden(columns: Columns, named: Sequence[str]) -> None:
    """Raise for a mapping that a judge would not see, because the rows have a column that counts before it."""
    from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES

    for name, column in columns:
        for names in (QUESTIONS, REFERENCES, RESPONSES):
            first = next((one for one in names if one in named), name)
            if name in names and first != name:
                message = f"--map {name}={column} has no effect: a judge reads the column {first!r} of these rows first"
                raise ArgumentError(f"{message}; write --map {names[0]}={column}")


def refuse_torn(groups: RepeatFinder) -> None:
    """Raise for groups of rollouts whose rows are not next to one another."""
    count, torn = groups.repeats(1)
    if count:
        message = (
            f"the rows of group {torn[0].id} are not next to one another (rows {torn[0].first} and {torn[0].second})"
        )
        raise DataError(f"{message}: sort the rows by group_id", code="torn-group")


def by_group(
    chunks: Iterable[Chunk], named: Callable[[dict[str, Any]], dict[str, Any]], seen: RepeatFinder
) -> Iterator[Chunk]:
    """Cut the rows into new chunks so that neighbours with the same `group_id` stay in one chunk.

    `named` gives a row its argument names. `seen` collects where each group begins, so that one that begins twice can
    be found. Rows without a group, and unreadable ones, do not separate the rows around them.
    """
    records: list[dict[str, Any] | str] = []
    numbers: list[int] = []
    current = ""
    size = strays = 0  # rows of the current group, and rows without a group since its last
    for chunk in chunks:
        for number, columns, fault in chunk.rows():
            group = None if columns is None else named(columns).get(GROUP)
            name = current if group is None else repr(group)
            if name != current:
                seen.add(sort_ids([(name, number)]))
                current, size = name, 0
                if len(records) >= ENOUGH:
                    yield Chunk(numbers[0], records=records, numbers=numbers)
                    records, numbers = [], []
            size, strays = (size, strays + 1) if group is None else (size + 1, 0)
            if size > LARGEST:
                raise DataError(f"group {current} has more than {LARGEST} rows", code="group-too-large")
            records.append(fault or "bad-row" if columns is None else columns)
            numbers.append(number)
            if strays > LARGEST:  # count the group as ended; if more of it comes, it is a torn one
                yield Chunk(numbers[0], records=records, numbers=numbers)
                records, numbers, current, size, strays = [], [], "", 0, 0
    if records:
        yield Chunk(numbers[0], records=records, numbers=numbers)


def _warnings(rows: int, source: str, repeats: RepeatFinder) -> Iterator[str]:
    if not rows:
        yield f"{source} holds no rows"
    yield from repeat_warnings(repeats)


def label_of(id_: object) -> str:
    """Return an id as a text for the RepeatFinder: the text "1" is not the number 1."""
    return id_ if isinstance(id_, str) else f"\0{id_!r}"


def repeat_warnings(repeats: RepeatFinder) -> Iterator[str]:
    """Warn of ids that several rows have: their lines look alike."""
    count, found = repeats.repeats()
    if count:
        examples = ", ".join(f"{_shown(one.id)} on rows {one.first} and {one.second}" for one in found)
        rows = f"{count} rows repeat" if count > 1 else "1 row repeats"
        yield f"{rows} an id that came before ({examples}); all were scored"


def _shown(id_: str) -> str:
    return id_[1:] if id_.startswith("\0") else repr(id_)
