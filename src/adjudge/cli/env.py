"""`adjudge env`: environments for rollouts that run elsewhere."""

import click

from adjudge.cli._options import SECONDS, new_command, new_group

command = new_group(
    "env",
    short_help="Serve environments over HTTP.",
    help="Environments for rollouts that run in other processes or on other machines.",
)


@new_command(
    "serve",
    command,
    short_help="Lease this machine's environments over HTTP.",
    epilog="""\b
Examples:
  adjudge env serve webshop
  adjudge env serve scienceworld alfworld --size 8 --port 8765
  adjudge env serve my_worlds:MazeSpec --backend worker
  adjudge env serve webshop --openenv
  adjudge env serve webshop --host 0.0.0.0 --token-file token.txt""",
)
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 means any free port.")
@click.option("--size", type=click.IntRange(min=1), help="Instances of each kind; the default depends on the kind.")
@click.option(
    "--backend", type=click.Choice(["process", "worker"]), help="Where the worlds live; by default the spec decides."
)
@click.option("--lease", "lease_s", type=SECONDS, default=900.0, show_default=True,
              help="Seconds without a call after which a session ends.")  # fmt: skip
@click.option("--openenv", is_flag=True, help="Speak OpenEnv, too: /ws, /reset, /step, /state, /health.")
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False), help="File with the token; or set ADJUDGE_ENV_TOKEN."
)
def serve(
    kinds: tuple[str, ...],
    host: str,
    port: int,
    size: int | None,
    backend: str | None,
    lease_s: float,
    openenv: bool,
    token_file: str | None,
) -> None:
    """Lease environments of each KIND until interrupted (webshop, alfworld, scienceworld, your own, or module:Spec).

    An address that other machines can reach needs a token.
    """
    import asyncio
    from pathlib import Path

    from adjudge.chat import Key
    from adjudge.environments import TOKEN_VARIABLE, EnvServer, Pool, PoolLimits, default_spec
    from adjudge.errors import UsageError

    token = Key(None if token_file is None else Path(token_file), TOKEN_VARIABLE).reveal()
    limits = PoolLimits(lease_s=lease_s)
    # A kind that is named twice has one pool.
    pools = [Pool(default_spec(kind), size, backend, limits=limits) for kind in dict.fromkeys(kinds)]

    async def run() -> None:
        try:
            async with EnvServer(pools, token=token, openenv=openenv).serving(host, port) as bound:
                # An IPv6 address is in brackets in a URL.
                shown = f"[{host}]" if ":" in host else host
                click.echo(f"serving {', '.join(pool.spec.kind for pool in pools)} at http://{shown}:{bound}")
                await asyncio.Event().wait()
        finally:
            for pool in pools:
                await pool.aclose()

    try:
        asyncio.run(run())
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}; try another --port") from None
