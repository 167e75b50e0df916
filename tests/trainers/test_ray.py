"""Ray on this machine: the same bytes as one process, judged shards in actors that are killed, actors as environments.

`make integration` runs it in an environment that has ray.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

pytest.importorskip("ray")

import ray

from adjudge.environments import Context, EnvBadTask, EnvDied, EnvStepTimeout, PoolLimits
from adjudge.errors import UsageError
from adjudge.integrations.ray import RayFleet, map_chunks, pool, score
from adjudge.rewards import get_reward
from adjudge.runs import RunConfig, judge_file, score_file
from adjudge.runs._store import Store
from adjudge.testing import ChatServer, correct
from environments.toys import ChancySpec, ToySpec
from processes.helpers import TESTS
from support import soak


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Start Ray here."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", OPENAI_API_KEY="sk-none")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def actors() -> list[int]:
    """Return the processes of our actors that work on shards."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"ray::_Member" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def answers(folder: Path, count: int) -> str:
    """Write rows for the QA rewards, some of which cannot be scored."""
    path = folder / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            row = {"id": f"r{n}", "final_response": f"It is {n % 7} 茶", "answer": str(n % 5), "group_id": n // 4}
            file.write("{\n" if n % 97 == 3 else json.dumps(row) + "\n")
    return str(path)


def questions(folder: Path, count: int) -> str:
    """Write rows for a judge, no two of which ask the same."""
    path = folder / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            row = {"id": f"q{n}", "question": f"{n} + 1?", "reference": str(n + 1), "response": f"It is {n}."}
            file.write(json.dumps(row) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "scorers", [["qa_f1_reward"], ["qa_em_reward", "trainers.scorers_for_ray:ranked"]], ids=["one", "groups"]
)
def test_the_same_bytes_as_one_process(tmp_path: Path, scorers: list[str]) -> None:
    """Whatever the scorers; rows that cannot be read are the same error rows."""
    rows = answers(tmp_path, 20_000)
    here = score_file(rows, scorers, out=str(tmp_path / "here.jsonl"))
    there = score_file(rows, scorers, out=str(tmp_path / "there.jsonl"), map_over=map_chunks)
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()
    assert [tally.counts for tally in here.tallies] == [tally.counts for tally in there.tallies]
    assert [tally.mean for tally in here.tallies] == [tally.mean for tally in there.tallies]


def test_a_fault_is_the_same_fault(tmp_path: Path) -> None:
    """What is wrong with the call is said as without Ray."""
    with pytest.raises(UsageError, match="no scorer is called"):
        score_file(answers(tmp_path, 5), ["qa_f1_rewrd"], map_over=map_chunks)


def test_a_scorer_that_ends_its_process(tmp_path: Path) -> None:
    """Its rows are tried a few times elsewhere, and then the run ends as it does without Ray: nobody waits for ever."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"final_response": "a"}\n{"final_response": "die"}\n', encoding="utf-8")
    command = [sys.executable, "-m", "adjudge", "score", str(path), "--scorer", "trainers.scorers_for_ray:deadly"]
    bare = {**os.environ, "RAY_ADDRESS": ""}
    ends = [
        subprocess.run([*command, *more], check=False, capture_output=True, text=True, env=bare, timeout=240)
        for more in (["--workers", "2"], ["--ray", "local"])
    ]
    assert [end.returncode for end in ends] == [3, 3]
    assert "died 4 times" in ends[1].stderr


def test_the_commands(tmp_path: Path) -> None:
    """`--ray local` starts one of its own, and ends it."""
    rows = answers(tmp_path, 500)
    command = [sys.executable, "-m", "adjudge", "score", rows, "--scorer", "qa_f1_reward", "--max-failed", "5%"]
    bare = {**os.environ, "RAY_ADDRESS": ""}
    one, other = (tmp_path / name for name in ("a.jsonl", "b.jsonl"))
    subprocess.run([*command, "--out", str(one)], check=True, capture_output=True, env=bare)
    subprocess.run([*command, "--out", str(other), "--ray", "local"], check=True, capture_output=True, env=bare)
    assert one.read_bytes() == other.read_bytes()
    done = subprocess.run(
        [*command, "--ray", "127.0.0.1:1"], check=False, capture_output=True, text=True, env=bare, timeout=300
    )
    assert (done.returncode, "there is no Ray at" in done.stderr) == (2, True)


def test_a_dataset() -> None:
    """Scores are columns beside those of the rows; a row without a number has null, and says why."""
    rows = [{"final_response": "Paris", "answer": "Paris", "n": 1}, {"final_response": "Lyon", "answer": "", "n": 2}]
    found = sorted(score(ray.data.from_items(rows * 50), ["qa_f1_reward"]).take_all(), key=lambda row: row["n"])
    alone = [get_reward("qa_f1_reward").score(row) for row in rows]
    assert len(found) == 100
    for row, expected in ((found[0], alone[0]), (found[-1], alone[1])):
        assert (row["qa_f1_reward"], row["qa_f1_reward_status"]) == (expected.value, expected.status)
        assert row["qa_f1_reward_em"] == expected.parts["em"]
    mapped = score(
        ray.data.from_items([{"said": "Paris", "answer": "Paris"}]), "qa_em_reward", columns={"final_response": "said"}
    )
    assert mapped.take_all()[0]["qa_em_reward"] == 1.0
    with pytest.raises(UsageError, match="answer"):
        score(ray.data.from_items([{"final_response": "Paris"}]), "qa_f1_reward")
    with pytest.raises(UsageError, match="adjudge judge run --ray"):
        score(ray.data.from_items(rows), "openai:m")


@pytest.mark.parametrize("kills", [0, soak(20)])
def test_judged_runs(tmp_path: Path, kills: int) -> None:
    """Actors work on shards; killed ones cost at most what was in flight, and every row is scored once."""
    count, over, killed = soak(5000), Event(), list[int]()
    rows = questions(tmp_path, count)
    chance = random.Random(5)  # noqa: S311 (which one dies)
    with ChatServer(correct, latency_s=0.03) as server:

        def kill() -> None:
            for number in range(kills):
                while not over.is_set() and server.counts.calls < (number + 0.5) * count / kills:
                    over.wait(0.005)
                while not over.is_set():
                    found = actors()
                    if found:
                        with suppress(ProcessLookupError):
                            os.kill(chance.choice(found), signal.SIGKILL)
                            killed.append(number)
                            break
                    over.wait(0.01)

        killer = Thread(target=kill)
        killer.start()
        config, options = RunConfig(cache="off", workers=8), {"base_url": server.base_url}
        run, out = str(tmp_path / "a.run"), str(tmp_path / "a.jsonl")
        fleet = RayFleet()
        done = judge_file(rows, "openai:m", options=options, config=config, run=run, out=out, fleet=fleet)
        over.set()
        killer.join()
        calls = server.counts.calls
    assert done.undecided is None
    assert done.summary is not None
    assert done.summary.tallies[0].counts == Counter(scored=count)
    assert [json.loads(line)["id"] for line in Path(out).read_text(encoding="utf-8").splitlines()] == [
        f"q{n}" for n in range(count)
    ]
    print(f"{kills} kills: {calls - count} calls repeated")  # noqa: T201 (shown with -rP)
    assert len(killed) == kills
    assert calls - count <= kills * (8 // fleet.size)
    with Store.read(run) as store:
        assert store.rows("SELECT count(*), count(DISTINCT seq) FROM scores")[0][:] == (count, count)


def test_a_node_that_dies(tmp_path: Path) -> None:
    """Its rows go on elsewhere, and all are scored once; repeated is at most what it had not shipped."""
    count = 600
    rows = questions(tmp_path, count)
    with ChatServer(correct, latency_s=0.05) as server:
        script = str(Path(__file__).with_name("ray_nodes.py"))
        command = [sys.executable, script, rows, server.base_url, str(tmp_path / "a.run")]
        environment = {**os.environ, "RAY_ADDRESS": ""}
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=600)
        calls = server.counts.calls
    assert done.returncode == 0, done.stderr[-2000:]
    # Ray writes to standard output, too.
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert found == {"counts": {"scored": count}, "undecided": None, "killed": 1}
    print(f"{calls - count} calls repeated")  # noqa: T201 (shown with -rP)
    assert calls - count <= 256  # of one shard
    with Store.read(tmp_path / "a.run") as store:
        assert store.rows("SELECT count(*), count(DISTINCT seq) FROM scores")[0][:] == (count, count)


async def play_in_actors() -> None:
    """They play, they break, they hang, they are killed: each is what it is, and the pool goes on."""
    limits = PoolLimits(step_s=3.0, start_s=60.0)
    async with pool(ToySpec(), 2, limits=limits) as replayed:

        async def rollout(number: int) -> float | None:
            async with Context(f"r{number}", pools=[replayed]) as context:
                env = await context.acquire_resource("toy")
                await env.reset(2)
                step = await env.step("one")
                if number == 3:
                    os.kill(step.info["pid"], signal.SIGKILL)
                await env.step("two")
                return (await env.outcome()).reward

        assert await asyncio.gather(*(rollout(number) for number in range(8))) == [1.0] * 8
        assert replayed.counts().faults == 1
    async with pool(ChancySpec(), 1, limits=limits) as chancy, Context("r", pools=[chancy]) as context:
        env = await context.acquire_resource("chancy")
        with pytest.raises(EnvBadTask):
            await env.reset(1000)
        for action, error in (("crash", EnvDied), ("die", EnvDied), ("hang", EnvStepTimeout)):
            await env.reset(5)
            with pytest.raises(error):
                await env.step(action)


def test_environments_are_actors() -> None:
    """See above."""
    asyncio.run(play_in_actors())
