"""The command group, loaded a command at a time, and the one place where errors become lines and exit codes."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from adjudge import __version__
from adjudge.calling import folders, guards, undecided
from adjudge.cli._options import lose_reader, new_group
from adjudge.errors import AdjudgeError, DataError, UsageError, closest, printable

OK, USAGE, UNDECIDED, INTERRUPTED = 0, 2, 3, 130

COMMANDS = (
    *("check", "compare", "crag", "demo", "env", "evaluate", "init", "judge", "math", "plan"),
    *("report", "rescore", "resend", "resume", "runs", "score", "scorers", "serve", "shop", "show", "traces", "view"),
)  # each the `command` of a module of that name


class _Lazy(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (same)
        if cmd_name not in COMMANDS:
            raise click.UsageError(f"No such command {cmd_name!r}{closest(cmd_name, COMMANDS)}")
        command: click.Command = import_module(f"adjudge.cli.{cmd_name}").command
        return command


app = new_group(
    "app",
    _Lazy,
    help="One definition of good for an LLM agent: reward, benchmark, gate.",
    epilog="\b\nStart with:\n  adjudge demo\n  adjudge score rows.jsonl --scorer qa_f1_reward\n  adjudge init",
)
click.version_option(__version__, message="adjudge %(version)s")(app)
# Added last, the version would come after --debug in the help.
app.params.reverse()


def main() -> None:
    """Run the command line and exit with its code."""
    # Read from the words themselves: an error in reading the options needs it too.
    debug = "--debug" in sys.argv[1:]
    # An agent, a reward or what they import may end the process before or after the verdict: the exit code is ours.
    undecided[:] = [UNDECIDED]
    for guard in guards:
        guard.code, guard.is_decided = UNDECIDED, False
    folders[:] = [os.getcwd()]  # noqa: PTH109 (sys.path holds texts)
    # What is printed is never an error: a closed output is nowhere, and a character that a terminal lacks is escaped.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (until the process ends)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code: Any = OK  # what the command returns
    try:
        # Not `app.main`, which has exit codes of its own for some of what follows.
        with app.make_context("adjudge", sys.argv[1:]) as context:
            code = app.invoke(context)
            # Flushed here, so that a reader who has gone is noticed below and not while Python shuts down.
            sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        _print("interrupted")
        code = INTERRUPTED
    except click.exceptions.Exit as error:
        code = error.exit_code
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: that is not an error, and what was found is found.
        lose_reader()
    # A subclass of ClickException: it must come before that.
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = USAGE
    except click.ClickException as error:
        code = _failed(error, error.format_message(), USAGE, debug)
    except AdjudgeError as error:
        # Wrong input is the caller's matter: a call, a file that cannot be read as what it should be, another run.
        is_input = isinstance(error, UsageError | DataError) or error.code in ("run-mismatch", "not-a-run")
        code = _failed(error, error.message, USAGE if is_input else UNDECIDED, debug)
    except Exception as error:  # noqa: BLE001 (the last line of defence: a crash of ours is an exit code, not a traceback)
        code = _failed(error, f"{type(error).__name__}: {error} (--debug shows where)", UNDECIDED, debug)
    # A command that returns nothing has done what it was asked to do.
    code = code if isinstance(code, int) else OK
    for guard in guards:
        guard.decide(code)
    sys.exit(code)


def _failed(error: Exception, message: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    _print(f"error: {message}")
    return code


def _print(line: str) -> None:
    click.echo(f"adjudge: {printable(' '.join(line.split()), most=2000)}", err=True)
