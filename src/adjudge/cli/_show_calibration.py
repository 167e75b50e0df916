"""What is known of judges, as tables; and the files that keep it."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.cli._show import Terminal, plus_minus
from adjudge.errors import UsageError
from adjudge.judges import Calibration, reliability_svg
from adjudge.runs import Calibrated
from adjudge.statistics import Agreement

SHOWN = 20  # groups in the table


def make_folder(folder: str) -> None:
    """Make the folder for what will be found, or refuse it before anybody is paid."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder} is no folder that can be written to", code="cannot-write")


def keep_calibration(known: Calibration, folder: str) -> Path:
    """Write what is known of a judge, and its curve where it gives probabilities; return the file."""
    name = re.sub(r"[^a-z0-9._]+", "-", known.judge.lower()).strip("-.")[:80] or "judge"
    path = Path(folder, f"{name}.json")
    try:
        known.save(path)
        if known.reliability is not None:
            path.with_suffix(".svg").write_text(reliability_svg(known.reliability, known.judge), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
    return path


def show_calibrations(measured: Sequence[tuple[Calibrated, Path | None]]) -> None:
    """Print what was found of each judge in one table, with 95 % intervals, then what each has of its own."""
    console = Terminal()
    found = [(done.calibration, done, place) for done, place in measured if done.calibration is not None]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("judge", overflow="fold")
    for name in ("rows", "accuracy", "kappa", "right kept", "wrong caught", "ECE"):
        table.add_column(name, justify="right", no_wrap=True)
    for known, _, _ in found:
        error = "" if known.reliability is None else _short(f"{known.reliability.error:.3f}")
        table.add_row(*map(Text, [*_cells(known.judge, known.rows, known.agreement), error]))
        for group, part in list(known.groups.items())[:SHOWN]:
            table.add_row(*map(Text, _cells(f"  {group}", part.n, part)), style="dim")
    if found:
        console.print(table)
    for known, done, place in found:
        for line in _notes(known):
            console.print(Text(f"{printable(known.judge)}: {line}"), soft_wrap=True)
        for warning in done.finished.warnings:
            click.echo(f"adjudge: warning: {printable(warning, most=500)}", err=True)
        curve = "" if place is None or known.reliability is None else f", its curve in {place.with_suffix('.svg')}"
        kept = f"is not kept: undecided, {done.finished.undecided}" if place is None else f"is kept in {place}{curve}"
        click.echo(f"adjudge: {printable(known.judge)} {kept}; the run is in {done.finished.file}", err=True)


def _cells(name: str, rows: int, part: Agreement | None) -> list[str]:
    shares = (None,) * 4 if part is None else (part.accuracy, part.kappa, part.sensitivity, part.specificity)
    return [printable(name), f"{rows:,}", *("–" if one is None else _short(plus_minus(one)) for one in shares)]


def _short(number: str) -> str:
    """Return numbers without the zero before the point: the table has to fit 80 columns."""
    return number.replace("0.", ".")


def _notes(known: Calibration) -> list[str]:
    """Return what a table has no room for."""
    lines: list[str] = []
    part = known.agreement
    if part is not None:
        lines.append(
            f"called CORRECT {part.right_called_right:,} right and {part.wrong_called_right:,} wrong responses,"
            f" WRONG {part.right_called_wrong:,} right and {part.wrong_called_wrong:,} wrong ones"
        )
        if part.sensitivity is None or part.specificity is None:
            which = "right" if part.specificity is None else "wrong"
            lines.append(f"every response is {which} by its label: kappa says nothing, and error rates correct no run")
    if len(known.groups) > SHOWN:
        lines.append(f"{len(known.groups) - SHOWN:,} more groups stand in the file")
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
