"""Hangs, memory bombs and injections: each ends at once, and is not equal."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time

import pytest

from adjudge.rewards.math import acompare, compare

FOLDER = Path(__file__).parents[2] / "golden" / "math"


def _rows() -> list[tuple[str, str, str, bool]]:
    found = []
    for line in (FOLDER / "adversarial.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            text = "".join(piece * times for piece, times in row["gen"]) if "gen" in row else row["pred"]
            found.append((row["id"], text, row["gold"], row["equal"] == "either"))
    return found


ROWS = _rows()
BOMBS = {
    "parentheses": r"\boxed{" + "(" * 100_000 + "1" + ")" * 100_000 + "}",
    "nested fractions": r"\boxed{" + r"\frac{1}{1+" * 45 + "1" + "}" * 45 + "}",
    "nested text": r"\boxed{" + r"\text{" * 2_000 + "1" + "}" * 2_000 + "}",
    "nested sums": r"\boxed{\sum_{i=1}^{2000}\sum_{j=1}^{2000}\sum_{k=1}^{2000} ijk}",
    "tower": r"\boxed{2^{2^{2^{2^{2^2}}}}}",
    "exponential": r"\boxed{e^{e^{e^{e^{10}}}}}",
    "factorials": r"\boxed{5!!!!!!!!}",
    "binomial": r"\boxed{\binom{1000000000}{500000000}}",
    "digits": r"\boxed{" + "9" * 1_000_000 + "}",
    "exponent": r"\boxed{1e9999}",
    "multinomial": r"\boxed{(a+b+c+d+f+g+h)^{20}}",
    "signs": r"\boxed{(" + ",".join([r"\pm 1"] * 30) + ")}",
    "minus signs": r"\boxed{" + "-" * 3_000 + "2}",
    "long list": r"\boxed{" + ",".join(map(str, range(5_000))) + "}",
    "unions": r"\boxed{" + r"\cup".join(f"({n},{n + 1})" for n in range(600)) + "}",
    "tags": "<answer>" * 120_000,
    "statements": "answer: . " * 100_000,
    "white space": "answer" + " " * 1_000_000 + "is",
    "radicand": r"\boxed{\sqrt{" + "7" * 3_000 + "}}",
}


@pytest.mark.parametrize(("text", "gold", "either"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_given_bombs(text: str, gold: str, either: bool) -> None:
    """Every given bomb is answered, and unless the row says so not as equal."""
    verdict = compare(text, gold)
    assert either or verdict.equal is False


@pytest.mark.parametrize("name", BOMBS)
def test_own_bombs(name: str) -> None:
    """Size and magnitude checks answer without evaluating."""
    start = process_time()
    verdict = compare(BOMBS[name], "1")
    assert verdict.equal is False
    assert process_time() - start < 1.0


def test_most_bombs_take_no_time() -> None:
    """At least nine in ten of the given bombs take less than 50 ms of CPU time."""
    quick = 0
    for _, text, gold, _ in ROWS:
        start = process_time()
        compare(text, gold)
        quick += process_time() - start < 0.05
    assert quick / len(ROWS) >= 0.9


def test_sixteen_at_once_from_threads() -> None:
    """Threads get the same verdicts as one thread, and the answers after them are right."""
    alone = [compare(text, gold).reason for _, text, gold, _ in ROWS]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda row: compare(row[1], row[2]).reason, ROWS))
    assert together == alone
    assert compare(r"\boxed{\frac12}", "0.5").equal


def test_sixteen_at_once_from_an_event_loop() -> None:
    """So does an event loop."""

    async def everything() -> list[bool | None]:
        limit = asyncio.Semaphore(16)

        async def one(text: str, gold: str) -> bool | None:
            async with limit:
                return (await acompare(text, gold)).equal

        return list(await asyncio.gather(*(one(text, gold) for _, text, gold, _ in ROWS)))

    for (name, _, _, either), equal in zip(ROWS, asyncio.run(everything()), strict=True):
        assert either or equal is False, name


def test_deep_callers() -> None:
    """A caller that is itself deep in the stack gets an answer, not a RecursionError."""

    def descend(levels: int) -> bool | None:
        return compare(BOMBS["nested fractions"], "1").equal if levels == 0 else descend(levels - 1)

    assert descend(sys.getrecursionlimit() - 400) is False


def test_symbolic_work_is_cut_off() -> None:
    """What only sympy can decide is decided in a worker, or ends as a timeout that counts as wrong."""
    verdict = compare(r"\boxed{\int x^2 dx}", r"\frac{x^3}{3}")
    assert (verdict.equal, verdict.tier, verdict.reason) == (True, 2, "symbolic")
    verdict = compare(r"\boxed{\int x^2 dx}", r"\frac{x^3}{3}", limit_s=0)
    assert (verdict.equal, verdict.reason) == (False, "timeout")
    hard = r"\boxed{\int \frac{\sin(x^x)}{\ln(1+x^{x}+e^{x^2})} dx}"
    verdict = compare(hard, "x", limit_s=0.5)
    assert verdict.equal is False
    assert verdict.reason in {"timeout", "mismatch", "too-large"}
