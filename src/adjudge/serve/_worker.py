"""The inside of a scoring process: rows as JSON in, scores as JSON out.

    score(("qa_f1_reward", "row", [(0, [b'{"final_response": "Paris", "answer": "Paris"}'])]))
        {"scores": [b'{"value":1.0,"status":"scored",...}'], "codes": {"scored ": 1}}

A job is made of pieces, each the rows of one request or some of them. It gives back what it has done after a while, so
that a few slow rows neither hold up the others nor look like a worker that hangs; the rest is asked for again.
"""

import time
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from adjudge.datasets import json_line
from adjudge.errors import Caught, RowError
from adjudge.model import Score, decode_json
from adjudge.rewards import Row, Scorer, get_scorer
from adjudge.serve._shapes import Shape, row_of

ENOUGH_S = 0.5  # seconds after which a job gives back what it has done
LIGHT = "adjudge.rewards.qa"
LIGHT_BYTES = 1 << 15  # a millisecond, or some 40 where nearly all of it are accepted answers
QUICK_S = 0.02  # a slice that took less may be followed by a larger one

Rows: TypeAlias = Sequence[tuple[int, bytes]]
"""Rows as JSON, each with its place in its request, by which messages call it."""

Job: TypeAlias = tuple[str, Shape, Sequence[tuple[int, Sequence[bytes]]]]
"""A scorer's name, the shape of its rows, and the pieces, each with the place of its first row."""


def is_light(scorer: Scorer) -> bool:
    """Return whether a few rows are scored where they are: asking a process about them would cost more than they do.

    Only rules of ours whose time is known to grow as the text does; whatever can hang needs a process.
    """
    return getattr(getattr(scorer, "function", None), "__module__", None) == LIGHT


def score(job: Job) -> dict[str, Any]:
    """Score the rows of a job, or the first of them; a job without pieces starts what heavy rows need."""
    name, shape, given = job
    scorer = _scorer(name)
    if not given:
        scorer.warm_up()
    pieces = [list(enumerate(rows, first)) for first, rows in given]
    # Which parts a score has may depend on the rows beside it: on those of its own request alone.
    if scorer.parts is not None and not scorer.is_group:
        pieces = [[row for piece in pieces for row in piece]]
    scores: list[bytes] = []
    codes: Counter[str] = Counter()
    started = began = time.monotonic()
    size = 1
    for piece in pieces:
        at = 0
        while at < len(piece):
            if began - started > ENOUGH_S and not scorer.is_group:
                return {"scores": scores, "codes": dict(codes)}
            # Small at first: whether rows are slow shows when some have been scored.
            end = len(piece) if scorer.is_group else at + size
            scores += score_rows(scorer, shape, piece[at:end], codes)
            ended = time.monotonic()
            size, began = (size * 2 if ended - began < QUICK_S else 1), ended
            at = end
    return {"scores": scores, "codes": dict(codes)}


def score_rows(scorer: Scorer, shape: Shape, rows: Rows, codes: Counter[str]) -> list[bytes]:
    """Return the scores of rows as JSON, and add to the counts of their codes."""
    scores = _score_rows(scorer, shape, rows)
    for found in scores:
        codes[code_of(found)] += 1
    return [as_json(found) for found in scores]


@lru_cache(maxsize=64)
def _scorer(name: str) -> Scorer:
    return get_scorer(name)


def _score_rows(scorer: Scorer, shape: Shape, given: Rows) -> list[Score]:
    """Score rows in order; what cannot be read as a row is an error in its place."""
    rows: list[Row] = []
    faults: dict[int, str] = {}
    for index, (_, text) in enumerate(given):
        fault, row = read_row(text, shape)
        if fault is None and scorer.is_group and row.get("group_id") is None:
            fault = f"missing-column: {scorer.name} looks at all rollouts of one prompt: give the row a 'group_id'"
        if fault is None:
            rows.append(row)
        else:
            faults[index] = fault
    labels = [place for index, (place, _) in enumerate(given) if index not in faults]
    scores = scorer.score_many(rows, labels=labels)
    if not faults:
        return scores
    rest = iter(scores)
    return [failed(scorer, faults[index]) if index in faults else next(rest) for index in range(len(given))]


def read_row(text: bytes, shape: Shape) -> tuple[str | None, Row]:
    """Read a row; return why it cannot be one, or None."""
    with Caught() as caught:
        row = decode_json(text)
        if not isinstance(row, dict):
            raise RowError(f"a row must be an object, got {type(row).__name__}")
        return None, row if shape == "row" else row_of(shape, row)
    return caught.reason, {}


def failed(scorer: Scorer, reason: str) -> Score:
    """Return the error of a row that the scorer was not asked about."""
    return Score.error(reason, parts=dict.fromkeys(scorer.parts or ()), provenance=scorer.provenance)


def code_of(score: Score) -> str:
    """Return what a score is counted as: its status and, where it has no number, the code of its reason."""
    return "scored " if score.value is not None else f"{score.status} {str(score.reason).partition(':')[0]}"


def as_json(score: Score) -> bytes:
    """Return a score as a reply has it."""
    row = {"value": score.value, "status": score.status, "reason": score.reason, "parts": score.parts}
    return json_line(row, checked=True)[:-1]


def with_same_parts(scores: Sequence[bytes]) -> list[bytes]:
    """Give all scores of a request the same parts, as `score_many` does; the missing ones are None."""
    found = [decode_json(score) for score in scores]
    names = dict.fromkeys(name for score in found for name in score["parts"])
    return [
        text if len(score["parts"]) == len(names) else json_line({**score, "parts": {**names, **score["parts"]}})[:-1]
        for text, score in zip(scores, found, strict=True)
    ]
