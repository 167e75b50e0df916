"""The files of an evaluation, each written whole or not at all.

turn_evaluation_results_all.csv      every turn, 19 columns
turn_evaluation_results_ego.csv      the ego-centric ones
scores_dictionary.json               {"all": {...}, "ego": {...}}
turn data                            JSON lines, at the path that is given
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.crag._csv import read_csv, write_csvs
from adjudge.crag._tables import write_parquet
from adjudge.crag._turns import turn_row
from adjudge.datasets import json_line, read_rows, whole_file
from adjudge.errors import DataError, RowError

ALL_CSV = "turn_evaluation_results_all.csv"
EGO_CSV = "turn_evaluation_results_ego.csv"
ALL_PARQUET = "turn_evaluation_results_all.parquet"
SCORES_JSON = "scores_dictionary.json"


def write_turns(path: str | Path, turns: Iterable[Mapping[str, Any]]) -> int:
    """Write turn data as JSON lines at the path, and return how many there were; each is checked first."""
    count = 0
    with whole_file(str(path)) as file:
        for count, turn in enumerate(turns, 1):
            file.write(json_line(turn_row(turn, place=f"turn {count}: ")))
    return count


def read_turns(path: str | Path) -> Iterator[dict[str, Any]]:
    """Read turn data; a line that is broken, or lacks a field, raises `RowError` with file, line and field."""
    for number, columns, fault in read_rows(str(path), "jsonl"):
        if columns is None:
            raise RowError(f"{path}: {(fault or '').removeprefix('bad-row: ')}")
        yield turn_row(columns, place=f"{path}, line {number}: ")


def read_results(path: str | Path, *, raw_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Read results from CSV as they were; `raw_csv` says that the file was written so."""
    return read_csv(str(path), raw_csv=raw_csv)


def read_scores(path: str | Path) -> dict[str, Any]:
    """Read a dictionary of scores."""
    scores = json.loads(Path(path).read_bytes())
    if not isinstance(scores, dict):
        raise DataError(f"{path} is no dictionary of scores")
    return scores


def save_results(
    turn_results: Sequence[Mapping[str, Any]],
    scores: Mapping[str, Any],
    output_dir: str | Path,
    *,
    raw_csv: bool = False,
    parquet: bool = False,
) -> dict[str, Path]:
    """Write both CSVs and the scores into a folder, made if need be, and return the paths by name."""
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    write_csvs(str(folder / ALL_CSV), str(folder / EGO_CSV), turn_results, raw_csv=raw_csv)
    with whole_file(str(folder / SCORES_JSON)) as file:
        file.write(json.dumps(scores, indent=2, allow_nan=False).encode() + b"\n")
    if parquet:
        write_parquet(str(folder / ALL_PARQUET), turn_results)
    names = (ALL_CSV, EGO_CSV, SCORES_JSON, *((ALL_PARQUET,) if parquet else ()))
    return {name: folder / name for name in names}
