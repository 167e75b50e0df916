"""Turn data: its fields, their defaults, and what is said about a line that cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.crag._turns import (
    COLUMNS,
    FAULT,
    RESULT_COLUMNS,
    TURN_FIELDS,
    check_result,
    read_turns,
    turn_row,
    write_turns,
)
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.errors import RowError, UsageError
from crag.rows import JSON, NASTY, nasty_rows, rows_of

SEED = {
    "session_id": "abc123",
    "interaction_id": "xyz789",
    "turn_idx": 0,
    "is_ego": True,
    "image_quality": 2,
    "query_category": 1,
    "domain": 3,
    "dynamism": 0,
    "query": "What color is this car?",
    "ground_truth": "red",
    "agent_response": "The car appears to be red.",
    "total_turn_count": 3,
    "interaction_id_history": [],
}


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: what a power cut leaves is not looked at here, and files are written by the hundred."""
    monkeypatch.setattr("os.fsync", lambda _: None)


LEAST = {name: SEED[name] for name in ("session_id", "query", "ground_truth", "agent_response")}


def lines(path: Path, *rows: Any) -> Path:
    """Write rows, or lines as they are, into a file."""
    path.write_bytes(b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows))
    return path


def test_names() -> None:
    """There are 13 fields, 18 columns that begin with them, and `status`."""
    assert (len(TURN_FIELDS), len(RESULT_COLUMNS), len(COLUMNS)) == (13, 18, 19)
    assert tuple(SEED) == TURN_FIELDS == COLUMNS[:13]
    assert COLUMNS[13:] == (
        *("is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response"),
        "status",
    )


def test_the_benchmarks_example(tmp_path: Path) -> None:
    """The benchmark's own example is read as it is, and written as it is."""
    path = lines(tmp_path / "in.jsonl", SEED)
    assert list(read_turns(path)) == [SEED]
    assert write_turns(tmp_path / "out.jsonl", read_turns(path)) == 1
    assert json.loads((tmp_path / "out.jsonl").read_bytes()) == SEED


def test_defaults(tmp_path: Path) -> None:
    """Fields that a saved file lacks, or has as null, get defaults; turns are numbered as they stand."""
    other = {**LEAST, "session_id": "other", "is_ego": None, "domain": None}
    rows = list(read_turns(lines(tmp_path / "turns.jsonl", LEAST, other, LEAST)))
    assert [(row["session_id"], row["turn_idx"]) for row in rows] == [("abc123", 0), ("other", 0), ("abc123", 1)]
    assert rows[2] == {
        **LEAST,
        "interaction_id": "abc123/1",
        "turn_idx": 1,
        "is_ego": False,
        **dict.fromkeys(("image_quality", "query_category", "domain", "dynamism")),
        "total_turn_count": 2,
        "interaction_id_history": [],
    }
    assert all(tuple(row) == TURN_FIELDS for row in rows)


def test_turns_of_which_only_some_are_numbered(tmp_path: Path) -> None:
    """A turn without a number comes after those of its session above it, whether they have one or not."""
    rows = [{**LEAST, "turn_idx": 3}, LEAST, {**LEAST, "turn_idx": 0}, LEAST]
    read = list(read_turns(lines(tmp_path / "turns.jsonl", *rows)))
    assert [row["turn_idx"] for row in read] == [3, 4, 0, 5]
    results, _ = CRAGEvaluator(eval_model_name=None).evaluate_agent_responses(rows)
    assert [row["turn_idx"] for row in results] == [0, 3, 4, 5]


def test_nulls_and_whole_floats() -> None:
    """In a row that has every field, null is a field that it lacks, and 2.0, as some libraries save a 2, is 2."""
    nulls = dict.fromkeys(("interaction_id", "is_ego", "total_turn_count", "interaction_id_history", "domain"))
    row = turn_row({**SEED, **nulls, "turn_idx": 2.0, "dynamism": 1.0})
    assert (row["interaction_id"], row["turn_idx"], row["total_turn_count"], row["dynamism"]) == ("abc123/2", 2, 3, 1)


def test_history_numbers_the_turn() -> None:
    """A turn without a number comes after the interactions of its history."""
    assert turn_row({**LEAST, "interaction_id_history": ["a", "b"]})["turn_idx"] == 2


def test_other_fields(tmp_path: Path) -> None:
    """Other fields come after the 13, and are saved and loaded."""
    row = {"difficulty": 3, FAULT: "agent-failed: it hung", "note": None, **SEED}
    write_turns(tmp_path / "turns.jsonl", [row, {**LEAST, "session_id": "b", "note": None}])
    found, other = read_turns(tmp_path / "turns.jsonl")
    assert tuple(found) == (*TURN_FIELDS, "difficulty", FAULT, "note")
    assert found == row
    assert tuple(other) == (*TURN_FIELDS, "note")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=nasty_rows(), others=st.dictionaries(NASTY.map("x{}".format), JSON, max_size=2))
