"""Accuracy by set and CPU time of `adjudge.rewards.math.compare` against Math-Verify, in the same run.

    python benchmarks/math.py                    the committed rows
    python benchmarks/math.py --data DIR         rows of the same form from a folder
    python benchmarks/math.py --no-peer          without Math-Verify

Caches are cold for both: each row is compared once, and every memo is emptied before it. The CPU time of the worker
processes is counted with the row that used it. Ends with an error where a bar of the "must" column does not hold.
"""

import sys

sys.path = [folder for folder in sys.path if not folder.endswith("benchmarks")]  # where this file would hide it

import argparse
import json
import logging
import resource
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from adjudge.processes._limits import cpu_time
from adjudge.rewards.math import _worker, compare
from adjudge.rewards.math._compare import clear_memo
from adjudge.rewards.math._exact import exact_form

DATA = Path(__file__).parent.parent / "tests" / "golden" / "math"
KNOWN_WRONG = "natural-responses-qwen-0524"  # gold `10{,}000`, answer `10000`, labelled as different


@dataclass(frozen=True, slots=True)
class Bar:
    """What a set must reach, what it should, and how many false positives it may have."""

    must: float
    aim: float
    false_positives: int | None = None


BARS = {
    "mathverify-suite": Bar(0.96, 0.99),
    "hardverify-math": Bar(0.83, 0.88, 2),
    "small-suites": Bar(0.95, 0.99),
    "natural-responses": Bar(0.99, 1.0, 0),
    "issue-derived": Bar(0.94, 1.0),
    "constructed": Bar(0.99, 0.998, 0),
    "policy": Bar(0.96, 1.0),
}
LEAST_WITHOUT_SYMPY = {"natural-responses": 0.99, "constructed": 0.85}
LEAST_MEAN_RATIO, LEAST_MEDIAN_RATIO, MOST_P99_S = 20.0, 24.0, 0.001  # on natural-responses
MOST_IMPORT_SHARE, IMPORTS = 0.12, 15


@dataclass(frozen=True, slots=True)
class Judge:
    """Whether a response equals a gold, by which tier, and how to empty every memo before that."""

    verdict: Callable[[str, str], tuple[bool, int]]
    forget: Callable[[], None]


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a set that count."""
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if not row.get("disputed") and row.get("id") != KNOWN_WRONG]


def presented(row: dict[str, Any]) -> str:
    """Return a row's response as a grader sees it."""
    pred: str = row["pred"]
    return rf"The final answer is $\boxed{{{pred}}}$." if row["kind"] == "answer" else pred


def ours() -> Judge:
    """Return our own comparison."""

    def verdict(response: str, gold: str) -> tuple[bool, int]:
        found = compare(response, gold)
        return found.equal is True, found.tier

    def forget() -> None:
        clear_memo()
        exact_form.cache_clear()

    return Judge(verdict, forget)


def peer() -> Judge | None:
    """Math-Verify as its documentation calls it, if it is installed."""
    try:
        from math_verify import parse, verify
        from sympy.core.cache import clear_cache
    except ImportError:
        return None
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)

    def theirs(response: str, gold: str) -> tuple[bool, int]:
        wrapped = gold if "$" in gold or "\\boxed" in gold else f"${gold}$"
        return bool(verify(parse(wrapped), parse(response))), 2

    return Judge(theirs, clear_cache)


def used() -> float:
    """CPU seconds of this process, of its workers that are gone, and of those that are there."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    workers = _worker._pool().pids if _worker._pool.cache_info().currsize else ()  # noqa: SLF001 (to count them)
    return time.process_time() + gone.ru_utime + gone.ru_stime + sum(cpu_time(pid) or 0.0 for pid in workers)


@dataclass(frozen=True, slots=True)
class Measured:
    """One judge on one set."""

    accuracy: float
    false_positives: int
    symbolic: float
    seconds: list[float]

    @property
    def p99(self) -> float:
        """The time that one row in a hundred exceeds."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(len(self.seconds) * 0.99))]


def measured(judge: Judge, rows: list[dict[str, Any]]) -> Measured:
    """Compare every row once."""
    right = wrong_yes = symbolic = 0
    seconds: list[float] = []
    for row in rows:
        judge.forget()
        response, start = presented(row), used()
        equal, tier = judge.verdict(response, row["gold"])
        seconds.append(used() - start)
        right += equal == bool(row["expected"])
        wrong_yes += equal and not row["expected"]
        symbolic += tier == 2
    return Measured(right / len(rows), wrong_yes, symbolic / len(rows), seconds)


def least_import(code: str) -> float:
    """CPU seconds of an interpreter that runs a line, the least of many; the first one compiles."""
    found = []
    for _ in range(IMPORTS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found[1:])


