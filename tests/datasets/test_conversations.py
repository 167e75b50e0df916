"""Conversations out of data sets: whole ones, as many as wanted, from any source; what is wrong names its place."""

import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.datasets import Conversations, Vocabulary, read_conversations
from adjudge.datasets import _parquet as parquet
from adjudge.datasets._repeats import IdTable
from adjudge.errors import DataError, MissingExtra, RowError, UsageError
from crag.pictures import png


def crag(session: str, *ids: str, **more: Any) -> dict[str, Any]:
    """Return a conversation as a row."""
    return {
        "session_id": session,
        "turns": [{"interaction_id": one, "query": f"Q {one}", "domain": 1} for one in ids],
        "answers": [{"interaction_id": one, "ans_full": f"A {one}"} for one in ids],
        **more,
    }


def turn(session: str, id_: str, **more: Any) -> dict[str, Any]:
    """Return a question that is a turn of a conversation."""
    return {"session_id": session, "interaction_id": id_, "query": f"Q {id_}", "ground_truth": f"A {id_}", **more}


def ids(data: Conversations) -> dict[str, list[str | None]]:
    """Return the ids of the turns by conversation."""
    return {read.conversation.id: [one.id for one in read.conversation.turns] for read in data}


def written(path: Path, *rows: Any) -> Path:
    """Write rows as JSON lines, texts as they are."""
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in rows))
    return path


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, None])
def test_exactly_as_many_whole_conversations(count: int | None) -> None:
    """`num_conversations` conversations come, each with all its turns; without it, or with more, all there are."""
    rows = [crag("a", "1", "2"), turn("b", "3"), turn("b", "4"), {"id": "5", "question": "Q", "answer": "A"}]
    found = ids(read_conversations(rows, num_conversations=count))
    assert list(found.items()) == [("a", ["1", "2"]), ("b", ["3", "4"]), ("5", ["5"])][:count]


def test_no_row_is_read_for_nothing() -> None:
    """Reading n conversations takes no row after them."""
    taken: list[str] = []

    def rows() -> Iterator[dict[str, Any]]:
        for name in "abc":
            taken.append(name)
            yield crag(name, name)

    assert list(ids(read_conversations(rows(), num_conversations=2))) == ["a", "b"]
    assert taken == ["a", "b"]


@pytest.mark.parametrize("count", [-1, True, 1.5, "2"])
def test_counts_that_are_none(count: Any) -> None:
    """A number of conversations is a whole number from 0."""
    with pytest.raises(UsageError, match="num_conversations must be a whole number"):
        read_conversations([], num_conversations=count)


def test_questions_of_one_session_are_a_conversation() -> None:
    """Questions that stand together under one session are its turns, in the order of their `turn_idx`."""
    rows = [turn("a", "2", turn_idx=1), turn("a", "1", turn_idx=0), turn("b", "3")]
    assert ids(read_conversations(rows)) == {"a": ["1", "2"], "b": ["3"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [turn("a", "1"), turn("b", "2"), turn("a", "3")],
            "row 3: session_id 'a' is also in row 1: the rows of a conversation must follow one another",
        ),
        ([crag("a", "1"), crag("a", "2")], "row 2: session_id 'a' is also in row 1"),
        ([crag("a", "1"), crag("b", "2"), crag("c", "1")], "row 3: interaction_id '1' is also in row 1"),
        ([turn("a", "1"), turn("a", "1")], "row 1: interaction_id '1' occurs twice in it"),
        ([turn("a", "1", turn_idx=0), turn("a", "2", turn_idx=0)], "row 1: two turns of session 'a' have the same"),
        ([crag("a", "1"), ["no row"]], "row 2: must be a mapping, got list"),
    ],
)
def test_rows_that_do_not_go_together(rows: list[Any], message: str) -> None:
    """What stands twice, or is torn, is said with both places."""
    with pytest.raises(RowError) as caught:
        list(read_conversations(rows))
    assert caught.value.message.startswith(message)


