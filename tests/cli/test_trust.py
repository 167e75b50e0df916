"""What the commands do with code, files and text that came from somebody else."""

import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adjudge import open_run
from adjudge.runs._records import write_meta
from adjudge.runs._store import Store
from adjudge.testing import ChatServer
from cli.command import adjudge, said, write

ROW = {"id": "a", "answer": "Paris", "final_response": "Paris"}


@pytest.mark.parametrize("name", ["yaml", "statistics", "msgspec", "click", "rich"])
def test_the_working_folder_is_not_searched_for_libraries(tmp_path: Path, name: str) -> None:
    """A file in the working folder with the name of a library is not run, even where code of that folder is named."""
    (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n")
    (tmp_path / "mine.py").write_text("def brief(final_response):\n    return 1.0\n")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    for scorer in ("qa_f1_reward", "mine:brief"):
        result = adjudge("score", "rows.jsonl", "--scorer", scorer, "--workers", "2", cwd=tmp_path)
        assert result.returncode == 0, result.stderr
    (tmp_path / "scenarios.yaml").write_text("id: a\nquestion: Hi?\n")
    (tmp_path / "mine.py").write_text("def answer(question):\n    return 'Hi.'\n")
    result = adjudge("check", "scenarios.yaml", "--agent", "mine:answer", cwd=tmp_path)
    assert b"planted" not in result.stdout + result.stderr
    assert result.returncode == 0, result.stderr


def test_a_file_that_a_library_hides_is_named(tmp_path: Path) -> None:
    """Code that was meant to be in a file of the working folder is asked for by that file's path."""
    (tmp_path / "json.py").write_text("def brief(final_response):\n    return 1.0\n")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    result = adjudge("score", "rows.jsonl", "--scorer", "json:brief", cwd=tmp_path)
    assert result.returncode == 2
    hidden = "json has no 'brief'; an installed module hides json.py of this folder, which is ./json.py:brief"
    assert hidden in result.stderr.decode()
    assert adjudge("score", "rows.jsonl", "--scorer", "./json.py:brief", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "hostile", ["::stop-commands::x", "##[add-mask]x", "  ##VSO[x]", "##teamcity[x]", "\x1b[2Jx", "a\n::error::x"]
)
def test_ids_do_not_command_ci(tmp_path: Path, hostile: str) -> None:
    """No line that a command prints begins with a command of a CI system, whatever ids the rows have."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": hostile, "question": "q", "response": "x"}) + "\n" for _ in range(3)))
    scored = adjudge("score", "rows.jsonl", "--scorer", "local:0", "--run", "a.run", cwd=tmp_path)
    answers: list[object] = [[], [], "x"]
    rows.write_text("".join(json.dumps({**ROW, "id": hostile, "answer": one}) + "\n" for one in answers))
    again = adjudge("score", "rows.jsonl", "--scorer", "qa_f1_reward", cwd=tmp_path)
    shown = adjudge("show", "a.run", "--failures", cwd=tmp_path)
    for result in (scored, again, shown):
        text = (result.stdout + result.stderr).decode()
        assert "::" not in text
        assert re.search(r"##\w*\[", text) is None
        assert "\x1b[2J" not in text


def test_retry_unscored_and_changed_code(tmp_path: Path) -> None:
    """`--accept-changes` resumes a run whose scorer was edited; without it the run is refused with the reason."""
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    code = tmp_path / "mine.py"
    code.write_text("def brief(final_response):\n    return 1.0\n")
    command = ("score", "rows.jsonl", "--scorer", "mine:brief", "--run", "a.run")
    assert adjudge(*command, cwd=tmp_path).returncode == 0
    code.write_text("def brief(final_response):\n    return 0.5\n")
    refused = adjudge(*command, cwd=tmp_path)
    assert refused.returncode == 2
    assert "has changed since the run began" in said(refused)
    assert adjudge(*command, "--accept-changes", cwd=tmp_path).returncode == 0
    assert adjudge("resume", "a.run", "--retry-unscored", cwd=tmp_path).returncode == 0


def stopped_run(folder: Path, **state: str) -> None:
    """Leave a run of a scorer of this folder."""
    code = "from pathlib import Path\nPath('ran').touch()\ndef brief(final_response):\n    return 1.0\n"
    (folder / "mine.py").write_text(code)
    (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    command = ("score", "rows.jsonl", "--scorer", "mine:brief", "--run", "a.run")
    assert adjudge(*command, cwd=folder, env=state).returncode == 0
    (folder / "ran").unlink()


def test_a_run_from_elsewhere_runs_nothing(tmp_path: Path) -> None:
    """A run of another machine is resumed with the same options, or with --trust, and never by its word alone."""
    here, there = {"XDG_STATE_HOME": str(tmp_path / "here")}, {"XDG_STATE_HOME": str(tmp_path / "there")}
    stopped_run(tmp_path, **there)
    refused = adjudge("resume", "a.run", cwd=tmp_path, env=here)
    assert refused.returncode == 2
    assert "--scorer mine:brief" in said(refused)
    assert not (tmp_path / "ran").exists()
    assert adjudge("resume", "a.run", "--dry-run", cwd=tmp_path, env=here).returncode == 2
    other = adjudge("resume", "a.run", "--scorer", "mine:other", cwd=tmp_path, env=here)
    assert (other.returncode, "not mine:other" in said(other)) == (2, True)
    assert not (tmp_path / "ran").exists()
    assert adjudge("show", "a.run", cwd=tmp_path, env=here).returncode == 0
    assert not (tmp_path / "ran").exists()
    same = adjudge("resume", "a.run", "--scorer", "mine:brief", cwd=tmp_path, env=here)
    assert (same.returncode, (tmp_path / "ran").exists()) == (0, True)
    trusted = adjudge("resume", "a.run", "--trust", cwd=tmp_path, env=here)
    assert trusted.returncode == 0
    assert b"warning: trusting a.run, which names --scorer mine:brief" in trusted.stderr
    assert adjudge("resume", "a.run", cwd=tmp_path, env=there).returncode == 0


@pytest.mark.parametrize(
    "plan",
    [
        {"agent": "command: touch pwned"},
        {"agent": "http://127.0.0.1:1/chat"},
        {"scorers": ["subprocess:getoutput"]},
        {"scorers": ["./evil.py:f"]},
        {"judge": "openai:m", "options": {"base_url": "http://127.0.0.1:1/v1"}},
        {"scorers": ["openai:m(base_url='http://127.0.0.1:1/v1')"]},
        {"scorers": ["weighted(mine:brief=1)"]},
        {"judge": "cascade:local,openai:m", "options": {"first_calibration": "/etc/passwd"}},
    ],
)
def test_an_edited_plan_is_not_obeyed(tmp_path: Path, plan: dict[str, Any]) -> None:
    """A plan that was changed after it was sealed is somebody else's."""
    state = {"XDG_STATE_HOME": str(tmp_path / "here"), "OPENAI_API_KEY": "secret-key-of-mine"}
    stopped_run(tmp_path, **state)
    with Store.write(tmp_path / "a.run") as store:
        store.commit([write_meta("plan", {**store.meta("plan"), "scorers": [], **plan})])
    result = adjudge("resume", "a.run", cwd=tmp_path, env=state)
    assert result.returncode == 2
    assert "was not started by you on this machine" in said(result)
    assert not {"ran", "pwned"} & {path.name for path in tmp_path.iterdir()}


def test_no_code(tmp_path: Path) -> None:
    """With --no-code nothing that is named as code or as a command is run, wherever it is named."""
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nPath('ran').touch()\ndef answer(question):\n    return '!'\n"
    )
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    scenario = "id: a\nquestion: Hi?\nscorers: ['mine:answer']\n"
    (tmp_path / "scenarios.yaml").write_text(scenario)
    for command in (
        ("score", "rows.jsonl", "--scorer", "mine:answer"),
        ("check", "scenarios.yaml", "--agent", "mine:answer"),
        ("check", "scenarios.yaml", "--agent", "command: touch ran"),
        ("check", "scenarios.yaml", "--agent", "http://127.0.0.1:1/"),
    ):
        result = adjudge(*command, "--no-code", cwd=tmp_path)
        assert result.returncode == 2, (command, result.stderr)
        assert "--no-code" in said(result)
    assert not (tmp_path / "ran").exists()
    assert adjudge("score", "rows.jsonl", "--scorer", "qa_f1_reward", "--no-code", cwd=tmp_path).returncode == 0


