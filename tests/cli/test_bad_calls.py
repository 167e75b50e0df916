"""A wrong call is one line that says what to do, and exit code 2; bad data is exit code 3."""

import re
from pathlib import Path

import click
import pytest

from adjudge.cli._options import ColumnMapping, Share
from cli.command import F1, GOOD, adjudge, said, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files of several kinds."""
    write(tmp_path / "rows.jsonl", [GOOD])
    (tmp_path / "array.jsonl").write_text('[{"a": 1}')
    (tmp_path / "wide.jsonl").write_bytes("{}".encode("utf-16"))
    (tmp_path / "bad.parquet").write_bytes(b"junk")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken_module.py").write_text("1 +")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["scor", "rows.jsonl"], 2, "No such command 'scor'.*score"),
        (["score"], 2, "Missing argument 'ROWS'"),
        (["score", "rows.jsonl"], 2, "Missing option '--scorer'"),
        (["score", "rows.jsonl", "--scoer", "x"], 2, "'--scoer'.*'--scorer'"),
        (["score", "rows.jsonl", "--scorer", "qa_f1_rewrd"], 2, "did you mean 'qa_f1_reward'"),
        (["score", "rows.jsonl", "--scorer", "qa_f1_reward(nope=1)"], 2, "takes no argument 'nope'"),
        (["score", "rows.jsonl", "--scorer", "qa_f1_reward_tool(f1_treshold=1)"], 2, "did you mean 'f1_threshold'"),
        (["score", "rows.jsonl", "--scorer", "qa_f1_reward_tool(f1_threshold=open('x'))"], 2, "cannot read the option"),
        (["score", "rows.jsonl", "--scorer", "no_such_module:f"], 2, "cannot import 'no_such_module'"),
        (["score", "rows.jsonl", "--scorer", "broken_module:f"], 2, "broken_module"),
        (["score", "rows.jsonl", "--scorer", "json:dumpz"], 2, "did you mean 'dump"),
        (["score", "rows.jsonl", *F1, "--map", "answer"], 2, "write argument=column"),
        (["score", "rows.jsonl", *F1, "--map", "answer=anser"], 2, "no column 'anser'.*did you mean 'answer'"),
        (
            ["score", "rows.jsonl", "--scorer", "qa_f1_reward_tool"],
            2,
            "no column 'trajectory', which qa_f1_reward_tool",
        ),
        (["score", "rows.jsonl", *F1, "--workers", "0"], 2, "--workers"),
        (["score", "rows.jsonl", *F1, "--max-failed", "lots"], 2, "'lots' is not a share"),
        (["score", "rows.jsonl", *F1, "--format", "jsnl"], 2, "did you mean 'jsonl'"),
        (["score", "rows", *F1], 2, "say --format"),
        (["score", "gone.jsonl", *F1], 2, "gone.jsonl: No such file or directory"),
        (["score", "folder", "--format", "jsonl", *F1], 2, "folder: Is a directory"),
        (["score", "rows.jsonl", *F1, "--out", "gone/out.jsonl"], 2, "gone/out.jsonl: No such file or directory"),
        (["score", "rows.jsonl", *F1, "--out", "folder"], 2, "folder: Is a directory"),
        (["score", "array.jsonl", *F1], 2, "the array is not closed"),
        (["score", "wide.jsonl", *F1], 2, "is UTF-16"),
        (["score", "bad.parquet", *F1], 2, "cannot be read as Parquet"),
        (["score", "twice.csv", *F1], 2, "two columns are called 'a'"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_one_line(folder: Path, arguments: list[str], code: int, words: str) -> None:
    """What is wrong is said in exactly one line on stderr, with its exit code, and nothing on stdout."""
    result = adjudge(*arguments, cwd=folder)
    assert re.search(words, said(result))
    assert (result.returncode, result.stdout) == (code, b"")


@pytest.mark.parametrize("where", ["before", "after"])
def test_debug(folder: Path, where: str) -> None:
    """--debug, before or after the command, shows the traceback, and the line still ends it."""
    call = ["score", "rows.jsonl", "--scorer", "nope"]
    result = adjudge(*(["--debug", *call] if where == "before" else [*call, "--debug"]), cwd=folder)
    assert result.returncode == 2
    first, *_, last = result.stderr.decode().splitlines()
    assert first == "Traceback (most recent call last):"
    assert last.startswith("adjudge: error: no scorer is called 'nope'")


def test_escapes_in_columns(folder: Path) -> None:
    """A column's name in a message does not reach the terminal raw."""
    write(folder / "rows.jsonl", [{"\x1b]0;title\x07": 1}])
    assert said(adjudge("score", "rows.jsonl", *F1, cwd=folder)).isprintable()


