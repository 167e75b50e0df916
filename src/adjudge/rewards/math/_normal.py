"""Trees as answers: labels, chains of equalities, both signs, bound variables."""

from fractions import Fraction
from functools import partial

from adjudge.rewards.math._limits import LimitExceeded
from adjudge.rewards.math._matrix import determinant
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._scalar import same_scalar
from adjudge.rewards.math._tree import (
    CONSTANTS,
    MINUS_ONE,
    Based,
    Builder,
    Call,
    Degree,
    Group,
    Items,
    Matrix,
    Mul,
    Node,
    Num,
    Percent,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Relation,
    SetOf,
    SetOperation,
    Sym,
    Text,
    names,
    rebuild,
    walk,
)

_EQUALITIES = frozenset({"=", "~"})
# Sides in other units, or of another kind, say nothing against each other.
_MEASURED = (Quantity, Degree, Percent, Based, Text, Relation, Items, SetOf, Group, SetOperation, Matrix, Builder)
_ROUGHLY = MathPolicy(gold_digits=1, answer_digits=1)


def substitute(node: Node, name: str, value: Node) -> Node:
    """Return the tree with a variable replaced."""
    if node == Sym(name):
        # Whoever goes through the result visits the value again at each of its places.
        for _ in walk(value):
            pass
        return value
    return rebuild(node, partial(substitute, name=name, value=value))


def _with_sign(node: Node, sign: int) -> Node:
    """Return the tree with every plus-minus sign read as its upper (1) or lower (-1) sign."""
    inner = rebuild(node, partial(_with_sign, sign=sign))
    if not isinstance(inner, PlusMinus):
        return inner
    return inner.item if inner.sign * sign > 0 else Mul((MINUS_ONE, inner.item))


def _is_name(node: Node) -> bool:
    """Return a label: a name, a function of names or numbers, or segments and areas written in capitals."""
    match node:
        case Sym(name):
            return name not in CONSTANTS or name == "e"
        case Text():
            return True
        case Call(name, args):
            return name[0] == "?" or (name in {"abs", "det", "prime"} and all(_capitals(arg) for arg in args))
        case Group(items, _, _):
            return all(_is_name(item) and not isinstance(item, Text) for item in items)
        case Quantity(item, _):
            return _is_name(item)
        case Mul((Sym(name), Relation())):
            return name.isupper()
        case _:
            return _capitals(node)


def _capitals(node: Node) -> bool:
    """Whether every name is a capital, as in the segments and areas of geometry, with no numbers but powers."""
    match node:
        case Sym(name):
            return name[0].isupper() or name.startswith(("angle", "triangle", "overline"))
        case Mul(items) | Ratio(items):
            return all(_capitals(item) for item in items)
        case Pow(base, Num()):
            return _capitals(base)
        case Call("abs", (inner,)):
            return _capitals(inner)
        case _:
            return False


def assignment(node: Node) -> "tuple[Node, Node] | None":
    """Return the label and the value of `x = 5`, if that is what it is."""
    match node:
        case Relation(("=",), (label, value)) if _is_name(label) and not _mentions(value, label):
            return label, value
        case _:
            return None


def _mentions(value: Node, label: Node) -> bool:
    return isinstance(label, Sym) and label.name in names(value)


def _chain(operators: tuple[str, ...], items: tuple[Node, ...]) -> Node:
    r"""One assignment, equation or value out of `x = 1+1 = 2 \approx 2.0`."""
    kept = list(items)
    # What follows an approximation only repeats the value, unless nothing came before.
    if "~" in operators:
        cut = operators.index("~") + 1
        values = [item for item in items[:cut] if not _is_name(item)]
        kept = list(items[:cut]) if values else list(items[: cut + 1])
    # `x = 5 = five`: the words repeat the value.
    while len(kept) > 1 and isinstance(kept[-1], Text):
        kept.pop()
    if len(kept) == 1:
        return kept[0]
    first, last = kept[0], kept[-1]
    if _is_name(first) and not _mentions(last, first):
        return Relation(("=",), (first, last))
    if len(kept) > 2 and _is_name(kept[-2]) and any(names(item) for item in kept):
        return Relation(("=",), (kept[-2], last))
    # `7 = 1` states nothing: only sides that may be equal are worked out to one value.
    values = [item for item in kept if not _is_name(item)]
    if any(_contradicts(item, values[-1]) for item in values[:-1]):
        return Relation(("=",) * (len(kept) - 1), tuple(kept))
    # `2+2 = 4` is worked out to its last value.
    if not any(names(item) for item in kept):
        return last
    if _is_name(last) and not isinstance(last, Group) and not _mentions(first, last) and not names(first):
        return Relation(("=",), (last, first))
    return Relation(("=",), (first, last))


