"""Write docs/reference from the docstrings; with --check, say whether it is up to date."""

import ast
import dataclasses
import importlib
import inspect
import itertools
import pkgutil
import re
import sys
import textwrap
from pathlib import Path

import codes

import adjudge
import adjudge.integrations

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
QUALIFIED = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])")
COLUMN = re.compile(r"\S {3,}\S")
LONGEST = 100  # characters of a signature on one line
INDEX = """# The Python interface

<!-- Made by `make reference` from the docstrings: change those. -->

Every public package, with all of its names, their types and fields. What is not here is private.

"""


def pages() -> dict[str, str]:
    """Return one page for each public package, by file name."""
    names = ["adjudge", *(f"adjudge.{info.name}" for info in pkgutil.iter_modules(adjudge.__path__))]
    inner = Path(adjudge.__path__[0]).glob("*/*/__init__.py")
    names += [f"adjudge.{file.parts[-3]}.{file.parts[-2]}" for file in inner]
    # Each integration is a module that people import by itself.
    names += [f"adjudge.integrations.{info.name}" for info in pkgutil.iter_modules(adjudge.integrations.__path__)]
    names = sorted(name for name in names if not name.rpartition(".")[2].startswith("_"))
    index = INDEX + "".join(f"- [`{name}`]({name}.md): {first_line(importlib.import_module(name))}\n" for name in names)
    found = {f"api/{name}.md": page(name) for name in names}
    return {**found, "api/index.md": index, "codes.md": codes.page(Path(adjudge.__path__[0]))}


def first_line(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


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
        parts = [f"## {name}", head(name, thing), prose(thing), fields(thing)]
        for member, one in sorted(vars(thing).items()):
            function = one.__func__ if isinstance(one, classmethod | staticmethod) else one
            if member.startswith("_"):
                continue
            if isinstance(one, property) and one.fget is not None:
                kind = shown(inspect.signature(one.fget).return_annotation)
                parts += [f"### {name}.{member}", f"```python\n{member}: {kind}\n```", prose(one)]
            elif inspect.isfunction(function):
                parts += [f"### {name}.{member}", signature(member, function), prose(function)]
        return parts
    if inspect.isfunction(thing):
        return [f"## {name}", signature(name, thing), prose(thing)]
    if isinstance(thing, Path):  # below the package, wherever that is
        thing = Path("adjudge", thing.relative_to(adjudge.__path__[0]))
    value = re.sub(r" at 0x[0-9a-f]+", "", str(thing))
    return [f"## {name}", f"`{value}`"]


def head(name: str, thing: type) -> str:
    """Return how a class is made, as code: its call, or for data and protocols its parents alone."""
    parents = [base.__name__ for base in thing.__bases__ if base is not object]
    line = f"class {name}({', '.join(parents)})" if parents else f"class {name}"
    if dataclasses.is_dataclass(thing) or "__init__" not in vars(thing) or getattr(thing, "_is_protocol", False):
        return f"```python\n{line}\n```"
    call = signature(name if parents else line, thing.__init__).replace(" -> None\n", "\n")  # type: ignore[misc]
    return f"```python\n{line}\n```\n\n{call}" if parents else call


def fields(thing: type) -> str:
    """Return the fields of a dataclass as a table: name, type, default and what is said of it."""
    if not dataclasses.is_dataclass(thing):
        return ""
    said = remarks(thing)
    rows = [("field", "type", "default", "what it is")]
    for field in dataclasses.fields(thing):
        if field.name.startswith("_"):
            continue
        default = "" if field.default is dataclasses.MISSING else f"`{written(field.default)}`"
        if field.default_factory is not dataclasses.MISSING:
            default = "made anew"
        rows.append((f"`{field.name}`", f"`{shown(field.type)}`", default, said.get(field.name, "")))
    # A column in which nothing stands is left out.
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    if not columns:
        return ""
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in zip(*columns, strict=True)]
    lines.insert(1, " | ".join("-" * len(columns)))
    return "\n".join(f"| {line} |" for line in lines)


def remarks(thing: type) -> dict[str, str]:
    """Return what stands below each field in the source of a class, and of those that it is made from."""
    found: dict[str, str] = {}
    for one in reversed(thing.__mro__):
        if not one.__module__.startswith("adjudge"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for field, below in itertools.pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                found[ast.unparse(field.target)] = " ".join(ast.literal_eval(below.value).split())
    return found


def shown(annotation: object) -> str:
    """Return a type as it is written, without the modules that its names are from."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return QUALIFIED.sub("", text)


def signature(name: str, function: object) -> str:
    """Return the signature of a function with its types, as code; a long one has a line for each parameter."""
    found = inspect.signature(function)  # type: ignore[arg-type]
    parameters = [one for one in found.parameters.values() if one.name != "self"]
    words = [worded(parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        words.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        words.insert(kinds.count(inspect.Parameter.POSITIONAL_ONLY), "/")
    given = "" if found.return_annotation is found.empty else f" -> {shown(found.return_annotation)}"
    line = f"{name}({', '.join(words)}){given}"
    if len(line) > LONGEST:
        line = "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){given}"])
    return f"```python\n{line}\n```"


def worded(parameter: inspect.Parameter) -> str:
    """Return a parameter as it is written, with its type."""
    stars = "*" * ((parameter.kind == parameter.VAR_POSITIONAL) + 2 * (parameter.kind == parameter.VAR_KEYWORD))
    kind = "" if parameter.annotation is parameter.empty else f": {shown(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}{kind}"
    return f"{stars}{parameter.name}{kind}{' = ' if kind else '='}{written(parameter.default)}"


def written(default: object) -> str:
    """Return a default as it is written: classes and functions by their names."""
    return str(getattr(default, "__name__", None) or repr(default))


def prose(thing: object) -> str:
    """Return a docstring as Markdown: examples, and lines laid out in columns, become code."""
    lines = []
    in_example = False
    blocks = (inspect.getdoc(thing) or "").split("\n\n")
    text = "\n\n".join(f"```text\n{block}\n```" if is_laid_out(block) else block for block in blocks)
    for line in text.splitlines():
        if line.startswith(">>>") and not in_example:
            lines.append("```pycon")
            in_example = True
        elif not line.strip() and in_example:
            lines.append("```")
            in_example = False
        lines.append(line)
    return "\n".join([*lines, "```"] if in_example else lines)


def is_laid_out(block: str) -> bool:
    """Whether every line of a paragraph has a second column."""
    return all(COLUMN.search(line) for line in block.splitlines()) and not block.startswith((" ", ">>>"))


def main() -> int:
    """Write or check the pages."""
    wanted = pages()
    made = [FOLDER / "codes.md", *(FOLDER / "api").glob("*.md")]
    there = {str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8") for path in made if path.exists()}
    if "--check" in sys.argv[1:]:
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        print(
            f"docs/reference is stale: {', '.join(stale)}; run `make reference`"
            if stale
            else "docs/reference is up to date"
        )
        return 1 if stale else 0
    (FOLDER / "api").mkdir(parents=True, exist_ok=True)
    for name in there.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
