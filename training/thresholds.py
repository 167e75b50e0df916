"""How often each tier of the local judge errs among the rows that it is sure of: what a cascade's threshold stands on.

    python training/thresholds.py        writes src/adjudge/judges/local/thresholds.json

Measured on the validation rows of EVOUNA (Natural Questions and TriviaQA together), which neither tier was trained on.
"""

import gzip
import json
import lzma
import sys
from pathlib import Path

from adjudge.judges.local import LocalJudge

HERE = Path(__file__).parent
OUT = HERE.parent / "src" / "adjudge" / "judges" / "local" / "thresholds.json"
STEPS = [number / 100 for number in range(50, 100)] + [0.995, 0.999]


def rows() -> list[dict[str, object]]:
    """Read the validation rows."""
    (path,) = (HERE / "data").glob("evouna-val.jsonl*")
    opened = {".xz": lzma.open, ".gz": gzip.open}[path.suffix]
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def table(tier: int) -> list[list[float]]:
    """Return for every threshold the share of errors among the rows kept, and the share of rows kept."""
    labelled = rows()
    judged = LocalJudge(tier=tier).judge_many(labelled)
    found: list[list[float]] = []
    for step in STEPS:
        kept = [
            (judgement.verdict == "CORRECT") == bool(row["label"])
            for row, judgement in zip(labelled, judged, strict=True)
            if max(judgement.probability or 0.0, 1.0 - (judgement.probability or 0.0)) >= step
        ]
        if len(kept) >= 100:
            found.append([step, round(1.0 - sum(kept) / len(kept), 4), round(len(kept) / len(labelled), 4)])
    return found


def main() -> int:
    """Measure the tiers that are installed; one that is not keeps its table."""
    from adjudge.judges.local._tiers import best_tier

    known = json.loads(OUT.read_text()) if OUT.exists() else {}
    for tier in range(best_tier() + 1):
        known[str(tier)] = table(tier)
    OUT.write_text(json.dumps(known, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
