"""How often a comparison errs, and how long it takes: simulated runs with known truth, and 100,000 x 100,000 rows.

Cases come in clusters, every case has its own difficulty and several repeats. The truth is the difference that new
cases of the same kind would show; each line says in how many of the simulated comparisons the claim was false.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from adjudge.comparison import CaseFacts, CompareOptions, MetricValues, Results, compare_results

SEED = 20261118
ROUNDS = 2_000
ROWS = 100_000
SECONDS = 1.5

Lose = Callable[[random.Random, float, bool], bool]
"""Whether a score is lost, from the score and whether it is the base's."""


def simulate(drawn: random.Random, *, clusters: int, size: int, repeats: int, effect: float) -> tuple[Results, Results]:
    """Draw two runs; a case of the base is right with a chance of its own, and the new run moves all chances.

    A size of 0 makes clusters of very different sizes, in which a few hold most cases.
    """
    values: dict[str, dict[str, list[float | None]]] = {"base": {}, "new": {}}
    facts = {}
    for group in range(clusters):
        level = drawn.random()
        # What the new run changes varies from cluster to cluster, too; on average it is the effect.
        shift = effect + drawn.uniform(-0.15, 0.15)
        cases = 1 + drawn.randrange(2 * size - 1) if size else round(1 + drawn.lognormvariate(1.0, 1.5))
        for case in range(cases):
            key = f"{group}-{case}"
            chance = 0.25 + 0.5 * (0.7 * level + 0.3 * drawn.random())
            facts[key] = CaseFacts(cluster=str(group))
            values["base"][key] = [float(drawn.random() < chance) for _ in range(repeats)]
            values["new"][key] = [float(drawn.random() < chance + shift) for _ in range(repeats)]
    base, new = (Results(name, {"right": MetricValues(kept, (0.0, 1.0))}, facts) for name, kept in values.items())
    return base, new


def lose(results: Results, drawn: random.Random, is_lost: Lose, *, is_base: bool) -> Results:
    """Return the results without some of their scores."""
    values = {
        key: [None if one is not None and is_lost(drawn, one, is_base) else one for one in repeats]
        for key, repeats in results.metrics["right"].values.items()
    }
    return Results(results.name, {"right": MetricValues(values, (0.0, 1.0))}, results.cases)


def at_random(drawn: random.Random, value: float, is_base: bool) -> bool:  # noqa: ARG001 (a way to lose scores)
    """Lose 4 % of the scores, whatever they are."""
    return drawn.random() < 0.04


def against_new(drawn: random.Random, value: float, is_base: bool) -> bool:
    """Lose wrong scores of the base and right ones of the new run: the worst that can happen to it."""
    return drawn.random() < 0.04 and (value == 0.0) == is_base


def for_new(drawn: random.Random, value: float, is_base: bool) -> bool:
    """Lose right scores of the base and wrong ones of the new run: how a crash hides a loss."""
    return drawn.random() < 0.04 and (value == 1.0) == is_base


def share(happened: Iterator[bool]) -> float:
    """Return how often something happened."""
    found = list(happened)
    return sum(found) / len(found)


def false_alarms(*, clusters: int, size: int, repeats: int) -> float:
    """Return how often equal runs are called worse."""
    drawn = random.Random(SEED)
    return share(
        compare_results(*simulate(drawn, clusters=clusters, size=size, repeats=repeats, effect=0.0)).exit_code() == 1
        for _ in range(ROUNDS)
    )


def coverage(is_lost: Lose, effect: float = -0.05) -> tuple[float, float]:
    """Return how often the interval of complete pairs, and that of the worst cases, hold the true difference."""
    drawn = random.Random(SEED + 1)
    plain = bounded = 0
    for _ in range(ROUNDS):
        base, new = simulate(drawn, clusters=40, size=4, repeats=1, effect=effect)
        base, new = (lose(one, drawn, is_lost, is_base=one is base) for one in (base, new))
        metric = compare_results(base, new, CompareOptions(max_missing=1.0)).metrics["right"]
        found = metric.difference
        if found is None or found.low is None or found.high is None:
            continue
        low, high = metric.bounds or (found.low, found.high)
        plain += found.low <= effect <= found.high
        bounded += low <= effect <= high
    return plain / ROUNDS, bounded / ROUNDS


def seconds_of_command() -> float:
    """Return the CPU seconds of `adjudge compare` on two files of 100,000 lines: the least of three."""
    drawn = random.Random(SEED)
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("a.jsonl", "b.jsonl")]
        like: dict[str, object] = {"scorer": "exact", "status": "scored", "parts": {}, "reason": None, "version": "1"}
        for file in files:
            rows = ({"id": f"q{at}", "value": drawn.randrange(2), **like} for at in range(ROWS))
            file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        code = "import time\nfrom adjudge.cli import main\n"
        code += "try:\n    main()\nexcept SystemExit:\n    print(time.process_time())"
        times = []
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-c", code, "compare", *map(str, files)], capture_output=True, text=True, check=True
            )
            times.append(float(done.stdout.split()[-1]))
    return min(times)


def main() -> int:
    """Print every figure beside its bar, and return 1 if one is missed."""
    failed = 0

    def show(what: str, found: float, *, holds: bool, bar: str) -> None:
        nonlocal failed
        failed += not holds
        print(f"{what:<72} {found:7.4f}  {bar}{'' if holds else '  MISSED'}")

    print(f"{ROUNDS:,} comparisons a line, seed {SEED}")
    for clusters, size, repeats in ((30, 4, 1), (30, 4, 5), (50, 1, 10), (200, 1, 1), (12, 8, 3), (50, 0, 1)):
        found = false_alarms(clusters=clusters, size=size, repeats=repeats)
        sizes = f"{size} on average" if size else "very different sizes"
        what = f"equal runs called worse: {clusters} clusters of {sizes}, {repeats} repeats"
        show(what, found, holds=found <= 0.05, bar="<= .05")
    for name, way in {"at random": at_random, "against the new run": against_new, "for the new run": for_new}.items():
        plain, bounded = coverage(way)
        if way is at_random:
            show(f"complete pairs cover the truth, lost {name}", plain, holds=0.93 <= plain <= 0.97, bar=".93 .. .97")
        show(f"worst-case bounds cover the truth, lost {name}", bounded, holds=bounded >= 0.95, bar=">= .95")
    found = seconds_of_command()
    show(f"CPU seconds of adjudge compare, {ROWS:,} x {ROWS:,} rows", found, holds=found < SECONDS, bar="< 1.5")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
