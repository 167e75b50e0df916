"""Runs on the terminal: their progress, how they ended, and their summaries with what the numbers leave out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adjudge.cli._options import lose_reader
from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.judges import CanaryReport, CascadeReport, Corrected
    from adjudge.runs import Finished, Progress, Summary, Tally, TargetFinding
    from adjudge.statistics import Estimate

PATIENCE = 2.0  # seconds before a progress bar appears
EVERY = 10.0  # seconds between progress lines where there is no terminal


class Terminal(Console):
    """The terminal; when its reader has gone, the command continues to its exit code, where rich would exit."""

    def on_broken_pipe(self) -> None:
        """Print the rest nowhere."""
        lose_reader()

    def say(self, text: str, style: str = "") -> None:
        """Print a line, which a terminal may wrap; nothing in it is markup."""
        self.print(Text(text, style=style), soft_wrap=True)


def new_table(first: str, *others: str) -> Table:
    """Return a table: names on the left, which may be folded, and numbers on the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def describe(progress: Progress, began: int, seconds: float) -> str:
    """Return the progress of a run as one line."""
    counts = progress.counts
    # Rows that an earlier session did say nothing about the speed of this one.
    rate = (progress.done - began) / seconds if seconds > 0 else 0.0
    total = "" if progress.total is None else f" of {progress.total:,}"
    words = [
        f"{progress.done:,}{total} rows",
        f"{progress.in_flight} in flight",
        f"{counts['scored']:,} scored, {counts['unscored']:,} unscored, {counts['error']:,} error",
        f"{rate:.1f} rows/s",
    ]
    if progress.calls:
        cost = f", ${progress.cost:.4f}" if progress.cost else ""
        words.append(f"{progress.calls:,} calls, {progress.tokens:,} tokens{cost}")
    if progress.total is not None and rate > 0 and progress.done < progress.total:
        left = round((progress.total - progress.done) / rate)
        words.append(f"{left // 60}:{left % 60:02d} left")
    return " · ".join(words)


@contextmanager
def live() -> Iterator[Callable[[Progress], None]]:
    """Give a callback for the progress of a run: a line that changes on a terminal, now and then a line elsewhere."""
    console = Terminal(stderr=True)
    started = printed = time.monotonic()
    began: int | None = None
    # A short run shows nothing: the line appears once a run has taken a while.
    status = console.status("starting") if console.is_terminal else None

    def watch(progress: Progress) -> None:
        nonlocal printed, began
        began = progress.done if began is None else began
        now = time.monotonic()
        if status is not None:
            if now - started > PATIENCE:
                status.update(describe(progress, began, now - started))
                status.start()
        elif now - printed >= EVERY:
            printed = now
            print(describe(progress, began, now - started), file=sys.stderr, flush=True)  # noqa: T201 (the terminal's side)

    try:
        yield watch
    finally:
        if status is not None:
            status.stop()


def show_finished(
    finished: Finished, *, to_stderr: bool = False, again: str = "adjudge resume", end_only: bool = False
) -> int:
    """Print how a run ended and return its exit code.

    `again` is the command that resumes it, before its file; `end_only` leaves warnings and summary out.
    """
    if not end_only:
        for warning in finished.warnings:
            click.echo(f"adjudge: warning: {printable(warning, most=500)}", err=True)
        if finished.signal is None and finished.summary is not None:
            show_summary(finished.summary, Terminal(stderr=to_stderr))
            if finished.findings and finished.summary.early is None:
                show_findings(finished.findings, Terminal(stderr=to_stderr))
    line = f"the run is in {finished.file}"
    to_resume = f"to resume: {again} {finished.file}"
    if finished.signal is not None:
        line = f"interrupted; {to_resume}"
    elif finished.undecided is not None:
        more = to_resume if finished.is_stopped else line
        line = f"undecided: {printable(finished.undecided, most=500)}; {more}"
    click.echo(f"adjudge: {line}", err=True)
    return finished.exit_code


def show_findings(findings: Sequence[TargetFinding], console: Terminal, of: str = "") -> None:
    """Print what the thresholds found, of an agent where there are several."""
    words = {"pass": "pass", "fail": "FAIL", None: "open"}
    for one in findings:
        console.say(f"{words[one.verdict]}: {printable(one.name)}{of} {one.reason}")


def show_summary(summary: Summary, console: Terminal) -> None:
    """Print the table of a summary, then what its numbers leave out, how it was decided early, and warnings."""
    early = summary.early
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scorer", overflow="fold")
    interval = "95 % interval" if early is None else "at any time"
    for name in ("rows", "scored", "unscored", "error", "mean", interval):
        table.add_column(name, justify="right", no_wrap=True)
    for tally in summary.tallies:
        counts = [tally.counts[status] for status in ("scored", "unscored", "error")]
        cells = [Text(f"{count:,}") for count in (tally.total, *counts)]
        for cell, count in zip(cells[2:], counts[1:], strict=True):
            cell.stylize("red" if count else "dim")
        mean = tally.mean
        value = "–" if mean is None else f"{mean.value:.4f}"
        interval = "–" if mean is None or mean.low is None else f"{mean.low:.4f} .. {mean.high:.4f}"
        # The star points to the line below the table that says what the mean leaves out.
        mark = "*" if tally.missing else " "
        table.add_row(Text(printable(tally.scorer)), *cells, Text(f"{value}{mark}", style="bold"), Text(interval))
    console.print(table)
    for tally in summary.tallies:
        if tally.missing:
            show_missing(tally.scorer, tally, console)
    if early is not None:
        console.say(early.headline)
        show_findings(early.findings, console)
    if summary.cascade is not None:
        _show_cascade(summary.cascade, console)
    if summary.agreement is not None:
        console.say(printable(summary.agreement, most=2000))
    if summary.corrected is not None:
        _show_corrected(summary.corrected, console)
    if summary.canaries is not None:
        _show_canaries(summary.canaries, console)
    for warning in summary.warnings:
        console.say(f"warning: {printable(warning)}", "yellow")


