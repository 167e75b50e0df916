"""What a trainer gets for a row without a number, how that is logged, and when training should stop.

    policy = FaultPolicy("good", "mask", max_failed=0.1)
    policy.settle([Score.scored(1.0), Score.error("env-died")])     [1.0, None]
    policy.metrics(scores)                                          {"good/scored": 0.5, "good/error": 0.5, ...}
    policy.excess                                                   why training should stop, or None

A score that is `unscored` or an `error` has no value, and no trainer has a word for that. What each can express:

    mask      the row moves nothing: None, NaN, a mask, or the mean of its siblings
    zero      0.0, as if the agent had failed: this trains on the fault
    raise     the training ends with the reason
"""

import warnings
from collections import Counter, deque
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from adjudge.errors import AdjudgeError, UsageError, closest, printable
from adjudge.model import Score

OnFault: TypeAlias = Literal["mask", "zero", "raise"]
"""What a trainer gets for a row without a number."""

MAX_FAILED = 0.1  # of the last rollouts
WINDOW = 512  # rollouts
WARNED = 4  # rollouts at the beginning, none of which has a number: something is wrong with all of them
STOPPED = 16  # of those, too many

_OUTCOMES = ("scored", "unscored", "error")


class RewardFault(AdjudgeError):
    """A row has no number, or too many have none, and the training was asked to end."""

    default_code = "reward-fault"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        # A reason may quote what a model wrote, and this is shown in a terminal.
        super().__init__(printable(message, 2000), code=code)


def check_on_fault(given: object) -> None:
    """Raise `UsageError` for what is none of the three: a typing error must not make a number of a fault."""
    known = get_args(OnFault)
    if given not in known:
        raise UsageError(
            f"on_fault is {', '.join(known[:-1])} or {known[-1]}, got {given!r}{closest(str(given), known)}"
        )


class FaultPolicy:
    """Settles the scores of one reward, batch after batch, and remembers how many of the last had no number."""

    def __init__(
        self, name: str, on_fault: OnFault = "mask", *, max_failed: float = MAX_FAILED, window: int = WINDOW
    ) -> None:
        check_on_fault(on_fault)
        if not 0 <= max_failed <= 1:
            raise UsageError(f"max_failed is a share from 0 to 1, got {max_failed!r}")
        if window < 1:
            raise UsageError(f"window is a number of rollouts, got {window!r}")
        self.name = name
        self.on_fault = on_fault
        self.max_failed = max_failed
        self._recent: deque[str | None] = deque(maxlen=window)
        self._last = ""  # why the last rollout without a number has none
        self._has_warned = False

    def settle(self, scores: Sequence[Score]) -> list[float | None]:
        """Return what the trainer gets for each score, None for a row that moves nothing, and count the faults."""
        # The code of a reason is the same for all rows with that fault; the text after it is not.
        self._recent.extend(
            None if score.value is not None else printable(str(score.reason).partition(":")[0], 40) for score in scores
        )
        self._last = next((str(score.reason) for score in reversed(scores) if score.value is None), self._last)
        nothing = self._nothing_yet(WARNED)
        if nothing is not None and not self._has_warned:
            self._has_warned = True
            warnings.warn(nothing, stacklevel=2)
        if self.on_fault == "raise":
            for index, score in enumerate(scores):
                if score.value is None:
                    raise RewardFault(f"{self.name}: rollout {index} of the batch is {score.status}: {score.reason}")
        absent = 0.0 if self.on_fault == "zero" else None
        return [absent if score.value is None else score.value for score in scores]

    def metrics(self, scores: Sequence[Score]) -> dict[str, float]:
        """Return what is logged of a batch: the share of each outcome, and the mean of each part that has one."""
        if not scores:
            return {}
        counts = Counter[str](score.status for score in scores)
        found = {f"{self.name}/{outcome}": counts[outcome] / len(scores) for outcome in _OUTCOMES}
        for part in dict.fromkeys(part for score in scores for part in score.parts):
            values = [value for score in scores if (value := score.parts.get(part)) is not None]
            if values:
                found[f"{self.name}/{part}"] = sum(values) / len(values)
        return found

    @property
    def excess(self) -> str | None:
        """Say why training should stop: more of the last rollouts have no number than `max_failed` allows.

        >>> policy = FaultPolicy("good", max_failed=0.1, window=20)
        >>> _ = policy.settle([Score.error("env-died: no answer")] * 2)
        >>> policy.excess
        >>> _ = policy.settle([Score.error("env-died: no answer")])
        >>> policy.excess
        'good: 3 of the last 20 rollouts have no number (3 env-died), more than 10 %; the last: env-died: no answer'
        """
        window = self._recent.maxlen or 0
        count = len(self._recent) - self._recent.count(None)
        # Rollouts that are still to come count as scored, so that the first fault of a training does not end it.
        if count <= self.max_failed * window:
            return self._nothing_yet(STOPPED)
        share = f"{self.max_failed:.0%}".replace("%", " %")
        return (
            f"{self.name}: {count} of the last {window} rollouts have no number {self._codes(f', more than {share}')}"
        )

    def _nothing_yet(self, least: int) -> str | None:
        """Say that this many rollouts or more were scored and none of them has a number; else None.

        A short training would otherwise end without a word, having learnt nothing.
        """
        if len(self._recent) < least or None in self._recent or self.max_failed == 1:
            return None
        return f"{self.name}: none of the first {len(self._recent)} rollouts has a number {self._codes()}"

    def _codes(self, more: str = "") -> str:
        """Return how often which faults came, and all that is known of the last one."""
        # Of a copy: verl and others score in several threads.
        faults = Counter(code for code in self._recent.copy() if code is not None)
        codes = ", ".join(f"{count} {code}" for code, count in faults.most_common(3))
        return f"({codes}){more}; the last: {printable(self._last, 300)}"
