"""What more than one machine costs: Ray beside one process for pure scoring, and how many segments one driver takes.

    python benchmarks/scale.py [rows]            the second part needs ray: .venv/trainers/ray/bin/python

The first part has a driver write the segments that members of a fleet would ship, as fast as it can, and says how many
nodes that is. The second compares CPU time of one run: all processes of Ray from the moment it is up, and one process.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import asyncio
import json
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

from adjudge.model import ChatReply, ChatRequest, Message, Provenance, Score
from adjudge.runs import Segment, score_file
from adjudge.runs._journal import Journal
from adjudge.runs._records import (
    CaseRecord,
    ReplyRecord,
    Write,
    encode,
    write_case,
    write_reply,
    write_request,
    write_scores,
)
from adjudge.runs._store import Store

NODES = 100
CALLS = 32  # in flight on a node
CALL_S = 1.0  # a call to a hosted model
CASES = 50  # of a segment


def cpu_of_ray() -> float:
    """Return the CPU seconds of all processes of this session of Ray, and of this one."""
    ticks, found = os.sysconf("SC_CLK_TCK"), 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(folder.name) == os.getpid() or b"ray::" in command or b"/ray/" in command or b"raylet" in command:
            found += sum(map(int, fields[11:15])) / ticks
    return found


def against_ray(rows: int) -> None:
    """Print what Ray adds to pure scoring."""
    from adjudge.integrations.ray import connected, map_chunks

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.jsonl")
        with source.open("w", encoding="utf-8") as file:
            for n in range(rows):
                said = (
                    f"As far as I can see from the passages, the answer to question {n} is the city of Paris, {n % 97}."
                )
                file.write(json.dumps({"id": f"r{n}", "final_response": said, "answer": f"Paris {n % 89}"}) + "\n")
        here, there = (str(Path(folder, name)) for name in ("here.jsonl", "there.jsonl"))
        before = process_time()
        score_file(str(source), ["qa_f1_reward"], out=here)
        alone = process_time() - before
        with connected("local") as ray:
            # Its workers import what they need once; that is part of Ray's start.
            warm = [ray.remote(num_cpus=1)(_warm).remote() for _ in range(2 * (os.cpu_count() or 1))]
            ray.get(warm)
            before = cpu_of_ray()
            score_file(str(source), ["qa_f1_reward"], out=there, map_over=map_chunks)
            together = cpu_of_ray() - before
        same = Path(here).read_bytes() == Path(there).read_bytes()
        ratio = together / alone - 1
        print(f"{rows:,} rows: one process {alone:.1f} s of CPU, Ray {together:.1f} s: {ratio:+.1%}, the bar is +15 %")
        print(f"bytes are {'equal' if same else 'DIFFERENT'}")


def _warm() -> None:
    score_file(os.devnull, ["qa_f1_reward"], format="jsonl")


def segments() -> None:
    """Print how many finished rows a second one driver writes, and how many nodes that is enough for."""
    count = 400
    rows, size = CASES * count, 0
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for number in range(count):
            writes: list[Write] = []
            for seq in range(number * CASES, (number + 1) * CASES):
                writes += _records(seq)
            made.append(Segment(writes, {}, (0, 0, 0.0)))
            size += sum(len(value) for _, values in writes for value in values if isinstance(value, bytes | str))
        busy, wall = asyncio.run(_written(Path(folder, "all.run"), made, rows))
    need = NODES * CALLS / CALL_S
    print(f"a judged row is {size / rows / 1024:.1f} KB of records; one driver writes {rows / wall:,.0f} rows a second")
    print(f"({1e6 * busy / rows:.0f} us of CPU a row, in segments of {CASES})")
    share = need * wall / rows
    print(f"{NODES} nodes of {CALLS} calls of {CALL_S:g} s end {need:,.0f} rows a second: {share:.0%} of that,")
    print(f"and {need * size / rows / 1e6:.0f} MB a second of the driver's network")


def _records(seq: int) -> list[Write]:
    said = "The response names the same city as the reference, and nothing in it contradicts that." * 2
    request = ChatRequest("m", (Message("user", "Is the response right?\n" * 60),))
    reply = ChatReply(said, finish_reason="stop", prompt_tokens=400, completion_tokens=40, raw=said * 4)
    score = Score.scored(1.0, reason=said, provenance=Provenance("openai:m", "1", "openai:m", "0" * 16))
    key = seq.to_bytes(8, "big") * 4
    return [
        write_request(seq + 1, seq, key, 0.0, encode(request)),
        write_reply(seq + 1, ReplyRecord(reply, cost=0.001), key=key),
        *write_scores(seq, [score]),
    ]


async def _written(path: Path, made: list[Segment], rows: int) -> tuple[float, float]:
    with Store.write(path) as store:
        for first in range(0, rows, 5000):
            last = min(rows, first + 5000)
            store.commit([write_case(CaseRecord(n, n, n, {"question": "?" * 200})) for n in range(first, last)])
        journal = Journal(store)
        busy, wall = process_time(), perf_counter()
        for number, segment in enumerate(made):
            journal.put(*segment.writes)
            if number % 20 == 19:
                await journal.commit()
        await journal.commit()
        busy, wall = process_time() - busy, perf_counter() - wall
        await journal.close()
    return busy, wall


if __name__ == "__main__":
    segments()
    if find_spec("ray") is None:
        print("ray is not installed here: what it costs is not measured")
    else:
        against_ray(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
