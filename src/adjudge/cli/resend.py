"""`adjudge resend`: deliver what an outbox still holds."""

import click

from adjudge.cli._options import new_command, printable

UNDECIDED = 3


@new_command(
    "resend",
    short_help="Deliver scores that a dashboard did not get.",
    epilog="\b\nExamples:\n  adjudge resend adjudge.outbox\n  adjudge resend july.outbox --host http://localhost:3000",
)
@click.argument("file")
@click.option("--host", help="Send to this address instead of the one in the outbox.")
@click.option("--refused", is_flag=True, help="Also send what a receiver refused, once the cause is removed.")
def command(file: str, host: str | None, refused: bool) -> int:
    """Send the scores in the outbox FILE that no receiver has acknowledged yet; keys come from the environment.

    Nothing arrives twice. Exit code 0: nothing is pending any more; 3: something still is.
    """
    from adjudge.sinks import resend

    receipts = resend(file, host=host, refused=refused)
    if not receipts:
        click.echo("The outbox is empty.")
    for name, receipt in receipts.items():
        counts = f"{receipt.delivered:,} delivered, {receipt.pending:,} pending, {len(receipt.rejected):,} rejected"
        click.echo(f"{name}: {counts}")
        for one in receipt.rejected:
            click.echo(f"  rejected {printable(one.name)} of {printable(one.trace_id or '-')}: {printable(one.reason)}")
        if receipt.fault is not None:
            click.echo(f"adjudge: {name}: {printable(receipt.fault, most=500)}", err=True)
    return UNDECIDED if any(receipt.pending for receipt in receipts.values()) else 0
