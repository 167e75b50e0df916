"""A check on the terminal: how each scenario ended and why, what the gate says of it, in 80 columns."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.scenarios._check import Checked
from adjudge.scenarios._passes import PassEstimate, ScenarioRun, outcome_of, outcomes_of
from adjudge.sinks import Outcome

WORDS: dict[Outcome, str] = {"failed": "FAIL", "undecided": "undecided", "passed": "pass"}  # the worst first
STYLES = {"pass": "green", "FAIL": "bold red", "undecided": "yellow"}
VERDICTS = {"pass": "pass", "fail": "FAIL", "undecided": "undecided"}
_COMMAND = re.compile(r"(:(?=:)|##(?=\[))")
LONGEST = 300  # characters of one reason
MOST = 3  # reasons of one scenario


def show_check(checked: Checked, console: Console) -> None:
    """Print the scenarios, then how often they pass, then the gate."""
    console.print(_table(checked.run.results))
    for line in _passes(checked.run):
        console.print(Text(line), soft_wrap=True)
    decision = checked.decision
    console.print(Text(f"\ngate: {checked.headline}", style="bold"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    for one in decision.findings:
        word = VERDICTS[one.verdict]
        table.add_row(Text(word, style=STYLES[word]), Text(inert(f"{one.name}: {one.reason}")))
    console.print(table)


def inert(text: str, most: int = LONGEST) -> str:
    """Return text fit for a terminal and for the log of a CI system: there too some lines are commands."""
    return _COMMAND.sub(r"\1 ", printable(text, most))


def _table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row for each scenario, all its repeats together."""
    several = len({result["id"] for result in results}) < len(results)
    judged = any(result["quality"] is not None for result in results)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True, min_width=9)
    table.add_column("scenario", overflow="fold", max_width=24)
    if several:
        table.add_column("passed", justify="right", no_wrap=True)
    if judged:
        table.add_column("quality", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for name, runs in _by_scenario(results).items():
        word = _word(runs)
        cells = [Text(word, style=STYLES[word]), Text(inert(name))]
        if several:
            cells.append(Text(f"{sum(run['pass'] is True for run in runs)} of {len(runs)}"))
        if judged:
            cells.append(Text(_quality(runs)))
        table.add_row(*cells, Text(_why(runs)))
    return table


def _by_scenario(results: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        found.setdefault(result["id"], []).append(result)
    return found


def _word(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return how a scenario ended: as its worst run did."""
    outcomes = {outcome_of(run) for run in runs}
    return next(word for outcome, word in WORDS.items() if outcome in outcomes)


def _quality(runs: Sequence[Mapping[str, Any]]) -> str:
    found = [run["average_quality"] for run in runs if run["average_quality"] is not None]
    return f"{sum(found) / len(found):.2f}" if found else "–"


def _why(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the reasons, each once, with how often it came where that is not every time."""
    counts = Counter(reason for run in runs for reason in dict.fromkeys((*run["reasons"], *_warned(run))))
    lines = [
        inert(reason) if count == len(runs) else f"{inert(reason)} ({count} of {len(runs)})"
        for reason, count in counts.most_common(MOST)
    ]
    if len(counts) > MOST:
        lines.append(f"and {len(counts) - MOST} more")
    return "\n".join(lines)


def _warned(run: Mapping[str, Any]) -> list[str]:
    return [f"warning: {one}" for one in run["warnings"]]


def _passes(run: ScenarioRun) -> list[str]:
    """Say how many runs passed and, where there are repeats, what k tries give."""
    many = "run" if len(run.results) == 1 else "runs"
    ends = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes_of(run.results).items())
    total = f"{len(run.results):,} {many}: {ends}"
    tries = Counter(result["id"] for result in run.results)
    most = min(tries.values(), default=1)
    if most < 2:
        return ["", total]
    lines, is_short = ["", total], False
    for k in dict.fromkeys((1, most)):
        at, hat = _mean(run.pass_at(k)), _mean(run.pass_hat(k))
        lines.append(f"pass@{k} {at}   pass^{k} {hat}   (any of {k}, all of {k}; mean over {len(tries):,} scenarios)")
        is_short |= "*" in at
    return [*lines, "* without scenarios that have too few decided runs"] if is_short else lines


def _mean(estimates: Mapping[str, PassEstimate]) -> str:
    found = [one.value for one in estimates.values() if one.value is not None]
    return f"{sum(found) / len(found):.4f}{'' if len(found) == len(estimates) else '*'}" if found else "–"
