"""Arguments by name: which columns a reward needs, and how one row supplies them.

`final_response` and `trajectory` come from the row (or from whoever overlays it with what an agent did),
`context` only from the caller: a column of that name is never taken for one. Every other parameter is a column,
`**kwargs` the remaining columns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.errors import ArgumentError, UsageError, closest
from adjudge.rewards._tag import Row

if TYPE_CHECKING:
    from adjudge.model import Context

RESPONSE = "final_response"
RESPONSE_ALIAS = "prediction"  # the name that the seed's parameter tables use
TRAJECTORY = "trajectory"
CONTEXT = "context"
GROUP = "group_id"


@dataclass(frozen=True, slots=True)
class Arguments:
    """A function's parameters, as far as filling them from a row is concerned."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    takes_rest: bool

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Arguments:
        """Read them off the function's signature."""
        names: list[str] = []
        required: list[str] = []
        takes_rest = False
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise UsageError(f"{function!r} has no signature to fill by name") from None
        for parameter in parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                takes_rest = True
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                # Columns have names, positions do not.
                name = getattr(function, "__name__", repr(function))
                raise UsageError(f"{name}: parameter {parameter.name!r} cannot be given by name, so no row fills it")
            else:
                names.append(parameter.name)
                if parameter.default is parameter.empty:
                    required.append(parameter.name)
        return cls(tuple(names), tuple(required), takes_rest)

    def columns(self, options: Collection[str]) -> tuple[str, ...]:
        """Return the columns that a row must have: what is required and neither an option nor the context."""
        return tuple(name for name in self.required if name not in options and name != CONTEXT)

    def check_options(self, owner: str, options: Iterable[str]) -> None:
        """Raise `ArgumentError` for an option that the function does not take."""
        for option in options:
            hint = closest(option, self.names)
            # A function that takes anything still gets a hint for a near miss.
            if option not in self.names and (hint or not self.takes_rest):
                raise ArgumentError(f"{owner} takes no argument {option!r}{hint}", code="unknown-argument")

    def bind(self, row: Row, context: Context | None, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of one call; options come before columns."""
        bound: dict[str, Any] = {}
        for name in self.names:
            if name in options:
                bound[name] = options[name]
            elif name == CONTEXT:
                if context is not None or name in self.required:
                    bound[name] = context
            elif name in row:
                bound[name] = row[name]
            elif name == RESPONSE and RESPONSE_ALIAS in row:
                bound[name] = row[RESPONSE_ALIAS]
        if self.takes_rest:
            for name, value in {**row, **options}.items():
                if name not in bound and name not in (*self.names, CONTEXT):
                    bound[name] = value
            if context is not None:
                bound[CONTEXT] = context
        return bound


def missing_column(row: Row, columns: Iterable[str]) -> str | None:
    """Return the first of the columns that the row cannot supply."""
    for column in columns:
        if column not in row and not (column == RESPONSE and RESPONSE_ALIAS in row):
            return column
    return None


def missing_message(owner: str, column: str, present: Iterable[object]) -> str:
    """Say which column is missing and which one was probably meant."""
    there = [name for name in present if isinstance(name, str)]
    return f"no column {column!r}, which {owner} needs{closest(column, there)}"
