"""`adjudge check`: gate a release, show how each scenario ended and why, and write the reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import (
    ACCEPT_CHANGES,
    AGENT_NAMES,
    AGENT_OPTIONS,
    NO_CODE,
    SECONDS,
    exit_on_sigterm,
    ignore_lost_reader,
    new_command,
    refuse_unwritable,
    take_agent_names,
    with_options,
)
from adjudge.errors import AdjudgeError, printable

if TYPE_CHECKING:
    from adjudge.cli._show import Terminal
    from adjudge.scenarios import BaselineChanges, CheckResult, PassEstimate, ScenarioRun

UNDECIDED = 3
VERDICTS = {"pass": "pass", "fail": "FAIL", "undecided": "undecided"}
WORDS = {"failed": "FAIL", "undecided": "undecided", "passed": "pass"}
STYLES = {"pass": "green", "FAIL": "bold red", "undecided": "yellow"}
MOST_NAMED = 10  # scenarios that changed in one way

_show = partial(printable, most=300)  # names and reasons, as a terminal may show them

SELECTED = ("tags", "only", "exclude", "last_failed")
SELECTION = (
    click.option("--tag", "tags", multiple=True, help="Only scenarios with this tag, or another that is given."),
    click.option("--only", multiple=True, help="Only the scenario with this id, or all of a pattern: 'billing-*'."),
    click.option("--exclude", multiple=True, help="Not the scenario with this id, or all of a pattern."),
    click.option("--last-failed", metavar="RUN", help="Only scenarios that did not pass in this run file."),
)
OPTIONS = (
    click.option("--agent", help="The agent: an address, module:function, command: PROGRAM, openai:MODEL."),
    *AGENT_OPTIONS,
    *SELECTION,
    click.option("--traces", help="In place of an agent: a folder or file of traces that it left."),
    click.option("--judge", help="The model that scores the quality: openai:MODEL or anthropic:MODEL."),
    click.option("--base-url", help="Address of the judge's OpenAI-compatible endpoint."),
    click.option("--repeat", type=click.IntRange(1, 10_000), help="Run every scenario this many times."),
    *AGENT_NAMES,
    click.option("--gate", help="The gate file; without it every workflow has to pass."),
    click.option("--junit", help="Write a JUnit report to this file."),
    click.option("--json", "json_file", help="Write everything as JSON to this file."),
    click.option("--markdown", help="Write a summary that can be posted as a comment to this file."),
    click.option("--baseline", help="The run file or --json report of an earlier check: say what changed since."),
    click.option(
        "--baseline-missing",
        type=click.Choice(["refuse", "pass"]),
        default="refuse",
        show_default=True,
        help="What to do where that file is not there; pass the first time.",
    ),
    click.option("--github", is_flag=True, help="Print annotations for GitHub, and add to its step summary."),
    click.option("--langfuse", is_flag=True, help="Send the scores to Langfuse; keys come from LANGFUSE_*."),
    click.option(
        "--outbox", default="adjudge.outbox", show_default=True, help="File that keeps scores until delivery."
    ),
    click.option(
        "--otlp-endpoint",
        is_flag=False,
        flag_value="0",
        help="Listen for the agent's spans on [HOST:]PORT, or on any free port, and judge by them.",
    ),
    click.option("--stop-early", is_flag=True, help="Take scenarios in random order, stop once the gate is decided."),
    click.option("--workers", default=16, show_default=True, type=click.IntRange(min=1), help="Runs in flight."),
    click.option("--deadline", type=SECONDS, help="Seconds a run may take in all.  [default: 120 or more]"),
    click.option("--run", help="The run file; one that exists is resumed."),
    click.option("--retry-failed", is_flag=True, help="Repeat runs that ended in an error."),
    ACCEPT_CHANGES,
    NO_CODE,
)


@new_command(
    "check",
    short_help="Gate a release on scenarios.",
    epilog="""\b
Examples:
  adjudge check scenarios/ --agent http://localhost:8000/chat --wait 60 --gate gate.toml
  adjudge check scenarios/ --agent my_agent:answer --repeat 5 --junit report.xml
  adjudge check scenarios/ --traces traces/ --judge openai:gpt-4.1-mini --langfuse

