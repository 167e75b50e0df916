"""`adjudge serve` against `score_many` on the same rows, in CPU time of the server and all its processes.

Bars, for 512 rollouts of 600 words and qa_f1_reward: in one post at most 1.5x of `score_many` alone, in 512 posts at
most 2.5x from 64 clients at once, whose latency has a p99 of at most 3x its median. Medians of several rounds count.
One client that waits for each answer before it asks again has no bar: nothing can be gathered.
`--soak MINUTES` posts at full rate for so long: the memory of the second half grows by at most 5 %.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import asyncio
import os
import random
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

POST_BAR, SINGLE_BAR, LATENCY_BAR, MEMORY_BAR = 1.5, 2.5, 3.0, 1.05
ROWS = 512
CLIENTS = 64
ROUNDS = 15

ALONE = """
import sys
from time import process_time
import msgspec
from adjudge.rewards import get_scorer
rows = msgspec.json.decode(sys.stdin.buffer.readline())["rows"]
scorer = get_scorer("qa_f1_reward")
for _ in sys.stdin.buffer:
    found = []
    for _ in range(3):
        began = process_time()
        scorer.score_many(rows)
        found.append(process_time() - began)
    print(sorted(found)[1], flush=True)
"""


class Alone:
    """`score_many` on the same rows, in a process of its own."""

    def __init__(self, data: Sequence[Any]) -> None:
        command = [sys.executable, "-c", ALONE]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._tell(msgspec.json.encode({"rows": data}))

    def _tell(self, line: bytes) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def cpu(self) -> float:
        """Return the CPU seconds that it takes now."""
        self._tell(b"again")
        return float(self.process.stdout.readline() if self.process.stdout else 0)


def rows() -> list[dict[str, str]]:
    """Make rollouts of 600 words."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(500)]
    return [
        {"final_response": " ".join(chance.choices(words, k=600)), "answer": " ".join(chance.choices(words, k=3))}
        for _ in range(ROWS)
    ]


class Served:
    """A server in a process of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "adjudge", "serve", "--scorer", "qa_f1_reward", "--port", "0", "--token", "t"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int((self.process.stdout.readline() if self.process.stdout else "").rpartition(":")[2])

    def _pids(self) -> list[int]:
        found = [self.process.pid]
        for pid in found:  # grows on the way
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        return found

    @property
    def cpu(self) -> float:
        """CPU seconds of all its threads and processes, which the kernel counts in nanoseconds."""
        total = 0
        for pid in self._pids():
            for thread in Path(f"/proc/{pid}/task").iterdir():
                total += int((thread / "schedstat").read_text().split()[0])
        return total / 1e9

    @property
    def memory(self) -> float:
        """Megabytes that its processes have of their own."""
        total = 0
        for pid in self._pids():
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private"))
        return total / 1024

    def request(self, given: Sequence[Any]) -> bytes:
        """Return a whole request."""
        body = msgspec.json.encode({"rows": given})
        head = f"POST /score HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer t\r\n"
        return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    async def clients(self, requests: Sequence[bytes], count: int) -> list[float]:
        """Send requests from so many clients at once; return how long each answer took."""
        latencies: list[float] = []

        async def one(mine: Sequence[bytes]) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            for request in mine:
                began = time.perf_counter()
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(head.decode())
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.partition(b":")[2]))
                latencies.append(time.perf_counter() - began)
            writer.close()

        await asyncio.gather(*(one(requests[at::count]) for at in range(count)))
        return latencies


def costs(server: Served, alone: Alone, requests: Sequence[bytes], count: int) -> tuple[float, list[list[float]]]:
    """Return what sending all these requests costs against `score_many`, and the latencies of each round."""
    ratios, latencies = [], list[list[float]]()
    for _ in range(ROUNDS):
        # In turns: both meet the same machine.
        floor, before = alone.cpu(), server.cpu
        latencies.append(asyncio.run(server.clients(requests, count)))
        ratios.append((server.cpu - before) / floor)
    return statistics.median(ratios), latencies


def soak(server: Served, data: Sequence[Any], minutes: float) -> bool:
    """Post at full rate, and look at the memory."""
    requests = [*(server.request([row]) for row in data), server.request(data)]
    until, found, sent = time.monotonic() + minutes * 60, list[float](), 0
    while time.monotonic() < until:
        asyncio.run(server.clients(requests, CLIENTS))
        sent += len(requests)
        found.append(server.memory)
    half = len(found) // 2
    first, last = statistics.median(found[half : half + half // 4 + 1]), statistics.median(found[-(half // 4 + 1) :])
    print(f"{sent:,} posts in {minutes:g} minutes: {first:.1f} MB at half time, {last:.1f} MB at the end")
    return last <= first * MEMORY_BAR


def main() -> int:
    """Measure, and return 1 where a bar is missed."""
    data = rows()
    server = Served()
    try:
        if "--soak" in sys.argv:
            is_good = soak(server, data, float(sys.argv[sys.argv.index("--soak") + 1]))
        else:
            alone = Alone(data)
            whole, single = [server.request(data)], [server.request([row]) for row in data]
            asyncio.run(server.clients([*whole, *single], 1))  # warm
            print(f"score_many alone {alone.cpu() * 1e6 / ROWS:.0f} us a row, {os.cpu_count()} cores")
            is_good = True
            for name, requests, count, bar in (
                ("one post of 512", whole, 1, POST_BAR),
                ("512 posts, one by one", single, 1, None),
                (f"512 posts, {CLIENTS} clients", single, CLIENTS, SINGLE_BAR),
            ):
                ratio, latencies = costs(server, alone, requests, count)
                print(f"{name:<24} {ratio:5.2f}x{'' if bar is None else f'  (bar {bar:g}x)'}")
                is_good &= bar is None or ratio <= bar
            # Each round against itself: all its clients met the same machine.
            ratios = [statistics.quantiles(one, n=100)[98] / statistics.median(one) for one in latencies]
            ratio, median = statistics.median(ratios), statistics.median(map(statistics.median, latencies))
            print(f"latency, {CLIENTS} clients      {ratio:5.2f}x  (p99 of a median of {median * 1e3:.1f} ms)")
            is_good &= ratio <= LATENCY_BAR
            alone.process.communicate()
    finally:
        server.process.terminate()
        server.process.wait()
    print("all bars are met" if is_good else "A BAR IS MISSED")
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main())