def test_faults_can_be_counted_apart() -> None:
    """With `on_fault` a row that cannot be used is told, and the others are read; a bad turn takes its conversation."""
    faults: list[str] = []
    rows = [crag("a", "1"), {}, turn("b", "2"), turn("b", "3", query=7), crag("c", "4")]
    data = read_conversations(rows, on_fault=lambda error: faults.append(error.reason), num_conversations=2)
    assert list(ids(data)) == ["a", "c"]
    assert [fault[:14] for fault in faults] == ["bad-row: row 2", "bad-row: row 4"]


def test_broken_lines(tmp_path: Path) -> None:
    """A line that is no JSON is named, in the middle of a file and at its end, where the file may be cut off."""
    path = written(tmp_path / "rows.jsonl", crag("a", "1"), '{"session_id": "b", "tur', "", "[1]", crag("c", "2"))
    path.write_text(path.read_text() + '{"session_id": "d", "turns": [')
    faults: list[str] = []
    data = read_conversations(path, on_fault=lambda error: faults.append(error.message))
    assert list(ids(data)) == ["a", "c"]
    assert faults[0].startswith("rows.jsonl, line 2: not JSON: ")
    assert faults[1] == "rows.jsonl, line 4: expected an object, got list"
    assert faults[2].startswith("rows.jsonl, line 6: not JSON: ")
    assert faults[2].endswith("(the last line, without a line end: was the file cut off?)")
    with pytest.raises(RowError, match=r"^rows\.jsonl, line 2: not JSON: "):
        list(read_conversations(path))


def test_fields_are_named_by_line(tmp_path: Path) -> None:
    """What is wrong in a file names file, line and field, and blank lines count."""
    path = written(tmp_path / "rows.jsonl", crag("a", "1"), "", crag("b", "1"))
    with pytest.raises(RowError, match=r"^rows\.jsonl, line 3: interaction_id '1' is also in rows\.jsonl, line 1$"):
        list(read_conversations(path))


def test_a_folder_of_parts(tmp_path: Path) -> None:
    """The parts of a split are read in order, from the folder or its `data`; ids are unique over all of them."""
    (tmp_path / "data").mkdir()
    written(tmp_path / "data" / "validation-00001-of-00002.jsonl", crag("b", "2"))
    written(tmp_path / "data" / "validation-00000-of-00002.jsonl", crag("a", "1"))
    assert list(ids(read_conversations(tmp_path))) == ["a", "b"]
    written(tmp_path / "data" / "test.jsonl", crag("c", "3"))
    assert list(ids(read_conversations(str(tmp_path), split="test"))) == ["c"]
    with pytest.raises(UsageError, match=r"^say which split \(there are test, validation\)$"):
        read_conversations(tmp_path)
    with pytest.raises(UsageError, match="there is no split 'validaton'; did you mean 'validation'"):
        read_conversations(tmp_path, split="validaton")
    written(tmp_path / "data" / "validation-00001-of-00002.jsonl", crag("b", "1"))
    both = r"00001-of-00002\.jsonl, line 1: .* is also in validation-00000-of-00002\.jsonl"
    with pytest.raises(RowError, match=both):
        list(read_conversations(tmp_path, split="validation"))


def test_labels_of_a_folder_are_described_beside_it(tmp_path: Path) -> None:
    """`dataset_info.json` names the labels of files that cannot."""
    path = written(tmp_path / "rows.jsonl", crag("a", "1"))
    features = {"turns": [{"domain": {"names": ["animal", "book"], "_type": "ClassLabel"}}]}
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": features}))
    for source in (path, tmp_path):
        assert read_conversations(source).vocabularies["domain"].names == ("animal", "book")
    (tmp_path / "dataset_info.json").write_text("{")
    with pytest.raises(DataError, match=r"dataset_info\.json: the description of the data set is not JSON"):
        read_conversations(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.jsonl", "there is no such file"),
        ("empty", "has no data file"),
        (3, "not int"),
        (b"rows", "not bytes"),
        ({"turns": []}, "a single row, not a data set"),
        ({}, r"say which split \(there are none\)"),
    ],
)
def test_sources_that_are_none(source: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no data set is refused at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=message):
        read_conversations(source)