@pytest.mark.parametrize(
    ("text", "share"),
    [("0", 0.0), ("0%", 0.0), ("5%", 0.05), (" 5 % ", 0.05), ("0.5", 0.5), ("0.5%", 0.005), ("50", 0.5), ("100%", 1.0)],
)
def test_share(text: str, share: float) -> None:
    """A share is a percentage, a part of one, or a number above 1 as a percentage."""
    assert Share().convert(text, None, None) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "x", "-1", "-0.1%", "101%", "101", "nan", "inf", "5%%"])
def test_no_share(text: str) -> None:
    """What is not a share from 0 to 100 % is refused."""
    with pytest.raises(click.BadParameter, match="is not a share"):
        Share().convert(text, None, None)


@pytest.mark.parametrize(("text", "pair"), [("a=b", ("a", "b")), ("a=b=c", ("a", "b=c")), ("a= b", ("a", " b"))])
def test_mapping(text: str, pair: tuple[str, str]) -> None:
    """A mapping splits at the first equals sign: a column's name may hold any characters."""
    assert ColumnMapping().convert(text, None, None) == pair


@pytest.mark.parametrize("text", ["", "a", "=", "a=", "=b"])
def test_no_mapping(text: str) -> None:
    """A mapping has both names."""
    with pytest.raises(click.BadParameter, match="is not a mapping"):
        ColumnMapping().convert(text, None, None)


@pytest.mark.parametrize(
    ("limit", "failed", "code"),
    [(None, 1, 0), (None, 2, 3), ("0", 0, 0), ("0", 1, 3), ("10%", 2, 0), ("10%", 3, 3), ("100%", 20, 0)],
)
def test_max_failed(tmp_path: Path, limit: str | None, failed: int, code: int) -> None:
    """Up to the limit, 5 % unless given, rows may fail; above it the exit code is 3, and the scores are there."""
    write(tmp_path / "rows.jsonl", ["{cut"] * failed + [GOOD] * (20 - failed))
    options = [] if limit is None else ["--max-failed", limit]
    result = adjudge("score", "rows.jsonl", *F1, "--out", "out.jsonl", *options, cwd=tmp_path)
    assert result.returncode == code
    assert result.stderr.startswith(b"adjudge: undecided: more than") == (code == 3)
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") == 20


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "0"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "folder", "--agent", "http://127.0.0.1:9", "--wait"],
        ["check", "folder", "--agent", "http://127.0.0.1:9", "--deadline"],
        ["evaluate", "rows.jsonl", "--agent", "http://127.0.0.1:9", "--scorer", "qa_f1_reward", "--wait"],
        ["judge", "run", "rows.jsonl", "--judge", "openai:m", "--attempt-timeout"],
        ["math", "1", "1", "--limit"],
        ["env", "serve", "scienceworld", "--lease"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_seconds(folder: Path, arguments: list[str], number: str) -> None:
    """Seconds are finite and more than none: NaN would neither end nor begin anything."""
    done = adjudge(*arguments, number, cwd=folder)
    assert (done.returncode, b"Invalid value for" in done.stderr) == (2, True), said(done)


@pytest.mark.parametrize(
    "options", [("--max-cost", "nan"), ("--max-cost", "inf"), ("--price", "nan,1"), ("--price", "1,inf")]
)
def test_money(folder: Path, options: tuple[str, str]) -> None:
    """So is money, but that it may be none."""
    done = adjudge("judge", "run", "rows.jsonl", "--judge", "openai:m", *options, cwd=folder)
    assert (done.returncode, b"Invalid value for" in done.stderr) == (2, True), said(done)
