"""The key of a judged run: it goes to the server and nowhere else; a refused one stops the run with all work kept."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.testing import ChatCall, ChatServer, Fault, Reply
from cli.command import adjudge
from cli.judging import KEY, by_number, judge, lines, write_rows

ENV = {"OPENAI_API_KEY": KEY}


@pytest.mark.parametrize("status", ["401", "403"])
def test_refused_in_the_middle(tmp_path: Path, status: str) -> None:
    """A key that is refused in the middle stops the run at once; a good one goes on, and pays for nothing twice."""
    count, good, workers = 80, 30, 4
    write_rows(tmp_path / "rows.jsonl", count)
    with ChatServer(lambda call: Fault(status) if call.number >= good else by_number(call)) as server:
        result = judge(tmp_path, server, "--workers", str(workers))
        assert server.counts.calls <= good + workers
    assert result.returncode == 3
    assert b"undecided: stopped: unauthorised" in result.stderr
    assert b"to resume: adjudge resume a.run" in result.stderr
    before = lines(tmp_path / "out.jsonl")
    assert Counter(line["status"] for line in before) == {"scored": good, "error": count - good}
    assert {line["reason"].split(":")[0] for line in before if line["status"] == "error"} == {"not-run"}
    with ChatServer(by_number, key=KEY) as server:
        options = ["--out", "out.jsonl", "--base-url", server.base_url]
        result = adjudge("resume", "a.run", *options, cwd=tmp_path, env=ENV)
        assert server.counts.calls == count - good
    assert result.returncode == 0, result.stderr
    after = lines(tmp_path / "out.jsonl")
    assert Counter(line["status"] for line in after) == {"scored": count}
    assert [new for old, new in zip(before, after, strict=True) if old["status"] == "scored"] == [
        old for old in before if old["status"] == "scored"
    ]


def telling(call: ChatCall) -> str | Reply:
    """Repeat the key in every way there is: as text, as a refusal, as a judge's reasoning."""
    key = call.headers.get("authorization", "")
    match call.number % 4:
        case 0:
            return f'{{"reasoning": "Your key is {key}", "verdict": "CORRECT"}}'
        case 1:
            return Reply(None, refusal=f"Not with {key}")
        case 2:
            return f"Hm, {key}?"
        case _:
            return Reply(f"{key}", finish_reason=key)


@pytest.mark.parametrize("script", [telling, None], ids=["told in replies", "told in a refusal of the key"])
def test_never_shown(tmp_path: Path, script: Callable[[ChatCall], str | Reply] | None) -> None:
    """Whatever a server repeats, the key is in no output, no file and no traceback."""
    write_rows(tmp_path / "rows.jsonl", 20)
    with ChatServer(script or by_number, key=None if script else "another") as server:
        named = ["--judge", "openai:m", "--base-url", server.base_url, "--cache", "cache.sqlite"]
        commands = [
            ["judge", "run", "rows.jsonl", *named, "--run", "a.run", "--out", "out.jsonl", "--debug"],
            ["resume", "a.run", "--out", "again.jsonl", "--retry-failed", "--debug"],
            ["show", "a.run", "--failures"],
            ["runs", "."],
            ["plan", "rows.jsonl", *named],
        ]
        results = [adjudge(*command, cwd=tmp_path, env=ENV) for command in commands]
        assert server.counts.calls > 0
    assert [result.returncode for result in results] == [3, 3, 0, 0, 0]
    for result in results:
        assert KEY.encode() not in result.stdout + result.stderr
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {"a.run", "out.jsonl", "again.jsonl", "cache.sqlite"} <= set(written)
    assert [name for name, content in written.items() if KEY.encode() in content] == []


def test_key_in_the_address(tmp_path: Path) -> None:
    """A password in the base URL is kept out of the run file and of what is said, too."""
    write_rows(tmp_path / "rows.jsonl", 3)
    with ChatServer(by_number) as server:
        address = server.base_url.replace("http://", f"http://user:{KEY}@")
        named = ["--judge", "openai:m", "--base-url", address, "--run", "a.run", "--cache", "off"]
        result = adjudge("judge", "run", "rows.jsonl", *named, "--debug", cwd=tmp_path)
        shown = adjudge("show", "a.run", cwd=tmp_path)
    assert KEY.encode() not in result.stdout + result.stderr + shown.stdout + shown.stderr
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
