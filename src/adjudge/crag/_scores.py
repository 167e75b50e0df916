"""What results amount to: the benchmark's eleven numbers for all turns and for the ego-centric ones, and their error.

    scores = Scores()
    scores.add(row) ...              in any order
    scores.merge(scores_of_shard)    also where a conversation is in both
    scores.dictionary()              {"all": {"total": ..., ...}, "ego": {...}}

Of every turn no more is kept than its number and a mark; marks stand for labels and categories, of which there are few.
"""

from array import array
from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any

from adjudge.conversations import RULE_SCOPES, RuleScope
from adjudge.crag._blocks import BREAKDOWNS, Block, Mark, ruled
from adjudge.crag._extras import ExtraScores
from adjudge.crag._turns import SCORERS, check_result, labels_of
from adjudge.errors import DataError, UsageError

_BITS = 32  # of a mark's number
_NUMBER = (1 << _BITS) - 1
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

    A conversation with two turns of the same number raises `DataError` when the dictionary is asked for: nobody knows
    which came first. `ranges` has, by name, the least and the greatest value of additional scorers.
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
                found = turns.get(session)
                if found is None:
                    found = turns[session] = array("q")
                found.append(row["turn_idx"] << _BITS | number)
                if SCORERS in row:
                    self.extras.add(session, row["is_ego"], row[SCORERS])
        except (KeyError, OverflowError, TypeError):
            check_result(row)  # names what is wrong
            raise

    def _number(self, mark: Mark, row: Mapping[str, Any]) -> int:
        """Give a new mark its number; marks are few and rows many, so this is where rows are checked."""
        labels_of(row, place=f"session {row['session_id']!r}, turn {row['turn_idx']}: ")
        return self.numbers.setdefault(mark, len(self.numbers))

    def merge(self, other: "Scores") -> None:
        """Take what another has taken; a conversation may have turns in both."""
        if other.rule_scope != self.rule_scope:
            raise UsageError(f"scores of different rule_scope cannot be merged: {self.rule_scope}, {other.rule_scope}")
        again = [self.numbers.setdefault(mark, len(self.numbers)) for mark in other.numbers]
        for session, turns in other.turns.items():
            mine = self.turns.setdefault(session, array("q"))
            mine.extend(turn >> _BITS << _BITS | again[turn & _NUMBER] for turn in turns)
        self.extras.merge(other.extras)

    def dictionary(self) -> dict[str, Any]:
        """Return the scores for `all` and `ego`: the eleven metrics, and beside them what they rest on."""
        marks = [Mark(*mark) for mark in self.numbers]
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
                codes = ruled(codes)
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
