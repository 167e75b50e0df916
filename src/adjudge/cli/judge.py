"""`adjudge judge`: ask a judge about rows, measure it on labelled ones, or attack it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import (
    BUDGETS,
    CANARIES,
    JUDGING,
    LIMITS,
    MAP,
    THRESHOLDS,
    Share,
    dry_run_option,
    exit_on_sigterm,
    new_command,
    new_group,
    with_options,
)
from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.judges import Calibration, Fit
    from adjudge.runs import Attacked, AttackKind, Calibrated
    from adjudge.statistics import Agreement

SHARES = ("right kept", "wrong caught")
MOST_GROUPS = 20  # in the table of calibrations
MOST_ANSWERS = 10  # of those that an attacked judge took
JUDGE = ("base_url", "error_budget", "first_calibration")  # options of a judge; the others are limits


command = new_group(
    "judge",
    short_help="Ask a judge about rows.",
    epilog="\b\nExample:\n  adjudge judge run rows.jsonl --judge local",
    help="Ask a judge about rows.",
)


def options_of(judges: Sequence[str], *files: str | None, **given: Any) -> dict[str, dict[str, Any]]:
    """Return the options of every judge, having made each once, so that a fault shows before any is asked."""
    from adjudge.errors import UsageError
    from adjudge.judges import CASCADE_OPTIONS, get_judge

    if len(judges) > 1 and any(file is not None for file in files):
        raise UsageError("--run and attack's --out are files of one judge: give one --judge with them")
    options: dict[str, dict[str, Any]] = {}
    has_cascade = any(judge.startswith("cascade:") for judge in judges)
    for judge in judges:
        known = {name: value for name, value in given.items() if value is not None}
        # A cascade's own options are not for the other judges, which would refuse them.
        if has_cascade and not judge.startswith("cascade:"):
            known = {name: value for name, value in known.items() if name not in CASCADE_OPTIONS}
        get_judge(judge, **known)
        options[judge] = known
    return options


@new_command(
    "run",
    command,
    short_help="Judge a file of rows.",
    epilog="""\b
Examples:
  adjudge judge run rows.jsonl --judge local
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --out verdicts.jsonl
  adjudge judge run rows.jsonl --judge openai:llama --base-url http://localhost:8000/v1
  adjudge judge run rows.jsonl --judge openai:gpt-4.1 --price 2,8 --max-cost 5 --run july.run
  adjudge judge run rows.jsonl --judge local:1 --calibration calibration/local-1.json

\b
Columns may have other names: query, prompt or input; references, answer or ground_truth;
final_response, prediction or candidate. Several references are a list. --map response=output
names any other column.

\b
The key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY. Exit codes: 0 judged; 1 below a
--threshold; 2 the call is wrong; 3 undecided (stopped, no rows, or more than --max-unscored have
no score); 130 and 143 interrupted. To resume a run that did not end: adjudge resume FILE""",
)
@click.argument("rows")
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, panel:A,B, cascade:local,B ...")
@with_options(*JUDGING, *LIMITS, *THRESHOLDS, CANARIES, *BUDGETS)
@click.option("--run", help="The run file; one that exists is resumed, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, in input order ('-': standard output).")
@click.option(
    "--calibration", help="By adjudge judge calibrate: corrects the mean. By adjudge judge fit: corrects each verdict."
)
@MAP
@dry_run_option
def run(
    rows: str,
    judge: str,
    columns: tuple[tuple[str, str], ...],
    run: str | None,
    out: str | None,
    calibration: str | None,
    dry_run: bool,
    **more: Any,
) -> int:
    """Judge every row of ROWS (JSON lines, CSV or Parquet) with id, question, reference and response.

    Replies are kept in the run file before they are read, so that nothing is paid twice.
    """
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import RunConfig, judge_file

    options = {name: more.pop(name) for name in JUDGE}
    config = RunConfig(**more)
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs import estimate

        return show_estimate(estimate(rows, judge=judge, options=options, config=config))
    known = None
    if calibration is not None:
        from adjudge.judges import load_calibration, load_fit

        # A fit changes each verdict, a calibration corrects the mean of all.
        if load_fit(calibration) is not None:
            options["fit"] = calibration
        else:
            known = load_calibration(calibration)
    with exit_on_sigterm(), live() as watch:
        finished = judge_file(
            rows,
            judge,
            columns=dict(columns),
            options=options,
            config=config,
            run=run,
            out=out,
            calibration=known,
            watch=watch,
        )
    return show_finished(finished, to_stderr=out == "-")


@new_command(
    "calibrate",
    command,
    short_help="Measure a judge on labelled rows.",
    epilog="""\b
Examples:
  adjudge judge calibrate labels.jsonl --judge local
  adjudge judge calibrate labels.jsonl --judge local --judge openai:gpt-4.1-mini --out known
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --calibration known/openai-gpt-4.1-mini.json

