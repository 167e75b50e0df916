"""What several test files need."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parent.parent


def golden(name: str) -> list[dict[str, Any]]:
    """Return the rows of a golden table."""
    # Not by msgspec: some rows hold lone surrogates on purpose.
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()]


def soak(full: int) -> int:
    """Return how often a long test runs: its full count in `make soak`, a tenth of it otherwise."""
    return full if os.environ.get("ADJUDGE_SOAK") else max(1, full // 10)


def cpu_of(work: Callable[[], object], tries: int = 3) -> float:
    """Return the least CPU time of a few tries, in seconds."""
    best = float("inf")
    for _ in range(tries):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return best


def assert_linear(work: Callable[[int], Callable[[], object]], size: int, apart: int = 4) -> None:
    """Check that input which is `apart` times as large costs no more CPU than that times its root, far from its square.

    A busy machine gets more tries. The factor is for caches: what is so much larger may no longer fit into one, or into
    the half of it that a neighbour leaves: 16 leaves more room than 4, where a pass is long enough to be measured.
    """
    ratios, most = [], apart**1.5
    for tries in (1, 2, 3, 3, 5, 5, 7):
        once, more = cpu_of(work(2 * size // apart), tries), cpu_of(work(2 * size), tries)
        ratios.append(more / max(once, 1e-4))
        if ratios[-1] <= most:
            return
    raise AssertionError(f"CPU({apart}n)/CPU(n) was {', '.join(f'{r:.2f}' for r in ratios)}, more than {most:.0f}")
