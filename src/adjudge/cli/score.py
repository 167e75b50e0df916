"""`adjudge score`: score a file of rows."""

from typing import Any

import click

from adjudge.cli._options import ACCEPT_CHANGES, MAP, NO_CODE, RAY, Share, new_command


@new_command(
    "score",
    short_help="Score a file of rows.",
    epilog="""\b
Examples:
  adjudge score rows.jsonl --scorer qa_f1_reward
  adjudge score rows.csv --scorer qa_em_reward --map final_response=completion --out scores.jsonl
  adjudge score rows.jsonl --scorer 'qa_f1_reward_tool(f1_threshold=0.5)' --workers 4
  adjudge score rows.jsonl --scorer local:0 --scorer qa_f1_reward --run july.run
  adjudge score rows.jsonl --scorer qa_f1_reward --out scores.jsonl --ray auto
  zcat rows.jsonl.gz | adjudge score - --scorer my_rewards:brevity --out -

\b
Exit codes: 0 scored; 2 the call is wrong; 3 no rows, or more than --max-failed have no score.""",
)
@click.argument("rows")
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    required=True,
    help="A reward, a judge (local:0, openai:MODEL ...), module:function, each with (option=value). Repeatable.",
)
@MAP
@click.option("--out", help="Write one score a line here, in input order ('-': standard output).")
@click.option("--run", help="Keep everything in this run file; one that exists is resumed, if it is the same run.")
@click.option(
    "--workers", type=click.IntRange(min=1), help="Processes that score [1], or calls in flight of a run [32]."
)
@RAY
@click.option("--max-failed", default="5%", show_default=True, type=Share(), help="Share of rows that may fail.")
@ACCEPT_CHANGES
@NO_CODE
@click.option("--format", "format_", help="jsonl, csv or parquet; by default the file's ending says.")
@click.option("--harbor", is_flag=True, help="Write the reward of a trial of Harbor; ROWS has its one row.")
@click.option("--logs", default="/logs", show_default=True, help="With --harbor: the logs of the trial.")
@click.option("--answer-file", help="With --harbor: the file that the agent was asked to write; else its last reply.")
def command(
    rows: str,
    scorers: tuple[str, ...],
    columns: tuple[tuple[str, str], ...],
    out: str | None,
    run: str | None,
    max_failed: float,
    **more: Any,
) -> int:
    """Score every row of ROWS (JSON lines, CSV or Parquet; '-' for standard input) with every scorer.

    A row's columns are the scorer's arguments: final_response (or prediction), answer, trajectory, ... A row that
    cannot be scored becomes an error row; the others are scored. With --run, or where a scorer asks a model, the
    scores are kept in a run file, which adjudge show, rescore, resume and runs merge read.
    """
    from contextlib import nullcontext

    from adjudge.cli._ray import fleet_at, mapping_at
    from adjudge.cli._show import Terminal, progress, show_summary
    from adjudge.datasets import format_of
    from adjudge.rewards import get_scorer
    from adjudge.runs import score_file

    if more["harbor"]:
        return _verify(rows, scorers, more["logs"], more["answer_file"])
    kind, workers, ray = format_of(rows, more["format_"]), more["workers"], more["ray"]
    # Where a scorer asks a model, replies cost money: they are kept in a run file even if none was named.
    if run is not None or any(get_scorer(scorer).asks for scorer in scorers):
        from adjudge.cli._options import exit_on_sigterm
        from adjudge.cli._show import live, show_finished
        from adjudge.runs import RunConfig, score_run

        limits = {"workers": workers} if workers else {}
        config = RunConfig(**limits, max_unscored=max_failed, accept_changes=more["accept_changes"])
        with exit_on_sigterm(), nullcontext() if ray is None else fleet_at(ray) as fleet, live() as watch:
            finished = score_run(
                rows,
                scorers,
                columns=dict(columns),
                format=kind,
                config=config,
                run=run,
                out=out,
                watch=watch,
                fleet=fleet,
            )
        return show_finished(finished, to_stderr=out == "-")
    with nullcontext() if ray is None else mapping_at(ray) as map_over, progress(rows) as on_progress:
        summary = score_file(
            rows,
            scorers,
            columns=dict(columns),
            out=out,
            workers=workers or 1,
            format=kind,
            on_progress=on_progress,
            map_over=map_over,
        )
    show_summary(summary, Terminal(stderr=out == "-"))
    # A mean over a few of the rows decides nothing.
    if not summary.rows or summary.failed_share > max_failed:
        reason = "no rows" if not summary.rows else f"more than {max_failed:.3g} of the rows have no score"
        click.echo(f"adjudge: undecided: {reason}", err=True)
        return 3
    return 0


def _verify(row: str, scorers: tuple[str, ...], logs: str, answer_file: str | None) -> int:
    """Score a trial of Harbor, which takes no reward for a trial that could not be verified."""
    from adjudge.errors import UsageError, printable
    from adjudge.integrations.harbor import score_trial

    if len(scorers) != 1:
        raise UsageError("a trial of Harbor has one reward: give one --scorer, which may be a composite")
    score = score_trial(row, scorers[0], logs=logs, answer_file=answer_file)
    if score.value is None:
        click.echo(f"adjudge: undecided: the trial is {score.status}: {printable(str(score.reason), 500)}", err=True)
        return 3
    click.echo(score.value)
    return 0
