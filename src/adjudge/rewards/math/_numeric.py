"""Values in floating point with error bounds, at fixed points of the variables.

Every evaluation gives a value and a bound on its rounding error, so that "the same" and "different" are statements
about the expressions and not about the arithmetic; whatever lies between the two is left undecided.
"""

import cmath
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from adjudge.rewards.math._exact import NotExact, rational
from adjudge.rewards.math._limits import LimitExceeded, spend
from adjudge.rewards.math._tree import (
    Add,
    Big,
    Call,
    Degree,
    Mul,
    Node,
    Num,
    Percent,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Sym,
    names,
    ratio,
    rebuild,
    walk,
)

Bounded: TypeAlias = tuple[complex, float]

_EPSILON = 2.0**-52
_MAX_TERMS = 2_000
_MAX_WORK = 12_000


class Undefined(Exception):
    """The expression has no value at this point."""


def _real(function: Callable[[float], float]) -> Callable[[complex], complex]:
    def apply(value: complex) -> complex:
        if abs(value.imag) > 1e-12:
            raise Undefined("a real function of a complex number")
        return complex(function(value.real))

    return apply


def _nearest(function: Callable[[float], int]) -> Callable[[complex], complex]:
    def apply(value: float) -> float:
        # A value that rounding has moved across a whole number is that number.
        near = round(value)
        return near if abs(value - near) < 1e-9 else function(value)

    return _real(apply)


_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "cot": lambda value: 1 / cmath.tan(value),
    "sec": lambda value: 1 / cmath.cos(value),
    "csc": lambda value: 1 / cmath.sin(value),
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "arccot": lambda value: cmath.pi / 2 - cmath.atan(value),
    "arcsec": lambda value: cmath.acos(1 / value),
    "arccsc": lambda value: cmath.asin(1 / value),
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "exp": cmath.exp,
    "ln": cmath.log,
    "log": cmath.log,
    "abs": lambda value: complex(abs(value)),
    "factorial": _real(lambda value: math.gamma(value + 1)),
    "floor": _nearest(math.floor),
    "ceil": _nearest(math.ceil),
}
_TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def _apply(function: Callable[[complex], complex], argument: Bounded) -> Bounded:
    """Return the function's value; the bound comes from moving the argument by its own bound."""
    value, error = argument
    result = function(value)
    step = max(error, abs(value) * _EPSILON, 1e-300)
    try:
        moved = abs(function(value + step) - result)
    except (ValueError, ZeroDivisionError, OverflowError):
        moved = abs(result) * 1e-6
    return result, moved * 2 + abs(result) * _EPSILON * 4


def _unknown_value(name: str, args: list[Bounded]) -> Bounded:
    """Return an unknown function: something smooth that depends on its name and on every argument."""
    seed = sum((position + 1) * ord(char) for position, char in enumerate(name)) % 97 + 3
    total, error = complex(0), 0.0
    for position, (value, bound) in enumerate(args):
        total += cmath.sin(value * (0.7 + position) + seed) + value * (1.3 + position + seed / 50)
        error += bound * (4 + position + seed)
    return total, error + abs(total) * _EPSILON * 8


class _Point(dict[str, complex]):
    """The values of the variables, and how much more work may be done."""

    def __init__(self, values: Mapping[str, complex], work: list[int]) -> None:
        super().__init__(values)
        self.work = work


def evaluate(node: Node, values: Mapping[str, complex], work: list[int] | None = None) -> Bounded:
    """Return the value of an expression at a point, with a bound on the rounding error."""
    point = _Point(values, [_MAX_WORK] if work is None else work)
    try:
        value, error = _evaluate(node, point)
    except (ValueError, ZeroDivisionError):
        raise Undefined("not defined at this point") from None
    except OverflowError:
        raise LimitExceeded("a value is too large for floating point") from None
    if cmath.isnan(value) or math.isnan(error):
        raise Undefined("not a number")
    if cmath.isinf(value) or math.isinf(error):
        raise LimitExceeded("a value is too large for floating point")
    return value, error


