"""What a judge took of an attack, by category, and every answer that it took."""

from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.cli._show import Terminal
from adjudge.runs._attack import Attacked

SHOWN = 10  # answers taken that are shown


def show_attack(done: Attacked) -> None:
    """Print the share of each category that was called CORRECT, then the answers."""
    report = done.report
    if report is None:
        return
    console = Terminal()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("attack")
    for name in ("rows", "called CORRECT", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind, (taken, judged) in report.by_kind.items():
        table.add_row(
            printable(kind), f"{judged:,}", f"{taken:,}", f"{taken / judged:.1%}", style="red" if taken else ""
        )
    share = "–" if report.rate is None else f"{report.rate:.1%}"
    table.add_row("all", f"{report.scored:,}", f"{report.false_positives:,}", share, style="bold")
    console.print(table)
    if report.low is not None and report.high is not None:
        console.print(f"false positives: {share}, 95 % interval {report.low:.1%} .. {report.high:.1%}")
    missing = report.total - report.scored
    if missing:
        console.print(f"{missing:,} of {report.total:,} attacks have no verdict and are in none of these figures")
    for one in done.taken[:SHOWN]:
        words = f"{one.id}: {printable(one.response, most=80)!r} is wrong: {printable(one.why, most=120)}"
        console.print(Text(f"    {words}", style="dim"), soft_wrap=True)
    if len(done.taken) > SHOWN:
        console.print(Text(f"    and {len(done.taken) - SHOWN:,} more: adjudge show {done.finished.file}", style="dim"))
