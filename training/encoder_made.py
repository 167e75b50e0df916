"""Rows made from the labelled ones for training the encoder; the label follows from how a row is made.

Each is there because of something that the labelled rows do not teach: that a name in a denial, a list or a doubt is no
answer, that one digit matters, that another question's answer is wrong however well it reads, that an alias is right
without sharing a word with the rest. Tier 0's made rows (synthetic.py) are all wrong; here some are right, so that the
look of a row does not give it away. Every random choice hangs on the row's own id.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import rows as labelled
from encoder_kinds import FOLDS
from encoder_phrases import ALIASES, ASIDES, CORRECTED, ECHOES, HEDGED, KEYS, NEGATED, PLAIN, REFUSALS

from adjudge.judges.local._sequence import plain

ASKED = (
    "how many", "how much", "how long", "how old", "what year", "who", "when", "where", "which", "what", "how",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One judged answer; `kind` says how it was made, `asked` whose question it belongs to."""

    id: str
    question: str
    references: tuple[str, ...]
    candidate: str
    label: int
    source: str
    system: str = ""
    kind: str = "real"
    asked: str = ""

    @property
    def fold(self) -> int:
        """The fold of its question: every row of it, and every variation, is in the same one."""
        return fold_of(self.asked or self.question)

    def made(self, kind: str, candidate: str, label: int, references: tuple[str, ...] = ()) -> Row:
        """Return this row with another candidate, and perhaps other references."""
        given = references or self.references
        return replace(self, id=f"{self.id}+{kind}", candidate=candidate, label=label, references=given, kind=kind)


def read(name: str) -> list[Row]:
    """Read one file of labelled rows."""
    return [
        Row(
            id=row["id"],
            question=plain(row["question"]),
            references=tuple(map(plain, row["reference"])),
            candidate=plain(row["candidate"]),
            label=int(row["label"]),
            source=row["source"],
            system=row.get("system") or "",
        )
        for row in labelled.read(name)
    ]


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return re.findall(r"\w+", text.lower())


def contained(reference: str, candidate: str) -> bool:
    """Return whether a candidate has a reference's words in a row."""
    gold = " ".join(words(reference))
    return bool(gold) and f" {gold} " in f" {' '.join(words(candidate))} "


def fold_of(question: str) -> int:
    """Return the fold of a question: every row of it, and every variation, is in the same one."""
    return int(hashlib.sha256(" ".join(words(question)).encode()).hexdigest()[:8], 16) % FOLDS


def wh(question: str) -> str:
    """Return what a question asks for, as far as its words say."""
    asked = f" {' '.join(words(question))} "
    return next((key for key in ASKED if f" {key} " in asked), "other")


def kind_of(answer: str) -> str:
    """Return the look of an answer: digits, a date, a name of one word or more, other."""
    if re.fullmatch(r"[\d.,\s%$£€]+", answer):
        return "year" if re.fullmatch(r"1[5-9]\d\d|20\d\d", answer) else "number"
    if re.search(r"\d", answer):
        return "with-digits"
    parts = answer.split()
    if all(part[:1].isupper() for part in parts):
        return f"name-{min(len(parts), 3)}"
    return f"words-{min(len(parts), 3)}"


