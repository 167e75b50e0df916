r"""The typed tree that every answer and gold is read into.

`\frac{1}{2}x` is `Mul((Num(1/2), Sym("x")))`; `[1, 2)` is `Group((Num(1), Num(2)), "[", ")")`; `x=1 or x=2` is
`Items((Relation(...), Relation(...)), choice=True)`. Nothing in a tree has been evaluated.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Num:
    """A rational number; `digits` and `places` are there when it was written as a decimal."""

    value: Fraction
    digits: int | None = None
    places: int | None = None


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable or a named constant (`x`, `a_{37}`, `pi`, `e`, `i`, `infinity`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Add:
    """A sum."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Mul:
    """A product."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Pow:
    """A power; a quotient is a product with the power -1, a root one with the power 1/n."""

    base: "Node"
    exponent: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of its arguments; an unknown name is an unknown function."""

    name: str
    args: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """Either sign of an expression; -1 is the lower sign first."""

    sign: int
    item: "Node"


@dataclass(frozen=True, slots=True)
class Percent:
    """A number of hundredths."""

    item: "Node"


@dataclass(frozen=True, slots=True)
class Degree:
    """An angle in degrees."""

    item: "Node"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with the words that follow it, which may name a unit."""

    item: "Node"
    unit: str


@dataclass(frozen=True, slots=True)
class Based:
    """Digits in a written base: `1010_2`."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3:4` or `1:2:3`."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain `a < b <= c` or `x = 1+1 = 2`; one operator fewer than items."""

    operators: tuple[str, ...]
    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Items:
    """A bare list; `choice` when its separator was "or"."""

    items: "tuple[Node, ...]"
    choice: bool = False


@dataclass(frozen=True, slots=True)
class SetOf:
    """`{1, 2}`."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple, a point or an interval: brackets decide nothing before both sides are seen."""

    items: "tuple[Node, ...]"
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class SetOperation:
    """A union, an intersection or a difference of sets."""

    operator: str
    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Builder:
    """`{x | condition}`."""

    variable: "Node"
    condition: "Node"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of entries."""

    rows: "tuple[tuple[Node, ...], ...]"


@dataclass(frozen=True, slots=True)
class Big:
    """A sum, product, integral or limit over a bound variable."""

    kind: str
    body: "Node"
    variable: str
    low: "Node | None"
    high: "Node | None"


@dataclass(frozen=True, slots=True)
class Text:
    """Words that are not mathematics."""

    words: str


Node: TypeAlias = (
    Num | Sym | Add | Mul | Pow | Call | PlusMinus | Percent | Degree | Quantity | Based | Ratio | Relation
    | Items | SetOf | Group | SetOperation | Builder | Matrix | Big | Text
)  # fmt: skip


def children(node: Node) -> "tuple[Node, ...]":
    """Return the nodes directly under a node."""
    match node:
        case Add(items) | Mul(items) | Ratio(items) | Relation(_, items) | SetOf(items) | SetOperation(_, items):
            return items
        case Items(items, _) | Group(items, _, _) | Call(_, items):
            return items
        case Pow(base, exponent):
            return (base, exponent)
        case PlusMinus(_, item) | Percent(item) | Degree(item) | Quantity(item, _):
            return (item,)
        case Builder(variable, condition):
            return (variable, condition)
        case Matrix(rows):
            return tuple(entry for row in rows for entry in row)
        case Big(_, body, _, low, high):
            return (body, *(part for part in (low, high) if part is not None))
        case _:
            return ()


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a node with every node directly under it changed."""
    values = (getattr(node, name) for name in node.__match_args__)
    return type(node)(*map(partial(_change_part, change), values))


def _change_part(change: Callable[[Node], Node], value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(partial(_change_part, change), value))
    return change(value) if hasattr(value, "__match_args__") else value  # numbers and texts have none


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, the root first."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(children(current))


CONSTANTS = frozenset({"pi", "e", "i", "infinity"})
MINUS_ONE = Num(Fraction(-1))


def names(node: Node) -> frozenset[str]:
    """Return the variables of a tree, without named constants and the variables that a sum or integral binds."""
    parts = list(walk(node))
    bound = {part.variable for part in parts if isinstance(part, Big)}
    return frozenset(part.name for part in parts if isinstance(part, Sym)) - CONSTANTS - bound


def minus(left: Node, right: Node) -> Node:
    """Return the difference of two expressions."""
    return Add((left, Mul((MINUS_ONE, right))))


def ratio(top: Node, bottom: Node) -> Node:
    """Return the quotient of two expressions."""
    return Mul((top, Pow(bottom, MINUS_ONE)))
