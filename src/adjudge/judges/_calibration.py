"""How far a judge can be trusted, measured on rows that people have labelled; kept as a file that runs can name.

    measure(rows, name="openai:gpt-4o", ...)     labelled rows and what the judge said  ->  Calibration
    Calibration.corrected(estimate)              the true share behind the judge's share in a later run

Pure: who asks the judge about the rows is `adjudge judge calibrate`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
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

__all__ = ["Calibration", "Corrected", "LabelledRow", "Probe", "labelled", "load_calibration", "measure"]

_LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "correct"), True),
    **dict.fromkeys(("0", "0.0", "false", "wrong", "incorrect"), False),
}
LABEL, ANNOTATORS, GROUPS = ("label", "correct"), ("annotators", "ann"), ("group", "source", "split")
FORMAT = 1


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One row that people labelled, and what the judge said of it; `verdict` is None where it said nothing."""

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
    """How often a judge keeps its verdict when only what should not matter has changed."""

    name: str
    rows: int
    same: Estimate | None


@dataclass(frozen=True, slots=True)
class Corrected:
    """A run's share of right responses as its judge saw it, and as it is once the judge's faults are taken out."""

    observed: Estimate
    rogan_gladen: Estimate | None
    prediction_powered: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one judge: `labels` is a hash of the labelled rows, `prompts` those of the judge's prompts."""

    judge: str
    version: str
    rows: int
    counts: Mapping[str, int]
    agreement: Agreement | None
    correction: Estimate | None
    reliability: Reliability | None = None
    alpha: float | None = None
    alpha_people: float | None = None
    groups: Mapping[str, Agreement] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()
    prompts: tuple[str, ...] = ()
    labels: str = ""
    format: int = FORMAT

    def fits(self, judge: str, prompt_hash: str | None = None) -> bool:
        """Say whether this was measured with that judge and, where it has one, that prompt."""
        return judge == self.judge and (prompt_hash is None or not self.prompts or prompt_hash in self.prompts)

    def corrected(self, observed: Estimate) -> Corrected | None:
        """Return what a run's share is once the judge's faults are taken out; None where nothing is known of them."""
        known = self.agreement
        if known is None or self.correction is None:
            return None
        by_rates = None
        if known.sensitivity is not None and known.specificity is not None:
            by_rates = rogan_gladen(observed, known.sensitivity, known.specificity)
        return Corrected(observed, by_rates, prediction_powered(observed, self.correction))

    def save(self, path: Path | str) -> None:
        """Write the file."""
        Path(path).write_bytes(to_json(self) + b"\n")


def load_calibration(path: Path | str) -> Calibration:
    """Read what `save` wrote; `DataError` says what is wrong with it."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    try:
        found = from_json(Calibration, data, source=str(path))
    except RowError as error:
        raise DataError(f"{path} is no calibration: {error.message}", code="bad-calibration") from None
    if found.format > FORMAT:
        raise DataError(f"{path} was written by a newer adjudge: update adjudge", code="bad-calibration")
    return found


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
        raise DataError("annotators is a list of labels", code="bad-row")
    group = next((row[name] for name in GROUPS if row.get(name) is not None), None)
    return _label(given), tuple(None if one is None else _label(one) for one in several), _text(group)


def _label(value: object) -> bool:
    found = _LABELS.get(str(value).strip().lower())
    if found is None:
        raise DataError(f"{str(value)[:40]!r} is no label: give 1 or 0, or CORRECT or WRONG", code="bad-row")
    return found


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:200]


def measure(rows: Iterable[LabelledRow], *, judge: str, version: str = "", probes: Sequence[Probe] = ()) -> Calibration:
    """Return what labelled rows say of a judge; intervals are clustered by question.

    Rows without a verdict are counted, and are in none of the figures.
    """
    every = list(rows)
    counts = {status: sum(row.status == status for row in every) for status in ("scored", "unscored", "error")}
    judged = [row for row in every if row.verdict is not None]
    sure = [row for row in judged if row.probability is not None]
    groups = sorted({row.group for row in judged if row.group is not None})
    parts = {name: _agreement([row for row in judged if row.group == name]) for name in groups}
    people = [row for row in judged if any(one is not None for one in row.annotators)]
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
        alpha=krippendorff_alpha([*row.annotators, row.verdict] for row in people),
        alpha_people=krippendorff_alpha(row.annotators for row in people),
        groups={name: part for name, part in parts.items() if part is not None} if len(groups) > 1 else {},
        probes=tuple(probes),
        prompts=tuple(sorted({row.prompt_hash for row in judged if row.prompt_hash is not None})),
        labels=_hash(every),
    )


def _agreement(rows: Sequence[LabelledRow]) -> Agreement | None:
    return agreement([row.label for row in rows], [bool(row.verdict) for row in rows], [row.question for row in rows])


def _hash(rows: Sequence[LabelledRow]) -> str:
    digest = sha256()
    for line in sorted(f"{row.question!r} {row.label}" for row in rows):
        digest.update(line.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:32]
