"""`adjudge view`: runs in the browser."""

import click

from adjudge.cli._options import new_command


@new_command(
    "view",
    short_help="Look at runs in the browser.",
    epilog="\b\nExamples:\n  adjudge view\n  adjudge view july.run\n"
    "  adjudge view runs/ other.eval --port 8080 --no-browser",
)
@click.argument("paths", nargs=-1, metavar="[FILES or FOLDERS]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on.  [a free one]")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--labels", metavar="FILE", help="The file of labels.  [default: RUN.labels.jsonl beside each run]")
@click.option("--gate", metavar="FILE", help="The gate that checks are held against.  [every workflow has to pass]")
@click.option("--annotator", metavar="NAME", help="Whose labels they are.  [default: the login name]")
def command(
    paths: tuple[str, ...],
    host: str,
    port: int,
    no_browser: bool,
    **options: str | None,
) -> int:
    """Show run files, score files and logs of Inspect on a local page: every row, score, prompt and reply.

    Without FILES or FOLDERS: those of this folder, and the runs whose file nobody named. Only who has the address
    that is printed can look, and nothing is written into the files.
    """
    from adjudge.view import ViewServer, usual_places

    with ViewServer(paths or usual_places(), host=host, port=port, **options) as server:
        if not server.is_local:
            warning = "everybody who has this link can read the runs and label them; it travels unencrypted"
            click.echo(f"adjudge: warning: {warning}", err=True)
        click.echo(server.link)
        if not no_browser:
            click.launch(server.link)
        server.wait()
    return 0
