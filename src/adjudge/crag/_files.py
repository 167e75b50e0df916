"""The files of an evaluation, each written whole or not at all.

turn_evaluation_results_all.csv      every turn, 19 columns
turn_evaluation_results_ego.csv      the ego-centric ones
scores_dictionary.json               {"all": {...}, "ego": {...}}
score_breakdowns.csv                 the breakdowns of those scores, a line for each value and metric
turn_scorer_results.csv              where there are additional scorers: a line for each turn and scorer
turn data                            JSON lines, at the path that is given
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adjudge.conversations import RATES
from adjudge.crag._csv import read_csv, write_csvs, write_table
from adjudge.crag._results import TurnResults
from adjudge.crag._tables import read_parquet, write_parquet
from adjudge.crag._turns import SCORERS
from adjudge.datasets import format_of, whole_file
from adjudge.errors import DataError, UsageError

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


def save_results(
    turn_results: Iterable[Mapping[str, Any]],
    scores: Mapping[str, Any],
    output_dir: str | Path,
    *,
    raw_csv: bool = False,
    parquet: bool = False,
) -> dict[str, Path]:
    """Write results and scores into a folder, made if need be, and return what was written, by name.

    Rows are written in the order of (session_id, turn_idx), whatever order they come in. `raw_csv` writes cells that a
    spreadsheet would run as they are; `parquet` writes the results as Parquet too.
    """
    folder = Path(output_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
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
    """Read a dictionary of scores; a file that holds none raises `DataError`."""
    try:
        scores = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(scores, dict):
        raise DataError(f"{path} holds no dictionary of scores")
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
