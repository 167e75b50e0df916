"""How far a judge can be trusted, measured on rows that people have labelled; kept as a file that runs can name.

    calibrate(rows, judge="openai:gpt-4o")       labelled rows and what the judge said  ->  Calibration
    Calibration.corrected(estimate)              the true share behind the judge's share in a later run

Pure: `adjudge judge calibrate` asks the judge about the rows.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate
from math import exp, lgamma, log, log1p
from pathlib import Path
from typing import Any

from adjudge.errors import DataError, RowError, UsageError
from adjudge.model import from_json, to_json
from adjudge.statistics import (
    Agreement,
    Estimate,
    Reliability,
    agreement,
    estimate_mean,
    krippendorff_alpha,
    prediction_powered,
    reliability,
    rogan_gladen,
)

__all__ = ["Calibration", "Corrected", "LabelledRow", "Probe", "calibrate", "labelled", "load_calibration"]

_LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "correct"), True),
    **dict.fromkeys(("0", "0.0", "false", "wrong", "incorrect"), False),
}
LABEL, ANNOTATORS, GROUPS = ("label", "correct"), ("annotators", "ann"), ("group", "source", "split")
LARGEST = 1 << 26  # bytes of a calibration
FORMAT = 1
CONFIDENCES = (*(step / 100 for step in range(50, 100)), 0.995, 0.999)
MOST_GROUPS = 100  # groups with figures of their own


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One row that people labelled, and the judge's verdict on it, None where it gave none."""

    question: str
    label: bool
    status: str
    verdict: bool | None = None
    probability: float | None = None
    annotators: tuple[bool | None, ...] = ()
    group: str | None = None
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """How often a judge repeats its verdict when only something changes that should not matter."""

    name: str
    rows: int
    same: Estimate | None


@dataclass(frozen=True, slots=True)
class ConfidenceStep:
    """The rows on which a judge is at least this confident: how many there are, and on how many it errs."""

    confidence: float
    rows: int
    errors: int


