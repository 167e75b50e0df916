"""Serves the sample system until it is interrupted: `python -m adjudge.scenarios.sample --port 8080`."""

import contextlib
import threading
from typing import Any

import click

from adjudge.scenarios.sample._server import VARIANTS, SampleServer


@click.command()
@click.option("--port", default=8080, show_default=True, help="0 for any that is free.")
@click.option("--variant", default="sound", show_default=True, type=click.Choice(list(VARIANTS)))
@click.option("--otlp-url", envvar="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", help="Where its spans are sent to.")
def main(port: int, variant: Any, otlp_url: str | None) -> None:
    """Serve the sample system on this machine."""
    with SampleServer(variant=variant, otlp_url=otlp_url, port=port) as server:
        click.echo(f"POST questions to {server.url}")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


main()
