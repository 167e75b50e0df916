"""What a run file gives, in order of input: lines for files and tallies for summaries, the same for the same run.

Beside its scores a run keeps what is known of its judge: how far it agrees with people, and its calibration.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from adjudge.datasets import RepeatFinder, json_line, sort_ids
from adjudge.errors import RunError, UsageError
from adjudge.judges import Calibration, CanaryReport, CascadeTally, Corrected, canary_report
from adjudge.model import Judge, Judgement, Score
from adjudge.runs._cases import CLUSTER_COLUMNS, cluster_of, number_of
from adjudge.runs._plan import Plan
from adjudge.runs._records import EARLY, CaseRecord, write_meta
from adjudge.runs._score_file import label_of, repeat_warnings, score_line
from adjudge.runs._store import Store
from adjudge.runs._summary import Summary, Tally
from adjudge.statistics import Clusters, Estimate

KNOWN = "known"
PAGE = 1024  # cases looked at together; a tally's sums are made page by page, so this is part of the result


def scored_cases(
    store: Store, job_names: Sequence[str], missing: str | None
) -> Iterator[list[tuple[CaseRecord, list[Score]]]]:
    """Give the cases with their scores, a page at a time; a case that was not reached is an error of that reason.

    Where the reason is None it is left out, as are cases that an early decision spared.
    """
    early = store.meta(EARLY) and store.early_stop()
    counted = None if early is None else frozenset(early.cases)
    last = -1
    while cases := store.cases(last, PAGE):
        scores = store.scores(cases[0].seq, cases[-1].seq)
        last = cases[-1].seq
        if counted is not None:
            cases = [case for case in cases if case.seq in counted]
        if missing is None:
            cases = [case for case in cases if scores.get(case.seq)]
        if cases:
            fault = missing or "not-run"
            yield [(case, scores.get(case.seq) or [Score.error(fault) for _ in job_names]) for case in cases]


Lines = Callable[[Any, Sequence[str], Sequence[Score]], bytes]
"""Makes the lines of one case from its id, the names of its scores, and the scores."""


def summarise(
    store: Store,
    plan: Plan,
    missing: str | None,
    write: Callable[[bytes], object] | None = None,
    lines: Lines | None = None,
) -> Summary:
    """Add up the scores of a run and, on the way, write the lines of its cases; warn of lines with the same id."""
    names = plan.names
    tallies = tuple(Tally(name, range_) for name, range_ in zip(names, plan.ranges, strict=True))
    judged = len(names) - 1 if plan.judged is None else plan.judged
    cascade = CascadeTally() if names and names[judged].startswith("cascade:") else None
    rows = 0
    together: list[dict[str, list[float]]] | None = None  # the scores of each cluster, by scorer
    with ExitStack() as stack:
        # A summary alone does not show ids, so repeated ones matter only where lines are written.
        repeats = None if write is None else stack.enter_context(RepeatFinder())
        for page in scored_cases(store, names, missing):
            if not rows and not all(CLUSTER_COLUMNS.isdisjoint(case.row or ()) for case, _ in page):
                together = [{} for _ in tallies]
            rows += len(page)
            labels = [case.id for case, _ in page]
            for index, tally in enumerate(tallies):
                tally.add(labels, [scores[index] for _, scores in page])
            if together is not None:
                _gather(page, together)
            # Only a cascade needs the cost of each row: to say what it saved.
            if cascade is not None:
                costs = store.costs(page[0][0].seq, page[-1][0].seq)
                for case, scores in page:
                    cascade.add(scores[judged], costs.get(case.seq, 0.0))
            if write is not None and lines is not None and repeats is not None:
                write(b"".join([lines(case.id, names, scores) for case, scores in page]))
                repeats.add(sort_ids((label_of(case.id), case.seq + 1) for case, _ in page))
        warnings = () if repeats is None else tuple(repeat_warnings(repeats))
    if together is not None:
        _widen(tallies, together)
    known = known_in(store)
    early = store.meta(EARLY) and store.early_stop()
    if early is not None:
        # An interval for one look does not hold after many: only those that the decision rests on are shown.
        shown = {one.name: one.estimate for one in early.findings}
        for tally in tallies:
            found = shown.get(tally.scorer)
            is_whole = found is not None and found.low is not None and found.high is not None
            tally.ends = (found.low, found.high) if found is not None and is_whole else (None, None)
    return Summary(
        rows,
        tallies,
        warnings,
        canaries=canaries_of(store) if plan.config.get("canaries") else None,
        cascade=None if cascade is None else cascade.report(known.rule),
        agreement=known.agreement,
        early=early,
        corrected=None if known.calibration is None or not tallies or early else known.corrected(tallies[judged]),
    )


def _widen(tallies: Sequence[Tally], together: list[dict[str, list[float]]]) -> None:
    """Give the tallies their clusters, from the scores of each by scorer."""
    for tally, clusters in zip(tallies, together, strict=True):
        # Where every case is alone, the interval of independent ones is the better one.
        if any(len(values) > 1 for values in clusters.values()):
            tally.clusters = Clusters(tally.range)
            for values in clusters.values():
                tally.clusters.add(values)


def _gather(page: list[tuple[CaseRecord, list[Score]]], together: list[dict[str, list[float]]]) -> None:
    """Add the scores of a page to those of their clusters; a case that belongs to none is a cluster of its own."""
    for case, scores in page:
        key = cluster_of(case.row)
        name = f"case {case.seq}" if key is None else f"cluster {key}"
        for clusters, score in zip(together, scores, strict=True):
            if score.value is not None:
                clusters.setdefault(name, []).append(score.value)


def score_lines(id_: Any, names: Sequence[str], scores: Sequence[Score]) -> bytes:
    """Return one JSON line a scorer."""
    return b"".join(
        json_line({**score_line(id_, score), "scorer": name}) for name, score in zip(names, scores, strict=True)
    )


def verdict_line(id_: Any, names: Sequence[str], scores: Sequence[Score]) -> bytes:
    """Return one JSON line: the verdict of the judge, the last of the scorers."""
    score, judge = scores[-1], names[-1]
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
    # The lines of these judges have the same keys whether or not the row failed.
    if "reasons" in notes or judge.startswith(("local:", "cascade:")):
        line["probability"] = score.parts.get("probability")
        line["tier"] = int(notes["tier"]) if "tier" in notes else None
        line["reasons"] = notes.get("reasons", "").split()
        line["asserted"] = notes.get("asserted")
    return json_line(line)


@dataclass(frozen=True, slots=True)
class Known:
    """How far the judge claims to agree with people, its calibration, and the rule of a cascade."""

    agreement: str | None = None
    calibration: Calibration | None = None
    rule: str | None = None

    def corrected(self, tally: Tally) -> Corrected | None:
        """Return the mean of the judge's verdicts, corrected for the judge's errors."""
        mean, moments = tally.mean, tally.moments
        if mean is None or self.calibration is None:
            return None
        n = moments.n
        se = math.sqrt(moments.squares / (n - 1) / n) if n > 1 else None
        return self.calibration.corrected(Estimate(mean.value, se, mean.low, mean.high, n, None, None, mean.method))


def known_in(store: Store) -> Known:
    """Return what a run file keeps of its judge."""
    stored = store.meta(KNOWN)
    try:
        return Known() if stored is None else msgspec.convert(stored, Known)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise RunError(f"{store.path}: its calibration cannot be read: {error}", code="run-damaged") from None


def keep_known(store: Store, judge: object, calibration: Calibration | None) -> None:
    """Write what is known of the judge into the run file; without a new calibration the older one stays."""
    older = known_in(store)
    agreement, rule = (getattr(judge, name, None) for name in ("agreement", "rule"))
    known = Known(agreement, calibration or older.calibration, rule)
    if known != older:
        store.commit([write_meta(KNOWN, known)])


def canaries_of(store: Store) -> CanaryReport | None:
    """Return how the judge of a run did on its canaries; None where it has none."""
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


def check_calibration(calibration: Calibration, judge: Judge | None) -> None:
    """Raise `UsageError` for a calibration of another judge, another version or another prompt."""
    if judge is None:
        raise UsageError("a calibration belongs to a judge, and the run has none", code="not-calibrated")
    calibration.check(judge.name, judge.version, getattr(judge, "prompt_hash", None))
