"""The local judge on everyday rows, against matching of strings: what people try first on a judge of answers.

1,301 rows in three sets, written with language models that were not shown the rules; half are right, by their author.
Rules were built with set 1 in view. Sets 2 and 3 were not looked at: what they show is what to expect of other rows.
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.judges.local import LocalJudge
from adjudge.judges.local._tiers import best_tier
from adjudge.text import normalise_answer

Row = dict[str, Any]
SETS = (1, 2, 3)
WORST = 6  # categories that are named


def equal(row: Row) -> bool:
    """Whether a candidate is a reference, but for case, articles and punctuation."""
    return any(normalise_answer(row["candidate"]) == normalise_answer(one) for one in row["reference"])


def contained(row: Row) -> bool:
    """Whether a candidate has a reference in it."""
    return any(normalise_answer(one) in normalise_answer(row["candidate"]) for one in row["reference"])


def judged(tier: int, rows: Sequence[Row]) -> list[bool]:
    """Return what a tier says of rows."""
    given = [{"question": row["question"], "reference": row["reference"], "response": row["candidate"]} for row in rows]
    return [found.verdict == "CORRECT" for found in LocalJudge(tier=tier).judge_many(given)]


def share(said: Sequence[bool], rows: Sequence[Row]) -> str:
    """Return the share of rows that are judged as people do."""
    right = sum(one == bool(row["label"]) for one, row in zip(said, rows, strict=True))
    return f"{right / len(rows):7.1%}"


def main() -> None:
    """Print accuracy by judge and set, and where the best tier errs most in the sets that nobody looked at."""
    text = Path(__file__).with_name("everyday.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    rules: dict[str, Callable[[Row], bool]] = {"exact match": equal, "containment": contained}
    said = {name: [rule(row) for row in rows] for name, rule in rules.items()}
    said |= {f"local:{tier}": judged(tier, rows) for tier in range(best_tier() + 1)}
    print(f"{'':14}" + "".join(f"  set {number}" for number in SETS))
    for name, verdicts in said.items():
        chosen = [[at for at, row in enumerate(rows) if row["set"] == number] for number in SETS]
        print(
            f"{name:14}" + "".join(share([verdicts[at] for at in part], [rows[at] for at in part]) for part in chosen)
        )
    best = said[f"local:{best_tier()}"]
    unseen = [(row, one) for row, one in zip(rows, best, strict=True) if row["set"] > 1]
    wrong = Counter(row["category"] for row, one in unseen if one != bool(row["label"]))
    total = Counter(row["category"] for row, _ in unseen)
    print("most errors: " + ", ".join(f"{name} {n} of {total[name]}" for name, n in wrong.most_common(WORST)))


if __name__ == "__main__":
    main()
