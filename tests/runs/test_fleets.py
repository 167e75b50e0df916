"""A run whose shards others work on: the same result as in one process, whoever dies, within the same budgets."""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.errors import MissingExtra, UsageError
from adjudge.integrations.ray import connected
from adjudge.runs import Finished, Fleet, MemberLost, RunConfig, judge_file, open_run, resume_run
from adjudge.runs._shards import fleet_folder
from adjudge.runs._store import Store
from adjudge.testing import ChatServer, correct
from runs.fleets import ProcessFleet
from support import soak

OFF = RunConfig(cache="off", workers=8)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have a key, and disks of our own for the members."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def written(folder: Path, count: int) -> str:
    """Write rows, no two of which ask the same."""
    path = folder / "rows.jsonl"
    rows = (
        {"id": f"q{n}", "question": f"{n} + 1?", "reference": str(n + 1), "response": f"It is {n}."}
        for n in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def judged(rows: str, server: ChatServer, run: Path, fleet: Fleet | None, config: RunConfig = OFF) -> Finished:
    """Judge a file."""
    options = {"base_url": server.base_url}
    return judge_file(rows, "openai:m", options=options, config=config, run=str(run), out=f"{run}.jsonl", fleet=fleet)


@contextmanager
def fleet_of(size: int, **options: Any) -> Iterator[ProcessFleet]:
    """Have a fleet."""
    fleet = ProcessFleet(size, **options)
    try:
        yield fleet
    finally:
        fleet.close()


def lines(run: Path) -> bytes:
    """Return what a run wrote."""
    return Path(f"{run}.jsonl").read_bytes()


def test_the_result_is_that_of_one_process(tmp_path: Path) -> None:
    """The same verdicts in the same order, every call kept once, and nothing left behind."""
    rows = written(tmp_path, 700)
    with ChatServer(correct) as server, fleet_of(3) as fleet:
        alone = judged(rows, server, tmp_path / "alone.run", None)
        together = judged(rows, server, tmp_path / "fleet.run", fleet)
        assert server.counts.calls == 1400
    assert lines(tmp_path / "fleet.run") == lines(tmp_path / "alone.run")
    assert alone.summary is not None
    assert together.summary is not None
    assert alone.summary.tallies[0].counts == together.summary.tallies[0].counts
    assert len(fleet.shards) == 3
    with Store.read(tmp_path / "fleet.run") as store:
        assert store.totals()[:2] == (700, 700)
        assert store.rows("SELECT count(*) FROM scores")[0][0] == 700
        assert not list(fleet_folder(fleet.shards[0].run_id).iterdir())


@pytest.mark.soak
@pytest.mark.parametrize("keeps_disks", [True, False], ids=["processes", "machines"])
def test_members_that_are_killed(tmp_path: Path, keeps_disks: bool) -> None:
    """Every row is scored once; asked twice is at most what was in flight, or with a disk lost what was not shipped."""
    count, kills = soak(5000), soak(20)
    rows, over, killed = written(tmp_path, count), Event(), list[int]()
    chance = random.Random(3)  # noqa: S311 (which one dies)
    with ChatServer(correct, latency_s=0.03) as server, fleet_of(2, keeps_disks=keeps_disks) as fleet:

        def kill() -> None:
            for number in range(kills):
                # Spread over the whole run, whatever its speed.
                while not over.is_set() and server.counts.calls < (number + 0.5) * count / kills:
                    over.wait(0.005)
                while not over.is_set() and not fleet.kill(chance.randrange(2)):
                    over.wait(0.01)
                killed.append(number)

        killer = Thread(target=kill)
        killer.start()
        done = judged(rows, server, tmp_path / "a.run", fleet)
        over.set()
        killer.join()
        calls = server.counts.calls
    assert done.undecided is None
    assert done.summary is not None
    assert done.summary.tallies[0].counts == Counter(scored=count)
    found = [json.loads(line) for line in lines(tmp_path / "a.run").splitlines()]
    assert [one["id"] for one in found] == [f"q{n}" for n in range(count)]
    assert len(killed) == kills
    assert fleet.lost >= kills // 2  # one that has just died may be hit again before it is replaced
    with Store.read(tmp_path / "a.run") as store:
        assert store.rows("SELECT count(*), count(DISTINCT seq) FROM scores")[0][:] == (count, count)
    if keeps_disks:
        # 8 places over 2 members: 4 calls in flight each.
        assert calls - count <= fleet.lost * 4


def test_a_budget_is_one_for_all(tmp_path: Path) -> None:
    """Members together make no call more than the budget has, and all that it has; resumed, the rest is done."""
    rows = written(tmp_path, 900)
    with ChatServer(correct) as server, fleet_of(3) as fleet:
        config = RunConfig(cache="off", workers=6, max_calls=650)
        done = judged(rows, server, tmp_path / "a.run", fleet, config)
        assert done.undecided is not None
        assert "budget of" in done.undecided
        assert server.counts.calls == 650
        assert open_run(tmp_path / "a.run").state.done == 650
        rest = resume_run(str(tmp_path / "a.run"), limits={"max_calls": 900})
        assert rest.undecided is None
        assert server.counts.calls == 900


def test_a_resumed_run_asks_nothing_twice(tmp_path: Path) -> None:
    """What one process began a fleet ends; replies that are known go out with their rows."""
    rows = written(tmp_path, 400)
    with ChatServer(correct) as server, fleet_of(2) as fleet:
        judged(rows, server, tmp_path / "a.run", None, RunConfig(cache="off", workers=8, max_calls=150))
        with Store.write(tmp_path / "a.run") as store:  # as if it had been killed before it wrote these scores
            store.commit([("DELETE FROM scores WHERE seq < ?", (100,))])
        done = judged(rows, server, tmp_path / "a.run", fleet)
        assert done.undecided is None
        assert server.counts.calls == 400


def test_what_stops_a_run_stops_a_fleet(tmp_path: Path) -> None:
    """A refused key ends the run with its reason, not row by row."""
    rows = written(tmp_path, 300)
    with ChatServer(correct, key="another") as server, fleet_of(2) as fleet:
        done = judged(rows, server, tmp_path / "a.run", fleet)
    assert done.undecided is not None
    assert "unauthorised" in done.undecided or "stopped" in done.undecided
    assert server.counts.calls <= 40


def test_members_that_always_die(tmp_path: Path) -> None:
    """They end the run after some, with what was done; it does not go on for ever."""
    rows = written(tmp_path, 50)

    class Mortal(ProcessFleet):
        async def work(self, member: int, shard: Any) -> Any:
            raise MemberLost("as always")
            yield

    with ChatServer(correct) as server:
        done = judged(rows, server, tmp_path / "a.run", Mortal(2))
    assert done.undecided is not None
    assert "died one after another" in done.undecided


def test_stopping_early_is_not_for_fleets(tmp_path: Path) -> None:
    """It would need every score before the next row goes out."""
    rows = written(tmp_path, 5)
    config = RunConfig(cache="off", thresholds={"openai:m": 0.5}, stop_early=True)
    with ChatServer(correct) as server, pytest.raises(UsageError, match="--stop-early"):
        judged(rows, server, tmp_path / "a.run", ProcessFleet(1), config)


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which extra brings it; nothing is started."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"adjudge\[ray\]"), connected("local"):
        pass


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid:6379"])
def test_an_address_without_a_cluster(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a wrong call at once: Ray itself would go on asking for minutes."""
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False))
    with pytest.raises(UsageError, match="there is no Ray at"), connected(address):
        pass
