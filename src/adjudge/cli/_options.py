"""What every command has: settings, options, and text made fit for a terminal."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def debug_option(command: Command) -> Command:
    """Add `--debug`, which `main` looks for."""
    return click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")(command)


def findable() -> None:
    """Let module:function find what lies in the working folder."""
    import os
    import sys

    here = os.getcwd()  # noqa: PTH109 (sys.path holds texts)
    if here not in sys.path:
        sys.path.insert(0, here)


def printable(text: str, most: int = 200) -> str:
    """Return the text fit for a terminal: what a row wrote must not move the cursor or fill the screen."""
    shown = "".join(character if character.isprintable() else "�" for character in text[:most])
    return shown if len(text) <= most else f"{shown}…"


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
            self.fail(f"{value!r} is no share: write 5% or 0.05", param, ctx)
        if text.endswith("%") or number > 1.0:
            number /= 100.0
        if not 0.0 <= number <= 1.0:
            self.fail(f"{value!r} is no share: it must lie between 0 and 100 %", param, ctx)
        return number


class Mapping(click.ParamType[tuple[str, str]]):
    """`argument=column`."""

    name = "name=column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Read the two names."""
        if isinstance(value, tuple):
            return value
        name, found, column = str(value).partition("=")
        if not found or not name or not column:
            self.fail(f"{value!r} is no mapping: write argument=column, as in final_response=completion", param, ctx)
        return name, column
