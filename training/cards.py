"""Measure both tiers as they are, and write that into their cards: for a change of rules that leaves the trees alone.

    python training/cards.py

Trees were trained on features of the code of their day. Where a change moves few of these, training again moves more
verdicts than the change does; then the trees stay, and the cards say what they do with the rules of today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import measures
import thresholds

from adjudge.judges.local._judge import VERSION
from adjudge.judges.local._tiers import assessor, best_tier

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "src" / "adjudge" / "judges" / "local"


def main() -> None:
    """Write the cards, and the thresholds of cascades."""
    for tier in range(best_tier() + 1):
        path = FOLDER / f"tier{tier}.json"
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        card = record["card"]
        card["measured with version"] = VERSION
        card["validation"] = measures.measure(measures.tier1 if tier else measures.tier0)
        card["elsewhere"] = measures.elsewhere(assessor(tier))
        measures.write(record, path)
        print(measures.table(card["validation"]))
    thresholds.main()


if __name__ == "__main__":
    main()
