"""Our own run files: what scored them, row by row, and what their agent took.

    read_run("july.run").metrics["qa_f1_reward"].values == {"q1": [1.0], "q2": [None]}

A row without a score, whatever the cause, has None. A check run is read as its gate reads it (`_checks.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.comparison._build import COSTS, ResultsBuilder, case_id, digest_of
from adjudge.comparison._checks import add_check, check_row, describe_check
from adjudge.comparison._results import Results
from adjudge.judges.columns import QUESTIONS, REFERENCES
from adjudge.model import Score, decode_json
from adjudge.runs import RowTrajectory, RunFile, RunRow, open_run

CHECK = ("scenario",)  # the names of the scores of a check run
ABOUT = ("tags", "repeats", "agents")  # what a scenario says beside what it expects
_BY_QUALITY = ", quality by "  # before the judge, in the version of its scorer


def read_run(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read a run file."""
    run = open_run(path)
    found = ResultsBuilder(str(path), keep)
    read = _read_check if run.plan.names == CHECK else _read_scores
    read(run, found)
    return found.results()


def _counted_rows(run: RunFile, found: ResultsBuilder) -> Iterator[RunRow]:
    """Give the rows of a run; those that an early decision spared are only named."""
    early = run.early_stop
    if early is None:
        yield from run.rows()
        return
    counted = frozenset(early.cases)
    for number, row in enumerate(run.rows()):
        if number in counted:
            yield row
        else:
            found.spared.append(_case_of(row, found))
    if found.spared:
        of = len(counted) + len(found.spared)
        why = "when it stopped depended on its scores, so an interval of a difference is only rough"
        found.notes.append(f"decided early, after {len(counted):,} of {of:,} cases: {why}")


def _read_scores(run: RunFile, found: ResultsBuilder) -> None:
    names = run.plan.names
    for name, range_ in zip(names, run.plan.ranges, strict=True):
        found.describe(name, range=range_)
    tables = [found.rows(name) for name in names]
    unknown = set(names)  # scorers whose provenance no row has shown yet
    for row in _counted_rows(run, found):
        case = _case_of(row, found)
        for rows, score in zip(tables, row.scores or (), strict=False):
            rows.add(case, {"": score.value, **score.parts})
        if row.scores is None:
            for rows in tables:
                rows.add(case, {"": None})
        elif unknown:
            _add_origins(dict(zip(names, row.scores, strict=False)), unknown, found)
        if row.trajectory is not None:
            found.add(case, {}, _costs(row.trajectory))


def _add_origins(scores: Mapping[str, Score], unknown: set[str], found: ResultsBuilder) -> None:
    """Keep the provenance of scorers that had none so far."""
    for name, score in scores.items():
        if name in unknown and score.provenance is not None:
            unknown.discard(name)
            known = score.provenance
            origin = {"version": known.version, "judge": known.judge, "prompt_hash": known.prompt_hash}
            found.describe(name, origin={key: value for key, value in origin.items() if value is not None})


def _read_check(run: RunFile, found: ResultsBuilder) -> None:
    # The version of the scorer names the judge of the quality, where there is one.
    describe_check(found, "".join(run.plan.editions).partition(_BY_QUALITY)[2] or None)
    for row in _counted_rows(run, found):
        score = row.scores[0] if row.scores else None
        result = None if score is None else score.detail
        if score is not None and score.notes and "result" in score.notes:
            # Run files had the result here before scores had a detail.
            result = decode_json(score.notes["result"])
        case = _case_of(row, found)
        if result is None:
            found.add(case, {"workflow": None}, _costs(row.trajectory))
            continue
        add_check(found, check_row(result, f"{run.file}, case {case}"), _costs(row.trajectory))


def _case_of(row: RunRow, found: ResultsBuilder) -> str:
    """Return the id of a row's case, and keep what is known of it."""
    columns, label = row.case.row or {}, row.case.id
    group, cluster = columns.get("group_id"), columns.get("conversation_id")
    if group is not None and "repeat" in columns and label == f"{group}#{columns['repeat']}":
        # The repeats of a scenario are one case.
        label = group
    elif "session_id" in columns and "turn_idx" in columns:
        # A turn of CRAG-MM.
        cluster = columns["session_id"]
        label = f"{cluster}:{columns['turn_idx']}"
    elif cluster is None:
        cluster = group
    case = case_id(label, found.name)
    found.fact(case, columns, cluster=cluster, tags=columns.get("tags"), digest=digest_of_case(columns))
    return case


def digest_of_case(columns: Mapping[str, Any]) -> str | None:
    """Return the digest of what was asked, and of what answers it; of a scenario that is all that it expects."""
    scenario = columns.get("scenario")
    if isinstance(scenario, dict):
        return digest_of({name: one for name, one in scenario.items() if name not in ABOUT}, None)
    return digest_of(_first(columns, QUESTIONS), _first(columns, REFERENCES))


def _first(columns: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        value = columns.get(name)
        if value is not None:
            return value
    return None


def _costs(done: RowTrajectory | None) -> Mapping[str, float | None]:
    if done is None:
        return {}
    record = done.trajectory
    if record is None:
        return {"latency": done.seconds}
    took = (done.seconds, record.prompt_tokens, record.completion_tokens, record.cost)
    return dict(zip(COSTS, took, strict=True))