def _show_corrected(found: Corrected, console: Terminal) -> None:
    """Print what the mean is once the faults of the judge are taken out."""
    ways = {"by the judge's error rates": found.rogan_gladen, "by its mean error": found.prediction_powered}
    means = [f"{plus_minus(one)} {how}" for how, one in ways.items() if one is not None]
    console.say(f"accuracy {found.observed.value:.3f}, corrected {' or '.join(means)}")
    # Both ways often have the same note: it is printed once.
    for note in dict.fromkeys(one.note for one in ways.values() if one is not None and one.note):
        console.say(f"    {note}", "yellow")


def plus_minus(found: Estimate) -> str:
    """Return a number with how far its interval reaches, on the side where it reaches farther."""
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ± {max(found.high - found.value, found.value - found.low):.3f}"


def _show_cascade(report: CascadeReport, console: Terminal) -> None:
    """Print how much of the work the second judge of a cascade had, and what that saved."""
    words = (
        f"cascade: {report.escalated:,} of {report.kept + report.escalated:,} rows ({report.share:.1%}) were escalated"
    )
    if report.rule:
        words += f" ({printable(report.rule)})"
    if report.compared:
        words += f"; there both judges agreed in {report.agreed / report.compared:.1%}"
    if report.saved is not None:
        words += f"; about ${report.saved:.4f} saved"
    console.say(words)


def _show_canaries(report: CanaryReport, console: Terminal) -> None:
    """Print how often the judge accepted an answer that is known to be bad, and of which kinds."""
    words = f"canaries: {report.false_positives:,} of {report.scored:,} known-bad answers were called CORRECT"
    if report.rate is not None and report.low is not None and report.high is not None:
        words += f" ({report.rate:.1%}, 95 % interval {report.low:.1%} .. {report.high:.1%})"
    missing = report.total - report.scored
    console.say(f"{words}; {missing:,} have no verdict" if missing else words)
    for kind, (taken, judged) in report.by_kind.items():
        if taken:
            console.say(f"    {kind}: {taken:,} of {judged:,}", "dim")


def show_missing(name: str, tally: Tally, console: Terminal) -> None:
    """Print what the mean of that name leaves out, why, and what it could be."""
    why = ", ".join(f"{printable(reason)} {count:,}" for reason, count in tally.reasons.most_common(5))
    share = f"{tally.missing:,} of {tally.total:,} rows ({tally.missing / tally.total:.1%}) have no score"
    bounds = "" if tally.bounds is None else "; with them the mean lies in {:.4f} .. {:.4f}".format(*tally.bounds)
    console.say(f"* {printable(name)}: {share}: {why}{bounds}")
    for reason in tally.failures:
        console.say(f"    {printable(reason)}", "dim")


@contextmanager
def progress(source: str) -> Iterator[Callable[[int, int], None]]:
    """Give a callback for rows and bytes done: a bar on a terminal, now and then a line elsewhere."""
    console = Terminal(stderr=True)
    # A pipe has no size: then there is no share, only a count of rows.
    size = Path(source).stat().st_size if source != "-" and Path(source).is_file() else None
    if console.is_terminal:
        with _bar(console, size) as update:
            yield update
        return
    printed = time.monotonic()

    def line(rows: int, done: int) -> None:
        nonlocal printed
        if time.monotonic() - printed >= EVERY:
            printed = time.monotonic()
            share = f" ({done / size:.0%})" if size and done else ""
            print(f"{rows:,} rows{share}", file=sys.stderr, flush=True)  # noqa: T201 (this is the terminal's side)

    yield line


@contextmanager
def _bar(console: Console, size: int | None) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("scoring"),
        BarColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("scoring", total=size, rows=0)
    started = time.monotonic()

    def update(rows: int, done: int) -> None:
        bar.update(task, completed=done, rows=rows)
        # A short run shows no bar.
        if not bar.live.is_started and time.monotonic() - started > PATIENCE:
            bar.start()

    try:
        yield update
    finally:
        bar.stop()


def show_waiting() -> Callable[[str | None], None]:
    """Return a callback for lines about an agent that is starting: on a terminal one line; None ends it."""
    console = Terminal(stderr=True)
    status = console.status("waiting") if console.is_terminal else None
    printed: float | None = None

    def show(line: str | None) -> None:
        nonlocal printed
        if line is None:
            if status is not None:
                status.stop()
        elif status is not None:
            status.update(printable(line))
            status.start()
        elif printed is None or time.monotonic() - printed >= EVERY:
            printed = time.monotonic()
            click.echo(f"adjudge: {printable(line)}", err=True)

    return show
