"""CPU time of one call of a chat model, against a bare aiohttp loop and the openai SDK, in one run.

64 workers, a server in its own process that takes 200 ms for every answer; interleaved, best of 3.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import asyncio
import json
from collections.abc import Awaitable, Callable
from time import perf_counter, process_time

import aiohttp
import openai

from adjudge.chat import ChatClient
from adjudge.model import ChatRequest, Message
from adjudge.testing import ChatServer

CALLS = 1_600
WORKERS = 64
LATENCY_S = 0.2
ROUNDS = 3
PROMPT = "Question: what is the capital of France?\nReference: Paris\nResponse: It is Paris.\nIs it correct? " * 4
BARS = {"adjudge": 0.35}

Ask = Callable[[int], Awaitable[object]]


async def drive(ask: Ask) -> None:
    """Ask all questions, as many at once as there are workers."""
    numbers = iter(range(CALLS))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(work() for _ in range(WORKERS)))


async def with_adjudge(base_url: str) -> None:
    """Ask with our client."""
    async with ChatClient("m", base_url=base_url, api_key="k", in_flight=WORKERS) as client:
        await drive(lambda number: client.complete(ChatRequest("m", (Message("user", f"{PROMPT}{number}"),))))


async def with_aiohttp(base_url: str) -> None:
    """Ask with nothing but a session, and read the text."""
    async with aiohttp.ClientSession() as session:

        async def ask(number: int) -> object:
            body = {"model": "m", "messages": [{"role": "user", "content": f"{PROMPT}{number}"}]}
            async with session.post(f"{base_url}/chat/completions", data=json.dumps(body).encode()) as response:
                return json.loads(await response.read())["choices"][0]["message"]["content"]

        await drive(ask)


async def with_openai(base_url: str) -> None:
    """Ask with the SDK."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=8) as client:
        await drive(
            lambda number: client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"{PROMPT}{number}"}]
            )
        )


def main() -> int:
    """Print CPU and wall time a call; fail if a ratio is over its bar."""
    ways = {"openai": with_openai, "aiohttp": with_aiohttp, "adjudge": with_adjudge}
    cpu = dict.fromkeys(ways, float("inf"))
    wall = dict.fromkeys(ways, float("inf"))
    with ChatServer("CORRECT", latency_s=LATENCY_S, process=True) as server:
        for _ in range(ROUNDS):
            for name, way in ways.items():
                start, started = process_time(), perf_counter()
                asyncio.run(way(server.base_url))
                cpu[name] = min(cpu[name], process_time() - start)
                wall[name] = min(wall[name], perf_counter() - started)
    ideal = CALLS / WORKERS * LATENCY_S
    met = True
    for name in ways:
        ratio = cpu[name] / cpu["openai"]
        bar = BARS.get(name)
        met = met and (bar is None or ratio <= bar)
        print(
            f"{name:8} {cpu[name] / CALLS * 1e6:8.0f} us CPU a call {ratio:6.2f}x openai"
            f"   wall {wall[name] / ideal:5.2f}x ideal{f'   (bar {bar:g}x)' if bar else ''}"
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