def test_a_packed_run(tmp_path: Path) -> None:
    """`runs pack` makes one file of a run that was killed, with all that was paid for."""
    with ChatServer(process=True, latency_s=0.01) as server:
        rows = [{"id": n, "question": "?", "reference": "red", "response": f"blue {n}"} for n in range(2000)]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = ("--judge", "openai:m", "--base-url", server.base_url, "--run", "a.run", "--cache", "off")
        command = [sys.executable, "-m", "adjudge", "judge", "run", "rows.jsonl", *options]
        process = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "OPENAI_API_KEY": "k"})
        while server.counts.calls < 300:
            time.sleep(0.01)
        process.kill()
        process.wait()
    beside = len(list(tmp_path.glob("a.run*")))
    result = adjudge("runs", "pack", "a.run", "--out", "one.run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [path.name for path in tmp_path.glob("one.run*")] == ["one.run"]
    assert len(list(tmp_path.glob("a.run*"))) == beside
    replies = sum(reply.reply is not None for reply in open_run(tmp_path / "one.run").replies())
    assert replies >= 300 - 32


def test_out_on_a_full_disk(tmp_path: Path) -> None:
    """An output that does not fit is one line and exit code 2, and leaves nothing half written."""
    (tmp_path / "rows.jsonl").write_text((json.dumps({**ROW, "id": "x" * 400}) + "\n") * 2000)
    limited = f"ulimit -f 100; exec {sys.executable} -m adjudge score rows.jsonl --scorer qa_f1_reward --out out.jsonl"
    result = subprocess.run(["/bin/sh", "-c", limited], cwd=tmp_path, capture_output=True, check=False)
    assert result.returncode == 2, result.stderr
    assert "out.jsonl: File too large" in said(result)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize("hostile", ["\x9b2Ja", "a\u202eb", "\u2066a\u2069", "a\x7fb", "\U000e0001a", "\u2028a"])
def test_rows_on_a_terminal(tmp_path: Path, hostile: str) -> None:
    """On a terminal `--out -` shows characters that steer it as JSON escapes them, and the data stays the same."""
    (tmp_path / "rows.jsonl").write_text(json.dumps({**ROW, "id": hostile}, ensure_ascii=False) + "\n")
    command = [sys.executable, "-m", "adjudge", "score", "rows.jsonl", "--scorer", "qa_f1_reward", "--out", "-"]
    ours, theirs = pty.openpty()
    try:
        process = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=300)
        assert process.returncode == 0, process.stderr
        shown = os.read(ours, 100_000).decode()
    finally:
        os.close(theirs)
        os.close(ours)
    (line,) = shown.splitlines()
    assert line.isprintable()
    assert json.loads(line)["id"] == hostile
    piped = adjudge(*command[3:], cwd=tmp_path)
    assert hostile in piped.stdout.decode()


