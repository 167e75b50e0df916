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
    RAY,
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
    from adjudge.judges import Calibration

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
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --ray auto

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
@RAY
@dry_run_option
def run(
    rows: str,
    judge: str,
    columns: tuple[tuple[str, str], ...],
    run: str | None,
    out: str | None,
    calibration: str | None,
    dry_run: bool,
    ray: str | None,
    **more: Any,
) -> int:
    """Judge every row of ROWS (JSON lines, CSV or Parquet) with id, question, reference and response.

    Replies are kept in the run file before they are read, so that nothing is paid twice.
    """
    from contextlib import nullcontext

    from adjudge.cli._ray import fleet_at
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
    with exit_on_sigterm(), nullcontext() if ray is None else fleet_at(ray) as fleet, live() as watch:
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
            fleet=fleet,
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
    from adjudge.cli._judge_figures import show_calibrations
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
    show_calibrations(measured)
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
    from adjudge.cli._judge_figures import show_fit
    from adjudge.errors import UsageError
    from adjudge.runs import fit_file

    known = fit_file(labels, judge)
    try:
        known.save(out)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror or error}", code="cannot-write") from None
    show_fit(known)
    click.echo(f"adjudge: the fit is in {out}: give it to judge run with --calibration {out}", err=True)
    return 0


@new_command(
    "explain",
    command,
    short_help="Show how the local judge comes to a verdict.",
    epilog="""\b
Example:
  adjudge judge explain --question "Capital of France?" --reference Paris --response "Lyon, not Paris."

\b
Exit codes: 0 explained; 2 the call is wrong.""",
)
@click.option("--question", required=True, help="The question.")
@click.option("--reference", "references", required=True, multiple=True, help="What is accepted; may be given again.")
@click.option("--response", required=True, help="The response.")
@click.option("--judge", default="local", show_default=True, help="local, local:0 or local:1.")
def explain(question: str, references: tuple[str, ...], response: str, judge: str) -> int:
    """Print what is read, which rule speaks, what is asserted, and how sure each step is."""
    from adjudge.errors import UsageError
    from adjudge.judges import get_judge
    from adjudge.judges.local import LocalJudge

    named = get_judge(judge)
    if not isinstance(named, LocalJudge):
        raise UsageError(f"{judge} has no steps to show: explain takes local, local:0 or local:1")
    steps = named.explain(question, references, response)
    said = named.judge(question, references, response)
    click.echo(f"{said.verdict} at {said.probability:.2f} ({named.name}): {', '.join(said.reasons)}")
    width = max(len(step.name) for step in steps)
    for step in steps:
        click.echo(f"  {step.name:{width}}  {printable(step.said, most=300)}")
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
    from adjudge.cli._judge_figures import show_attack
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
            show_attack(done)
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
