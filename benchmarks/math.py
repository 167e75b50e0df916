"""Accuracy by set and CPU time of `adjudge.rewards.math.compare` against Math-Verify, in the same run.

    python benchmarks/math.py                    the committed rows
    python benchmarks/math.py --data DIR         rows of the same form from a folder
    python benchmarks/math.py --no-peer          without Math-Verify

Caches are cold for both: each row is compared once, and every memo is emptied before it. Worker processes count: their
CPU time is in `os.times()` once they are gone, and tier 2 is counted by rows.
"""

import sys

sys.path = [folder for folder in sys.path if not folder.endswith("benchmarks")]  # where this file would hide it

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

from adjudge.rewards.math import compare
from adjudge.rewards.math._compare import clear_memo
from adjudge.rewards.math._exact import exact_form

DATA = Path(__file__).parent.parent / "tests" / "golden" / "math"
SETS = (
    "mathverify-suite",
    "hardverify-math",
    "small-suites",
    "natural-responses",
    "issue-derived",
    "constructed",
    "policy",
)


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a set that count."""
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [row for line in lines if line.strip() if not (row := json.loads(line)).get("disputed")]


def presented(row: dict[str, Any]) -> str:
    """Return a row's response as a grader sees it."""
    pred: str = row["pred"]
    return rf"The final answer is $\boxed{{{pred}}}$." if row["kind"] == "answer" else pred


def ours(response: str, gold: str) -> tuple[bool, int]:
    """Our verdict and its tier, with nothing remembered."""
    clear_memo()
    exact_form.cache_clear()
    verdict = compare(response, gold)
    return verdict.equal is True, verdict.tier


def peer() -> Callable[[str, str], tuple[bool, int]] | None:
    """Math-Verify as its documentation calls it, if it is installed."""
    try:
        from math_verify import parse, verify
    except ImportError:
        return None

    def theirs(response: str, gold: str) -> tuple[bool, int]:
        wrapped = gold if "$" in gold or "\\boxed" in gold else f"${gold}$"
        return bool(verify(parse(wrapped), parse(response))), 2

    return theirs


def measured(
    judge: Callable[[str, str], tuple[bool, int]], rows: list[dict[str, Any]]
) -> tuple[float, int, int, list[float]]:
    """Return the accuracy, the false positives, the rows that needed sympy, and the CPU seconds of each row."""
    right = wrong_yes = symbolic = 0
    seconds: list[float] = []
    for row in rows:
        start = time.process_time()
        equal, tier = judge(presented(row), row["gold"])
        seconds.append(time.process_time() - start)
        right += equal == bool(row["expected"])
        wrong_yes += equal and not row["expected"]
        symbolic += tier == 2
    return right / len(rows), wrong_yes, symbolic, seconds


def report(name: str, rows: list[dict[str, Any]], theirs: Callable[[str, str], tuple[bool, int]] | None) -> None:
    """Print one line of the table."""
    measured(ours, rows[:20])
    accuracy, wrong_yes, symbolic, seconds = measured(ours, rows)
    spread = sorted(seconds)
    p99 = spread[min(len(spread) - 1, int(len(spread) * 0.99))]
    line = (
        f"{name:18} {len(rows):4} {accuracy:.4f} {wrong_yes:3} {symbolic / len(rows):6.1%}"
        f" {mean(seconds) * 1e6:8.0f} {median(seconds) * 1e6:7.0f} {p99 * 1e6:7.0f}"
    )
    if theirs is not None:
        measured(theirs, rows[:20])
        other, _, _, other_seconds = measured(theirs, rows)
        ratio_mean = mean(other_seconds) / mean(seconds)
        ratio_median = median(other_seconds) / median(seconds)
        line += f"   {other:.4f} {ratio_mean:7.1f}x {ratio_median:7.1f}x"
    print(line)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--sets", nargs="*", default=SETS)
    options = parser.parse_args()
    theirs = None if options.no_peer else peer()
    print("set                rows    acc  FP  sympy  mean us  med us  p99 us    peer   mean    median")
    for name in options.sets:
        report(name, rows_of(options.data, name), theirs)
    itself = same = 0
    for name in SETS:
        for row in rows_of(options.data, name):
            itself += 1
            same += compare(row["gold"], row["gold"]).equal is True or boxed_equal(row["gold"])
    print(f"gold against itself: {same}/{itself}")


def boxed_equal(gold: str) -> bool:
    """Whether a gold in a box equals itself."""
    return compare(rf"\boxed{{{gold}}}", gold).equal is True


if __name__ == "__main__":
    main()
