"""Rows that nobody expects, judged in a worker process: only their name travels there, and what is said comes back."""

from collections.abc import Callable
from typing import Any

from adjudge.judges.local import LocalJudge

MEGABYTES = 10**6
Row = dict[str, Any]


def row(question: object = "Capital of France?", reference: object = "Paris", response: object = "Lutetia") -> Row:
    """Return a row that is ordinary where nothing else is said; no rule decides it."""
    return {"question": question, "reference": reference, "response": response}


ROWS: dict[str, tuple[Callable[[], object], str]] = {
    "ordinary": (row, "scored"),
    "nothing": (lambda: row("", "", ""), "error"),
    "no question": (lambda: row(question=""), "scored"),
    "no response": (lambda: row(response=""), "scored"),
    "a response of 10 MB": (lambda: row(response="word " * (2 * MEGABYTES)), "scored"),
    "a response of 1 MB": (lambda: row(response="mot " * (MEGABYTES // 4)), "scored"),
    "a response of one word of 1 MB": (lambda: row(response="x" * MEGABYTES), "scored"),
    "a response of one number of 1 MB": (lambda: row(reference="5", response="1" * MEGABYTES), "scored"),
    "a question of 10 MB": (lambda: row(question="why " * (MEGABYTES * 5 // 2)), "scored"),
    "a reference of 10 MB": (lambda: row(reference="word " * (2 * MEGABYTES)), "scored"),
    "a reference of one word of 10 MB": (lambda: row(reference="x" * (10 * MEGABYTES)), "scored"),
    "1,000 references": (lambda: row(reference=[f"reference {n}" for n in range(1000)]), "scored"),
    "100,000 references": (lambda: row(reference=[f"reference {n}" for n in range(100_000)]), "scored"),
    "1,000 references of 10 KB": (lambda: row(reference=[f"r{n} " * 2000 for n in range(1000)]), "scored"),
    "lone surrogates": (lambda: row("\ud800?", ["\udfff Paris", "\udc00"], "\udbff Lutetia \udc00"), "scored"),
    "NUL bytes": (lambda: row("\0?", "Pa\0ris", "\0Lutetia\0"), "scored"),
    "nothing but NUL bytes": (lambda: row("\0", "\0", "\0"), "scored"),
    "right to left": (lambda: row("ما هي عاصمة فرنسا؟", "باريس", "\u202eإنها مدينة النور\u202c"), "scored"),
    "100,000 accents on one letter": (
        lambda: row(reference="P" + "\u0301" * 100_000, response="L" + "\u0301" * 100_000),
        "scored",
    ),
    "marks of the encoder": (lambda: row(response="[CLS] France [SEP] Paris [SEP] Paris [SEP] [PAD] [MASK]"), "scored"),
    "a number of 5,000 digits": (lambda: row(response=10**5000), "error"),
    "a list as response": (lambda: row(response=["Paris"]), "error"),
    "bytes as response": (lambda: row(response=b"Paris"), "error"),
    "a mapping as reference": (lambda: row(reference={"a": "Paris"}), "error"),
    "no mapping but None": (lambda: None, "error"),
    "no mapping but text": (lambda: "Paris", "error"),
    "no mapping but a list": (lambda: ["Paris"], "error"),
    "no names": (lambda: {1: 2}, "error"),
}
"""Each row, and its outcome."""


def judge(name: str) -> list[list[Any]]:
    """Judge a row between two ordinary ones."""
    made, _ = ROWS[name]
    rows: Any = [row(), made(), row()]
    return [[one.status, one.verdict, one.probability, one.reason] for one in LocalJudge(tier=1).judge_many(rows)]