def _evaluate(node: Node, point: _Point) -> Bounded:
    spend()
    point.work[0] -= 1
    if point.work[0] < 0:
        raise LimitExceeded("the value takes too much work")
    match node:
        case Num(exact):
            number = float(exact)
            # An underflow would look like an exact zero.
            if number == 0 and exact != 0:
                raise LimitExceeded("a value is too small for floating point")
            return complex(number), abs(number) * _EPSILON
        case Sym(name):
            return _name_value(name, point)
        case Add(items):
            total, error, largest = complex(0), 0.0, 0.0
            for item in items:
                value, bound = _evaluate(item, point)
                total += value
                error += bound
                largest = max(largest, abs(total), abs(value))
            return total, error + largest * _EPSILON * len(items)
        case Mul(items):
            product, relative = complex(1), 0.0
            for item in items:
                value, bound = _evaluate(item, point)
                if value == 0:
                    return complex(0), bound * max(abs(product), 1.0)
                product *= value
                relative += bound / abs(value) + _EPSILON
            return product, abs(product) * relative
        case Pow(base, exponent):
            return _power(base, exponent, point)
        case Percent(item):
            value, error = _evaluate(item, point)
            return value / 100, error / 100 + abs(value) * _EPSILON
        case Degree(item) | Quantity(item, _):
            return _evaluate(item, point)
        case Ratio((left, right)):
            return _evaluate(ratio(left, right), point)
        case Call(name, args):
            return _call(name, args, point)
        case Big():
            return _big(node, point)
        case PlusMinus():
            raise Undefined("two values at once")
        case _:
            raise Undefined(f"{type(node).__name__} has no value")


def _name_value(name: str, point: Mapping[str, complex]) -> Bounded:
    if name in point:
        return complex(point[name]), abs(point[name]) * _EPSILON
    match name:
        case "pi":
            return complex(math.pi), math.pi * _EPSILON
        case "e":
            return complex(math.e), math.e * _EPSILON
        case "i":
            return 1j, 0.0
        case _:
            raise Undefined(f"{name} has no value")


def _power(base: Node, exponent: Node, point: _Point) -> Bounded:
    try:
        exact = rational(exponent)
    except LimitExceeded:
        exact = None
    value, error = _evaluate(base, point)
    if exact is not None:
        if exact.denominator == 1 and abs(exact) <= 2**31:
            number = exact.numerator
            if value == 0:
                if number <= 0:
                    raise Undefined("zero to a power that is not positive")
                return complex(0), error
            result = value**number
            return result, abs(result) * (abs(number) * (error / abs(value)) + _EPSILON * 4)
        # An odd root of a negative number is real here, as in school.
        if exact.denominator % 2 and value.real < 0 and abs(value.imag) < 1e-14:
            sign = -1 if exact.numerator % 2 else 1
            real = sign * (-value.real) ** float(exact)
            return complex(real), abs(real) * (abs(float(exact)) * error / abs(value) + _EPSILON * 4)
    raised, raised_error = _evaluate(exponent, point)
    if value == 0:
        if raised.real <= 0:
            raise Undefined("zero to a power that is not positive")
        return complex(0), error
    result = value**raised
    bound = abs(raised) * error / abs(value) + abs(cmath.log(value)) * (raised_error + abs(raised) * _EPSILON)
    return result, abs(result) * (bound + _EPSILON * 4)


def _call(name: str, args: tuple[Node, ...], point: _Point) -> Bounded:
    if name in _TRIGONOMETRIC and len(args) == 1:
        return _apply(_FUNCTIONS[name], _evaluate(_in_radians(args[0]), point))
    values = [_evaluate(arg, point) for arg in args]
    if name == "log" and len(values) == 2:
        top, bottom = _apply(cmath.log, values[0]), _apply(cmath.log, values[1])
        result = top[0] / bottom[0]
        return result, abs(result) * (_EPSILON * 4) + top[1] / abs(bottom[0]) + abs(result) * bottom[1] / abs(bottom[0])
    if name in _FUNCTIONS and len(values) == 1:
        return _apply(_FUNCTIONS[name], values[0])
    if name == "binom" and len(values) == 2:
        upper, lower = values[0][0].real, values[1][0].real
        result = complex(math.gamma(upper + 1) / (math.gamma(lower + 1) * math.gamma(upper - lower + 1)))
        return result, abs(result) * 1e-12
    if name in {"max", "min"} and values and all(abs(value.imag) < 1e-12 for value, _ in values):
        return (max if name == "max" else min)(values, key=lambda pair: pair[0].real)
    if name[0] == "?" or name == "prime":
        return _unknown_value(name, values)
    raise Undefined(f"{name} has no numeric value")


def _in_radians(node: Node) -> Node:
    match node:
        case Degree(item):
            return Mul((item, Sym("pi"), Num(Fraction(1, 180))))
        case Add() | Mul():
            return rebuild(node, _in_radians)
        case _:
            return node


