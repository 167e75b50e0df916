"""A judged run against its floor: the bare openai SDK asking the same server the same number of questions.

The server plays a model with 200 ms latency in a process of its own, 64 calls are in flight, journal and cache are on.
Bars: CPU a row at most 0.35x of the floor; wall at most 1.08x of the ideal; a million rows under 300 MB; a run of
100,000 rows goes on within 2 s. `--quick` leaves out the long sizes.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from adjudge.testing import ChatServer, Limit

IN_FLIGHT = 64
LATENCY = 0.2
FLOOR_ROWS = 2000
ROUNDS = 3  # the least of each figure counts: what else the machine does only adds
Figures = tuple[float, float, float]
CPU_BAR, WALL_BAR, MEMORY_BAR, RESUME_BAR = 0.35, 1.08, 300.0, 2.0

MEASURE = """
import json, resource, sys, time
def measured(work):
    began, cpu = time.perf_counter(), time.process_time()
    work()
    used = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps([*used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
url, count, folder, in_flight = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
"""

FLOOR = """
import asyncio, openai
async def ask_all():
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=2)
    numbers = iter(range(count))
    async def worker():
        for number in numbers:
            question = f"What is {number} + 1? The answer is said to be {number + 1}. CORRECT or WRONG?" * 8
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
    await asyncio.gather(*(worker() for _ in range(in_flight)))
measured(lambda: asyncio.run(ask_all()))
"""

BARE = """
import asyncio, aiohttp
async def ask_all():
    numbers = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:
        async def worker():
            for number in numbers:
                question = f"What is {number} + 1? The answer is said to be {number + 1}. CORRECT or WRONG?" * 8
                body = json.dumps({"model": "m", "messages": [{"role": "user", "content": question}]}).encode()
                async with session.post(url + "/chat/completions", data=body) as reply:
                    json.loads(await reply.read())
        await asyncio.gather(*(worker() for _ in range(in_flight)))
measured(lambda: asyncio.run(ask_all()))
"""

OURS = """
import os
import aiohttp, adjudge.cli.judge, adjudge.judges._llm, adjudge.runs._sessions  # as the floor has its imports done
from adjudge.cli import main
os.environ.update(OPENAI_API_KEY="none", ADJUDGE_CACHE=folder + "/cache.sqlite")
sys.argv[1:] = ["judge", "run", folder + "/rows.jsonl", "--judge", "openai:m", "--base-url", url, "--workers",
                str(in_flight), "--run", f"{folder}/{count}.run", "--out", folder + "/out.jsonl"]
def judge():
    try:
        main()
    except SystemExit as done:
        assert done.code == 0, done
measured(judge)
"""

HALF = """
from pathlib import Path
from adjudge.judges import LLMJudge
from adjudge.model import ChatReply
from adjudge.runs._plan import RunConfig
from adjudge.runs._plan import Job
from adjudge.runs._plan import Plan
from adjudge.runs._run import RunTask, run_session
import asyncio
class Quick:
    name, base_url = "openai:m", url
    async def complete(self, request):
        return ChatReply('{"reasoning": "quick", "verdict": "CORRECT"}', raw="{}", prompt_tokens=1, completion_tokens=1)
config = RunConfig(workers=512, cache="off", max_calls=count - 1000)
plan = Plan("judge", judge="openai:m", options={"base_url": url}, by_name=True)
job = Job((), LLMJudge("m", chat=Quick(), name="openai:m"))
work = RunTask(Path(folder, "half.run"), job, plan, config, folder + "/rows.jsonl")
measured(lambda: asyncio.run(run_session(work)))
"""


def measure(code: str, url: str, count: int, folder: str) -> Figures:
    """Return wall seconds, CPU seconds and peak MB of some code in a process of its own."""
    arguments = [url, str(count), folder, str(IN_FLIGHT)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE + code, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    wall, cpu, peak = json.loads(done.stdout.splitlines()[-1])
    return wall, cpu, peak


def write_rows(folder: str, count: int) -> None:
    """Write rows that have to be judged."""
    with Path(folder, "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            row: dict[str, Any] = {"id": number, "question": f"What is {number} + 1?", "reference": str(number + 1)}
            file.write(json.dumps({**row, "response": f"After some thought: it is {number + 1}, I am sure."}) + "\n")


def one_round(url: str, rows: int, folder: str) -> tuple[Figures, Figures, Figures]:
    """Return the figures of the floor, of bare aiohttp and of ours, one after the other; ours begins from nothing."""
    for left in Path(folder).glob("*.run*"):
        left.unlink()
    for left in Path(folder).glob("cache.sqlite*"):
        left.unlink()
    floor = measure(FLOOR, url, FLOOR_ROWS, folder)
    return floor, measure(BARE, url, rows, folder), measure(OURS, url, rows, folder)


def resume_seconds(folder: str, count: int) -> float:
    """Return how long it takes from the start of `adjudge resume` to its first call."""
    with ChatServer(latency_s=0.01, process=True) as server:
        write_rows(folder, count)
        measure(HALF, server.base_url, count, folder)
        began = time.perf_counter()
        command = [sys.executable, "-m", "adjudge", "resume", f"{folder}/half.run", "--max-calls", str(2 * count)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while server.counts.calls == 0:
            time.sleep(0.01)
        first = time.perf_counter() - began
        process.wait()
    return first


def main() -> int:
    """Print the figures; fail if one misses its bar."""
    quick = "--quick" in sys.argv[1:]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        rows = 2000 if quick else 10_000
        with ChatServer(latency_s=LATENCY, process=True, limit=Limit()) as server:
            write_rows(folder, rows)
            found = [one_round(server.base_url, rows, folder) for _ in range(1 if quick else ROUNDS)]
        floors, bares, ours = zip(*found, strict=True)
        floor = min(cpu for _, cpu, _ in floors) / FLOOR_ROWS
        bare_wall, bare = min(wall for wall, _, _ in bares), min(cpu for _, cpu, _ in bares)
        wall, cpu, peak = (min(figures) for figures in zip(*ours, strict=True))
        ideal = rows / IN_FLIGHT * LATENCY
        print(f"floor, bare openai SDK: {floor * 1e3:.2f} ms of CPU a row")
        print(f"bare aiohttp: {bare / rows * 1e3:.2f} ms ({bare / rows / floor:.2f}x), wall {bare_wall / ideal:.3f}x")
        ratio = cpu / rows / floor
        print(f"adjudge, {rows:,} rows:   {cpu / rows * 1e3:.2f} ms ({ratio:.2f}x, bar {CPU_BAR}x)")
        print(
            f"wall {wall:.1f} s, {wall / ideal:.3f}x of the ideal {ideal:.1f} s (bar {WALL_BAR}x), {peak:.0f} MB peak"
        )
        good = ratio <= CPU_BAR and wall / ideal <= WALL_BAR
        if not quick:
            with ChatServer(process=True) as server:
                write_rows(folder, 100_000)
                _, _, large = measure(OURS, server.base_url, 100_000, folder)
            million = large + (large - peak) / (100_000 - rows) * 900_000
            print(
                f"100,000 rows: {large:.0f} MB peak; a million, extrapolated: {million:.0f} MB (bar {MEMORY_BAR:.0f})"
            )
            good = good and million <= MEMORY_BAR
        count = 10_000 if quick else 100_000
        first = resume_seconds(folder, count)
        print(f"a run of {count:,} rows goes on after {first:.2f} s (bar {RESUME_BAR} s)")
    return 0 if good and first <= RESUME_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
