"""The results of an evaluation: rows in order, as many as there are, in little memory, and the files they are saved in.

    results = TurnResults.of(rows)      any number of rows, in any order
    results[0]["is_correct"]            a plain dict
    results.to_pandas()                 where pandas is installed

Many rows are kept encoded, in a temporary file, and decoded when they are read. `save_results` writes each of these
files whole or not at all:

    turn_evaluation_results_all.csv      every turn, 19 columns
    turn_evaluation_results_ego.csv      the ego-centric ones
    scores_dictionary.json               {"all": {...}, "ego": {...}}
    score_breakdowns.csv                 the breakdowns of those scores, a line for each value and metric
    turn_scorer_results.csv              where there are additional scorers: a line for each turn and scorer
"""

import json
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, get_type_hints, overload

import msgspec
from msgspec.structs import asdict

from adjudge.conversations import RATES, RuleScope, given_up_after
from adjudge.crag._tables import read_csv, read_parquet, to_pandas, to_polars, write_csvs, write_parquet, write_table
from adjudge.crag._turns import COLUMNS, SCORERS, ResultRow, check_result, labels_of
from adjudge.datasets import format_of, whole_file
from adjudge.errors import DataError, RowError, UsageError

ALL_CSV = "turn_evaluation_results_all.csv"
EGO_CSV = "turn_evaluation_results_ego.csv"
SCORES_JSON = "scores_dictionary.json"
BREAKDOWNS_CSV = "score_breakdowns.csv"
SCORERS_CSV = "turn_scorer_results.csv"
ALL_PARQUET = "turn_evaluation_results_all.parquet"

_BREAKDOWN_COLUMNS = (
    *("subset", "breakdown", "value", "metric", "estimate", "n", "clusters", "se", "low", "high", "note"),
    *("unscored", "errors"),
)
_SCORER_COLUMNS = ("session_id", "interaction_id", "turn_idx", "scorer", "value", "status", "reason")

IN_MEMORY = 1 << 24  # bytes of rows that are kept in memory
AT_ONCE = 256  # rows that are read together

_OTHERS = "others"
_Stored = msgspec.defstruct(
    "Stored", [*get_type_hints(ResultRow).items(), (_OTHERS, dict[str, Any] | None)], array_like=True, gc=False
)
_decode_lines = msgspec.json.Decoder(_Stored).decode_lines
_encode = msgspec.json.Encoder().encode


class _Pile:
    """Encoded rows, one after the other: in memory while they are few, then in a temporary file."""

    def __init__(self) -> None:
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._descriptor = -1
        self._on_disk = 0
        self.starts = array("Q", [0])  # of the rows, and where the last one ends

    def append(self, row: bytes) -> None:
        self._memory += row
        self.starts.append(self.starts[-1] + len(row))
        if len(self._memory) > IN_MEMORY:
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115 (closed with the pile)
                self._descriptor = self._file.fileno()
            self._on_disk += self._file.write(self._memory)
            self._file.flush()
            self._memory.clear()

    def read(self, first: int, count: int = 1) -> bytes:
        """Return some rows that follow one another."""
        start, stop, split = self.starts[first], self.starts[first + count], self._on_disk
        if self._file is None or start >= split:
            return bytes(self._memory[start - split : stop - split])
        # `pread` has a place of its own, so that two readers do not move each other's.
        on_disk = os.pread(self._descriptor, min(stop, split) - start, start)
        return on_disk if stop <= split else on_disk + self._memory[: stop - split]

    def in_order(self, order: Sequence[int]) -> "_Pile":
        """Return a pile of the same rows in another order."""
        pile = _Pile()
        for index in order:
            pile.append(self.read(index))
        return pile

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


