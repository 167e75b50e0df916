"""Judges' replies made by a grammar of fragments: each has one answer or is unreadable, in few steps for its size."""

import sys
from collections.abc import Callable
from functools import partial
from random import Random

from adjudge.prompts import UnreadableReply, parse_result_line, parse_rubric, parse_verdict
from support import soak

NONCE = "d79759152ac5f3a4"
FRAGMENTS = [
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", "\\u", "\\ud800", "\ud800", "\n", "\r\n", "\u2028", " ", "\t", "    ",
    "```", "```json\n", "~~~", "`", "> ", "| ", "**", "_" * 50, "<think>", "</think>", "<", "</", "<a>" * 30, "{{" * 30,
    NONCE, f"\n{NONCE} CORRECT", f"\n{NONCE}: WRONG", f"{NONCE[:-1]}", f"> {NONCE} CORRECT\n", "CORRECT", "WRONG",
    '"verdict": "CORRECT"', '{"verdict": "WRONG"}', '{"clarity": 0.5}', '"clarity": ', "0.5", "-0", "1e999", "NaN",
    "Infinity", "9" * 400, "null", "Result: CORRECT", "\nResult: WRONG.", "\x00", "\x1b[2J", "\ufeff", "é", "İ", "ß",
]  # fmt: skip


def reply_of(seed: int) -> str:
    """Return a reply of one to sixty fragments, some of them very often."""
    random = Random(seed)  # noqa: S311 (not a secret)
    pieces = [
        random.choice(FRAGMENTS) * random.choice([1, 1, 1, 1, 2, 300 if random.random() < 0.1 else 3])
        for _ in range(random.randint(1, 60))
    ]
    return "".join(pieces)


def count_lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python a piece of work runs, and how many functions it calls."""
    steps = 0

    def count(_frame: object, event: str, _argument: object) -> object:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


def read(reply: str) -> None:
    """Read a reply in every form in which one is asked for."""
    parsers: list[Callable[[], object]] = [
        lambda: parse_verdict(reply),
        lambda: parse_verdict(reply, nonce=NONCE),
        lambda: parse_result_line(reply),
        lambda: parse_rubric(reply, ["clarity"]),
        lambda: parse_rubric(reply, ["clarity"], nonce=NONCE),
    ]
    for parse in parsers:
        try:
            parse()
        except UnreadableReply:
            continue


def test_replies_of_fragments() -> None:
    """Of thousands of replies none raises anything else, and none takes more steps than its size allows."""
    for seed in range(soak(20_000)):
        reply = reply_of(seed)
        steps = count_lines(partial(read, reply))
        assert steps <= 1_000 + 10 * len(reply), f"seed {seed}: {steps:,} steps for {len(reply):,} characters"
