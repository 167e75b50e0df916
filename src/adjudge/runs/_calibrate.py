"""A judge measured on rows that people labelled: a run over the rows, and two small ones that probe a model's whims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adjudge.errors import DataError, UsageError
from adjudge.judges import get_judge
from adjudge.judges._calibration import Calibration, LabelledRow, Probe, labelled, measure
from adjudge.model import Score
from adjudge.runs._cases import QUESTIONS, read_cases, references_in, text_in
from adjudge.runs._config import RunConfig
from adjudge.runs._evaluate import NOT_RUN, evaluate, new_run_file
from adjudge.runs._export import scored_cases
from adjudge.runs._sessions import Finished, Watch, judge_file
from adjudge.runs._store import Store
from adjudge.statistics import estimate_mean

PROBED = 50  # rows of a probe, by default

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came of a calibration: the run, and what is known of the judge unless the run was stopped."""

    finished: Finished
    calibration: Calibration | None = None


def calibrate_file(
    rows: str,
    judge: str,
    *,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
    run: str | None = None,
    probes: int = PROBED,
    watch: Watch | None = None,
) -> Calibrated:
    """Ask a judge about labelled rows and compare; `probes` is how many rows a model is asked about once more."""
    config = config or RunConfig()
    check_labels(rows)
    path = Path(run) if run is not None else new_run_file("calibrate")
    finished = judge_file(rows, judge, options=options, config=config, run=str(path), watch=watch)
    if finished.signal is not None or finished.summary is None or (finished.undecided or "").startswith("stopped"):
        return Calibrated(finished)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    named = get_judge(judge, **given)
    found = list(_rows_of(path, named.name))
    probed: Sequence[Probe] = ()
    if probes and _asks_models(named):
        probed = _probes(
            [row for row, _ in found], [one.verdict for _, one in found], judge, given, config, path, probes
        )
    known = measure((one for _, one in found), judge=named.name, version=named.version, probes=probed)
    return Calibrated(finished, known)


def check_labels(rows: str) -> None:
    """Refuse labels that cannot be read before anybody is paid."""
    if rows == "-":
        raise UsageError("labelled rows are read twice: give a file", code="cannot-read")
    count = 0
    for read in read_cases(rows):
        if read.row is not None and read.fault is None:
            try:
                labelled(read.row)
            except DataError as error:
                raise DataError(f"{rows}, row {read.id}: {error.message}", code=error.code) from None
            count += 1
    if not count:
        raise DataError(f"{rows} has no labelled rows", code="no-rows")


def _rows_of(path: Path, name: str) -> Iterator[tuple[Row, LabelledRow]]:
    with Store.read(path) as store:
        for page in scored_cases(store, [name], NOT_RUN):
            for case, scores in page:
                if case.row is not None and case.fault is None:
                    yield case.row, _labelled_row(case.row, scores[-1])


def _labelled_row(row: Row, score: Score) -> LabelledRow:
    label, annotators, group = labelled(row)
    provenance = score.provenance
    return LabelledRow(
        question=text_in(row, QUESTIONS) or "",
        label=label,
        status=score.status,
        verdict=_verdict(score),
        probability=score.parts.get("probability"),
        annotators=annotators,
        group=group,
        prompt_hash=None if provenance is None else provenance.prompt_hash,
    )


def _verdict(score: Score) -> bool | None:
    given = (score.notes or {}).get("verdict")
    return None if given is None or score.status != "scored" else given == "CORRECT"


def _asks_models(judge: object) -> bool:
    members = getattr(judge, "members", ())
    return bool(getattr(judge, "chats", None)) or any(map(_asks_models, members))


def _probes(
    rows: Sequence[Row],
    verdicts: Sequence[bool | None],
    judge: str,
    options: Mapping[str, Any],
    config: RunConfig,
    path: Path,
    most: int,
) -> tuple[Probe, ...]:
    """Ask a model some questions a second time, and some with the references the other way round."""
    judged = [(row, verdict) for row, verdict in zip(rows, verdicts, strict=True) if verdict is not None]
    several = [(row, verdict) for row, verdict in judged if len(references_in(row)) > 1]
    turned = [({**row, "reference": list(reversed(references_in(row)))}, verdict) for row, verdict in several]
    again = get_judge(judge, **{**options, "sample": 1})
    plain = get_judge(judge, **options)
    return (
        _probe("same question again", _some(judged, most), again, config, path.with_suffix(".again.run")),
        _probe("references reversed", _some(turned, most), plain, config, path.with_suffix(".reversed.run")),
    )


def _some(rows: Sequence[tuple[Row, bool]], most: int) -> Sequence[tuple[Row, bool]]:
    """Return at most so many rows, spread evenly."""
    step = max(1, -(-len(rows) // most))
    return rows[::step]


def _probe(name: str, rows: Sequence[tuple[Row, bool]], judge: Any, config: RunConfig, path: Path) -> Probe:
    if not rows:
        return Probe(name, 0, None)
    cases = [{**row, "id": number} for number, (row, _) in enumerate(rows)]
    result = evaluate(cases, judge=judge, run=path, config=replace(config, canaries=0.0))
    found = [_verdict(one.score) for one in result.scores]
    same = [float(one == before) for one, (_, before) in zip(found, rows, strict=True) if one is not None]
    return Probe(name, len(rows), estimate_mean(same))
