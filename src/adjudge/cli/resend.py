"""`adjudge resend`: deliver what an outbox still holds."""

import click

from adjudge.cli._options import new_command
from adjudge.errors import printable

UNDECIDED = 3


@new_command(
    "resend",
    short_help="Deliver scores that a dashboard did not get.",
    epilog="\b\nExamples:\n  adjudge resend adjudge.outbox\n  adjudge resend july.outbox --host http://localhost:3000",
)
@click.argument("file")
@click.option("--host", help="Send to this address, whichever the outbox has.")
@click.option("--refused", is_flag=True, help="Also send what a receiver refused, once the cause is removed.")
@click.option("--trust", is_flag=True, help="Send scores and keys wherever the outbox says; prints the addresses.")
def command(file: str, host: str | None, refused: bool, trust: bool) -> int:
    """Send the scores in the outbox FILE that no receiver has acknowledged yet; keys come from the environment.

    They go to the address in the outbox only if the environment names the same, or you sent to it from this machine.
    Nothing arrives twice. Exit code 0: nothing is pending any more; 3: something still is.
    """
    from adjudge.sinks import resend

    def warn(what: str) -> None:
        click.echo(f"adjudge: trusting {printable(file)}: {printable(what, most=500)}", err=True)

    receipts = resend(file, host=host, refused=refused, trust=trust, on_trust=warn)
    if not receipts:
        click.echo("The outbox is empty.")
    for name, receipt in receipts.items():
        counts = f"{receipt.delivered:,} delivered, {receipt.pending:,} pending, {len(receipt.rejected):,} rejected"
        click.echo(f"{printable(name)}: {counts}")
        for one in receipt.rejected:
            click.echo(f"  rejected {printable(one.name)} of {printable(one.trace_id or '-')}: {printable(one.reason)}")
        if receipt.fault is not None:
            click.echo(f"adjudge: {printable(name)}: {printable(receipt.fault, most=500)}", err=True)
    return UNDECIDED if any(receipt.pending for receipt in receipts.values()) else 0
