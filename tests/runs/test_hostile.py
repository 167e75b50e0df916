"""Files that somebody prepared: reading one never hangs, runs, paints or empties anything."""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest

from adjudge import open_run
from adjudge.errors import RunError
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._plan import PLAN
from adjudge.runs._records import write_meta
from adjudge.runs._store import Store
from adjudge.sinks import OutboxError
from adjudge.sinks._outbox import Outbox
from cli.command import adjudge

ROWS = [{"id": n, "answer": "Paris", "final_response": "Paris"} for n in range(3)]
CASES = [{**row, "question": "?"} for row in ROWS]
OFF = RunConfig(cache="off")
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM scores; END"
RESERVED = "UPDATE sqlite_master SET name = 'sqlite_t', sql = replace(sql, 'R t', 'R sqlite_t') WHERE name = 't'"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i, i FROM n"


def made(path: Path) -> Path:
    """Return a good run."""
    evaluate(ROWS, scorers=["qa_f1_reward"], run=path, config=OFF)
    return path


@pytest.mark.parametrize(
    "change",
    [
        f"ALTER TABLE cases RENAME TO other; CREATE VIEW cases(seq, unit, body, sum) AS {ENDLESS}",
        f"DROP TABLE scores; CREATE VIEW scores(seq, scorer, status, value) AS {ENDLESS}",
        f"CREATE VIEW more AS {ENDLESS}",
        TRIGGER,
        f"{TRIGGER}; PRAGMA writable_schema = ON; {RESERVED}",
        "CREATE TABLE more (a)",
        "DROP INDEX requests_by_case; CREATE INDEX requests_by_case ON requests (abs(seq))",
    ],
)
def test_another_schema_is_refused(tmp_path: Path, change: str) -> None:
    """A file with a view, a trigger or anything else that a run does not have is not a run: nothing in it is asked."""
    run = made(tmp_path / "a.run")
    with closing(sqlite3.connect(run)) as file:
        file.executescript(change)
    for use in (open_run, Store.write):
        with pytest.raises(RunError, match="other tables, views or triggers") as caught:
            use(run)
        assert caught.value.code == "not-a-run"
    assert not list(tmp_path.glob("*.lock"))


def test_another_outbox_is_refused(tmp_path: Path) -> None:
    """The same holds for an outbox."""
    path = tmp_path / "a.outbox"
    Outbox(path).close()
    with closing(sqlite3.connect(path)) as file:
        file.executescript(f"ALTER TABLE scores RENAME TO o; CREATE VIEW scores(number, sink, id, body) AS {ENDLESS}")
    with pytest.raises(OutboxError, match="other tables, views or triggers"):
        Outbox(path)


@pytest.mark.parametrize("beside", ["a.run.lock", "a.run.tail-0"])
def test_a_link_beside_a_run(tmp_path: Path, beside: str) -> None:
    """A link in the place of a side file is not followed: what it names stays as it is."""
    victim = tmp_path / "precious"
    victim.write_text("precious")
    (tmp_path / beside).symlink_to(victim)
    with suppress(RunError):  # a lock cannot be taken then, a tail is begun anew
        evaluate(CASES, agent=lambda question: question, scorers=["qa_f1_reward"], run=tmp_path / "a.run", config=OFF)
    assert victim.read_text() == "precious"


def test_only_the_owner_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run files, caches and outboxes, which hold prompts and replies, are readable for their owner alone."""
    monkeypatch.setenv("ADJUDGE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "cache" / "replies.sqlite"))
    before = os.umask(0)
    try:
        result = evaluate(ROWS, scorers=["qa_f1_reward"])
        Outbox(tmp_path / "a.outbox").close()
    finally:
        os.umask(before)
    for file in (result.file, tmp_path / "cache" / "replies.sqlite", tmp_path / "a.outbox"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    for folder in (tmp_path / "runs", tmp_path / "cache"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_a_plan_does_not_paint(tmp_path: Path) -> None:
    """No text of a plan moves the cursor, and none is a command of CI."""
    run = made(tmp_path / "a.run")
    evil = "\x1b[2J\x9b2J\u202e::add-mask::x##[y]"
    with Store.write(run) as store:
        plan = store.meta(PLAN)
        for name in ("agent", "source", "adjudge", "started", "resumed_by", "judge"):
            plan[name] = evil
        store.commit([write_meta(PLAN, {**plan, "names": [evil], "merged": [evil], "by_name": False})])
    for command in (("show", "a.run"), ("show", "a.run", "--failures"), ("runs", "."), ("resume", "a.run")):
        result = adjudge(*command, cwd=tmp_path)
        text = (result.stdout + result.stderr).decode()
        assert text
        for piece in ("\x1b[2J", "\x9b", "\u202e", "::", "##["):
            assert piece not in text, (command, text)
