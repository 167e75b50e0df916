"""What commands share: settings, options and their types."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adjudge.calling import agent_options, agent_variables, code_allowed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.traces import AgentNames

Command = TypeVar("Command", bound=Callable[..., Any])

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
DEBUG = click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error.")
"""What every command takes, and `main` looks for."""


def new_command(
    name: str, group: click.Group | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command, of the group where one is given, with the settings that all commands share."""

    def make(function: Callable[..., Any]) -> click.Command:
        command = click.command(name, click.Command, **{"context_settings": SETTINGS, **settings})(function)
        command.params.append(DEBUG)
        if group is not None:
            group.add_command(command)
        return command

    return make


def new_group(name: str, kind: type[click.Group] = click.Group, **settings: Any) -> click.Group:
    """Return a group of commands, which does nothing by itself."""
    return kind(name, context_settings=SETTINGS, params=[DEBUG], **settings)


class FiniteRange(click.FloatRange):
    """A number in a range; infinity and NaN, which compares with nothing, are in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class Share(click.ParamType[float]):
    """A share of rows: `5%`, `0.05`, or a number above 1 as a percentage."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the share as a number from 0 to 1."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            self.fail(f"{value!r} is not a share: write 5% or 0.05", param, ctx)
        # A share above 1 makes no sense, so 5 means 5 %.
        if text.endswith("%") or number > 1.0:
            number /= 100.0
        if not 0.0 <= number <= 1.0:
            self.fail(f"{value!r} is not a share: it must lie between 0 and 100 %", param, ctx)
        return number


class NamePair(click.ParamType[tuple[str, str]]):
    """Two names, such as `name=agent`, with an example of both."""

    def __init__(self, name: str, example: str) -> None:
        self.name = name
        self.example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Read the two names."""
        if isinstance(value, tuple):
            return value
        name, found, column = str(value).partition("=")
        if not found or not name or not column:
            self.fail(f"{value!r} is not a mapping: write {self.name}, as in {self.example}", param, ctx)
        return name, column


class ColumnMapping(NamePair):
    """`argument=column`."""

    def __init__(self) -> None:
        super().__init__("argument=column", "final_response=completion")


class Price(click.ParamType[tuple[float, float]]):
    """Dollars for a million prompt tokens and a million completion tokens: `0.15,0.60`."""

    name = "in,out"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Read the two prices."""
        if isinstance(value, tuple):
            return value
        try:
            prompt, completion = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a price: write 0.15,0.60", param, ctx)
        # Written so that NaN is refused too.
        if not (0 <= prompt < inf and 0 <= completion < inf):
            self.fail(f"{value!r} is not a price: it must be finite and not negative", param, ctx)
        return prompt, completion


class ScoreThreshold(click.ParamType[tuple[str, float]]):
    """What the mean of a score has to be at least: `0.8`, or `score=0.8`."""

    name = "[score=]number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Read the name, which may be missing, and the number."""
        if isinstance(value, tuple):
            return value
        score, _, number = str(value).rpartition("=")
        try:
            least = float(number)
        except ValueError:
            self.fail(f"{value!r} is not a threshold: write 0.8 or qa_f1_reward=0.8", param, ctx)
        return score.strip(), least


RAY = click.option(
    "--ray",
    metavar="ADDRESS",
    help="Do the work on this Ray cluster: auto, HOST:PORT, ray://...; local starts one here.",
)
MAP = click.option(
    "--map", "columns", multiple=True, type=ColumnMapping(), help="Give an argument its column. Repeatable."
)


_VARIABLES: Mapping[str | None, ContextVar[Any]] = {"no_code": code_allowed, "agent_env": agent_variables}


