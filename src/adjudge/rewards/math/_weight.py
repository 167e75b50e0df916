"""How much work a comparison may be, estimated from the trees before anything is worked out.

Tier 1 is bounded, but its bounds are meant for a caller that waits. An event loop compares only what is light and
leaves the rest to a worker.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from adjudge.rewards.math._limits import MAX_TERMS, LimitExceeded, StepBudget, spend
from adjudge.rewards.math._tree import (
    Add,
    Big,
    Call,
    Group,
    Items,
    Matrix,
    Mul,
    Node,
    Num,
    PlusMinus,
    Pow,
    SetOf,
    SetOperation,
    Sym,
    children,
    walk,
)

# Microseconds, roughly, on a machine of today.
_LIGHT = 10_000
_NODE = 20
_TERM = 4
_PAIR = 12
_CEILING = 10**9


def is_heavy(nodes: Iterable[Node]) -> bool:
    r"""Whether comparing these trees may take more than a few milliseconds.

    >>> from adjudge.rewards.math._parser import parse
    >>> [is_heavy([parse(text)]) for text in ("(x+1)^2", "(a+b+c+1)^{8}(a-b)^9", r"\int_0^1 \sin(x^x) dx")]
    [False, True, True]
    """
    # With a budget of its own: the estimate must not change the verdict.
    with StepBudget():
        try:
            return sum(map(_weight, nodes)) > _LIGHT
        except (LimitExceeded, RecursionError):
            return True


def _weight(node: Node) -> int:
    match node:
        case Items(items, _) | SetOf(items) | Group(items, _, _) | SetOperation(_, items):
            # Collections compare every element with every other.
            elements = _elements(node)
            return min(sum(map(_weight, items)) + _PAIR * elements * elements, _CEILING)
        case Matrix():
            return sum(map(_weight, children(node)))
        case _:
            parts = list(walk(node))
            work = [0]
            _expand(node, len({part for part in parts if isinstance(part, Sym | Call)}), work)
            return work[0] * _TERM + len(parts) * _NODE


def _elements(node: Node) -> int:
    """Return the number of elements that a collection is written out to."""
    if isinstance(node, SetOperation):
        return sum(map(_elements, node.items))
    signs = sum(isinstance(part, PlusMinus) for part in walk(node))
    return max(len(children(node)), 1) << min(signs, 10)


@dataclass(frozen=True, slots=True)
class _Size:
    """Terms above and below the line, and the degree that bounds them."""

    top: int = 1
    bottom: int = 1
    degree: int = 1


def _expand(node: Node, variables: int, work: list[int]) -> _Size:
    """Return the size of an expression once it is expanded; the products on the way there are added to `work`."""
    spend()
    match node:
        case Num():
            return _Size(degree=0)
        case Add(items) | Mul(items):
            total = _expand(items[0], variables, work)
            for item in items[1:]:
                part = _expand(item, variables, work)
                if isinstance(node, Mul):
                    top, bottom = total.top * part.top, total.bottom * part.bottom
                elif total.bottom == part.bottom == 1:
                    top, bottom = total.top + part.top, 1
                else:
                    top, bottom = total.top * part.bottom + part.top * total.bottom, total.bottom * part.bottom
                total = _bound_size(top, bottom, total.degree + part.degree, variables, work)
            return total
        case Pow(base, Num(exponent)):
            inner = _expand(base, variables, work)
            if exponent.denominator != 1 or abs(exponent) > 64:
                return _Size()
            if exponent < 0:
                inner = _Size(inner.bottom, inner.top, inner.degree)
            power = abs(exponent.numerator)
            top, bottom = (math.comb(power + terms - 1, terms - 1) for terms in (inner.top, inner.bottom))
            # The last squaring on the way is most of the work.
            if inner.top + inner.bottom > 2:
                work[0] += (top + bottom) * math.comb(power // 2 + inner.top - 1, inner.top - 1) // 4
            return _bound_size(top, bottom, inner.degree * power, variables, work)
        case Big():
            return _repeat(node, variables, work)
        case _:
            for child in children(node):
                _expand(child, variables, work)
            return _Size()


def _bound_size(top: int, bottom: int, degree: int, variables: int, work: list[int]) -> _Size:
    work[0] = min(work[0] + (top if top > 1 else 0) + (bottom if bottom > 1 else 0), _CEILING)
    most = min(math.comb(min(degree, 64) + variables, variables), MAX_TERMS) if variables < 64 else MAX_TERMS
    return _Size(min(top, most), min(bottom, most), degree)


def _repeat(node: Big, variables: int, work: list[int]) -> _Size:
    """Count an integral as many evaluations, and a sum of too many terms as none: it is refused before it is begun."""
    inside = [0]
    _expand(node.body, variables, inside)
    times = 400
    if node.kind != "int" and isinstance(node.low, Num) and isinstance(node.high, Num):
        terms = max(int(node.high.value - node.low.value), 0)
        times = 0 if terms >= 2_000 else terms
    work[0] = min(work[0] + times * _NODE * (len(list(walk(node.body))) + inside[0]), _CEILING)
    return _Size()
