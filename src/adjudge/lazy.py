"""Packages whose names are loaded when they are first used, so that `import adjudge` costs next to nothing.

    __getattr__, __dir__ = lazy_names(__name__, {"_cases": ("Case", "Turn"), "_score": ("Score",)})

Type checkers do not see through this: a package also imports its names under `TYPE_CHECKING`, and a test holds the two
and `__all__` against each other.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`, given its names by the module each comes from.

    A module is named by what follows the package's own name; one of another package by its whole name.
    """
    places = {
        name: home if home.startswith("adjudge") else f"{package}.{home}" for home in homes for name in homes[home]
    }

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value: object = getattr(import_module(places[name]), name)
        # The next look-up finds it without calling this function.
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        import sys

        return sorted({*places, *sys.modules[package].__all__})

    return get, names
