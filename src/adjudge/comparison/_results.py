"""One side of a comparison: what a run, or a file of another tool, says about every case.

    Results(
        "july.run",
        metrics={
            "qa_f1_reward": MetricValues({"q1": [1.0, 0.5], "q2": [None]}, range=(0.0, 1.0), origin={"version": "1"}),
            "latency": MetricValues({"q1": [0.8, 1.1], "q2": [2.0]}, is_gated=False, higher_is_better=False),
        },
        cases={"q1": CaseFacts(cluster="c1", tags=("short",), digest="5d41402a")},
    )

Values are kept by case: one for each repeat, None where a repeat has no score. Every reader returns this form, and
nothing behind it knows which tool the numbers came from.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from adjudge.statistics import Range


@dataclass(frozen=True, slots=True)
class MetricValues:
    """The values of one metric by case, one for each repeat; None is a repeat that has no score.

    `range` is the least and greatest value that can be, None where nobody knows; `higher_is_better` is False of costs
    and times. `origin` is what has to be equal for two runs to be comparable (version, judge, prompt_hash), by name.
    A metric that is not `is_gated` (a part of a score, tokens, cost, latency) is shown and never decides.
    """

    values: Mapping[str, Sequence[float | None]]
    range: Range = None
    origin: Mapping[str, str] = field(default_factory=dict)
    is_gated: bool = True
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """What a case is, beside its values: what it varies together with, its tags, and what was asked.

    `cluster` names its conversation or group; None means that it is independent of all others. `digest` is equal for
    equal questions and references; None means that the file does not say. `columns` are those of the row that the
    reader was asked to keep, to group cases by.
    """

    cluster: str | None = None
    tags: tuple[str, ...] = ()
    digest: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Results:
    """What one run says about its cases; a case of which nothing but values is known may be missing in `cases`.

    `spared` are cases that a run which was decided early did not need, `mixed` ids under which it has several cases.
    `notes` are what a reader of any comparison with it must know.
    """

    name: str
    metrics: Mapping[str, MetricValues]
    cases: Mapping[str, CaseFacts] = field(default_factory=dict)
    spared: Collection[str] = ()
    mixed: Collection[str] = ()
    notes: tuple[str, ...] = ()
