"""How near a candidate is to its references in meaning: cosines of the sentence encoder, of whole texts and of tokens.

Words that nobody has labelled together can still mean the same; the encoder has read more than the labelled rows.
Needs `adjudge[local]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.judges.local._encoder import Row, ids_of, tokens_of
from adjudge.judges.local._sequence import (
    CLS,
    KEPT,
    LONGEST_CANDIDATE,
    LONGEST_QUESTION,
    LONGEST_REFERENCE,
    SEP,
    cut,
    nearest,
    plain,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_OF_TEXTS = ("asked", "best", "mean", "first", "reference_asked")
_OF_TOKENS = ("found", "found_first", "least", "window", "window_first", "covered", "covered_new", "covered_asked")
COSINES = (
    *(f"text_{name}" for name in _OF_TEXTS),
    *(f"second_{name}" for name in _OF_TOKENS),
    *(f"last_{name}" for name in _OF_TOKENS),
)
"""What is measured; `last` and `second` are the layers whose tokens are compared."""

_CHUNK = 32  # rows whose tokens are held at once
_KEPT = 512  # texts whose tokens are kept: questions and references come again


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A text as the encoder sees it: one vector of length 1, and two for each token."""

    whole: Array
    layers: tuple[Array, Array]


_kept: dict[str, _Meaning] = {}


def cosines(rows: Sequence[Row]) -> list[tuple[float, ...]]:
    """Return for each row the values that `COSINES` names."""
    found: list[tuple[float, ...]] = []
    for start in range(0, len(rows), _CHUNK):
        read = [_texts(row) for row in rows[start : start + _CHUNK]]
        known = _meanings({**dict(text for one in read for text in one)})
        for one in read:
            asked, candidate, *references = (known[text] for text, _ in one)
            found.append(_compared(asked, references, candidate))
    return found


def _texts(row: Row) -> list[tuple[str, int]]:
    """Return the texts of a row with the tokens that are read of each: question, candidate, references."""
    question, references, candidate = row
    said = plain(candidate)
    golds = nearest([plain(one) for one in references], said)
    return [
        (plain(question), LONGEST_QUESTION),
        (said, LONGEST_CANDIDATE),
        *((gold, LONGEST_REFERENCE) for gold in golds),
    ]


def _meanings(texts: dict[str, int]) -> dict[str, _Meaning]:
    """Return what each text means to the encoder."""
    known = {text: _kept[text] for text in texts if text in _kept}
    new = [text for text in texts if text not in known]
    read = tokens_of([[CLS, *cut(ids_of(text), texts[text]), SEP] for text in new])
    for text, layers in zip(new, read, strict=True):
        second, last = layers
        known[text] = _Meaning(_unit(last.mean(0)), (second[1:-1], last[1:-1]))
        # Candidates rarely come again, questions and references do.
        if texts[text] != LONGEST_CANDIDATE and len(text) <= KEPT:
            if len(_kept) >= _KEPT:
                _kept.clear()
            _kept[text] = known[text]
    return known


def _unit(vectors: Array) -> Array:
    import numpy as np

    unit: Array = vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1, keepdims=True)), 1e-9)
    return unit


def _compared(asked: _Meaning, references: Sequence[_Meaning], candidate: _Meaning) -> tuple[float, ...]:
    near = [float(one.whole @ candidate.whole) for one in references]
    texts = [
        float(asked.whole @ candidate.whole),
        max(near),
        sum(near) / len(near),
        near[0],
        max(float(one.whole @ asked.whole) for one in references),
    ]
    for at in range(2):
        texts += _aligned(asked.layers[at], [one.layers[at] for one in references], candidate.layers[at])
    return tuple(texts)


def _aligned(asked: Array, references: Iterable[Array], candidate: Array) -> list[float]:
    """Compare tokens: how well each of a reference is found in the candidate, and the other way round."""
    import numpy as np

    if not len(candidate):
        return [0.0] * len(_OF_TOKENS)
    said = _unit(candidate)
    # What the question says already is not news in the candidate.
    known = (said @ _unit(asked).T).max(1) if len(asked) else np.zeros(len(said), said.dtype)
    fresh = 1 - known
    # With running sums the mean of every window costs one subtraction.
    sums = np.concatenate([np.zeros_like(candidate[:1]), candidate.cumsum(0)])
    rows = []
    for gold in references:
        if not len(gold):
            rows.append([0.0] * 5)
            continue
        match = _unit(gold) @ said.T
        found, covered = match.max(1), match.max(0)
        size = min(len(gold), len(candidate))
        window = (_unit(sums[size:] - sums[:-size]) @ _unit(gold.mean(0))).max()
        new = (covered * fresh).sum() / max(float(fresh.sum()), 1e-3)
        rows.append([float(one) for one in (found.mean(), found.min(), window, covered.mean(), new)])
    found_, least, window_, covered_, new_ = (max(column) for column in zip(*rows, strict=True))
    return [found_, rows[0][0], least, window_, rows[0][2], covered_, new_, float(known.mean())]
