"""The run file: what is committed comes back as it was, and nothing else does."""

import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError, RunError
from adjudge.model import ChatReply, Score
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._cache import Cache
from adjudge.runs._export import score_lines, scored_cases
from adjudge.runs._plan import PLAN, plan_from
from adjudge.runs._records import VERSION, CaseRecord, ReplyRecord, write_case, write_reply, write_request, write_scores
from adjudge.runs._store import Store, run_lock
from adjudge.sinks._outbox import Outbox
from runs.doubles import AskingJudge, rows
from support import soak

OFF = RunConfig(cache="off")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Give the file of a run that ended."""
    return evaluate(rows(60), scorers=["qa_f1_reward"], judge=AskingJudge(), run=tmp_path / "a.run", config=OFF).file


def exported(path: Path) -> bytes:
    """Return everything that a run says."""
    with Store.read(path) as store:
        names = plan_from(store.meta(PLAN), path).names
        return b"".join(
            [
                score_lines(case.id, names, scores)
                for page in scored_cases(store, names, "not-run")
                for case, scores in page
            ]
        )


def read_all(path: Path) -> None:
    """Read every record of a run."""
    with Store.read(path) as store:
        store.meta(PLAN)
        store.cases(-1, 99)
        store.scores(0, 99)
        store.trajectories(0, 99)
        for seq in range(60):
            store.replies(seq)


def test_killed_in_a_transaction(finished: Path, tmp_path: Path) -> None:
    """A file whose writer died in a transaction is rolled back for a reader; another program's is left as it is."""
    whole = exported(finished)
    for application, name in ((None, "b.run"), (1, "c.run")):
        path = tmp_path / name
        with closing(sqlite3.connect(finished, isolation_level=None)) as writer:
            if application is not None:
                writer.execute(f"PRAGMA application_id = {application}")
            writer.execute("PRAGMA cache_size = 1")  # pages go to the file before the end of the transaction
            writer.execute("BEGIN")
            writer.execute("UPDATE cases SET body = body || zeroblob(4096)")
            shutil.copy(finished, path)
            shutil.copy(f"{finished}-journal", f"{path}-journal")
            writer.execute("ROLLBACK")
    assert exported(tmp_path / "b.run") == whole
    other = (tmp_path / "c.run").read_bytes()
    with pytest.raises(RunError, match="does not hold a run yet") as caught:
        Store.read(tmp_path / "c.run")
    assert caught.value.code == "not-a-run"
    assert (tmp_path / "c.run").read_bytes() == other