class TurnResults(Sequence[dict[str, Any]]):
    """Result rows in the order of (session_id, turn_idx); it does not change, and the rows it gives are copies."""

    __slots__ = ("_pile", "_places", "_ruled")

    def __init__(self, pile: _Pile, places: range, ruled: bytes) -> None:
        self._pile = pile
        self._places = places
        self._ruled = ruled  # by place: whether the two-wrong rule makes it a miss

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], *, rule_scope: RuleScope = "conversation") -> "TurnResults":
        """Take the rows in any order; under `rule_scope="all"` they get the labels that the two-wrong rule gives.

        A row that lacks a column, or has one of a wrong type, raises `RowError`.
        """
        # They are checked and in order already.
        if isinstance(rows, cls) and rule_scope == "conversation":
            return rows
        pile = _sorted_pile(rows)
        places = range(len(pile.starts) - 1)
        raw = cls(pile, places, bytes(len(places)))
        return raw if rule_scope == "conversation" else cls(pile, places, _given_up(raw))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        places = self._places
        # A slice with a step does not read rows that follow one another.
        if places.step != 1:
            yield from (self._one(place) for place in places)
            return
        for first in range(places.start, places.stop, AT_ONCE):
            count = min(AT_ONCE, places.stop - first)
            ruled = self._ruled[first : first + count]
            for row, is_ruled in zip(_decoded(self._pile.read(first, count)), ruled, strict=True):
                yield _make_miss(row) if is_ruled else row

    def _one(self, place: int) -> dict[str, Any]:
        (row,) = _decoded(self._pile.read(place))
        return _make_miss(row) if self._ruled[place] else row

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> "TurnResults": ...
    def __getitem__(self, index: int | slice) -> "dict[str, Any] | TurnResults":
        if isinstance(index, slice):
            return TurnResults(self._pile, self._places[index], self._ruled)
        return self._one(self._places[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TurnResults):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of every sequence of dicts

    def __reduce__(self) -> tuple[Any, ...]:
        return TurnResults.of, (list(self),)

    def __repr__(self) -> str:
        return f"TurnResults({len(self)} rows)"

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the 19 columns."""
        return to_pandas(self)

    def to_polars(self) -> Any:
        """Return a polars DataFrame with the 19 columns; `api_response` is JSON in it."""
        return to_polars(self)

    def to_parquet(self, path: str | Path) -> None:
        """Write the 19 columns as Parquet; the file appears when it is whole."""
        write_parquet(str(path), self)


def _sorted_pile(rows: Iterable[Mapping[str, Any]]) -> _Pile:
    pile = _Pile()
    sessions: dict[str, int] = {}
    numbers, turns = array("Q"), array("Q")
    for number, row in enumerate(rows, 1):
        try:
            checked = check_result(row)
        except RowError as error:
            raise RowError(f"row {number}: {error.message}") from None
        numbers.append(sessions.setdefault(checked["session_id"], len(sessions)))
        turns.append(checked["turn_idx"])
        pile.append(_encoded(checked))
    # Sessions are sorted once, by name; then a row's key is one integer, which sorts quickly and takes eight bytes.
    ranks = array("Q", bytes(8 * len(sessions)))
    for rank, session in enumerate(sorted(sessions)):
        ranks[sessions[session]] = rank
    keys = array("Q", [ranks[number] << 32 | turn for number, turn in zip(numbers, turns, strict=True)])
    # The usual case: results come from a run in this order already.
    if all(key <= after for key, after in pairwise(keys)):
        return pile
    return pile.in_order(sorted(range(len(keys)), key=keys.__getitem__))


def _encoded(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line: its values, and a dict of what else it has."""
    values = list(row.values())
    if len(values) == len(COLUMNS):
        values.append(None)
    else:
        values = [*values[: len(COLUMNS)], dict(list(row.items())[len(COLUMNS) :])]
    try:
        return _encode(values) + b"\n"
    # Half a character, or an integer over 64 bits: rare, and the slow encoder takes both.
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(values).encode() + b"\n"


def _decoded(lines: bytes) -> list[dict[str, Any]]:
    try:
        rows = [asdict(stored) for stored in _decode_lines(lines)]
    # Half a character is somewhere, or such an integer: then all lines are read the slow way.
    except (msgspec.DecodeError, UnicodeDecodeError):
        rows = [dict(zip((*COLUMNS, _OTHERS), json.loads(line), strict=True)) for line in lines.splitlines()]
    for row in rows:
        others = row.pop(_OTHERS)
        if others:
            row.update(others)
    return rows


def _make_miss(row: dict[str, Any]) -> dict[str, Any]:
    row.update(is_exact_match=False, is_correct=False, is_miss=True, is_semantically_correct=False)
    return row


def _given_up(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return 1 for each scored row that comes after two wrong in a row, rows being in order."""
    flags = bytearray()
    for _, turns in groupby(rows, key=lambda row: row["session_id"]):
        labels = [labels_of(row).label for row in turns]
        kept = given_up_after(labels)
        flags += bytes(kept) + bytes(label != "unscored" for label in labels[kept:])
    return bytes(flags)


def save_results(
    turn_results: Iterable[Mapping[str, Any]],
    scores: Mapping[str, Any],
    output_dir: str | Path,
    *,
    raw_csv: bool = False,
    parquet: bool = False,
) -> dict[str, Path]:
    """Write results and scores into a folder, which is made if it is not there, and return what was written, by name.

    Rows may be in any order, and are written in that of (session_id, turn_idx). `raw_csv` writes cells that a
    spreadsheet would run as they are; `parquet` writes the results as Parquet too.
    """
    from adjudge.crag._phases import make_folder

    folder = make_folder(Path(output_dir))
    results = TurnResults.of(turn_results)
    written = [ALL_CSV, EGO_CSV, SCORES_JSON, BREAKDOWNS_CSV]
    write_csvs(str(folder / ALL_CSV), str(folder / EGO_CSV), results, raw_csv=raw_csv)
    write_scores(folder / SCORES_JSON, scores)
    write_table(str(folder / BREAKDOWNS_CSV), _BREAKDOWN_COLUMNS, _breakdown_lines(scores), raw_csv=raw_csv)
    if any(SCORERS in block for block in scores.values() if isinstance(block, Mapping)):
        write_table(str(folder / SCORERS_CSV), _SCORER_COLUMNS, _scorer_lines(results), raw_csv=raw_csv)
        written.append(SCORERS_CSV)
    if parquet:
        write_parquet(str(folder / ALL_PARQUET), results)
        written.append(ALL_PARQUET)
    return {name: folder / name for name in written}


def read_results(path: str | Path, *, raw_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Read results, CSV or Parquet, as they were; `raw_csv` says that a CSV was written so.

    What cannot be read raises `RowError` with file, row and column.
    """
    if format_of(str(path)) == "parquet":
        return read_parquet(str(path))
    return read_csv(str(path), raw_csv=raw_csv)


def write_scores(path: str | Path, scores: Mapping[str, Any]) -> None:
    """Write a dictionary of scores as JSON; a number that JSON does not have raises `ValueError`."""
    encoded = json.dumps(scores, indent=2, allow_nan=False).encode()
    with whole_file(str(path)) as file:
        file.write(encoded + b"\n")


def read_scores(path: str | Path) -> dict[str, Any]:
    """Read a dictionary of scores; a file without one raises `DataError`."""
    try:
        scores = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(scores, dict):
        raise DataError(f"{path} does not hold a dictionary of scores")
    return scores


def _breakdown_lines(scores: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for subset, block in scores.items():
        breakdowns = block.get("breakdowns", {}) if isinstance(block, Mapping) else {}
        for breakdown, entries in breakdowns.items():
            for entry in entries:
                for metric in RATES[:-1]:
                    found = entry["intervals"][metric]
                    yield (
                        *(subset, breakdown, entry["value"], metric, entry[metric]),
                        *(found[name] for name in ("n", "clusters", "se", "low", "high", "note")),
                        *(entry["unscored"], entry["errors"]),
                    )


def _scorer_lines(results: TurnResults) -> Iterator[tuple[Any, ...]]:
    for row in results:
        for name, score in row.get(SCORERS, {}).items():
            turn = (row["session_id"], row["interaction_id"], row["turn_idx"])
            yield (*turn, name, score.get("value"), score["status"], score.get("reason"))
