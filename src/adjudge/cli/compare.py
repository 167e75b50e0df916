"""`adjudge compare`: two runs against each other, or a leaderboard of more."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import Share, ignore_lost_reader, new_command, refuse_unwritable, with_options
from adjudge.errors import AdjudgeError, UsageError, printable

if TYPE_CHECKING:
    from rich.text import Text

    from adjudge.cli._show import Terminal
    from adjudge.comparison import (
        CaseChange,
        Comparison,
        DifferenceVerdict,
        FailOn,
        Leaderboard,
        MetricComparison,
        Ranking,
    )

MOST_NAMED = 8  # cases or metrics in a list
STYLES = {
    "worse": "bold red",
    "inferior": "bold red",
    "better": "green",
    "non-inferior": "green",
    "undecided": "yellow",
}
SHORT = {"no difference shown": "none shown"}  # a table has to fit 80 columns
RESULTS = {0: "pass", 1: "FAIL", 3: "undecided"}

OPTIONS = (
    click.option(
        "--scorer",
        "scorers",
        multiple=True,
        help="A metric that decides [all], or who scores answers. Repeatable.",
    ),
    click.option("--margin", type=click.FloatRange(min=0, min_open=True), help="How much a metric may lose."),
    click.option(
        "--lower-is-better", multiple=True, metavar="METRIC", help="A metric that is better when lower. Repeatable."
    ),
    click.option(
        "--higher-is-better", multiple=True, metavar="METRIC", help="One whose name says otherwise. Repeatable."
    ),
    click.option("--by", help="Show slices by this column or tag; tags: by each tag."),
    click.option("--cluster", help="The column of what varies together, such as a conversation."),
    click.option(
        "--scope",
        type=click.Choice(["new", "these"]),
        default="new",
        show_default=True,
        help="How new cases of this kind would go, or only these cases, which need repeats.",
    ),
    click.option("--id", "id_column", help="The column with the ids of cases, of a table."),
    click.option("--score", "score_columns", multiple=True, help="A column with scores, of a table. Repeatable."),
    click.option("--allow-mismatch", is_flag=True, help="Compare what should not be compared, and say so."),
    click.option(
        "--max-missing", default="5%", show_default=True, type=Share(), help="Share of pairs that may lack a score."
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["worse", "inferior", "none"]),
        default="worse",
        show_default=True,
        help="What is exit code 1; inferior needs --margin.",
    ),
    click.option("--out", help="Write the cases that changed to this file, a line each."),
    click.option("--json", "json_file", help="Write everything as JSON to this file."),
    click.option("--junit", help="Write a JUnit report to this file."),
    click.option("--html", help="Write a page that opens from disk to this file."),
    click.option("--github", is_flag=True, help="Print annotations for GitHub, and add to its step summary."),
)


@new_command(
    "compare",
    short_help="Compare runs: is the new one worse?",
    epilog="""\b
Examples:
  adjudge compare main.run branch.run
  adjudge compare before.jsonl after.jsonl --margin 0.02 --fail-on inferior
  adjudge compare logs/a.eval logs/b.eval logs/c.eval
  adjudge compare a.csv b.csv --id question --score accuracy --cluster topic