class Verdicts:
    """The bars that were looked at, and whether each holds."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def check(self, name: str, *, holds: bool, shown: str) -> None:
        """Print one bar."""
        print(f"  {'ok  ' if holds else 'FAIL'} {name:58} {shown}")
        if not holds:
            self.failed.append(name)


def report(name: str, ours_found: Measured, theirs_found: Measured | None, verdicts: Verdicts) -> None:
    """Print what one set gave, and its bars."""
    bar, seconds = BARS[name], ours_found.seconds
    fair = "" if theirs_found is None else f", Math-Verify {theirs_found.accuracy:.4f}"
    print(
        f"{name}: {len(seconds)} rows, mean {mean(seconds) * 1e6:.0f} us, median {median(seconds) * 1e6:.0f} us,"
        f" p99 {ours_found.p99 * 1e6:.0f} us{fair}"
    )
    accuracy = ours_found.accuracy
    aim = "reached" if accuracy >= bar.aim else "missed"
    shown = f"{accuracy:.4f} (aim {bar.aim}: {aim})"
    verdicts.check(f"accuracy >= {bar.must}", holds=accuracy >= bar.must, shown=shown)
    if bar.false_positives is not None:
        wrong = ours_found.false_positives
        verdicts.check(
            f"false positives <= {bar.false_positives}", holds=wrong <= bar.false_positives, shown=f"{wrong}"
        )
    if name in LEAST_WITHOUT_SYMPY:
        share, least = 1 - ours_found.symbolic, LEAST_WITHOUT_SYMPY[name]
        verdicts.check(f"decided without sympy >= {least:.0%}", holds=share >= least, shown=f"{share:.1%}")
    if theirs_found is None:
        return
    by_mean = mean(theirs_found.seconds) / mean(seconds)
    by_median = median(theirs_found.seconds) / median(seconds)
    if name != "natural-responses":
        print(f"       CPU of Math-Verify: mean {by_mean:.1f}x, median {by_median:.1f}x ours")
        return
    verdicts.check(f"mean CPU >= {LEAST_MEAN_RATIO}x", holds=by_mean >= LEAST_MEAN_RATIO, shown=f"{by_mean:.1f}x")
    holds = by_median >= LEAST_MEDIAN_RATIO
    verdicts.check(f"median CPU >= {LEAST_MEDIAN_RATIO}x", holds=holds, shown=f"{by_median:.1f}x")
    p99 = ours_found.p99
    verdicts.check("p99 <= 1 ms", holds=p99 <= MOST_P99_S, shown=f"{p99 * 1e6:.0f} us")


def itself(folder: Path, names: Iterable[str], verdicts: Verdicts) -> None:
    """Compare every gold with itself, as it stands and in a box."""
    golds = [str(row["gold"]) for name in names for row in rows_of(folder, name)]
    same = sum(
        compare(rf"The final answer is $\boxed{{{gold}}}$.", gold).equal is True or compare(gold, gold).equal is True
        for gold in golds
    )
    verdicts.check("gold against itself", holds=same == len(golds), shown=f"{same}/{len(golds)}")


def imports(verdicts: Verdicts) -> None:
    """Compare what importing costs, the bare interpreter included."""
    nothing, own, other = (least_import(code) for code in ("pass", "import adjudge.rewards.math", "import math_verify"))
    first = least_import("from adjudge.rewards.math import compare")
    share = own / other
    print(
        f"import: interpreter {nothing * 1e3:.0f} ms, adjudge.rewards.math {own * 1e3:.0f} ms (with `compare` itself"
        f" {first * 1e3:.0f} ms), math_verify {other * 1e3:.0f} ms"
    )
    verdicts.check(f"import <= {MOST_IMPORT_SHARE:.0%}", holds=share <= MOST_IMPORT_SHARE, shown=f"{share:.1%}")


def main() -> int:
    """Print the tables; the exit status says whether every bar that must hold does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--sets", nargs="*", default=list(BARS), choices=list(BARS))
    options = parser.parse_args()
    theirs = None if options.no_peer else peer()
    verdicts = Verdicts()
    for name in options.sets:
        rows = rows_of(options.data, name)
        measured(ours(), rows[:20])
        found = measured(ours(), rows)
        other = None
        if theirs is not None:
            measured(theirs, rows[:20])
            other = measured(theirs, rows)
        report(name, found, other, verdicts)
    itself(options.data, options.sets, verdicts)
    if theirs is not None:
        imports(verdicts)
    print(f"{len(verdicts.failed)} bars fail" + "".join(f"\n  {name}" for name in verdicts.failed))
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
