"""How the scenarios of a check ended, on the terminal: one row for all repeats of each, then how often they pass.

`adjudge check` prints it when a check ends, `adjudge show` whenever somebody looks at its run again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.cli._show import Terminal
    from adjudge.scenarios import PassEstimate, ScenarioRun

WORDS = {"failed": "FAIL", "undecided": "undecided", "passed": "pass"}
STYLES = {"pass": "green", "FAIL": "bold red", "undecided": "yellow"}

_show = partial(printable, most=300)  # names and reasons, as a terminal may show them


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