def _keep(_context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep an option's value for what is made from names further down; it is never part of a run."""
    variable = _VARIABLES.get(option.name)
    if variable is not None:
        variable.set(value)
    elif value:
        agent_options.set({**agent_options.get(), str(option.name): value})


SECONDS = FiniteRange(min=0, min_open=True)
_COUNT = click.IntRange(min=0)

LIMITS = (
    click.option("--workers", default=32, show_default=True, type=click.IntRange(min=1), help="Calls in flight."),
    click.option("--deadline", default=120.0, show_default=True, type=SECONDS, help="Seconds a row may take in all."),
    click.option(
        "--attempt-timeout", default=60.0, show_default=True, type=SECONDS, help="Seconds one attempt may take."
    ),
    click.option(
        "--max-unscored", default="5%", show_default=True, type=Share(), help="Share of rows that may have no score."
    ),
)
THRESHOLDS = (
    click.option(
        "--threshold",
        "thresholds",
        multiple=True,
        type=ScoreThreshold(),
        help="What a mean has to be at least, else exit code 1: 0.8, or qa_f1_reward=0.8. Repeatable.",
    ),
    click.option("--stop-early", is_flag=True, help="Take rows in random order, stop once --threshold is decided."),
)
JUDGING = (
    click.option("--base-url", help="Address of an OpenAI-compatible endpoint."),
    click.option(
        "--error-budget", type=Share(), help="A cascade's: share of wrong verdicts among those its first keeps.  [2%]"
    ),
    click.option(
        "--first-calibration", help="A cascade's: the calibration of its first judge, which sets the threshold."
    ),
)
CANARIES = click.option(
    "--canaries", default=0.0, type=Share(), help="Share of rows to add a known-bad answer to, to test the judge."
)
ACCEPT_CHANGES = click.option(
    "--accept-changes", is_flag=True, help="Resume although the agent's or a scorer's source changed; that is recorded."
)
NO_CODE = click.option(
    "--no-code",
    is_flag=True,
    flag_value=False,
    default=True,
    expose_value=False,
    callback=_keep,
    help="Refuse module:function and command:, wherever they are named.",
)
AGENT_ENV = click.option(
    "--agent-env",
    multiple=True,
    expose_value=False,
    callback=_keep,
    help="A variable of the environment that a command: agent gets. Repeatable.",
)
AGENT_OPTIONS = (
    AGENT_ENV,
    click.option(
        "--header",
        multiple=True,
        expose_value=False,
        callback=_keep,
        help="NAME=VALUE for an agent's URL; env:VARIABLE or $VARIABLE in it is read from the environment. Repeatable.",
    ),
    click.option(
        "--field",
        multiple=True,
        type=NamePair("name=path", "response=$.output.text"),
        expose_value=False,
        callback=_keep,
        help="Where its answer has a field: response=$.output.text. Repeatable.",
    ),
    click.option(
        "--send", expose_value=False, callback=_keep, help='The body that it is sent: \'{"input": "{question}"}\'.'
    ),
    click.option("--wait", type=SECONDS, help="Wait so many seconds for an agent's URL to answer."),
)
AGENT_NAMES = (
    click.option("--agents", "agents_file", help="A TOML or YAML file with a table [agents]: NAME = AGENT, or false."),
    click.option(
        "--map-agent",
        multiple=True,
        type=NamePair("name=agent", "call_model=research"),
        help="What the record calls NAME is this agent; * is whoever has no name. Repeatable.",
    ),
    click.option("--ignore-agent", multiple=True, help="A name in the record that is not an agent. Repeatable."),
)
BUDGETS = (
    click.option("--max-calls", type=_COUNT, help="Stop before more calls than this are made, retries included."),
    click.option("--max-tokens", type=_COUNT, help="Stop before more tokens than this could be used."),
    click.option("--max-cost", type=FiniteRange(min=0), help="Stop before more dollars than this; needs --price."),
    click.option("--price", type=Price(), help="Dollars for a million prompt and completion tokens: 0.15,0.60."),
    click.option("--cache", default="user", show_default=True, help="Replies across runs: a file, 'user' or 'off'."),
)


def take_agent_names(options: MutableMapping[str, Any]) -> "AgentNames":
    """Take what these options say out of a command's options; single names come before those of the file."""
    from adjudge.scenarios import load_agent_names
    from adjudge.traces import read_agent_names

    file, pairs, ignored = (options.pop(name) for name in ("agents_file", "map_agent", "ignore_agent"))
    names = {} if file is None else load_agent_names(file)
    single: dict[str, str | None] = {}
    for name, agent in (*pairs, *((name, None) for name in ignored)):
        if single.setdefault(name, agent) != agent:
            raise UsageError(f"{name!a} is given twice by --map-agent and --ignore-agent", code="bad-option")
    return read_agent_names({**names, **single}, "--map-agent") if names or single else {}


def dry_run_option(command: Command) -> Command:
    """Add `--dry-run`."""
    words = "Print what would be called and what it would cost, and stop."
    return click.option("--dry-run", is_flag=True, help=words)(command)


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add options to a command, in their order."""

    def add(command: Command) -> Command:
        # Decorators apply from the inside out, and help lists the outermost first.
        for option in reversed(options):
            command = option(command)
        return command

    return add


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """End with 143 on SIGTERM, also while a run is set up or its files are written."""

    def end(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    # By default SIGTERM ends Python at once, without its `finally` blocks.
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def lose_reader() -> None:
    """Let what is printed go nowhere: its reader has gone, as `head` does, and the exit code still counts."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        # What could not be written is still to be written: so each says whether it is the one.
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def ignore_lost_reader() -> Iterator[None]:
    """Continue without a reader when it has gone: CI still needs the exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        lose_reader()


def refuse_unwritable(path: str, paths: Sequence[str], read: Sequence[str | None] = ()) -> None:
    """Refuse, before anybody is asked, a report that could not be written afterwards, or over what is read."""
    from pathlib import Path

    files = [one if one == "-" else os.path.realpath(one) for one in paths]
    if files.count(path if path == "-" else os.path.realpath(path)) > 1:
        raise UsageError(f"{path} cannot be written twice: give every report a file of its own", code="bad-option")
    folder = Path(path).parent
    if path != "-" and (not folder.is_dir() or Path(path).is_dir()):
        why = "it is a folder" if Path(path).is_dir() else f"there is no folder {folder}"
        raise UsageError(f"{path} cannot be written: {why}", code="cannot-write")
    if read:
        from adjudge.runs import check_place

        check_place(path, *read)
