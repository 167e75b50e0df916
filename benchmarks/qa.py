"""QA rewards against torchmetrics' functional SQuAD: rows a second, CPU time, same rows, one process.

Interleaved, best of 7; `score` and `score_many` make real Score objects.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import random
from collections.abc import Callable
from time import process_time
from typing import Any

from torchmetrics.functional.text import squad

from adjudge.rewards import get_reward, qa_f1_reward

ROWS = 2_000
ROUNDS = 7
BARS = {"direct call": 15.0, "score": 15.0, "score_many": 20.0}


def rows() -> list[dict[str, str]]:
    """Make rows of 8-22 words against 1-4."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(500)]
    return [
        {
            "final_response": " ".join(chance.choices(words, k=chance.randint(8, 22))),
            "answer": " ".join(chance.choices(words, k=chance.randint(1, 4))),
        }
        for _ in range(ROWS)
    ]


def main() -> int:
    """Print the ratios; fail if one is below its bar."""
    data = rows()
    scorer = get_reward("qa_f1_reward")
    theirs: list[tuple[Any, Any]] = [
        (
            {"prediction_text": row["final_response"], "id": "1"},
            {"answers": {"answer_start": [0], "text": [row["answer"]]}, "id": "1"},
        )
        for row in data
    ]
    ways: dict[str, Callable[[], object]] = {
        "torchmetrics": lambda: [squad(response, answer) for response, answer in theirs],
        "direct call": lambda: [qa_f1_reward(row["final_response"], row["answer"], None) for row in data],
        "score": lambda: [scorer.score(row) for row in data],
        "score_many": lambda: scorer.score_many(data),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = process_time()
            way()
            best[name] = min(best[name], process_time() - start)
    met = True
    for name, seconds in best.items():
        ratio = best["torchmetrics"] / seconds
        bar = BARS.get(name)
        met = met and (bar is None or ratio >= bar)
        print(f"{name:14} {seconds / ROWS * 1e6:8.2f} us a row {ratio:7.1f}x{f'  (bar {bar:g}x)' if bar else ''}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
