"""`adjudge score`: files, pipes and scorers of every kind, as a person calls it."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command import F1, GOOD, adjudge, lines_of, write

MODULE = '''
from adjudge.rewards import reward

def brevity(final_response, most=10):
    """Short is good."""
    if final_response == "boom":
        raise ValueError(f"cannot take {final_response!r} \\ud800")
    return len(final_response) <= most

async def patient(final_response):
    """Awaited."""
    import asyncio
    await asyncio.sleep(0)
    return {"reward": 0.5, "words": len(final_response.split())}

@reward(group=True)
def rivals(final_response):
    """How many rollouts the group has."""
    return [len(final_response)] * len(final_response)

def quits(final_response):
    """Leave."""
    raise SystemExit(0)
'''


def test_formats_and_pipes(tmp_path: Path) -> None:
    """The same rows give the same scores from JSON lines, CSV, Parquet and standard input."""
    rows = [{"id": f"q{index}", "final_response": "Paris" * (index % 2), "answer": "Paris"} for index in range(4)]
    write(tmp_path / "rows.jsonl", rows)
    text = "".join(f"{row['id']},{row['final_response']},{row['answer']}\r\n" for row in rows)
    (tmp_path / "rows.txt").write_bytes(b"\xef\xbb\xbfid,final_response,answer\r\n" + text.encode())
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    results = [
        adjudge("score", "rows.jsonl", *F1, "--out", "-", cwd=tmp_path),
        adjudge("score", "rows.txt", "--format", "csv", *F1, "--out", "-", cwd=tmp_path),
        adjudge("score", "rows.parquet", *F1, "--out", "-", cwd=tmp_path),
        adjudge("score", "-", *F1, "--out", "-", cwd=tmp_path, stdin=(tmp_path / "rows.jsonl").read_bytes()),
    ]
    for result in results:
        assert result.returncode == 0
        assert result.stdout == results[0].stdout
        assert b"qa_f1_reward     4       4         0      0   0.5000" in result.stderr
    assert [(line["id"], line["value"]) for line in lines_of(results[0].stdout)] == [
        ("q0", 0.0),
        ("q1", 1.0),
        ("q2", 0.0),
        ("q3", 1.0),
    ]


def test_parquet_through_a_pipe(tmp_path: Path) -> None:
    """Parquet can come through a pipe."""
    pq.write_table(pa.Table.from_pylist([GOOD]), tmp_path / "rows.parquet")
    content = (tmp_path / "rows.parquet").read_bytes()
    result = adjudge("score", "-", "--format", "parquet", *F1, "--out", "-", cwd=tmp_path, stdin=content)
    assert result.returncode == 0
    assert len(lines_of(result.stdout)) == 1


def test_scorers_of_every_kind(tmp_path: Path) -> None:
    """Several scorers go row by row: a built-in with options, functions of a module here, sync and async."""
    (tmp_path / "mine.py").write_text(MODULE)
    rows = [
        {"id": "a", "group_id": 1, "trajectory": [], **GOOD},
        {"id": "b", "group_id": 1, "trajectory": [], "final_response": "boom", "answer": "Paris"},
        {"id": "c", "group_id": 2, "trajectory": [], "final_response": "x" * 11, "answer": "Paris"},
    ]
    write(tmp_path / "rows.jsonl", rows)
    names = ["qa_f1_reward_tool(f1_threshold=0.5)", "mine:brevity(most=20)", "mine:patient", "mine:rivals"]
    options = [part for name in names for part in ("--scorer", name)]
    outputs = []
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.jsonl"
        result = adjudge(
            *("score", "rows.jsonl", *options, "--out", out.name, "--workers", workers, "--max-failed", "50%"),
            cwd=tmp_path,
        )
        assert (result.returncode, result.stderr) == (0, b"")
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]
    lines = lines_of(outputs[0])
    assert [(line["id"], line["scorer"], line["value"]) for line in lines] == [
        ("a", "qa_f1_reward_tool(f1_threshold=0.5)", 0.0),
        ("a", "brevity(most=20)", 1.0),
        ("a", "patient", 0.5),
        ("a", "rivals", 2.0),
        ("b", "qa_f1_reward_tool(f1_threshold=0.5)", 0.0),
        ("b", "brevity(most=20)", None),
        ("b", "patient", 0.5),
        ("b", "rivals", 2.0),
        ("c", "qa_f1_reward_tool(f1_threshold=0.5)", 0.0),
        ("c", "brevity(most=20)", 1.0),
        ("c", "patient", 0.5),
        ("c", "rivals", 1.0),
    ]
    assert lines[5]["status"] == "error"
    assert lines[5]["reason"] == "raised: ValueError: cannot take 'boom' \ud800"
    assert lines[2]["parts"] == {"words": 1.0}


def test_an_empty_cell_is_not_a_group(tmp_path: Path) -> None:
    """Rows whose group is not given do not belong together: each is an error, in every kind of file."""
    (tmp_path / "mine.py").write_text(MODULE)
    write(tmp_path / "rows.jsonl", [{"group_id": group, "final_response": "x"} for group in ("", "", "a")])
    (tmp_path / "rows.csv").write_text("group_id,final_response\n,x\n,x\na,x\n")
    for file in ("rows.jsonl", "rows.csv"):
        result = adjudge("score", file, "--scorer", "mine:rivals", "--out", "-", "--max-failed", "100%", cwd=tmp_path)
        assert result.returncode == 0
        found = [(line["value"], (line["reason"] or "").partition(":")[0]) for line in lines_of(result.stdout)]
        assert found == [(None, "missing-column"), (None, "missing-column"), (1.0, "")]


def test_groups_by_another_column(tmp_path: Path) -> None:
    """--map gives a group reward its groups; a torn group is one line and exit code 3."""
    (tmp_path / "mine.py").write_text(MODULE)
    write(tmp_path / "rows.jsonl", [{"prompt": p, "final_response": "x"} for p in "aabbb"])
    call = ("score", "rows.jsonl", "--scorer", "mine:rivals", "--map", "group_id=prompt", "--out")
    result = adjudge(*call, "out.jsonl", cwd=tmp_path)
    assert result.returncode == 0
    assert [line["value"] for line in lines_of((tmp_path / "out.jsonl").read_bytes())] == [2, 2, 3, 3, 3]
    write(tmp_path / "rows.jsonl", [{"prompt": p, "final_response": "x"} for p in "aba"])
    before = (tmp_path / "out.jsonl").read_bytes()
    result = adjudge(*call, "out.jsonl", cwd=tmp_path)
    assert result.returncode == 2
    assert b"group 'a' are not next to one another (rows 1 and 3)" in result.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before


@pytest.mark.parametrize("workers", ["1", "2"])
def test_reward_that_exits(tmp_path: Path, workers: str) -> None:
    """A reward that calls sys.exit(0) does not make an unscored file look like success."""
    (tmp_path / "mine.py").write_text(MODULE)
    write(tmp_path / "rows.jsonl", [GOOD])
    result = adjudge("score", "rows.jsonl", "--scorer", "mine:quits", "--workers", workers, cwd=tmp_path)
    assert result.returncode == 3
    assert b"SystemExit" in result.stdout + result.stderr


def test_summary(tmp_path: Path) -> None:
    """The table shows three counts that add up, the mean marked where rows are missing, the bounds, and why."""
    rows = [
        {**GOOD, "trajectory": []},
        {**GOOD, "trajectory": ["Capital?", "Paris"]},
        "{cut",
        {"id": "q", "answer": "x"},
        GOOD,
    ]
    write(tmp_path / "rows.jsonl", rows)
    result = adjudge(
        *(
            "score",
            "rows.jsonl",
            *F1,
            "--scorer",
            "qa_f1_reward_tool",
            "--max-failed",
            "100%",
            "--out",
            "o.jsonl",
        ),
        cwd=tmp_path,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    header, first, second, *rest = result.stdout.decode().splitlines()
    assert header.split() == ["scorer", "rows", "scored", "unscored", "error", "mean", "95", "%", "interval"]
    assert first.split()[:6] == ["qa_f1_reward", "5", "3", "0", "2", "1.0000*"]
    name, *counts = second.split()[:5]
    assert name == "qa_f1_reward_tool"
    total, *parts = map(int, counts)
    assert (total, sum(parts), parts[1]) == (5, 5, 1)
    assert rest[0] == (
        "* qa_f1_reward: 2 of 5 rows (40.0%) have no score: bad-row 1, missing-column 1; "
        "with them the mean lies in 0.6000 .. 1.0000"
    )
    assert any("q: missing-column: row 4 has no column 'final_response'" in line for line in rest)


def test_duplicate_ids(tmp_path: Path) -> None:
    """Rows of one id are all scored, and a warning names the id and the rows; the exit code stays 0."""
    write(tmp_path / "rows.jsonl", [{"id": "same", **GOOD}, {"id": "other", **GOOD}, {"id": "same", **GOOD}])
    result = adjudge("score", "rows.jsonl", *F1, "--out", "-", cwd=tmp_path)
    assert result.returncode == 0
    assert len(lines_of(result.stdout)) == 3
    assert "warning: 1 row repeat" in result.stderr.decode()
    assert "'same' on rows 1 and 3" in result.stderr.decode()


@pytest.mark.parametrize(
    ("name", "content"),
    [("rows.jsonl", b""), ("rows.jsonl", b"\n\r\n"), ("rows.csv", b""), ("rows.csv", b"id,final_response,answer\n")],
)
def test_no_rows(tmp_path: Path, name: str, content: bytes) -> None:
    """A file without rows is undecided: exit code 3, and it says so."""
    (tmp_path / name).write_bytes(content)
    result = adjudge("score", name, *F1, cwd=tmp_path)
    assert result.returncode == 3
    assert f"warning: {name} holds no rows" in result.stdout.decode()
    assert result.stderr == b"adjudge: undecided: no rows\n"


def test_odd_texts_survive(tmp_path: Path) -> None:
    """Lone surrogates, large integers and terminal escapes in ids reach the file whole and the terminal tamed."""
    escape = "\x1b[31m\x1b]0;title\x07\x9b2J"
    rows = [{"id": "\ud800", **GOOD}, {"id": 2**80, **GOOD}, {"id": escape}, {"id": escape, **GOOD}]
    write(tmp_path / "rows.jsonl", rows)
    result = adjudge("score", "rows.jsonl", *F1, "--out", "-", "--max-failed", "0.5", cwd=tmp_path)
    assert result.returncode == 0
    assert [line["id"] for line in lines_of(result.stdout)] == ["\ud800", 2**80, escape, escape]
    shown = result.stderr.decode()
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert "[31m" in shown


def test_out_is_whole_or_not_there(tmp_path: Path) -> None:
    """A run that fails half way leaves the old scores as they were."""
    write(tmp_path / "rows.jsonl", [GOOD])
    (tmp_path / "out.jsonl").write_text("old")
    (tmp_path / "rows.csv").write_bytes("a".encode("utf-16"))
    assert adjudge("score", "rows.csv", *F1, "--out", "out.jsonl", cwd=tmp_path).returncode == 2
    assert (tmp_path / "out.jsonl").read_text() == "old"
    assert adjudge("score", "rows.jsonl", *F1, "--out", "out.jsonl", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["value"] == 1.0
    assert sorted(child.name for child in tmp_path.iterdir()) == ["out.jsonl", "rows.csv", "rows.jsonl"]
