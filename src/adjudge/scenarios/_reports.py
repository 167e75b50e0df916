"""A check, on its way out: JUnit, JSON, GitHub and Langfuse."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.datasets import whole_file
from adjudge.errors import UsageError
from adjudge.judges import QUALITY
from adjudge.scenarios._check import Checked
from adjudge.scenarios._load import Place
from adjudge.scenarios._passes import outcome_of
from adjudge.sinks import Check, Outcome, OutScore, scenario_scores

if TYPE_CHECKING:
    from adjudge.sinks import Receipt

_VERDICTS: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "undecided": "undecided"}
_SURROGATES = re.compile("[\ud800-\udfff]")
_INERT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def checks_of(checked: Checked) -> list[Check]:
    """Return a check for every run of a scenario, and one for every threshold of the gate."""
    return [*_runs(checked), *_thresholds(checked)]


def _runs(checked: Checked) -> list[Check]:
    times = Counter(result["id"] for result in checked.run.results)
    nowhere = Place("")
    return [
        Check(
            id=result["id"] if times[result["id"]] == 1 else f"{result['id']}#{result['repeat']}",
            outcome=outcome_of(result),
            reason="; ".join(result["reasons"]) or None,
            seconds=result["seconds"],
            file=checked.places.get(result["id"], nowhere).file or None,
            line=checked.places.get(result["id"], nowhere).line,
            tags=tuple(result["tags"]),
            scores=numbers_of(result),
        )
        for result in checked.run.results
    ]


def _thresholds(checked: Checked) -> list[Check]:
    return [
        Check(f"gate: {one.name}", _VERDICTS[one.verdict], one.reason, scores={"value": one.value})
        for one in checked.decision.findings
    ]


def numbers_of(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Return all numbers of a result by the names that dashboards know; None where one was asked for and is not there.

    What was not asked for has no name here.
    """
    numbers: dict[str, Any] = {"workflow_pass": result["workflow"]["pass"]}
    if result["quality"] is not None:
        numbers |= {f"quality_{name}": result["quality"][name] for name in QUALITY}
        numbers["quality_overall"] = result["average_quality"]
    numbers |= {name: score["value"] for name, score in result["scores"].items()}
    return {name: None if value is None else float(value) for name, value in numbers.items()}


def write_junit(checked: Checked, path: str) -> None:
    """Write a JUnit report."""
    from adjudge.sinks import junit_xml

    with whole_file(path) as file:
        file.write(junit_xml(checks_of(checked)))


def write_json(checked: Checked, path: str) -> None:
    """Write everything as one JSON object: the verdict with its reasons, and every result."""
    with whole_file(path) as file:
        file.write(json_of(checked))


def json_of(checked: Checked) -> bytes:
    """Return everything as JSON in plain ASCII, which no terminal, page or template takes for its own."""
    decision, run = checked.decision, checked.run
    whole = {
        "verdict": decision.verdict,
        "exit_code": checked.exit_code,
        "gate": [asdict(one) for one in decision.findings],
        "passes": run.passes,
        "counts": run.counts,
        "run": str(run.file),
        "warnings": list(run.warnings),
        "results": list(run.results),
    }
    text = _SURROGATES.sub("\ufffd", json.dumps(whole, ensure_ascii=False, allow_nan=False))
    return json.dumps(json.loads(text), indent=1).translate(_INERT).encode("ascii") + b"\n"


def github_lines(checked: Checked) -> str:
    """Append the summary to the step summary of GitHub, where there is one, and return the annotations."""
    from adjudge.sinks import github_annotations, github_summary

    gate, runs = _thresholds(checked), [_in_repository(one) for one in _runs(checked)]
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        parts = (github_summary(gate, title=f"gate: {checked.headline}"), github_summary(runs, title="runs"))
        try:
            with Path(place).open("a", encoding="utf-8") as file:
                file.write("\n".join(parts))
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}", code="cannot-write") from None
    return github_annotations([*gate, *runs])  # the gate first: GitHub shows few


def _in_repository(check: Check) -> Check:
    """Name the file as GitHub does: below the repository that was checked out."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    file = Path(check.file or "").resolve()
    return replace(check, file=file.relative_to(root).as_posix()) if check.file and root in file.parents else check


def check_langfuse(outbox: str) -> None:
    """Raise `UsageError` if scores could not be kept in this outbox, or not for the address that is set."""
    from adjudge.sinks import LangfuseWire, Outbox, OutboxError, langfuse_keys

    LangfuseWire(None, None, langfuse_keys()).about()
    if Path(outbox).exists():
        try:
            Outbox(outbox).close()
        except OutboxError as error:
            raise UsageError(error.message, code=error.code) from None


def send_langfuse(checked: Checked, outbox: str) -> "Receipt":
    """Put every score into the outbox and deliver what goes; nothing here depends on whether Langfuse answers."""
    from adjudge.sinks import LangfuseSink

    return LangfuseSink(outbox).send(out_scores(checked))


def out_scores(checked: Checked) -> Iterator[OutScore]:
    """Give the scores of all results, each for the trace of its run."""
    run = checked.run.file.name
    for result in checked.run.results:
        about = {"scenario_id": result["id"], "repeat": result["repeat"], "tags": list(result["tags"])}
        like = OutScore("", trace_id=result["trace_id"], metadata=about, run=run)
        reason = "; ".join(result["reasons"]) or None
        for score in scenario_scores({**result, "reason": reason}, like):
            yield replace(score, comment=reason) if score.name == "workflow_pass" else score
        for name, found in result["scores"].items():
            yield replace(like, name=name, value=found["value"], comment=found["reason"], reason=found["reason"], id="")