def test_a_refusal_can_be_pasted(tmp_path: Path) -> None:
    """What a refusal says to give again is quoted for a shell, so that pasting it runs nothing else."""
    state = {"XDG_STATE_HOME": str(tmp_path / "here")}
    stopped_run(tmp_path, **state)
    with Store.write(tmp_path / "a.run") as store:
        plan = {**store.meta("plan"), "scorers": [], "judge": "openai:m'$(touch pasted)"}
        store.commit([write_meta("plan", plan)])
    given = said(adjudge("resume", "a.run", cwd=tmp_path, env=state)).partition("again (")[2].rpartition("), or")[0]
    subprocess.run(["/bin/sh", "-c", f"echo {given}"], cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "pasted").exists()


@pytest.mark.parametrize("place", ["deep/folder/x.sqlite", "other.sqlite"])
def test_a_cache_that_a_file_names_is_not_touched(tmp_path: Path, place: str) -> None:
    """A run from elsewhere decides neither where a cache is made nor which file gets its tables."""
    with closing(sqlite3.connect(tmp_path / "other.sqlite", isolation_level=None)) as other:
        other.execute("CREATE TABLE mine (a)")
    before = (tmp_path / "other.sqlite").read_bytes()
    with ChatServer(process=True) as server:
        write(
            tmp_path / "rows.jsonl",
            [{"id": n, "question": "?", "reference": "a", "response": f"{n}"} for n in range(3)],
        )
        judge = ("--judge", "openai:m", "--base-url", server.base_url)
        options = ("--run", "a.run", "--cache", place, "--max-calls", "1")
        there = {"OPENAI_API_KEY": "k", "XDG_STATE_HOME": str(tmp_path / "there")}
        if place == "other.sqlite":
            assert (
                b"other tables"
                in adjudge("judge", "run", "rows.jsonl", *judge, *options, cwd=tmp_path, env=there).stderr
            )
            assert (tmp_path / "other.sqlite").read_bytes() == before
        else:
            adjudge("judge", "run", "rows.jsonl", *judge, *options, cwd=tmp_path, env=there)
            shutil.rmtree(tmp_path / "deep")
        here = {**there, "XDG_STATE_HOME": str(tmp_path / "here"), "XDG_CACHE_HOME": str(tmp_path / "caches")}
        done = adjudge("resume", "a.run", "--base-url", server.base_url, "--max-calls", "9", cwd=tmp_path, env=here)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "deep").exists()
    assert (tmp_path / "other.sqlite").read_bytes() == before


