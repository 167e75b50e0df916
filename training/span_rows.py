"""Rows for training the reader: a question, what was said, and the span of it that is given as the answer, or none.

    python training/span_rows.py build/encoder/spans.npz [--without-share-alike]

From SQuAD-like sets (spans.jsonl), from assistants' answers written for this project (agents.jsonl) and from right
answers of EVOUNA that hold their reference once. Sentences of other texts are put around short contexts, since an
assistant says more than what it was asked.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

import rows as labelled
from encoder_kinds import SPAN_SOURCES
from encoder_made import assistants, fold_of, read, span

from adjudge.judges.local._reader import encode
from adjudge.judges.local._sequence import plain

AROUND = 0.5  # contexts of one sentence that get others around them
ELSEWHERE = 0.06  # questions that are put to a text that does not answer them
REFUSALS = (
    "I could not find that.", "I'm sorry, I don't have that information.", "That is not mentioned anywhere.",
    "It isn't clear from what I have.", "I'd rather not guess.", "The documents don't say.",
    "Unfortunately I can't tell.", "You would have to ask the office.", "No such entry exists.",
    "I looked, but there's nothing about it.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A question, a text, and where its answer stands in it; None for none."""

    question: str
    text: str
    span: tuple[int, int] | None
    source: str


def public(chance: random.Random, left_out: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of public sets, some with other sentences around them."""
    given = [one for one in labelled.read("spans") if one["source"] not in left_out]
    short = [one["context"] for one in given if len(one["context"]) < 250]
    for one in given:
        for asked in one["questions"]:
            text, answer = one["context"], asked["answer"]
            found = None if answer is None else (asked["start"], asked["start"] + len(answer))
            if found is not None and text[slice(*found)] != answer:
                continue
            if len(text) > 700:
                text, found = around(text, found, chance)
            elif len(text) < 250 and chance.random() < AROUND:
                text, found = between(text, found, chance.choice(short), chance.choice(short), chance)
            yield Row(asked["question"], text, found, one["source"])
            if chance.random() < ELSEWHERE:
                other = chance.choice(short)
                if answer is None or answer.lower() not in other.lower():
                    text = chance.choice(REFUSALS) if chance.random() < 0.4 else other
                    yield Row(asked["question"], text, None, one["source"])


def around(text: str, found: tuple[int, int] | None, chance: random.Random) -> tuple[str, tuple[int, int] | None]:
    """Return about 600 characters of a long text, its answer among them."""
    middle = chance.randrange(len(text)) if found is None else found[0]
    start = max(0, middle - chance.randint(50, 450))
    start = text.rfind(". ", 0, start) + 2 if start and ". " in text[:start] else 0
    end = text.find(". ", max(start + 500, 0 if found is None else found[1]))
    end = len(text) if end < 0 else end + 1
    return text[start:end], None if found is None else (found[0] - start, found[1] - start)


def between(
    text: str, found: tuple[int, int] | None, before: str, after: str, chance: random.Random
) -> tuple[str, tuple[int, int] | None]:
    """Return a text with another before it, after it or both."""
    which = chance.randrange(3)
    lead = f"{before} " if which != 1 else ""
    rest = f" {after}" if which != 0 else ""
    moved = None if found is None else (found[0] + len(lead), found[1] + len(lead))
    return f"{lead}{text}{rest}", moved


def agents() -> Iterator[Row]:
    """Yield assistants' answers with what they assert."""
    for one in labelled.read("agents"):
        for said in one["responses"]:
            asserted, text = said["asserted"], plain(said["text"])
            at = -1 if asserted is None else text.rfind(asserted)
            if asserted is None and said["kind"].startswith("list"):
                continue
            if asserted is None or at >= 0:
                yield Row(one["question"], text, None if asserted is None else (at, at + len(asserted)), "agents")


def trivia() -> Iterator[Row]:
    """Yield right answers of EVOUNA that hold one of their references, and hold it once."""
    for row in read("evouna-train"):
        if not row.label or len(row.candidate) < 25:
            continue
        places = [found for one in sorted(row.references, key=len, reverse=True) if (found := span(one, row.candidate))]
        if places and span(row.candidate[slice(*places[0])], row.candidate[places[0][1] :]) is None:
            yield Row(row.question, row.candidate, places[0], "evouna")


def validation() -> Iterator[Row]:
    """Yield the answers by another hand that are looked at, never learnt from."""
    for one in labelled.read("asserted-val"):
        text, asserted = plain(one["response"]), one["asserted"]
        at = -1 if asserted is None else text.rfind(asserted)
        yield Row(one["question"], text, None if at < 0 else (at, at + len(asserted)), "agents")


def judged(left_out: Sequence[str]) -> Iterator[Row]:
    """Yield the labelled rows whose verdicts are learnt, in their order: what is asserted in them is not known."""
    for name in labelled.TRAINING:
        for row in read(name) if name not in left_out else ():
            yield Row(row.question, row.candidate, None, "evouna")
    for row in assistants():
        yield Row(row.question, row.candidate, None, "agents")


def arrays(rows: list[Row]) -> dict[str, Any]:
    """Return rows as columns of tokens, with the first and last token of the span; 0, 0 for none."""
    made = []
    for row in rows:
        read_ = encode(row.question, row.text)
        first = last = 0
        if row.span is not None:
            inside = [
                at for at, place in enumerate(read_.places)
                if place is not None and place[0] < row.span[1] and place[1] > row.span[0]
            ]  # fmt: skip
            if not inside:
                continue
            first, last = inside[0], inside[-1]
        made.append((read_, first, last, row))
    return {
        "ids": np.concatenate([np.array(one.tokens, np.uint16) for one, *_ in made]),
        "segments": np.concatenate([np.array(one.segments, np.uint8) for one, *_ in made]),
        "ends": np.cumsum([len(one.tokens) for one, *_ in made]).astype(np.int32),
        "first": np.array([first for _, first, _, _ in made], np.int16),
        "last": np.array([last for _, _, last, _ in made], np.int16),
        "fold": np.array([fold_of(row.question) for *_, row in made], np.int8),
        "source": np.array([SPAN_SOURCES.index(row.source) for *_, row in made], np.int8),
    }


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without-share-alike", action="store_true", help="leave out what is CC-BY-SA")
    options = parser.parse_args()
    out = options.out
    left_out = (*labelled.SHARE_ALIKE, *labelled.SHARE_ALIKE_SPANS) if options.without_share_alike else ()
    chance = random.Random(20261119)
    rows = [*public(chance, left_out), *agents(), *trivia()]
    out.parent.mkdir(parents=True, exist_ok=True)
    parts = {"train": arrays(rows), "val": arrays(list(validation())), "judged": arrays(list(judged(left_out)))}
    np.savez_compressed(
        out, **{f"{part}_{name}": column for part, some in parts.items() for name, column in some.items()}
    )
    columns = parts["train"]
    for at, name in enumerate(SPAN_SOURCES):
        own = columns["source"] == at
        print(f"{name:12} {own.sum():6} rows, {int((columns['first'][own] == 0).sum()):6} without an answer")


if __name__ == "__main__":
    main()
