"""The public names: all there, all documented, nothing else."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

import adjudge
from support import ROOT

PACKAGES = sorted(
    f"adjudge.{info.name}" for info in pkgutil.iter_modules(adjudge.__path__) if not info.name.startswith("_")
)
ALL = ["adjudge", *PACKAGES]


def ours(module: ModuleType) -> set[str]:
    """Return what a person sees in a module and we made: names without an underscore, no modules, nothing imported."""
    names = {name for name in vars(module) if not name.startswith("_")}
    things = {name: getattr(module, name) for name in names}
    home = "adjudge" if hasattr(module, "__path__") else module.__name__  # a plain module shows what it imports, too
    return {
        name
        for name, thing in things.items()
        if not isinstance(thing, ModuleType | TypeVar) and str(getattr(thing, "__module__", "adjudge")).startswith(home)
    } - {"TYPE_CHECKING", "lazy_names"}


@pytest.mark.parametrize("name", ALL)
def test_all_is_what_is_visible(name: str) -> None:
    """`__all__` lists every name of ours that a package shows, each once, and each is there."""
    module = importlib.import_module(name)
    listed: list[str] = module.__all__
    assert len(listed) == len(set(listed))
    assert all(hasattr(module, one) for one in listed)
    assert ours(module) <= set(listed)


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("__init__.py")), ids=str)
def test_lazy_names_are_those_of_type_checkers(path: Path) -> None:
    """What a lazy package loads on demand is what it imports for type checkers, from the same modules, and listed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names"]
    package = ".".join(path.parent.relative_to(ROOT / "src").parts)
    for call in calls:
        homes = eval(ast.unparse(call.args[1]))  # noqa: S307 (our own table of texts)
        lazy = {
            name: home if home.startswith("adjudge") else f"{package}.{home}" for home in homes for name in homes[home]
        }
        seen = {
            alias.name: node.module
            for branch in tree.body
            if isinstance(branch, ast.If)
            for node in branch.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert lazy == seen
        assert set(lazy) <= set(importlib.import_module(package).__all__)


@pytest.mark.parametrize("name", ALL)
def test_every_public_name_is_documented(name: str) -> None:
    """A public class or function has a docstring, its public methods too, and every name stands in the reference."""
    module = importlib.import_module(name)
    reference = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").rglob("*.md"))
    assert module.__doc__
    for one in module.__all__:
        if one.startswith("_"):
            continue
        thing = getattr(module, one)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"{name}.{one} has no docstring"
        if inspect.isclass(thing):
            for method, function in vars(thing).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    assert inspect.getdoc(function), f"{name}.{one}.{method} has no docstring"
        assert re.search(rf"\b{re.escape(one)}\b", reference), f"{name}.{one} is not in docs/reference"


def interface() -> set[str]:
    """Return every public name, with the public members of its classes."""
    found = set()
    inner = [
        path for path in (ROOT / "src" / "adjudge").rglob("*.py") if "__all__ = " in path.read_text(encoding="utf-8")
    ]
    places = {path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".") for path in inner}
    names = {place.removesuffix(".__init__") for place in places}
    for name in sorted(names):
        if "._" in name:
            continue
        module = importlib.import_module(name)
        for one in module.__all__:
            thing = getattr(module, one)
            found.add(f"{name}.{one}")
            if inspect.isclass(thing) and thing.__module__.startswith("adjudge"):
                found |= {f"{name}.{one}.{member}" for member in vars(thing) if not member.startswith("_")}
    return found


def test_the_interface_is_the_one_that_was_promised() -> None:
    """`golden/interface.txt` lists every public name: one that goes breaks somebody's program."""
    listed = (ROOT / "tests" / "golden" / "interface.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))
    now = interface()
    assert sorted(set(listed) - now) == [], "removed: a minor version may, after a release that warned"
    assert sorted(now - set(listed)) == [], "new: add these lines to tests/golden/interface.txt"


def test_every_error_stands_in_the_tree() -> None:
    """The tree at the top of `adjudge.errors` names every error."""
    from adjudge import errors

    for one in errors.__all__:
        if inspect.isclass(getattr(errors, one)):
            assert one in str(errors.__doc__)


def test_every_command_and_option_is_documented() -> None:
    """Every command, and every option of it, stands in the docs."""
    import click

    from adjudge.cli._main import app

    docs = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    context = click.Context(app)
    found = {name: app.get_command(context, name) for name in app.list_commands(context)}
    for name, command in list(found.items()):
        if isinstance(command, click.Group):
            found |= {f"{name} {one}": inner for one, inner in command.commands.items()}
    for name, command in found.items():
        assert command is not None
        assert f"adjudge {name}" in docs
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert f"`{option}" in docs, f"{option} of adjudge {name} is not in docs/reference/commands.md"