\b
Rows have id, question, reference, response and label (1 or 0). Where there are several annotators,
annotators is the list of their labels; group (or source, or split) tells kinds of rows apart.
Budgets hold for all judges and probes together. Exit codes: 0 measured and kept; 2 the call is
wrong; 3 undecided, nothing is kept (stopped, a label that cannot be read, or more than
--max-unscored have no verdict); 130 and 143 interrupted.""",
)
@click.argument("labels")
@click.option("--judge", "judges", required=True, multiple=True, help="The judge to measure; may be given again.")
@with_options(*JUDGING, *LIMITS, *BUDGETS)
@click.option("--run", help="The run file, of one judge; one that exists is resumed, if it is the same run.")
@click.option("--out", default="calibration", show_default=True, help="The folder of the calibrations, a file a judge.")
@click.option(
    "--probes",
    default=50,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows about which a model is asked once more.",
)
def calibrate(
    labels: str,
    judges: tuple[str, ...],
    run: str | None,
    out: str,
    probes: int,
    **more: Any,
) -> int:
    """Measure how far judges agree with the people who labelled LABELS, and keep it for later runs."""
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import RunConfig, calibrate_file

    options = options_of(judges, run, **{name: more.pop(name) for name in JUDGE})
    config = RunConfig(**more)
    _make_folder(out)
    measured, worst = [], 0
    with exit_on_sigterm():
        for judge in judges:
            with live() as watch:
                done = calibrate_file(
                    labels, judge, options=options[judge], config=config, run=run, probes=probes, watch=watch
                )
            # The worst judge decides the exit code; what is left of the budgets is for the next one.
            worst = max(worst, done.finished.exit_code)
            config = done.left
            if done.calibration is None:
                show_finished(done.finished, again="the same command with --run")
                break
            # A calibration on too few verdicts would correct later runs by noise: it is shown and not kept.
            place = _save_calibration(done.calibration, out) if done.finished.undecided is None else None
            measured.append((done, place))
    _show_calibrations(measured)
    return worst


@new_command(
    "fit",
    command,
    short_help="Correct the local judge by labelled rows.",
    epilog="""\b
Examples:
  adjudge judge fit labels.jsonl --out fit.json
  adjudge judge run rows.jsonl --judge local --calibration fit.json

\b
Rows have question, reference, response and label (1 or 0). An intercept is learnt first, then one
more number for every ten labels of the rarer kind, seven at most; how much they are worth is
measured on questions that were left out. Exit codes: 0 kept; 2 the call is wrong, or there are
fewer than five labels of either kind.""",
)
@click.argument("labels")
@click.option("--judge", default="local", show_default=True, help="local, local:0 or local:1.")
@click.option("--out", required=True, help="Write the fit here.")
def fit(labels: str, judge: str, out: str) -> int:
    """Learn a small correction of the local judge from LABELS, and keep it for later runs."""
    from adjudge.errors import UsageError
    from adjudge.runs import fit_file

    known = fit_file(labels, judge)
    try:
        known.save(out)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror or error}", code="cannot-write") from None
    _show_fit(known)
    click.echo(f"adjudge: the fit is in {out}: give it to judge run with --calibration {out}", err=True)
    return 0


@new_command(
    "attack",
    command,
    short_help="See which wrong answers a judge takes for right.",
    epilog="""\b
Examples:
  adjudge judge attack --judge local
  adjudge judge attack --judge local --judge openai:gpt-4.1-mini
  adjudge judge attack --judge openai:gpt-4.1-mini --max-false-positives 2% --out verdicts.jsonl

\b
Exit codes: 0 attacked; 1 more taken than --max-false-positives; 2 the call is wrong; 3 undecided
(stopped, or more than --max-unscored have no verdict); 130 and 143 interrupted.""",
)
@click.option("--judge", "judges", required=True, multiple=True, help="The judge to attack; may be given again.")
@with_options(*JUDGING, *LIMITS, *BUDGETS)
@click.option("--run", help="The run file, of one judge; one that exists is resumed, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, of one judge.")
@click.option("--max-false-positives", type=Share(), help="Fail where a greater share is called CORRECT.")
def attack(
    judges: tuple[str, ...],
    run: str | None,
    out: str | None,
    max_false_positives: float | None,
    **more: Any,
) -> int:
    """Ask judges about wrong answers that were made to be taken for right ones."""
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import RunConfig, attack_judge

    options = options_of(judges, run, out, **{name: more.pop(name) for name in JUDGE})
    config = RunConfig(**more)
    codes = []
    with exit_on_sigterm():
        for judge in judges:
            with live() as watch:
                done = attack_judge(judge, options=options[judge], config=config, run=run, out=out, watch=watch)
            if done.whole is None:
                return show_finished(done.finished, again="the same command with --run")
            _show_attack(done)
            show_finished(done.finished, end_only=True)
            codes.append(done.exit_code(max_false_positives))
    return max(codes)


def _make_folder(folder: str) -> None:
    """Make the folder of the calibrations, or refuse it before a judge is paid."""
    import os

    from adjudge.errors import UsageError

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
    # A folder that exists may still refuse new files.
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder} is not a folder that can be written to", code="cannot-write")


def _save_calibration(known: "Calibration", folder: str) -> Path:
    """Write the calibration of a judge, and its curve where it gives probabilities; return the file."""
    import re

    from adjudge.errors import UsageError
    from adjudge.judges import reliability_svg

    # A judge's name has colons, slashes and commas, which file systems do not all take.
    name = re.sub(r"[^a-z0-9._]+", "-", known.judge.lower()).strip("-.")[:80] or "judge"
    path = Path(folder, f"{name}.json")
    try:
        known.save(path)
        if known.reliability is not None:
            path.with_suffix(".svg").write_text(reliability_svg(known.reliability, known.judge), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
    return path


def _show_calibrations(measured: Sequence[tuple["Calibrated", Path | None]]) -> None:
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
    for known, done, place in found:
        for line in _notes(known):
            console.say(f"{printable(known.judge)}: {line}")
        for warning in done.finished.warnings:
            click.echo(f"adjudge: warning: {printable(warning, most=500)}", err=True)
        curve = "" if place is None or known.reliability is None else f", its curve in {place.with_suffix('.svg')}"
        kept = f"is not kept: undecided, {done.finished.undecided}" if place is None else f"is kept in {place}{curve}"
        click.echo(f"adjudge: {printable(known.judge)} {kept}; the run is in {done.finished.file}", err=True)


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


def _show_fit(known: "Fit") -> None:
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


def _show_attack(done: "Attacked") -> None:
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
