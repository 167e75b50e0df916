"""`adjudge plan`: what a run would call and cost."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import SETTINGS, debug_option
from adjudge.cli._run_options import BUDGETS, with_options

if TYPE_CHECKING:
    from adjudge.runs import RunConfig


@click.command(
    "plan",
    context_settings=SETTINGS,
    short_help="What a run would call and cost.",
    epilog="""\b
Examples:
  adjudge plan rows.jsonl --judge openai:gpt-4.1-mini --price 0.4,1.6
  adjudge plan rows.jsonl --judge local""",
)
@click.argument("rows")
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, litellm:MODEL or panel:A,B.")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@with_options(*BUDGETS[-2:])
@debug_option
def command(rows: str, judge: str, base_url: str | None, **limits: Any) -> int:
    """Say what judging ROWS would call and cost; nobody is asked anything."""
    from adjudge.runs import RunConfig

    return show_estimate(rows, judge, {"base_url": base_url}, RunConfig(**limits))


def show_estimate(rows: str, judge: str, options: Mapping[str, Any], config: "RunConfig") -> int:
    """Print an estimate."""
    from adjudge.runs._estimate import estimate

    found = estimate(rows, judge, options=options, config=config)
    click.echo(f"rows              {found.rows:,}")
    click.echo(f"  unreadable      {found.unreadable:,}")
    click.echo(f"  without a call  {found.without_call:,}")
    click.echo(f"calls             {found.calls:,}")
    click.echo(f"  in the cache    {found.cached:,}")
    click.echo(f"  asked once only {found.repeated:,}")
    click.echo(f"tokens, about     {found.prompt_tokens:,} in, {found.completion_tokens:,} out")
    click.echo(f"cost, about       {'unknown: give --price' if found.cost is None else f'${found.cost:.2f}'}")
    return 0
