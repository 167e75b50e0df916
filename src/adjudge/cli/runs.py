"""`adjudge runs`: which runs there are, and one run out of several."""

import click

from adjudge.cli._options import new_command, new_group
from adjudge.errors import printable


class _Listing(click.Group):
    """A group whose first word may be left out: `adjudge runs results/` lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read anything that is neither a command nor an option as the folder."""
        # Listing needs no word of its own: `adjudge runs results/` is what people type.
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help", "--debug")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


command = new_group(
    "runs",
    _Listing,
    short_help="List run files, merge shards, or pack a run.",
    epilog="\b\nExamples:\n  adjudge runs\n  adjudge runs results/\n  adjudge runs merge all.run a.run b.run c.run",
    help="List the run files of a folder (`adjudge runs [FOLDER]`), make one run of several, or one file of a run.",
)


@new_command("list", command, epilog="\b\nExamples:\n  adjudge runs\n  adjudge runs list results/")
@click.argument("folder", required=False)
def list_(folder: str | None) -> None:
    """List the run files (*.run) in FOLDER, or in the folder of runs that were given no place, oldest first."""
    from adjudge.runs import list_runs

    found = list_runs(folder)
    if not found:
        click.echo("There are no runs here.")
    for run in found:
        if run.plan is None:
            click.echo(f"{run.file}  {run.state}: {printable(run.fault or '')}")
            continue
        counts = ", ".join(f"{count:,} {status}" for status, count in (run.counts or {}).items())
        what = ", ".join(run.plan.names)
        click.echo(f"{run.file}  {run.state}  {run.done:,} of {run.cases:,} rows ({counts})  {printable(what)}")


@new_command(
    "merge",
    command,
    short_help="Make one run of the shards of a job.",
    epilog="""\b
Examples:
  adjudge runs merge all.run a.run b.run c.run
  adjudge runs merge all.run shard-*.run --partial && adjudge resume all.run""",
)
@click.argument("out")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--partial", is_flag=True, help="Accept shards that are not done; adjudge resume OUT does the rest.")
def merge(out: str, files: tuple[str, ...], partial: bool) -> None:
    """Make one run file OUT of the run files of one job's shards: all cases in the order of the files.

    The shards are left as they are. A case that is in two of them is kept once; one id for two different cases is
    refused.
    """
    from adjudge.cli._options import exit_on_sigterm
    from adjudge.runs import merge_runs

    with exit_on_sigterm():
        merged = merge_runs(out, files, partial=partial)
    click.echo(f"{merged.file}: {merged.cases:,} rows of {len(files)} files")
    if merged.repeated:
        named = ", ".join(printable(str(id_), most=60) for id_ in merged.examples)
        more = ", ..." if merged.repeated > len(merged.examples) else ""
        other = f"; {merged.differing:,} have other scores in a later file" if merged.differing else ""
        click.echo(f"rows that more than one file has, kept once: {merged.repeated:,} ({named}{more}){other}")
    if merged.missing:
        click.echo(f"{merged.missing:,} rows have no score yet; to score them: adjudge resume {merged.file}")


@new_command(
    "pack",
    command,
    short_help="Make one file of a run.",
    epilog="\b\nExample:\n  adjudge runs pack killed.run --out artefact.run",
)
@click.argument("file")
@click.option("--out", required=True, help="The one file.")
def pack(file: str, out: str) -> None:
    """Copy the run in FILE, with what stands beside it (its log, its tail), into one file that can be sent anywhere.

    A run at rest is one file already; one that runs, or was killed, is not.
    """
    from adjudge.runs import open_run, pack_run

    state = open_run(pack_run(file, out)).state
    click.echo(f"{out}: {state.done:,} of {state.cases:,} rows")
