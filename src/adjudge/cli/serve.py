"""`adjudge serve`: scorers behind HTTP, for trainers."""

from typing import Any

import click

from adjudge.cli._options import BUDGETS, NO_CODE, SECONDS, new_command, with_options


@new_command(
    "serve",
    short_help="Serve rewards to a trainer over HTTP.",
    epilog="""\b
Examples:
  adjudge serve --scorer qa_f1_reward
  adjudge serve --scorer math_equal_reward --scorer qa_f1_reward --workers 4 --port 8766
  adjudge serve --scorer openai:gpt-4.1-mini --price 0.4,1.6 --max-cost 5 --run judged.run
  adjudge serve --scorer my_rewards:brevity --host 0.0.0.0 --token "$TOKEN"

\b
POST /score {"rows": [...], "scorer"?: NAME} answers {"scores": [...]}. OpenRLHF asks /get_reward,
slime /slime, NeMo Gym /verify. SIGTERM answers what is here, and ends.""",
)
@click.option("--scorer", "scorers", multiple=True, required=True,
              help="As of adjudge score. Repeatable: a request names one, else the first.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True, help="0 means any free port.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Processes that score.")
@click.option("--token", help="What a request must have; or set ADJUDGE_SERVE_TOKEN.  [a new one]")
@click.option("--no-token", is_flag=True, help="Let every program of this machine ask; only on a loopback address.")
@click.option("--max-rows", type=click.IntRange(min=1), default=8192, show_default=True, help="Rows of one request.")
@click.option(
    "--max-bytes", type=click.IntRange(min=1), default=32 << 20, show_default=True, help="Bytes of one request."
)
@click.option("--timeout", type=SECONDS, default=30.0, show_default=True, help="Seconds that a row may take.")
@click.option("--memory-mb", type=click.IntRange(min=0), default=4096, show_default=True,
              help="Address space of a scoring process; 0 means any, which a model on a GPU needs.")  # fmt: skip
@with_options(*BUDGETS)
@click.option("--run", help="The run file of the scorer that asks a model; what an earlier server spent counts.")
@NO_CODE
def command(scorers: tuple[str, ...], host: str, port: int, token: str | None, no_token: bool, **more: Any) -> int:
    """Score the rows of whoever asks, until interrupted.

    A request can name only a --scorer of this command. Without --token a new one is printed.
    """
    import asyncio
    import os
    import secrets
    import signal

    from adjudge.chat import Key
    from adjudge.errors import UsageError
    from adjudge.runs import RunConfig
    from adjudge.serve import TOKEN_VARIABLE, RewardServer, ServeLimits

    if no_token and token is not None:
        raise UsageError("give --token or --no-token, not both")
    known = None if no_token else Key(token, TOKEN_VARIABLE).reveal()
    # The processes that score have no use for it, and may run anything.
    os.environ.pop(TOKEN_VARIABLE, None)
    made = None if no_token or known is not None else secrets.token_urlsafe(18)
    limits = ServeLimits(
        **{name: more.pop(name) for name in ("workers", "max_rows", "max_bytes", "timeout", "memory_mb")}
    )
    run = more.pop("run")
    server = RewardServer(scorers, token=known or made, limits=limits, judging=RunConfig(**more), run=run)

    async def serve() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with server.serving(host, port) as bound:
            # An IPv6 address is in brackets in a URL.
            shown = f"[{host}]" if ":" in host else host
            click.echo(f"serving {', '.join(server.scorers)} at http://{shown}:{bound}")
            if made is not None:
                click.echo(f"token {made}")
            if server.run is not None:
                click.echo(f"replies are kept in {server.run}")
            await stopped.wait()

    try:
        asyncio.run(serve())
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}; try another --port") from None
    return 0
