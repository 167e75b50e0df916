"""Reports of a check: JUnit, JSON, markdown, GitHub and Langfuse."""

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
from adjudge.scenarios._account import account_of
from adjudge.scenarios._baseline import SCHEMA, BaselineChanges
from adjudge.scenarios._check import CheckResult
from adjudge.scenarios._markdown import markdown_of
from adjudge.scenarios._run import outcome_of
from adjudge.sinks import Check, Outcome, OutScore, scenario_scores

if TYPE_CHECKING:
    from adjudge.sinks import Receipt

STEP_SUMMARY = 900_000  # bytes; GitHub shows no summary over 1 MiB
_VERDICTS: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "undecided": "undecided"}
_SURROGATES = re.compile("[\ud800-\udfff]")
_INERT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def checks_of(result: CheckResult) -> list[Check]:
    """Return a check for every run of a scenario, and one for every threshold of the gate."""
    return [*_runs(result), *_thresholds(result)]


def _runs(result: CheckResult) -> list[Check]:
    # A scenario that ran once keeps its plain id, so that reports of CI stay comparable from run to run.
    times = Counter(one["id"] for one in result.run.results)
    checks = []
    for one in result.run.results:
        name = one["id"]
        file, line = result.places.get(name, (None, None))
        checks.append(
            Check(
                id=name if times[name] == 1 else f"{name}#{one['repeat']}",
                outcome=outcome_of(one),
                reason="; ".join(one["reasons"]) or None,
                seconds=one["seconds"],
                file=file,
                line=line,
                tags=tuple(one["tags"]),
                scores=numbers_of(one),
            )
        )
    return checks


def _thresholds(result: CheckResult) -> list[Check]:
    return [
        Check(f"gate: {one.name}", _VERDICTS[one.verdict], one.reason, scores={"value": one.value})
        for one in result.decision.findings
    ]


def numbers_of(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the numbers that were asked for by the names that dashboards know; None for one that is missing."""
    numbers: dict[str, Any] = {"workflow_pass": result["workflow"]["pass"]}
    if result["quality"] is not None:
        numbers |= {f"quality_{name}": result["quality"][name] for name in QUALITY}
        numbers["quality_overall"] = result["average_quality"]
    numbers |= {name: score["value"] for name, score in result["scores"].items()}
    return {name: None if value is None else float(value) for name, value in numbers.items()}


def write_junit(result: CheckResult, path: str) -> None:
    """Write a JUnit report."""
    from adjudge.sinks import junit_xml

    with whole_file(path) as file:
        file.write(junit_xml(checks_of(result)))


def write_json(result: CheckResult, path: str) -> None:
    """Write the verdict with its reasons, and every result with what the agent did, as one JSON object.

    Its keys stay over releases; others may be added. It is plain ASCII without `<`, `>` and `&`, so that no terminal,
    page or template takes a part for markup.
    """
    decision, run = result.decision, result.run
    results = [{**one, **account_of(row)} for row, one in run.pairs()]
    whole = {
        "schema": SCHEMA,
        "verdict": decision.verdict,
        "exit_code": result.exit_code,
        "gate": [asdict(one) for one in decision.findings],
        "passes": run.passes,
        "counts": run.counts,
        "spared": 0 if run.early is None else run.early.spared,
        "run": str(run.file),
        "warnings": list(run.warnings),
        "baseline": None if result.changes is None else _comparison(result.changes),
        "results": results,
    }
    # Half a character is legal in Python and in no file; replaced, the rest of the report can be read.
    text = _SURROGATES.sub("\ufffd", json.dumps(whole, ensure_ascii=False, allow_nan=False))
    inert = json.dumps(json.loads(text), indent=1).translate(_INERT)
    with whole_file(path) as file:
        file.write(inert.encode("ascii") + b"\n")


def _comparison(comparison: BaselineChanges) -> dict[str, Any]:
    return {
        "file": comparison.baseline,
        "counts": {**comparison.counts, "unchanged": comparison.unchanged},
        "changes": [asdict(one) for one in comparison.changes],
    }


def write_markdown(result: CheckResult, path: str) -> None:
    """Write a summary that can be posted as a comment on GitHub as it is."""
    with whole_file(path) as file:
        file.write(markdown_of(result).encode())


def github_lines(result: CheckResult) -> str:
    """Append a summary to GitHub's step summary, where there is one, and return the annotations."""
    from adjudge.sinks import github_annotations

    # GitHub names files from the root of the repository that was checked out.
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    runs = []
    for one in _runs(result):
        file = Path(one.file or "").resolve()
        runs.append(replace(one, file=file.relative_to(root).as_posix()) if one.file and root in file.parents else one)
    gate = _thresholds(result)
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        try:
            with Path(place).open("a", encoding="utf-8") as summary:
                summary.write(markdown_of(result, largest=STEP_SUMMARY))
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}", code="cannot-write") from None
    # The gate comes first: GitHub shows few annotations of a step.
    return github_annotations([*gate, *runs])


def check_langfuse(outbox: str) -> None:
    """Raise `UsageError` if the outbox cannot keep scores for Langfuse, or the keys and the address are wrong."""
    from adjudge.sinks import LangfuseWire, Outbox, OutboxError, langfuse_keys

    # Asking for the address checks it: a wrong one fails before the agent is asked.
    LangfuseWire(None, None, langfuse_keys()).about()
    if Path(outbox).exists():
        try:
            Outbox(outbox).close()
        except OutboxError as error:
            raise UsageError(error.message, code=error.code) from None


def send_langfuse(result: CheckResult, outbox: str) -> "Receipt":
    """Put every score into the outbox, and deliver what Langfuse accepts; the rest stays there to be sent again."""
    from adjudge.sinks import LangfuseSink

    return LangfuseSink(outbox).send(_out_scores(result))


def _out_scores(result: CheckResult) -> Iterator[OutScore]:
    """Give the scores of all results, each for the trace of its run."""
    run = result.run.file.name
    for one in result.run.results:
        about = {"scenario_id": one["id"], "repeat": one["repeat"], "tags": list(one["tags"])}
        like = OutScore("", trace_id=one["trace_id"], metadata=about, run=run)
        reason = "; ".join(one["reasons"]) or None
        for score in scenario_scores({**one, "reason": reason}, like):
            yield replace(score, comment=reason) if score.name == "workflow_pass" else score
        for name, found in one["scores"].items():
            yield replace(like, name=name, value=found["value"], comment=found["reason"], reason=found["reason"], id="")
