"""Canaries in a run: known-bad answers mixed in among the cases, told apart again when the run is added up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from adjudge.errors import DataError, UsageError
from adjudge.model import Judgement
from adjudge.runs._cases import QUESTIONS, Read, references_in, text_in

if TYPE_CHECKING:
    from adjudge.judges import CanaryReport
    from adjudge.model import Score
    from adjudge.runs._config import RunConfig
    from adjudge.runs._job import Job
    from adjudge.runs._records import CaseRecord

PREFIX = "canary:"  # what the id of every canary begins with


def mixed(reads: Iterator[Read], config: RunConfig) -> Iterator[Read]:
    """Give the cases, each canary behind the case that it was made of; as many as the config says."""
    return _mixed(reads, config.canaries, config.seed) if config.canaries else reads


def _mixed(reads: Iterator[Read], rate: float, seed: int) -> Iterator[Read]:
    from adjudge.judges import with_canaries

    waiting: deque[Read] = deque()

    def rows() -> Iterator[Mapping[str, Any]]:
        for read in reads:
            waiting.append(read)
            yield _material(read)

    for row in with_canaries(rows(), rate, seed):
        yield Read(row["id"], row) if "canary" in row else waiting.popleft()


def _material(read: Read) -> dict[str, Any]:
    """Return what a canary is made of; without a question and references there is none."""
    try:
        question = text_in(read.row or {}, QUESTIONS)
        references = references_in(read.row or {})
    except DataError:
        return {"id": read.id}
    return {"id": read.id} if question is None else {"id": read.id, "question": question, "reference": references}


def check_canaries(job: Job, config: RunConfig) -> None:
    """Refuse canaries where something else than a judge would meet them."""
    if config.canaries and (job.agent is not None or job.scorers or job.judge is None):
        raise UsageError("canaries are for runs of a judge alone, on rows that hold their responses")


def is_canary(case: CaseRecord) -> bool:
    """Say whether a case is a canary."""
    return case.row is not None and "canary" in case.row and str(case.id).startswith(PREFIX)


def outcome_of(case: CaseRecord, score: Score) -> tuple[str, Judgement]:
    """Return a canary's kind and what became of it, and no more: a run may have many."""
    said = (score.notes or {}).get("verdict")
    verdict: Literal["CORRECT", "WRONG"] | None = (
        "CORRECT" if said == "CORRECT" else "WRONG" if said == "WRONG" else None
    )
    return str((case.row or {}).get("canary")), Judgement(score.status, verdict)


def report_of(outcomes: Sequence[tuple[str, Judgement]]) -> CanaryReport | None:
    """Return how the judge did on canaries; None where there were none."""
    from adjudge.judges import canary_report

    return canary_report(outcomes) if outcomes else None
