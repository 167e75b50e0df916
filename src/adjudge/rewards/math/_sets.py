"""Intervals, unions and inequalities as one thing: sorted pieces of the real line."""

import math
from dataclasses import dataclass
from fractions import Fraction

from adjudge.rewards.math._limits import MAX_ITEMS, LimitExceeded, spend
from adjudge.rewards.math._normal import substitute
from adjudge.rewards.math._numeric import real_value
from adjudge.rewards.math._tree import (
    MINUS_ONE,
    Add,
    Builder,
    Call,
    Group,
    Items,
    Mul,
    Node,
    Num,
    Pow,
    Relation,
    SetOf,
    SetOperation,
    Sym,
    minus,
    names,
    walk,
)

_INFINITY = Sym("infinity")
_MINUS_INFINITY = Mul((MINUS_ONE, _INFINITY))
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Each operator as it reads from right to left; the others read the same both ways."""
_INEQUALITIES = frozenset({"<", ">", "<=", ">=", "!="})
_REALS = Sym("mathbb(R)")
_EMPTY = Sym("emptyset")


class NotInterval(Exception):
    """The node is not a set of real numbers that can be written as intervals."""


@dataclass(frozen=True, slots=True)
class IntervalPiece:
    """One interval; a point is an interval closed at both ends."""

    low: Node
    high: Node
    start: float
    stop: float
    closed_low: bool
    closed_high: bool


def is_interval(node: Node) -> bool:
    """Whether a node can only be meant as a set of real numbers."""
    match node:
        case Relation(operators, _):
            return any(operator in _INEQUALITIES for operator in operators)
        case SetOperation() | Builder():
            return True
        case Items(items, _):
            return any(is_interval(item) for item in items) and all(
                isinstance(item, Relation | SetOperation) for item in items
            )
        case Group((_, _), left, right):
            return left == "[" or right == "]" or _INFINITY in walk(node)
        case _:
            return node in {_REALS, _EMPTY}


def _value(node: Node) -> float:
    value = real_value(node)
    if value is None:
        raise NotInterval("an end of the interval is not a number")
    return value


def _piece(low: Node, high: Node, *, closed_low: bool, closed_high: bool) -> list[IntervalPiece]:
    start, stop = _value(low), _value(high)
    if start > stop:
        raise NotInterval("the ends of the interval are in the wrong order")
    # An open interval from a point to itself is empty.
    if start == stop and not (closed_low and closed_high):
        return []
    return [
        IntervalPiece(
            low, high, start, stop, closed_low and not math.isinf(start), closed_high and not math.isinf(stop)
        )
    ]


def pieces(node: Node) -> list[IntervalPiece]:
    """Return the sorted, merged pieces of a set of real numbers."""
    match node:
        case Sym("mathbb(R)"):
            return _piece(_MINUS_INFINITY, _INFINITY, closed_low=False, closed_high=False)
        case Sym("emptyset") | SetOf(()):
            return []
        case Group((low, high), left, right):
            if _value(low) == _value(high) and (left, right) != ("[", "]"):
                raise NotInterval("an interval without a point")
            return _piece(low, high, closed_low=left == "[", closed_high=right == "]")
        case SetOf(items):
            return _merge([piece for item in items for piece in _point(item)])
        case Builder(_, condition):
            return pieces(condition)
        case SetOperation("union", (one, other)):
            return _merge(pieces(one) + pieces(other))
        case SetOperation("intersection", (one, other)):
            return _intersection(pieces(one), pieces(other))
        case SetOperation("minus", (one, other)):
            return _intersection(pieces(one), _complement(pieces(other)))
        case Items(items, choice):
            if len(items) > MAX_ITEMS:
                raise LimitExceeded("too many conditions")
            parts = [pieces(item) for item in items]
            if choice:
                return _merge([piece for part in parts for piece in part])
            common = parts[0]
            for part in parts[1:]:
                common = _intersection(common, part)
            return common or _merge([piece for part in parts for piece in part])
        case Relation():
            return _solve(node)
        case _:
            raise NotInterval(f"{type(node).__name__} is not an interval")


def _point(node: Node) -> list[IntervalPiece]:
    return _piece(node, node, closed_low=True, closed_high=True)


def _merge(found: list[IntervalPiece]) -> list[IntervalPiece]:
    spend(len(found))
    result: list[IntervalPiece] = []
    for piece in sorted(found, key=lambda piece: (piece.start, not piece.closed_low, piece.stop)):
        last = result[-1] if result else None
        if last is not None and (
            piece.start < last.stop or (piece.start == last.stop and (piece.closed_low or last.closed_high))
        ):
            if (piece.stop, piece.closed_high) > (last.stop, last.closed_high):
                result[-1] = IntervalPiece(
                    last.low, piece.high, last.start, piece.stop, last.closed_low, piece.closed_high
                )
        else:
            result.append(piece)
    return result


def _complement(found: list[IntervalPiece]) -> list[IntervalPiece]:
    low: Node = _MINUS_INFINITY
    closed = False
    result: list[IntervalPiece] = []
    for piece in _merge(found):
        if not math.isinf(piece.start):
            result += _piece(low, piece.low, closed_low=closed, closed_high=not piece.closed_low)
        low, closed = piece.high, not piece.closed_high
    if low != _INFINITY:
        result += _piece(low, _INFINITY, closed_low=closed, closed_high=False)
    return result


def _intersection(left: list[IntervalPiece], right: list[IntervalPiece]) -> list[IntervalPiece]:
    spend(len(left) * len(right))
    result: list[IntervalPiece] = []
    for one in left:
        for other in right:
            low = max((one, other), key=lambda piece: (piece.start, not piece.closed_low))
            high = min((one, other), key=lambda piece: (piece.stop, piece.closed_high))
            if (low.start, high.stop) != (math.inf, math.inf) and low.start <= high.stop:
                result += _piece(low.low, high.high, closed_low=low.closed_low, closed_high=high.closed_high)
    return _merge(result)


def _half_line(operator: str, bound: Node) -> list[IntervalPiece]:
    """Return the numbers on one side of a bound."""
    match operator:
        case "<" | "<=":
            return _piece(_MINUS_INFINITY, bound, closed_low=False, closed_high=operator == "<=")
        case ">" | ">=":
            return _piece(bound, _INFINITY, closed_low=operator == ">=", closed_high=False)
        case "=":
            return _point(bound)
        case "!=":
            return _complement(_point(bound))
        case _:
            raise NotInterval(f"{operator} is not an inequality")


def _solve(node: Relation) -> list[IntervalPiece]:
    if len(node.operators) > MAX_ITEMS:
        raise LimitExceeded("the chain is too long")
    result: list[IntervalPiece] | None = None
    for position, operator in enumerate(node.operators):
        left, right = node.items[position], node.items[position + 1]
        part = pieces(right) if operator == "in" else _solve_one(left, operator, right)
        result = part if result is None else _intersection(result, part)
    return result or []


def _is_variable(node: Node) -> bool:
    return isinstance(node, Sym) or (
        isinstance(node, Call) and node.name[0] == "?" and all(isinstance(arg, Sym) for arg in node.args)
    )


def _solve_one(left: Node, operator: str, right: Node) -> list[IntervalPiece]:
    if not names(left):
        left, operator, right = right, FLIPPED.get(operator, operator), left
    if not names(left) or any(isinstance(part, Call) and part.name[0] == "?" for part in walk(right)):
        raise NotInterval("no variable to solve for")
    if not names(right):
        if _is_variable(left):
            return _half_line(operator, right)
        if isinstance(left, Call) and left.name == "abs" and len(left.args) == 1:
            return _absolute(left.args[0], operator, right)
        if isinstance(left, Mul) and len(left.items) == 2 and all(isinstance(item, Sym) for item in left.items):
            raise NotInterval("two variables")
    variables = names(left) | names(right)
    if len(variables) != 1:
        raise NotInterval("more than one variable")
    return _linear(minus(left, right), operator, next(iter(variables)))


def _linear(difference: Node, operator: str, name: str) -> list[IntervalPiece]:
    """Solve `difference operator 0` where the difference is linear in the variable, or else a quadratic."""
    # Three points show whether it is a straight line; two of them give the line.
    at = [substitute(difference, name, Num(Fraction(value))) for value in (0, 1, 3, -1)]
    zero, one, three, _ = (_value(value) for value in at)
    slope = one - zero
    size = abs(three) + abs(zero) + abs(slope)
    if abs(three - zero - 3 * slope) > 1e-9 * size:
        return _quadratic((at[0], at[1], at[3]), three, operator)
    if abs(slope) < 1e-12:
        raise NotInterval("the inequality has no variable in it")
    bound = Mul((MINUS_ONE, at[0], Pow(minus(at[1], at[0]), MINUS_ONE)))
    return _half_line(operator if slope > 0 else FLIPPED.get(operator, operator), bound)


def _quadratic(at: tuple[Node, Node, Node], three: float, operator: str) -> list[IntervalPiece]:
    """Solve a quadratic inequality from its values at 0, 1 and -1; its value at 3 shows whether it is one."""
    last, one, other = at
    half = Num(Fraction(1, 2))
    first = minus(Mul((half, Add((one, other)))), last)
    middle = Mul((half, minus(one, other)))
    a, b, c = _value(first), _value(middle), _value(last)
    size = 9 * abs(a) + 3 * abs(b) + abs(c)
    if abs(9 * a + 3 * b + c - three) > 1e-9 * size or abs(a) < 1e-9 * size:
        raise NotInterval("the inequality is not quadratic")
    if a < 0:
        operator = FLIPPED.get(operator, operator)
    under_root = minus(Pow(middle, Num(Fraction(2))), Mul((Num(Fraction(4)), first, last)))
    inside = b * b - 4 * a * c
    roots: list[Node] = []
    if inside > -1e-12 * size * size:
        root = Mul((MINUS_ONE if a < 0 else Num(Fraction(1)), Pow(under_root, half)))
        scale = Pow(Mul((Num(Fraction(2)), first)), MINUS_ONE)
        opposite = Mul((MINUS_ONE, middle))
        roots = [Mul((minus(opposite, root), scale)), Mul((Add((opposite, root)), scale))]
    # Where the parabola touches the axis, both roots are its vertex.
    if abs(inside) <= 1e-12 * size * size:
        roots = [Mul((opposite, scale))] * 2
    match operator:
        case "<" | ">=":
            between = _piece(*roots, closed_low=False, closed_high=False) if roots else []
        case "<=" | ">":
            between = _piece(*roots, closed_low=True, closed_high=True) if roots else []
        case "=" | "!=":
            between = _merge([piece for root in roots for piece in _point(root)])
        case _:
            raise NotInterval(f"{operator} is not an inequality")
    return between if operator in {"<", "<=", "="} else _complement(between)


def _absolute(inner: Node, operator: str, bound: Node) -> list[IntervalPiece]:
    """Solve an inequality of an absolute value as two of what is inside it."""
    one = _solve_one(inner, operator, bound)
    other = _solve_one(inner, FLIPPED.get(operator, operator), Mul((MINUS_ONE, bound)))
    # Below a bound both must hold, above it one of them; `=` and `!=` are an above and a below.
    return _intersection(one, other) if operator in {"<", "<=", "!="} else _merge(one + other)
