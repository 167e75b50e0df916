"""Rows made from the training rows, all of them wrong: what a model that is rewarded by this judge would try.

Each is made from one question's rows and answers to other questions, drawn with a seed. They teach the model what the
labelled rows hardly show: other people's names, numbers that are off by one, many answers at once.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from rows import Row

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'.-]*)* [A-Z][\w'-]+")
_VERB = re.compile(r"\b(is|are|was|were|has|have|does|do|will|can)\b")
_DENIALS = (
    "It is not {}.", "not {}", "Certainly not {}", "It was never {}", "{} is not the answer.", "It isn't {}",
    "The answer is not {}.", "anything but {}", "{} is wrong.", "It is definitely not {}.", "I doubt that it is {}.",
    "It would be a mistake to say {}.", "Nobody would call it {}.", "It cannot possibly be {}.",
)  # fmt: skip
_CORRECTIONS = (
    "It was {1}, not {0}.", "{1}, rather than {0}", "Not {0} but {1}.", "Many say {0}, but it is {1}.", "{0}? No, {1}.",
    "The answer isn't {0}, it's {1}.", "People confuse it with {0}; it is {1}.", "{1} instead of {0}",
)  # fmt: skip
_HEDGES = (
    "Either {0} or {1}", "It could be {0} or {1}.", "Perhaps {0}, or maybe {1}", "{0} or possibly {1}", "{0}/{1}",
    "It might be {0} or {1}", "I would guess {0} or {1}.", "Maybe {0}, maybe {1}.", "Could be {0}. Could be {1}.",
    "{0}? {1}?", "Some say {0}, others say {1}.", "I am torn between {0} and {1}.", "One of {0} and {1}",
    "If it is not {0}, it is {1}.", "Not sure: {0} or {1}?", "It might be {0}, though it might also be {1}.",
)  # fmt: skip


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


def stuffed(row: Row, source: Source) -> str | None:
    """Return many answers, one of which is right."""
    reference = row["reference"][0]
    if _is_long(reference):
        return None
    among = source.names if _NAME.fullmatch(reference) and source.random.random() < 0.7 else None
    answers = [source.other(reference, among) for _ in range(source.random.randint(3, 9))]
    answers.insert(source.random.randrange(len(answers)), reference)
    if source.random.random() < 0.2:
        return "\n".join(f"{n}. {answer}" for n, answer in enumerate(answers, 1))
    joint = source.random.choice((", ", "; ", "\n", " / ", " or ", " and ", " ", ". It is ", " | "))
    opening = source.random.choice(("", "", "Possible answers: ", "The answer is one of: ", "It is ", "All of these: "))
    return opening + joint.join(answers)


def negated(row: Row, source: Source) -> str | None:
    """Return a denial of the reference."""
    reference = row["reference"][0]
    if _is_long(reference):
        return None
    return source.random.choice(_DENIALS + _CORRECTIONS).format(reference, source.other(reference))


def hedged(row: Row, source: Source) -> str | None:
    """Return the reference and something else, without a choice."""
    if _is_long(row["reference"][0]):
        return None
    pair = [row["reference"][0], source.other(row["reference"][0])]
    source.random.shuffle(pair)
    return source.random.choice(_HEDGES).format(*pair)


def flipped(row: Row, source: Source) -> str | None:
    """Return a right explanation with a `not` in it."""
    del source
    if not row["label"] or not _is_long(row["reference"][0]):
        return None
    changed = _VERB.sub(r"\1 not", row["candidate"], count=1)
    return None if " not" in row["candidate"] else changed


def _is_long(reference: str) -> bool:
    return len(reference.split()) > 6


def echoed(row: Row, source: Source) -> str | None:
    """Return the question, as if it were an answer."""
    opening = source.random.choice(("", "", "The answer to the question is: ", "You ask "))
    return f"{opening}{row['question']}"


ANSWERS: dict[Maker, float] = {mismatched: 0.05, replaced: 0.05, misnamed: 0.04, miscounted: 0.06, flipped: 0.04}
"""Makers of wrong answers, each with the share of the rows for which it is asked."""

TRAPS: dict[Maker, float] = {stuffed: 0.05, negated: 0.05, hedged: 0.05, echoed: 0.02}
"""Makers of candidates that have the reference and do not give it as the answer."""


def make(rows: list[Row], makers: dict[Maker, float], seed: int) -> Iterator[Row]:
    """Give the made rows; the same rows and seed give the same ones."""
    source = Source(rows, seed)
    for maker, share in makers.items():
        for row in source.random.sample(rows, round(share * len(rows))):
            candidate = maker(row, source)
            if candidate and candidate != row["candidate"]:
                yield {**row, "candidate": candidate, "label": 0, "made": maker.__name__}
