"""`adjudge evaluate`: let agents answer cases, score their answers, and show the agents side by side."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import (
    ACCEPT_CHANGES,
    AGENT_OPTIONS,
    BUDGETS,
    JUDGING,
    LIMITS,
    MAP,
    NO_CODE,
    THRESHOLDS,
    exit_on_sigterm,
    new_command,
    refuse_unwritable,
    with_options,
)
from adjudge.errors import UsageError, printable

if TYPE_CHECKING:
    from adjudge.cli._show import Terminal
    from adjudge.runs import Finished, Tally
    from adjudge.statistics import Estimate

SCHEMA = 1
_DIFFERENCE = ("value", "low", "high", "n")
JUDGE = ("base_url", "error_budget", "first_calibration")  # options of a judge; the others are limits


@new_command(
    "evaluate",
    short_help="Let agents answer cases, and score the answers.",
    epilog="""\b
Examples:
  adjudge evaluate cases.jsonl --agent my_agent:answer --scorer qa_f1_reward
  adjudge evaluate cases.jsonl --agent openai:gpt-4.1 --agent openai:gpt-4.1-mini --judge local
  adjudge evaluate cases.jsonl --agent http://localhost:8000/chat --wait 60 --judge openai:gpt-4.1 --run july.run

\b
Exit codes: 0 evaluated; 1 below a --threshold; 2 the call is wrong; 3 undecided (stopped, no
cases, or more than --max-unscored have no score); 130 and 143 interrupted. To resume, run the same
command with --run.""",
)
@click.argument("cases")
@click.option("--agent", "agents", multiple=True, help="Who answers: module:function, a URL, openai:MODEL. Repeatable.")
@click.option("--scorer", "scorers", multiple=True, help="A reward, module:function, a judge. Repeatable.")
@click.option("--judge", help="local, openai:MODEL, anthropic:MODEL, panel:A,B, cascade:local,B ...")
@MAP
@with_options(*AGENT_OPTIONS, *JUDGING, *LIMITS, *THRESHOLDS, *BUDGETS)
@click.option("--limit", type=click.IntRange(min=1), help="Only so many cases, from the beginning.")
@click.option("--run", help="The run file; one that exists is resumed. With several agents, one beside it for each.")
@click.option("--out", help="Write one score a line here, in input order; for one agent.")
@click.option("--json", "json_file", help="Write means, counts and differences as JSON to this file.")
@ACCEPT_CHANGES
@NO_CODE
def command(
    cases: str,
    agents: tuple[str, ...],
    run: str | None,
    out: str | None,
    json_file: str | None,
    wait: float | None,
    **more: Any,
) -> int:
    """Let every agent answer the CASES (JSON lines, a JSON array, CSV or Parquet), and score the answers.

    Without an agent the rows hold their responses. Several agents are compared on the same cases.
    """
    from adjudge.agents import get_agent, wait_for_agent
    from adjudge.cli._show import live, show_finished, show_waiting
    from adjudge.runs import Evaluation, RunConfig, evaluate_file

    if len(set(agents)) < len(agents) or (out is not None and len(agents) > 1):
        why = "--out is for one agent" if out is not None else "an agent is named twice"
        raise UsageError(f"{why}: give every --agent once, and --json for several", code="bad-option")
    outputs = [path for path in (out, json_file) if path is not None]
    for path in outputs:
        refuse_unwritable(path, outputs, (cases, run))
    # A misspelt agent is found before the first one is paid.
    for agent in agents:
        get_agent(agent)
    options = {name: more.pop(name) for name in JUDGE}
    named = {name: more.pop(name) for name in ("scorers", "judge", "limit")}
    what = Evaluation(**named, columns=dict(more.pop("columns")), options=options)
    config = RunConfig(**more)
    done: dict[str | None, Finished] = {}
    with exit_on_sigterm():
        if wait is not None:
            for agent in agents:
                wait_for_agent(agent, wait, watch=show_waiting())
        for each in agents or (None,):
            place = run if run is None or len(agents) < 2 else run_file_of(run, str(each))
            with live() as watch:
                finished = evaluate_file(
                    cases, replace(what, agent=each), config=config, run=place, out=out, watch=watch
                )
            done[each] = finished
            # The table of several agents comes when all are done: only then can they be compared.
            show = {"to_stderr": "-" in outputs, "end_only": len(agents) > 1}
            code = show_finished(finished, again="the same command with --run", **show)
            if finished.signal is not None:
                return code
        _show_agents(done, json_file)
    return max(one.exit_code for one in done.values())


def run_file_of(run: str, agent: str) -> str:
    """Return the run file of one of several agents: beside the given one, with the agent in its name."""
    path = Path(run)
    return str(path.with_name(f"{path.stem}-{re.sub('[^A-Za-z0-9._]+', '-', agent).strip('-.')[:80]}{path.suffix}"))


def _show_agents(done: "Mapping[str | None, Finished]", json_file: str | None) -> None:
    """Print several agents side by side, with how far each differs from the first, and write the same as JSON."""
    from adjudge.cli._show import Terminal
    from adjudge.comparison import compare
    from adjudge.datasets import whole_file

    runs = {agent: one for agent, one in done.items() if one.summary is not None}
    first = next(iter(runs.values()), None)
    # Where a run stops depends on its scores: an interval that knows nothing of that would be too narrow.
    is_early = any(one.summary is not None and one.summary.early is not None for one in runs.values())
    differences: dict[str | None, Mapping[str, Estimate]] = {agent: {} for agent in runs}
    for agent, one in runs.items():
        if first is not None and one is not first and not is_early:
            found = compare(first.file, one.file, max_missing=1.0)
            differences[agent] = {metric.name: metric.difference for metric in found.gated if metric.difference}
    if len(done) > 1:
        _print_table(runs, differences, Terminal(stderr=json_file == "-"))
    if json_file is None:
        return
    whole = {
        "schema": SCHEMA,
        "exit_code": max(one.exit_code for one in done.values()),
        "agents": [_as_json(agent, one, differences.get(agent, {})) for agent, one in done.items()],
    }
    with whole_file(json_file) as file:
        file.write(json.dumps(whole, indent=1).encode() + b"\n")


def _print_table(
    runs: "Mapping[str | None, Finished]",
    differences: "Mapping[str | None, Mapping[str, Estimate]]",
    console: "Terminal",
) -> None:
    from rich.text import Text

    from adjudge.cli._show import new_table, show_findings, show_missing

    # By scorer, so that the agents are below one another; it has to fit 80 columns.
    by_scorer: dict[str, list[tuple[str | None, Tally]]] = {}
    for agent, one in runs.items():
        for tally in () if one.summary is None else one.summary.tallies:
            by_scorer.setdefault(tally.scorer, []).append((agent, tally))
    early = {agent: one.summary.early for agent, one in runs.items() if one.summary is not None and one.summary.early}
    interval = "interval" if early else "95 % interval"
    table = new_table("agent", "scored", "mean", interval, "to the first")
    for name, tallies in by_scorer.items():
        table.add_row(Text(printable(name), style="bold"))
        for at, (agent, tally) in enumerate(tallies):
            mean = tally.mean
            value = "–" if mean is None else f"{mean.value:.4f}{'*' if tally.missing else ' '}"
            interval = "–" if mean is None or mean.low is None else f"{mean.low:.4f} .. {mean.high:.4f}"
            change = _change(differences[agent].get(name)) if at else ""
            counts = f"{tally.counts['scored']:,} of {tally.total:,}"
            table.add_row(*map(Text, (f"  {printable(str(agent), 60)}", counts, value, interval, change)))
    console.print(table)
    for name, tallies in by_scorer.items():
        for agent, tally in tallies:
            if tally.missing:
                show_missing(f"{name} of {agent}", tally, console)
    for agent, one in runs.items():
        if agent in early:
            console.say(f"{printable(str(agent))}: {early[agent].headline}")
        show_findings(one.findings, console, f" of {printable(str(agent))}")


def _change(found: "Estimate | None") -> str:
    """Return a difference with how far its interval reaches; rows that both runs scored are compared in pairs."""
    if found is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:+.4f}"
    return f"{found.value:+.4f} ± {max(found.high - found.value, found.value - found.low):.4f}"


def _as_json(agent: str | None, one: "Finished", differences: "Mapping[str, Estimate]") -> dict[str, Any]:
    tallies = () if one.summary is None else one.summary.tallies
    scores = {}
    for tally in tallies:
        mean, change = tally.mean, differences.get(tally.scorer)
        scores[tally.scorer] = {
            "mean": None if mean is None else mean.value,
            "low": None if mean is None else mean.low,
            "high": None if mean is None else mean.high,
            **{status: tally.counts[status] for status in ("scored", "unscored", "error")},
            "reasons": dict(tally.reasons),
            "difference": None
            if change is None
            else {key: getattr(change, key) for key in ("value", "low", "high", "n")},
        }
    early = None if one.summary is None else one.summary.early
    about = {"agent": agent, "run": str(one.file), "rows": one.summary.rows if one.summary is not None else 0}
    thresholds = [
        {"score": found.name, "min": found.min, "verdict": found.verdict, "reason": found.reason}
        for found in one.findings
    ]
    about |= {"spared": 0 if early is None else early.spared}
    return {
        **about,
        "thresholds": thresholds,
        "undecided": one.undecided,
        "warnings": list(one.warnings),
        "scores": scores,
    }
