"""`adjudge judge`: ask a judge about rows."""

from collections.abc import Sequence
from typing import Any

import click

from adjudge.cli._options import SETTINGS, Share, debug_option
from adjudge.cli._run_options import BUDGETS, CANARIES, JUDGING, LIMITS, dry_run_option, terminable, with_options

JUDGE = ("base_url", "error_budget", "first_calibration")  # options of a judge; the others are limits


@click.group(
    "judge",
    context_settings=SETTINGS,
    short_help="Ask a judge about rows.",
    epilog="\b\nExample:\n  adjudge judge run rows.jsonl --judge local",
)
@debug_option
def command() -> None:
    """Ask a judge about rows."""


def options_of(judges: Sequence[str], *files: str | None, **given: Any) -> dict[str, dict[str, Any]]:
    """Return the options of every judge, all of which can be had, before any is asked; files are of one judge."""
    from adjudge.errors import UsageError
    from adjudge.judges import CASCADE_OPTIONS, get_judge

    if len(judges) > 1 and any(file is not None for file in files):
        raise UsageError("--run and attack's --out are files of one judge: give them with one judge")
    options = {judge: {name: value for name, value in given.items() if value is not None} for judge in judges}
    if any(judge.startswith("cascade:") for judge in judges):  # whose own options are nobody else's
        for judge in judges:
            if not judge.startswith("cascade:"):
                options[judge] = {name: value for name, value in options[judge].items() if name not in CASCADE_OPTIONS}
    for judge in judges:
        get_judge(judge, **options[judge])
    return options


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
  adjudge judge run rows.jsonl --judge local:1 --calibration calibration/local-1.json

\b
Columns may have other names: query, prompt or input; references, answer or ground_truth;
final_response, prediction or candidate. Several references are a list.

\b
The key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY. Exit codes: 0 judged; 2 the call is
wrong; 3 undecided (stopped, no rows, or more than --max-unscored have no score); 130 and 143
interrupted. A run that did not end goes on with: adjudge resume FILE""",
)
@click.argument("rows")
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, panel:A,B, cascade:local,B ...")
@with_options(*JUDGING, *LIMITS, CANARIES, *BUDGETS)
@click.option("--run", help="The run file; one that exists goes on, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, in input order ('-': standard output).")
@click.option("--calibration", help="What is known of the judge, by adjudge judge calibrate: corrects the mean.")
@dry_run_option
@debug_option
def run(
    rows: str,
    judge: str,
    run: str | None,
    out: str | None,
    calibration: str | None,
    dry_run: bool,
    **more: Any,
) -> int:
    """Judge every row of ROWS (JSON lines, CSV or Parquet) with id, question, reference and response.

    Replies are kept in the run file before they are read, so that nothing is paid twice.
    """
    from adjudge.cli._live import live, show_finished
    from adjudge.runs import RunConfig, judge_file

    options = {name: more.pop(name) for name in JUDGE}
    config = RunConfig(**more)
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs import estimate

        return show_estimate(estimate(rows, judge=judge, options=options, config=config))
    known = None
    if calibration is not None:
        from adjudge.judges import load_calibration

        known = load_calibration(calibration)
    with terminable(), live() as watch:
        finished = judge_file(
            rows, judge, options=options, config=config, run=run, out=out, calibration=known, watch=watch
        )
    return show_finished(finished, to_stderr=out == "-")


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
Rows have id, question, reference, response and label (1 or 0). Where there are several annotators,
annotators is the list of their labels; group (or source, or split) tells kinds of rows apart.
Budgets hold for all judges and probes together. Exit codes: 0 measured and kept; 2 the call is
wrong; 3 undecided, nothing is kept (stopped, a label that cannot be read, or more than
--max-unscored have no verdict); 130 and 143 interrupted.""",
)
@click.argument("labels")
@click.option("--judge", "judges", required=True, multiple=True, help="The judge to measure; may be given again.")
@with_options(*JUDGING, *LIMITS, *BUDGETS)
@click.option("--run", help="The run file, of one judge; one that exists goes on, if it is the same run.")
@click.option("--out", default="calibration", show_default=True, help="The folder for what is found, a file a judge.")
@click.option(
    "--probes",
    default=50,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows about which a model is asked once more.",
)
@debug_option
def calibrate(
    labels: str,
    judges: tuple[str, ...],
    run: str | None,
    out: str,
    probes: int,
    **more: Any,
) -> int:
    """Measure how far judges agree with the people who labelled LABELS, and keep it for later runs."""
    from adjudge.cli._live import live, show_finished
    from adjudge.cli._show_calibration import keep_calibration, make_folder, show_calibrations
    from adjudge.runs import RunConfig, calibrate_file

    options = options_of(judges, run, **{name: more.pop(name) for name in JUDGE})
    config = RunConfig(**more)
    make_folder(out)
    measured, worst = [], 0
    with terminable():
        for judge in judges:
            with live() as watch:
                done = calibrate_file(
                    labels, judge, options=options[judge], config=config, run=run, probes=probes, watch=watch
                )
            worst = max(worst, done.finished.exit_code)
            config = done.left
            if done.calibration is None:
                show_finished(done.finished, to_stderr=False, again="the same command with --run")
                break
            place = keep_calibration(done.calibration, out) if done.finished.undecided is None else None
            measured.append((done, place))
    show_calibrations(measured)
    return worst


@command.command(
    "attack",
    context_settings=SETTINGS,
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
@click.option("--run", help="The run file, of one judge; one that exists goes on, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, of one judge.")
@click.option("--max-false-positives", type=Share(), help="Fail where a greater share is called CORRECT.")
@debug_option
def attack(
    judges: tuple[str, ...],
    run: str | None,
    out: str | None,
    max_false_positives: float | None,
    **more: Any,
) -> int:
    """Ask judges about wrong answers that were made to be taken for right ones."""
    from adjudge.cli._live import live, show_end, show_finished
    from adjudge.cli._show_attack import show_attack
    from adjudge.runs import RunConfig, attack_judge

    options = options_of(judges, run, out, **{name: more.pop(name) for name in JUDGE})
    config = RunConfig(**more)
    codes = []
    with terminable():
        for judge in judges:
            with live() as watch:
                done = attack_judge(judge, options=options[judge], config=config, run=run, out=out, watch=watch)
            if done.whole is None:
                return show_finished(done.finished, to_stderr=False, again="the same command with --run")
            show_attack(done)
            show_end(done.finished)
            codes.append(done.exit_code(max_false_positives))
    return max(codes)
