"""What a judge took of an attack, by category, and the answers that it took."""

from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.cli._show import Terminal
from adjudge.runs import Attacked, AttackKind

SHOWN = 10  # answers taken that are shown


def show_attack(done: Attacked) -> None:
    """Print the share of each category that was called CORRECT, then the answers."""
    if done.whole is None:
        return
    console = Terminal()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"attack on {printable(done.judge)}", overflow="fold")
    for name in ("rows", "called CORRECT", "share", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in done.categories:
        table.add_row(*_cells(one), style="red" if one.taken else "")
    table.add_row(*_cells(done.whole), style="bold")
    console.print(table)
    missing = done.whole.total - done.whole.judged
    if missing:
        words = f"* {missing:,} of {done.whole.total:,} attacks have no verdict and are in none of these figures"
        why = done.finished.summary.tallies[-1].reasons.most_common(5) if done.finished.summary is not None else []
        reasons = ", ".join(f"{printable(reason)} {count:,}" for reason, count in why)
        console.print(Text(f"{words}: {reasons}"), soft_wrap=True)
    for taken in done.taken[:SHOWN]:
        words = f"{taken.id}: {printable(taken.response, most=80)!r} is wrong: {printable(taken.why, most=120)}"
        console.print(Text(f"    {words}", style="dim"), soft_wrap=True)
    if len(done.taken) > SHOWN:
        more = f"    and {len(done.taken) - SHOWN:,} more: --out FILE has every verdict"
        console.print(Text(more, style="dim"), soft_wrap=True)


def _cells(one: AttackKind) -> list[Text]:
    rate = one.rate
    share = "–" if rate is None else f"{rate.value:.1%}"
    interval = "–" if rate is None or rate.low is None or rate.high is None else f"{rate.low:.1%} .. {rate.high:.1%}"
    mark = "*" if one.judged < one.total else ""
    return list(map(Text, (one.name, f"{one.judged:,}{mark}", f"{one.taken:,}", share, interval)))
