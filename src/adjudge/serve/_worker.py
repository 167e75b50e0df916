"""The inside of a scoring process: rows as JSON in, scores as JSON out.

    score(("qa_f1_reward", "row", False, [[b'{"final_response": "Paris", "answer": "Paris"}']]))
        {"scores": [b'{"value":1.0,"status":"scored",...}'], "codes": {"scored ": 1}}

A job is made of pieces, each the rows of one request or some of them. It gives back what it has done after a while, so
that a few slow rows neither hold up the others nor look like a worker that hangs; the rest is asked for again.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from adjudge.datasets import json_line
from adjudge.errors import Caught, RowError
from adjudge.model import Score, decode_json
from adjudge.rewards import Row, Scorer, get_scorer
from adjudge.serve._shapes import Shape, row_of

ENOUGH_S = 0.5  # seconds after which a job gives back what it has done
LIGHT = "adjudge.rewards.qa"
LIGHT_BYTES = 1 << 15  # less than a millisecond
QUICK_S = 0.02  # a slice that took less may be followed by a larger one

Job: TypeAlias = tuple[str, Shape, bool, Sequence[Sequence[bytes]]]
"""A scorer's name, the shape of its rows, whether a piece is scored whole, and the pieces."""


def is_whole(scorer: Scorer) -> bool:
    """Return whether the score of a row depends on the rows beside it: its group, or the names of their parts."""
    return scorer.is_group or scorer.parts is None


def is_light(scorer: Scorer, rows: Sequence[bytes]) -> bool:
    """Return whether rows are scored where they are: asking a process about them would cost more than they do.

    Only rules of ours whose time is known to grow as the text does; whatever can hang needs a process.
    """
    rule = getattr(scorer, "function", None)
    return getattr(rule, "__module__", None) == LIGHT and sum(map(len, rows)) <= LIGHT_BYTES


def score(job: Job) -> dict[str, Any]:
    """Score the rows of a job, or the first of them; a job without pieces starts what heavy rows need."""
    name, shape, whole, pieces = job
    scorer = _scorer(name)
    if not pieces:
        scorer.warm_up()
        return {"scores": [], "codes": {}}
    scores: list[bytes] = []
    codes: Counter[str] = Counter()

    def add(rows: Sequence[bytes]) -> None:
        for found in _score_rows(scorer, shape, rows):
            codes[code_of(found)] += 1
            scores.append(as_json(found))

    if whole:
        for piece in pieces:
            add(piece)
        return {"scores": scores, "codes": dict(codes)}
    rows = [row for piece in pieces for row in piece]
    started = began = time.monotonic()
    size = 1
    while len(scores) < len(rows) and began - started < ENOUGH_S:
        # Small at first: whether rows are slow shows when some have been scored.
        add(rows[len(scores) : len(scores) + size])
        ended = time.monotonic()
        size, began = (size * 2 if ended - began < QUICK_S else 1), ended
    return {"scores": scores, "codes": dict(codes)}


@lru_cache(maxsize=64)
def _scorer(name: str) -> Scorer:
    return get_scorer(name)


def _score_rows(scorer: Scorer, shape: Shape, given: Sequence[bytes]) -> list[Score]:
    """Score rows in order; what cannot be read as a row is an error in its place."""
    rows: list[Row] = []
    faults: dict[int, str] = {}
    for index, text in enumerate(given):
        fault, row = read_row(text, shape)
        if fault is None and scorer.is_group and row.get("group_id") is None:
            fault = f"missing-column: {scorer.name} looks at all rollouts of one prompt: give the row a 'group_id'"
        if fault is None:
            rows.append(row)
        else:
            faults[index] = fault
    scores = scorer.score_many(rows)
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
    code = "" if score.value is not None else str(score.reason).partition(":")[0]
    return f"{score.status} {code}"


def as_json(score: Score) -> bytes:
    """Return a score as a reply has it."""
    row: Mapping[str, Any] = {
        "value": score.value,
        "status": score.status,
        "reason": score.reason,
        "parts": score.parts,
    }
    return json_line(row, checked=True)[:-1]
