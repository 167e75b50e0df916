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
from typing import Any

from adjudge.conversations import RuleScope
from adjudge.crag._blocks import Block, Mark, codes_of
from adjudge.crag._extras import ExtraScores
from adjudge.crag._turns import SCORERS, labels_of
from adjudge.errors import DataError, RowError

SUBSETS = ("all", "ego")
"""What is scored: every turn, and independently those without an image from elsewhere."""

_BITS = 32  # of a mark's number
_NUMBER = (1 << _BITS) - 1


def score_results(rows: Iterable[Mapping[str, Any]], *, rule_scope: RuleScope = "conversation") -> dict[str, Any]:
    """Return the dictionary of scores of result rows, which may come in any order."""
    scores = Scores(rule_scope=rule_scope)
    scores.add_all(rows)
    return scores.dictionary()


class Scores:
    """Results taken in one at a time, in any order; scores of shards can be merged, to the same numbers.

    A conversation with two turns of the same number raises `DataError` when the dictionary is asked for: nobody knows
    which came first.
    """

    def __init__(self, *, rule_scope: RuleScope = "conversation") -> None:
        self.rule_scope = rule_scope
        self.numbers: dict[Mark, int] = {}
        self.turns: dict[str, array[int]] = {}  # of conversations: a turn's number and its mark's in one integer
        self.extras = ExtraScores()

    def __len__(self) -> int:
        return sum(map(len, self.turns.values()))

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one result row."""
        self.add_all((row,))

    def add_all(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take result rows; labels that contradict one another raise `RowError`."""
        numbers, turns = self.numbers, self.turns
        for row in rows:
            mark = Mark(
                *(row["is_exact_match"], row["is_correct"], row["is_miss"], row["status"], row["is_ego"]),
                *(row["domain"], row["query_category"], row["dynamism"], row["image_quality"]),
            )
            number = numbers.get(mark)
            if number is None:
                number = self._number(mark, row)
            session = row["session_id"]
            found = turns.get(session)
            if found is None:
                found = turns[session] = array("q")
            found.append(row["turn_idx"] << _BITS | number)
            if SCORERS in row:
                self.extras.add(session, row["is_ego"], row[SCORERS])

    def _number(self, mark: Mark, row: Mapping[str, Any]) -> int:
        """Give a new mark its number; marks are few and rows many, so this is where rows are checked."""
        try:
            labels_of(row)
        except ValueError as error:
            raise RowError(f"session {row['session_id']!r}, turn {row['turn_idx']}: {error}") from None
        return self.numbers.setdefault(mark, len(self.numbers))

    def merge(self, other: "Scores") -> None:
        """Take what another has taken; a conversation may have turns in both."""
        again = [self.numbers.setdefault(mark, len(self.numbers)) for mark in other.numbers]
        for session, turns in other.turns.items():
            mine = self.turns.setdefault(session, array("q"))
            mine.extend(turn >> _BITS << _BITS | again[turn & _NUMBER] for turn in turns)
        self.extras.merge(other.extras)

    def dictionary(self) -> dict[str, Any]:
        """Return the scores for `all` and `ego`: the eleven metrics, and beside them what they rest on."""
        marks = list(self.numbers)
        blocks = {name: Block() for name in SUBSETS}
        for session, packed in self.turns.items():
            ordered = sorted(packed)
            turns = [turn >> _BITS for turn in ordered]
            _check_turns(session, turns)
            found = [marks[turn & _NUMBER] for turn in ordered]
            codes = codes_of(found, self.rule_scope)
            blocks["all"].add(turns, codes, found)
            ego = [index for index, mark in enumerate(found) if mark.is_ego]
            if len(ego) == len(found):
                blocks["ego"].add(turns, codes, found)
            elif ego:
                blocks["ego"].add([turns[i] for i in ego], bytes(codes[i] for i in ego), [found[i] for i in ego])
        return {
            name: block.dictionary() | self.extras.dictionary(ego_only=name == "ego") for name, block in blocks.items()
        }


def _check_turns(session: str, turns: list[int]) -> None:
    if len(set(turns)) < len(turns):
        twice = next(turn for turn, after in pairwise(turns) if turn == after)
        raise DataError(f"session {session!r} has two turns {twice}; number the turns of a conversation from 0")
