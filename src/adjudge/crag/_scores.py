"""The scores of results: the benchmark's eleven numbers for all turns and for the ego-centric ones, with intervals.

    scores = Scores()
    scores.add(row) ...              in any order
    scores.merge(scores_of_shard)    also where a conversation is in both
    scores.dictionary()              {"all": {"total": ..., ...}, "ego": {...}}

Of every turn only its number and a mark are kept. A mark is a combination of labels and categories: these are few.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from adjudge.conversations import (
    RATE_RANGES,
    RATES,
    RULE_SCOPES,
    Cell,
    Labels,
    Profile,
    RuleScope,
    TurnTally,
    given_up_after,
    profile_of,
)
from adjudge.crag._turns import SCORERS, check_result, labels_of
from adjudge.errors import DataError, RowError, UsageError
from adjudge.model import Status
from adjudge.statistics import Clusters, Range

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
_BITS = 32  # of a mark's number
_NUMBER = (1 << _BITS) - 1


class Mark(NamedTuple):
    """All that the scores need of a turn, except its place."""

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


_mark_of = itemgetter(*Mark._fields)  # a plain tuple, which is equal to its mark and quicker to make


def score_results(
    rows: Iterable[Mapping[str, Any]],
    *,
    rule_scope: RuleScope = "conversation",
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, Any]:
    """Return the dictionary of scores of result rows, which may come in any order."""
    scores = Scores(rule_scope=rule_scope, ranges=ranges)
    scores.add_all(rows)
    return scores.dictionary()


class Scores:
    """Results taken in one at a time, in any order; scores of shards can be merged, to the same numbers.

    A conversation with two turns of the same number raises `DataError` when the dictionary is asked for: their
    order is not known. `ranges` has, by name, the least and the greatest value of additional scorers.
    """

    def __init__(
        self,
        *,
        rule_scope: RuleScope = "conversation",
        ranges: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        if rule_scope not in RULE_SCOPES:
            raise UsageError(f"rule_scope is {' or '.join(map(repr, RULE_SCOPES))}, got {rule_scope!r}")
        self.rule_scope = rule_scope
        self.numbers: dict[tuple[Any, ...], int] = {}  # by marks
        self.turns: dict[str, array[int]] = {}  # of conversations: a turn's number and its mark's in one integer
        self.extras = ExtraScores(ranges)

    def __len__(self) -> int:
        return sum(map(len, self.turns.values()))

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one result row."""
        self.add_all((row,))

    def add_all(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take result rows; labels that contradict one another raise `RowError`."""
        numbers, turns = self.numbers, self.turns
        row: Mapping[str, Any] = {}
        try:
            for row in rows:
                mark = _mark_of(row)
                number = numbers.get(mark)
                if number is None:
                    number = self._number(Mark(*mark), row)
                session = row["session_id"]
                # Not `setdefault`, which would make an array for every row.
                found = turns.get(session)
                if found is None:
                    found = turns[session] = array("q")
                # One integer for the turn and its mark: sorted, they are in the order of the turns.
                found.append(row["turn_idx"] << _BITS | number)
                if SCORERS in row:
                    self.extras.add(session, row["is_ego"], row[SCORERS])
        except (KeyError, OverflowError, TypeError):
            # The quick path above does not say what is wrong: this names the column.
            check_result(row)
            raise

    def _number(self, mark: Mark, row: Mapping[str, Any]) -> int:
        """Give a new mark its number; this checks the labels once a mark, not once a row."""
        labels_of(row, place=f"session {row['session_id']!r}, turn {row['turn_idx']}: ")
        return self.numbers.setdefault(mark, len(self.numbers))

    def merge(self, other: "Scores") -> None:
        """Take what another has taken; a conversation may have turns in both."""
        if other.rule_scope != self.rule_scope:
            raise UsageError(f"scores of different rule_scope cannot be merged: {self.rule_scope}, {other.rule_scope}")
        # The other has numbered its marks in its own order.
        again = [self.numbers.setdefault(mark, len(self.numbers)) for mark in other.numbers]
        for session, turns in other.turns.items():
            mine = self.turns.setdefault(session, array("q"))
            mine.extend(turn >> _BITS << _BITS | again[turn & _NUMBER] for turn in turns)
        self.extras.merge(other.extras)

    def dictionary(self) -> dict[str, Any]:
        """Return the scores for `all` and `ego`: the eleven metrics, and beside them what they rest on."""
        marks = [Mark(*mark) for mark in self.numbers]
        # Millions of turns have a few hundred marks: everything that depends on a mark is found once.
        codes_of = bytes(mark.code for mark in marks)
        is_ego = [mark.is_ego for mark in marks]
        columns = [[getattr(mark, name) for mark in marks] for name in BREAKDOWNS[:-1]]
        # Conversations that are ego-centric as a whole, nearly all that are, are taken once and count in both subsets.
        wholly_ego, partly_ego, others = Block(), Block(), Block()
        for session, packed in self.turns.items():
            ordered = sorted(packed)
            turns = [turn >> _BITS for turn in ordered]
            _check_turns(session, turns)
            numbers = [turn & _NUMBER for turn in ordered]
            codes = bytes([codes_of[number] for number in numbers])
            if self.rule_scope == "all":
                codes = apply_rule(codes)
            categories = [[column[number] for number in numbers] for column in columns]
            places = [place for place, number in enumerate(numbers) if is_ego[number]]
            (wholly_ego if len(places) == len(numbers) else others).add(codes, turns, categories)
            if 0 < len(places) < len(numbers):
                some = [[values[place] for place in places] for values in (codes, turns, *categories)]
                partly_ego.add(bytes(some[0]), some[1], some[2:])
        others.merge(wholly_ego)
        partly_ego.merge(wholly_ego)
        return {
            "all": others.dictionary() | self.extras.dictionary(ego_only=False),
            "ego": partly_ego.dictionary() | self.extras.dictionary(ego_only=True),
        }


def _check_turns(session: str, turns: list[int]) -> None:
    if len(set(turns)) < len(turns):
        twice = next(turn for turn, after in pairwise(turns) if turn == after)
        raise DataError(f"session {session!r} has two turns {twice}; number the turns of a conversation from 0")


def apply_rule(codes: bytes) -> bytes:
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
        # Conversations with the same codes are counted together: there are few kinds of short ones.
        whole = _short(codes) if turns[0] == 0 and turns[-1] == len(turns) - 1 else _profile(codes)
        self.wholes[whole] += 1
        # Codes are in order of their turns, so these are counted later; a profile has lost that order.
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
        whole = _tallies({(None, some): count for some, count in self.wholes.items()}).get(None, TurnTally())
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


def _tallies(counts: Mapping[tuple[Any, bytes | Profile], int]) -> dict[Any, TurnTally]:
    """Return the tally of each value."""
    tallies: dict[Any, TurnTally] = {}
    for (value, some), count in counts.items():
        tally = tallies.get(value)
        if tally is None:
            tally = tallies[value] = TurnTally()
        tally.profiles[_profile(some) if isinstance(some, bytes) else some] += count
    return tallies


def _grouped(codes: bytes, values: Sequence[Any]) -> dict[Any, bytes | Profile]:
    """Return, by value, what the turns that have it are counted by."""
    first = values[0]
    # The usual case: all turns have the same value.
    if values.count(first) == len(values):
        return {first: _short(codes)}
    groups: dict[Any, bytes] = {}
    for value, code in zip(values, codes, strict=True):
        groups[value] = groups.get(value, b"") + _BYTES[code]
    if len(codes) <= _REMEMBERED:
        return dict(groups)
    return {value: _short(group) for value, group in groups.items()}


def _place(item: tuple[Any, TurnTally]) -> tuple[int, Any]:
    """Order values: numbers, then texts, then the one that is not known."""
    value = item[0]
    return (2, 0) if value is None else (1, value) if isinstance(value, str) else (0, value)


def _numbers(tally: TurnTally, *, whole: bool) -> dict[str, Any]:
    """Return the metrics of a tally with their intervals; a part of a conversation has no conversation score."""
    # Turns of one domain are a part of a conversation: a conversation score of parts would mean nothing.
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
    """Return the numbers if all turns without a verdict were wrong, and if all were right."""
    right, wrong, of = int(metrics["correct"]), int(metrics["hallucination"]), max(int(metrics["total"]) + missing, 1)
    return {
        "accuracy": [right / of, (right + missing) / of],
        "truthfulness_score": [(right - wrong - missing) / of, (right - wrong + missing) / of],
    }


class ExtraScores:
    """The values of additional scorers, by conversation; they can be merged."""

    def __init__(self, ranges: Mapping[str, tuple[float, float]] | None = None) -> None:
        self.ranges = dict(ranges or {})
        self.values: dict[tuple[str, bool], dict[str, array[float]]] = {}
        self.counts: Counter[tuple[str, bool, str]] = Counter()

    def add(self, session: str, is_ego: bool, scores: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the scores of one turn: by scorer, its `status` and `value`."""
        for name, score in scores.items():
            self.counts[name, is_ego, score["status"]] += 1
            if score["status"] == "scored":
                if not isinstance(score["value"], int | float):
                    raise RowError(f"session {session!r}: the scorer {name!r} has the status scored and no number")
                values = self.values.setdefault((name, is_ego), {})
                values.setdefault(session, array("d")).append(score["value"])

    def merge(self, other: "ExtraScores") -> None:
        """Take what another has taken."""
        self.counts.update(other.counts)
        for key, sessions in other.values.items():
            mine = self.values.setdefault(key, {})
            for session, values in sessions.items():
                mine.setdefault(session, array("d")).extend(values)

    def dictionary(self, *, ego_only: bool) -> dict[str, Any]:
        """Return `scorers`: for each its counts, its mean and the interval; nothing where there are none."""
        names = sorted({name for name, _, _ in self.counts})
        return {"scorers": {name: self._one(name, ego_only) for name in names}} if names else {}

    def _one(self, name: str, ego_only: bool) -> dict[str, Any]:
        parts = (True,) if ego_only else (True, False)
        clusters: dict[str, array[float]] = {}
        for is_ego in parts:
            for session, values in self.values.get((name, is_ego), {}).items():
                clusters[session] = clusters.get(session, array("d")) + values
        n = sum(map(len, clusters.values()))
        # Sums that are rounded once, and so do not depend on the order of their values.
        mean = math.fsum(value for values in clusters.values() for value in values) / max(n, 1)
        cells = [Cell(1, len(values), math.fsum(values)) for values in clusters.values()]
        return {
            "mean": mean if n else None,
            "n": n,
            "unscored": sum(self.counts[name, is_ego, "unscored"] for is_ego in parts),
            "errors": sum(self.counts[name, is_ego, "error"] for is_ego in parts),
            "interval": interval_of(cells, self.ranges.get(name)),
        }


def interval_of(cells: Iterable[Cell], ends: Range = (0.0, 1.0)) -> dict[str, Any]:
    """Return n, clusters, se, low, high and note of a mean; `ends` are the least and the greatest value there can be.

    95 %, Student's t on the clustered error (CR1); `docs/explanation/statistics.md` says what happens where there is no
    variation. A number that the values cannot give is None, and `note` says why.
    """
    clusters = Clusters(range=ends)
    for conversations, values, total in cells:
        # A conversation's score need not be a binary fraction: it is rounded once, here, the same in every order.
        clusters.add_total(values, total if isinstance(total, int) else float(total), count=conversations)
    found = clusters.estimate()
    if found is None:
        return {"n": 0, "clusters": 0, "se": None, "low": None, "high": None, "note": "nothing was scored"}
    return {
        "n": found.n,
        "clusters": clusters.clusters,
        "se": found.se,
        "low": found.low,
        "high": found.high,
        "note": found.note,
    }
