"""What `adjudge judge run` takes and refuses before anybody is asked."""

import json
from pathlib import Path

import pytest

from adjudge import evaluate
from adjudge.errors import UsageError
from adjudge.judges import LLMJudge
from adjudge.runs import RunConfig
from adjudge.runs._sessions import judge_file, rescore_run, resume_run
from adjudge.runs._store import Store
from adjudge.testing import ChatServer, correct

ROW = {"id": "a", "question": "Year of the first landing on the moon?", "reference": 1969, "response": 1969}


def written(folder: Path, *rows: dict[str, object]) -> str:
    """Write rows to a file and return its name."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_numbers_are_texts(tmp_path: Path) -> None:
    """A reference or a response that is a number is judged as its text, as a judge that is called does."""
    rows = written(tmp_path, ROW, {**ROW, "id": "b", "reference": [1969, 69.5], "response": "In 1969."})
    out = tmp_path / "out.jsonl"
    judge_file(rows, judge="local", run=str(tmp_path / "a.run"), out=str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["id"], line["verdict"]) for line in lines] == [("a", "CORRECT"), ("b", "CORRECT")]


@pytest.mark.parametrize("value", [True, {"a": 1}, [None], [["1969"]]])
def test_other_values_are_the_rows_fault(tmp_path: Path, value: object) -> None:
    """Anything else in the place of a reference is an error of that row."""
    out = tmp_path / "out.jsonl"
    judge_file(written(tmp_path, {**ROW, "reference": value}), judge="local", run=str(tmp_path / "a.run"), out=str(out))
    line = json.loads(out.read_text())
    assert line["status"] == "error"
    assert line["reason"].startswith(("bad-value: reference must be text, got ", "no-reference: "))


@pytest.mark.parametrize("name", ["missing/out.jsonl", "."])
def test_an_output_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str) -> None:
    """Nobody is asked, and no run begun, where there is no place for what comes of it."""
    rows, run, out = written(tmp_path, ROW), str(tmp_path / "a.run"), str(tmp_path / name)
    with pytest.raises(UsageError, match=r"out|Is a directory"):
        judge_file(rows, judge="local", run=run, out=out)
    assert not Path(run).exists()
    judge_file(rows, judge="local", run=run)
    before = Path(run).stat().st_mtime_ns
    with pytest.raises(UsageError):
        resume_run(run, out=out)
    with pytest.raises(UsageError):
        rescore_run(run, judge="local", run=str(tmp_path / "b.run"), out=out)
    assert (Path(run).stat().st_mtime_ns, (tmp_path / "b.run").exists()) == (before, False)


def test_an_endpoint_without_schemas_is_paid_for_what_it_was_asked(tmp_path: Path) -> None:
    """Rows that learn in time that the endpoint takes no schemas cost nothing for it, and all are scored."""
    rows = [{"id": n, "question": f"{n} + 1?", "reference": str(n + 1), "response": f"It is {n}."} for n in range(60)]
    with ChatServer(correct, rejects=["response_format"]) as server:
        judge = LLMJudge("m", base_url=server.base_url, api_key="a-key")
        result = evaluate(rows, judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off", workers=4))
        calls = server.counts.calls
    assert result.counts == {"scored": 60, "unscored": 0, "error": 0}
    assert calls <= 64
    with Store.read(tmp_path / "a.run") as store:
        assert store.totals()[1] == calls