@dataclass(frozen=True, slots=True)
class Corrected:
    """A run's share of right responses as its judge saw it, and corrected for the judge's errors."""

    observed: Estimate
    rogan_gladen: Estimate | None
    prediction_powered: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured of one judge: `labels` is a hash of the labelled rows, `prompts` are those of its prompts.

    `digest` covers everything else in the file, so that a changed number is noticed.
    """

    judge: str
    version: str
    rows: int
    counts: Mapping[str, int]
    agreement: Agreement | None
    correction: Estimate | None
    reliability: Reliability | None = None
    steps: tuple[ConfidenceStep, ...] = ()
    alpha: float | None = None
    alpha_people: float | None = None
    groups: Mapping[str, Agreement] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()
    prompts: tuple[str, ...] = ()
    labels: str = ""
    format: int = FORMAT
    digest: str = ""

    def check(self, judge: str, version: str, prompt_hash: str | None = None) -> None:
        """Raise `UsageError` unless this was measured with that judge, in that version and with that prompt."""
        ours, theirs = (f"{name} ({of})" if of else name for name, of in ((self.judge, self.version), (judge, version)))
        if judge == self.judge and self.version in ("", version):
            # Another prompt makes another judge, even of the same model.
            if prompt_hash is None or not self.prompts or prompt_hash in self.prompts:
                return
            theirs += " with another prompt"
        raise UsageError(f"the calibration is of {ours}, not of {theirs}: calibrate that one", code="not-calibrated")

    def corrected(self, observed: Estimate) -> Corrected | None:
        """Return a run's share corrected for the judge's errors; None where they are not known."""
        known = self.agreement
        if known is None or self.correction is None:
            return None
        by_rates = None
        if known.sensitivity is not None and known.specificity is not None:
            by_rates = rogan_gladen(observed, known.sensitivity, known.specificity)
        return Corrected(observed, by_rates, prediction_powered(observed, self.correction))

    def threshold_for(self, error_budget: float) -> float:
        """Return the lowest confidence above which labels show that the judge errs in at most that share; 1 for none.

        Shown is what holds with 95 % confidence (Clopper and Pearson): with a budget of 2 % that takes 149 rows without
        an error, 236 with one.
        """
        if not self.steps:
            raise UsageError(f"{self.judge} gives no probabilities, so a threshold cannot be chosen")
        # From the most confident rows down: few rows show nothing yet, and too many errors end it.
        least = 1.0
        for step in reversed(self.steps):
            if step.errors > error_budget * step.rows >= 1.0:
                break
            if _is_shown(step, error_budget):
                least = step.confidence
        return least

    def save(self, path: Path | str) -> None:
        """Write the file."""
        Path(path).write_bytes(to_json(replace(self, digest=self._sum())) + b"\n")

    def _sum(self) -> str:
        return sha256(to_json(replace(self, digest=""))).hexdigest()[:32]


def _is_shown(step: ConfidenceStep, share: float) -> bool:
    """Whether so few errors among the rows come about in at most 5 % of cases where the share of errors is larger.

    >>> [_is_shown(ConfidenceStep(0.9, rows, 0), 0.02) for rows in (148, 149)]
    [False, True]
    """
    if not 0.0 < share < 1.0 or not step.rows:
        return False
    # The chance of at most that many errors, each by its logarithm: factorials of thousands are no floats.
    chances = (
        exp(
            lgamma(step.rows + 1) - lgamma(errors + 1) - lgamma(step.rows - errors + 1)
            + errors * log(share) + (step.rows - errors) * log1p(-share)
        )
        for errors in range(step.errors + 1)
    )  # fmt: skip
    return sum(chances) <= 0.05


def load_calibration(path: Path | str) -> Calibration:
    """Read what `save` wrote; `DataError` says what is wrong with it."""
    try:
        # A gate file names it: a device or a pipe would never end.
        if Path(path).exists() and not Path(path).is_file():
            raise UsageError(f"{path} is not a file", code="cannot-read")
        if Path(path).stat().st_size > LARGEST:
            raise DataError(f"{path} is too large for a calibration", code="bad-calibration")
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    try:
        found = from_json(Calibration, data)
    except RowError as error:
        raise DataError(f"{path} is not a calibration: {error.message}", code="bad-calibration") from None
    if found.format > FORMAT:
        raise DataError(f"{path} was written by a newer adjudge: update adjudge", code="bad-calibration")
    # The sum covers everything but itself.
    plain = replace(found, digest="")
    if found.digest != plain._sum():  # noqa: SLF001 (of the same class)
        raise DataError(f"{path} was changed after it was written: calibrate the judge again", code="bad-calibration")
    return plain


def labelled(row: Mapping[str, Any]) -> tuple[bool, tuple[bool | None, ...], str | None]:
    """Return the label of a row, those of its annotators, and its group.

    >>> labelled({"label": "CORRECT", "ann": [1, 0, None], "split": "NQ"})
    (True, (True, False, None), 'NQ')
    """
    given = next((row[name] for name in LABEL if row.get(name) is not None), None)
    if given is None:
        raise DataError("the row has no label: give label as 1 or 0", code="missing-column")
    several = next((row[name] for name in ANNOTATORS if row.get(name) is not None), ())
    if isinstance(several, Mapping):
        several = list(several.values())
    if not isinstance(several, Sequence) or isinstance(several, str):
        raise DataError("annotators must be a list of labels", code="bad-row")
    group = next((row[name] for name in GROUPS if row.get(name) is not None), None)
    return _label(given), tuple(None if one is None else _label(one) for one in several), _text(group)


def _label(value: object) -> bool:
    found = _LABELS.get(str(value).strip().lower())
    if found is None:
        raise DataError(f"{str(value)[:40]!r} is not a label: give 1 or 0, or CORRECT or WRONG", code="bad-row")
    return found


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:200]


def calibrate(
    rows: Iterable[LabelledRow], *, judge: str, version: str = "", probes: Sequence[Probe] = ()
) -> Calibration:
    """Measure a judge on labelled rows; intervals are clustered by question.

    Rows without a verdict are counted, but not part of the figures. Of many groups the hundred largest are kept.
    """
    every = list(rows)
    counts = {status: sum(row.status == status for row in every) for status in ("scored", "unscored", "error")}
    judged = [row for row in every if row.verdict is not None]
    sure = [row for row in judged if row.probability is not None]
    return Calibration(
        judge=judge,
        version=version,
        rows=len(every),
        counts=counts,
        agreement=_agreement(judged),
        correction=estimate_mean(
            [float(row.label) - float(bool(row.verdict)) for row in judged],
            [row.question for row in judged],
            range=(-1.0, 1.0),
        ),
        reliability=reliability([row.probability or 0.0 for row in sure], [row.label for row in sure]),
        steps=_steps([(row.probability or 0.0, row.label != row.verdict) for row in sure]),
        alpha=krippendorff_alpha([*row.annotators, row.verdict] for row in judged),
        alpha_people=krippendorff_alpha(row.annotators for row in judged),
        groups=_by_group(judged),
        probes=tuple(probes),
        prompts=tuple(sorted({row.prompt_hash for row in judged if row.prompt_hash is not None})),
        labels=_hash(every),
    )


def _steps(rows: Sequence[tuple[float, bool]]) -> tuple[ConfidenceStep, ...]:
    """Return how often a judge errs above each confidence, given its probabilities and whether it errs."""
    # Confidence is in the verdict, whichever it is: .1 for CORRECT is .9 for WRONG.
    surest = sorted(((max(p, 1.0 - p), is_error) for p, is_error in rows), reverse=True)
    errors = list(accumulate(int(is_error) for _, is_error in surest))
    found: list[ConfidenceStep] = []
    for confidence in CONFIDENCES if rows else ():
        kept = bisect_right(surest, -confidence, key=lambda row: -row[0])
        found.append(ConfidenceStep(confidence, kept, errors[kept - 1] if kept else 0))
    return tuple(found)


def _by_group(rows: Sequence[LabelledRow]) -> dict[str, Agreement]:
    """Return the figures of every group, where there are several."""
    groups: dict[str, list[LabelledRow]] = {}
    for row in rows:
        if row.group is not None:
            groups.setdefault(row.group, []).append(row)
    # Figures of thousands of small groups would be noise.
    largest = sorted(groups, key=lambda name: (-len(groups[name]), name))[:MOST_GROUPS]
    found = {name: _agreement(groups[name]) for name in sorted(largest)} if len(groups) > 1 else {}
    return {name: part for name, part in found.items() if part is not None}


def _agreement(rows: Sequence[LabelledRow]) -> Agreement | None:
    return agreement([row.label for row in rows], [bool(row.verdict) for row in rows], [row.question for row in rows])


def _hash(rows: Sequence[LabelledRow]) -> str:
    digest = sha256()
    # The same rows in another order are the same labels.
    for line in sorted(f"{row.question!r} {row.label}" for row in rows):
        # The line was made by repr, which escapes lone surrogates.
        digest.update(line.encode())
    return digest.hexdigest()[:32]