\b
Exit codes: 0 pass; 1 the gate failed, and nothing else; 2 the call is wrong; 3 undecided
(an agent or a judge failed, traces are incomplete, too few runs); 130 and 143 interrupted.""",
)
@click.argument("scenarios", nargs=-1, required=True)
@with_options(*OPTIONS)
def command(
    scenarios: tuple[str, ...],
    junit: str | None,
    json_file: str | None,
    markdown: str | None,
    github: bool,
    langfuse: bool,
    outbox: str,
    otlp_endpoint: str | None,
    **options: Any,
) -> int:
    """Run the SCENARIOS of files and folders, and say whether the agent passes the gate."""
    from adjudge.cli._show import Terminal, live, show_waiting
    from adjudge.scenarios import CheckOptions, Selection, check, check_langfuse

    outputs = [path for path in (junit, json_file, markdown, outbox if langfuse else None) if path is not None]
    # Refused before the agent is asked: a report that cannot be written would cost a whole run.
    for path in outputs:
        refuse_unwritable(path, outputs, (options["baseline"], options["gate"], options["run"], *scenarios))
    if langfuse:
        check_langfuse(outbox)
    with exit_on_sigterm(), ignore_lost_reader():
        named: dict[str, Any] = {
            "select": Selection(**{name: options.pop(name) for name in SELECTED}),
            "agents": take_agent_names(options),
        }
        with live() as watch:
            asked = CheckOptions(endpoint=otlp_endpoint, **named, **options)
            told: dict[str, Any] = {"on_endpoint": _print_endpoint, "on_wait": show_waiting() if asked.wait else None}
            source = scenarios[0] if len(scenarios) == 1 else scenarios
            result = check(source, asked, watch=watch, signals=True, **told)
        if result.signal is not None:
            _print(f"interrupted; to resume, run the same command with --run {result.run.file}")
            return result.exit_code
        # Standard output is then for a report alone.
        to_stderr = "-" in outputs
        with ignore_lost_reader():
            for warning in result.run.warnings:
                _print(f"warning: {warning}")
            show_check(result, Terminal(stderr=to_stderr))
        kinds = {
            "junit": junit,
            "json": json_file,
            "markdown": markdown,
            "github": "annotations" if github else None,
            "langfuse": outbox if langfuse else None,
        }
        wanted = [(kind, path) for kind, path in kinds.items() if path is not None]
        # A report that is missing is not a pass, and one that fails does not keep back the others.
        is_written = [_write(result, kind, path, to_stderr=to_stderr) for kind, path in wanted]
        with ignore_lost_reader():
            again = ""
            if any(one["status"] == "error" for one in result.run.results):
                # A run that ended in an error has no verdict yet; one that failed has.
                again = f"; to repeat what ended in an error, add --run {result.run.file} --retry-failed"
            _print(f"the run is in {result.run.file}{again}")
        return result.exit_code if all(is_written) else UNDECIDED
    return UNDECIDED


def _write(result: "CheckResult", kind: str, path: str, *, to_stderr: bool) -> bool:
    """Write one report and return whether that worked."""
    from adjudge.scenarios import github_lines, write_json, write_junit, write_markdown

    writers = {"junit": write_junit, "json": write_json, "markdown": write_markdown}

    try:
        with ignore_lost_reader():
            if kind in writers:
                writers[kind](result, path)
            elif kind == "github":
                click.echo(github_lines(result), nl=False, err=to_stderr)
            else:
                _send_langfuse(result, path)
    except (AdjudgeError, OSError) as error:
        why = error.message if isinstance(error, AdjudgeError) else f"{path}: {error.strerror or error}"
        _print(f"error: {why}")
        return False
    return True


def _send_langfuse(result: "CheckResult", outbox: str) -> None:
    """Send the scores and print how many arrived; the gate's verdict does not depend on it."""
    from adjudge.scenarios import send_langfuse

    receipt = send_langfuse(result, outbox)
    counts = f"{receipt.delivered:,} delivered, {receipt.pending:,} pending, {len(receipt.rejected):,} rejected"
    more = f"; adjudge resend {outbox} sends the rest" if receipt.pending else ""
    _print(f"langfuse: {counts}{more}")
    if receipt.fault is not None:
        _print(f"langfuse: {receipt.fault}")
    for one in receipt.rejected[:3]:
        _print(f"langfuse: rejected {one.name} of {one.trace_id or '-'}: {one.reason}")


def _print_endpoint(address: str) -> None:
    _print(f"listening for spans: OTEL_EXPORTER_OTLP_ENDPOINT={address}")


def _print(line: str) -> None:
    click.echo(f"adjudge: {printable(line, most=1000)}", err=True)