def _big(node: Big, point: _Point) -> Bounded:
    """Return a finite sum or product of at most two thousand terms, or a definite integral between numbers."""
    if node.kind == "int":
        return _integral(node, point)
    if node.kind not in {"sum", "prod"} or node.low is None or node.high is None or not node.variable:
        raise Undefined(f"{node.kind} has no numeric value")
    low, high = _evaluate(node.low, point)[0].real, _evaluate(node.high, point)[0].real
    if low != round(low) or high != round(high):
        raise Undefined("the bounds of a sum are whole numbers")
    if high - low >= _MAX_TERMS:
        raise LimitExceeded("the sum has too many terms")
    total, error = complex(node.kind == "prod"), 0.0
    for index in range(int(low), int(high) + 1):
        value, bound = _evaluate(node.body, _Point({**point, node.variable: complex(index)}, point.work))
        if node.kind == "sum":
            total, error = total + value, error + bound + abs(value) * _EPSILON
        else:
            error = error * abs(value) + bound * abs(total)
            total *= value
    return total, error + abs(total) * _EPSILON * 4


_NODES = (0.9602898564975363, 0.7966664774136267, 0.5255324099163290, 0.1834346424956498)
_WEIGHTS = (0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620)


def _integral(node: Big, point: _Point) -> Bounded:
    """Gauss-Legendre quadrature on halving panels; the bound is what halving the panels changes."""
    if node.low is None or node.high is None or not node.variable:
        raise Undefined("an indefinite integral")
    low, high = _evaluate(node.low, point)[0], _evaluate(node.high, point)[0]

    def panels(count: int) -> complex:
        width = (high - low) / count
        total = complex(0)
        for panel in range(count):
            middle = low + width * (panel + 0.5)
            for place, weight in zip(_NODES, _WEIGHTS, strict=True):
                for side in (-place, place):
                    at = middle + width / 2 * side
                    total += weight * _evaluate(node.body, _Point({**point, node.variable: at}, point.work))[0]
        return total * width / 2

    # Two grids: their difference bounds the error.
    coarse, fine = panels(8), panels(16)
    return fine, abs(fine - coarse) + abs(fine) * 1e-13


_SCALES = (0.371, 0.713, 0.129, 1.327, 2.583, 5.917, 13.71, -0.617, -2.347)


def points(variables: frozenset[str], *, whole: bool = False) -> Iterator[dict[str, complex]]:
    """Return fixed points with no special relation between the variables; `whole` gives positive integers."""
    ordered = sorted(variables)
    for number, scale in enumerate(_SCALES):
        if whole:
            yield {name: complex(3 + number + 2 * place) for place, name in enumerate(ordered)}
        else:
            yield {
                name: complex(scale * (1 + 0.2371 * place + 0.0413 * place * (number + 1)))
                for place, name in enumerate(ordered)
            }


def agree(left: Node, right: Node, *, whole: bool = False) -> bool | None:
    r"""Whether two expressions have the same value at every point where both have one; None where that is unclear.

    >>> from adjudge.rewards.math._parser import parse
    >>> agree(parse("1-\\cos^2 x"), parse("\\sin^2 x")), agree(parse("x"), parse("|x|"))
    (True, False)
    """
    variables = names(left) | names(right)
    imaginary = any(isinstance(part, Sym) and part.name == "i" for side in (left, right) for part in walk(side))
    real_same = complex_same = 0
    large: LimitExceeded | None = None
    work = [_MAX_WORK]
    for point in points(variables, whole=whole):
        try:
            (one, one_error), (other, other_error) = evaluate(left, point, work), evaluate(right, point, work)
        except (Undefined, NotExact):
            continue
        except LimitExceeded as problem:
            if large is not None:
                raise
            large = problem
            continue
        size = max(abs(one), abs(other))
        bound = one_error + other_error
        # Rounding leaves too few digits to decide by.
        if bound > size * 1e-6 + 1e-280:
            continue
        real = abs(one.imag) <= bound + size * 1e-13 and abs(other.imag) <= bound + size * 1e-13
        gap = abs(one - other)
        if gap <= 64 * bound + size * 1e-14:
            real_same += real
            complex_same += not real
        elif gap > 1000 * bound:
            # Off the real line two equal expressions may take different branches of a root or a logarithm, so that a
            # complex difference counts only where complex numbers are meant.
            if real or imaginary or not variables:
                return False
            if point[min(variables)].real > 0:
                complex_same -= 100
        if not variables:
            break
    needed = 3 if variables else 1
    if real_same >= needed or (imaginary and real_same + complex_same >= needed):
        return True
    if complex_same + real_same >= needed:
        return True
    if large is not None:
        raise large
    return None


def real_value(node: Node) -> float | None:
    """Return the real number that a constant expression is, or nothing; infinities are numbers here."""
    match node:
        case Sym("infinity"):
            return math.inf
        case Mul((Num(sign), Sym("infinity"))):
            return math.copysign(math.inf, sign)
        case Degree(item) | Quantity(item, _):
            return real_value(item)
    if names(node):
        return None
    try:
        value, error = evaluate(node, {})
    except (Undefined, NotExact):
        return None
    return value.real if abs(value.imag) <= error + 1e-12 else None