\b
Exit codes: 0 pass; 1 a metric that decides is worse, and not within the margin; 2 the call is
wrong, or these runs cannot be compared; 3 undecided (no case in both runs, more than
--max-missing without a score; with --fail-on inferior: not shown either way).""",
)
@click.argument("base")
@click.argument("new")
@click.argument("more", nargs=-1)
@with_options(*OPTIONS)
def command(base: str, new: str, more: tuple[str, ...], fail_on: "FailOn", **options: Any) -> int:
    """Say by how much the NEW run differs from the BASE, whether by more than chance, and on which cases.

    A run is a run file, a file of scores, a report of `adjudge check`, a log of another tool, or a table with an id and
    a score. MORE runs make a leaderboard.
    """
    from adjudge.cli._show import Terminal
    from adjudge.comparison import CompareOptions, compare_results, open_results, rank_results

    if fail_on == "inferior" and options["margin"] is None:
        raise UsageError("--fail-on inferior needs --margin: how much may a metric lose?", code="bad-option")
    if options["out"] is not None and more:
        raise UsageError("--out is for two runs: a leaderboard has no cases that changed", code="bad-option")
    if options["html"] is not None and more:
        raise UsageError("--html is for two runs, not for a leaderboard", code="bad-option")
    reports = {name: options.pop(name) for name in ("out", "json_file", "junit", "html", "github")}
    outputs = [path for path in reports.values() if isinstance(path, str)]
    for path in outputs:
        refuse_unwritable(path, outputs, (base, new, *more))
    table = {"id": options.pop("id_column"), "scores": options.pop("score_columns")}
    asked = CompareOptions(**options)
    runs = [open_results(one, asked, **table) for one in (base, new, *more)]
    console = Terminal(stderr="-" in outputs)
    found: Comparison | Ranking
    if more:
        found = ranking = rank_results(runs, asked)
        show_ranking(ranking, console)
    else:
        found = comparison = compare_results(runs[0], runs[1], asked)
        show_comparison(comparison, console)
    code = found.exit_code(fail_on)
    with ignore_lost_reader():
        try:
            _write_reports(found, reports, fail_on)
            if not more and reports["html"] is not None:
                from adjudge.view import write_comparison

                write_comparison(comparison, base, new, out=reports["html"])
        except AdjudgeError as error:
            # A report that is missing is not a pass.
            click.echo(f"adjudge: error: {printable(error.message, 1000)}", err=True)
            code = code or 3
    result = RESULTS[code] if fail_on != "none" else "nothing was asked to fail"
    console.say(f"compare: {result} (exit code {code}){_why(found, code) if fail_on != 'none' else ''}", "bold")
    return code


def _why(found: "Comparison | Ranking", code: int) -> str:
    """Return what a pass rests on, or a reason that no metric has: a difference not shown may still be there."""
    if code == 3 and found.too_few is not None:
        return f": {found.too_few}"
    number = sum(one in ("undecided", "no difference shown") for one in found.verdicts)
    if code or not number:
        return ""
    return f": nothing is shown to be worse; {number} of {len(found.verdicts)} not shown either way"


def _write_reports(found: "Comparison | Ranking", reports: Mapping[str, Any], fail_on: "FailOn") -> None:
    from adjudge.comparison import (
        comparison_annotations,
        write_changes,
        write_comparison_json,
        write_comparison_junit,
    )

    if reports["out"] is not None:
        write_changes(found, reports["out"])
    if reports["json_file"] is not None:
        write_comparison_json(found, reports["json_file"], fail_on=fail_on)
    if reports["junit"] is not None:
        write_comparison_junit(found, reports["junit"])
    if reports["github"]:
        click.echo(comparison_annotations(found), nl=False, err="-" in reports.values())


def show_comparison(found: "Comparison", console: "Terminal") -> None:
    """Print the metrics that decide, which cases changed, and then what only explores."""
    from adjudge.cli._show import new_table

    console.say(f"base  {printable(found.base)}\nnew   {printable(found.new)}\n")
    table = new_table("metric", "base", "new", "difference", "interval", "verdict")
    for metric in found.gated:
        table.add_row(*_cells(metric))
    console.print(table)
    for metric in found.gated:
        console.say(f"  {_explain(metric, found)}", "dim")
    _show_names(found, console)
    others = [one for one in found.metrics.values() if not one.is_gated]
    explored = [*others, *found.slices]
    if explored:
        console.say("exploratory: shown, and never decides", "bold")
        table = new_table("metric", "base", "new", "difference", "interval", "verdict")
        for metric in explored:
            table.add_row(*_cells(metric))
        console.print(table)
    _show_remarks(found, console)


def _cells(metric: "MetricComparison") -> "list[Text]":
    from rich.text import Text

    from adjudge.comparison import interval, number

    name = metric.name if metric.among is None else f"{metric.name} [{metric.among}]"
    base, new, difference = (None if one is None else one.value for one in (metric.base, metric.new, metric.difference))
    mark = "*" if metric.missing else " "
    beside = 0.0 if base is None or new is None else max(abs(base), abs(new))
    change = number(difference, signed=True, beside=beside)
    words = (number(base), number(new), change, f"{interval(metric.difference)}{mark}")
    # Surely worse, but not surely by more than the margin.
    verdict = "worse" if metric.is_worse and metric.verdict == "undecided" else metric.verdict
    return [Text(printable(name)), *map(Text, words), _verdict(verdict)]


def _verdict(verdict: "DifferenceVerdict") -> "Text":
    from rich.text import Text

    return Text(SHORT.get(verdict, verdict), style=STYLES.get(verdict, ""))


def _explain(metric: "MetricComparison", found: "Comparison") -> str:
    """Return what stands behind a verdict: pairs, p, what could have been found, what is missing."""
    from adjudge.comparison import number

    words = [f"{printable(metric.name)}: {metric.pairs:,} {'pair' if metric.pairs == 1 else 'pairs'}"]
    difference = metric.difference
    is_noted = difference is not None and difference.note is not None and "clusters" in difference.note
    if difference is not None and difference.clusters and not is_noted:
        words.append(f"{difference.clusters:,} {'cluster' if difference.clusters == 1 else 'clusters'}")
    if difference is not None and difference.note is not None:
        words.append(printable(difference.note))
    if metric.p_adjusted is not None:
        words.append(f"p {metric.p_adjusted:.2g}")
    if difference is not None and round(difference.confidence, 6) != 0.95:
        words.append(f"{difference.confidence * 100:.4g} % interval (Holm)")
    if metric.detectable is not None:
        words.append(f"detects a difference of {number(metric.detectable)}")
    if metric.needed is not None and found.margin is not None:
        unit = "repeat" if found.scope == "these" else "case"
        unit += "" if metric.needed == 1 else "s"
        words.append(f"the margin of {number(found.margin)} takes {metric.needed:,} {unit}")
    if metric.missing:
        robust = {True: "yes", False: "no", None: "not known"}[metric.robust]
        taken = "" if metric.reason is not None else ", taken for chance"
        counts = f"{metric.base_missing:,} and {metric.new_missing:,} scores missing{taken}; robust: {robust}"
        words.append(f"* {counts}")
    if metric.reason is not None:
        words.append(f"undecided: {metric.reason}")
    elif metric.is_worse and metric.verdict == "undecided":
        words.append("worse, though not shown to be so by more than the margin")
    return "; ".join(words)


def _show_names(found: "Comparison", console: "Terminal") -> None:
    """Print which cases changed, and which only one run has."""
    by_id: dict[str, CaseChange] = {}
    for change in found.changes:
        by_id.setdefault(change.id, change)
    lists = {"regressions": found.regressions, "fixes": found.fixes, "flaky": found.flaky}
    for title, ids in lists.items():
        if ids:
            named = [_change(by_id[key], several=len(found.gated) > 1) for key in ids[:MOST_NAMED]]
            console.say(f"{title + ':':<13} {len(ids):,}  {', '.join(named)}{_more(ids)}")
    for title, ids in {"only in base": found.only_in_base, "only in new": found.only_in_new}.items():
        if ids:
            named = [printable(key) for key in ids[:MOST_NAMED]]
            console.say(f"{title + ':':<13} {len(ids):,}  {', '.join(named)}{_more(ids)}", "yellow")
    console.say("")


def _change(change: "CaseChange", *, several: bool) -> str:
    metric = f"{printable(change.metric, 60)} " if several else ""
    base, new = (f"{value:.10g}" if value == int(value) else f"{value:.4g}" for value in (change.base, change.new))
    return f"{printable(change.id, 60)} ({metric}{base} -> {new})"


def _more(ids: "Sequence[str]") -> str:
    return f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""


def _show_remarks(found: "Comparison | Ranking", console: "Terminal") -> None:
    for why in found.mismatches:
        console.say(f"NOT COMPARABLE, compared all the same: {printable(why, 1000)}", "bold red")
    for note in found.notes:
        console.say(f"note: {printable(note, 1000)}", "yellow")


def show_ranking(found: "Ranking", console: "Terminal") -> None:
    """Print a leaderboard for each metric that decides."""
    for board in found.leaderboards.values():
        _show_board(board, console)
    if found.partial:
        named = ", ".join(printable(key) for key in found.partial[:MOST_NAMED])
        console.say(f"not in all runs: {len(found.partial):,}  {named}{_more(found.partial)}", "yellow")
    _show_remarks(found, console)


def _show_board(board: "Leaderboard", console: "Terminal") -> None:
    from rich.text import Text

    from adjudge.cli._show import new_table
    from adjudge.comparison import interval, number

    console.say(printable(board.metric), "bold")
    table = new_table("run", "mean", "interval", "rank", "to the first", "verdict")
    for run in board.runs:
        low, high = run.ranks
        value = None if run.mean is None else run.mean.value
        words = (number(value), interval(run.mean, signed=False), str(low) if low == high else f"{low} .. {high}")
        change = "" if run.verdict is None else interval(run.difference)
        verdict = Text("first") if run.verdict is None else _verdict(run.verdict)
        table.add_row(*map(Text, (printable(run.name), *words, change)), verdict)
    console.print(table)
    missing = f"; {board.missing:.1%} of the scores are missing" if board.missing else ""
    why = f"; undecided: {board.reason}" if board.reason is not None else ""
    console.say(f"  {board.cases:,} cases that all runs have; all intervals hold at once{missing}{why}", "dim")
    for run in board.runs:
        if run.reason is not None:
            console.say(f"  {printable(run.name)}: undecided: {run.reason}", "dim")
    console.say("")
