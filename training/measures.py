"""How well a judge agrees with people on the validation rows: accuracy, kappa, calibration, the confident part."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import exp, log, log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rows as labelled

if TYPE_CHECKING:
    from adjudge.judges.local._tiers import AssessMany, Assessment

Probability = Callable[[labelled.Row], float]
"""What a judge says of a row: the probability that it is correct."""

SPLITS = {
    "EVOUNA-NQ": ("evouna-val", "evouna_nq"),
    "EVOUNA-TQ": ("evouna-val", "evouna_tq"),
    "NQ301": ("nq301-val", "nq301"),
    "SemEval Beetle, new answers": ("semeval2013t7-val", "semeval_beetle"),
    "SemEval SciEntsBank, new answers": ("semeval2013t7-val", "semeval_scients"),
    "SemEval Beetle, unseen questions": ("semeval2013t7-val-unseen-questions", "semeval_beetle"),
    "SemEval SciEntsBank, unseen questions": ("semeval2013t7-val-unseen-questions", "semeval_scients"),
}


OWN = ("hand-a", "hand-c")
"""Answers as assistants write them, by hands that wrote no training row: what WRONG is worth is learnt from these."""
FACTORS = [number / 100 for number in range(5, 101)]
LEAST = 0.001
"""The least probability that is told from none."""
SURE = 0.9
"""The least probability of a sure verdict."""


def figures(chances: Sequence[float], labels: Sequence[int]) -> dict[str, float]:
    """Return accuracy, kappa, calibration error and the accuracy of the most confident 70 %.

    >>> figures([0.9, 0.8, 0.3, 0.6], [1, 1, 0, 0])["accuracy"]
    0.75
    """
    total = len(labels)
    pairs = sorted(zip(chances, labels, strict=True), key=lambda pair: -abs(pair[0] - 0.5))
    right = [(chance >= 0.5) == bool(label) for chance, label in pairs]
    sure = right[: int(0.7 * total)]
    accuracy = sum(right) / total
    said, true = sum(chance >= 0.5 for chance in chances) / total, sum(labels) / total
    by_chance = said * true + (1 - said) * (1 - true)
    return {
        "rows": total,
        "accuracy": round(accuracy, 4),
        "kappa": round((accuracy - by_chance) / (1 - by_chance), 4),
        "ece": round(_calibration_error(pairs), 4),
        "top70": round(sum(sure) / len(sure), 4),
    }


def _calibration_error(pairs: Sequence[tuple[float, int]], bins: int = 10) -> float:
    """Return the mean distance between probability and share of correct rows, over ten bins of equal width."""
    held: list[list[tuple[float, int]]] = [[] for _ in range(bins)]
    for pair in pairs:
        held[min(bins - 1, int(pair[0] * bins))].append(pair)
    gaps = (abs(sum(chance for chance, _ in one) - sum(label for _, label in one)) for one in held)
    return sum(gaps) / len(pairs)


def own() -> list[labelled.Row]:
    """Return the rows of `OWN`."""
    folder = Path(__file__).parent.parent / "benchmarks" / "agents"
    return [json.loads(line) for name in OWN for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def given(row: labelled.Row) -> tuple[str, tuple[str, ...], str]:
    """Return a row as it is assessed."""
    return row["question"], tuple(row["reference"]), row["candidate"]


def worth(found: Sequence[tuple[Assessment, int]]) -> float:
    """Return the factor of the log-odds of WRONG with which such probabilities fit their labels best."""
    chances = [(max(one.probability, LEAST), label) for one, label in found if not one.is_right]
    wrong = [(log(chance / (1 - chance)), label) for chance, label in chances]

    def loss(factor: float) -> float:
        return sum(log1p(exp(factor * odds)) - label * factor * odds for odds, label in wrong)

    return min(FACTORS, key=loss)


def elsewhere(assess_many: AssessMany) -> dict[str, Any]:
    """Return how a tier does on rows from other sources than training: calibration, sure verdicts, every reason.

    `ece` is without the error that chance alone gives: of each bin, the squared gap less the variance of its share.
    """
    rows = [*labelled.read("nq301-val"), *own()]
    found = assess_many([given(row) for row in rows])
    pairs = [(one.probability, row["label"]) for one, row in zip(found, rows, strict=True)]
    reasons: dict[str, dict[str, list[int]]] = {}
    for one, row in zip(found, rows, strict=True):
        kept = reasons.setdefault(one.reasons[0], {}).setdefault("CORRECT" if one.is_right else "WRONG", [0, 0])
        kept[0] += 1
        kept[1] += one.is_right == bool(row["label"])
    sure_right = [label for chance, label in pairs if chance >= SURE]
    sure_wrong = [label for chance, label in pairs if chance <= 1 - SURE]
    return {
        "rows": len(rows),
        "accuracy": round(sum((chance >= 0.5) == bool(label) for chance, label in pairs) / len(pairs), 4),
        "ece": round(_debiased_error(pairs), 4),
        "sure CORRECT": [len(sure_right), sum(sure_right)],
        "sure WRONG": [len(sure_wrong), len(sure_wrong) - sum(sure_wrong)],
        "reasons": {name: reasons[name] for name in sorted(reasons)},
    }


def _debiased_error(pairs: Sequence[tuple[float, int]], bins: int = 10) -> float:
    held: list[list[tuple[float, int]]] = [[] for _ in range(bins)]
    for pair in pairs:
        held[min(bins - 1, int(pair[0] * bins))].append(pair)
    total = 0.0
    for one in held:
        if len(one) > 1:
            share = sum(label for _, label in one) / len(one)
            gap = sum(chance for chance, _ in one) / len(one) - share
            total += len(one) * max(0.0, gap**2 - share * (1 - share) / (len(one) - 1)) ** 0.5
    return total / len(pairs)


def measure(probability: Probability) -> dict[str, dict[str, float]]:
    """Return the figures of a judge on every split, and on the rows that do not contain a reference."""
    found: dict[str, dict[str, float]] = {}
    for split, (name, source) in SPLITS.items():
        rows = [row for row in labelled.read(name) if row["source"] == source]
        chances = [probability(row) for row in rows]
        found[split] = figures(chances, [row["label"] for row in rows])
        if split.startswith("EVOUNA"):
            kept = [(chance, row) for chance, row in zip(chances, rows, strict=True) if not _contains(row)]
            found[f"{split}, not contained"] = figures([one for one, _ in kept], [row["label"] for _, row in kept])
    return found


def _contains(row: labelled.Row) -> bool:
    """Whether a reference stands in the candidate, as SQuAD's normalisation sees it."""
    from adjudge.text import normalise_answer

    candidate = f" {normalise_answer(row['candidate'])} "
    return any(f" {normalise_answer(one)} " in candidate for one in row["reference"])


def tier0(row: labelled.Row) -> float:
    """Return what tier 0 says."""
    from adjudge.judges.local._tier0 import assess_many

    return assess_many([given(row)])[0].probability


def tier1(row: labelled.Row) -> float:
    """Return what tier 1 says."""
    from adjudge.judges.local._tier1 import assess_many

    return assess_many([given(row)])[0].probability


def table(found: dict[str, dict[str, Any]]) -> str:
    """Return figures as a Markdown table."""
    lines = ["| rows | n | accuracy | kappa | ECE | most confident 70 % |", "|---|---|---|---|---|---|"]
    for split, one in found.items():
        cells = (f"{one['rows']:,}", f"{one['accuracy']:.1%}", f"{one['kappa']:.3f}", f"{one['ece']:.3f}")
        lines.append(f"| {split} | {' | '.join(cells)} | {one['top70']:.1%} |")
    return "\n".join(lines)


def write(record: dict[str, Any], path: Path) -> None:
    """Write the data file: one line for each part, so that a change can be seen."""
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(record[name], separators=(',', ':'))}" for name in record)
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
