"""`adjudge math`: is this response equal to the gold answer, and why."""

import click

from adjudge.cli._options import SECONDS, SETTINGS, new_command
from adjudge.errors import printable


@new_command(
    "math",
    context_settings={**SETTINGS, "ignore_unknown_options": True},
    short_help="Compare one response with a gold answer.",
    epilog="""\b
Examples:
  adjudge math 'So the answer is $\\boxed{\\frac{1}{2}}$.' 0.5
  adjudge math 'The answer is 41 or 42.' 42
  adjudge math --extraction lenient 'I get 7 in the end' 7

\b
Exit codes: 0 equal; 1 not equal; 2 the call is wrong; 3 the gold cannot be read.""",
)
@click.argument("response")
@click.argument("gold")
@click.option(
    "--extraction",
    type=click.Choice(["boxed", "final", "lenient"]),
    default="final",
    show_default=True,
    help="Where the answer is looked for.",
)
@click.option(
    "--limit",
    "limit_s",
    type=SECONDS,
    default=2.0,
    show_default=True,
    help="Seconds of CPU time for one comparison.",
)
def command(response: str, gold: str, extraction: str, limit_s: float) -> int:
    """Say whether the answer in RESPONSE is mathematically equal to GOLD, how that was decided, and by which tier."""
    from adjudge.rewards.math import MathPolicy, compare

    verdict = compare(response, gold, policy=MathPolicy(extraction=extraction), limit_s=limit_s)  # type: ignore[arg-type]
    word = {True: "equal", False: "not equal", None: "undecided"}[verdict.equal]
    click.secho(word, bold=True, fg="green" if verdict.equal else "red")
    place = "" if verdict.span is None else f"   (characters {verdict.span[0]} to {verdict.span[1]})"
    lines = {
        "reason": f"{verdict.reason}: {verdict.detail}",
        "answer": "–" if verdict.answer is None else f"{verdict.answer}{place}",
        "read as": verdict.answer_canonical,
        "gold as": verdict.gold_canonical,
        "tier": str(verdict.tier),
    }
    # The line of something that was not found is left out.
    for name, text in lines.items():
        if text is not None:
            click.echo(f"  {name:8} {printable(text)}")
    return {True: 0, False: 1, None: 3}[verdict.equal]
