"""The scores of one subset: its tally, and a tally for every value that it is broken down by."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from adjudge.conversations import RATE_RANGES, RATES, Labels, Profile, Tally, given_up_after, profile_of
from adjudge.crag._intervals import interval_of
from adjudge.model import Status

BREAKDOWNS = ("domain", "query_category", "dynamism", "image_quality", "turn_idx")
"""What the numbers are broken down by: the categories, and the number of the turn."""

_REMEMBERED = 8  # turns of a conversation whose labels are remembered as they are

# What a turn can be labelled; a turn's code is its place here.
_LABELS = (
    Labels(is_exact_match=True, is_correct=True, is_semantically_correct=True),
    Labels(is_correct=True, is_semantically_correct=True),
    Labels(is_miss=True),
    Labels(),
    Labels(status="unscored"),
    Labels(status="error"),
)
_BYTES = tuple(bytes([code]) for code in range(len(_LABELS)))
_MISS, _WRONG, _UNSCORED, _ERROR = 2, 3, 4, 5


class Mark(NamedTuple):
    """All that the scores need to know of a turn, but for its place."""

    is_exact_match: bool
    is_correct: bool
    is_miss: bool
    status: Status
    is_ego: bool
    domain: int | str | None
    query_category: int | str | None
    dynamism: int | str | None
    image_quality: int | str | None

    @property
    def code(self) -> int:
        """The place of its labels among all that there are."""
        if self.status != "scored":
            return _UNSCORED if self.status == "unscored" else _ERROR
        if self.is_correct:
            return 0 if self.is_exact_match else 1
        return _MISS if self.is_miss else _WRONG


def ruled(codes: bytes) -> bytes:
    """Return the codes of a conversation under the two-wrong rule."""
    kept = given_up_after([_LABELS[code].label for code in codes])
    return codes[:kept] + bytes(code if code >= _UNSCORED else _MISS for code in codes[kept:])


class Block:
    """One subset, taken in by conversations; it is written as one dictionary."""

    def __init__(self) -> None:
        self.wholes: Counter[bytes | Profile] = Counter()  # codes: those of turns that are numbered from 0
        self.parts: tuple[Counter[tuple[Any, bytes | Profile]], ...] = tuple(Counter() for _ in BREAKDOWNS[:-1])
        self.turns: Counter[tuple[int, int]] = Counter()  # of the conversations whose codes are not among the wholes

    def add(self, codes: bytes, turns: Sequence[int], categories: Sequence[Sequence[Any]]) -> None:
        """Take one conversation: of its turns, in order, the codes, the numbers, and the values of each category."""
        whole = _short(codes) if turns[0] == 0 and turns[-1] == len(turns) - 1 else _profile(codes)
        self.wholes[whole] += 1
        if not isinstance(whole, bytes):
            self.turns.update(zip(turns, codes, strict=True))
        for counts, values in zip(self.parts, categories, strict=True):
            for item in _grouped(codes, values).items():
                counts[item] += 1

    def merge(self, other: "Block") -> None:
        """Take the conversations of another block too; none may be in both."""
        self.wholes.update(other.wholes)
        self.turns.update(other.turns)
        for mine, its in zip(self.parts, other.parts, strict=True):
            mine.update(its)

    def dictionary(self) -> dict[str, Any]:
        """Return the eleven metrics, then what they rest on, then the breakdowns."""
        whole = _tallies({(None, some): count for some, count in self.wholes.items()}).get(None, Tally())
        breakdowns = {
            name: [
                {"value": value, **_numbers(tally, whole=False)}
                for value, tally in sorted(_tallies(counts).items(), key=_place)
            ]
            for name, counts in zip(BREAKDOWNS, (*self.parts, self._by_turn()), strict=True)
        }
        return {**_numbers(whole, whole=True), "breakdowns": breakdowns}

    def _by_turn(self) -> Counter[tuple[Any, bytes | Profile]]:
        """Return how many turns there are, by their number and their code."""
        found: Counter[tuple[Any, bytes | Profile]] = Counter()
        for (turn, code), count in self.turns.items():
            found[turn, _BYTES[code]] = count
        for whole, count in self.wholes.items():
            if isinstance(whole, bytes):
                for turn, code in enumerate(whole):
                    found[turn, _BYTES[code]] += count
        return found


def _short(codes: bytes) -> bytes | Profile:
    """Return what a conversation is counted by: its codes, of which short ones are often the same, or its profile."""
    return codes if len(codes) <= _REMEMBERED else _profile(codes)


@lru_cache(maxsize=1 << 14)  # of short ones there are few, and they come again in every breakdown
def _profile(codes: bytes) -> Profile:
    return profile_of([_LABELS[code] for code in codes])


def _tallies(counts: Mapping[tuple[Any, bytes | Profile], int]) -> dict[Any, Tally]:
    """Return the tally of each value."""
    tallies: dict[Any, Tally] = {}
    for (value, some), count in counts.items():
        tally = tallies.get(value)
        if tally is None:
            tally = tallies[value] = Tally()
        tally.profiles[_profile(some) if isinstance(some, bytes) else some] += count
    return tallies


def _grouped(codes: bytes, values: Sequence[Any]) -> dict[Any, bytes | Profile]:
    """Return, by value, what the turns that have it are counted by."""
    first = values[0]
    if values.count(first) == len(values):
        return {first: _short(codes)}
    groups: dict[Any, bytes] = {}
    for value, code in zip(values, codes, strict=True):
        groups[value] = groups.get(value, b"") + _BYTES[code]
    if len(codes) <= _REMEMBERED:
        return dict(groups)
    return {value: _short(group) for value, group in groups.items()}


def _place(item: tuple[Any, Tally]) -> tuple[int, Any]:
    """Order values: numbers, then texts, then the one that is not known."""
    value = item[0]
    return (2, 0) if value is None else (1, value) if isinstance(value, str) else (0, value)


def _numbers(tally: Tally, *, whole: bool) -> dict[str, Any]:
    """Return the metrics of a tally with their intervals; a part of a conversation has no conversation score."""
    metrics: dict[str, Any] = {**tally.metrics()}
    rates = RATES if whole else RATES[:-1]
    if not whole:
        del metrics[RATES[-1]]
    return {
        **metrics,
        "unscored": tally.unscored,
        "errors": tally.errors,
        "conversations": tally.conversations,
        "flagged_conversations": tally.flagged,
        "bounds": _bounds(metrics, tally.unscored + tally.errors),
        "intervals": {rate: interval_of(tally.cells(rate), RATE_RANGES[rate]) for rate in rates},
    }


def _bounds(metrics: dict[str, Any], missing: int) -> dict[str, list[float]]:
    """Return between what the numbers would lie if all turns without a verdict were wrong, and if all were right."""
    right, wrong, of = int(metrics["correct"]), int(metrics["hallucination"]), max(int(metrics["total"]) + missing, 1)
    return {
        "accuracy": [right / of, (right + missing) / of],
        "truthfulness_score": [(right - wrong - missing) / of, (right - wrong + missing) / of],
    }
