"""Write docs/reference from the docstrings; with --check, say whether it is up to date."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import codes

import adjudge
import adjudge.integrations

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return one page for each public package, by file name."""
    names = ["adjudge", *(f"adjudge.{info.name}" for info in pkgutil.iter_modules(adjudge.__path__))]
    inner = Path(adjudge.__path__[0]).glob("*/*/__init__.py")
    names += [f"adjudge.{file.parts[-3]}.{file.parts[-2]}" for file in inner]
    # Each integration is a module that people import by itself.
    names += [f"adjudge.integrations.{info.name}" for info in pkgutil.iter_modules(adjudge.integrations.__path__)]
    found = {f"{name}.md": page(name) for name in sorted(names) if not name.rpartition(".")[2].startswith("_")}
    return {**found, "codes.md": codes.page(Path(adjudge.__path__[0]))}


def page(name: str) -> str:
    """Return the page of one package."""
    module = importlib.import_module(name)
    parts = [f"# {name}", "<!-- Made by `make reference` from the docstrings: change those. -->", prose(module)]
    for public in module.__all__:
        if public.startswith("_"):
            continue
        parts += entry(public, getattr(module, public))
    return "\n\n".join(part for part in parts if part) + "\n"


def entry(name: str, thing: object) -> list[str]:
    """Return the paragraphs on one public name."""
    if inspect.isclass(thing) and thing.__module__.startswith("adjudge"):
        parts = [f"## {name}", f"```python\nclass {name}{bases(thing)}\n```", prose(thing)]
        for method, function in sorted(vars(thing).items()):
            plain = function.__func__ if isinstance(function, classmethod | staticmethod) else function
            if method.startswith("_") or not inspect.isfunction(plain):
                continue
            parts += [f"### {name}.{method}", signature(method, plain), prose(plain)]
        return parts
    if inspect.isfunction(thing):
        return [f"## {name}", signature(name, thing), prose(thing)]
    if isinstance(thing, Path):  # below the package, wherever that is
        thing = Path("adjudge", thing.relative_to(adjudge.__path__[0]))
    shown = re.sub(r" at 0x[0-9a-f]+", "", str(thing))
    return [f"## {name}", f"`{shown}`"]


def bases(thing: type) -> str:
    """Return the parent classes of a class, as they are written."""
    names = [base.__name__ for base in thing.__bases__ if base is not object]
    return f"({', '.join(names)})" if names else ""


def signature(name: str, function: object) -> str:
    """Return the signature of a function, as code."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    words = [str(parameter.replace(annotation=parameter.empty)) for parameter in parameters]
    return f"```python\n{name}({', '.join(words)})\n```"


def prose(thing: object) -> str:
    """Return a docstring as Markdown: indented blocks and examples are code already."""
    lines = []
    in_example = False
    for line in (inspect.getdoc(thing) or "").splitlines():
        if line.startswith(">>>") and not in_example:
            lines.append("```pycon")
            in_example = True
        elif not line.strip() and in_example:
            lines.append("```")
            in_example = False
        lines.append(line)
    return "\n".join([*lines, "```"] if in_example else lines)


def main() -> int:
    """Write or check the pages."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv[1:]:
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        print(
            f"docs/reference is stale: {', '.join(stale)}; run `make reference`"
            if stale
            else "docs/reference is up to date"
        )
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
