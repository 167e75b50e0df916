"""Send what an outbox still holds, to the receivers that it names."""

from collections.abc import Callable, Mapping
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.http import Limits
from adjudge.sinks._delivery import LIMITS, deliver, run_sync
from adjudge.sinks._langfuse import LangfuseWire, langfuse_keys
from adjudge.sinks._mlflow import MlflowWire
from adjudge.sinks._otel import OtelWire
from adjudge.sinks._outbox import Outbox
from adjudge.sinks._phoenix import PhoenixWire
from adjudge.sinks._scores import Receipt
from adjudge.sinks._wire import OutboxError, Wire

_WIRES: dict[str, Callable[[str | None, Mapping[str, str]], Wire]] = {
    "langfuse": lambda host, about: LangfuseWire(host, about.get("environment"), langfuse_keys()),
    "mlflow": lambda host, _: MlflowWire(host),
    "otel": lambda host, _: OtelWire(host),
    "phoenix": lambda host, _: PhoenixWire(host),
}


def resend(
    path: str | Path, *, host: str | None = None, refused: bool = False, limits: Limits | None = None
) -> dict[str, Receipt]:
    """Send the pending scores of an outbox and return the receipts by receiver; keys come from the environment.

    They go to the address that they were meant for, unless `host` gives another; with `refused` also those that a
    receiver had refused. Not inside an event loop.
    """
    receipts = {}
    with Outbox(path, create=False) as outbox:
        sinks = outbox.sinks()
        if host is not None and len(sinks) > 1:
            message = f"{path} has scores for {', '.join(sinks)}: leave out the host, it cannot be that of all"
            raise UsageError(message, code="bad-option")
        for name, about in sinks.items():
            make = _WIRES.get(about.get("kind", ""))
            if make is None:
                raise OutboxError(f"{path} has scores for {name!r}, which this adjudge does not know: update adjudge")
            wire = make(host or about.get("host") or None, about)
            if refused:
                outbox.retry_refused(name)
            receipts[name] = run_sync(deliver(outbox, wire, limits or LIMITS))
    return receipts
