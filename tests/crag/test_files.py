"""The result files: what they hold, that they are whole, and that they are read back equal."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.conversations import METRICS
from adjudge.crag._results import (
    ALL_CSV,
    ALL_PARQUET,
    BREAKDOWNS_CSV,
    EGO_CSV,
    SCORERS_CSV,
    SCORES_JSON,
    TurnResults,
    read_results,
    read_scores,
    save_results,
    write_scores,
)
from adjudge.crag._scores import score_results
from adjudge.crag._tables import fit, guard, unfit, unguard
from adjudge.crag._turns import COLUMNS
from adjudge.errors import DataError, RowError, UsageError
from crag.rows import NASTY, nasty_rows, rows_of


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: what a power cut leaves is not looked at here, and files are written by the hundred."""
    monkeypatch.setattr("os.fsync", lambda _: None)


CELLS = [
    ("=1+1", "'=1+1"),
    ("+1+1", "'+1+1"),
    ("-40 degrees", "'-40 degrees"),
    ("@SUM(A1)", "'@SUM(A1)"),
    ("\t=1", "'\t=1"),
    ("\r=1", "'\r=1"),
    ("＝1+1", "'＝1+1"),
    ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
    ("'=1+1", "''=1+1"),
    ("-", "'-"),
    ("-40", "-40"),
    ("+3.5e-2", "+3.5e-2"),
    ("-.5", "-.5"),
    ("'tis", "'tis"),
    ("'-40", "'-40"),
    ("'", "'"),
    ("", ""),
    ("a=1", "a=1"),
    ("1-2", "1-2"),
]


@pytest.mark.parametrize(("text", "cell"), CELLS)
def test_formulas(text: str, cell: str) -> None:
    """What a spreadsheet would run gets an apostrophe, plain numbers and other text do not, and it comes off again."""
    assert guard(text) == cell
    assert unguard(cell) == text


@given(NASTY)
def test_cells(text: str) -> None:
    """Every text comes back; what is written can be encoded and is no formula."""
    cell = guard(fit(text))
    assert unfit(unguard(cell)) == text
    assert unfit(fit(text)) == text
    assert "\0" not in cell
    assert cell.encode().decode() == cell
    if cell[:1] in tuple("=+-@\t\r\n"):
        float(cell)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=nasty_rows(), raw_csv=st.booleans())
def test_round_trip(tmp_path: Path, rows: list[dict[str, Any]], raw_csv: bool) -> None:
    """Results written as CSV and as Parquet are read back equal; the ego file has the ego-centric ones."""
    paths = save_results(rows, score_results(rows), tmp_path, raw_csv=raw_csv, parquet=True)
    assert list(read_results(paths[ALL_CSV], raw_csv=raw_csv)) == rows
    assert list(read_results(paths[EGO_CSV], raw_csv=raw_csv)) == [row for row in rows if row["is_ego"]]
    assert list(read_results(paths[ALL_PARQUET])) == rows
    assert read_scores(paths[SCORES_JSON]) == json.loads(json.dumps(score_results(rows)))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=nasty_rows())
def test_any_reader(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Python's own reader finds the header, 19 cells a row, valid JSON in two of them, and nothing to run."""
    save_results(rows, {}, tmp_path)
    with (tmp_path / ALL_CSV).open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file, strict=True)
    assert tuple(header) == COLUMNS
    assert len(found) == len(rows)
    for cells, row in zip(found, rows, strict=True):
        by_name = dict(zip(header, cells, strict=True))
        assert json.loads(by_name["interaction_id_history"]) == row["interaction_id_history"]
        assert json.loads(by_name["api_response"]) == row["api_response"]
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n") and cell.strip("0123456789.eE+-")]


def test_as_the_benchmark_writes(tmp_path: Path) -> None:
    """A row stands in the CSV as a person would expect it."""
    (row,) = rows_of(["C"], domain=3, ego=[True], interaction_id_history=["a", "b"])
    save_results([{**row, "api_response": {"verdict": "CORRECT"}}], {}, tmp_path)
    assert (tmp_path / EGO_CSV).read_text(encoding="utf-8").splitlines()[1] == (
        's0000,s0000-0,0,True,,,3,,What color is this car?,red,C,1,"[""a"",""b""]",'
        'False,True,False,True,"{""verdict"":""CORRECT""}",scored'
    )


