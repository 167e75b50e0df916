"""What many conversations amount to.

Each conversation is reduced to its profile, a few small integers; a tally counts how many conversations have which.
Everything else follows from those counts: they add up in any order to the same numbers, and there are few of them
however many conversations there are.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias, get_args

from adjudge.conversations._labels import Labels
from adjudge.conversations._rule import given_up_after

METRICS = (
    *("total", "correct_exact", "correct", "miss", "hallucination"),
    *("exact_match", "accuracy", "missing", "hallucination_rate", "truthfulness_score"),
    "mean_multi_turn_conversation_score",
)
"""The names of the eleven metrics, in their order."""

Rate: TypeAlias = Literal[
    "exact_match",
    "accuracy",
    "missing",
    "hallucination_rate",
    "truthfulness_score",
    "mean_multi_turn_conversation_score",
]
"""The name of a metric that is a mean."""

RATES: tuple[Rate, ...] = get_args(Rate)
"""Those that are means, and so have an interval."""

RATE_RANGES: dict[Rate, tuple[float, float]] = {
    rate: (-1.0 if rate in ("truthfulness_score", "mean_multi_turn_conversation_score") else 0.0, 1.0) for rate in RATES
}
"""The least and the greatest value of each rate."""


class Profile(NamedTuple):
    """One conversation in numbers: its scored turns by label, the same under the two-wrong rule, and the others."""

    total: int
    exact: int
    correct: int
    miss: int
    ruled_correct: int
    ruled_wrong: int
    unscored: int
    errors: int


class Cell(NamedTuple):
    """Conversations that are alike in one metric: how many, the values in each, and the sum of those."""

    conversations: int
    values: int
    sum: Fraction | float


def profile_of(turns: Sequence[Labels]) -> Profile:
    """Return the profile of a conversation, given its turns in order.

    >>> profile_of([Labels(is_correct=True), Labels(), Labels(is_miss=True), Labels(is_correct=True)])
    Profile(total=4, exact=0, correct=2, miss=1, ruled_correct=1, ruled_wrong=1, unscored=0, errors=0)
    """
    labels = [turn.label for turn in turns]
    kept = given_up_after(labels)
    # After the second let-down every turn is a miss, which adds nothing to either count.
    before = labels[:kept]
    missing = labels.count("unscored")
    # Only turns without a verdict can be errors.
    errors = sum(turn.status == "error" for turn in turns) if missing else 0
    return Profile(
        total=len(labels) - missing,
        exact=sum([turn.is_exact_match for turn in turns]),
        correct=labels.count("correct"),
        miss=labels.count("miss"),
        ruled_correct=before.count("correct"),
        ruled_wrong=before.count("wrong"),
        unscored=missing - errors,
        errors=errors,
    )


class TurnTally:
    """Conversations counted by their profiles; tallies of shards can be added.

    >>> right, wrong = Labels(is_correct=True), Labels()
    >>> tally = TurnTally()
    >>> tally.add([right, wrong, wrong, right, right])
    >>> tally.metrics()["accuracy"], tally.metrics()["mean_multi_turn_conversation_score"]
    (0.6, -0.2)
    """

    __slots__ = ("profiles",)

    def __init__(self) -> None:
        self.profiles: Counter[Profile] = Counter()

    def add(self, turns: Sequence[Labels]) -> None:
        """Count one conversation, given its turns in order."""
        self.profiles[profile_of(turns)] += 1

    def merge(self, other: "TurnTally") -> None:
        """Count the conversations of another tally too; none may be in both."""
        self.profiles.update(other.profiles)

    def _sum(self, name: str) -> int:
        index = Profile._fields.index(name)
        return sum(profile[index] * count for profile, count in self.profiles.items())

    @property
    def conversations(self) -> int:
        """How many conversations have at least one scored turn."""
        return sum(count for profile, count in self.profiles.items() if profile.total)

    @property
    def flagged(self) -> int:
        """How many conversations have a turn without a verdict."""
        return sum(count for profile, count in self.profiles.items() if profile.unscored or profile.errors)

    @property
    def unscored(self) -> int:
        """How many turns got no verdict."""
        return self._sum("unscored")

    @property
    def errors(self) -> int:
        """How many turns could not be asked about at all."""
        return self._sum("errors")

    def metrics(self) -> dict[str, float]:
        """Return the eleven metrics; of no turns, all are zero. Each is rounded once, from exact integers."""
        total, exact, correct, miss = (self._sum(name) for name in ("total", "exact", "correct", "miss"))
        wrong = total - correct - miss
        over = max(total, 1)
        return {
            "total": float(total),
            "correct_exact": float(exact),
            "correct": float(correct),
            "miss": float(miss),
            "hallucination": float(wrong),
            "exact_match": exact / over,
            "accuracy": correct / over,
            "missing": miss / over,
            "hallucination_rate": wrong / over,
            "truthfulness_score": (2 * correct + miss - total) / over,
            "mean_multi_turn_conversation_score": float(self._conversation_mean()),
        }

    def _conversation_mean(self) -> Fraction:
        # Conversations of the same length are added as integers: one fraction for each length, not for each
        # conversation.
        by_length: Counter[int] = Counter()
        for profile, count in self.profiles.items():
            by_length[profile.total] += (profile.ruled_correct - profile.ruled_wrong) * count
        total = sum((Fraction(points, length) for length, points in by_length.items() if length), Fraction(0))
        return total / max(self.conversations, 1)

    def cells(self, rate: Rate) -> Iterator[Cell]:
        """Give the conversations that a rate is the mean over, those alike together, the scored ones only."""
        sum_of = _SUMS[rate]
        # An interval over a million conversations needs only the few kinds that there are.
        alike: dict[tuple[int, int], int] = {}
        for profile, count in self.profiles.items():
            if profile.total:
                key = profile.total, sum_of(profile)
                alike[key] = alike.get(key, 0) + count
        for (total, points), count in alike.items():
            if rate == "mean_multi_turn_conversation_score":
                yield Cell(count, 1, Fraction(points, total))
            else:
                yield Cell(count, total, points)


_SUMS: dict[Rate, Callable[[Profile], int]] = {
    "exact_match": lambda profile: profile.exact,
    "accuracy": lambda profile: profile.correct,
    "missing": lambda profile: profile.miss,
    "hallucination_rate": lambda profile: profile.total - profile.correct - profile.miss,
    "truthfulness_score": lambda profile: 2 * profile.correct + profile.miss - profile.total,
    "mean_multi_turn_conversation_score": lambda profile: profile.ruled_correct - profile.ruled_wrong,
}
