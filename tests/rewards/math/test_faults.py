"""The comparison under attack and under load, with real processes.

No test here is about speed: the limits are enforced ones, and every allowance is generous enough for a busy machine.
"""

import asyncio
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from adjudge.processes import Worker
from adjudge.processes._limits import cpu_time
from adjudge.rewards import get_reward, math_equal_reward
from adjudge.rewards.math import MathVerdict, _worker, acompare, compare
from adjudge.rewards.math._compare import clear_memo
from processes.helpers import busy_machine, children, running, soon
from rewards.math.hostile import ADVERSARIAL, ENDLESS, FOLDER, NEED_SYMPY

LIMIT_S = 0.5
OVERRUN_S = 0.3
ALLOWANCE_S = 3.0  # for a machine with other things to do
MEMORY_MB = 512
AT_ONCE = 16
EASY = [(r"\boxed{\frac12}", "0.5", True), (r"\boxed{(x-1)(x+1)}", "x^2-1", True), (r"\boxed{7}", "8", False)]


@pytest.fixture(autouse=True, scope="module")
def helper_of_the_interpreter() -> None:
    """Start the process that Python itself starts with the first spawn and keeps: it is no leak of ours."""
    resource_tracker.ensure_running()


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """After every test the pool goes, and with it every process."""
    before = children()
    yield
    _worker._pool().close()
    _worker._pool.cache_clear()
    clear_memo()
    assert soon(lambda: children() <= before), children() - before


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How much CPU time each job used, from when its worker took it; 0.0 where the worker is gone already."""
    starts: dict[int, float] = {}
    found: list[float] = []
    deliver, exchange = Worker._deliver, Worker._exchange

    def noted(self: Worker, request: bytes, meter: Any) -> Any:
        starts[self.pid] = cpu_time(self.pid) or 0.0
        return deliver(self, request, meter)

    def timed(self: Worker, request: bytes, limits: Any) -> Generator[Any, None, Any]:
        try:
            return (yield from exchange(self, request, limits))
        finally:
            start = starts.pop(self.pid)
            found.append((cpu_time(self.pid) or start) - start)

    monkeypatch.setattr(Worker, "_deliver", noted)
    monkeypatch.setattr(Worker, "_exchange", timed)
    return found


@contextmanager
def watched() -> Iterator[dict[int, int]]:
    """Note the largest resident size of every worker meanwhile, in MB."""
    peak: dict[int, int] = {}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            for pid in _worker._pool().pids:
                try:
                    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
                except (FileNotFoundError, ProcessLookupError):
                    continue
                size = [int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith("VmHWM")]
                peak[pid] = max([peak.get(pid, 0), *size])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def from_threads(questions: list[tuple[str, str]]) -> list[MathVerdict]:
    """Compare sixteen at once, each in a thread."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(lambda pair: compare(*pair, limit_s=LIMIT_S), questions))


def from_a_loop(questions: list[tuple[str, str]]) -> list[MathVerdict]:
    """Compare sixteen at once on one event loop."""

    async def everything() -> list[MathVerdict]:
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(text: str, gold: str) -> MathVerdict:
            async with turn:
                return await acompare(text, gold, limit_s=LIMIT_S)

        return list(await asyncio.gather(*(one(*pair) for pair in questions)))

    return asyncio.run(everything())


WAYS = pytest.mark.parametrize("ask", [from_threads, from_a_loop])
Ask = Callable[[list[tuple[str, str]]], list[MathVerdict]]


@WAYS
def test_given_attacks(ask: Ask, taken: list[float]) -> None:
    """Nine in ten of the adversarial rows need no worker; the others end within the limit; later answers are right."""
    verdicts = ask([(row.text, row.gold) for row in ADVERSARIAL])
    for row, verdict in zip(ADVERSARIAL, verdicts, strict=True):
        assert row.either or verdict.equal is False, row.id
    assert len(taken) <= len(ADVERSARIAL) / 10
    assert all(seconds <= LIMIT_S + OVERRUN_S + ALLOWANCE_S for seconds in taken)
    assert [verdict.equal for verdict in ask([(text, gold) for text, gold, _ in EASY])] == [row[2] for row in EASY]


@WAYS
def test_attacks_that_pass_the_checks(ask: Ask, taken: list[float]) -> None:
    """What only sympy could decide ends at the limit in a worker of at most 512 MB; later answers are right."""
    with watched() as peak:
        verdicts = ask([(text, "x") for text in ENDLESS])
    assert {(verdict.equal, verdict.reason) for verdict in verdicts} <= {(False, "timeout"), (False, "too-large")}
    assert len(taken) == len(ENDLESS)
    assert all(seconds <= LIMIT_S + OVERRUN_S + ALLOWANCE_S for seconds in taken)
    assert peak
    assert max(peak.values()) <= MEMORY_MB
    verdict = ask([NEED_SYMPY[0]])[0]
    assert (verdict.equal, verdict.reason, verdict.tier) == (True, "symbolic", 2)


