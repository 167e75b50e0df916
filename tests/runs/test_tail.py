"""What is paid for outlives the process, and what is torn is never misread."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import RunError
from adjudge.model import ChatReply
from adjudge.runs import _journal
from adjudge.runs._journal import Tail
from adjudge.runs._records import RUN_ID, ReplyRecord, Write, write_reply, write_request
from adjudge.runs._store import Store

TEXTS = st.lists(st.text(max_size=30), min_size=1, max_size=6)


def writes_of(texts: list[str]) -> list[Write]:
    """Return a request and its reply for every text."""
    found: list[Write] = []
    for number, text in enumerate(texts, 1):
        found.append(write_request(number, number, b"key", 1.0, text.encode("utf-8", "surrogatepass")))
        found.append(write_reply(number, ReplyRecord(ChatReply(text, raw=text), attempts=number)))
    return found


def left_by(folder: Path, texts: list[str], run_id: str | None = None) -> Path:
    """Return the run whose tail a process left that was killed after these replies."""
    run = folder / "a.run"
    tail = Tail(run, run_id)
    for write in writes_of(texts):
        tail.add([write])
    tail.close()
    return run


@given(texts=TEXTS)
def test_all_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """What was added and not settled comes back, in order."""
    run = left_by(tmp_path_factory.mktemp("tail"), texts)
    assert [values for _, values in Tail(run).read()] == [values for _, values in writes_of(texts)]


@given(texts=TEXTS, data=st.data())
def test_torn_or_changed(tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject) -> None:
    """A tail that is cut or changed at any byte gives the records before that place and no others."""
    run = left_by(tmp_path_factory.mktemp("tail"), texts)
    path = Tail(run).paths[0]
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    change = data.draw(st.integers(0, 255))
    path.write_bytes(whole[:place] + (bytes([whole[place] ^ change]) + whole[place + 1 :] if change else b""))
    found = [values for _, values in Tail(run).read()]
    true = [values for _, values in writes_of(texts)]
    assert found == true[: len(found)]
    assert len(found) < len(true)


def test_opening_takes_it_in(tmp_path: Path) -> None:
    """Who opens the run next has what the tail held, once, and the tail is gone."""
    with Store.write(tmp_path / "a.run") as store:
        run_id = store.meta(RUN_ID)
    run = left_by(tmp_path, ["yes", "no"], run_id)
    with Store.write(run) as store:
        store.commit([])
        assert store.replies(1)[b"key"].text == "yes"
        assert store.totals()[:2] == (2, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["a.run"]


def test_what_is_in_the_file_already(tmp_path: Path) -> None:
    """A record that stands in the tail and in the file is one record."""
    run = tmp_path / "a.run"
    with Store.write(run) as store:
        store.commit(writes_of(["yes"]))
        run_id = store.meta(RUN_ID)
    left_by(tmp_path, ["yes", "no"], run_id)
    with Store.write(run) as store:
        assert store.totals()[0] == 2


def test_another_runs_tail(tmp_path: Path) -> None:
    """A tail that another run left under this name is not taken in, and is gone."""
    run = left_by(tmp_path, ["yes", "no"], "another")
    with Store.write(run) as store:
        assert store.totals()[:2] == (0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.run"]


def test_files_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the run, the tail stays small while its records go into the file; none is lost on the way."""
    monkeypatch.setattr(_journal, "TAIL_LARGEST", 1000)
    run = tmp_path / "a.run"
    tail = Tail(run)
    writes = writes_of([f"reply {number}" for number in range(200)])
    for number, write in enumerate(writes, 1):
        tail.add([write])
        if number > 5:
            tail.settle(1)
        assert sum(path.stat().st_size for path in Tail(run).paths) < 3000
        kept = [values for _, values in Tail(run).read()]
        assert all(values in kept for _, values in writes[max(0, number - 5) : number])
    tail.settle(5)
    tail.close()
    assert list(tmp_path.iterdir()) == []


def test_no_file(tmp_path: Path) -> None:
    """A tail that cannot be written says so."""
    tail = Tail(tmp_path / "gone" / "a.run")
    with pytest.raises(RunError, match="No such file") as caught:
        tail.add(writes_of(["yes"]))
    assert caught.value.code == "cannot-write"
