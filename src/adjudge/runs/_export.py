"""What a run file says, in order of input: lines for files, tallies for summaries, the same bytes for the same run."""

from collections.abc import Iterator, Sequence
from typing import Any

from adjudge.datasets import json_line
from adjudge.model import Score
from adjudge.runs._records import CaseRecord
from adjudge.runs._score_file import score_line
from adjudge.runs._store import Store
from adjudge.runs._summary import Summary, Tally

PAGE = 1024  # cases looked at together; a tally's sums are made page by page, so this is part of the result


def scored_cases(
    store: Store, job_names: Sequence[str], missing: str
) -> Iterator[list[tuple[CaseRecord, list[Score]]]]:
    """Give the cases with their scores, a page at a time; a case that was not reached is an error of that reason."""
    last = -1
    while cases := store.cases(last, PAGE):
        scores = store.scores(cases[0].seq, cases[-1].seq)
        absent = [Score.error(missing) for _ in job_names]
        yield [(case, scores.get(case.seq, absent)) for case in cases]
        last = cases[-1].seq


def summarise(
    store: Store, names: Sequence[str], ranges: Sequence[tuple[float, float] | None], missing: str
) -> Summary:
    """Add up the scores of a run."""
    tallies = tuple(Tally(name, range_) for name, range_ in zip(names, ranges, strict=True))
    rows = 0
    for page in scored_cases(store, names, missing):
        rows += len(page)
        for index, tally in enumerate(tallies):
            part = Tally(tally.scorer, tally.range)
            part.add([case.id for case, _ in page], [scores[index] for _, scores in page])
            tally.merge(part)
    return Summary(rows, tallies)


def score_lines(store: Store, names: Sequence[str], missing: str) -> Iterator[bytes]:
    """Give one JSON line a case and scorer."""
    for page in scored_cases(store, names, missing):
        yield b"".join(
            json_line({**score_line(case.id, score), "scorer": name})
            for case, scores in page
            for name, score in zip(names, scores, strict=True)
        )


def verdict_lines(store: Store, names: Sequence[str], missing: str) -> Iterator[bytes]:
    """Give one JSON line a case: what the judge, the last of the scorers, says of it."""
    for page in scored_cases(store, names, missing):
        yield b"".join(json_line(_verdict(case.id, scores[-1], names[-1])) for case, scores in page)


def _verdict(id_: Any, score: Score, judge: str) -> dict[str, Any]:
    provenance = score.provenance
    named = provenance.judge if provenance is not None and provenance.judge is not None else judge
    verdict = (score.notes or {}).get("verdict")
    return {"id": id_, "status": score.status, "verdict": verdict, "reason": score.reason, "judge": named}
