"""A judge's probabilities, corrected by labels of your own: few numbers, and what they were seen to be worth.

    fit_judge(LocalJudge(), rows)                labelled rows  ->  Fit
    LocalJudge(fit=Fit)                          the judge with corrected probabilities and verdicts

Log-odds of CORRECT are a weighted sum of `TERMS`: an intercept first, then one more number for every ten labels of the
rarer kind, at most all seven. Weights are held near the judge's own opinion by a ridge, and their worth is measured on
questions that were left out. Pure, but for the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import exp, log, log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.errors import DataError, RowError, UsageError
from adjudge.judges._calibration import LARGEST, labelled
from adjudge.judges.columns import Material, material_of
from adjudge.model import Judgement, from_json, to_json
from adjudge.statistics import Agreement, Estimate, agreement, estimate_mean

if TYPE_CHECKING:
    from adjudge.judges.local import LocalJudge

__all__ = ["Fit", "fit_judge", "load_fit"]

TERMS = ("intercept", "log-odds", "called CORRECT", "long response", "figures asked for", "by rule", "reference named")
"""What log-odds are made of, in the order in which they are added."""

PER_TERM = 10  # labels of the rarer kind for one more number
FEWEST = 5  # labels of the rarer kind without which nothing is learnt
FOLDS = 10
RIDGE = 2.0
STEPS = 50  # of Newton's method, which takes about six
FORMAT = 1
_LEAST = 0.002  # the least probability, either way, that is told from a sure one
_USUAL = log1p(25)  # words of a response


@dataclass(frozen=True, slots=True)
class FitRow:
    """What a judge said of one row, and its label."""

    question: str
    label: bool
    probability: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A correction of one judge in one version; `gain` is what it adds to the accuracy on questions left out."""

    judge: str
    version: str
    rows: int
    rarer: int
    weights: tuple[float, ...]
    before: Agreement
    after: Agreement
    gain: Estimate | None
    closer: Estimate | None
    """By how much probabilities come nearer to the labels: the mean fall of the squared error (Brier)."""
    labels: str = ""
    format: int = FORMAT
    digest: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether the labels show that verdicts or probabilities get better: an interval lies above 0."""
        return any(one is not None and one.low is not None and one.low > 0 for one in (self.gain, self.closer))

    def check(self, judge: str, version: str) -> None:
        """Raise `UsageError` unless this was fitted to that judge in that version."""
        if (judge, version) != (self.judge, self.version):
            ours, theirs = f"{self.judge} ({self.version})", f"{judge} ({version})"
            raise UsageError(f"the fit is of {ours}, not of {theirs}: fit that one", code="not-calibrated")

    def probability(self, judgement: Judgement, material: Material) -> float:
        """Return the corrected probability of CORRECT."""
        return _chance(self.weights, values_of(judgement, material))

    def save(self, path: Path | str) -> None:
        """Write the file."""
        Path(path).write_bytes(to_json(replace(self, digest=self.sum)) + b"\n")

    @property
    def sum(self) -> str:
        """A hash of everything else in the file."""
        return sha256(to_json(replace(self, digest=""))).hexdigest()[:32]


def load_fit(path: Path | str) -> Fit | None:
    """Read what `save` wrote; None for a file of another kind, `DataError` for one that was changed."""
    place = Path(path)
    try:
        if place.exists() and not place.is_file():
            raise UsageError(f"{path} is not a file", code="cannot-read")
        if place.stat().st_size > LARGEST:
            raise DataError(f"{path} is too large for a fit", code="bad-calibration")
        data = place.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    try:
        found = from_json(Fit, data)
    except RowError:
        return None
    plain = replace(found, digest="")
    if found.format > FORMAT:
        raise DataError(f"{path} was written by a newer adjudge: update adjudge", code="bad-calibration")
    if found.digest != plain.sum or len(found.weights) > len(TERMS):
        raise DataError(f"{path} was changed after it was written: fit the judge again", code="bad-calibration")
    return plain


def values_of(judgement: Judgement, material: Material) -> tuple[float, ...]:
    """Return the values of `TERMS` for one row."""
    share = min(max(judgement.probability or 0.0, _LEAST), 1 - _LEAST)
    odds = log(share / (1 - share))
    has_figures = any(any(map(str.isdecimal, one)) for one in material.references)
    return (
        1.0,
        odds,
        float(odds > 0),
        log1p(len((material.response or "").split())) - _USUAL,
        float(has_figures),
        float(abs(odds) > log(0.95 / 0.05)),
        float("contained" in judgement.reasons),
    )


def fit_judge(judge: "LocalJudge", rows: Iterable[Mapping[str, Any]]) -> Fit:
    """Learn a correction of a judge from rows with labels; `UsageError` where there are too few of either kind."""
    given = list(rows)
    made: list[FitRow] = []
    for number, (row, found) in enumerate(zip(given, judge.judge_many(given), strict=True), 1):
        if found.probability is None:
            raise DataError(f"labelled row {number}: {found.reason}", code="bad-row")
        material = material_of(row)
        made.append(FitRow(material.question, labelled(row)[0], found.probability, values_of(found, material)))
    return learn(made, judge=judge.name, version=judge.version)


def learn(rows: Sequence[FitRow], *, judge: str, version: str) -> Fit:
    """Learn a correction from what a judge said of labelled rows.

    >>> rows = [FitRow(f"q{n}", n % 4 == 0, 0.8, (1.0, 1.386, 1.0, 0.0, 0.0, 0.0, 0.0)) for n in range(40)]
    >>> found = learn(rows, judge="local:0", version="7")
    >>> len(found.weights), found.after.accuracy.value, found.is_shown
    (2, 0.75, True)
    """
    right = sum(row.label for row in rows)
    rarer = min(right, len(rows) - right)
    if rarer < FEWEST:
        which = "right" if right == rarer else "wrong"
        words = f"a fit needs at least {FEWEST} labels of either kind, and only {rarer} of {len(rows)} are {which}"
        raise UsageError(words, code="too-few-labels")
    count = min(len(TERMS), 1 + rarer // PER_TERM)
    held = _left_out(rows, count)
    questions = [row.question for row in rows]
    labels = [row.label for row in rows]
    before = agreement(labels, [row.probability >= 0.5 for row in rows], questions)
    after = agreement(labels, [one >= 0.5 for one in held], questions)
    if before is None or after is None:
        raise UsageError("there are no labelled rows", code="no-rows")
    return Fit(
        judge=judge,
        version=version,
        rows=len(rows),
        rarer=rarer,
        weights=_learn(rows, count),
        before=before,
        after=after,
        gain=estimate_mean(
            [
                float((new >= 0.5) == row.label) - float((row.probability >= 0.5) == row.label)
                for new, row in zip(held, rows, strict=True)
            ],
            questions,
            range=(-1.0, 1.0),
        ),
        closer=estimate_mean(
            [(row.probability - row.label) ** 2 - (new - row.label) ** 2 for new, row in zip(held, rows, strict=True)],
            questions,
            range=(-1.0, 1.0),
        ),
        labels=_hash(rows),
    )


def _left_out(rows: Sequence[FitRow], count: int) -> list[float]:
    """Return each row's corrected probability by weights that were learnt without its question."""
    folds = [int(sha256(row.question.encode("utf-8", "backslashreplace")).hexdigest(), 16) % FOLDS for row in rows]
    found = [0.0] * len(rows)
    for fold in set(folds):
        weights = _learn([row for row, own in zip(rows, folds, strict=True) if own != fold], count)
        for at, own in enumerate(folds):
            if own == fold:
                found[at] = _chance(weights, rows[at].values)
    return found


