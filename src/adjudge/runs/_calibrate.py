"""A judge measured on rows that people labelled: a run over the rows, and two small ones that probe its stability."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from adjudge.errors import DataError, RunStopped, UsageError
from adjudge.judges import Calibration, LabelledRow, Probe, calibrate, get_judge, labelled
from adjudge.judges.columns import QUESTIONS, references_in, text_in
from adjudge.model import Judge, Score
from adjudge.runs._cases import read_cases
from adjudge.runs._evaluate import RunResult, evaluate
from adjudge.runs._export import scored_cases
from adjudge.runs._plan import RunConfig
from adjudge.runs._reading import NOT_RUN
from adjudge.runs._sessions import Finished, Watch, judge_file
from adjudge.runs._store import Store, new_run_file
from adjudge.statistics import Estimate, estimate_mean

PROBED = 50  # rows of a probe, by default
UNEQUAL = 2  # chances of rows to be labelled, from which on they differ

Row = Mapping[str, Any]
Judged = Sequence[tuple[Row, bool]]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The result of a calibration: the run and, unless it was stopped, what was measured of the judge.

    `left` is the config with the rest of its budgets, `rows` are the labelled rows with their verdicts.
    """

    finished: Finished
    left: RunConfig
    calibration: Calibration | None = None
    rows: tuple[LabelledRow, ...] = ()


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
    """Ask a judge about labelled rows and compare; `probes` is the number of rows that a model is asked about again.

    Probes get the rest of the budgets; one that is stopped has fewer rows.
    """
    config = config or RunConfig()
    given = {name: value for name, value in (options or {}).items() if value is not None}
    named = get_judge(judge, **given)
    warnings = check_labels(rows)
    path = Path(run) if run is not None else new_run_file("calibrate")
    finished = judge_file(rows, judge, options=given, config=config, run=str(path), watch=watch)
    finished = replace(finished, warnings=(*finished.warnings, *warnings))
    left = _left(config, path)
    if finished.is_stopped:
        return Calibrated(finished, left)
    # Only a model may change its mind: a judge of plain rules gives the same verdict every time.
    probed: list[Probe] = []
    if probes and _asks_models(named):
        judged = [(row, one.verdict) for row, one in _rows_of(path, named.name) if one.verdict is not None]
        again = get_judge(judge, **given, sample=1)
        first, left = _probe("same question again", _some(judged, probes), again, left, path)
        second, left = _probe("references reversed", _some(_reverse(judged), probes), named, left, path)
        probed = [first, second]
    found = tuple(one for _, one in _rows_of(path, named.name))
    known = calibrate(found, judge=named.name, version=named.version, probes=probed)
    return Calibrated(finished, left, known, found)


def paired_difference(one: Calibrated, other: Calibrated) -> Estimate | None:
    """Return by how much the other judge is right more often, on the rows of one file that both gave a verdict on."""
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(one.rows, other.rows, strict=True)
        if mine.verdict is not None and theirs.verdict is not None
    ]
    return estimate_mean(
        [float(theirs.verdict == theirs.label) - float(mine.verdict == mine.label) for mine, theirs in pairs],
        [mine.question for mine, _ in pairs],
        range=(-1.0, 1.0),
    )


def check_labels(rows: str) -> tuple[str, ...]:
    """Raise for rows and labels that cannot be read, before anybody is paid; return what a reader should know."""
    if rows == "-":
        raise UsageError("labelled rows are read twice: give a file", code="cannot-read")
    # The whole file is read first: a bad label in the last row must not cost the calls of all rows before it.
    is_empty = True
    chances: set[float] = set()  # with which rows were drawn to be labelled
    for read in read_cases(rows):
        if read.row is None:
            raise DataError(f"{rows}, row {read.id}: {read.fault}", code="bad-row")
        if has_no_say(read.row):
            continue
        is_empty = False
        sample, chance = read.row.get("sample"), read.row.get("probability")
        # Rows of two samples at random have different chances, and yet each had the same as all others.
        if isinstance(sample, Mapping) and sample.get("kind") != "random" and isinstance(chance, float):
            chances.add(chance)
        try:
            labelled(read.row)
        except DataError as error:
            raise DataError(f"{rows}, row {read.id}: {error.message}", code=error.code) from None
    if is_empty:
        raise DataError(f"{rows} has no labelled rows", code="no-rows")
    if len(chances) < UNEQUAL:
        return ()
    words = f"rows were drawn with chances from {min(chances):.3g} to {max(chances):.3g}"
    return (f"{words}, and count alike here: the figures are those of the sample, and not of the run it is from",)


def _left(config: RunConfig, path: Path) -> RunConfig:
    """Return the config with the rest of its budgets after a run."""
    with Store.read(path) as store:
        _, calls, tokens, cost, _ = store.totals()
    spent = {"max_calls": calls, "max_tokens": tokens, "max_cost": cost}
    budgets = {name: getattr(config, name) for name in spent}
    return replace(config, **{name: max(0, most - spent[name]) for name, most in budgets.items() if most is not None})


def _rows_of(path: Path, name: str) -> Collection[tuple[Row, LabelledRow]]:
    """Return the labelled rows; of the lines that one annotator wrote about a row of a run, the last one counts."""
    found: dict[object, tuple[Row, LabelledRow]] = {}
    with Store.read(path) as store:
        for page in scored_cases(store, [name], NOT_RUN):
            for case, scores in page:
                row = case.row
                if row is None:
                    continue
                annotator, number = row.get("annotator"), row.get("row")
                is_line = annotator is not None and isinstance(row.get("sample"), Mapping)
                key = f"{annotator} {number}" if is_line else case.seq
                found.pop(key, None)
                if not has_no_say(row):
                    found[key] = row, _labelled_row(row, scores[-1])
    return found.values()


def has_no_say(row: Row) -> bool:
    """Return whether a line of labels is part of no figure: its reader was unsure, or the judge was when it was chosen.

    What is hard for a judge says nothing about how often it errs.
    """
    sample = row.get("sample")
    is_chosen = isinstance(sample, Mapping) and sample.get("kind") == "uncertain"
    return is_chosen or str(row.get("label")).strip().lower() == "unsure"


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


def _reverse(judged: Judged) -> Judged:
    """Return the rows with several references, in reverse order."""
    several = [(row, references_in(row) or (), verdict) for row, verdict in judged]
    return [({**row, "reference": texts[::-1]}, verdict) for row, texts, verdict in several if len(texts) > 1]


def _some(rows: Judged, most: int) -> Judged:
    """Return at most so many rows, spread evenly."""
    step = max(1, -(-len(rows) // most))
    return rows[::step]


def _probe(name: str, rows: Judged, judge: Judge, config: RunConfig, path: Path) -> tuple[Probe, RunConfig]:
    """Ask again about rows whose verdict is known, and compare; return the rest of the budgets, too."""
    if not rows:
        return Probe(name, 0, None), config
    cases = [{**row, "id": number} for number, (row, _) in enumerate(rows)]
    digest = sha256(f"{name} {cases!r}".encode("utf-8", "backslashreplace")).hexdigest()[:8]
    place = path.with_suffix(f".probe-{digest}.run")  # a resumed calibration may probe other rows
    try:
        found = [_verdict(one.score) for one in evaluate(cases, judge=judge, run=place, config=config).scores]
    except RunStopped:  # the verdicts so far count
        found = [_verdict(one.score) for one in RunResult(place).scores]
    same = [float(one == before) for one, (_, before) in zip(found, rows, strict=False) if one is not None]
    return Probe(name, len(same), estimate_mean(same, method="wilson")), _left(config, place)
