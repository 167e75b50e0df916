"""`adjudge judge run` and what follows it: verdicts, exit codes, failures by row, nothing said that is not known."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from adjudge.testing import ChatServer, Fault, verdict
from cli.command import adjudge, said, write
from cli.faults import number_of
from cli.judging import KEY, by_number, judge, lines, write_rows


def test_verdicts(tmp_path: Path) -> None:
    """Every row gets a line with id, status, verdict, reason and judge, in input order, and the exit code is 0."""
    rows = write_rows(tmp_path / "rows.jsonl", 30)
    with ChatServer(by_number, key=KEY) as server:
        result = judge(tmp_path, server)
    assert result.returncode == 0, result.stderr
    found = lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == [row["id"] for row in rows]
    assert [line["verdict"] for line in found] == ["CORRECT" if n % 3 else "WRONG" for n in range(30)]
    assert {(*line, line["status"], line["judge"]) for line in found} == {
        ("id", "status", "verdict", "reason", "judge", "scored", "openai:m")
    }
    assert b"0.6667" in result.stdout
    assert KEY.encode() not in (tmp_path / "a.run").read_bytes() + result.stdout + result.stderr


def test_workers_change_nothing(tmp_path: Path) -> None:
    """One worker and eight write the same bytes."""
    write_rows(tmp_path / "rows.jsonl", 40)
    with ChatServer(by_number, latency_s=0.05) as server:
        for workers in ("1", "8"):
            judge(tmp_path, server, "--workers", workers, run=f"{workers}.run", out=f"{workers}.jsonl")
        assert server.counts.max_in_flight == 8
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "8.jsonl").read_bytes()


def test_undecided(tmp_path: Path) -> None:
    """Above the limit of unscored rows the exit code is 3, and the number stands beside that fact and its bounds."""
    write_rows(tmp_path / "rows.jsonl", 40)
    with ChatServer(lambda call: Fault("400") if number_of(call) < 10 else verdict(call, "CORRECT")) as server:
        result = judge(tmp_path, server)
    assert result.returncode == 3
    shown = result.stdout.decode()
    assert "10 of 40 rows (25.0%) have no score" in shown
    assert "with them the mean lies in 0.7500 .. 1.0000" in shown
    assert b"undecided: more than 0.05 of the rows have no score; the run is in a.run" in result.stderr


@pytest.mark.parametrize("fault", [Fault("401"), Fault("403"), Fault("quota")], ids=lambda fault: fault.kind)
def test_refused_key(tmp_path: Path, fault: Fault) -> None:
    """A refused key or a spent account stops the run at once with 3, names every row, and goes on when it is mended."""
    write_rows(tmp_path / "rows.jsonl", 60)
    with ChatServer(fault) as server:
        result = judge(tmp_path, server, "--workers", "4")
        assert server.counts.calls <= 8
    assert result.returncode == 3
    assert b"undecided: stopped: " in result.stderr
    found = lines(tmp_path / "out.jsonl")
    assert [line["status"] for line in found] == ["error"] * 60
    assert all(line["reason"].startswith("not-run: ") for line in found)
    assert KEY.encode() not in result.stdout + result.stderr
    with ChatServer(by_number) as server:
        options = ["--out", "out.jsonl", "--base-url", server.base_url]
        result = adjudge("resume", "a.run", *options, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
    assert result.returncode == 0, result.stderr
    assert Counter(line["status"] for line in lines(tmp_path / "out.jsonl")) == {"scored": 60}


def test_budget(tmp_path: Path) -> None:
    """A budget of calls holds with retries counted, ends with 3, and a greater one goes on."""
    write_rows(tmp_path / "rows.jsonl", 30)
    with ChatServer(by_number, faults=[(Fault("503", retry_after=0.01), 0.1)]) as server:
        result = judge(tmp_path, server, "--max-calls", "20", "--workers", "4")
        assert server.counts.calls <= 20
        assert result.returncode == 3
        assert b"budget of 20 calls" in result.stderr
        options = ["--max-calls", "500", "--out", "out.jsonl"]
        result = adjudge("resume", "a.run", *options, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert result.returncode == 0, result.stderr
    assert Counter(line["status"] for line in lines(tmp_path / "out.jsonl")) == {"scored": 30}


def test_dry_run(tmp_path: Path) -> None:
    """`--dry-run` and `adjudge plan` say what would be called and cost, and call nobody."""
    write(tmp_path / "rows.jsonl", [*map(json.loads, _row_lines(20)), "{cut", {**json.loads(_row_lines(1)[0])}])
    with ChatServer(by_number) as server:
        result = judge(tmp_path, server, "--dry-run", "--price", "1000,1000")
        shown = result.stdout.decode()
        options = ["--judge", "openai:m", "--base-url", server.base_url, "--price", "1000,1000", "--cache", "off"]
        assert adjudge("plan", "rows.jsonl", *options, cwd=tmp_path).stdout.decode() == shown
        assert server.counts.calls == 0
    assert result.returncode == 0
    assert re.search(r"^rows +22$", shown, re.MULTILINE)
    assert re.search(r"^ +unreadable +1$", shown, re.MULTILINE)
    assert re.search(r"^calls +20$", shown, re.MULTILINE)
    assert re.search(r"^cost, about +\$\d+\.\d\d$", shown, re.MULTILINE)
    assert not (tmp_path / "a.run").exists()


def _row_lines(count: int) -> list[str]:
    return [
        json.dumps({"id": n, "question": f"What is {n} + 1?", "reference": "x", "response": f"y{n}"})
        for n in range(count)
    ]


def test_odd_rows(tmp_path: Path) -> None:
    """A row that cannot be read or judged is an error of its own line, named; the others are judged."""
    good = json.loads(_row_lines(1)[0])
    odd = {**good, "id": 2, "reference": {"x": 5}}
    rows = [good, "{cut", odd, {"id": 3}, {**good, "id": 4, "response": None}, good]
    write(tmp_path / "rows.jsonl", rows)
    with ChatServer(by_number) as server:
        judge(tmp_path, server)
    found = lines(tmp_path / "out.jsonl")
    assert [line["status"] for line in found] == ["scored", "error", "error", "error", "scored", "scored"]
    assert [line["id"] for line in found] == [0, 2, 2, 3, 4, 0]
    assert found[1]["reason"].startswith("bad-row: line 2")
    assert found[4] == {"id": 4, "status": "scored", "verdict": "WRONG", "reason": "vacuous", "judge": "openai:m"}


def test_local_judge(tmp_path: Path) -> None:
    """The judge in the package needs no key and no address."""
    write_rows(tmp_path / "rows.jsonl", 10)
    result = adjudge("judge", "run", "rows.jsonl", "--judge", "local", "--out", "-", "--run", "a.run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 10


def test_rescore_and_list(tmp_path: Path) -> None:
    """A run is scored again without asking anybody, and listed with how it stands."""
    write_rows(tmp_path / "rows.jsonl", 12)
    with ChatServer(by_number) as server:
        judge(tmp_path, server)
    result = adjudge("rescore", "a.run", "--judge", "local:0", "--run", "b.run", "--out", "b.jsonl", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert {line["judge"] for line in lines(tmp_path / "b.jsonl")} == {"local:0"}
    listed = adjudge("runs", ".", cwd=tmp_path).stdout.decode().splitlines()
    assert [line.split()[:2] for line in listed] == [["a.run", "done"], ["b.run", "done"]]
    again = adjudge("rescore", "a.run", "--judge", "local", "--run", "a.run", cwd=tmp_path)
    assert again.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["judge", "run", "gone.jsonl", "--judge", "local"], "gone.jsonl"),
        (["judge", "run", "rows.jsonl", "--judge", "lokal"], "did you mean 'local'?"),
        (["judge", "run", "rows.jsonl", "--judge", "local", "--workers", "0"], "workers"),
        (["judge", "run", "rows.jsonl", "--judge", "local", "--max-cost", "1"], "price"),
        (["judge", "run", "rows.jsonl", "--judge", "local", "--price", "much"], "0.15,0.60"),
        (["judge", "run", "other.jsonl", "--judge", "local"], "no column 'question'"),
        (["judge", "run", "rows.jsonl", "--judge", "local", "--out", "rows.jsonl"], "overwritten"),
        (["judge", "run", "rows.jsonl", "--judge", "local", "--run", "no/where.run"], "not a folder"),
        (["judge", "run", "rows.jsonl", "--judge", "openai:m", "--base-url", "ftp://x"], "base URL"),
        (["resume", "gone.run"], "gone.run"),
        (["show", "gone.run"], "gone.run"),
        (["rescore", "gone.run", "--judge", "local"], "gone.run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_calls(tmp_path: Path, arguments: list[str], words: str) -> None:
    """A call that cannot be right is refused with 2 and one line, before anything is written."""
    write_rows(tmp_path / "rows.jsonl", 3)
    write(tmp_path / "other.jsonl", [{"a": 1}])
    result = adjudge(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    assert words in said(result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.jsonl", "rows.jsonl"]


def test_not_a_run(tmp_path: Path) -> None:
    """A file that is not a run is wrong input: 2 and one line."""
    (tmp_path / "a.run").write_text("no run at all")
    for command in (["resume", "a.run"], ["show", "a.run"], ["rescore", "a.run", "--judge", "local"]):
        result = adjudge(*command, cwd=tmp_path)
        assert result.returncode == 2
        assert said(result) == "a.run is not a run file"


def test_no_rows(tmp_path: Path) -> None:
    """A file without rows decides nothing."""
    (tmp_path / "rows.jsonl").write_text("")
    result = adjudge("judge", "run", "rows.jsonl", "--judge", "local", "--run", "a.run", cwd=tmp_path)
    assert result.returncode == 3
    assert b"no rows" in result.stderr


def test_cache_across_runs(tmp_path: Path) -> None:
    """A second run of the same rows pays for nothing and writes the same bytes."""
    write_rows(tmp_path / "rows.jsonl", 20)
    with ChatServer(by_number) as server:
        for name in ("a", "b"):
            named = ["--judge", "openai:m", "--base-url", server.base_url, "--cache", "cache.sqlite"]
            files = ["--run", f"{name}.run", "--out", f"{name}.jsonl"]
            result = adjudge("judge", "run", "rows.jsonl", *named, *files, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert result.returncode == 0, result.stderr
        assert server.counts.calls == 20
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_progress_lines(tmp_path: Path) -> None:
    """Without a terminal progress is plain lines; nothing of it is on standard output."""
    from adjudge.cli._show import describe
    from adjudge.runs import Progress

    counts = Counter({"scored": 40, "unscored": 5, "error": 5})
    line = describe(Progress(200, 50, 8, counts, 60, 12_000, 0.5), 0, 10.0)
    assert line == (
        "50 of 200 rows · 8 in flight · 40 scored, 5 unscored, 5 error · 5.0 rows/s · "
        "60 calls, 12,000 tokens, $0.5000 · 0:30 left"
    )


def test_rows_that_share_an_id(tmp_path: Path) -> None:
    """Lines of one id cannot be told apart: all are judged, and a warning names the id and its rows."""
    rows = [{"id": one, "question": "q?", "reference": "Paris", "response": "Paris"} for one in ("a", 2, "a", "2")]
    write(tmp_path / "rows.jsonl", rows)
    for more, warned in (((), False), (("--out", "out.jsonl"), True)):
        result = adjudge("judge", "run", "rows.jsonl", "--judge", "local:0", *more, cwd=tmp_path)
        assert result.returncode == 0
        words = "warning: 1 row repeats an id that came before ('a' on rows 1 and 3); all were scored"
        assert (words in result.stdout.decode()) == warned
    assert [line["id"] for line in lines(tmp_path / "out.jsonl")] == ["a", 2, "a", "2"]


def test_a_file_without_a_format(tmp_path: Path) -> None:
    """A file of an unknown kind is refused with what it should be called."""
    (tmp_path / "rows.txt").write_text("{}")
    result = adjudge("judge", "run", "rows.txt", "--judge", "local:0", cwd=tmp_path)
    assert result.returncode == 2
    assert b"rows.txt: cannot tell the format from '.txt': call it .jsonl, .csv or .parquet" in result.stderr


def test_how_columns_are_called(tmp_path: Path) -> None:
    """A row that lacks a column says which names that column may have."""
    write(tmp_path / "rows.jsonl", [{"question": "q?", "target": "Paris", "response": "Paris", "answer": None}])
    result = adjudge("judge", "run", "rows.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert result.returncode == 3
    assert b"no reference to judge by: call it reference, references, answer or ground_truth" in result.stdout
    write(tmp_path / "rows.jsonl", [{"input": "q?", "target": "Paris", "output": "Paris"}])
    result = adjudge("judge", "run", "rows.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert result.returncode == 2
    assert (
        b"no column 'reference' (or references, answer or ground_truth), which local:0 needs; its columns are input"
        in result.stderr
    )


def test_all_of_what_is_known_is_said(tmp_path: Path) -> None:
    """A panel of judges who know how far they agree with people says so for each, to the end."""
    write_rows(tmp_path / "rows.jsonl", 2)
    result = adjudge("judge", "run", "rows.jsonl", "--judge", "panel:local:0,local:1", cwd=tmp_path)
    assert result.stdout.decode().count("on explanations") == 2