def test_a_journal_that_names_another_file(finished: Path, tmp_path: Path) -> None:
    """SQLite would delete the file that a planted journal names: such a journal is refused."""
    victim = tmp_path / "notes.txt"
    victim.write_text("precious")
    name = str(victim).encode()
    with closing(sqlite3.connect(finished, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.execute("UPDATE cases SET body = body || zeroblob(4096)")
        path = Path(shutil.copy(finished, tmp_path / "b.run"))
        journal = Path(f"{finished}-journal").read_bytes()
        writer.execute("ROLLBACK")
    page = 0x40000000 // 4096 + 1
    named = (
        struct.pack(">I", page) + name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    )
    Path(f"{path}-journal").write_bytes(journal + named)
    for opened in (Store.read, Store.write, lambda path: Cache.open(str(path)), Outbox):
        with pytest.raises(AdjudgeError, match="names another file"):
            opened(path)
    assert victim.read_text() == "precious"


def test_records_come_back(tmp_path: Path) -> None:
    """Cases, replies and scores come back equal, odd text and large numbers included."""
    odd = "\ud800 \x00 \u2028 é"
    reply = ChatReply(odd, prompt_tokens=10**30, raw=odd)
    score = Score.scored(-0.0, reason=odd, parts={odd: 0.1, "b": None}, notes={"n": odd})
    with Store.write(tmp_path / "a.run") as store:
        store.commit(
            [
                write_case(CaseRecord(0, 0, odd, {"a": odd, "n": 10**30, "f": 0.1})),
                write_request(1, 0, b"key", 0.0, b"{}"),
                write_reply(1, ReplyRecord(reply)),
                *write_scores(0, [score, Score.error(odd)]),
            ]
        )
    with Store.read(tmp_path / "a.run") as store:
        assert store.cases(-1, 9) == [CaseRecord(0, 0, odd, {"a": odd, "n": 10**30, "f": 0.1})]
        assert store.replies(0) == {b"key": reply}
        assert store.scores(0, 0) == {0: [score, Score.error(odd)]}


def test_one_file_at_rest(finished: Path) -> None:
    """A run that has ended is one file: no log, no lock beside it, and reading leaves none."""
    exported(finished)
    assert [path.name for path in finished.parent.iterdir()] == ["a.run"]


@pytest.mark.parametrize("table", ["meta", "cases", "replies", "trajectories", "scores"])
def test_changed_record_is_refused(finished: Path, table: str) -> None:
    """A record whose bytes were changed behind our back is named as damage, never read as true."""
    with closing(sqlite3.connect(finished, isolation_level=None)) as database:
        if table == "trajectories":
            database.execute("INSERT INTO trajectories VALUES (1, 0.0, NULL, 'null', x'00')")
        else:
            database.execute(f"UPDATE {table} SET body = replace(body, '1', '2')")  # noqa: S608 (a test's own text)
    with pytest.raises(RunError) as caught:
        read_all(finished)
    assert caught.value.code == "run-damaged"


def test_newer_schema_is_refused(finished: Path) -> None:
    """A file of a newer release is refused in words, and left as it is."""
    with closing(sqlite3.connect(finished, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = finished.read_bytes()
    for opening in (Store.read, Store.write):
        with pytest.raises(RunError, match="newer adjudge") as caught:
            opening(finished)
        assert caught.value.code == "run-newer"
    assert finished.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello, I am a text", b"\x00" * 5000, os.urandom(5000)])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is no run is refused, and left as it is."""
    (tmp_path / "a.run").write_bytes(content)
    with pytest.raises(RunError):
        evaluate(rows(1), scorers=["qa_f1_reward"], run=tmp_path / "a.run", config=OFF)
    assert (tmp_path / "a.run").read_bytes() == content


def test_other_database_is_refused(tmp_path: Path) -> None:
    """An SQLite file of somebody else's is refused, and gets no tables of ours."""
    with closing(sqlite3.connect(tmp_path / "a.run", isolation_level=None)) as database:
        database.execute("CREATE TABLE theirs (a)")
    with pytest.raises(RunError, match="not a run"):
        Store.write(tmp_path / "a.run")
    with closing(sqlite3.connect(tmp_path / "a.run", isolation_level=None)) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


def test_second_writer_is_refused(tmp_path: Path) -> None:
    """A second writer is refused at once with the holder's process id; readers are not."""
    with Store.write(tmp_path / "a.run"):
        with pytest.raises(RunError, match=f"process {os.getpid()}") as caught:
            Store.write(tmp_path / "a.run")
        assert caught.value.code == "run-locked"
        Store.read(tmp_path / "a.run").close()
    Store.write(tmp_path / "a.run").close()


HOLD = """
import sys, time
from pathlib import Path
from adjudge.runs._store import Store, run_lock
Store.write(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_dead_holder(tmp_path: Path) -> None:
    """A lock whose holder was killed is taken over, whoever has its number now."""
    path = tmp_path / "a.run"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(RunError, match=str(process.pid)):
        Store.write(path)
    process.kill()
    process.wait()
    process.stdout.close()
    lock = run_lock(path)
    lock.path.write_text(f"{os.getppid()}\n")  # a living process that has nothing to do with it
    assert lock.holder() is None
    Store.write(path).close()


TRUNCATE = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from adjudge.runs import RunConfig, evaluate
from runs.doubles import AskingJudge, Model, rows
class Dies(Model):
    async def complete(self, request):
        if self.calls == 150:
            await asyncio.sleep(0.1)
            os._exit(9)
        return await super().complete(request)
config = RunConfig(cache="off", workers=4)
evaluate(rows(200), scorers=["qa_f1_reward"], judge=AskingJudge(Dies()), run=sys.argv[1], config=config)
"""


@pytest.mark.soak
@pytest.mark.parametrize("part", ["a.run", "a.run-wal", "a.run.tail-0"])
def test_truncation(tmp_path: Path, part: str) -> None:
    """A run file, its log or its tail cut at any byte gives only true records, or says that it is damaged."""
    path = tmp_path / "whole" / "a.run"
    path.parent.mkdir()
    tests = str(Path(__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", TRUNCATE, str(path), tests], check=False)
    assert done.returncode == 9
    whole = _lines(path, tmp_path / "copy")
    assert len(whole) > 100
    size = (path.parent / part).stat().st_size
    chance = random.Random(7)  # noqa: S311 (no secret)
    cuts = {0, 1, 31, 32, 33, 100, size - 1, *(chance.randrange(size) for _ in range(soak(400)))}
    readable = 0
    for cut in sorted(cuts):
        folder = tmp_path / "cut"
        shutil.copytree(path.parent, folder)
        with (folder / part).open("rb+") as file:
            file.truncate(cut)
        try:
            found = _lines(folder / "a.run", tmp_path / "copy")
        except RunError:
            found = set()
        assert found <= whole
        readable += bool(found)
        shutil.rmtree(folder)
    assert readable or part == "a.run"


def _lines(path: Path, copy: Path) -> set[bytes]:
    """Return every scored line of a run that was cut, read from a copy as a resuming writer sees it."""
    shutil.copytree(path.parent, copy)
    try:
        with Store.write(copy / "a.run") as store:
            plan = store.meta(PLAN)
            if plan is None:
                return set()
            blocks = [
                score_lines(case.id, plan_from(plan, path).names, scores)
                for page in scored_cases(store, plan_from(plan, path).names, "not-run")
                for case, scores in page
            ]
            return {line for line in b"".join(blocks).splitlines() if b'"not-run"' not in line}
    finally:
        shutil.rmtree(copy)


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from adjudge.errors import RunError
from adjudge.runs import RunConfig, evaluate
from runs.doubles import AskingJudge, rows
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    evaluate(rows(2000), scorers=["qa_f1_reward"], judge=AskingJudge(), run=sys.argv[1], config=RunConfig(cache="off"))
except RunError as error:
    print(error.code, error.message)
    sys.exit(3)
"""


def test_disk_full(tmp_path: Path) -> None:
    """A full disk stops the run with a clear error; with room again it goes on to the same result."""
    path = tmp_path / "a.run"
    tests = str(Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), tests], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("disk-full")
    assert f"adjudge resume {path}" in done.stdout
    evaluate(rows(2000), scorers=["qa_f1_reward"], judge=AskingJudge(), run=path, config=OFF)
    other = evaluate(rows(2000), scorers=["qa_f1_reward"], judge=AskingJudge(), run=tmp_path / "b.run", config=OFF)
    assert exported(path) == exported(other.file)


def test_done_is_done(tmp_path: Path) -> None:
    """Going on with a run that has ended asks nobody and changes nothing."""
    judge = AskingJudge()
    path = evaluate(rows(300), judge=judge, run=tmp_path / "a.run", config=OFF).file
    before = exported(path)
    result = evaluate(rows(300), judge=judge, run=path, config=OFF)
    assert judge.model.calls == 300
    assert result.counts == {"scored": 300, "unscored": 0, "error": 0}
    assert exported(path) == before
