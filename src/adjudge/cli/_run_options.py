"""Options that every command shares which starts a run, and what they make."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from adjudge.cli._options import Share

Command = TypeVar("Command", bound=Callable[..., Any])


class Price(click.ParamType[tuple[float, float]]):
    """Dollars for a million prompt tokens and a million completion tokens: `0.15,0.60`."""

    name = "in,out"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Read the two prices."""
        if isinstance(value, tuple):
            return value
        try:
            prompt, completion = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no price: write 0.15,0.60", param, ctx)
        if not prompt >= 0 or not completion >= 0:
            self.fail(f"{value!r} is no price: it must not be negative", param, ctx)
        return prompt, completion


SECONDS = click.FloatRange(min=0, min_open=True)
_COUNT = click.IntRange(min=0)

LIMITS = (
    click.option("--workers", default=32, show_default=True, type=click.IntRange(min=1), help="Calls in flight."),
    click.option("--deadline", default=120.0, show_default=True, type=SECONDS, help="Seconds a row may take in all."),
    click.option(
        "--attempt-timeout", default=60.0, show_default=True, type=SECONDS, help="Seconds one attempt may take."
    ),
    click.option(
        "--max-unscored", default="5%", show_default=True, type=Share(), help="Share of rows that may have no score."
    ),
)
JUDGING = (
    click.option("--base-url", help="Address of an OpenAI-compatible endpoint."),
    click.option(
        "--error-budget", type=Share(), help="A cascade's: share of wrong verdicts among those its first keeps.  [2%]"
    ),
    click.option("--first-calibration", help="A cascade's: what is known of its first judge chooses the threshold."),
)
CANARIES = click.option(
    "--canaries", default=0.0, type=Share(), help="Share of rows to add a known-bad answer to, to test the judge."
)
BUDGETS = (
    click.option("--max-calls", type=_COUNT, help="Stop before more calls than this are made, retries included."),
    click.option("--max-tokens", type=_COUNT, help="Stop before more tokens than this could be used."),
    click.option("--max-cost", type=click.FloatRange(min=0), help="Stop before more dollars than this; needs --price."),
    click.option("--price", type=Price(), help="Dollars for a million prompt and completion tokens: 0.15,0.60."),
    click.option("--cache", default="user", show_default=True, help="Replies across runs: a file, 'user' or 'off'."),
)


def dry_run_option(command: Command) -> Command:
    """Add `--dry-run`."""
    words = "Say what would be called and what it would cost, and stop."
    return click.option("--dry-run", is_flag=True, help=words)(command)


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add options to a command, in their order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@contextmanager
def terminable() -> Iterator[None]:
    """End with 143 on SIGTERM also while a run is being set up or its files are written."""

    def end(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
