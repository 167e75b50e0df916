"""Trees and exact forms as people read them: `sin(2*x)`, `[1, 2)`, `5 cm`."""

from adjudge.rewards.math._exact import NotExact, canonical, exact_form
from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._limits import LimitExceeded
from adjudge.rewards.math._normal import normal
from adjudge.rewards.math._tree import (
    Based,
    Big,
    Builder,
    Degree,
    Group,
    Items,
    Matrix,
    Node,
    Percent,
    Quantity,
    Ratio,
    Relation,
    SetOf,
    SetOperation,
    Text,
    children,
)

_SHOWN = 24

_ROOT = r"#(\d+)\^\(1/2\)"
_POWER = r"\^\((\d+)\)"
_MINUS = r"(?:(\+ )|(?<![\w)]))-(?:1\*(?=[^\d\s]))?"
_MARKS = r"[@#?]"


def describe(node: Node) -> str:
    r"""Return a tree in canonical form, for people.

    >>> from adjudge.rewards.math._parser import parse
    >>> describe(parse(r"2\sqrt{3} - \sin(2x)")), describe(parse(r"[1, 2) \cup \{5\}"))
    ('2*sqrt(3) - sin(2*x)', '[1, 2) union {5}')
    """
    node = normal(node)
    shown = _collection(node)
    if shown is not None:
        return shown
    try:
        return _plain(canonical(exact_form(node)))
    except (NotExact, LimitExceeded):
        kind = node.kind if isinstance(node, Big) else type(node).__name__.lower()
        return f"{kind}({_list(children(node))})"


def _plain(form: str) -> str:
    """Return a form without the marks that tell its atoms apart."""
    if "#" in form:
        form = compile_once(_ROOT).sub(r"sqrt(\1)", form)
    if "^" in form:
        form = compile_once(_POWER).sub(r"^\1", form)
    if "-" in form:
        form = compile_once(_MINUS).sub(lambda found: "- " if found[1] else "-", form)
    return compile_once(_MARKS).sub("", form).replace(";", ", ")


def _list(items: tuple[Node, ...]) -> str:
    return ", ".join(map(describe, items[:_SHOWN])) + (", ..." if len(items) > _SHOWN else "")


def _collection(node: Node) -> str | None:
    """Return what is not a plain expression: its parts in canonical form, between its own brackets and signs."""
    match node:
        case Text(words):
            return words
        case Relation(operators, items):
            rest = zip(operators[:_SHOWN], items[1:], strict=False)
            return describe(items[0]) + "".join(f" {operator} {describe(item)}" for operator, item in rest)
        case Items(items, choice):
            return " or ".join(map(describe, items[:_SHOWN])) if choice else _list(items)
        case SetOf(items):
            return f"{{{_list(items)}}}"
        case Group(items, left, right):
            return f"{left}{_list(items)}{right}"
        case SetOperation(operator, items):
            return f" {operator} ".join(map(describe, items))
        case Builder(variable, condition):
            return f"{{{describe(variable)} | {describe(condition)}}}"
        case Matrix(rows):
            return "[" + ", ".join(f"[{_list(row)}]" for row in rows[:_SHOWN]) + "]"
        case Quantity(item, unit):
            return f"{describe(item)} {unit}"
        case Percent(item):
            return f"{describe(item)}%"
        case Degree(item):
            return f"{describe(item)} degrees"
        case Ratio(items):
            return ":".join(map(describe, items[:_SHOWN]))
        case Based(digits, base):
            return f"{digits} in base {base}"
        case _:
            return None
