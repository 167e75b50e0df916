"""`adjudge plan`: what a run would call and cost."""

from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import BUDGETS, new_command, with_options
from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.runs import CostEstimate


@new_command(
    "plan",
    short_help="What a run would call and cost.",
    epilog="""\b
Examples:
  adjudge plan rows.jsonl --judge openai:gpt-4.1-mini --price 0.4,1.6
  adjudge plan cases.jsonl --agent openai:gpt-4.1 --judge openai:gpt-4.1-mini --price 2,8
  adjudge plan rows.jsonl --judge local""",
)
@click.argument("rows")
@click.option("--judge", help="local, openai:MODEL, anthropic:MODEL, litellm:MODEL or panel:A,B.")
@click.option("--scorer", "scorers", multiple=True, help="A name, module:function, or either with (option=value).")
@click.option("--agent", help="Who would answer: openai:MODEL, an address, module:function or 'command: PROGRAM'.")
@click.option("--base-url", help="Address of the judge's OpenAI-compatible endpoint.")
@with_options(*BUDGETS[-2:])
def command(
    rows: str, judge: str | None, scorers: tuple[str, ...], agent: str | None, base_url: str | None, **limits: Any
) -> int:
    """Print what answering ROWS by an agent, scoring and judging them would call and cost; nothing is called.

    Without an agent the rows hold their responses.
    """
    from adjudge.runs import RunConfig, estimate

    options = {"base_url": base_url}
    found = estimate(rows, judge=judge, scorers=scorers, agent=agent, options=options, config=RunConfig(**limits))
    return show_estimate(found)


def show_estimate(found: "CostEstimate") -> int:
    """Print an estimate."""
    click.echo(f"rows              {found.rows:,}")
    click.echo(f"  unreadable      {found.unreadable:,}")
    click.echo(f"  without a call  {found.without_call:,}")
    click.echo(f"calls             {found.calls:,}")
    if found.agent_calls is not None:
        click.echo(f"  of the agent    {found.agent_calls:,}")
        click.echo(f"  of judges       {found.judge_calls:,}")
    click.echo(f"  known already   {found.known:,}")
    click.echo(f"  asked once only {found.repeated:,}")
    click.echo(f"tokens, about     {found.prompt_tokens:,} in, {found.completion_tokens:,} out")
    click.echo(f"cost, about       {'unknown: give --price' if found.cost is None else f'${found.cost:.2f}'}")
    for line in found.unknown:
        click.echo(f"not known         {printable(line)}")
    return 0
