"""What labels say of a judge and of a run: agreement, the corrected score, how many more would halve its interval.

    figures_of_labels(labels, verdicts, scorer="local:0")     ->  LabelFigures

Rows that were chosen, and not drawn by chance, never enter an estimate. The rows of one verdict that were labelled, out
of all rows of that verdict, are a stratum of `adjudge.statistics.stratified_mean`: whatever sample they were drawn for,
each of them had the same chance as every other row of that verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias

from adjudge.statistics import (
    Agreement,
    DrawnPairs,
    Estimate,
    Stratum,
    agreement,
    corrected_mean,
    labels_to_halve,
    sampled_agreement,
    stratified_mean,
)
from adjudge.view._label_sample import RowVerdict
from adjudge.view._labels import Answer, Label

FEW = 2  # labels of either verdict, without which nothing is said
MOST_PEOPLE = 12  # whose agreement with one another is shown

Groups: TypeAlias = list[tuple[int, list[int]]]
"""Strata: how many rows there are, and which of them are labelled."""


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """What labels say.

    `rows` have a verdict, whose mean is `judged`; `used` of the labelled ones are in the estimates. The rest, and lines
    of the file that are not labels, are in `left_out` by reason. `corrected` would lie in `bounds` if rows that are not
    decided were all wrong, or all right. `more` labels would halve the interval of `corrected`. `people` has the
    agreement of every two annotators.
    """

    rows: int
    judged: float | None
    used: int
    annotators: Mapping[str, Counter[Answer]]
    left_out: Counter[str]
    accuracy: Estimate | None = None
    kappa: Estimate | None = None
    corrected: Estimate | None = None
    bounds: tuple[float, float] | None = None
    more: int | None = None
    people: list[tuple[str, str, Agreement]] = field(default_factory=list)


def latest(labels: Iterable[Label]) -> dict[tuple[str, int], Label]:
    """Return the last label of every annotator and row; one that was ever drawn for an estimate stays in it."""
    found: dict[tuple[str, int], Label] = {}
    for one in labels:
        key = (one.annotator, one.row)
        before = found.get(key)
        if one.probability is not None or before is None:
            found[key] = one
        else:
            found[key] = replace(one, probability=before.probability, sample=before.sample)
    return found


def figures_of_labels(
    labels: Iterable[Label],
    verdicts: Iterable[RowVerdict],
    *,
    scorer: str,
    is_current: Callable[[Label], bool] = lambda _: True,
) -> LabelFigures:
    """Compare labels with the verdicts of all rows; `is_current` says whether a label is about today's response."""
    last = latest(labels)
    evidence = _Evidence({row for _, row in last}, verdicts)
    left_out: Counter[str] = Counter()
    for one in last.values():
        why = evidence.refusal(one, scorer) or (None if is_current(one) else "about another response")
        if why is None:
            evidence.add(one)
        else:
            left_out[why] += 1
    annotators: dict[str, Counter[Answer]] = {}
    for (name, _), one in last.items():
        annotators.setdefault(name, Counter())[one.answer] += 1
    decided, undecided = evidence.settle()
    left_out.update(undecided.values())
    found = LabelFigures(evidence.rows, evidence.judged, len(decided), annotators, left_out, people=_people(last))
    return _with_estimates(found, evidence, decided, list(undecided))


