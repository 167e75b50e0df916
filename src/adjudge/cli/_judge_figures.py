"""What `adjudge judge` prints of a judge that was measured, fitted or attacked."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.judges import Calibration, Fit
    from adjudge.runs import Attacked, AttackKind, Calibrated
    from adjudge.statistics import Agreement

SHARES = ("right kept", "wrong caught")
MOST_GROUPS = 20  # in the table of calibrations
MOST_ANSWERS = 10  # of those that an attacked judge took


def show_calibrations(measured: Sequence[tuple["Calibrated", Path | None]]) -> None:
    """Print all judges in one table, with 95 % intervals, then the notes on each."""
    from rich.text import Text

    from adjudge.cli._show import Terminal, new_table

    console = Terminal()
    found = [(done.calibration, done, place) for done, place in measured if done.calibration is not None]
    table = new_table("judge", "rows", "accuracy", "kappa", *SHARES, "ECE")
    table.padding = (0, 1, 0, 0)
    for known, _, _ in found:
        error = "" if known.reliability is None else _short(f"{known.reliability.error:.3f}")
        table.add_row(*map(Text, [*_judge_cells(known.judge, known.rows, known.agreement), error]))
        for group, part in list(known.groups.items())[:MOST_GROUPS]:
            table.add_row(*map(Text, _judge_cells(f"  {group}", part.n, part)), style="dim")
    if found:
        console.print(table)
    for line in _differences([(known.judge, done) for known, done, _ in found]):
        console.say(line)
    for known, done, place in found:
        for line in _notes(known):
            console.say(f"{printable(known.judge)}: {line}")
        for warning in done.finished.warnings:
            click.echo(f"adjudge: warning: {printable(warning, most=500)}", err=True)
        curve = "" if place is None or known.reliability is None else f", its curve in {place.with_suffix('.svg')}"
        kept = f"is not kept: undecided, {done.finished.undecided}" if place is None else f"is kept in {place}{curve}"
        click.echo(f"adjudge: {printable(known.judge)} {kept}; the run is in {done.finished.file}", err=True)


def _differences(measured: Sequence[tuple[str, "Calibrated"]]) -> list[str]:
    """Say of each further judge how much more often it is right than the first, on the same rows."""
    from adjudge.cli._show import plus_minus
    from adjudge.runs import paired_difference

    lines = []
    for judge, done in measured[1:]:
        first, before = measured[0]
        far = paired_difference(before, done)
        if far is not None and far.low is not None and far.high is not None:
            verdict = "" if far.low > 0 or far.high < 0 else ": no difference is shown"
            names = f"{printable(judge)} against {printable(first)}"
            lines.append(f"{names}: accuracy {plus_minus(far)} on the {far.n:,} rows that both judged{verdict}")
    return lines


def _judge_cells(name: str, rows: int, part: "Agreement | None") -> list[str]:
    from adjudge.cli._show import plus_minus

    shares = (None,) * 4 if part is None else (part.accuracy, part.kappa, part.sensitivity, part.specificity)
    return [printable(name), f"{rows:,}", *("–" if one is None else _short(plus_minus(one)) for one in shares)]


def _short(number: str) -> str:
    """Return numbers without the zero before the point: the table has to fit 80 columns."""
    return number.replace("0.", ".")


def _notes(known: "Calibration") -> list[str]:
    """Return what the table has no room for."""
    from adjudge.cli._show import plus_minus

    lines: list[str] = []
    part = known.agreement
    if part is not None:
        lines.append(
            f"called CORRECT {part.right_called_right:,} right and {part.wrong_called_right:,} wrong responses,"
            f" WRONG {part.right_called_wrong:,} right and {part.wrong_called_wrong:,} wrong ones"
        )
        if part.sensitivity is None or part.specificity is None:
            which = "right" if part.specificity is None else "wrong"
            lines.append(
                f"every response is {which} by its label: kappa means nothing, and error rates cannot correct a run"
            )
    if len(known.groups) > MOST_GROUPS:
        lines.append(f"{len(known.groups) - MOST_GROUPS:,} more groups are in the file")
    # Rows without a verdict are in none of the figures: say how many.
    missing = known.rows - known.counts.get("scored", 0)
    if missing:
        lines.append(f"{missing:,} of {known.rows:,} rows have no verdict and are in none of these figures")
    if known.alpha is not None:
        people = "" if known.alpha_people is None else f", of the annotators alone {known.alpha_people:.3f}"
        lines.append(f"Krippendorff's alpha with the annotators {known.alpha:.3f}{people}")
    lines.extend(
        f"{probe.name}: the same verdict in {plus_minus(probe.same)} of {probe.rows:,} rows"
        for probe in known.probes
        if probe.same is not None
    )
    return lines


def show_fit(known: "Fit") -> None:
    """Print the figures before and after, on questions that were left out, and whether the labels show a gain."""
    from rich.text import Text

    from adjudge.cli._show import Terminal, new_table, plus_minus

    console = Terminal()
    table = new_table(f"{printable(known.judge)}, on questions left out", "rows", "accuracy", "kappa", *SHARES)
    table.padding = (0, 1, 0, 0)
    for name, part in (("as it is", known.before), ("fitted", known.after)):
        table.add_row(*map(Text, _judge_cells(name, known.rows, part)))
    console.print(table)
    numbers = f"{len(known.weights)} numbers" if len(known.weights) > 2 else "one number"
    console.say(f"learnt {numbers} from {known.rows:,} labels, {known.rarer:,} of the rarer kind")
    if known.gain is not None:
        shown = "" if known.is_shown else ": these labels do not show that it helps"
        console.say(f"accuracy changes by {plus_minus(known.gain)}{shown}")


def show_attack(done: "Attacked") -> None:
    """Print the share of each category that was called CORRECT, then such answers."""
    from rich.text import Text

    from adjudge.cli._show import Terminal, new_table

    if done.whole is None:
        return
    console = Terminal()
    table = new_table(f"attack on {printable(done.judge)}", "rows", "called CORRECT", "share", "95 % interval")
    for one in done.categories:
        table.add_row(*map(Text, _attack_cells(one)), style="red" if one.taken else "")
    table.add_row(*map(Text, _attack_cells(done.whole)), style="bold")
    console.print(table)
    missing = done.whole.total - done.whole.judged
    if missing:
        words = f"* {missing:,} of {done.whole.total:,} attacks have no verdict and are in none of these figures"
        why = done.finished.summary.tallies[-1].reasons.most_common(5) if done.finished.summary is not None else []
        reasons = ", ".join(f"{printable(reason)} {count:,}" for reason, count in why)
        console.say(f"{words}: {reasons}")
    for taken in done.taken[:MOST_ANSWERS]:
        words = f"{taken.id}: {printable(taken.response, most=80)!r} is wrong: {printable(taken.why, most=120)}"
        console.say(f"    {words}", "dim")
    if len(done.taken) > MOST_ANSWERS:
        more = f"    and {len(done.taken) - MOST_ANSWERS:,} more: --out FILE has every verdict"
        console.say(more, "dim")


def _attack_cells(one: "AttackKind") -> list[str]:
    rate = one.rate
    share = "–" if rate is None else f"{rate.value:.1%}"
    interval = "–" if rate is None or rate.low is None or rate.high is None else f"{rate.low:.1%} .. {rate.high:.1%}"
    mark = "*" if one.judged < one.total else ""
    return [one.name, f"{one.judged:,}{mark}", f"{one.taken:,}", share, interval]
