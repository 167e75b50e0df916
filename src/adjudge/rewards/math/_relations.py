"""Equations and inequalities as wholes: the same up to a factor, or solved for one variable."""

from fractions import Fraction

from adjudge.rewards.math._exact import NotExact, exact_form
from adjudge.rewards.math._limits import LimitExceeded
from adjudge.rewards.math._normal import substitute
from adjudge.rewards.math._numeric import Undefined, evaluate, points
from adjudge.rewards.math._scalar import same_value
from adjudge.rewards.math._sets import FLIPPED
from adjudge.rewards.math._tree import Add, Mul, Node, Num, Relation, minus, names


def turn_around(node: Relation) -> Relation:
    """Return the same chain read from right to left."""
    return Relation(tuple(FLIPPED.get(operator, operator) for operator in node.operators[::-1]), node.items[::-1])


def difference(node: Relation) -> Node:
    """Return the left side less the right."""
    return minus(node.items[0], node.items[-1])


def proportional(left: Node, right: Node, *, positive: bool) -> bool:
    """Whether one expression is a constant multiple of the other."""
    try:
        one, other = exact_form(left), exact_form(right)
    except NotExact:
        pass
    else:
        if one.top.keys() == other.top.keys() and one.top:
            ratios = {one.top[key] / other.top[key] for key in one.top}
            if len(ratios) == 1 and one.bottom == other.bottom:
                return not positive or next(iter(ratios)) > 0
            if len(ratios) == 1 and not positive:
                return True
        # Roots may cancel between the two sides, so unequal forms decide nothing there.
        has_root = any(atom[0] == "#" for side in (one.top, other.top) for key in side for atom, _ in key)
        if not one.opaque and not other.opaque and one.bottom == other.bottom and not has_root:
            return False
    found: list[complex] = []
    for point in points(names(left) | names(right)):
        try:
            (top, top_error), (bottom, bottom_error) = evaluate(left, point), evaluate(right, point)
        except (Undefined, NotExact, LimitExceeded):
            continue
        # Near a zero the quotient is all rounding error.
        if abs(top) <= 1000 * top_error or abs(bottom) <= 1000 * bottom_error:
            continue
        found.append(top / bottom)
    if len(found) < 3:
        return False
    steady = all(abs(value - found[0]) <= 1e-9 * abs(found[0]) for value in found)
    return steady and abs(found[0].imag) < 1e-9 * abs(found[0]) and (not positive or found[0].real > 0)


def solved_by(equation: Relation, expression: Node) -> bool:
    """Whether an expression is the equation solved for the one variable that it lacks, in which it is linear."""
    missing = names(equation) - names(expression)
    if len(missing) != 1 or not names(expression) or not names(expression) <= names(equation):
        return False
    name = next(iter(missing))
    left, right = (substitute(side, name, expression) for side in equation.items)
    if same_value(left, right)[0] is not True:
        return False
    gap = difference(equation)
    at = [substitute(gap, name, Num(Fraction(value))) for value in (0, 1, 3)]
    line = Add((at[0], Mul((Num(Fraction(3)), minus(at[1], at[0])))))
    return same_value(line, at[2])[0] is True
