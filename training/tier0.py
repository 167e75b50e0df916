"""Train tier 0 of the local judge, and say how good it is.

    python training/tier0.py                        writes src/adjudge/judges/local/tier0.json
    python training/tier0.py --without-share-alike  the same without the SemEval rows (CC-BY-SA)

Needs scikit-learn (training/requirements.txt). The same rows, seed and versions give the same file.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import measures
import mentions
import rows as labelled
import synthetic

from adjudge.judges.local._aliases import as_meant, rewritten
from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._features import NAMES, observe
from adjudge.judges.local._mentions import MENTIONED
from adjudge.judges.local._model import load_model
from adjudge.judges.local._pair import Candidate, prepare, read_question
from adjudge.judges.local._tier0 import assess, assess_many, how_wrong
from adjudge.judges.local._tiers import Assessment
from adjudge.judges.local._words import stem, words

MODEL = ROOT / "src" / "adjudge" / "judges" / "local" / "tier0.json"
SEED = 20130726
FEW = 1000  # statements that are too few to learn from alone
MADE_WEIGHT = 0.4  # of a made row, where a labelled one has 1
HOME_WEIGHT = 0.15  # of a mention in trivia or in a made row, where one in an assistant's answer has 1
RARE = 3  # questions in which a stem must occur to have a weight of its own
SIZES = ("short", "longer")
EVEN = {f"{who}, {size}": 1.0 for who in ("rule", "model") for size in SIZES}
ENOUGH = 20  # verdicts from which a factor of their own is learnt
DOUBT = {"share": 0.12, "words": 5}

MORE = (
    "exact contained bare full recall new_recall f1 fuzzy trigram reverse number_match date_match acronym glued members"
    " in_first bigrams"
).split()
LESS = (
    "missing missing_weight number_clash date_clash refusal hedges negated hedged rivals capitals foreign foreign_share"
    " clash near_name"
).split()
SETTINGS: dict[str, dict[str, Any]] = {
    "phrases": {"max_iter": 60, "learning_rate": 0.12, "max_leaf_nodes": 8, "min_samples_leaf": 30},
    "mentions": {
        "max_iter": 100, "learning_rate": 0.1, "max_leaf_nodes": 6, "min_samples_leaf": 20, "max_features": 0.5
    },
    "statements": {
        "max_iter": 25, "learning_rate": 0.18, "max_leaf_nodes": 6, "min_samples_leaf": 40, "max_features": 0.5
    },
}  # fmt: skip
TIMES = {
    "phrases": 1,
    "mentions": 1,
    "statements": 5,
}  # sets of trees whose mean is taken: few questions make one set unsteady

Array = np.ndarray[Any, Any]


def weights_of(rows: list[labelled.Row]) -> dict[str, int]:
    """Return the inverse document frequency of each stem, in hundredths: sums are then exact, in any order.

    A document is all that is said about one question.
    """
    said: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        for text in (row["question"], *row["reference"][:8], row["candidate"]):
            said[row["question"]].update(map(stem, words(text)))
    counts = Counter(one for stems in said.values() for one in stems)
    total = len(said) + 1
    kept = {one: round(100 * math.log(total / (n + 0.5))) for one, n in sorted(counts.items()) if n >= RARE}
    return {"": round(100 * math.log(total / 1.5)), **kept}


def see(rows: list[labelled.Row], weights: dict[str, int]) -> tuple[Array, Array]:
    """Return the features of rows, and whether their references are statements.

    Mentions are read by what was learnt from other questions.
    """
    values, statements = [], []
    for row in rows:
        asked, prepared = read_question(row["question"]), prepare(tuple(row["reference"]))
        candidate = rewritten(asked, prepared, as_meant(prepared, Candidate(answer_of(row["candidate"]))))
        cues = mentions.models()[mentions.fold_of(row["question"])]
        values.append(observe(asked, prepared, candidate, (weights, cues)).values)
        statements.append(prepared.explains)
    return np.array(values), np.array(statements)


@dataclass(frozen=True, slots=True)
class Forest:
    """Fitted sets of trees, of which the mean counts."""

    sets: tuple[HistGradientBoostingClassifier, ...]

    def decision_function(self, values: Array) -> Array:
        """Return log-odds."""
        return np.asarray(np.mean([one.decision_function(values) for one in self.sets], axis=0))

    def exported(self, scale: float, shift: float) -> dict[str, Any]:
        """Return it as plain data."""
        times = len(self.sets)
        stages = [stage for one in self.sets for stage in one._predictors]  # noqa: SLF001 (there is no public way)
        start = float(np.ravel(self.sets[0]._baseline_prediction)[0])  # noqa: SLF001
        trees = [_node(stage[0].nodes, 0, times) for stage in stages]
        return {"start": round(start, 5), "scale": scale, "shift": shift, "trees": trees}


def fit(kind: str, values: Array, labels: Array, weight: Array, signs: list[int] | None = None) -> Forest:
    """Fit the trees of one kind; `signs` say which values can only speak for an answer, and which only against it."""
    signs = [int(name in MORE) - int(name in LESS) for name in NAMES] if signs is None else signs
    models = [
        HistGradientBoostingClassifier(
            **SETTINGS[kind], l2_regularization=5, early_stopping=False, random_state=SEED + at, monotonic_cst=signs
        )
        for at in range(TIMES[kind])
    ]
    return Forest(tuple(model.fit(values, labels, sample_weight=weight) for model in models))


def calibrate(
    kind: str, values: Array, labels: Array, weight: Array, groups: Array, made: Array, signs: list[int] | None = None
) -> tuple[float, float]:
    """Return scale and shift of the log-odds, fitted on labelled rows of questions that the trees have not seen."""
    odds = np.zeros(len(labels))
    for train, held in GroupKFold(5).split(values, labels, groups):
        odds[held] = fit(kind, values[train], labels[train], weight[train], signs).decision_function(values[held])
    line = LogisticRegression(C=1e6).fit(odds[~made, None], labels[~made], sample_weight=weight[~made])
    return round(float(line.coef_[0, 0]), 4), round(float(line.intercept_[0]), 4)


def _node(nodes: Array, at: int, times: int) -> Any:
    node = nodes[at]
    if node["is_leaf"]:
        return round(float(node["value"]) / times, 5)
    threshold = float(f"{float(node['num_threshold']):.9g}")
    left, right = (_node(nodes, int(node[side]), times) for side in ("left", "right"))
    return [int(node["feature_idx"]), threshold, left, right]


def train(names: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that is learnt from these files."""
    rows = [row for name in names for row in labelled.read(name)]
    weights = weights_of(rows)
    made = list(synthetic.make(rows, SEED))
    answers = [row for name in mentions.ASSISTANTS for row in labelled.assistants(name)]
    everything = rows + made + answers
    values, statements = see(everything, weights)
    labels = np.array([row["label"] for row in everything])
    is_made = np.array([False] * len(rows) + [True] * len(made) + [False] * len(answers))
    is_home = np.arange(len(everything)) < len(rows) + len(made)
    groups = np.unique([row["question"] for row in everything], return_inverse=True)[1]
    cues = mentions.models()[-1]
    record: dict[str, Any] = {
        "names": list(NAMES), "doubt": DOUBT, "earned": EVEN, "weights": weights, "cues": cues.says,
        "words": sorted(cues.known),
    }  # fmt: skip
    mentioned = ~statements & (values[:, NAMES.index("mentions")] > 0)
    if statements[is_home].sum() < FEW:  # without SemEval there are hardly any
        statements[:] = True
    home_weight = np.where(is_made, MADE_WEIGHT, 1.0)
    phrases = ~statements if not statements.all() else statements
    plain = values.copy()
    plain[:, -len(MENTIONED) :] = 0  # no tree can look at what is the same everywhere
    for kind, seen, chosen, weight in (
        ("phrases", plain, phrases & is_home, home_weight),
        ("mentions", values, mentioned, np.where(is_home, HOME_WEIGHT, 1.0)),
        ("statements", plain, statements & is_home, home_weight),
    ):
        part = (seen[chosen], labels[chosen], weight[chosen])
        signs = [int(name == "cue") for name in NAMES] if kind == "mentions" else None
        scale, shift = calibrate(kind, *part, groups[chosen], is_made[chosen], signs)
        record[kind] = fit(kind, *part, signs).exported(scale, shift)
    counts = Counter(row["made"] for row in made)
    record["card"] = {
        "seed": SEED,
        "command": "python training/tier0.py",
        "scikit-learn": sklearn.__version__,
        "training": {name: labelled.digest(name) for name in (*names, *mentions.ASSISTANTS)},
        "rows": {
            "labelled": len(rows),
            "assistants": len(answers),
            **{f"made: {name}": n for name, n in sorted(counts.items())},
        },
    }
    return record


