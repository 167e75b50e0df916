"""Files from strangers: one is read, or refused by an error of one line that names it; none hangs or fills memory."""

import io
import json
import os
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.comparison import Results, read_results
from adjudge.errors import AdjudgeError, UsageError
from support import GOLDEN


def refuse(path: Path) -> AdjudgeError:
    """Return the error of reading a file, which has one line and names the file."""
    with pytest.raises(AdjudgeError) as caught:
        read_results(path)
    message = caught.value.message
    assert "\n" not in message
    assert path.name in message
    assert len(message) < 1000
    return caught.value


def attempt(path: Path) -> tuple[Results | None, str]:
    """Return what was read, or the message of an error of ours."""
    try:
        return read_results(path), ""
    except AdjudgeError as error:
        return None, error.message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it holds no rows"),
        (b"\x00\x01\x02" * 100, "none of the results that adjudge reads"),
        (b"\xff\xfe" + "id,score\n".encode("utf-16-le"), "none of the results that adjudge reads"),
        (b"id,score\n", "it holds no rows"),
        (b"{}", "no column 'id'"),
        (b"[]", "it holds no rows"),
        (b"[1, 2]", "expected an object"),
        (b"17\n", "it holds no rows"),
        (b'{"other": 1,\n "keys": 2}\n', "it has keys, other"),
        (b'{"id": "q1", "score": 1}\n{"id": "q2", "sco', "line 2: not JSON"),
        (b'{"id": "q1",\n "score": ', "was the file cut off?"),
        (b'[{"id": "q1", "score": 1}, {"id"', "the array is not closed"),
        (b'{"id": "q1", "score": {"a": 1}}\n', "line 1: score is an object, not a number"),
        (b'{"id": ["q1"], "score": 1}\n', "line 1: its id is a list, not text or a number"),
        (b'{"id": null, "score": 1}\n', "line 1: its id is empty"),
        (b'{"id": true, "score": 1}\n', "line 1: its id is true or false"),
        (b'id,score\nq1,"1\nq2,1\n', "is never closed"),
        (b"id,score\nq1,1,2\n", "row 1 has 3 cells, the header 2"),
        (b"id,id,score\nq1,1,2\n", "two columns are called 'id'"),
        (b"id,score\nq1,\xff\n", "is not UTF-8"),
        (b"PAR1" + b"\0" * 50, "cannot be read as Parquet"),
        (b"PK\x03\x04" + b"\0" * 50, "the archive cannot be read"),
        (b"SQLite format 3\0" + b"\0" * 200, ""),
        (b'{"eval": {}, "samples": 3, "version": 2}', "Expected `array | null`, got `int`"),
        (b'{"schema": 1, "verdict": "pass", "results": [{"id": 3}]}', "Expected `str`, got `int`"),
        (b'{"testCases": [{"name": 3}]}', "Expected `str`, got `int`"),
        (b'{"evalId": "e", "results": []}', "Expected `object`, got `array`"),
        (b'{"problem_idx": 0, "reward": "high"}\n', "line 1: Expected"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes, words: str) -> None:
    """Every fault is named, with its place in the file."""
    path = tmp_path / "file"
    path.write_bytes(content)
    assert words in refuse(path).message


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b'{"id": 1, "score": 1, "x": ' + b"[" * 100_000])
def test_deep_nesting(tmp_path: Path, deep: bytes) -> None:
    """What is nested a hundred thousand times is refused."""
    path = tmp_path / "deep.json"
    path.write_bytes(deep)
    refuse(path)
    path.write_bytes(deep + b"\n" + deep)
    refuse(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
def test_what_is_not_finite(tmp_path: Path, number: str) -> None:
    """No such number becomes a score: it is missing, with a note, or the line is refused."""
    path = tmp_path / "table.jsonl"
    path.write_text(f'{{"id": "q1", "score": {number}}}\n{{"id": "q2", "score": 1}}\n')
    found, message = attempt(path)
    if found is None:
        assert "line 1" in message
    else:
        assert found.metrics["score"].values == {"q1": (None,), "q2": (1.0,)}
        assert "not finite" in found.notes[0]


@pytest.mark.parametrize("value", ["NaN", "1e999"])
def test_what_is_not_finite_in_a_document(tmp_path: Path, value: str) -> None:
    """Python's tools write NaN into documents; it is missing there, too."""
    sample = {"id": "q1", "epoch": 1, "input": "?", "target": "!", "scores": {"s": {"value": 17}}}
    other = {**sample, "id": "q2", "scores": {"s": {"value": 0.5}}}
    path = tmp_path / "log.json"
    log = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": [sample, other]}
    path.write_text(json.dumps(log, indent=1).replace("17", value))
    found = read_results(path)
    assert found.metrics["s"].values == {"q1": (None,), "q2": (0.5,)}
    assert found.notes


def test_a_long_id(tmp_path: Path) -> None:
    """An id of a million characters is refused, and not shown whole."""
    path = tmp_path / "table.jsonl"
    path.write_text(json.dumps({"id": "a" * 1_000_000, "score": 1}) + "\n")
    assert "has 1,000,000 characters, more than 4,096" in refuse(path).message


def test_the_same_key_twice(tmp_path: Path) -> None:
    """Of a key that is there twice the last counts, as JSON's readers have it; nothing is added up."""
    path = tmp_path / "table.jsonl"
    path.write_text('{"id": "q1", "score": 1, "score": 0}\n{"id": "q2", "score": 1}\n')
    assert read_results(path).metrics["score"].values == {"q1": (0.0,), "q2": (1.0,)}


def archive(**entries: bytes) -> bytes:
    """Return a zip archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, entry in entries.items():
            file.writestr(name.replace("__", "/") + ".json", entry)
    return content.getvalue()


SAMPLE = b'{"id": 1, "epoch": 1, "input": "?", "target": "!", "scores": {"s": {"value": %s}}}'


def test_an_archive(tmp_path: Path) -> None:
    """An archive without a header is read; broken entries are named; other entries are not looked at."""
    path = tmp_path / "log.eval"
    path.write_bytes(archive(samples__a=SAMPLE % b'"C"', other=b"\0"))
    assert read_results(path).metrics["s"].values == {"1": (1.0,)}
    path.write_bytes(archive(samples__a=b'{"id": 1,'))
    assert "samples/a.json" in refuse(path).message
    path.write_bytes(archive(other=b"{}"))
    assert "an archive, but not a log of Inspect" in refuse(path).message


def test_an_archive_that_unpacks_to_too_much(tmp_path: Path) -> None:
    """The size that entries claim is checked before anything is unpacked; one that claims too little is damaged."""
    path = tmp_path / "log.eval"
    content = archive(samples__a=b" " * 10_000_000)
    # The size stands in the entry's own header, and in the directory at the end.
    for size in (9 << 30, 100):
        claimed = min(size, 0xFFFFFFF0).to_bytes(4, "little")
        path.write_bytes(content.replace((10_000_000).to_bytes(4, "little"), claimed))
        refuse(path)


def test_a_score_that_is_too_large(tmp_path: Path) -> None:
    """A score that would take far more memory than a score needs is refused, before it is unpacked."""
    path = tmp_path / "log.eval"
    path.write_bytes(archive(samples__a=SAMPLE % (b"[" + b"[]," * 1_000_000 + b"[]]")))
    assert "bytes where" in refuse(path).message


def test_gaps_that_cost_more_than_the_file(tmp_path: Path) -> None:
    """Rows that each have scores of their own do not grow into a table of all scores for all rows."""
    path = tmp_path / "log.json"
    samples = [{"id": 1, "epoch": n, "scores": {f"s{n}": {"value": 1}}} for n in range(6000)]
    path.write_text(json.dumps({"version": 2, "eval": {}, "samples": samples}))
    refuse(path)


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    """A folder of somebody else cannot make anybody read other files."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "result.json").write_bytes(
        (GOLDEN / "results" / "harbor-base" / "hello__0" / "result.json").read_bytes()
    )
    job = tmp_path / "job"
    job.mkdir()
    (job / "trial").symlink_to(outside)
    (job / "a.eval").symlink_to(outside / "result.json")
    with pytest.raises(UsageError, match="none of the results"):
        read_results(job)