def _learn(rows: Sequence[FitRow], count: int) -> tuple[float, ...]:
    """Return the first `count` weights by Newton's method; without the second, log-odds count as they are."""
    own = [float(name == "log-odds") for name in TERMS]
    weights = own[: max(count, 2)]
    free = [at for at in range(len(weights)) if at < count]
    loss = _loss(rows, weights, own)
    for _ in range(STEPS):
        step = _newton(rows, weights, own, free)
        size = 1.0
        # A whole step may go too far where most rows are sure: half of it is tried until the loss falls.
        while size > 1e-6:
            tried = list(weights)
            for at, part in zip(free, step, strict=True):
                tried[at] += size * part
            new = _loss(rows, tried, own)
            if new <= loss:
                break
            size /= 2
        else:
            break
        is_done = loss - new < 1e-10
        weights, loss = tried, new
        if is_done:
            break
    return tuple(weights)


def _newton(rows: Sequence[FitRow], weights: list[float], own: list[float], free: list[int]) -> list[float]:
    """Return the step to the least loss, if that were a parabola."""
    slope = [RIDGE * (own[at] - weights[at]) for at in free]
    curve = [[RIDGE * (one == other) for other in free] for one in free]
    for row in rows:
        chance = _chance(weights, row.values)
        for i, at in enumerate(free):
            slope[i] += (row.label - chance) * row.values[at]
            for j, other in enumerate(free):
                curve[i][j] += chance * (1 - chance) * row.values[at] * row.values[other]
    return _solved(curve, slope)


def _loss(rows: Sequence[FitRow], weights: list[float], own: list[float]) -> float:
    """Return the log loss of the rows with the ridge that holds weights near the judge's own opinion."""
    chances = (_chance(weights, row.values) if row.label else 1 - _chance(weights, row.values) for row in rows)
    ridge = sum((one - start) ** 2 for one, start in zip(weights, own, strict=False))
    return RIDGE / 2 * ridge - sum(log(max(one, 1e-300)) for one in chances)


def _chance(weights: Sequence[float], values: Sequence[float]) -> float:
    odds = sum(weight * value for weight, value in zip(weights, values, strict=False))
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a small system of equations whose matrix is positive definite, which the ridge makes sure of."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        for below in range(at + 1, size):
            share = rows[below][at] / rows[at][at]
            rows[below] = [one - share * other for one, other in zip(rows[below], rows[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        rest = sum(rows[at][other] * found[other] for other in range(at + 1, size))
        found[at] = (rows[at][size] - rest) / rows[at][at]
    return found


def _hash(rows: Sequence[FitRow]) -> str:
    lines = sorted(f"{row.question!r} {row.label}" for row in rows)
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:32]
