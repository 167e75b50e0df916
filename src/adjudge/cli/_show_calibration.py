"""What is known of judges, as tables; and the files that keep it."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.cli._show import Terminal
from adjudge.errors import UsageError
from adjudge.judges import Calibration
from adjudge.judges._curve import reliability_svg
from adjudge.runs import Summary
from adjudge.statistics import Agreement, Estimate


def keep_calibration(known: Calibration, folder: str) -> Path:
    """Write what is known of a judge, and its curve where it gives probabilities; return the file."""
    name = re.sub(r"[^a-z0-9._]+", "-", known.judge.lower()).strip("-.")[:80] or "judge"
    path = Path(folder, f"{name}.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        known.save(path)
        if known.reliability is not None:
            path.with_suffix(".svg").write_text(reliability_svg(known.reliability, known.judge), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
    return path


def show_calibrations(found: Sequence[tuple[Calibration, Path]]) -> None:
    """Print what was found of each judge in one table, with 95 % intervals, then what each has of its own."""
    console = Terminal()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("judge", overflow="fold")
    for name in ("rows", "accuracy", "kappa", "right kept", "wrong caught", "ECE"):
        table.add_column(name, justify="right", no_wrap=True)
    for known, _ in found:
        table.add_row(*map(Text, _cells(known.judge, known.rows, known.agreement, known)))
        for group, part in known.groups.items():
            table.add_row(*map(Text, _cells(f"  {group}", part.n, part, None)), style="dim")
    console.print(table)
    for known, path in found:
        for line in _notes(known):
            console.print(Text(f"{printable(known.judge)}: {line}"), soft_wrap=True)
        click.echo(f"adjudge: {printable(known.judge)} is kept in {path}", err=True)


def _cells(name: str, rows: int, part: Agreement | None, known: Calibration | None) -> list[str]:
    error = "" if known is None or known.reliability is None else f"{known.reliability.error:.3f}"
    if part is None:
        return [printable(name), f"{rows:,}", "–", "–", "–", "–", error]
    shares = (part.accuracy, part.kappa, part.sensitivity, part.specificity)
    return [printable(name), f"{rows:,}", *map(_estimate, shares), error]


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ± {(found.high - found.low) / 2:.3f}"


def _notes(known: Calibration) -> list[str]:
    """Return what a table has no room for."""
    lines: list[str] = []
    part = known.agreement
    if part is not None:
        lines.append(
            f"called CORRECT {part.right_called_right:,} right and {part.wrong_called_right:,} wrong responses,"
            f" WRONG {part.right_called_wrong:,} right and {part.wrong_called_wrong:,} wrong ones"
        )
    missing = known.rows - known.counts.get("scored", 0)
    if missing:
        lines.append(f"{missing:,} of {known.rows:,} rows have no verdict and are in none of these figures")
    if known.alpha is not None:
        people = "" if known.alpha_people is None else f", of the annotators alone {known.alpha_people:.3f}"
        lines.append(f"Krippendorff's alpha with the annotators {known.alpha:.3f}{people}")
    lines.extend(
        f"{probe.name}: the same verdict in {_estimate(probe.same)} of {probe.rows:,} rows"
        for probe in known.probes
        if probe.same is not None
    )
    return lines


def show_corrected(known: Calibration, summary: Summary, *, to_stderr: bool) -> None:
    """Print a run's mean once the faults of its judge are taken out."""
    tally = summary.tallies[-1]
    mean = tally.mean
    console = Terminal(stderr=to_stderr)
    if not known.fits(tally.scorer):
        words = (
            f"the calibration is of {printable(known.judge)}, not of {printable(tally.scorer)}: nothing is corrected"
        )
        console.print(Text(f"warning: {words}", style="yellow"), soft_wrap=True)
        return
    if mean is None:
        return
    n = tally.moments.n
    se = math.sqrt(tally.moments.squares / (n - 1) / n) if n > 1 else None
    observed = Estimate(mean.value, se, mean.low, mean.high, n, None, None, mean.method)
    found = known.corrected(observed)
    if found is None:
        return
    ways = [("by the judge's error rates", found.rogan_gladen), ("by its mean error", found.prediction_powered)]
    said = [
        f"{one.value:.3f} ± {(one.high - one.low) / 2:.3f} {how}"
        for how, one in ways
        if one is not None and one.low is not None and one.high is not None
    ]
    if said:
        console.print(Text(f"accuracy {mean.value:.3f}, corrected {' or '.join(said)}"), soft_wrap=True)