@pytest.mark.parametrize("source", ["/dev/zero", "secret.jsonl"])
def test_rows_that_a_file_names_are_not_read(tmp_path: Path, source: str) -> None:
    """A run from elsewhere that does not hold all its cases does not say which file they are read from."""
    (tmp_path / "secret.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    there, here = ({"XDG_STATE_HOME": str(tmp_path / name)} for name in ("there", "here"))
    adjudge("score", "rows.jsonl", "--scorer", "qa_f1_reward", "--run", "a.run", cwd=tmp_path, env=there)
    with Store.write(tmp_path / "a.run") as store:
        store.commit([write_meta("plan", {**store.meta("plan"), "source": source, "digest": None})])
        store.commit([("DELETE FROM meta WHERE name = ?", ("complete",)), ("DELETE FROM cases WHERE seq > ?", (-1,))])
    result = adjudge("resume", "a.run", cwd=tmp_path, env=here)
    assert (result.returncode, "does not hold all its cases" in said(result)) == (2, True)


@pytest.mark.parametrize(
    "command", [("judge", "run", "-", "--judge", "local:0"), ("score", "-", "--scorer", "qa_f1_reward")]
)
def test_rows_from_a_pipe_are_compared(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Other rows on standard input are refused as other rows anywhere; none at all do not end a run."""
    rows = [{**ROW, "id": n, "question": "?", "reference": "Paris", "response": "Paris"} for n in range(3)]
    first = "".join(json.dumps(row) + "\n" for row in rows).encode()
    empty = adjudge(*command, "--run", "a.run", cwd=tmp_path, stdin=b"")
    assert (empty.returncode, b"no rows" in empty.stderr) == (3, True)
    assert adjudge(*command, "--run", "a.run", cwd=tmp_path, stdin=first).returncode == 0
    assert adjudge(*command, "--run", "a.run", cwd=tmp_path, stdin=first).returncode == 0
    other = adjudge(*command, "--run", "a.run", cwd=tmp_path, stdin=first.replace(b"Paris", b"Rome"))
    assert (other.returncode, "is not the one that the run began with" in said(other)) == (2, True)


def test_other_traces_are_refused(tmp_path: Path) -> None:
    """The gate does not pass on the traces of an older session."""
    (tmp_path / "s.toml").write_text('[[scenarios]]\nid = "a"\nquestion = "?"\ntools_should_include = ["search"]\n')
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]}
    good = [
        call,
        {"role": "tool", "tool_call_id": "c", "name": "search", "content": "x"},
        {"role": "assistant", "content": "x"},
    ]
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "a.json").write_text(json.dumps(good))
    command = ("check", "s.toml", "--traces", "traces", "--run", "a.run")
    assert adjudge(*command, cwd=tmp_path).returncode == 0
    assert adjudge(*command, cwd=tmp_path).returncode == 0
    (tmp_path / "traces" / "a.json").write_text(json.dumps(good[2:]))
    changed = adjudge(*command, cwd=tmp_path)
    assert (changed.returncode, "saved traces has changed" in said(changed)) == (2, True)


def test_gate_files_with_numbers_and_devices(tmp_path: Path) -> None:
    """A number of too many digits and a calibration that never ends are wrong input."""
    (tmp_path / "s.toml").write_text('[[scenarios]]\nid = "a"\nquestion = "?"\n')
    (tmp_path / "t.json").write_text(json.dumps({"metadata": {"scenario_id": "a"}, "messages": []}))
    for gate in (f"min_rows = {'9' * 50_000}", 'require_calibrated = "/dev/zero"'):
        (tmp_path / "gate.toml").write_text(gate)
        result = adjudge("check", "s.toml", "--traces", "t.json", "--gate", "gate.toml", cwd=tmp_path)
        assert (result.returncode, b"--debug shows where" in result.stderr) == (2, False), result.stderr
