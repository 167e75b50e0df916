"""The scores of one subset: its tally, and a tally for every value that it is broken down by."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from adjudge.conversations import RATE_RANGES, RATES, Labels, Profile, Tally, given_up_after, profile_of
from adjudge.crag._intervals import interval_of
from adjudge.model import Status

CATEGORIES = ("domain", "query_category", "dynamism", "image_quality")

BREAKDOWNS = (*CATEGORIES, "turn_idx")
"""What the numbers are broken down by."""

_REMEMBERED = 8  # turns of the longest conversation whose profile is remembered

# What a turn can be labelled; a turn's code is its place here.
_LABELS = (
    Labels(is_exact_match=True, is_correct=True, is_semantically_correct=True),
    Labels(is_correct=True, is_semantically_correct=True),
    Labels(is_miss=True),
    Labels(),
    Labels(status="unscored"),
    Labels(status="error"),
)
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
        self._tally = Tally()
        self._parts: dict[str, dict[Any, Tally]] = {name: {} for name in BREAKDOWNS}
        self._profiles: dict[bytes, Profile] = {}

    def add(self, codes: bytes, breakdowns: Sequence[Sequence[Any]]) -> None:
        """Take one conversation: the codes of its turns in order, and for each breakdown their values."""
        self._tally.profiles[self._profile(codes)] += 1
        for parts, values in zip(self._parts.values(), breakdowns, strict=True):
            for value, some in _grouped(codes, values).items():
                tally = parts.get(value)
                if tally is None:
                    tally = parts[value] = Tally()
                tally.profiles[self._profile(some)] += 1

    def _profile(self, codes: bytes) -> Profile:
        profile = self._profiles.get(codes)
        if profile is None:
            profile = profile_of([_LABELS[code] for code in codes])
            if len(codes) <= _REMEMBERED:
                self._profiles[codes] = profile
        return profile

    def dictionary(self) -> dict[str, Any]:
        """Return the eleven metrics, then what they rest on, then the breakdowns."""
        breakdowns = {
            name: [
                {"value": value, **_numbers(tally, whole=False)} for value, tally in sorted(parts.items(), key=_place)
            ]
            for name, parts in self._parts.items()
        }
        return {**_numbers(self._tally, whole=True), "breakdowns": breakdowns}


def _grouped(codes: bytes, values: Sequence[Any]) -> dict[Any, bytes]:
    """Return the codes of the turns that have the same value."""
    first = values[0]
    if values.count(first) == len(values):
        return {first: codes}
    groups: dict[Any, bytes] = {}
    for index, value in enumerate(values):
        groups[value] = groups.get(value, b"") + codes[index : index + 1]
    return groups


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
