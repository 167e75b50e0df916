"""`adjudge report`: a run, or two, as one file for the browser."""

import click

from adjudge.cli._options import new_command, refuse_unwritable
from adjudge.errors import UsageError


@new_command(
    "report",
    short_help="Write a run as one HTML file.",
    epilog="\b\nExamples:\n  adjudge report july.run --out july.html\n"
    "  adjudge report main.run branch.run --out changes.html",
)
@click.argument("run")
@click.argument("other", required=False)
@click.option("--out", required=True, help="The file to write.")
@click.option("--gate", metavar="FILE", help="The gate that a check is held against.  [every workflow has to pass]")
def command(run: str, other: str | None, out: str, gate: str | None) -> int:
    """Write RUN as one file that opens from disk: its figures, then its rows, those that failed first.

    With OTHER, RUN is the base: the file has what `adjudge compare` says, and the rows that changed. It asks nobody for
    anything, and runs no script.
    """
    from adjudge.view import write_report

    if other is not None and gate is not None:
        raise UsageError("--gate is for one run: what changed has no gate", code="bad-option")
    refuse_unwritable(out, [out], [one for one in (run, other, gate) if one is not None])
    write_report(run, other, out=out, gate=gate)
    return 0
