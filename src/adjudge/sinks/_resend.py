"""Send what an outbox still holds, to the receivers that it was meant for.

An outbox may come from a stranger, and the keys of a dashboard must not go where a file says. So the address is the
caller's, the environment's, or the receiver's own; the one in the outbox is compared with it. It is believed only
where this user sent scores to it from this machine and the environment does not name another, or says `trust`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.http import Limits
from adjudge.sinks._delivery import LIMITS, deliver, run_sync
from adjudge.sinks._langfuse import LangfuseWire, langfuse_keys
from adjudge.sinks._mlflow import MlflowWire
from adjudge.sinks._otel import OtelWire
from adjudge.sinks._outbox import Outbox, is_ours
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
    path: str | Path,
    *,
    host: str | None = None,
    refused: bool = False,
    limits: Limits | None = None,
    trust: bool = False,
    on_trust: Callable[[str], None] | None = None,
) -> dict[str, Receipt]:
    """Send the pending scores of an outbox and return the receipts by sink; keys come from the environment.

    They go to the address that they were meant for, if it is also yours: that of the environment, or one that you
    sent to from this machine. `host` names it, or another; `trust` believes the outbox, and `on_trust` is then called
    with each address before anything is sent to it. With `refused` those that a receiver had refused are sent too.
    Not inside an event loop.
    """
    receipts: dict[str, Receipt] = {}
    sent = False
    with Outbox(path, create=False) as outbox:
        sinks = outbox.sinks()
        if host is not None and len(sinks) > 1:
            message = f"{path} has scores for {', '.join(sinks)}: leave out the host, it cannot be that of all"
            raise UsageError(message, code="bad-option")
        for name, about in sinks.items():
            wire = _wire(path, name, about, host)
            if refused:
                outbox.retry_refused(name)
            receipts[name] = outbox.receipt(name)
            if not receipts[name].pending:
                continue
            theirs = about.get("host") or wire.host
            why_not = None if trust else _why_not(wire, about, given=host is not None)
            if why_not is not None:
                receipts[name] = replace(receipts[name], fault=f"untrusted: {why_not}")
                continue
            if host is None and theirs != wire.host:
                if trust and on_trust is not None:
                    on_trust(f"{name}: scores and keys go to {theirs}")
                wire = _wire(path, name, about, theirs)
            receipts[name] = run_sync(deliver(outbox, name, wire, limits or LIMITS))
            sent = True
    faults = [receipt.fault for receipt in receipts.values() if receipt.fault]
    if faults and not sent:
        raise UsageError(f"{path}: {faults[0].removeprefix('untrusted: ')}", code="untrusted")
    return receipts


def _wire(path: str | Path, name: str, about: Mapping[str, str], host: str | None) -> Wire:
    make = _WIRES.get(about.get("kind", ""))
    if make is None:
        raise OutboxError(f"{path} has scores for {name!r}, which this adjudge does not know: update adjudge")
    return make(host, about)


def _why_not(wire: Wire, about: Mapping[str, str], *, given: bool) -> str | None:
    """Return why the scores of a sink are not sent, or None."""
    theirs, project = about.get("host") or wire.host, about.get("project")
    if theirs != wire.host and given:
        return None
    variable = next((name for name in wire.addresses if os.environ.get(name)), None)
    if theirs != wire.host and (variable is not None or not is_ours(about)):
        yours = f"{variable} is {wire.host}" if variable else "you have sent nothing there from this machine"
        return f"scores are meant for {theirs}, but {yours}: say where to send them with --host URL, or --trust"
    if project and wire.project and project != wire.project:
        return f"scores are meant for another project of {theirs}: set {wire.variables} of that project, or --trust"
    return None