def test_round_trip(tmp_path: Path, rows: list[dict[str, Any]], others: dict[str, Any]) -> None:
    """What is written is read back equal, whatever the text."""
    turns = [
        {**{name: row[name] for name in TURN_FIELDS}, "interaction_id": f"{number}", **others}
        for number, row in enumerate(rows)
    ]
    assert write_turns(tmp_path / "turns.jsonl", turns) == len(turns)
    assert list(read_turns(tmp_path / "turns.jsonl")) == turns


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"session_id": 17}, "session_id: expected `str`, got `int`"),
    ({"session_id": None}, "session_id: expected `str`, got `null`"),
    ({"agent_response": ["red"]}, "agent_response: expected `str`, got `array`"),
    ({"turn_idx": "first"}, "turn_idx: expected `int`, got `str`"),
    ({"turn_idx": -1}, "turn_idx: -1 is not a number of turns"),
    ({"total_turn_count": 2**40}, "total_turn_count: 1099511627776 is not a number of turns"),
    ({"is_ego": 1}, "is_ego: expected `bool`, got `int`"),
    ({"domain": [3]}, "domain: expected `int | str | null`, got `array`"),
    ({"domain": True}, "domain: expected `int | str | null`, got `bool`"),
    ({"image_quality": 0.5}, "image_quality: expected `int | str | null`, got `float`"),
    ({"interaction_id_history": ["a", 2]}, "interaction_id_history[1]: expected `str`, got `int`"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES, ids=[said.partition(",")[0] for _, said in CHANGES])
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """A field of a wrong type is named, with file and line."""
    path = lines(tmp_path / "turns.jsonl", {**SEED, "session_id": "before"}, {**SEED, **change})
    with pytest.raises(RowError) as caught:
        list(read_turns(path))
    assert caught.value.message == f"{path}, line 2: {said}"


@pytest.mark.parametrize("name", LEAST)
def test_missing_fields(tmp_path: Path, name: str) -> None:
    """A field that nothing can stand in for is named, with the one that was probably meant."""
    row = {f"{key}s" if key == name else key: value for key, value in SEED.items()}
    path = lines(tmp_path / "turns.jsonl", row)
    with pytest.raises(RowError) as caught:
        list(read_turns(path))
    assert caught.value.message == f"{path}, line 1: there is no field '{name}'; did you mean '{name}s'?"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"session_id": "s", "qu\n', "line 2: not JSON: Unterminated string starting at column 21"),
        (b"[1, 2]\n", "line 2: expected an object, got list"),
        (b'{"session_id": NaN}\n', "line 2: not JSON: "),
        (b'{"query": "\xff"}\n', "line 2: not UTF-8 at byte 12"),
    ],
)
def test_broken_lines(tmp_path: Path, line: bytes, said: str) -> None:
    """A broken line in the middle is one clear line that names it; the turns before it were given."""
    path = lines(tmp_path / "turns.jsonl", SEED, line, {**LEAST, "session_id": "after"})
    with pytest.raises(RowError) as caught:
        list(read_turns(path))
    assert caught.value.message.startswith(f"{path}, {said}")
    assert "\n" not in caught.value.message


def test_cut_off(tmp_path: Path) -> None:
    """A last line that was cut off is named, and why that may be."""
    path = lines(tmp_path / "turns.jsonl", SEED, b'{"session_id": "s", "query": "Wh')
    with pytest.raises(RowError, match=r"line 2: .*was the file cut off\?"):
        list(read_turns(path))


def test_twice(tmp_path: Path) -> None:
    """An interaction, or a turn of a session, that stands there twice is named with both its lines."""
    path = lines(tmp_path / "ids.jsonl", SEED, {**LEAST, "session_id": "b"}, {**SEED, "session_id": "c"})
    with pytest.raises(RowError) as caught:
        list(read_turns(path))
    assert caught.value.message == f"{path}, lines 1 and 3: there are two turns with the interaction_id 'xyz789'"
    path = lines(tmp_path / "turns.jsonl", SEED, {**SEED, "interaction_id": "other"})
    with pytest.raises(RowError) as caught:
        list(read_turns(path))
    assert caught.value.message == f"{path}, lines 1 and 2: there are two turns 0 of session 'abc123'"


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there is said so; an empty one has no turns."""
    with pytest.raises(UsageError, match="No such file"):
        list(read_turns(tmp_path / "nowhere.jsonl"))
    assert list(read_turns(lines(tmp_path / "empty.jsonl"))) == []


def test_written_whole(tmp_path: Path) -> None:
    """A turn that cannot be written leaves the old file as it was."""
    path = lines(tmp_path / "turns.jsonl", SEED)
    with pytest.raises(RowError, match="turn 2: there is no field 'query'"):
        write_turns(path, [{**SEED, "query": "another"}, {"session_id": "s"}])
    assert json.loads(path.read_bytes()) == SEED
    with pytest.raises(ValueError, match="JSON does not have"):
        write_turns(path, [{**SEED, "cost": float("nan")}])
    assert json.loads(path.read_bytes()) == SEED


def test_results_are_checked() -> None:
    """A result row needs all 19 columns, of the right types."""
    (row,) = rows_of(["C"])
    assert check_result(dict(reversed(row.items()))) == row
    assert tuple(check_result(dict(reversed(row.items())))) == COLUMNS
    with pytest.raises(RowError, match="row 7: there is no field 'status'"):
        check_result({name: value for name, value in row.items() if name != "status"}, place="row 7: ")
    with pytest.raises(RowError, match="status: invalid enum value 'done'"):
        check_result({**row, "status": "done"})
    with pytest.raises(RowError, match=r"api_response: expected `object \| null`, got `str`"):
        check_result({**row, "api_response": "CORRECT"})