def test_order_does_not_matter(tmp_path: Path) -> None:
    """Rows that come in any order, in any number of parts, give the same bytes in every file."""
    conversations = ["CHHCC", "CCM", "H", "XUE"] * 20
    rows = rows_of(conversations, ego=[number % 3 == 0 for number in range(80)], query="=1+1\r\n")
    for row in rows:
        row["domain"] = row["turn_idx"] % 3
        row["scorers"] = {"f1": {"value": row["turn_idx"] / 7, "status": "scored", "reason": None}}
    seen = set()
    for seed in range(5):
        mixed = random.Random(seed).sample(rows, len(rows)) if seed else rows  # noqa: S311 (the same in every run)
        paths = save_results(mixed, score_results(mixed), tmp_path / f"{seed}")
        seen.add(tuple((name, path.read_bytes()) for name, path in sorted(paths.items())))
    assert len(seen) == 1


def test_nothing(tmp_path: Path) -> None:
    """No turns: header-only CSVs, zeros, valid JSON, never NaN."""
    scores = score_results([])
    paths = save_results([], scores, tmp_path, parquet=True)
    header = ",".join(COLUMNS) + "\n"
    assert paths[ALL_CSV].read_text() == paths[EGO_CSV].read_text() == header
    assert list(read_results(paths[ALL_CSV])) == list(read_results(paths[ALL_PARQUET])) == []
    for block in read_scores(paths[SCORES_JSON]).values():
        assert {name: block[name] for name in METRICS} == dict.fromkeys(METRICS, 0.0)
        assert {interval["note"] for interval in block["intervals"].values()} == {"nothing was scored"}


def test_empty_subset(tmp_path: Path) -> None:
    """Where no turn is ego-centric, that subset is empty, and the other is not."""
    rows = rows_of(["CHH"])
    paths = save_results(rows, score_results(rows), tmp_path)
    scores = read_scores(paths[SCORES_JSON])
    assert (scores["all"]["total"], scores["ego"]["total"]) == (3.0, 0.0)
    assert paths[EGO_CSV].read_text().count("\n") == 1


def test_scores_file(tmp_path: Path) -> None:
    """The dictionary has `all` and `ego`, the eleven keys first, all of them floats, extras after."""
    rows = rows_of(["CHHCC", "CCM", "H"], ego=[True])
    paths = save_results(rows, score_results(rows), tmp_path)
    scores = json.loads(paths[SCORES_JSON].read_bytes(), parse_constant=pytest.fail)
    assert list(scores) == ["all", "ego"]
    for block in scores.values():
        assert tuple(block)[:11] == METRICS
        assert all(isinstance(block[name], float) for name in METRICS)
    assert scores["all"]["mean_multi_turn_conversation_score"] == pytest.approx(-0.17778, abs=1e-5)
    assert scores["ego"]["mean_multi_turn_conversation_score"] == -0.2


def test_breakdowns_file(tmp_path: Path) -> None:
    """Every breakdown stands in a table of its own: subset, value, metric, estimate, n and interval."""
    rows = rows_of(["CHHCC", "CCM", "H"], domain="=sports", image_quality=2)
    paths = save_results(rows, score_results(rows), tmp_path)
    with paths[BREAKDOWNS_CSV].open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    (line,) = [one for one in table if one["breakdown"] == "domain" and one["metric"] == "accuracy"]
    assert (line["subset"], line["value"], line["n"], line["clusters"]) == ("all", "'=sports", "9", "3")
    assert float(line["estimate"]) == pytest.approx(5 / 9)
    assert float(line["low"]) < 5 / 9 < float(line["high"])
    assert [one["value"] for one in table if one["breakdown"] == "turn_idx" and one["metric"] == "missing"] == [
        *("0", "1", "2", "3", "4"),
    ]


def test_scorers_file(tmp_path: Path) -> None:
    """Values of additional scorers stand in a file of their own; the CSVs keep their 19 columns."""
    rows = rows_of(["CH"])
    rows[0]["scorers"] = {"f1": {"value": 0.5, "status": "scored", "reason": None}}
    rows[1]["scorers"] = {"f1": {"value": None, "status": "error", "reason": "raised: =1+1"}}
    paths = save_results(rows, score_results(rows), tmp_path)
    assert paths[SCORERS_CSV].read_text() == (
        "session_id,interaction_id,turn_idx,scorer,value,status,reason\n"
        "s0000,s0000-0,0,f1,0.5,scored,\n"
        "s0000,s0000-1,1,f1,,error,raised: =1+1\n"
    )
    assert [tuple(row) for row in read_results(paths[ALL_CSV])] == [COLUMNS, COLUMNS]
    without = [{name: row[name] for name in COLUMNS} for row in rows]
    assert SCORERS_CSV not in save_results(without, score_results(without), tmp_path / "none")


