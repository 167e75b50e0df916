"""Train the fusion of tier 1, words and encoders together, and say how good it is.

    python training/tier1.py                        writes src/adjudge/judges/local/tier1.json
    python training/tier1.py --without-share-alike  the same without the SemEval rows (CC-BY-SA)

Trees over tier 0's features, the judge's logits, what is made of the reader's assertion and, where no reference is
contained, the cosines; one set for references that are contained, one for those that are not, one for statements. What
the encoders say of a labelled row, or of an assistant's answer, is what those said that were trained without its
question (training/data/judge-held-out.npz and spans-held-out.npz, from training/encoder.py). Made rows, and answers of
assistants that no encoder was trained on, have what the shipped ones say. Needs scikit-learn, onnxruntime and
tokenizers, no GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
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

from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._encoder import JUDGE, SENTENCES, SPANS, WORDS, logits
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import load_fusion, load_model
from adjudge.judges.local._reader import SAID, Asserted, asserted_by, encode, read_many
from adjudge.judges.local._sequence import plain
from adjudge.judges.local._tier1 import assess_many, said_values

WEIGHTS = ROOT / "packages" / "weights" / "adjudge_weights"
FOLDER = ROOT / "src" / "adjudge" / "judges" / "local"
MODEL = FOLDER / "tier1.json"
JUDGED, READ = (labelled.DATA / f"{name}-held-out.npz" for name in ("judge", "spans"))
CONTAINED = NAMES.index("contained")
DOUBT = {"share": 0.18, "words": 5, "references": 3}
"""Of a short answer that is called wrong: in other sets people accept more of those."""
AGENTS_WEIGHT = 2.0
"""Of an assistant's answer, where a labelled row has 1 and a made one MADE_WEIGHT."""
UP = ("judge", "said_belief", "said_odds")
"""Values that never speak against a candidate."""

Array = tier0.Array
Row = labelled.Row


@dataclass
class Material:
    """Rows as numbers: `kind` is contained, apart or statements; cosines are there for those that are apart."""

    values: Array
    label: Array
    weight: Array
    group: Array
    kind: Array
    made: Array


def held_out(rows: Sequence[Row], folds: Any) -> list[Asserted]:
    """Return what each row asserts by the reader that had not seen its question."""
    found: list[Any] = [None] * len(rows)
    for name in folds:
        if not name.endswith(".which"):
            continue
        ends, start = folds[name.replace(".which", ".logits")].astype(np.float32), 0
        for at in folds[name]:
            text = plain(rows[at]["candidate"])
            read = encode(plain(rows[at]["question"]), text)
            found[at] = asserted_by(text, read, ends[start : start + len(read.tokens)])
            start += len(read.tokens)
        if start != len(ends):
            raise SystemExit(f"{READ.name} belongs to other rows: run training/encoder.py again")
    return found


def material(names: tuple[str, ...]) -> Material:
    """Return labelled rows, assistants' answers, and made rows, which are all wrong."""
    known = [(row, name in names) for name in labelled.TRAINING for row in labelled.read(name)]
    known += [(row, True) for row in labelled.assistants("agents")]
    judged = np.load(JUDGED)["logits"].astype(np.float64)
    if len(judged) < len(known):  # the encoders were trained without those rows, too
        known = [(row, keep) for row, keep in known if keep]
    asserted = held_out([row for row, _ in known], np.load(READ))
    wanted = [at for at, (_, keep) in enumerate(known) if keep]
    rows = [known[at][0] for at in wanted]
    made = list(synthetic.make([row for row in rows if "source" in row], tier0.SEED))
    # Nothing of these was seen by any encoder: the shipped ones' logits are honest.
    unseen = labelled.assistants("agents-fusion") + made
    everything = rows + unseen
    read = [(row["question"], tuple(row["reference"]), answer_of(row["candidate"])) for row in everything]
    said = [asserted[at] for at in wanted] + read_many([(question, text) for question, _, text in read[len(rows) :]])
    values, statements = tier0.see(everything, dict(load_model().learnt[0]))
    if statements.sum() < tier0.FEW:  # without SemEval there are hardly any
        statements[:] = False
    kind = np.where(statements, "statements", np.where(values[:, CONTAINED] > 0, "contained", "apart"))
    near = np.zeros((len(read), len(COSINES)))
    apart = np.flatnonzero(kind == "apart")
    near[apart] = cosines([read[at] for at in apart])
    weight = [1.0 if "source" in row else AGENTS_WEIGHT for row in everything]
    weight[len(weight) - len(made) :] = [tier0.MADE_WEIGHT] * len(made)
    return Material(
        np.column_stack(
            [
                values,
                np.concatenate([judged[wanted], logits(read[len(rows) :])]),
                [said_values(row, one) for row, one in zip(read, said, strict=True)],
                near,
            ]
        ),
        np.array([row["label"] for row in everything]),
        np.array(weight),
        np.unique([row["question"] for row in everything], return_inverse=True)[1],
        kind,
        np.arange(len(read)) >= len(read) - len(made),
    )


