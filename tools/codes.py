"""Every stable code of the package, found in its source: what `docs/reference/codes.md` is made of.

A code is what an error has (`raise RunError("...", code="run-locked")`, or the default of its class), or what the
reason of a score begins with (`Score.unscored("tie: ...")`). The words beside it are those of the source, `...` for
what differs each time.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CODE = re.compile(r"[a-z]+(?:-[a-z]+)+|[a-z]{3,}")
REASON = re.compile(r"([a-z]+(?:-[a-z]+)*): ")
MAKERS = ("scored", "unscored", "error", "_judgement", "_failed", "failed", "_with", "Judgement", "_wrong", "_verdict")
LONGEST = 150


class Use(NamedTuple):
    """One place where a code is used: by what, in which package, with which words."""

    code: str
    kind: str
    package: str
    words: str


def text_of(node: ast.expr | None, names: dict[str, ast.expr]) -> str:
    """Return the text that an expression makes, with `...` for what is not known before."""
    if isinstance(node, ast.Name) and node.id in names:
        return text_of(names[node.id], {})
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [
            text_of(part.value, names) if isinstance(part, ast.FormattedValue) else text_of(part, names)
            for part in node.values
        ]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left, names) + text_of(node.right, names)
    if isinstance(node, ast.IfExp):
        return text_of(node.body, names)
    return "..."


def uses_in(path: Path, package: str) -> Iterator[Use]:
    """Find the codes of one module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        names = {
            node.targets[0].id: node.value
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(scope):
            if isinstance(node, ast.Call):
                yield from uses_of_call(node, names, package)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "default_code":
                    code = text_of(line.value, {})
                    yield Use(code, node.name, package, (ast.get_docstring(node) or "").partition("\n")[0])


def uses_of_call(node: ast.Call, names: dict[str, ast.expr], package: str) -> Iterator[Use]:
    """Find the code that a call makes an error, or a reason, with."""
    called = ast.unparse(node.func).rpartition(".")[2]
    first = text_of(node.args[0] if node.args else None, names)
    for keyword in node.keywords:
        if keyword.arg != "code":
            continue
        options = (
            [keyword.value.body, keyword.value.orelse] if isinstance(keyword.value, ast.IfExp) else [keyword.value]
        )
        for option in options:
            code = text_of(option, names)
            if CODE.fullmatch(code):
                yield Use(code, called if called[:1].isupper() else "error", package, first)
    if called in MAKERS:
        reasons = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "reason")]
        for reason in reasons:
            text = text_of(reason, names)
            found = REASON.match(text)
            if found is not None:
                yield Use(found.group(1), "a score's reason", package, text[found.end() :])
            elif "-" in text and CODE.fullmatch(text):
                yield Use(text, "a score's reason", package, "")


def page(root: Path) -> str:
    """Return the table of all codes, in order of their names."""
    found: dict[str, list[Use]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        package = path.relative_to(root).parts[0].removesuffix(".py")
        for use in uses_in(path, package):
            found[use.code].append(use)
    lines = [
        "# Codes",
        "",
        "<!-- Made by `make reference` from the source: change that. -->",
        "",
        "What went wrong, in a word that stays the same over releases: the `code` of an error, and what the `reason`",
        "of a score begins with. [Outcomes](../explanation/outcomes.md) says what each status means.",
        "",
        "| code | as | from | in words |",
        "|---|---|---|---|",
    ]
    for code, uses in sorted(found.items()):
        kinds = ", ".join(dict.fromkeys(use.kind for use in uses))
        packages = ", ".join(f"`{name}`" for name in dict.fromkeys(use.package for use in uses))
        words = next((use.words for use in uses if use.words.strip(". ")), "")
        shown = re.sub(r"(\.\.\.\s*)+", "… ", " ".join(words.split())).replace("|", "\\|").strip()
        shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST].rstrip()}…"
        lines.append(f"| `{code}` | {kinds} | {packages} | {shown.replace('<', '&lt;')} |")
    return "\n".join(lines) + "\n"
