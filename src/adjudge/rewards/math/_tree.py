r"""The typed tree that every answer and gold is read into.

`\frac{1}{2}x` is `Mul((Num(1/2), Sym("x")))`; `[1, 2)` is `Group((Num(1), Num(2)), "[", ")")`; `x=1 or x=2` is
`Items((Relation(...), Relation(...)), choice=True)`. Nothing in a tree has been evaluated.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from adjudge.rewards.math._limits import spend

T = TypeVar("T")

_INSIDE: dict[type, tuple[str, ...]] = {}
"""The fields of each kind of node that hold nodes."""


@dataclass_transform(frozen_default=True)
def _node(kind: type[T]) -> type[T]:
    """Make a class a kind of node: a frozen, slotted dataclass."""
    made = dataclass(frozen=True, slots=True)(kind)
    _INSIDE[made] = tuple(name for name, hint in kind.__annotations__.items() if "Node" in str(hint))
    return made


@_node
class Num:
    """A rational number; `digits` and `places` are there when it was written as a decimal."""

    value: Fraction
    digits: int | None = None
    places: int | None = None


@_node
class Sym:
    """A variable or a named constant (`x`, `a_{37}`, `pi`, `e`, `i`, `infinity`)."""

    name: str


@_node
class Add:
    """A sum."""

    items: "tuple[Node, ...]"


@_node
class Mul:
    """A product."""

    items: "tuple[Node, ...]"


@_node
class Pow:
    """A power; a quotient is a product with the power -1, a root one with the power 1/n."""

    base: "Node"
    exponent: "Node"


@_node
class Call:
    """A function of its arguments; an unknown name is an unknown function."""

    name: str
    args: "tuple[Node, ...]"


@_node
class PlusMinus:
    """Either sign of an expression; -1 is the lower sign first."""

    sign: int
    item: "Node"


@_node
class Percent:
    """A number of hundredths."""

    item: "Node"


@_node
class Degree:
    """An angle in degrees."""

    item: "Node"


@_node
class Quantity:
    """A value with the words that follow it, which may name a unit."""

    item: "Node"
    unit: str


@_node
class Based:
    """Digits in a written base: `1010_2`."""

    digits: str
    base: int


@_node
class Ratio:
    """`3:4` or `1:2:3`."""

    items: "tuple[Node, ...]"


@_node
class Relation:
    """A chain `a < b <= c` or `x = 1+1 = 2`; one operator fewer than items."""

    operators: tuple[str, ...]
    items: "tuple[Node, ...]"


@_node
class Items:
    """A bare list; `choice` when its separator was "or"."""

    items: "tuple[Node, ...]"
    choice: bool = False


@_node
class SetOf:
    """`{1, 2}`."""

    items: "tuple[Node, ...]"


@_node
class Group:
    """A tuple, a point or an interval: brackets decide nothing before both sides are seen."""

    items: "tuple[Node, ...]"
    left: str
    right: str


@_node
class SetOperation:
    """A union, an intersection or a difference of sets."""

    operator: str
    items: "tuple[Node, ...]"


@_node
class Builder:
    """`{x | condition}`."""

    variable: "Node"
    condition: "Node"


@_node
class Matrix:
    """Rows of entries."""

    rows: "tuple[tuple[Node, ...], ...]"


@_node
class Big:
    """A sum, product, integral or limit over a bound variable; a derivative (`diff`), whose variable stays free."""

    kind: str
    body: "Node"
    variable: str
    low: "Node | None"
    high: "Node | None"


@_node
class Text:
    """Words that are not mathematics."""

    words: str


Node: TypeAlias = (
    Num | Sym | Add | Mul | Pow | Call | PlusMinus | Percent | Degree | Quantity | Based | Ratio | Relation
    | Items | SetOf | Group | SetOperation | Builder | Matrix | Big | Text
)  # fmt: skip


def children(node: Node) -> "tuple[Node, ...]":
    """Return the nodes directly under a node."""
    if isinstance(node, Matrix):
        return tuple(entry for row in node.rows for entry in row)
    found: list[Node] = []
    for name in _INSIDE[type(node)]:
        value = getattr(node, name)
        if isinstance(value, tuple):
            found += value
        elif value is not None:
            found.append(value)
    return tuple(found)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a node with every node directly under it changed."""
    spend()
    values = (getattr(node, name) for name in node.__match_args__)
    return type(node)(*map(partial(_change_part, change), values))


def _change_part(change: Callable[[Node], Node], value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(partial(_change_part, change), value))
    # Only nodes have match arguments; numbers and texts do not.
    return change(value) if hasattr(value, "__match_args__") else value


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, the root first."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        spend()
        yield current
        waiting.extend(children(current))


CONSTANTS = frozenset({"pi", "e", "i", "infinity"})
MINUS_ONE = Num(Fraction(-1))


def names(node: Node) -> frozenset[str]:
    """Return the variables of a tree, without named constants and the variables that a sum or integral binds."""
    parts = list(walk(node))
    bound = {part.variable for part in parts if isinstance(part, Big) and part.kind != "diff"}
    return frozenset(part.name for part in parts if isinstance(part, Sym)) - CONSTANTS - bound


def single(kind: Callable[["tuple[Node, ...]"], Node], items: "list[Node]") -> Node:
    """Return the only item, or several of them as one node of that kind."""
    return items[0] if len(items) == 1 else kind(tuple(items))


def minus(left: Node, right: Node) -> Node:
    """Return the difference of two expressions."""
    return Add((left, Mul((MINUS_ONE, right))))


def ratio(top: Node, bottom: Node) -> Node:
    """Return the quotient of two expressions."""
    return Mul((top, Pow(bottom, MINUS_ONE)))