def show_check(result: "CheckResult", console: "Terminal") -> None:
    """Print the scenarios, one row for all repeats of each, then how often they pass, then the gate."""
    from rich.table import Table
    from rich.text import Text

    show_scenarios(result.run, console)
    lines = [] if result.changes is None else _change_lines(result.changes)
    gate = Text(f"\ngate: {result.headline}", style="bold")
    console.print(*(Text(line) for line in lines), gate, sep="\n", soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    for finding in result.decision.findings:
        word = VERDICTS[finding.verdict]
        table.add_row(Text(word, style=STYLES[word]), Text(_show(f"{finding.name}: {finding.reason}")))
    console.print(table)


def _change_lines(comparison: "BaselineChanges") -> list[str]:
    """Return what changed since the baseline: the counts, then the scenarios of each kind."""
    lines = [f"since {_show(comparison.baseline)}: {comparison.headline}"]
    for kind in comparison.counts:
        names = [_show(one.id) for one in comparison.changes if one.change == kind]
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        if names:
            lines.append(f"  {kind:<9}  {', '.join(names[:MOST_NAMED])}{more}")
    return lines


def show_scenarios(run: "ScenarioRun", console: "Terminal") -> None:
    """Print the scenarios of a run, the ends of its runs by tag, and how often scenarios pass."""
    from rich.table import Table
    from rich.text import Text

    from adjudge.scenarios import summaries_of

    results = run.results
    scenarios = summaries_of(results)
    is_repeated = len(scenarios) < len(results)
    is_judged = any(one["quality"] is not None for one in results)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True, min_width=9)
    table.add_column("scenario", overflow="fold", max_width=24)
    if is_repeated:
        table.add_column("passed", justify="right", no_wrap=True)
    if is_judged:
        table.add_column("quality", justify="right", no_wrap=True)
    is_scored = any(one["scores"] for one in results)
    if is_scored:
        table.add_column("scores", overflow="fold", max_width=40)
    table.add_column("why", overflow="fold")
    for one in scenarios:
        word = WORDS[one.outcome]
        cells = [Text(word, style=STYLES[word]), Text(_show(one.id))]
        if is_repeated:
            cells.append(Text(f"{one.passed} of {one.runs}"))
        if is_judged:
            cells.append(Text("–" if one.quality is None else f"{one.quality:.2f}"))
        if is_scored:
            cells.append(Text("\n".join(one.score_lines(_show))))
        table.add_row(*cells, Text("\n".join(one.reason_lines(_show) if one.reasons else ())))
    console.print(table)
    if any(one["tags"] for one in results):
        show_tags(results, console)
    ends = ", ".join(f"{number:,} {outcome}" for outcome, number in run.outcomes.items())
    lines = ["", f"{len(results):,} {'run' if len(results) == 1 else 'runs'}: {ends}"]
    if is_repeated:
        lines += _pass_lines(run, min(one.runs for one in scenarios))
    console.print(Text("\n".join(lines)), soft_wrap=True)


def show_tags(results: Sequence[Mapping[str, Any]], console: "Terminal") -> None:
    """Print how the runs of each tag ended; a run counts for each of its tags."""
    from rich.text import Text

    from adjudge.cli._show import new_table
    from adjudge.scenarios import outcome_of

    tags: dict[str, Counter[str]] = {}
    for result in results:
        for tag in dict.fromkeys(result["tags"]):
            tags.setdefault(tag, Counter())[outcome_of(result)] += 1
    table = new_table("tag", "runs", "passed", "failed", "undecided")
    for tag, ends in sorted(tags.items()):
        cells = [Text(f"{ends[how]:,}") for how in ("passed", "failed", "undecided")]
        for cell, style in zip(cells[1:], ("red", "yellow"), strict=True):
            cell.stylize(style if cell.plain != "0" else "dim")
        table.add_row(Text(printable(tag)), f"{ends.total():,}", *cells)
    console.print()
    console.print(table)


def _pass_lines(run: "ScenarioRun", most: int) -> list[str]:
    """Return what 1 try and `most` tries give, where every scenario has that many."""
    lines: list[str] = []
    if most < 2:
        return lines
    # Where scenarios have different numbers of repeats, only as many tries as all of them have can be compared.
    for k in (1, most):
        estimates = run.pass_at(k)
        at, hat = _mean(estimates), _mean(run.pass_hat(k))
        lines.append(
            f"pass@{k} {at}   pass^{k} {hat}   (any of {k}, all of {k}; mean over {len(estimates):,} scenarios)"
        )
    if any("*" in line for line in lines):
        lines.append("* without scenarios that have too few decided runs")
    return lines


def _mean(estimates: Mapping[str, "PassEstimate"]) -> str:
    found = [one.value for one in estimates.values() if one.value is not None]
    return f"{sum(found) / len(found):.4f}{'' if len(found) == len(estimates) else '*'}" if found else "–"
