"""The local judge on the same answers in other wrappings: bold, courtesy, a citation, JSON, a table, 70 more words.

    python benchmarks/wrappings.py            700 validation rows in each wrapping, for every tier that is installed

What is around an answer says nothing of it, so accuracy should stay where it is: within 1.5 points of the bare answers.
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
import lzma
import random
from collections.abc import Callable
from typing import Any

from adjudge.judges.local import LocalJudge
from adjudge.judges.local._tiers import best_tier

ROWS = Path(__file__).parent.parent / "training" / "data" / "evouna-val.jsonl.xz"
BOUND = 1.5  # points
MORE = (
    "The topic has been discussed at length in many places, and there is a good deal of background that could be added"
    " here, but most of it is not needed to answer. People often ask about the details, the history and the context,"
    " and those are worth reading up on when there is time for it. I kept this short on purpose and left that out."
)


def sentence(text: str) -> str:
    """Return a text that ends as a sentence does."""
    return f"{text.rstrip('.')}."


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "bare": lambda text: text,
    "bold": lambda text: f"**{text}**",
    "courtesy": lambda text: f"Great question! {sentence(text)} Let me know if you need anything else.",
    "citation": lambda text: f"{text} [1]\n\n[1] https://example.org/source",
    "JSON": lambda text: json.dumps({"answer": text}, ensure_ascii=False),
    "table": lambda text: f"| Question | Answer |\n|---|---|\n| asked | {text} |",
    "70 words": lambda text: f"{text}\n\n{MORE}",
    "unless": lambda text: f"{sentence(text)} Unless otherwise stated, all figures are current.",
    "evaluation": lambda text: f"{sentence(text)} This is based on the evaluation of public sources.",
    "answer key": lambda text: f"{sentence(text)} The teacher uses the answer key of the textbook for grading.",
    "according to": lambda text: f"According to the documents, {text}",
    "final answer": lambda text: f"Let me think about it step by step.\n\nFinal answer: {text}",
    "<answer>": lambda text: f"<answer>{text}</answer>",
    "comment": lambda text: f"<!-- rendered by template v3 -->\n{text}",
    "heading": lambda text: f"## Answer\n\n{text}",
}


def sample(count: int) -> list[dict[str, Any]]:
    """Return some validation rows, always the same."""
    with lzma.open(ROWS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return random.Random(1).sample(rows, count)


def accuracy(tier: int, rows: list[dict[str, Any]], wrap: Callable[[str], str]) -> float:
    """Return the accuracy on wrapped answers, in per cent."""
    given = [{**row, "response": wrap(row["candidate"])} for row in rows]
    for row in given:
        del row["candidate"]
    found = LocalJudge(tier=tier).judge_many(given)
    right = sum((one.verdict == "CORRECT") == bool(row["label"]) for one, row in zip(found, rows, strict=True))
    return 100 * right / len(rows)


def main() -> None:
    """Print the accuracy by wrapping and tier, and how many points it lies above or below that of the bare answers."""
    rows = sample(700)
    for tier in range(best_tier() + 1):
        bare = accuracy(tier, rows, WRAPPINGS["bare"])
        for name, wrap in WRAPPINGS.items():
            found = accuracy(tier, rows, wrap)
            far = "" if abs(found - bare) <= BOUND else f"  more than {BOUND} from bare"
            print(f"local:{tier}  {name:13} {found:5.1f} %  {found - bare:+.1f}{far}")


if __name__ == "__main__":
    main()
