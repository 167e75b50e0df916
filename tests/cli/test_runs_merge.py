"""`adjudge runs merge`: shards that real processes made become one run that every command understands."""

from pathlib import Path

import pytest

from adjudge.testing import ChatServer
from cli.command import adjudge, said, write
from cli.judging import KEY, arguments, by_number, lines, write_rows


def judged_shards(folder: Path, count: int, cut: int, *more: str) -> None:
    """Judge a file in two parts, into 1.run and 2.run, and whole, into whole.run; each part has a server of its own."""
    rows = write_rows(folder / "rows.jsonl", count)
    named = {"whole": rows, "1": rows[:cut], "2": rows[cut:]}
    for name, part in named.items():
        write(folder / "rows.jsonl", part)
        with ChatServer(by_number) as server:
            options = arguments(server, *(more if name == "2" else ()), run=f"{name}.run", out=f"{name}.jsonl")
            adjudge(*options, cwd=folder, env={"OPENAI_API_KEY": KEY})


def test_merge(tmp_path: Path) -> None:
    """Two judged shards merge into a run that is shown, listed, gone on with and scored again like any other."""
    judged_shards(tmp_path, 30, 13)
    result = adjudge("runs", "merge", "all.run", "1.run", "2.run", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"all.run: 30 rows of 2 files\n", b"")
    shown = adjudge("show", "all.run", cwd=tmp_path).stdout.decode()
    assert shown.startswith("done: 30 of 30 rows, 30 calls")
    assert "cases from 1.run, 2.run" in shown
    assert b"all.run  done  30 of 30 rows" in adjudge("runs", ".", cwd=tmp_path).stdout
    assert adjudge("resume", "all.run", "--out", "all.jsonl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "all.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    again = adjudge("rescore", "all.run", "--judge", "local", "--out", "local.jsonl", "--run", "l.run", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(lines(tmp_path / "local.jsonl")) == 30


def test_partial(tmp_path: Path) -> None:
    """A shard that a budget stopped is refused, taken with `--partial`, and done by `adjudge resume`."""
    judged_shards(tmp_path, 30, 10, "--max-calls", "5")
    result = adjudge("runs", "merge", "all.run", "1.run", "2.run", cwd=tmp_path)
    assert result.returncode == 2
    assert "2.run is not done (5 of 20 rows)" in said(result)
    result = adjudge("runs", "merge", "all.run", "1.run", "2.run", "--partial", cwd=tmp_path)
    assert b"15 rows have no score yet; to score them: adjudge resume all.run" in result.stdout
    with ChatServer(by_number) as server:
        options = ["--base-url", server.base_url, "--out", "all.jsonl", "--max-calls", "999"]
        assert adjudge("resume", "all.run", *options, cwd=tmp_path, env={"OPENAI_API_KEY": KEY}).returncode == 0
        assert server.counts.calls == 15
    assert (tmp_path / "all.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["1.run"], "at least two"),
        (["1.run", "gone.run"], "gone.run"),
        (["1.run", "1.run"], "given twice"),
        (["rows.jsonl", "1.run"], "rows.jsonl"),
    ],
    ids=" ".join,
)
def test_wrong_calls(tmp_path: Path, files: list[str], words: str) -> None:
    """A merge that cannot be right is refused in one line, and nothing is written."""
    write_rows(tmp_path / "rows.jsonl", 3)
    adjudge("judge", "run", "rows.jsonl", "--judge", "local", "--run", "1.run", cwd=tmp_path)
    result = adjudge("runs", "merge", "all.run", *files, cwd=tmp_path)
    assert result.returncode in (2, 3)
    assert words in said(result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.run", "rows.jsonl"]


@pytest.mark.parametrize("words", [[], ["list"], ["."], ["list", "."]], ids=" ".join)
def test_listing(tmp_path: Path, words: list[str]) -> None:
    """The word `list` may be left out."""
    result = adjudge("runs", *words, cwd=tmp_path, env={"ADJUDGE_RUNS": str(tmp_path / "none")})
    assert (result.returncode, result.stdout) == (0, b"There are no runs here.\n")


def test_no_folder(tmp_path: Path) -> None:
    """A folder that is not there is a wrong call, not an empty list."""
    result = adjudge("runs", "reslts", cwd=tmp_path)
    assert result.returncode == 2
    assert said(result) == "reslts: there is no such folder"
