"""`adjudge judge`: ask a judge about rows."""

from typing import Any

import click

from adjudge.cli._options import SETTINGS, Share, debug_option
from adjudge.cli._run_options import BUDGETS, CANARIES, LIMITS, dry_run_option, terminable, with_options


@click.group(
    "judge",
    context_settings=SETTINGS,
    short_help="Ask a judge about rows.",
    epilog="\b\nExample:\n  adjudge judge run rows.jsonl --judge local",
)
@debug_option
def command() -> None:
    """Ask a judge about rows."""


@command.command(
    "run",
    context_settings=SETTINGS,
    short_help="Judge a file of rows.",
    epilog="""\b
Examples:
  adjudge judge run rows.jsonl --judge local
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --out verdicts.jsonl
  adjudge judge run rows.jsonl --judge openai:llama --base-url http://localhost:8000/v1
  adjudge judge run rows.jsonl --judge openai:gpt-4.1 --price 2,8 --max-cost 5 --run july.run
  adjudge judge run rows.jsonl --judge local --calibration calibration/local-0.json

\b
The key is read from OPENAI_API_KEY. Exit codes: 0 judged; 2 the call is wrong; 3 undecided
(stopped, no rows, or more than --max-unscored have no score); 130 and 143 interrupted. A run
that did not end goes on with: adjudge resume FILE""",
)
@click.argument("rows")
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, panel:A,B, cascade:local,B ...")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@click.option("--error-budget", type=Share(), help="A cascade's: share of wrong verdicts among those its first keeps.")
@with_options(*LIMITS, CANARIES, *BUDGETS)
@click.option("--run", help="The run file; one that exists goes on, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, in input order ('-': standard output).")
@click.option("--calibration", help="What is known of the judge, by adjudge judge calibrate: corrects the mean.")
@dry_run_option
@debug_option
def run(
    rows: str,
    judge: str,
    base_url: str | None,
    error_budget: float | None,
    run: str | None,
    out: str | None,
    calibration: str | None,
    dry_run: bool,
    **limits: Any,
) -> int:
    """Judge every row of ROWS (JSON lines, CSV or Parquet) with id, question, reference and response.

    Replies are kept in the run file before they are read, so that nothing is paid twice.
    """
    from adjudge.cli._live import live, show_finished
    from adjudge.runs import RunConfig
    from adjudge.runs._sessions import judge_file

    config = RunConfig(**limits)
    options = {"base_url": base_url, "error_budget": error_budget}
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs._estimate import estimate

        return show_estimate(estimate(rows, judge=judge, options=options, config=config))
    known = None
    if calibration is not None:
        from adjudge.judges import load_calibration

        known = load_calibration(calibration)
    with terminable(), live() as watch:
        finished = judge_file(rows, judge, options=options, config=config, run=run, out=out, watch=watch)
    code = show_finished(finished, to_stderr=out == "-")
    if known is not None and finished.summary is not None:
        from adjudge.cli._show_calibration import show_corrected

        show_corrected(known, finished.summary, to_stderr=out == "-")
    return code


@command.command(
    "calibrate",
    context_settings=SETTINGS,
    short_help="Measure a judge on labelled rows.",
    epilog="""\b
Examples:
  adjudge judge calibrate labels.jsonl --judge local
  adjudge judge calibrate labels.jsonl --judge local --judge openai:gpt-4.1-mini --out known
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --calibration known/openai-gpt-4.1-mini.json

\b
Rows have id, question, reference, response and label (1 or 0). Where there are several annotators, annotators is
the list of their labels; group (or source, or split) tells kinds of rows apart.""",
)
@click.argument("labels")
@click.option("--judge", "judges", required=True, multiple=True, help="The judge to measure; may be given again.")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@with_options(*LIMITS, *BUDGETS)
@click.option("--out", default="calibration", show_default=True, help="The folder for what is found, a file a judge.")
@click.option(
    "--probes",
    default=50,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows about which a model is asked once more.",
)
@debug_option
def calibrate(labels: str, judges: tuple[str, ...], base_url: str | None, out: str, probes: int, **limits: Any) -> int:
    """Measure how far judges agree with the people who labelled LABELS, and keep it for later runs."""
    from adjudge.cli._live import live, show_finished
    from adjudge.cli._show_calibration import keep_calibration, show_calibrations
    from adjudge.runs import RunConfig
    from adjudge.runs._calibrate import calibrate_file

    config = RunConfig(**limits)
    found, worst = [], 0
    with terminable():
        for judge in judges:
            with live() as watch:
                done = calibrate_file(
                    labels, judge, options={"base_url": base_url}, config=config, probes=probes, watch=watch
                )
            if done.calibration is None:
                return show_finished(done.finished, to_stderr=False)
            worst = max(worst, done.finished.exit_code)
            found.append((done.calibration, keep_calibration(done.calibration, out)))
    show_calibrations(found)
    return worst


@command.command(
    "attack",
    context_settings=SETTINGS,
    short_help="See which wrong answers a judge takes for right.",
    epilog="""\b
Examples:
  adjudge judge attack --judge local
  adjudge judge attack --judge openai:gpt-4.1-mini --max-false-positives 2%

\b
Exit codes: 0 attacked; 1 more taken than --max-false-positives; 2 the call is wrong; 3 undecided.""",
)
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, litellm:MODEL or panel:A,B.")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@with_options(*LIMITS, *BUDGETS)
@click.option("--run", help="The run file; one that exists goes on, if it is the same run.")
@click.option("--max-false-positives", type=Share(), help="Fail where a greater share is called CORRECT.")
@debug_option
def attack(judge: str, base_url: str | None, run: str | None, max_false_positives: float | None, **limits: Any) -> int:
    """Ask a judge about wrong answers that were made to be taken for right ones."""
    from adjudge.cli._live import live, show_finished
    from adjudge.cli._show_attack import show_attack
    from adjudge.runs import RunConfig
    from adjudge.runs._attack import attack_judge

    config = RunConfig(**limits)
    with terminable(), live() as watch:
        done = attack_judge(judge, options={"base_url": base_url}, config=config, run=run, watch=watch)
    if done.report is None:
        return show_finished(done.finished, to_stderr=False)
    show_attack(done)
    rate = done.report.rate
    if done.finished.exit_code or rate is None:
        return done.finished.exit_code or 3
    return int(max_false_positives is not None and rate > max_false_positives)
