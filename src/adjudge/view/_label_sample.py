"""Which rows people label: the same rows in the same order for everybody who asks for the same sample.

    draw(LabelSample("stratified", size=100), verdicts)   ->  [DrawnRow(row=412, probability=0.31, stratum="wrong")]

Every row has a number of its own, by chance, that follows from the seed and its place alone. A sample takes the least
of them, so that a larger sample of the same seed has the rows of the smaller one, and somebody who comes back continues
where they were. Another number by chance gives the order, which shows nothing of the verdicts.

    random       every row with a verdict has the same chance
    stratified   half of the rows from those that the judge calls right, half from the others
    uncertain    the rows of which the judge is least certain: good for training, never part of an estimate
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from adjudge.errors import UsageError

SampleKind: TypeAlias = Literal["random", "stratified", "uncertain"]
"""How rows are chosen."""

KINDS: tuple[SampleKind, ...] = get_args(SampleKind)
MOST = 100_000  # rows of one sample


class RowVerdict(NamedTuple):
    """What the judge said of one row: a value from 0 to 1 and, where it gives one, the probability of being right."""

    row: int
    value: float
    probability: float | None = None

    @property
    def is_right(self) -> bool:
        """Whether the judge calls it right."""
        return self.value >= 0.5


class DrawnRow(NamedTuple):
    """A row of a sample, and the chance that it had to be in it; None if it was chosen."""

    row: int
    probability: float | None
    stratum: str


@dataclass(frozen=True, slots=True)
class LabelSample:
    """Which rows to label: how they are chosen, how many, and the seed."""

    kind: SampleKind = "random"
    size: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not 1 <= self.size <= MOST:
            raise UsageError(
                f"a sample is {', '.join(KINDS)}, and has 1 to {MOST:,} rows; got {self.kind!r}, {self.size}"
            )

    def note(self, rows: int, scorer: str) -> dict[str, Any]:
        """Return what a line of the file says about it: `rows` had a verdict of that scorer."""
        return {"kind": self.kind, "seed": self.seed, "rows": rows, "scorer": scorer}


def draw(sample: LabelSample, verdicts: Iterable[RowVerdict]) -> list[DrawnRow]:
    """Return the rows of a sample, in the order in which they are shown."""
    if sample.kind == "uncertain":
        return _least_certain(sample, verdicts)
    # The least numbers of each stratum are kept while all rows go by: a run may have millions.
    strata: dict[str, list[tuple[int, int]]] = (
        {"right": [], "wrong": []} if sample.kind == "stratified" else {"all": []}
    )
    totals = dict.fromkeys(strata, 0)
    for one in verdicts:
        name = ("right" if one.is_right else "wrong") if "all" not in strata else "all"
        totals[name] += 1
        strata[name].append((_chance(sample.seed, one.row), one.row))
        if len(strata[name]) > 4 * sample.size:
            strata[name] = nsmallest(sample.size, strata[name])
    drawn: list[DrawnRow] = []
    for name, size in _sizes(sample.size, totals).items():
        for _, row in nsmallest(size, strata[name]):
            drawn.append(DrawnRow(row, size / totals[name], name))
    return sorted(drawn, key=lambda one: _chance(sample.seed, one.row, "order"))


def _sizes(size: int, totals: dict[str, int]) -> dict[str, int]:
    """Share a sample out among strata: alike, and what one lacks goes to the other."""
    sizes = {name: min(total, size // len(totals)) for name, total in totals.items()}
    for name, total in totals.items():
        sizes[name] = min(total, sizes[name] + size - sum(sizes.values()))
    return sizes


def _least_certain(sample: LabelSample, verdicts: Iterable[RowVerdict]) -> list[DrawnRow]:
    """Return the rows whose probability is nearest to one half."""
    sure = ((abs(p - 0.5), _chance(sample.seed, row), row) for row, _, p in verdicts if p is not None)
    found = nsmallest(sample.size, sure)
    if not found:
        raise UsageError(
            "This judge gives no probabilities, so no row is less certain than another.", code="bad-option"
        )
    return [DrawnRow(row, None, "uncertain") for _, _, row in found]


def _chance(seed: int, row: int, use: str = "") -> int:
    """Return a row's number by chance: the same on every machine, and nothing to learn about the row from."""
    return int.from_bytes(blake2b(f"{seed} {row} {use}".encode(), digest_size=8).digest())


def next_row(drawn: Sequence[DrawnRow], done: set[int], after: int | None = None) -> DrawnRow | None:
    """Return the next row of a sample that is not done, behind the row `after`; then those that were skipped."""
    places = [one.row for one in drawn]
    start = places.index(after) + 1 if after in places else 0
    return next((one for one in (*drawn[start:], *drawn[:start]) if one.row not in done), None)
