"""Rows made from the training rows, all of them wrong: what a model that is rewarded by this judge would try.

Each is made from one question's rows and answers to other questions, drawn with a seed. They teach the model what the
labelled rows hardly show: other people's names, numbers that are off by one, a `not` in an explanation.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from rows import Row

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'.-]*)* [A-Z][\w'-]+")
_VERB = re.compile(r"\b(is|are|was|were|has|have|does|do|will|can)\b")


class Source:
    """Answers and candidates to draw from."""

    def __init__(self, rows: list[Row], seed: int) -> None:
        self.random = random.Random(seed)
        self.answers = sorted({row["reference"][0] for row in rows if len(row["reference"][0].split()) <= 4})
        self.names = [answer for answer in self.answers if _NAME.fullmatch(answer)]
        self.candidates = sorted({(row["question"], row["candidate"]) for row in rows})

    def other(self, reference: str, among: list[str] | None = None) -> str:
        """Return an answer that shares no word with this one."""
        own = set(reference.lower().split())
        for _ in range(20):
            drawn = self.random.choice(among or self.answers)
            if own.isdisjoint(drawn.lower().split()):
                return drawn
        return "something else"


Maker = Callable[[Row, Source], str | None]


def mismatched(row: Row, source: Source) -> str | None:
    """Return somebody else's answer."""
    question, candidate = source.random.choice(source.candidates)
    return None if question == row["question"] else candidate


def replaced(row: Row, source: Source) -> str | None:
    """Return a right candidate with another answer in the place of the reference."""
    for reference in row["reference"]:
        if row["label"] and len(reference) > 3 and reference in row["candidate"]:
            among = source.names if _NAME.fullmatch(reference) else None
            return str(row["candidate"].replace(reference, source.other(reference, among)))
    return None


def misnamed(row: Row, source: Source) -> str | None:
    """Return another name in which one part is the same."""
    reference = row["reference"][0]
    if not _NAME.fullmatch(reference):
        return None
    first, *_, last = reference.split()
    other = source.other(reference, source.names).split()
    wrong = f"{other[0]} {last}" if source.random.random() < 0.5 else f"{first} {other[-1]}"
    found = row["candidate"]
    return found.replace(reference, wrong) if row["label"] and reference in found else wrong


def miscounted(row: Row, source: Source) -> str | None:
    """Return the reference, or a candidate that has it, with a number that is a little off."""
    reference = source.random.choice(row["reference"])
    places = list(_NUMBER.finditer(reference))
    if not places:
        return None
    place = source.random.choice(places)
    value = int(place[0][:15])
    step = source.random.choice((1, -1, 1, -1, 2, 10, -10, 100))
    changed = f"{reference[: place.start()]}{max(0, value + step)}{reference[place.end() :]}"
    if changed in row["reference"] or max(0, value + step) == value:
        return None
    found = row["candidate"]
    return found.replace(reference, changed) if row["label"] and reference in found else changed


def flipped(row: Row, source: Source) -> str | None:
    """Return a right explanation with a `not` in it."""
    del source
    if not row["label"] or not _is_long(row["reference"][0]):
        return None
    changed = _VERB.sub(r"\1 not", row["candidate"], count=1)
    return None if " not" in row["candidate"] else changed


def _is_long(reference: str) -> bool:
    return len(reference.split()) > 6


MAKERS: dict[Maker, float] = {mismatched: 0.05, replaced: 0.05, misnamed: 0.04, miscounted: 0.06, flipped: 0.04}
"""Makers of wrong answers, each with the share of the rows for which it is asked."""


def make(rows: list[Row], seed: int) -> Iterator[Row]:
    """Give the made rows; the same rows and seed give the same ones."""
    source = Source(rows, seed)
    for maker, share in MAKERS.items():
        for row in source.random.sample(rows, round(share * len(rows))):
            candidate = maker(row, source)
            if candidate and candidate != row["candidate"]:
                yield {**row, "candidate": candidate, "label": 0, "made": maker.__name__}
