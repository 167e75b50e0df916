"""`adjudge rescore`: score a run's answers again."""

from typing import Any

import click

from adjudge.cli._options import (
    BUDGETS,
    CANARIES,
    LIMITS,
    dry_run_option,
    exit_on_sigterm,
    new_command,
    with_options,
)


@new_command(
    "rescore",
    short_help="Score a run's answers again.",
    epilog="""\b
Examples:
  adjudge rescore july.run --judge local --out verdicts.jsonl
  adjudge rescore july.run --scorer qa_f1_reward --scorer qa_em_reward --run again.run""",
)
@click.argument("file")
@click.option("--scorer", "scorers", multiple=True, help="A name, module:function, or either with (option=value).")
@click.option("--judge", help="local, openai:MODEL, anthropic:MODEL, panel:A,B, cascade:local,B ...")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@with_options(*LIMITS, CANARIES, *BUDGETS)
@click.option("--run", help="The new run file.")
@click.option("--out", help="Write the results here, in input order ('-': standard output).")
@dry_run_option
def command(
    file: str, scorers: tuple[str, ...], judge: str | None, base_url: str | None, run: str | None, **more: Any
) -> int:
    """Score what the agent of the run in FILE did with other scorers or another judge, into a new run file.

    The agent is not asked again.
    """
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import RunConfig, rescore_run

    out, dry_run, options = more.pop("out"), more.pop("dry_run"), {"base_url": base_url}
    config = RunConfig(**more)
    # Before the new run file is made: an estimate leaves nothing behind.
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs import estimate_rescore

        return show_estimate(estimate_rescore(file, scorers=scorers, judge=judge, options=options, config=config))
    with exit_on_sigterm(), live() as watch:
        finished = rescore_run(
            file,
            scorers=scorers,
            judge=judge,
            options=options,
            config=config,
            run=run,
            out=out,
            watch=watch,
        )
    return show_finished(finished, to_stderr=out == "-")