def _contradicts(one: Node, other: Node) -> bool:
    """Whether two sides of a chain are surely different: numbers, or expressions in the same variables."""
    if names(one) != names(other) or any(isinstance(part, _MEASURED) for side in (one, other) for part in walk(side)):
        return False
    return not any(
        same_scalar(left, right, _ROUGHLY)[0] is not False for left in _signs(one) for right in _signs(other)
    )


def _signs(node: Node) -> "list[Node]":
    """Both readings of an expression with a plus-minus sign; the signs in one expression go together."""
    if not any(isinstance(part, PlusMinus) for part in walk(node)):
        return [node]
    if isinstance(node, Group):
        found: list[tuple[Node, ...]] = [()]
        for item in node.items:
            found = [(*start, one) for start in found for one in _signs(item)]
            if len(found) > 64:
                raise LimitExceeded("too many signs to write out")
        return [Group(items, node.left, node.right) for items in found]
    return [_with_sign(node, 1), _with_sign(node, -1)]


def _flat(items: "tuple[Node, ...]") -> "list[Node]":
    found: list[Node] = []
    for item in items:
        inner = normal(item)
        found.extend(inner.items if isinstance(inner, Items) else [inner])
    return found


def _drop_labels(items: "list[Node]") -> "list[Node]":
    """`n = 1, 2, 3` is three values of n; `p=5, q=2; p=7, q=2` are two pairs."""
    pairs = [assignment(item) for item in items]
    first = pairs[0]
    if first is not None and all(pair is None for pair in pairs[1:]):
        rest = items[1:]
        if not any(isinstance(item, Relation | Text) for item in rest):
            return [first[1], *rest]
    labels = [pair[0] for pair in pairs if pair is not None]
    if len(labels) == len(items) and len(set(labels)) > 1:
        period = len(set(labels))
        if len(items) > period and len(items) % period == 0 and labels == labels[:period] * (len(items) // period):
            values = [pair[1] for pair in pairs if pair is not None]
            return [Group(tuple(values[at : at + period]), "(", ")") for at in range(0, len(values), period)]
    return items


def normal(node: Node) -> Node:
    """Return the answer that a tree states: chains shortened, both signs written out, lists flat."""
    match node:
        case Relation(operators, items) if set(operators) <= _EQUALITIES:
            node = _chain(operators, items)
            if not isinstance(node, Relation):
                return normal(node)
        case Relation(
            ("in",),
            (Sym() | Call() | Group(), Items() | SetOf() | Group() | SetOperation() | Builder() | Sym() as inside),
        ):
            return normal(inside)
        case Items(items, choice):
            found = _drop_labels(_flat(items))
            if choice:
                found = list(dict.fromkeys(found))
            return found[0] if len(found) == 1 else Items(tuple(found), choice)
        case SetOf(items):
            return SetOf(tuple(_flat(items)))
        case Mul((Num(Fraction(numerator=1, denominator=1)), inner)) if isinstance(
            inner, Relation | Items | SetOf | Group | SetOperation | Matrix | Builder | Based | Ratio | Text
        ):
            return normal(inner)
        case Quantity(item, _) if isinstance(item, Relation | Items | SetOf | Group | SetOperation | Matrix | Text):
            return normal(item)
        case Call("det", (Matrix() as matrix,)):
            return determinant(matrix) or node
        case Builder(variable, condition):
            return Builder(variable, normal(condition))
    both = _signs(node)
    if len(both) > 1:
        unique = list(dict.fromkeys(normal(one) for one in both))
        return Items(tuple(unique)) if len(unique) > 1 else unique[0]
    return node
