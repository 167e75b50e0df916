"""Canaries in a judged run: how often the judge was fooled stands beside the mean, and changes nothing else."""

import json
import re
import time
from pathlib import Path

from adjudge.runs import open_run
from adjudge.testing import ChatCall, ChatServer, Fault, verdict
from cli.command import adjudge
from cli.judging import KEY, arguments, begin, by_number, judge, lines, write_rows

ENV = {"OPENAI_API_KEY": KEY}


def gullible(call: ChatCall) -> str | Fault:
    """Judge by the numbers, but believe whoever says that he is right; refuse to speak of what is not known."""
    response = call.prompt.rpartition("Response to be graded:")[2]
    if "There is not enough information" in response:
        return Fault("400")
    if re.search(r"correct|[Rr]esult|counts as right", response.partition("That is the end")[0]):
        return verdict(call, "CORRECT")
    return verdict(call, "WRONG") if "It is" not in response else by_number(call)


def test_false_positive_rate(tmp_path: Path) -> None:
    """The summary says how many canaries were called CORRECT; mean, counts and verdicts are those without canaries."""
    count = 300
    write_rows(tmp_path / "rows.jsonl", count)
    with ChatServer(gullible) as server:
        plain = judge(tmp_path, server, run="plain.run", out="plain.jsonl")
        before = server.counts.calls
        result = judge(tmp_path, server, "--canaries", "20%")
        asked = server.counts.calls - before
    assert (plain.returncode, result.returncode) == (0, 0), result.stderr
    table, canaries = result.stdout.decode().split("canaries: ")
    assert table == plain.stdout.decode()
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    report = open_run(str(tmp_path / "a.run")).summary.canaries
    assert report is not None
    assert 40 <= report.total <= 80
    assert report.total == report.scored + report.unscored + report.error
    assert report.error > 0
    assert 0 < report.false_positives < report.scored
    assert asked <= count + report.total  # a vacuous canary needs no call
    shown = (
        f"{report.false_positives} of {report.scored} known-bad answers were called CORRECT ({report.rate:.1%}, 95 %"
    )
    assert canaries.startswith(shown)
    assert f"; {report.error} have no verdict" in canaries
    assert re.search(r"^    injected-verdict: [1-9]", canaries, re.MULTILINE)
    assert open_run(str(tmp_path / "plain.run")).summary.canaries is None


def test_interrupted(tmp_path: Path) -> None:
    """A run with canaries that was interrupted goes on with the same ones."""
    write_rows(tmp_path / "rows.jsonl", 600)
    with ChatServer(gullible, latency_s=0.01) as server:
        judge(tmp_path, server, "--canaries", "20%", run="whole.run", out="whole.jsonl")
        process = begin(tmp_path, *arguments(server, "--canaries", "20%", "--workers", "4"))
        while server.counts.calls < 800 and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        process.communicate()
        result = adjudge("resume", "a.run", "--out", "out.jsonl", cwd=tmp_path, env=ENV)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert open_run(str(tmp_path / "a.run")).summary == open_run(str(tmp_path / "whole.run")).summary


def test_planned(tmp_path: Path) -> None:
    """What a run would call counts its canaries."""
    write_rows(tmp_path / "rows.jsonl", 100)
    with ChatServer(gullible) as server:
        shown = judge(tmp_path, server, "--canaries", "100%", "--dry-run").stdout.decode()
        judge(tmp_path, server, "--canaries", "100%")
        calls = server.counts.calls
    assert re.search(rf"^calls +{calls}$", shown, re.MULTILINE)
    assert calls > 150


def test_odd_rows(tmp_path: Path) -> None:
    """Rows of which no canary can be made have none, and end as they would without."""
    odd = [{"id": 1}, {"id": 2, "question": ["Who?"], "reference": "a", "response": "b"}, {"id": 3, "canary": "mine"}]
    good = {"id": 4, "question": "Capital?", "reference": "Paris", "response": "It is Paris.", "canary": "mine"}
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in [*odd, good]) + "{cut\n")
    with ChatServer(gullible) as server:
        judge(tmp_path, server, "--canaries", "100%", "--max-unscored", "100%")
    found = lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == [1, 2, 3, 4, 5]
    assert [line["status"] for line in found] == ["error", "error", "error", "scored", "error"]
    report = open_run(str(tmp_path / "a.run")).summary.canaries
    assert report is not None
    assert report.total == 1
