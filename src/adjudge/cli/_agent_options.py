"""Options of the commands that ask an agent: what a URL needs beside its address, and how long to wait for it."""

from collections.abc import Callable
from typing import Any

import click

from adjudge.calling import agent_options
from adjudge.cli._options import AGENT_ENV, SECONDS, NamePair


def _keep(_context: click.Context, option: click.Parameter, value: Any) -> None:
    """Note an option for the agents that are made from names; it is never part of a run."""
    if value:
        agent_options.set({**agent_options.get(), str(option.name): value})


AGENT_OPTIONS = (
    AGENT_ENV,
    click.option(
        "--header",
        multiple=True,
        expose_value=False,
        callback=_keep,
        help="NAME=VALUE for an agent's URL; env:VARIABLE or $VARIABLE in it is read from the environment. Repeatable.",
    ),
    click.option(
        "--field",
        multiple=True,
        type=NamePair("name=path", "response=$.output.text"),
        expose_value=False,
        callback=_keep,
        help="Where its answer has a field: response=$.output.text. Repeatable.",
    ),
    click.option(
        "--send", expose_value=False, callback=_keep, help='The body that it is sent: \'{"input": "{question}"}\'.'
    ),
    click.option("--wait", type=SECONDS, help="Wait so many seconds for an agent's URL to answer."),
)


def show_waiting() -> Callable[[str | None], None]:
    """Return a callback for lines about an agent that is starting: on a terminal one line; None ends it."""
    import time

    from adjudge.cli._show import EVERY, Terminal
    from adjudge.errors import printable

    console = Terminal(stderr=True)
    status = console.status("waiting") if console.is_terminal else None
    printed: float | None = None

    def show(line: str | None) -> None:
        nonlocal printed
        if line is None:
            if status is not None:
                status.stop()
        elif status is not None:
            status.update(printable(line))
            status.start()
        elif printed is None or time.monotonic() - printed >= EVERY:
            printed = time.monotonic()
            click.echo(f"adjudge: {printable(line)}", err=True)

    return show
