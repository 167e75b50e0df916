"""The bar for faults, at full size: every row ends typed, nothing is recorded twice, no call too many."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from adjudge.testing import FAULTS, ChatServer, Limit
from cli.command import adjudge
from cli.faults import FATAL, PERMANENT, TRANSIENT, fault_of, permanent
from cli.judging import KEY, by_number, judge, lines, write_rows


def test_transient_faults(tmp_path: Path) -> None:
    """A fifth of the calls fail for a while: 1,000 rows are scored in at most 1,350 calls, each once, 32 at a time."""
    count = 1000
    write_rows(tmp_path / "rows.jsonl", count)
    with ChatServer(
        by_number, faults=TRANSIENT, seed=20, latency_s=0.01, limit=Limit(in_flight=32), process=True
    ) as server:
        result = judge(tmp_path, server, "--workers", "32")
        counts = server.counts
    assert result.returncode == 0, result.stderr
    assert counts.max_in_flight <= 32
    assert 1.2 * count <= counts.calls <= 1.35 * count
    assert counts.repeats == counts.calls - count == sum(counts.faults.values())
    assert set(counts.faults) == {fault.kind for fault, _ in TRANSIENT}
    found = lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == [f"r{n}" for n in range(count)]
    assert [line["verdict"] for line in found] == ["CORRECT" if n % 3 else "WRONG" for n in range(count)]
    assert recorded(tmp_path / "a.run") == {
        "requests": count,
        "replies": count,
        "scores": count,
        "calls": counts.calls,
        "failed": counts.calls - count,
    }


def recorded(path: Path) -> dict[str, int]:
    """Return what a run file has recorded, each row's requests, replies and scores counted once."""
    with closing(sqlite3.connect(path)) as file:
        numbers = {
            "requests": "SELECT count(DISTINCT seq) FROM requests",
            "replies": "SELECT count(*) FROM replies",
            "scores": "SELECT count(*) FROM scores",
            "calls": "SELECT sum(attempts) FROM replies",
            "failed": "SELECT count(*) FROM attempts",
        }
        return {name: file.execute(query).fetchone()[0] for name, query in numbers.items()}


def test_permanent_faults(tmp_path: Path) -> None:
    """Every fault that there is, each on a row of its own: that row has its cause, the others have their verdicts."""
    count = 3 * len(PERMANENT) + 60
    write_rows(tmp_path / "rows.jsonl", count)
    limits = ["--deadline", "20", "--attempt-timeout", "3", "--max-unscored", "50%"]
    with ChatServer(permanent, process=True) as server:
        result = judge(tmp_path, server, *limits)
    assert result.returncode == 0, result.stderr
    found = lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == [f"r{n}" for n in range(count)]
    wrong = []
    for number, line in enumerate(found):
        row = fault_of(number)
        if row is None:
            assert (line["status"], line["verdict"]) == ("scored", "CORRECT" if number % 3 else "WRONG"), line
        elif (line["status"], line["verdict"], cause(line["reason"])) != (row.status, None, row.cause):
            wrong.append((row, line))
    assert wrong == []
    shown = adjudge("show", "a.run", "--failures", cwd=tmp_path).stdout.decode()
    assert all(f"r{n}: openai:m: " in shown for n in range(count) if fault_of(n))
    counts = Counter(line["status"] for line in found)
    assert counts.total() == count
    numbers = [f"{counts[status]}" for status in ("scored", "unscored", "error")]
    assert [str(count), *numbers] == result.stdout.decode().splitlines()[1].split()[1:5]


def cause(reason: str) -> str:
    """Return the code of a reason; of a row that ran out of time, that of its last failure."""
    code, _, rest = reason.partition(": ")
    return rest.partition("the last: ")[2].partition(":")[0] if code == "deadline" else code


def test_more_time_on_resume(tmp_path: Path) -> None:
    """Rows that had too little time get more when the run goes on with greater limits."""
    write_rows(tmp_path / "rows.jsonl", 5)
    with ChatServer(by_number, latency_s=1.5) as server:
        result = judge(tmp_path, server, "--deadline", "1", "--attempt-timeout", "0.5")
        assert result.returncode == 3
        assert {line["reason"].split(":")[0] for line in lines(tmp_path / "out.jsonl")} == {"deadline"}
        more = ["--retry-failed", "--deadline", "20", "--attempt-timeout", "30", "--out", "out.jsonl"]
        result = adjudge("resume", "a.run", *more, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
    assert result.returncode == 0, result.stderr
    assert {line["status"] for line in lines(tmp_path / "out.jsonl")} == {"scored"}


def test_every_fault_is_played() -> None:
    """No fault of the scripted server is left out, except those that stop the whole run."""
    assert {row.fault.kind for row in PERMANENT} | set(FATAL) >= set(FAULTS)
