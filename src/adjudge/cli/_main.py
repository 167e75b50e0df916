"""The command group, loaded a command at a time, and the one place where errors become lines and exit codes."""

import os
import sys
from importlib import import_module

import click

from adjudge import __version__
from adjudge.cli._options import SETTINGS, debug_option, printable
from adjudge.errors import AdjudgeError, UsageError, closest

OK, USAGE, UNDECIDED, INTERRUPTED = 0, 2, 3, 130

COMMANDS = {
    "check": "adjudge.cli.check",
    "crag": "adjudge.cli.crag",
    "demo": "adjudge.cli.demo",
    "env": "adjudge.cli.env",
    "init": "adjudge.cli.init",
    "judge": "adjudge.cli.judge",
    "math": "adjudge.cli.math",
    "plan": "adjudge.cli.plan",
    "rescore": "adjudge.cli.rescore",
    "resend": "adjudge.cli.resend",
    "resume": "adjudge.cli.resume",
    "runs": "adjudge.cli.runs",
    "score": "adjudge.cli.score",
    "scorers": "adjudge.cli.scorers",
    "shop": "adjudge.cli.shop",
    "show": "adjudge.cli.show",
}


class _Lazy(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return sorted(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise click.UsageError(f"No such command {args[0]!r}{closest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (same)
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command


@click.group(
    cls=_Lazy,
    context_settings=SETTINGS,
    epilog="\b\nStart with:\n  adjudge demo\n  adjudge score rows.jsonl --scorer qa_f1_reward\n  adjudge init",
)
@click.version_option(__version__, message="adjudge %(version)s")
@debug_option
def app() -> None:
    """One definition of good for an LLM agent: reward, benchmark, gate."""


def main() -> None:
    """Run the command line and exit with its code."""
    debug = "--debug" in sys.argv[1:]
    try:
        # Not `app.main`, which has exit codes of its own for some of what follows.
        with app.make_context("adjudge", sys.argv[1:]) as context:
            code = app.invoke(context)
            sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("interrupted")
        code = INTERRUPTED
    except click.exceptions.Exit as error:
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does: no error of ours. Python must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = USAGE
    except click.ClickException as error:
        code = _failed(error, f"{error.format_message()}", USAGE, debug)
    except AdjudgeError as error:
        code = _failed(error, error.message, USAGE if isinstance(error, UsageError) else UNDECIDED, debug)
    except Exception as error:  # noqa: BLE001 (the last line of defence: a crash of ours is an exit code, not a traceback)
        code = _failed(error, f"{type(error).__name__}: {error} (--debug shows where)", UNDECIDED, debug)
    sys.exit(code if isinstance(code, int) else OK)


def _failed(error: Exception, message: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    _say(f"error: {message}")
    return code


def _say(line: str) -> None:
    click.echo(f"adjudge: {printable(' '.join(line.split()), most=2000)}", err=True)
