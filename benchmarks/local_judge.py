"""The local judge: CPU a pair of tier 0, on the validation rows, against containment in the same run.

Best of 5 rounds; references are prepared once, as in a run over a file.
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's
sys.path.insert(0, str(Path(__file__).parent.parent / "training"))

from collections.abc import Callable
from time import process_time
from typing import Any

import rows as labelled

from adjudge.judges.local import LocalJudge
from adjudge.text import normalise_answer

ROUNDS = 5
BAR = 300.0  # microseconds a pair


def contains(row: dict[str, Any]) -> bool:
    """Return whether a reference stands in the candidate: the floor."""
    candidate = f" {normalise_answer(row['candidate'])} "
    return any(f" {normalise_answer(one)} " in candidate for one in row["reference"])


def main() -> int:
    """Print microseconds a pair; fail if tier 0 is above its bar."""
    rows = labelled.read("evouna-val")
    judge = LocalJudge(tier=0)
    ways: dict[str, Callable[[], object]] = {
        "containment": lambda: [contains(row) for row in rows],
        "local:0": lambda: judge.judge_many(rows),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = process_time()
            way()
            best[name] = min(best[name], process_time() - start)
    for name, seconds in best.items():
        times = seconds / best["containment"]
        print(f"{name:12} {seconds / len(rows) * 1e6:8.1f} us a pair  {times:5.1f}x containment")
    return int(best["local:0"] / len(rows) * 1e6 > BAR)


if __name__ == "__main__":
    raise SystemExit(main())
