"""The two-wrong rule: who was let down twice in a row stops listening.

C H H C C  ->  C H H M M      conversation score (1 - 2) / 5 = -.2
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from adjudge.conversations._labels import Label

RuleScope: TypeAlias = Literal["conversation", "all"]
"""Where the rule counts: in the conversation score alone, or, as in the 2025 competition, before everything."""

RULE_SCOPES: tuple[RuleScope, ...] = ("conversation", "all")


def given_up_after(labels: Sequence[Label]) -> int:
    """Return how many turns keep their labels: those up to the second of two consecutive turns that are not correct.

    A turn without a verdict neither breaks nor extends a streak.

    >>> given_up_after(["correct", "wrong", "unscored", "miss", "correct"])
    4
    """
    streak = 0
    for index, label in enumerate(labels):
        if label == "correct":
            streak = 0
        # A miss is a let-down as well: the rule counts turns that are not correct.
        elif label != "unscored":
            streak += 1
            if streak == 2:
                return index + 1
    return len(labels)


def two_wrong(labels: Sequence[Label]) -> list[Label]:
    """Return the labels of a conversation, in turn order, under the rule: after two wrong in a row, all are misses.

    Turns without a verdict stay without one.

    >>> two_wrong(["miss", "wrong", "correct", "unscored"])
    ['miss', 'wrong', 'miss', 'unscored']
    """
    kept = given_up_after(labels)
    later: list[Label] = ["unscored" if label == "unscored" else "miss" for label in labels[kept:]]
    return [*labels[:kept], *later]


def conversation_score(labels: Sequence[Label]) -> Fraction | None:
    """Return mean(correct) - mean(wrong) over the scored turns, under the rule; None where no turn is scored.

    >>> conversation_score(["correct", "wrong", "wrong", "correct", "correct"])
    Fraction(-1, 5)
    """
    # Turns without a verdict count neither for nor against.
    ruled = [label for label in two_wrong(labels) if label != "unscored"]
    return Fraction(ruled.count("correct") - ruled.count("wrong"), len(ruled)) if ruled else None
