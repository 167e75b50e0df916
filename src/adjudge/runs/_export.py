"""What a run file says, in order of input: lines for files, tallies for summaries, the same bytes for the same run."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adjudge.datasets import RepeatFinder, json_line, sort_ids
from adjudge.judges._cascade import CascadeTally
from adjudge.model import Score
from adjudge.runs._canary_cases import report_of
from adjudge.runs._known import known_in
from adjudge.runs._plan import Plan
from adjudge.runs._records import CaseRecord
from adjudge.runs._score_file import label_of, repeat_warnings, score_line
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


Lines = Callable[[Any, Sequence[str], Sequence[Score]], bytes]
"""What is written of one case: its id, the names of its scores, the scores."""


def summarise(
    store: Store,
    plan: Plan,
    missing: str,
    write: Callable[[bytes], object] | None = None,
    lines: Lines | None = None,
) -> Summary:
    """Add up the scores of a run and, on the way, write the lines of its cases; say which lines have the same id."""
    names = plan.names
    tallies = tuple(Tally(name, range_) for name, range_ in zip(names, plan.ranges, strict=True))
    judged = len(names) - 1 if plan.judged is None else plan.judged
    cascade = CascadeTally()
    rows = 0
    with RepeatFinder() as repeats:
        for page in scored_cases(store, names, missing):
            rows += len(page)
            for index, tally in enumerate(tallies):
                part = Tally(tally.scorer, tally.range)
                part.add([case.id for case, _ in page], [scores[index] for _, scores in page])
                tally.merge(part)
            if names and names[judged].startswith("cascade:"):
                costs = store.costs(page[0][0].seq, page[-1][0].seq)
                for case, scores in page:
                    cascade.add(scores[judged], costs.get(case.seq, 0.0))
            if write is not None and lines is not None:
                write(b"".join([lines(case.id, names, scores) for case, scores in page]))
                repeats.add(sort_ids((label_of(case.id), case.seq + 1) for case, _ in page))
        warnings = tuple(repeat_warnings(repeats))
    known = known_in(store)
    corrected = known.corrected(tallies[judged]) if tallies else None
    return Summary(rows, tallies, warnings, report_of(store), cascade.report(known.rule), known.agreement, corrected)


def export(store: Store, names: Sequence[str], missing: str, lines: Lines) -> Iterator[bytes]:
    """Give the lines of a run, a page at a time."""
    for page in scored_cases(store, names, missing):
        yield b"".join([lines(case.id, names, scores) for case, scores in page])


def score_lines(id_: Any, names: Sequence[str], scores: Sequence[Score]) -> bytes:
    """Return one JSON line a scorer."""
    return b"".join(
        json_line({**score_line(id_, score), "scorer": name}) for name, score in zip(names, scores, strict=True)
    )


def verdict_line(id_: Any, names: Sequence[str], scores: Sequence[Score]) -> bytes:
    """Return one JSON line: what the judge, the last of the scorers, says."""
    return json_line(_verdict(id_, scores[-1], names[-1]))


def _verdict(id_: Any, score: Score, judge: str) -> dict[str, Any]:
    provenance = score.provenance
    named = provenance.judge if provenance is not None and provenance.judge is not None else judge
    notes = score.notes or {}
    line = {
        "id": id_,
        "status": score.status,
        "verdict": notes.get("verdict"),
        "reason": score.reason,
        "judge": named,
    }
    if "reasons" in notes or judge.startswith(("local:", "cascade:")):  # whose lines have the same keys, failed or not
        line["probability"] = score.parts.get("probability")
        line["tier"] = int(notes["tier"]) if "tier" in notes else None
        line["reasons"] = notes.get("reasons", "").split()
    return line