def _rows(*names: str) -> list[dict[str, Any]]:
    lines = [line for name in names for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")]
    return [json.loads(line) for line in lines if line.strip()]


def _presented(row: dict[str, Any]) -> str:
    pred: str = row["pred"]
    return rf"The final answer is $\boxed{{{pred}}}$." if row["kind"] == "answer" else pred


def test_load_changes_no_verdict() -> None:
    """Eight processes that spin meanwhile change no verdict, whichever tier it comes from."""
    mix = [(_presented(row), str(row["gold"])) for row in _rows("natural-responses", "constructed", "policy")[::16]]
    mix += [*NEED_SYMPY, (ENDLESS[0], "x")]

    def verdicts() -> list[MathVerdict]:
        clear_memo()
        return [compare(text, gold, limit_s=LIMIT_S) for text, gold in mix]

    idle = verdicts()
    with busy_machine(8):
        assert verdicts() == idle
    assert {verdict.tier for verdict in idle} == {0, 1, 2}


STALL_S = 0.020
TRIES = 5


def _own_time() -> float:
    """Return the time less what this thread waited for a processor: that is no stall of ours."""
    now = time.perf_counter()
    try:
        return now - int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, IndexError):  # a system that does not say
        return now


async def _largest_stall(work: Callable[[], Any]) -> float:
    """Return the longest that a task which only ticks had to wait for its turn while the work was done."""
    worst, over = 0.0, False

    async def tick() -> None:
        nonlocal worst
        last = _own_time()
        while not over:
            await asyncio.sleep(0)
            now = _own_time()
            worst, last = max(worst, now - last), now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    await work()
    over = True
    await ticking
    return worst


def test_the_event_loop_goes_on() -> None:
    """Scoring a thousand mixed answers, some of them for a worker, never holds the event loop for over 20 ms.

    What the machine itself makes a loop wait that has nothing to do does not count.
    """
    rows = [
        {"final_response": _presented(row), "answer": row["gold"]}
        for row in _rows("natural-responses", "constructed", "policy")
    ]
    rows = [*rows[::-1][:988], *({"final_response": text, "answer": gold} for text, gold in NEED_SYMPY * 3)]
    assert len(rows) == 1_000
    scorer = get_reward("math_equal_reward")
    tries = []
    for _ in range(TRIES):  # the machine may do something else in one and not in the other, so the best of a few tries
        clear_memo()
        idle = asyncio.run(_largest_stall(lambda: asyncio.sleep(0.3)))
        stall = asyncio.run(_largest_stall(lambda: scorer.ascore_many(rows)))
        tries.append({"idle": idle, "stall": stall})
        if stall - idle <= STALL_S:
            break
    assert min(found["stall"] - found["idle"] for found in tries) <= STALL_S, tries


def question(_: object = None) -> tuple[bool | None, int]:
    """Ask what only a worker can answer, somewhere else."""
    verdict = compare(*NEED_SYMPY[0])
    return verdict.equal, verdict.tier


def reply(channel: Any) -> None:
    """Answer from a process of its own, and leave no worker behind."""
    channel.send((question(), sorted(_worker._pool().pids)))


@pytest.mark.parametrize(("kind", "daemon"), [("spawn", False), ("spawn", True), ("fork", False), ("fork", True)])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_from_other_processes(kind: str, daemon: bool) -> None:
    """A spawned, forked or daemonic child gets the same answer from a worker of its own, which goes with it."""
    assert question() == (True, 2)
    context: Any = multiprocessing.get_context(kind)
    ours, theirs = context.Pipe()
    child = context.Process(target=reply, args=(theirs,), daemon=daemon)
    child.start()
    answer, pids = ours.recv()
    child.join()
    assert answer == (True, 2)
    assert pids
    assert not set(pids) & set(_worker._pool().pids)
    assert soon(lambda: not any(running(pid) for pid in pids))
    assert question() == (True, 2)


def test_from_inside_an_event_loop() -> None:
    """The direct call works where an event loop is running, as in a trainer's async reward."""

    async def inside() -> float:
        return math_equal_reward(*NEED_SYMPY[0])

    assert asyncio.run(inside()) == 1.0


def test_from_a_thread_while_another_has_a_loop() -> None:
    """Threads and event loops share the workers."""

    async def both() -> list[object]:
        other = asyncio.to_thread(question)
        return list(await asyncio.gather(other, acompare(*NEED_SYMPY[1]), asyncio.to_thread(question)))

    first, verdict, second = asyncio.run(both())
    assert first == second == (True, 2)
    assert isinstance(verdict, MathVerdict)
    assert verdict.equal


def test_after_a_worker_is_killed() -> None:
    """A worker that something else kills is replaced."""
    assert question() == (True, 2)
    for pid in _worker._pool().pids:
        os.kill(pid, 9)
    clear_memo()
    assert soon(lambda: question() == (True, 2))
