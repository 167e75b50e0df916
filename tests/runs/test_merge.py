"""Shards merge into what one run over all rows would have been, or the merge says why they do not."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import RunError, RunStopped, UsageError
from adjudge.model import Case
from adjudge.rewards import reward
from adjudge.runs import RunConfig, RunResult, evaluate
from adjudge.runs._journal import Tail
from adjudge.runs._merge import merge_runs
from adjudge.runs._reading import run_state
from adjudge.runs._sessions import rescore_run
from adjudge.runs._store import Store
from runs.doubles import AskingJudge, Fatal, Model, rows
from runs.test_run_file import OFF, exported


def by_number(prompt: str) -> str:
    """Judge by the number in the prompt, so that every case has a verdict of its own."""
    number = int(prompt.split()[2])
    return "dunno" if number % 7 == 0 else "CORRECT" if number % 2 else "WRONG"


def run(path: Path, cases: Iterable[Any] | Path, **more: Any) -> Path:
    """Judge some cases into a file."""
    named = {"scorers": ["qa_f1_reward"], "judge": AskingJudge(Model(by_number)), "config": OFF, **more}
    return evaluate(cases, run=path, **named).file


def table(path: Path, query: str) -> list[Any]:
    """Ask a run file something."""
    with Store.read(path) as store:
        return store.rows(query)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 40), min_size=1, max_size=4), with_ids=st.booleans())
def test_merged_is_whole(tmp_path_factory: pytest.TempPathFactory, cuts: list[int], with_ids: bool) -> None:
    """However a set of rows was cut, its merged shards say the same bytes as one run, with all calls and tokens."""
    folder = tmp_path_factory.mktemp("merge")
    whole: list[Any] = [{k: v for k, v in row.items() if with_ids or k != "id"} for row in rows(40)]
    whole[11] = 5  # no row at all
    ends = [0, *sorted(cuts), 40]
    shards = [run(folder / f"{n}.run", whole[a:b]) for n, (a, b) in enumerate(pairwise(ends))]
    merged = merge_runs(folder / "all.run", shards)
    other = run(folder / "whole.run", whole)
    assert (merged.cases, merged.missing, merged.repeated) == (40, 0, 0)
    assert _unplaced(exported(merged.file)) == _unplaced(exported(other))
    assert RunResult(merged.file).summary.rows == 40
    states = [run_state(path) for path in (merged.file, other)]
    assert states[0].state == states[1].state == "done"
    assert (states[0].calls, states[0].tokens) == (states[1].calls, states[1].tokens)
    with Store.read(merged.file) as store:
        for seq in range(40):
            store.replies(seq)  # every checksum fits
    assert sorted(path.name for path in folder.glob("all.run*")) == ["all.run"]


def _unplaced(lines: bytes) -> bytes:
    """Leave out the number that a fault had in its own shard."""
    import re

    return re.sub(rb"row \w+ must", b"row N must", lines)


def test_everything_comes_along(tmp_path: Path) -> None:
    """Trajectories, requests, replies and failed attempts are all in the merged file, each with its own case."""

    def agent(question: str) -> str:
        return question.upper()

    shards = [
        run(
            tmp_path / f"{name}.run",
            [Case(f"{name}{n}", f"What is {n} + 1?", references=("x",)) for n in range(5)],
            agent=agent,
        )
        for name in "ab"
    ]
    merged = merge_runs(tmp_path / "all.run", shards).file
    for name in ("cases", "requests", "replies", "trajectories", "scores"):
        count = f"SELECT count(*) FROM {name}"  # noqa: S608 (a test's own text)
        assert table(merged, count)[0][0] == sum(table(shard, count)[0][0] for shard in shards)
    joined = "SELECT seq, replies.body FROM requests JOIN replies USING (number) ORDER BY seq"
    assert [body for _, body in table(merged, joined)] == [body for one in shards for _, body in table(one, joined)]
    assert [seq for seq, _ in table(merged, joined)] == [n for n in range(10) for _ in "12"]
    again = rescore_run(str(merged), scorers=["qa_em_reward"], run=str(tmp_path / "again.run"), config=OFF)
    assert again.exit_code == 0
    assert RunResult(tmp_path / "again.run").counts["scored"] == 10


def test_repeated_cases(tmp_path: Path) -> None:
    """A case that two files have is kept once, with the first file's scores, and that is said."""
    first = run(tmp_path / "a.run", rows(10))
    other = AskingJudge(Model(lambda prompt: "WRONG"))
    second = run(tmp_path / "b.run", rows(10, start=6), judge=other)
    merged = merge_runs(tmp_path / "all.run", [first, second])
    assert (merged.cases, merged.repeated, merged.examples) == (16, 4, ["r6", "r7", "r8"])
    assert merged.differing == 2  # r7 is unscored and r9 is right in the first file
    assert exported(merged.file).startswith(exported(first))