@dataclass
class Donors:
    """Answers of other questions, by fold, what was asked and how they look."""

    answers: dict[tuple[int, str, str], list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[tuple[int, str], list[Row]] = field(default_factory=lambda: defaultdict(list))

    def other(self, chance: random.Random, row: Row, like: str) -> str | None:
        """Return an answer of another question that looks like `like`."""
        fold, asked, look = row.fold, wh(row.question), kind_of(like)
        for key in ((fold, asked, look), (fold, "", look)):
            choices = self.answers.get(key, ())
            for _ in range(8 if choices else 0):
                question, answer = chance.choice(choices)
                if question != row.question and not any(alike(answer, own) for own in row.references):
                    return answer
        return None


def alike(one: str, other: str) -> bool:
    """Return whether two answers share a word that is no particle."""
    mine, yours = ({word for word in words(text) if len(word) > 2 or word.isdigit()} for text in (one, other))
    return not mine.isdisjoint(yours)


def donors_of(rows: list[Row]) -> Donors:
    """Collect what other questions' rows can be lent."""
    donors = Donors()
    seen: set[str] = set()
    for row in rows:
        fold, asked = row.fold, wh(row.question)
        donors.rows[fold, asked if row.source.startswith("evouna") else row.source].append(row)
        if row.question in seen or not row.source.startswith("evouna"):
            continue
        seen.add(row.question)
        for answer in row.references[:2]:
            donors.answers[fold, asked, kind_of(answer)].append((row.question, answer))
            donors.answers[fold, "", kind_of(answer)].append((row.question, answer))
    return donors


def other_number(chance: random.Random, text: str) -> str | None:
    """Return a text in which one number is another."""
    found = list(re.finditer(r"\d+", text))
    if not found:
        return None
    at = chance.choice(found)
    value, width = int(at[0]), len(at[0])
    if width > 9:
        return None
    steps = [value + step for step in (-10, -3, -2, -1, 1, 2, 3, 10) if value + step >= 0]
    changed = chance.choice(steps)
    if chance.random() < 0.3 and width > 1:
        digits = list(at[0])
        spot = chance.randrange(width)
        digits[spot] = chance.choice([d for d in "0123456789" if d != digits[spot]])
        return text[: at.start()] + "".join(digits) + text[at.end() :]
    return text[: at.start()] + str(changed).zfill(width) + text[at.end() :]


NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def near_name(chance: random.Random, name: str, other: str) -> str | None:
    """Return a name that shares a part with a name of several words: another one's first or last, another number.

    >>> near_name(random.Random(0), "Albert Einstein", "Marie Curie"), near_name(random.Random(0), "Paris", "Lyon")
    ('Albert Curie', None)
    """
    own, lent = name.split(), other.split()
    if not (1 < len(own) < 5 and lent and all(part[:1].isupper() for part in (*own, *lent))):
        return None
    if own[-1] in NUMERALS:
        return " ".join((*own[:-1], chance.choice([one for one in NUMERALS[:5] if one != own[-1]])))
    made = (*own[:-1], lent[-1]) if chance.random() < 0.5 else (lent[0], *own[1:])
    return " ".join(made) if list(made) != own else None


def negate(text: str, place: int) -> str | None:
    """Return a sentence that denies what it said before the place of the answer, or after it."""
    for found in re.finditer(r"\b(is|was|are|were|did|has|have|had|can|will)\b", text):
        if abs(found.start() - place) < 60:
            return f"{text[: found.end()]} not{text[found.end() :]}"
    return None


def span(reference: str, text: str) -> tuple[int, int] | None:
    """Return where a reference stands in a text, as written but for case."""
    at = re.search(rf"(?<!\w){re.escape(reference)}(?!\w)", text, re.IGNORECASE)
    return (at.start(), at.end()) if at else None


def variations(row: Row, donors: Donors, peers: list[Row]) -> list[Row]:
    """Return what can be made of one labelled row of short answers."""
    chance = random.Random(row.id)
    made: list[Row] = []
    gold = chance.choice(row.references[:4])
    lent = donors.other(chance, row, gold), donors.other(chance, row, gold)
    others = [chance.choice(donors.rows[row.fold, wh(row.question)]) for _ in range(4)]
    strangers = [other for other in others if other.question != row.question]
    if strangers and not any(contained(own, strangers[0].candidate) for own in row.references):
        made.append(row.made("mismatch", strangers[0].candidate, 0))
    if row.label and len(strangers) > 1 and not any(overlap(one, row.candidate) for one in strangers[1].references):
        made.append(row.made("other-reference", row.candidate, 0, strangers[1].references))
    if row.label:
        made += edited(row, donors, chance)
    made += with_aside(row, chance, gold, lent[0])
    if row.system == "fid":
        made += from_gold(row, donors, chance, gold, lent)
        if row.label and len(words(row.candidate)) <= 8 and row.candidate not in row.references:
            made += [peer.made("peer", peer.candidate, peer.label, (row.candidate,)) for peer in peers if peer != row]
    return made


def overlap(one: str, other: str) -> bool:
    """Return whether one text is contained in the other."""
    return contained(one, other) or contained(other, one)


def edited(row: Row, donors: Donors, chance: random.Random) -> list[Row]:
    """Return wrong rows from a right one: the reference in its candidate swapped, miscounted, denied."""
    spans = (span(one, row.candidate) for one in sorted(row.references, key=len, reverse=True))
    place = next((found for found in spans if found), None)
    if place is None:
        return []
    made: list[Row] = []
    before, said, after = row.candidate[: place[0]], row.candidate[place[0] : place[1]], row.candidate[place[1] :]
    swap = donors.other(chance, row, said)
    if swap and span(said, before + after) is None:
        made.append(row.made("swapped-name", before + swap + after, 0))
    close = near_name(chance, said, swap or "")
    if close and not any(overlap(one, before + close + after) for one in row.references):
        made.append(row.made("near-name", before + close + after, 0))
    number = other_number(chance, said)
    if number and not any(contained(one, before + number + after) for one in row.references):
        made.append(row.made("other-number", before + number + after, 0))
    if chance.random() < 0.5:
        denied = negate(row.candidate, place[0])
        made += [row.made("negated", denied, 0)] if denied else []
    return made


def with_aside(row: Row, chance: random.Random, gold: str, other: str | None) -> list[Row]:
    """Return a wrong answer that denies the reference in passing, or a right one that denies something else."""
    denied = other if row.label else gold
    if chance.random() > 0.4 or not denied or any(contained(one, row.candidate) for one in row.references) != row.label:
        return []
    aside = chance.choice(ASIDES).format(a=denied)
    said = f"{aside} {row.candidate}" if chance.random() < 0.3 else f"{row.candidate.rstrip()} {aside}"
    return [row.made("corrected" if row.label else "negated", said, row.label)]


def from_gold(
    row: Row, donors: Donors, chance: random.Random, gold: str, lent: tuple[str | None, str | None]
) -> list[Row]:
    """Return what can be made of a question and its references, once a question."""
    made = [
        row.made("plain", chance.choice(PLAIN).format(a=gold), 1),
        row.made("key", chance.choice(KEYS), 0),
        row.made("refusal", chance.choice(REFUSALS), 0),
        row.made("echo", chance.choice(ECHOES).format(q=row.question), 0),
    ]
    if len(set(row.references)) > 1:
        for alias in chance.sample(row.references, 2):
            rest = tuple(one for one in row.references if not overlap(one, alias))
            if rest and 1 < len(alias) < 60 and not re.search(r"[(\[/]", alias):
                keep = tuple(chance.sample(rest, chance.randint(1, min(3, len(rest)))))
                made.append(row.made("alias", chance.choice(PLAIN).format(a=alias), 1, keep))
                made.append(row.made("corrected", chance.choice(ALIASES).format(a=alias, b=keep[0]), 1))
    first, second = lent
    if first and second:
        texts = {"a": gold, "d": first, "e": second}
        made += [
            row.made("swapped-name", chance.choice(PLAIN).format(a=first), 0),
            *(row.made("corrected", one.format(**texts), 1) for one in chance.sample(CORRECTED, 3)),
            *(row.made("negated", one.format(**texts), 0) for one in chance.sample(NEGATED, 3)),
            *(row.made("hedged", one.format(**texts), 0) for one in chance.sample(HEDGED, 3)),
        ]
        others = [donors.other(chance, row, gold) for _ in range(chance.randint(3, 9))]
        names = [name for name in (gold, first, second, *others) if name]
        chance.shuffle(names)
        made.append(row.made("stuffed", chance.choice((", ", "; ", " ", "\n", " / ", " and ")).join(names), 0))
    close = near_name(chance, gold, first or "")
    if close and not any(overlap(one, close) for one in row.references):
        made.append(row.made("near-name", chance.choice(PLAIN).format(a=close), 0))
    number = other_number(chance, gold)
    if number and not any(overlap(one, number) for one in row.references):
        made.append(row.made("other-number", chance.choice(PLAIN).format(a=number), 0))
    return made


def explanations(row: Row, donors: Donors, peers: list[Row]) -> list[Row]:
    """Return what can be made of one row of explanatory answers: few questions, so that their words teach too much."""
    chance = random.Random(row.id)
    right = [peer.candidate for peer in peers if peer.label and peer.candidate != row.candidate]
    stranger = chance.choice(donors.rows[row.fold, row.source])
    made = [replace(row, id=f"{row.id}+blind", question="", kind="blind", asked=row.question)]
    models = [model for model in chance.sample(right, min(2, len(right))) if len(words(model)) > 3]
    made += [replace(row, id=f"{row.id}+pupil", references=(model,), kind="pupil") for model in models]
    if stranger.question != row.question and chance.random() < 0.4:
        made.append(row.made("mismatch", stranger.candidate, 0))
    if chance.random() < 0.03:
        made.append(row.made("plain", chance.choice(row.references), 1))
    if chance.random() < 0.03:
        made.append(row.made("echo", row.question, 0))
    if chance.random() < 0.03:
        made.append(row.made("key", chance.choice(KEYS), 0))
    if chance.random() < 0.03:
        made.append(row.made("refusal", chance.choice(REFUSALS), 0))
    return made


def training_rows(left_out: Sequence[str] = ()) -> list[Row]:
    """Return the labelled rows for training and assistants' answers, then what is made of them and of other sets."""
    rows = [row for name in labelled.TRAINING if name not in left_out for row in read(name)]
    donors = donors_of(rows)
    by_question: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_question[row.question].append(row)
    made: list[Row] = []
    for row in rows:
        make = variations if row.source.startswith("evouna") else explanations
        made += make(row, donors, by_question[row.question])
    return rows + assistants() + made + contrasts() + ([] if "breaking-nli" in left_out else turned())


def assistants() -> list[Row]:
    """Return answers as assistants write them, right and wrong, written for this project."""
    return [
        Row(
            f"agent-{at}-{n}",
            one["question"],
            tuple(one["reference"]),
            plain(said["text"]),
            int(said["right"]),
            "agents",
            kind="agent",
        )
        for at, one in enumerate(labelled.read("agents"))
        for n, said in enumerate(one["responses"])
    ]


def contrasts() -> list[Row]:
    """Return sentences as answers to the questions that were asked about them: with the answer, and with another one's.

    The other answer stands in the sentence too, in another role.
    """
    found: list[Row] = []
    for at, one in enumerate(labelled.read("spans")):
        text = one["context"]
        if one["source"] != "qamr":
            continue
        chance = random.Random(text)
        for n, asked in enumerate(one["questions"]):
            answer = asked["answer"]
            others = [
                other["answer"] for other in one["questions"]
                if not alike(other["answer"], answer) and wh(other["question"]) == wh(asked["question"])
            ] or [other["answer"] for other in one["questions"] if not alike(other["answer"], answer)]  # fmt: skip
            row = Row(f"contrast-{at}-{n}", asked["question"], (answer,), text, 1, "qamr", kind="contrast", asked=text)
            found.append(row)
            if others:
                found.append(row.made("contrast", text, 0, (chance.choice(others),)))
    return found


def turned() -> list[Row]:
    """Return sentences against others that differ in one word: the same, the opposite, something else."""
    return [
        Row(
            f"turned-{at}",
            "",
            (one["premise"],),
            one["hypothesis"],
            int(one["label"] == "entailment"),
            "nli",
            kind="turned",
            asked=one["premise"],
        )
        for at, one in enumerate(labelled.read("breaking-nli"))
    ]
