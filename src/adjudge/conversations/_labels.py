"""What a turn is labelled, in the order miss? exact? judge.

settle("I don't know.", "red")   a miss
settle("Red", "red")             correct, exactly
settle("Crimson", "red")         None: the judge decides, and verdict_labels says what that means
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from adjudge.conversations._text import is_exact, says_unknown
from adjudge.model import Status

Label: TypeAlias = Literal["correct", "miss", "wrong", "unscored"]
"""What a turn counts as. `unscored` is every turn without a verdict, whosever fault that is."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one turn, as the result files have them; only a turn that is `scored` can be correct or a miss."""

    is_exact_match: bool = False
    is_correct: bool = False
    is_miss: bool = False
    is_semantically_correct: bool = False
    status: Status = "scored"

    def __post_init__(self) -> None:
        # Rows may come from files of others: labels that contradict one another must not be counted.
        fault = ""
        if self.is_correct and self.is_miss:
            fault = "correct and a miss at once"
        elif self.is_exact_match and not self.is_correct:
            fault = "an exact match and not correct"
        elif self.status not in ("scored", "unscored", "error"):
            fault = f"of status {self.status!r}; there are scored, unscored and error"
        elif self.status != "scored" and (self.is_correct or self.is_miss):
            fault = f"{self.status} and {'correct' if self.is_correct else 'a miss'}"
        if fault:
            raise ValueError(f"a turn cannot be {fault}")

    @property
    def label(self) -> Label:
        """What the turn counts as."""
        if self.status != "scored":
            return "unscored"
        return "correct" if self.is_correct else "miss" if self.is_miss else "wrong"


_EXACT = Labels(is_exact_match=True, is_correct=True, is_semantically_correct=True)
_CORRECT = Labels(is_correct=True, is_semantically_correct=True)
_MISS = Labels(is_miss=True)
_WRONG = Labels()
_UNSCORED = Labels(status="unscored")
_ERROR = Labels(status="error")


def settle(response: str, ground_truth: str) -> Labels | None:
    """Return the labels of a turn that no judge is needed for, or None.

    Where the ground truth itself is an "I don't know", saying so is correct and no miss.

    >>> settle("I do not know", "red").label
    'miss'
    >>> settle("I don't know.", "I do not know").label
    'correct'
    >>> settle("Red.", "red") is None
    True
    """
    # Found first: "I don't know" as ground truth can be matched exactly, too.
    exact = is_exact(response, ground_truth)
    if says_unknown(response):
        if not says_unknown(ground_truth):
            return _MISS
        return _EXACT if exact else _CORRECT
    return _EXACT if exact else None


def verdict_labels(correct: bool) -> Labels:
    """Return the labels of a turn that was left to the judge; without a judge, such a turn is not correct.

    >>> verdict_labels(False).label
    'wrong'
    """
    return _CORRECT if correct else _WRONG


def unscored(status: Status = "unscored") -> Labels:
    """Return the labels of a turn without a verdict: the judge failed (`unscored`) or the agent did (`error`).

    >>> unscored().label, unscored("error").status
    ('unscored', 'error')
    """
    return _UNSCORED if status == "unscored" else _ERROR