def learn(kind: str, given: Material) -> dict[str, Any]:
    """Return what is learnt from one kind of rows; scale and shift come from questions that the fit has not seen."""
    chosen = given.kind == kind
    names = [*NAMES, "judge", "trick", *SAID, *(COSINES if kind == "apart" else ())]
    signs = [int(name in UP) for name in names]
    values, labels, weight = given.values[chosen, : len(names)], given.label[chosen], given.weight[chosen]
    shape = "statements" if kind == "statements" else "phrases"
    odds = np.zeros(len(labels))
    for train, held in GroupKFold(5).split(values, labels, given.group[chosen]):
        odds[held] = tier0.fit(shape, values[train], labels[train], weight[train], signs).decision_function(
            values[held]
        )
    real = ~given.made[chosen]
    line = LogisticRegression(C=1e6).fit(odds[real, None], labels[real], sample_weight=weight[real])
    print(f"{kind}: {((odds > 0) == labels)[real].mean():.4f} right of {real.sum()} rows of unseen questions")
    scale, shift = round(float(line.coef_[0, 0]), 4), round(float(line.intercept_[0]), 4)
    return tier0.fit(shape, values, labels, weight, signs).exported(scale, shift)


def train(names: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that is learnt."""
    given = material(names)
    record: dict[str, Any] = {"names": [*NAMES, "judge", "trick", *SAID, *COSINES], "doubt": DOUBT, "earned": 1.0}
    for kind in ("contained", "apart", "statements"):
        has_any = bool((given.kind == kind).any())
        record[kind] = learn(kind, given) if has_any else {"start": 0, "scale": 0, "shift": 0, "trees": []}
    parts = (JUDGED, READ, *(WEIGHTS / name for name in (JUDGE, SPANS, SENTENCES, WORDS)))
    record["card"] = {
        "seed": tier0.SEED,
        "command": "python training/tier1.py",
        "scikit-learn": sklearn.__version__,
        "training": {name: labelled.digest(name) for name in (*names, "agents", "agents-fusion")},
        "encoders": {name: labelled.digest(name) for name in ("agents", "spans", "breaking-nli")},
        "rows": {
            "labelled": int((~given.made & (given.weight == 1)).sum()),
            "agents": int((given.weight == AGENTS_WEIGHT).sum()),
            "made": int(given.made.sum()),
        },
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
    measures.write(record, options.out)
    if options.out == MODEL:
        finish(record)


def finish(record: dict[str, Any]) -> None:
    """Learn what WRONG is worth, by the file that is written, and measure all on validation rows and on others."""
    own = measures.own()
    found = assess_many([measures.given(row) for row in own])
    record["earned"] = measures.worth([(one, row["label"]) for one, row in zip(found, own, strict=True)])
    measures.write(record, MODEL)
    load_fusion.cache_clear()
    record["card"]["validation"] = measures.measure(measures.tier1)
    record["card"]["elsewhere"] = measures.elsewhere(assess_many)
    measures.write(record, MODEL)
    print(measures.table(record["card"]["validation"]))
    print(json.dumps(record["card"]["elsewhere"], indent=1))


if __name__ == "__main__":
    main()
