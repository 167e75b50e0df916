"""Train the fusion of tier 1, words and encoders together, and say how good it is.

    python training/tier1.py                        writes src/adjudge/judges/local/tier1.json
    python training/tier1.py --without-share-alike  the same without the SemEval rows (CC-BY-SA)

Short answers: logistic regressions over tier 0's features, the reader's logit and, where no reference is contained, the
cosines. Statements: trees over features and logit. A labelled row's logit is that of a reader which was trained without
its question (training/data/reader-held-out.npz, from training/encoder.py); made rows have the shipped one's. Needs
scikit-learn, onnxruntime and tokenizers, no GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import measures
import rows as labelled
import synthetic
import tier0

from adjudge.judges.local._encoder import READER, SENTENCES, WORDS, logits
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import load_model

FOLDER = ROOT / "src" / "adjudge" / "judges" / "local"
WEIGHTS = ROOT / "packages" / "weights" / "adjudge_weights"
MODEL = FOLDER / "tier1.json"
HELD_OUT = labelled.DATA / "reader-held-out.npz"
DOUBT = {"share": 0.18, "words": 5, "references": 3}
CONTAINED = NAMES.index("contained")
PENALTY = {"contained": 1.0, "apart": 0.1}
"""The inverse of the penalty on weights."""
SIGNS = [0] * len(NAMES) + [1]
"""Which way values may speak in trees: a higher logit never speaks against a candidate."""

Array = tier0.Array


@dataclass
class Material:
    """Rows as numbers: `kind` is contained, apart or statements; cosines are there for those that are apart."""

    values: Array
    label: Array
    weight: Array
    group: Array
    kind: Array
    made: Array


def material(names: tuple[str, ...]) -> Material:
    """Return labelled rows, and made ones, which are all wrong."""
    kept = [(row, name in names) for name in labelled.TRAINING for row in labelled.read(name)]
    wanted = np.array([keep for _, keep in kept])
    rows = [row for row, keep in kept if keep]
    made = list(synthetic.make(rows, tier0.SEED))
    everything = rows + made
    read = [(row["question"], tuple(row["reference"]), row["candidate"]) for row in everything]
    values, statements = tier0.see(everything, dict(load_model().weights))
    if statements.sum() < tier0.FEW:  # without SemEval there are hardly any
        statements[:] = False
    kind = np.where(statements, "statements", np.where(values[:, CONTAINED] > 0, "contained", "apart"))
    held = np.load(HELD_OUT)["logits"][:, 0]
    held = held if len(held) == len(rows) else held[wanted]  # readers may have been trained without those rows, too
    logit = np.concatenate([held, [right for right, _ in logits(read[len(rows) :])]])
    near = np.zeros((len(read), len(COSINES)))
    apart = np.flatnonzero(kind == "apart")
    near[apart] = cosines([read[at] for at in apart])
    is_made = np.arange(len(read)) >= len(rows)
    return Material(
        np.column_stack([values, logit, near]),
        np.array([row["label"] for row in everything]),
        np.where(is_made, tier0.MADE_WEIGHT, 1.0),
        np.unique([row["question"] for row in everything], return_inverse=True)[1],
        kind,
        is_made,
    )


@dataclass
class Sum:
    """A fitted weighted sum of plain values."""

    weights: Array
    start: float

    def decision_function(self, values: Array) -> Array:
        """Return log-odds."""
        return values @ self.weights + self.start

    def exported(self, scale: float, shift: float) -> dict[str, Any]:
        """Return it as plain data, calibrated."""
        weights = [float(f"{scale * one:.6g}") for one in self.weights]
        return {"start": round(scale * self.start + shift, 6), "weights": weights}


def fit_sum(kind: str, values: Array, labels: Array, weight: Array) -> Sum:
    """Fit a logistic regression on standardised values."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    line = LogisticRegression(C=PENALTY[kind], max_iter=5000)
    line.fit((values - mean) / spread, labels, sample_weight=weight)
    weights = line.coef_[0] / spread
    return Sum(weights, float(line.intercept_[0] - weights @ mean))


def fit(kind: str, values: Array, labels: Array, weight: Array) -> Sum | tier0.Forest:
    """Fit what a kind of rows is weighed with."""
    if kind == "statements":
        return tier0.fit(kind, values, labels, weight, SIGNS)
    return fit_sum(kind, values, labels, weight)


def learn(kind: str, given: Material) -> dict[str, Any]:
    """Return what is learnt from one kind of rows; scale and shift come from questions that the fit has not seen."""
    chosen = given.kind == kind
    width = len(SIGNS) + (len(COSINES) if kind == "apart" else 0)
    values, labels, weight = given.values[chosen, :width], given.label[chosen], given.weight[chosen]
    odds = np.zeros(len(labels))
    for train, held in GroupKFold(5).split(values, labels, given.group[chosen]):
        odds[held] = fit(kind, values[train], labels[train], weight[train]).decision_function(values[held])
    real = ~given.made[chosen]
    line = LogisticRegression(C=1e6).fit(odds[real, None], labels[real])
    print(f"{kind}: {((odds > 0) == labels)[real].mean():.4f} right of {real.sum()} rows of unseen questions")
    scale, shift = round(float(line.coef_[0, 0]), 4), round(float(line.intercept_[0]), 4)
    return fit(kind, values, labels, weight).exported(scale, shift)


def train(names: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that is learnt."""
    given = material(names)
    record: dict[str, Any] = {"names": [*NAMES, "reader", *COSINES], "doubt": DOUBT}
    record |= {kind: learn(kind, given) for kind in ("contained", "apart")}
    has_statements = bool((given.kind == "statements").any())
    record["statements"] = (
        learn("statements", given) if has_statements else {"start": 0, "scale": 0, "shift": 0, "trees": []}
    )
    parts = (HELD_OUT, *(WEIGHTS / name for name in (READER, SENTENCES, WORDS)))
    record["card"] = {
        "seed": tier0.SEED,
        "command": "python training/tier1.py",
        "scikit-learn": sklearn.__version__,
        "training": {name: labelled.digest(name) for name in names},
        "rows": {"labelled": int((~given.made).sum()), "made": int(given.made.sum())},
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in parts},
    }
    return record


def main() -> None:
    """Train, write the data file, and measure it on the validation files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-share-alike", action="store_true", help="leave the SemEval rows out")
    parser.add_argument("--out", type=Path, default=MODEL)
    options = parser.parse_args()
    left_out = labelled.SHARE_ALIKE if options.without_share_alike else ()
    record = train(tuple(name for name in labelled.TRAINING if name not in left_out))
    if left_out:
        record["card"]["command"] += " --without-share-alike"
    tier0.write(record, options.out)
    if options.out == MODEL:
        record["card"]["validation"] = measures.measure(measures.tier1)
        tier0.write(record, options.out)
        print(measures.table(record["card"]["validation"]))


if __name__ == "__main__":
    main()