def main() -> None:
    """Train, write the data file, and measure it on the validation files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-share-alike", action="store_true", help="leave the SemEval rows out")
    parser.add_argument("--out", type=Path, default=MODEL)
    options = parser.parse_args()
    left_out = labelled.SHARE_ALIKE if options.without_share_alike else ()
    names = tuple(name for name in labelled.TRAINING if name not in left_out)
    record = train(names)
    if left_out:
        record["card"]["command"] += " --without-share-alike"
    measures.write(record, options.out)
    if options.out == MODEL:
        finish(record)


def finish(record: dict[str, Any]) -> None:
    """Learn what WRONG is worth, by the file that is written, and measure all on validation rows and on others."""
    load_model.cache_clear()
    own = measures.own()
    found = [(assess(*measures.given(row)), row) for row in own]
    record["earned"] = {
        f"{who}, {size}": measures.worth(alike(found, who, size)) for who in ("rule", "model") for size in SIZES
    }
    measures.write(record, MODEL)
    load_model.cache_clear()
    record["card"]["validation"] = measures.measure(measures.tier0)
    record["card"]["elsewhere"] = measures.elsewhere(assess_many)
    measures.write(record, MODEL)
    print(measures.table(record["card"]["validation"]))
    print(json.dumps(record["card"]["elsewhere"], indent=1))


def alike(found: list[tuple[Assessment, labelled.Row]], who: str, size: str) -> list[tuple[Assessment, int]]:
    """Return the verdicts of one kind with their labels; where they are few, all on responses of that length."""
    wrong = [(one, row["label"], how_wrong(one, row["candidate"])) for one, row in found if not one.is_right]
    chosen = [(one, label) for one, label, how in wrong if how == f"{who}, {size}"]
    return chosen if len(chosen) >= ENOUGH else [(one, label) for one, label, how in wrong if how.endswith(size)]


if __name__ == "__main__":
    main()