def test_raw_csv(tmp_path: Path) -> None:
    """`raw_csv` leaves formulas as they are, and reading so takes no apostrophe off."""
    rows = rows_of(["C"], query="=1+1", ground_truth="'=2")
    save_results(rows, {}, tmp_path, raw_csv=True)
    assert ",=1+1,'=2," in (tmp_path / ALL_CSV).read_text()
    assert list(read_results(tmp_path / ALL_CSV, raw_csv=True)) == rows


def test_written_whole(tmp_path: Path) -> None:
    """Where a row or a number cannot be written, the files that were there stand as they were."""
    rows = rows_of(["C"])
    paths = save_results(rows, score_results(rows), tmp_path)
    before = {name: path.read_bytes() for name, path in paths.items()}
    with pytest.raises(RowError, match="row 2: there is no field 'session_id'"):
        save_results([*rows, {}], {}, tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        write_scores(tmp_path / SCORES_JSON, {"all": {"accuracy": float("nan")}})
    with pytest.raises(RowError, match=r"row 1: api_response.score is nan, which JSON cannot hold"):
        save_results([{**rows[0], "api_response": {"score": float("nan")}}], {}, tmp_path)
    assert {name: path.read_bytes() for name, path in paths.items()} == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",0,False", ",zero,False", "turn_idx: invalid literal for int() with base 10: 'zero'"),
        (",0,False", ",0,maybe", "is_ego: 'maybe' is neither True nor False"),
        (",[],", ",[},", "interaction_id_history: not JSON: "),
        ("null", '"[1]"', "api_response: expected `object | null`, got `array`"),
        (",scored", ",done", "status: invalid enum value 'done'"),
        ("red", '"json:""\\u12"', "ground_truth: "),
        (",scored", "", "row 1 has 18 cells, the header 19"),
    ],
)
def test_unreadable_cells(tmp_path: Path, old: str, new: str, said: str) -> None:
    """A cell that cannot be read is named: file, row, column."""
    save_results(rows_of(["C"]), {}, tmp_path)
    path = tmp_path / ALL_CSV
    header, _, line = path.read_text().partition("\n")
    path.write_text(f"{header}\n{line.replace(old, new, 1)}")
    with pytest.raises(RowError) as caught:
        list(read_results(path))
    assert caught.value.message.startswith(str(path))
    assert f"row 1{'' if 'cells' in said else ': '}" in caught.value.message
    assert said.removeprefix("row 1") in caught.value.message


def test_other_tables(tmp_path: Path) -> None:
    """A file that lacks a column says which; one with more columns is read."""
    save_results(rows_of(["C"]), {}, tmp_path)
    path = tmp_path / ALL_CSV
    path.write_text("\n".join(line.rpartition(",")[0] for line in path.read_text().splitlines()) + "\n")
    with pytest.raises(RowError, match="row 1: there is no field 'status'"):
        list(read_results(path))
    header, line = path.read_text().splitlines()
    path.write_text(f"{header},status,note\n{line},scored,hm\n")
    (row,) = read_results(path)
    assert row["note"] == "hm"


def test_other_parquet(tmp_path: Path) -> None:
    """A Parquet file of something else says which column is missing, or which cell cannot be read."""
    import pyarrow as pa
    from pyarrow.parquet import read_table, write_table

    write_table(pa.table({"session_id": ["s"]}), tmp_path / "other.parquet")
    with pytest.raises(RowError, match="row 1: there is no field 'interaction_id'"):
        list(read_results(tmp_path / "other.parquet"))
    path = save_results(rows_of(["C"]), {}, tmp_path, parquet=True)[ALL_PARQUET]
    table = read_table(path)
    for column, value, said in (("query", 'json:"', "query: "), ("api_response", "{", "api_response: not JSON: ")):
        place = table.column_names.index(column)
        write_table(table.set_column(place, column, [[value]]), tmp_path / "broken.parquet")
        with pytest.raises(RowError, match=f"row 1: {said}"):
            list(read_results(tmp_path / "broken.parquet"))


def test_broken_scores(tmp_path: Path) -> None:
    """A file that holds no scores says so."""
    path = tmp_path / "scores.json"
    with pytest.raises(UsageError, match="No such file"):
        read_scores(path)
    path.write_text("{")
    with pytest.raises(DataError, match="is not JSON"):
        read_scores(path)
    path.write_text("[]")
    with pytest.raises(DataError, match="does not hold a dictionary"):
        read_scores(path)


def test_no_folder(tmp_path: Path) -> None:
    """A folder is made where there is none; where a file is in the way, that is said."""
    results = TurnResults.of(rows_of(["C"]))
    assert save_results(results, {}, tmp_path / "a" / "b")[ALL_CSV].exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file"):
        save_results(results, {}, tmp_path / "file")
