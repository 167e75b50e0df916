"""Canaries in a run: rows with answers that are known to be bad, judged beside the others and counted apart.

The canary of case n has the number -(n + 1): whoever goes through the cases does not meet it.
"""

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import Any, Literal

from adjudge.errors import DataError
from adjudge.judges import CanaryReport, canary_report
from adjudge.judges._canaries import paired
from adjudge.judges.columns import QUESTIONS, references_in, text_in
from adjudge.model import Judgement, Score
from adjudge.runs._cases import Read
from adjudge.runs._store import Store

PAGE = 1024  # canaries looked at together


def number_of(seq: int) -> int:
    """Return the number of the canary of a case, and the case of a canary.

    >>> number_of(0), number_of(number_of(7))
    (-1, 7)
    """
    return -(seq + 1)


def with_canaries(reads: Iterable[Read], rate: float, seed: int) -> Iterator[Read]:
    """Give some of the cases a canary, the same ones for the same cases and seed."""
    ours, theirs = tee(reads)  # one behind the other by a single case
    for read, (_, canary) in zip(ours, paired(map(_material, theirs), rate, seed), strict=True):
        yield read if canary is None else read._replace(canary=canary)


def _material(read: Read) -> dict[str, Any]:
    """Return what a canary is made of; a case that cannot be judged gets none."""
    row = {} if read.row is None or read.fault is not None else read.row
    try:
        return {"id": read.id, "question": text_in(row, QUESTIONS), "reference": references_in(row)}
    except DataError:
        return {"id": read.id}


def report_of(store: Store) -> CanaryReport | None:
    """Return how the judge of a run did on its canaries; None where there are none."""
    report = canary_report(_outcomes(store))
    return report if report.total else None


def _outcomes(store: Store) -> Iterator[tuple[str, Judgement]]:
    first = number_of(0)
    while cases := store.canaries(first, PAGE):
        scores = store.scores(cases[-1].seq, cases[0].seq)
        for case in cases:
            score = scores.get(case.seq, [Score.error("not-run")])[-1]
            verdict: Literal["CORRECT", "WRONG"] | None = None
            if score.value is not None:  # a verdict is 1 or 0; rubric scores lie between
                verdict = "CORRECT" if score.value >= 0.5 else "WRONG"
            yield str((case.row or {}).get("canary")), Judgement(score.status, verdict)
        first = cases[-1].seq - 1
