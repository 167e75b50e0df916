"""How a mention of a reference is read by tier 0, learnt from its cues: logistic regression (a part of tier0.py).

In an assistant's answer it is known what is asserted. So its references are examples, and what it asserts instead is
one of an answer; what another response to the same question asserts wrongly is one of something else. In trivia a
mention counts little: nearly all are answers there.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import rows as labelled

from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._limits import LEAST
from adjudge.judges.local._mentions import Cues, cues_of, places, read_response
from adjudge.judges.local._pair import Candidate, read_question
from adjudge.judges.local._words import stems_of

ASSISTANTS = ("agents", "agents-fusion")
FOLDS = 5
STRENGTH = 0.2  # of the fit: the larger, the less weights are held near zero
KNOWN = 8  # responses of assistants in which a word must occur to be told from others
RARE = 8  # mentions that must have a cue
LOW = 0.02  # the least weight that is written
WEIGHT = {"reference": 1.0, "asserted": 0.4, "elsewhere": 0.4, "trivia": 0.02, "trivia, wrong": 0.12}


@dataclass(frozen=True, slots=True)
class Mention:
    """A text of which a response has one or more mentions, and whether it is the answer."""

    question: str
    response: str
    wanted: tuple[str, ...]  # stems
    label: int
    kind: str


def of_assistants() -> Iterator[Mention]:
    """Yield what responses of assistants mention."""
    for name in ASSISTANTS:
        for one in labelled.read(name):
            asserted = {said["asserted"] for said in one["responses"] if said["asserted"] and not said["right"]}
            for said in one["responses"]:
                for reference in one["reference"]:
                    yield _mention(one["question"], said["text"], reference, int(said["right"]), "reference")
                own = said["asserted"]
                if own:
                    yield _mention(one["question"], said["text"], own, 1, "asserted")
                for other in sorted(asserted):
                    if own and not _overlap(own, other):
                        yield _mention(one["question"], said["text"], other, 0, "elsewhere")


def of_trivia() -> Iterator[Mention]:
    """Yield the references of labelled rows that are longer."""
    for row in labelled.read("evouna-train"):
        if len(row["candidate"].split()) > LEAST:
            kind = "trivia" if row["label"] else "trivia, wrong"
            yield _mention(row["question"], row["candidate"], row["reference"][0], row["label"], kind)


def _mention(question: str, response: str, text: str, label: int, kind: str) -> Mention:
    return Mention(question, Candidate(answer_of(response)).text, tuple(stems_of(text)), label, kind)


def _overlap(one: str, other: str) -> bool:
    return one.lower() in other.lower() or other.lower() in one.lower()


def known_words(mentions: Sequence[Mention]) -> frozenset[str]:
    """Return the words that enough responses of assistants have."""
    texts = {one.response for one in mentions if not one.kind.startswith("trivia")}
    counts = Counter(word for text in texts for word in set(stems_of(text, without=frozenset())))
    return frozenset(word for word, count in counts.items() if count >= KNOWN and not word[0].isdigit())


def learn(mentions: Sequence[Mention]) -> Cues:
    """Return what was learnt from mentions."""
    known = known_words(mentions)
    found, labels, weights = [], [], []
    for one in mentions:
        read = read_response(one.response, read_question(one.question).content, known)
        spans = list(places(read, one.wanted)) if one.wanted else []
        for span in spans:
            found.append(dict.fromkeys(sorted(cues_of(read, span)), 1.0))
            labels.append(one.label)
            weights.append(WEIGHT[one.kind] / len(spans))
    table = DictVectorizer()
    values = table.fit_transform(found)
    names = table.get_feature_names_out()
    kept = np.flatnonzero(np.asarray((values > 0).sum(axis=0)).ravel() >= RARE)
    model = LogisticRegression(C=STRENGTH, max_iter=500).fit(values[:, kept], labels, sample_weight=weights)
    said = zip(names[kept], model.coef_[0], strict=True)
    return Cues({str(name): round(1000 * float(weight)) for name, weight in said if abs(weight) >= LOW}, known)


@cache
def models() -> tuple[Cues, ...]:
    """Return a model for each fold of questions, learnt from the others, and last the one of all."""
    given = [*of_assistants(), *of_trivia()]
    parts = [[one for one in given if fold_of(one.question) != fold] for fold in range(FOLDS)]
    return tuple(learn(part) for part in [*parts, given])


def fold_of(question: str) -> int:
    """Return the fold of a question."""
    return sum(question.encode()) % FOLDS