class _Evidence:
    """The verdicts of a run, as far as labels need them, and the labels that count."""

    def __init__(self, labelled: set[int], verdicts: Iterable[RowVerdict]) -> None:
        self.known: dict[int, RowVerdict] = {}
        self.sizes: Counter[bool] = Counter()
        self._answers: dict[int, set[Answer]] = {}
        self._unequal: set[int] = set()  # rows whose chance depended on their verdict
        total = 0.0
        for one in verdicts:
            self.sizes[one.is_right] += 1
            total += one.value
            if one.row in labelled:
                self.known[one.row] = one
        self.rows = self.sizes.total()
        self.judged = total / self.rows if self.rows else None

    def refusal(self, one: Label, scorer: str) -> str | None:
        """Return why a label is not part of the estimates; None if it is."""
        if one.probability is None:
            return "chosen, not drawn"
        if one.row not in self.known:
            return "no verdict of the judge"
        if one.sample.get("rows") != self.rows:
            return "drawn when the run had other rows"
        is_plain = one.sample.get("kind") == "random"
        return None if is_plain or one.sample.get("scorer") == scorer else "drawn by the verdicts of another judge"

    def add(self, one: Label) -> None:
        """Take a label."""
        self._answers.setdefault(one.row, set()).add(one.answer)
        if one.sample.get("kind") != "random":
            self._unequal.add(one.row)

    def settle(self) -> tuple[dict[int, bool], dict[int, str]]:
        """Return the rows whose label is known, and the others with the reason."""
        decided: dict[int, bool] = {}
        undecided: dict[int, str] = {}
        for row, answers in self._answers.items():
            given = answers - {"unsure"}
            if len(given) == 1:
                decided[row] = given == {"right"}
            else:
                undecided[row] = "people differ" if given else "unsure"
        return decided, undecided

    def groups(self, decided: Mapping[int, bool]) -> Groups | None:
        """Return the strata; None where too few rows are labelled."""
        by_verdict: dict[bool, list[int]] = {verdict: [] for verdict, size in self.sizes.items() if size}
        for row in decided:
            by_verdict[self.known[row].is_right].append(row)
        if by_verdict and all(len(rows) >= min(FEW, self.sizes[verdict]) for verdict, rows in by_verdict.items()):
            return [(self.sizes[verdict], rows) for verdict, rows in by_verdict.items()]
        # Of a plain random sample all rows together are a stratum.
        return None if len(decided) < FEW or self._unequal else [(self.rows, list(decided))]

    def differences(self, groups: Groups, decided: Mapping[int, bool]) -> list[Stratum]:
        """Return label - verdict of the labelled rows, with the range that such differences have."""
        strata = []
        for size, rows in groups:
            values = {self.known[row].value for row in rows}
            # Where every verdict is 0, or every one is 1, there are two differences only: Wilson's interval fits.
            least = -max(values) if values in ({0.0}, {1.0}) else -1.0
            greatest = 1.0 - min(values) if values in ({0.0}, {1.0}) else 1.0
            found = tuple(float(decided[row]) - self.known[row].value for row in rows)
            strata.append(Stratum(size, found, (least, greatest)))
        return strata


def _with_estimates(
    found: LabelFigures, evidence: _Evidence, decided: Mapping[int, bool], undecided: list[int]
) -> LabelFigures:
    """Add the estimates, where there are enough labels."""
    groups = evidence.groups(decided)
    if groups is None or found.judged is None:
        return found
    known = evidence.known
    pairs = [DrawnPairs(size, tuple((decided[row], known[row].is_right) for row in rows)) for size, rows in groups]
    differences = evidence.differences(groups, decided)
    agreed = sampled_agreement(pairs)
    if agreed is None:
        return found
    ends: list[float] = []
    for end in (False, True):
        filled = {**decided, **dict.fromkeys(undecided, end)}
        mean = stratified_mean(evidence.differences(evidence.groups(filled) or [], filled))
        ends += [] if mean is None else [min(max(found.judged + mean.value, 0.0), 1.0)]
    return replace(
        found,
        accuracy=agreed[0],
        kappa=agreed[1],
        corrected=corrected_mean(found.judged, differences),
        bounds=(ends[0], ends[1]) if undecided and len(ends) > 1 else None,
        more=labels_to_halve(differences),
    )


def _people(last: Mapping[tuple[str, int], Label]) -> list[tuple[str, str, Agreement]]:
    """Return how far every two annotators agree, on the rows that both decided."""
    by_name: dict[str, dict[int, bool]] = {}
    for (name, row), label in last.items():
        if label.answer != "unsure":
            by_name.setdefault(name, {})[row] = label.answer == "right"
    found = []
    for one, other in combinations(sorted(by_name)[:MOST_PEOPLE], 2):
        both = sorted(by_name[one].keys() & by_name[other].keys())
        known = agreement([by_name[one][row] for row in both], [by_name[other][row] for row in both])
        if known is not None:
            found.append((one, other, known))
    return found