def test_conflicting_cases(tmp_path: Path) -> None:
    """One id for two different cases is refused with its name, and nothing is left behind."""
    first = run(tmp_path / "a.run", rows(10))
    second = run(tmp_path / "b.run", [{**row, "question": "What is 3 + 9?"} for row in rows(3, start=8)])
    with pytest.raises(RunError, match=r"case 'r8' of .*b\.run is in an earlier file with different content") as caught:
        merge_runs(tmp_path / "all.run", [first, second])
    assert caught.value.code == "conflicting-case"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "b.run"]


def test_order_of_columns_is_no_content(tmp_path: Path) -> None:
    """Equal cases are equal whatever the order of their columns; 1 and true are not."""
    first = run(tmp_path / "a.run", [{**next(rows(1)), "n": 1}])
    turned = [dict(reversed(list({**row, "n": 1}.items()))) for row in rows(2)]
    assert merge_runs(tmp_path / "all.run", [first, run(tmp_path / "b.run", turned)]).repeated == 1
    with pytest.raises(RunError, match="different content"):
        merge_runs(tmp_path / "c.run", [first, run(tmp_path / "d.run", [{**next(rows(1)), "n": True}])])


def test_same_rows_without_ids(tmp_path: Path) -> None:
    """Two runs of one file whose rows have no ids are refused: every row would be there twice."""
    import json

    lines = [json.dumps({name: value for name, value in row.items() if name != "id"}) for row in rows(5)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    shards = [run(tmp_path / f"{name}.run", tmp_path / "rows.jsonl") for name in "ab"]
    with pytest.raises(RunError, match="no id by which to recognise it"):
        merge_runs(tmp_path / "all.run", shards)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"judge": AskingJudge(version="2")}, "editions"),
        ({"scorers": ["qa_em_reward"]}, "scorers"),
        ({"agent": lambda question: "x"}, "agent"),
        ({"config": RunConfig(cache="off", seed=7)}, "seed"),
    ],
)
def test_other_jobs(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    """Runs of other scorers, another judge, agent or seed are not shards of one job."""
    shards = [run(tmp_path / "a.run", rows(3)), run(tmp_path / "b.run", rows(3, start=3), **more)]
    with pytest.raises(RunError, match=f"different jobs: {words}"):
        merge_runs(tmp_path / "all.run", shards)


def stopped(path: Path, count: int, start: int, after: int) -> Path:
    """Give a run that was stopped after some calls, with all its cases read."""
    model = Model(lambda prompt: Fatal("no") if model.calls > after else by_number(prompt))
    with pytest.raises(RunStopped):
        run(path, rows(count, start), judge=AskingJudge(model), config=RunConfig(cache="off", workers=1))
    return path


def test_unfinished_shards(tmp_path: Path) -> None:
    """A shard that is not done is refused; with `partial` the merged run goes on to what one run would have been."""
    shards = [run(tmp_path / "a.run", rows(20)), stopped(tmp_path / "b.run", 20, 20, after=8)]
    with pytest.raises(UsageError, match=r"b\.run is not done \(8 of 20 rows\): adjudge resume"):
        merge_runs(tmp_path / "all.run", shards)
    merged = merge_runs(tmp_path / "all.run", shards, partial=True)
    assert (merged.cases, merged.missing, run_state(merged.file).state) == (40, 12, "stopped")
    assert [row.score.reason for row in RunResult(merged.file).scores][-1] == "not-run: the run ended before this row"
    model = Model(by_number)
    run(merged.file, rows(40), judge=AskingJudge(model))
    assert model.calls == 12
    assert exported(merged.file) == exported(run(tmp_path / "whole.run", rows(40)))


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_score_beats_none(tmp_path: Path, order: str) -> None:
    """Of a case that one file scored and the other did not, the scored one is kept, whichever file comes first."""
    named = {"a": run(tmp_path / "a.run", rows(10)), "b": stopped(tmp_path / "b.run", 10, 0, after=4)}
    merged = merge_runs(tmp_path / "all.run", [named[name] for name in order], partial=True)
    assert (merged.cases, merged.missing, merged.repeated, merged.differing) == (10, 0, 10, 0)
    assert exported(merged.file) == exported(named["a"])
    assert table(merged.file, "SELECT count(*) FROM requests")[0][0] == 10


def test_cases_that_were_never_read(tmp_path: Path) -> None:
    """A shard that does not hold all its cases is refused, `partial` or not: nobody could say what is missing."""

    def broken() -> Iterable[Any]:
        yield from rows(300, start=10)
        raise OSError("gone")

    with pytest.raises(RunStopped):
        run(tmp_path / "b.run", broken())
    for partial in (False, True):
        with pytest.raises(UsageError, match="does not hold all its cases"):
            merge_runs(tmp_path / "all.run", [run(tmp_path / "a.run", rows(10)), tmp_path / "b.run"], partial=partial)


def test_groups_stay_whole(tmp_path: Path) -> None:
    """Rows of one group in two files are refused: each file scored a part for the whole."""

    @reward(group=True)
    def size(final_response: list[str]) -> list[float]:
        return [float(len(final_response))] * len(final_response)

    grouped = [{"id": n, "group_id": n // 3, "final_response": "x"} for n in range(12)]
    named: dict[str, Any] = {"scorers": [size], "judge": None}
    cut = [run(tmp_path / f"{a}.run", grouped[a:b], **named) for a, b in ((0, 6), (6, 12), (4, 12), (7, 12))]
    merged = merge_runs(tmp_path / "all.run", cut[:2])
    assert {row.score.value for row in RunResult(merged.file).scores} == {3.0}
    for order in ([cut[0], cut[2]], [cut[2], cut[0]]):
        with pytest.raises(RunError, match="together with other cases than in an earlier file") as caught:
            merge_runs(tmp_path / "torn.run", order)
        assert caught.value.code == "torn-unit"
    with pytest.raises(RunError, match="other rows of group_id 2"):
        merge_runs(tmp_path / "torn.run", [run(tmp_path / "c.run", grouped[:7], **named), cut[3]])


def test_locks(tmp_path: Path) -> None:
    """A shard that somebody writes is refused with the process id, and so is a place that is taken."""
    shards = [run(tmp_path / "a.run", rows(3)), run(tmp_path / "b.run", rows(3, start=3))]
    with Store.write(shards[1]), pytest.raises(RunError, match=f"in use by process {os.getpid()}"):
        merge_runs(tmp_path / "all.run", shards)
    with Store.write(tmp_path / "all.run"), pytest.raises(UsageError, match="exists already"):
        merge_runs(tmp_path / "all.run", shards)
    (tmp_path / "all.run").unlink()
    (tmp_path / "all.run.merging").write_bytes(b"left by a merge that was killed")
    assert merge_runs(tmp_path / "all.run", shards).cases == 6
    with pytest.raises(UsageError, match="given twice"):
        merge_runs(tmp_path / "c.run", [shards[0], tmp_path / "." / "a.run"])
    with pytest.raises(UsageError, match="at least two"):
        merge_runs(tmp_path / "c.run", shards[:1])


@pytest.mark.parametrize("name", ["cases", "requests", "replies", "scores"])
def test_damage_is_not_handed_on(tmp_path: Path, name: str) -> None:
    """A changed record of a shard stops the merge: it must not get a checksum that fits."""
    shards = [run(tmp_path / "a.run", rows(3)), run(tmp_path / "b.run", rows(3, start=3))]
    with closing(sqlite3.connect(shards[1], isolation_level=None)) as database:
        database.execute(f"UPDATE {name} SET body = replace(body, 'e', 'f')")  # noqa: S608 (a test's own text)
    with pytest.raises(RunError) as caught:
        merge_runs(tmp_path / "all.run", shards)
    assert caught.value.code == "run-damaged"
    assert not (tmp_path / "all.run").exists()


DIES = """
import os, sys
sys.path.insert(0, sys.argv[2])
from adjudge.runs import RunConfig
from adjudge.runs._store import Store
from runs.doubles import AskingJudge, Model
from runs.test_merge import rows, run
class Dies(Model):
    async def complete(self, request):
        if self.calls >= 20:
            with Store.read(sys.argv[1]) as store:  # not before all its cases are read
                if store.meta("complete"):
                    os._exit(9)
        return await super().complete(request)
run(sys.argv[1], rows(300, start=300), judge=AskingJudge(Dies(pause=0.01)), config=RunConfig(cache="off", workers=2))
"""


def test_killed_shard(tmp_path: Path) -> None:
    """What a killed shard had paid for, and not yet in its file, is in the merged one."""
    shards = [run(tmp_path / "a.run", rows(300)), tmp_path / "b.run"]
    tests = str(Path(__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", DIES, str(shards[1]), tests], check=False)
    assert done.returncode == 9
    assert any(tail.exists() for tail in Tail(shards[1]).paths)
    merged = merge_runs(tmp_path / "all.run", shards, partial=True)
    assert table(merged.file, "SELECT count(*) FROM replies")[0][0] >= 300 + 18


KILL = """
import os, sys
from pathlib import Path
from adjudge.runs import _merge
taken = _merge._Merge._take
def take(self, shard, page):
    taken(self, shard, page)
    if shard.index == 1:
        os.kill(os.getpid(), 9)
_merge._Merge._take = take
_merge.merge_runs(Path(sys.argv[1]) / "all.run", [Path(sys.argv[1]) / "a.run", Path(sys.argv[1]) / "b.run"])
"""


def test_killed_merge(tmp_path: Path) -> None:
    """A merge that is killed leaves no run under its name, and can be done again."""
    shards = [run(tmp_path / "a.run", rows(300)), run(tmp_path / "b.run", rows(300, start=300))]
    done = subprocess.run([sys.executable, "-c", KILL, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "all.run").exists()
    assert merge_runs(tmp_path / "all.run", shards).cases == 600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "all.run", "b.run"]


MEMORY = """
import resource, sys
from pathlib import Path
from adjudge.runs._merge import merge_runs
folder = Path(sys.argv[1])
merge_runs(folder / f"all-{sys.argv[2]}.run", [folder / f"{sys.argv[2]}-{n}.run" for n in range(2)])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_is_flat(tmp_path: Path) -> None:
    """Eight times the cases take no more memory, give or take a few megabytes."""
    peaks = []
    for size in (500, 4000):
        for n in range(2):
            run(tmp_path / f"{size}-{n}.run", rows(size, start=n * size), judge=None)
        arguments = [sys.executable, "-c", MEMORY, str(tmp_path), str(size)]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] < peaks[0] + 8, peaks
