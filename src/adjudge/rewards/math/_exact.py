r"""Exact canonical forms: rational numbers, radicals and rational functions.

A form is a quotient of two polynomials. A monomial is a sorted tuple of (atom, exponent); atoms are variables, primes
under a root (`#2` to the power 1/2 is the square root of two), the imaginary unit, and opaque parts such as
`@sin(...)`. Two forms are equal exactly when their cross products are, so `1/\sqrt{2}` and `\sqrt{2}/2` need no
simplification. Unequal forms decide only where no part is opaque.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from adjudge.rewards.math._limits import MAX_BITS, MAX_TERMS, LimitExceeded, Memo, spend
from adjudge.rewards.math._tree import Add, Call, Degree, Mul, Node, Num, Percent, Pow, Quantity, Ratio, Sym

Monomial: TypeAlias = tuple[tuple[str, Fraction], ...]
Polynomial: TypeAlias = dict[Monomial, Fraction]

_UNIT = Fraction(1)
_ONE: Polynomial = {(): Fraction(1)}
_CHARACTERS = 16  # of a rendered form, for one step
_SMALL_PRIMES = tuple(p for p in range(2, 1000) if all(p % q for q in range(2, math.isqrt(p) + 1)))


class NotExact(Exception):
    """The expression has no exact form here."""


class ZeroDivisor(NotExact):
    """The expression divides by zero, and so is nothing at all."""


@dataclass(frozen=True, slots=True)
class Form:
    """A quotient of polynomials; `opaque` when some atom hides structure."""

    top: Polynomial
    bottom: Polynomial

    @property
    def opaque(self) -> bool:
        """Whether an unequal form may still be an equal value."""
        return any(atom[0] == "@" for side in (self.top, self.bottom) for key in side for atom, _ in key)

    @property
    def value(self) -> Fraction | None:
        """The rational number that this is, if it is one."""
        if self.bottom == _ONE and len(self.top) <= 1:
            if not self.top:
                return Fraction(0)
            if () in self.top:
                return self.top[()]
        return None


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _check_bits(value: Fraction) -> Fraction:
    bits = _bits(value)
    if bits > MAX_BITS:
        raise LimitExceeded("a number has too many digits")
    spend(bits // 1000)
    return value


def _times(left: Monomial, right: Monomial) -> tuple[Monomial, Fraction]:
    """Return the product of two monomials, with whatever roots and powers of i make rational."""
    spend(1 + len(right))
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    factor = _UNIT
    for atom in [atom for atom in powers if atom == "i" or atom[0] == "#"]:
        exponent = powers[atom]
        if atom == "i":
            turns = int(exponent) % 4
            factor *= -1 if turns >= 2 else 1
            powers[atom] = Fraction(turns % 2)
        else:
            whole = math.floor(exponent)
            if abs(whole) * len(atom) * 4 > MAX_BITS:
                raise LimitExceeded("a power of a root is too large")
            factor *= Fraction(int(atom[1:])) ** whole
            powers[atom] = exponent - whole
    return tuple(sorted((atom, power) for atom, power in powers.items() if power)), factor


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    # Refused before the work, not after it.
    if len(left) * len(right) > MAX_TERMS * 10:
        raise LimitExceeded("the expanded product has too many terms")
    spend(len(left) * len(right))
    whole = all(value.denominator == 1 for side in (left, right) for value in side.values())
    first = [(key, value.numerator if whole else value) for key, value in left.items()]
    second = [(key, value.numerator if whole else value) for key, value in right.items()]
    result: dict[Monomial, Fraction | int] = {}
    for one, coefficient in first:
        for other, other_coefficient in second:
            value = coefficient * other_coefficient
            if one and other:
                key, factor = _times(one, other)
                if factor != 1:
                    value *= factor
            else:
                key = one or other
            result[key] = result[key] + value if key in result else value
    found = {key: _check_bits(Fraction(value)) for key, value in result.items() if value}
    if len(found) > MAX_TERMS:
        raise LimitExceeded("the expanded product has too many terms")
    return found


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    spend(len(left) + len(right))
    result = dict(left)
    for key, value in right.items():
        result[key] = result.get(key, Fraction(0)) + value
    return {key: _check_bits(value) for key, value in result.items() if value}


def _quotient(top: Polynomial, bottom: Polynomial) -> Form:
    if not bottom:
        raise ZeroDivisor("division by zero")
    if len(bottom) == 1:
        ((key, value),) = bottom.items()
        if value != 1 or key:
            inverse = tuple((atom, -power) for atom, power in key)
            monomial, factor = _times(inverse, ())
            top = _product(top, {monomial: factor / value})
        return Form(top, _ONE)
    return Form(top, bottom)


def _multiply(left: Form, right: Form) -> Form:
    return _quotient(_product(left.top, right.top), _product(left.bottom, right.bottom))


def _plus(left: Form, right: Form) -> Form:
    if left.bottom == right.bottom:
        return _quotient(_sum(left.top, right.top), left.bottom)
    top = _sum(_product(left.top, right.bottom), _product(right.top, left.bottom))
    return _quotient(top, _product(left.bottom, right.bottom))


def _constant(value: Fraction) -> Form:
    return Form({(): value} if value else {}, _ONE)


def _atom(name: str, power: Fraction | None = None) -> Form:
    return Form({((name, Fraction(1) if power is None else power),): Fraction(1)}, _ONE)


def _integer_power(base: Form, exponent: int) -> Form:
    if exponent < 0:
        return _integer_power(_quotient(base.bottom, base.top), -exponent)
    value = base.value
    if value is not None:
        if exponent * max(_bits(value) - 1, 0) > MAX_BITS and abs(value) != 1:
            raise LimitExceeded("a power has too many digits")
        return _constant(value**exponent)
    if len(base.top) == 1 and base.bottom == _ONE:
        ((key, coefficient),) = base.top.items()
        if exponent * _bits(coefficient) > MAX_BITS and abs(coefficient) != 1:
            raise LimitExceeded("a power has too many digits")
        monomial, factor = _times(tuple((atom, power * exponent) for atom, power in key), ())
        return Form({monomial: _check_bits(coefficient**exponent * factor)}, _ONE)
    if exponent > 64:
        return _high_power(base, exponent)
    terms = max(len(base.top), len(base.bottom))
    if math.comb(exponent + terms - 1, terms - 1) > MAX_TERMS:
        raise NotExact("the power has too many terms to expand")
    result, square = Form(_ONE, _ONE), base
    while exponent:
        if exponent & 1:
            result = _multiply(result, square)
        exponent >>= 1
        if exponent:
            square = _multiply(square, square)
    return result


def _high_power(base: Form, exponent: int) -> Form:
    """Return a power that is not expanded, of the base with the sign that its first term is positive."""
    sign = 1
    if min(base.top.items())[1] < 0:
        base = _multiply(base, _constant(Fraction(-1)))
        sign = -1 if exponent % 2 else 1
    return _multiply(_constant(Fraction(sign)), _atom(f"@({canonical(base)})^({exponent})"))


def _root_of_number(value: Fraction, exponent: Fraction) -> Form:
    if value == 0:
        if exponent < 0:
            raise ZeroDivisor("division by zero")
        return _constant(Fraction(0))
    if exponent.denominator > 1000 or abs(exponent.numerator) * _bits(value) > MAX_BITS:
        raise NotExact("the root is too large")
    result = Form(_ONE, _ONE)
    if value < 0:
        # An odd root keeps the sign; a square root of a negative number has the factor i.
        if exponent.denominator % 2:
            result = _constant(Fraction(-1 if exponent.numerator % 2 else 1))
        elif exponent.denominator == 2:
            result = _integer_power(_atom("i"), exponent.numerator % 4)
        else:
            raise NotExact("an even root of a negative number")
        value = -value
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, count in _factors(part):
            key, factor = _times(((f"#{prime}", exponent * count * sign),), ())
            result = _multiply(result, Form({key: factor}, _ONE))
    return result


def _factors(number: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for prime in _SMALL_PRIMES:
        if prime * prime > number:
            break
        count = 0
        while number % prime == 0:
            spend()
            number //= prime
            count += 1
        if count:
            found.append((prime, count))
    if number > 1:
        root = math.isqrt(number)
        if root * root == number:
            found.append((root, 2))
        elif number > 1000**2:
            raise NotExact("the radicand has large factors")
        else:
            found.append((number, 1))
    return found


def _power(base: Node, exponent: Node) -> Form:
    inner, power = _form(base), _form(exponent)
    value = power.value
    if value is None:
        return _atom(f"@({canonical(inner)})^({canonical(power)})")
    if value.denominator == 1:
        if _bits(value) > 64:
            if inner.value in {0, 1}:
                return inner
            raise LimitExceeded("an exponent has too many digits")
        return _integer_power(inner, value.numerator)
    number = inner.value
    if number is not None:
        return _root_of_number(number, value)
    if inner.bottom == _ONE and len(inner.top) == 1:
        ((key, coefficient),) = inner.top.items()
        if coefficient > 0 and all(part == 1 and atom != "i" and atom[0] != "#" for atom, part in key):
            rest = Form({tuple((atom, value) for atom, _ in key): Fraction(1)}, _ONE)
            return _multiply(_root_of_number(coefficient, value), rest)
    return _atom(f"@({canonical(inner)})^({value})")


def _form(node: Node) -> Form:
    spend()
    match node:
        case Num(value):
            return _constant(_check_bits(value))
        case Sym(name):
            return _atom(name)
        case Add(items):
            total = _form(items[0])
            for item in items[1:]:
                total = _plus(total, _form(item))
            return total
        case Mul(items):
            product = _form(items[0])
            for item in items[1:]:
                product = _multiply(product, _form(item))
            return product
        case Pow(base, exponent):
            return _power(base, exponent)
        case Percent(item):
            return _multiply(_form(item), _constant(Fraction(1, 100)))
        case Degree(item) | Quantity(item, _):
            return _form(item)
        case Ratio((left, right)):
            return _multiply(_form(left), _integer_power(_form(right), -1))
        case Call(name, args):
            return _call(name, [_form(arg) for arg in args])
        case _:
            raise NotExact(f"no exact form for {type(node).__name__}")


exact_form = Memo(_form, maxsize=256)
"""Returns the canonical form of a scalar; `NotExact` where it has none, `LimitExceeded` where it would not fit."""


_OF_ONE_NUMBER: dict[str, Callable[[Fraction], Fraction | int]] = {"abs": abs, "floor": math.floor, "ceil": math.ceil}


def _call(name: str, args: list[Form]) -> Form:
    values = [arg.value for arg in args]
    match name, values:
        case "factorial", [Fraction(denominator=1) as number] if number >= 0:
            if number > 4000:
                raise LimitExceeded("a factorial has too many digits")
            return _constant(Fraction(math.factorial(number.numerator)))
        case "binom", [Fraction(denominator=1) as upper, Fraction(denominator=1) as lower] if 0 <= lower <= upper:
            if upper > 4000:
                raise LimitExceeded("a binomial coefficient has too many digits")
            return _constant(Fraction(math.comb(upper.numerator, lower.numerator)))
        case (("abs" | "floor" | "ceil"), [Fraction() as number]):
            return _constant(Fraction(_OF_ONE_NUMBER[name](number)))
        case "gcd", [Fraction(denominator=1) as first, Fraction(denominator=1) as second]:
            return _constant(Fraction(math.gcd(first.numerator, second.numerator)))
        case (("max" | "min"), _) if all(value is not None for value in values):
            numbers = [value for value in values if value is not None]
            return _constant(max(numbers) if name == "max" else min(numbers))
        case _:
            return _atom(f"@{name}({';'.join(canonical(arg) for arg in args)})")


def same_form(left: Form, right: Form) -> bool:
    """Whether two forms are the same rational function."""
    if left.bottom == right.bottom:
        return left.top == right.top
    return _product(left.top, right.bottom) == _product(right.top, left.bottom)


def rational(node: Node) -> Fraction | None:
    """Return the rational number that an expression is, or nothing."""
    if isinstance(node, Num):
        return node.value
    try:
        return exact_form(node).value
    except NotExact:
        return None


def show_number(value: Fraction) -> str:
    """Return a number as text, unless writing it out would take too long."""
    if _bits(value) > 3000:
        return f"(rational of {_bits(value)} bits)"
    return str(value)


def _render_polynomial(polynomial: Polynomial) -> str:
    if not polynomial:
        return "0"
    # An atom's name holds the text of all that is inside it, so that each nesting may multiply the length.
    spend(sum(len(atom) for key in polynomial for atom, _ in key) // _CHARACTERS)
    parts = []
    for key in sorted(polynomial):
        shown = "*".join(f"{atom}^({power})" if power != 1 else atom for atom, power in key)
        value = polynomial[key]
        parts.append(show_number(value) if not shown else shown if value == 1 else f"{show_number(value)}*{shown}")
    return " + ".join(parts)


def canonical(form: Form) -> str:
    """Return a form as text.

    >>> from adjudge.rewards.math._parser import parse
    >>> canonical(exact_form(parse("(x-1)(x+1)")))
    '-1 + x^(2)'
    """
    top = _render_polynomial(form.top)
    return top if form.bottom == _ONE else f"({top})/({_render_polynomial(form.bottom)})"