def test_places_that_are_not_files(tmp_path: Path) -> None:
    """What is not there, an empty folder and a pipe are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty", "pipe"):
        assert isinstance(refuse(tmp_path / name), UsageError)


def test_another_database(tmp_path: Path) -> None:
    """A database that is not a run is refused."""
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    assert refuse(path).code == "not-a-run"


def test_columns_are_named_of_tables_alone() -> None:
    """--id and --score say nothing of a format that has them."""
    with pytest.raises(UsageError, match="is not a table: --id and --score"):
        read_results(GOLDEN / "runs" / "judged.run", id="id")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS: list[dict[str, Any]] = [
    json.loads((GOLDEN / "results" / name).read_text(encoding="utf-8").splitlines()[0])
    if name.endswith("l")
    else json.loads((GOLDEN / "results" / name).read_text(encoding="utf-8"))
    for name in (
        "promptfoo-base.json",
        "deepeval-base.json",
        "harbor-base/hello__0/result.json",
        "nemo-base/results.jsonl",
        "lm-eval-base/samples_small_2026-01-01T00-00-00.000000.jsonl",
    )
]


def changed(data: st.DataObject, value: Any) -> Any:
    """Return a document with one of its values, at any depth, replaced by any other."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: changed(data, value[key])}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        return [changed(data, value[0]), *value[1:]]
    return data.draw(json_values)


@given(data=st.data(), document=st.sampled_from(DOCUMENTS))
def test_any_value_in_any_place(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, document: Any) -> None:
    """A file of any tool in which one value is any other is read, or refused by an error of ours."""
    path = tmp_path_factory.getbasetemp() / "changed.json"
    path.write_text(json.dumps(changed(data, document)), encoding="utf-8")
    found, message = attempt(path)
    assert "\n" not in message
    for metric in found.metrics.values() if found is not None else ():
        for repeats in metric.values.values():
            assert all(value is None or value - value == 0 for value in repeats)


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Any bytes are read, or refused by an error of ours."""
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    assert "\n" not in attempt(path)[1]