def test_splits() -> None:
    """Of a mapping of splits one is read: the one that is named, or the only one."""
    rows = [crag("a", "1")]
    assert list(ids(read_conversations({"validation": rows}))) == ["a"]
    assert list(ids(read_conversations({"validation": rows, "test": []}, split="validation"))) == ["a"]
    with pytest.raises(UsageError, match="say which split"):
        read_conversations({"validation": rows, "test": []})
    for source in (rows, "rows.jsonl"):
        with pytest.raises(UsageError, match="a data set without splits"):
            read_conversations(source, split="validation")


def test_csv_of_questions(tmp_path: Path) -> None:
    """Questions may stand in CSV."""
    (tmp_path / "rows.csv").write_text("id,question,answer\n1,Capital?,Paris\n2,,Rome\n")
    data = read_conversations(tmp_path / "rows.csv")
    with pytest.raises(RowError, match=r"^rows\.csv, row 2: question: is empty$"):
        list(data)


FEATURES = {"turns": {"feature": {"domain": {"names": ["animal", "book"]}}, "_type": "List"}}


def in_parquet(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    """Write rows as the `datasets` library does."""
    noted = {"huggingface": json.dumps({"info": {"features": FEATURES}})}
    pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata(noted), path, **options)
    return path


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet gives the same conversations as JSON lines, its images when asked for, in any order, and its labels."""
    monkeypatch.setattr(parquet, "RECORDS", 3)
    monkeypatch.setattr(parquet, "IMAGES", 2)
    rows = [crag(str(one), f"i{one}", image={"bytes": png(one + 1, 1), "path": None}) for one in range(11)]
    rows[4]["image"] = None
    path = in_parquet(tmp_path / "rows.parquet", rows, row_group_size=4)
    data = read_conversations(path)
    assert data.vocabularies["domain"] == Vocabulary(("animal", "book"))
    assert ids(data) == ids(read_conversations(rows))
    images = [read.image for read in data]
    sizes = {index: one.load() for index, one in reversed(list(enumerate(images))) if one is not None}
    assert [sizes[index] and sizes[index].size for index in range(11)] == [
        None if index == 4 else (index + 1, 1) for index in range(11)
    ]


def test_parquet_columns_as_lists(tmp_path: Path) -> None:
    """A list a column comes out of Parquet as it went in; a bad image is a fault of its own row only."""
    row = crag("a", "1", "2", image={"bytes": b"no image", "path": None})
    row["turns"] = {name: [one[name] for one in row["turns"]] for name in row["turns"][0]}
    (read,) = read_conversations(in_parquet(tmp_path / "rows.parquet", [row]))
    assert [one.id for one in read.conversation.turns] == ["1", "2"]
    assert read.image is not None
    with pytest.raises(RowError, match=r"^rows\.parquet, row 1: image: "):
        read.image.load()


def test_parquet_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no Parquet is said to be none; a missing library names its extra."""
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_conversations(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[parquet\]'"):
        read_conversations(path)


class ImageFeature:
    """What the `datasets` library says of an image column."""

    def __init__(self, *, decode: bool = True) -> None:
        self.decode = decode


class Hub:
    """A data set like those of the `datasets` library: a broken image, decoded while it is read, ends the reading."""

    def __init__(self, rows: list[dict[str, Any]], features: dict[str, Any]) -> None:
        self.rows = rows
        self.features = features

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        if "image" in self.features and self.features["image"].decode:
            raise OSError("the image is broken")
        return {name: self.rows[index][name] for name in self.features}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def cast_column(self, name: str, feature: Any) -> "Hub":
        """Return the data with another feature."""
        return Hub(self.rows, {**self.features, name: feature})

    def select_columns(self, names: list[str]) -> "Hub":
        """Return the data with some columns only."""
        return Hub(self.rows, {name: self.features[name] for name in names})


class Texts(Hub):
    """A data set whose image column is text."""

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {name: self.rows[index][name] for name in self.features}

    def select_columns(self, names: list[str]) -> "Texts":
        """Return the data with some columns only."""
        return Texts(self.rows, {name: self.features[name] for name in names})


HUB = {"session_id": None, "turns": SimpleNamespace(feature={"domain": SimpleNamespace(names=["x"])}), "answers": None}


def test_objects_of_the_datasets_library(tmp_path: Path) -> None:
    """Its images are left undecoded, read when asked for, wherever they lie; its labels and its length are known."""
    (tmp_path / "b.png").write_bytes(png(5, 1))
    rows = [
        crag("a", "1", image={"bytes": png(), "path": None}),
        crag("b", "2", image={"bytes": None, "path": str(tmp_path / "b.png")}),
        crag("c", "3", image=None),
        crag("d", "4", image={"bytes": b"broken", "path": None}),
    ]
    hub = Hub(rows, {**HUB, "image": ImageFeature()})
    data = read_conversations({"validation": hub})
    assert (data.count, data.vocabularies["domain"].names) == (4, ("x",))
    found = [read.image for read in data]
    loaded = [one.load() for one in found[:3] if one is not None]
    assert [None if one is None else one.size for one in loaded] == [(3, 2), (5, 1), None]
    assert found[3] is not None
    with pytest.raises(RowError, match=r"^row 4: image: "):
        found[3].load()
    odd = Hub([crag("a", "1", image={"url": "x"})], {**HUB, "image": ImageFeature()})
    (read,) = read_conversations(odd)
    assert read.image is not None
    with pytest.raises(RowError, match=r"^row 1: image: a mapping must have 'bytes' or 'path', this one has 'url'$"):
        read.image.load()
    plain = Hub(rows, HUB)
    assert list(ids(read_conversations(plain))) == ["a", "b", "c", "d"]
    assert read_conversations(plain, num_conversations=2).count == 2


def test_only_the_library_knows_paths_elsewhere(tmp_path: Path) -> None:
    """A column of texts is what rows say: it leads nowhere but into the folder, in a data set of the library too."""
    rows = [crag("a", "1", image=str(tmp_path / "a.png"))]
    (tmp_path / "a.png").write_bytes(png())
    features = {**HUB, "image": SimpleNamespace(dtype="string")}
    (read,) = read_conversations(Texts(rows, features))
    assert read.image is not None
    with pytest.raises(RowError, match="lies outside"):
        read.image.load()
    (read,) = read_conversations(Texts(rows, features), image_folder=tmp_path)
    assert read.image is not None
    assert read.image.load().size == (3, 2)


@pytest.mark.parametrize("source", ["hub:someone/something@v1", "saved"])
def test_the_hub_needs_its_library(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the `datasets` library the hub, and what the library saved, name the extra."""
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "state.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[datasets\]'"):
        read_conversations(source)


def test_the_hub_is_asked_by_name_and_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    """`hub:OWNER/NAME@REVISION` is loaded by the library, and one of its splits read."""
    asked: list[Any] = []

    def load_dataset(name: str, **options: Any) -> dict[str, Any]:
        asked.append((name, options))
        return {"validation": [crag("a", "1")], "test": []}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert list(ids(read_conversations("hub:some/thing@v2", split="validation"))) == ["a"]
    assert asked == [("some/thing", {"revision": "v2"})]


def test_data_can_be_read_again(tmp_path: Path) -> None:
    """A file and a list give the same conversations each time."""
    for source in (written(tmp_path / "rows.jsonl", crag("a", "1")), [crag("a", "1")]):
        data = read_conversations(source)
        assert ids(data) == ids(data) == {"a": ["1"]}


def test_memory_stays_flat() -> None:
    """Reading ten times as many conversations takes the ids alone, not the conversations."""

    def rows(count: int) -> Iterator[dict[str, Any]]:
        return (crag(f"session {one}", f"interaction {one}", filler="x" * 1000) for one in range(count))

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            for _ in read_conversations(rows(count)):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(3000) - peak(300) < 3000 * 2 * 100


@given(st.lists(st.text(max_size=3), max_size=300))
def test_every_repeat_is_seen(names: list[str]) -> None:
    """An id is new the first time, and then it is known where it came first."""
    seen = IdTable()
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        assert seen.add(name, index) == first.get(name)
        first.setdefault(name, index)


def test_many_ids() -> None:
    """The memory of ids grows, and forgets none."""
    seen = IdTable()
    assert [seen.add(str(one), one) for one in range(20_000)] == [None] * 20_000
    assert [seen.add(str(one), 0) for one in range(20_000)] == list(range(20_000))
