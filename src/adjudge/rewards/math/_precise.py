"""Real constants to sixty digits, where sixteen cannot tell a near miss from an equality."""

from collections.abc import Callable
from decimal import Decimal, DecimalException, localcontext
from fractions import Fraction

from adjudge.rewards.math._exact import NotExact, rational
from adjudge.rewards.math._limits import LimitExceeded, spend
from adjudge.rewards.math._tree import Add, Call, Degree, Mul, Node, Num, Percent, Pow, Quantity, Ratio, Sym

DIGITS = 60
_LONG = 20  # steps of one root, logarithm or series
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


class _Unknown(Exception):
    """No real value by these means."""


def precise(node: Node) -> Decimal | None:
    r"""Return the value of a real constant, good to fifty digits, or nothing where it has none here.

    >>> from adjudge.rewards.math._parser import parse
    >>> str(precise(parse(r"e^{\pi\sqrt{163}}")))[:33]
    '262537412640768743.99999999999925'
    """
    with localcontext() as context:
        # Guard digits for what a few hundred operations may lose.
        context.prec = DIGITS + 15
        context.Emax, context.Emin = 100_000, -100_000
        try:
            value = _value(node)
        except (_Unknown, DecimalException, LimitExceeded, NotExact, ArithmeticError, ValueError):
            return None
        return value if value.is_finite() else None


def _value(node: Node) -> Decimal:
    spend()
    match node:
        case Num(number):
            return Decimal(number.numerator) / Decimal(number.denominator)
        case Sym("pi"):
            return +_PI
        case Sym("e"):
            return Decimal(1).exp()
        case Add(items):
            return sum(map(_value, items), Decimal(0))
        case Mul(items):
            product = Decimal(1)
            for item in items:
                product *= _value(item)
            return product
        case Pow(base, exponent):
            return _power(_value(base), exponent)
        case Percent(item):
            return _value(item) / 100
        case Degree(item) | Quantity(item, _):
            return _value(item)
        case Ratio((left, right)):
            return _value(left) / _value(right)
        case Call(name, args):
            return _call(name, args)
        case _:
            raise _Unknown


def _power(base: Decimal, exponent: Node) -> Decimal:
    spend(_LONG)
    power = rational(exponent)
    if power is None:
        if base <= 0:
            raise _Unknown
        return (base.ln() * _value(exponent)).exp()
    if power.denominator == 1:
        if abs(power) > 10**6:
            raise _Unknown
        return base**power.numerator
    if base < 0:
        if power.denominator % 2 == 0:
            raise _Unknown
        return _root(-base, power) * (-1 if power.numerator % 2 else 1)
    if base == 0:
        return Decimal(0)
    return _root(base, power)


def _root(base: Decimal, power: Fraction) -> Decimal:
    if power == Fraction(1, 2):
        return base.sqrt()
    return (base.ln() * power.numerator / power.denominator).exp()


def _call(name: str, args: tuple[Node, ...]) -> Decimal:
    spend(_LONG)
    exact = rational(Call(name, args))
    if exact is not None:
        return Decimal(exact.numerator) / Decimal(exact.denominator)
    match name, args:
        case (("ln" | "log"), (argument,)):
            return _value(argument).ln()
        case "log", (argument, base):
            return _value(argument).ln() / _value(base).ln()
        case "exp", (argument,):
            return _value(argument).exp()
        case "abs", (argument,):
            return abs(_value(argument))
        case (("sin" | "cos" | "tan" | "cot" | "sec" | "csc"), (argument,)):
            angle = _angle(argument)
            return _TRIGONOMETRIC[name](_sine(angle), _sine(_PI / 2 - angle))
        case "arctan", (argument,):
            return _arctangent(_value(argument))
        case (("arcsin" | "arccos"), (argument,)):
            value = _value(argument)
            rest = (1 - value * value).sqrt()
            sine = _PI / 2 * (1 if value > 0 else -1) if rest == 0 else _arctangent(value / rest)
            return sine if name == "arcsin" else _PI / 2 - sine
        case _:
            raise _Unknown


_TRIGONOMETRIC: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "sin": lambda sine, _: sine,
    "cos": lambda _, cosine: cosine,
    "tan": lambda sine, cosine: sine / cosine,
    "cot": lambda sine, cosine: cosine / sine,
    "sec": lambda _, cosine: 1 / cosine,
    "csc": lambda sine, _: 1 / sine,
}


def _angle(node: Node) -> Decimal:
    match node:
        case Degree(item):
            return _value(item) * _PI / 180
        case Add(items):
            return sum(map(_angle, items), Decimal(0))
        case _:
            return _value(node)


def _sine(angle: Decimal) -> Decimal:
    if abs(angle) > 10**6:
        raise _Unknown
    # The series converges quickly only near 0.
    angle -= (angle / (2 * _PI)).to_integral_value() * 2 * _PI
    total = term = angle
    square, step = angle * angle, 1
    while abs(term) > Decimal(10) ** -(DIGITS + 12):
        term *= -square / ((step + 1) * (step + 2))
        step += 2
        total += term
    return total


def _arctangent(value: Decimal) -> Decimal:
    if abs(value) > 1:
        return _PI / 2 * (1 if value > 0 else -1) - _arctangent(1 / value)
    halvings = 0
    while abs(value) > Decimal("0.1"):
        value = value / (1 + (1 + value * value).sqrt())
        halvings += 1
    total = term = value
    square, step = value * value, 1
    while abs(term) > Decimal(10) ** -(DIGITS + 12):
        term *= -square
        step += 2
        total += term / step
    return total * Decimal(2) ** halvings
