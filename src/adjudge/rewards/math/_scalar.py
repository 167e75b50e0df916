"""Whether two scalars are equal: exactly where possible, numerically where not, rounded where allowed."""

from fractions import Fraction
from functools import partial

from adjudge.rewards.math._exact import NotExact, ZeroDivisor, exact_form, same_form
from adjudge.rewards.math._numeric import Undefined, agree, evaluate
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._precise import precise
from adjudge.rewards.math._tree import (
    Add,
    Based,
    Big,
    Call,
    Degree,
    Mul,
    Node,
    Num,
    Percent,
    Pow,
    Quantity,
    Ratio,
    Sym,
    names,
    rebuild,
    walk,
)
from adjudge.rewards.math._units import conversion, names_unit
from adjudge.rewards.math._verdict import Reason
from adjudge.text.units import read_unit

_WHOLE_LETTERS = frozenset("ijklmnpq")

Answer = tuple[bool | None, Reason]
"""A decision (None: undecided) and its reason."""


def _decimal(node: Node) -> Num | None:
    """Return the decimal literal that a node is, if it is one."""
    match node:
        case Num(_, digits, _):
            return node if digits is not None else None
        case Quantity(item, _) | Degree(item):
            return _decimal(item)
        case Percent(Num(value, digits, places)) if digits is not None and places is not None:
            return Num(value / 100, digits, places + 2)
        case _:
            return None


def _inexact(node: Node) -> bool:
    return any(isinstance(part, Num) and part.digits is not None for part in walk(node))


def _rounds_to(exact: Node, literal: Num) -> bool:
    """Whether the exact value, rounded to the places of the literal, is the literal."""
    places = literal.places or 0
    half = Fraction(1, 2 * 10**places)
    try:
        value = exact_form(exact).value
    except NotExact:
        value = None
    if value is not None:
        return abs(value - literal.value) <= half
    # Sixteen digits cannot tell a value just below one half from one just above.
    sharp = precise(exact)
    if sharp is not None:
        return abs(Fraction(sharp) - literal.value) <= half
    try:
        number, error = evaluate(exact, {})
    except (Undefined, NotExact):
        return False
    if abs(number.imag) > error + abs(number) * 1e-12 or error > float(half) / 100:
        return False
    return abs(Fraction(number.real) - literal.value) <= half


def _finite_decimal(node: Node) -> bool:
    """Whether a value can be written as a finite decimal, so that nothing has to be rounded."""
    try:
        value = exact_form(node).value
    except NotExact:
        return False
    if value is None:
        return False
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _is_rounded(gold: Node, answer: Node, policy: MathPolicy) -> bool:
    if names(gold) or names(answer):
        return False
    literal = _decimal(gold)
    # A decimal gold is a rounding: an exact answer may round to it.
    if literal is not None and policy.gold_digits:
        enough = (literal.digits or 0) >= policy.gold_digits
        return enough and not _inexact(answer) and _rounds_to(answer, literal)
    literal = _decimal(answer)
    if literal is not None and policy.answer_digits:
        enough = (literal.digits or 0) >= policy.answer_digits
        return enough and not _inexact(gold) and not _finite_decimal(gold) and _rounds_to(gold, literal)
    return False


def _with_base(node: Node, base: int) -> Node:
    """Plain `log` written with its base."""
    if not isinstance(node, Call | Add | Mul | Pow):
        return node
    node = rebuild(node, partial(_with_base, base=base))
    match node:
        case Call("log", (argument,)):
            return Call("log", (argument, Num(Fraction(base))))
        case _:
            return node


def same_value(gold: Node, answer: Node) -> Answer:
    """Equality of two expressions as mathematics has it, with no policy."""
    if gold == answer:
        return True, "symbolic" if names(gold) else "numeric"
    try:
        left, right = exact_form(gold), exact_form(answer)
    except ZeroDivisor:
        return False, "mismatch"
    except NotExact:
        pass
    else:
        if left.value is not None and right.value is not None:
            return left.value == right.value, "exact-rational"
        if same_form(left, right):
            return True, "symbolic"
        if not left.opaque and not right.opaque:
            return False, "symbolic"
    parts = [*walk(gold), *walk(answer)]
    if Sym("infinity") in parts:
        return None if any(isinstance(part, Big) for part in parts) else False, "symbolic"
    result = agree(gold, answer)
    if result is not False and not names(gold) and not names(answer):
        result = _closely(gold, answer, result)
    # Some expressions have values at whole numbers only.
    if result is None:
        result = agree(gold, answer, whole=True)
    calls = [part for part in parts if isinstance(part, Call)]
    # `log` is the natural one in some books, that of base 10 in others.
    if result is False and any(call.name == "log" and len(call.args) == 1 for call in calls):
        result = agree(_with_base(gold, 10), _with_base(answer, 10))
    # Rounding functions of letters that stand for whole numbers make other points meaningless.
    is_rounding = any(call.name in {"floor", "ceil"} for call in calls)
    if result is False and is_rounding and names(gold) == names(answer) <= _WHOLE_LETTERS:
        result = agree(gold, answer, whole=True)
    return result, "numeric"


def _closely(gold: Node, answer: Node, unless_known: bool | None) -> bool | None:
    """Whether two real constants agree to fifty digits."""
    one, other = precise(gold), precise(answer)
    if one is None or other is None:
        return unless_known
    return abs(Fraction(one) - Fraction(other)) <= max(abs(Fraction(one)), abs(Fraction(other))) / 10**50


def _unit_of(node: Node) -> str | None:
    """Return the words after a number; a sign for degrees is a word too."""
    match node:
        case Quantity(Degree(), unit):
            return f"degree {unit}"
        case Quantity(_, unit):
            return unit
        case Degree():
            return "degree"
        case _:
            return None


def _units_differ(gold: Node, answer: Node, policy: MathPolicy) -> tuple[bool, Node, Node]:
    """Whether units contradict each other; otherwise both values in the same unit."""
    one, other = _unit_of(gold), _unit_of(answer)
    if policy.units == "ignore" or one is None or other is None or one == other:
        return False, gold, answer
    factor = conversion(one, other)
    if factor is None or factor == 1:
        return factor is None, gold, answer
    return False, gold, Mul((answer.item if isinstance(answer, Quantity) else answer, Num(factor)))


def _minute_of_day(node: Node) -> int | None:
    """Return a time that says which half of the day it is in: `3:45 PM`, `15:45`, `0:05`."""
    half = None
    if isinstance(node, Quantity) and node.unit in {"antemeridian", "postmeridian"}:
        half = 12 if node.unit == "postmeridian" else 0
        node = node.item
    match node:
        case Ratio((Num(Fraction(denominator=1) as hour), Num(Fraction(denominator=1) as minute))) if minute < 60:
            if half is not None and 1 <= hour <= 12:
                return int(hour % 12 + half) * 60 + int(minute)
            if half is None and (hour == 0 or 13 <= hour < 24):
                return int(hour * 60 + minute)
    return None


def _percent(node: Node) -> Node:
    """Return a quantity in percent as a percentage."""
    if isinstance(node, Quantity):
        unit = read_unit(node.unit)
        if unit is not None and unit.dimension == "percent":
            return Percent(node.item)
    return node


def same_scalar(gold: Node, answer: Node, policy: MathPolicy) -> Answer:
    """Equality of two scalars under the policy."""
    gold, answer = _percent(gold), _percent(answer)
    times = _minute_of_day(gold), _minute_of_day(answer)
    # Two times without a half of the day may be ratios.
    if None not in times and (isinstance(gold, Quantity) or isinstance(answer, Quantity)):
        return times[0] == times[1], "exact-rational"
    if isinstance(gold, Based) or isinstance(answer, Based):
        return gold == answer, "exact-rational"
    if isinstance(gold, Ratio) and isinstance(answer, Ratio):
        return _same_ratio(gold, answer, policy)
    if _no_quotient(gold) or _no_quotient(answer):
        return False, "mismatch"
    if isinstance(gold, Percent):
        if isinstance(answer, Percent):
            return same_scalar(gold.item, answer.item, policy)
        # Percent is a unit as well: `40 students` are not 40%.
        unit = _unit_of(answer)
        if policy.units != "ignore" and unit is not None and names_unit(unit):
            return False, "mismatch"
        # A gold of `40%` is often answered by `40`.
        if policy.percent:
            bare = same_scalar(gold.item, answer, policy)
            if bare[0]:
                return bare
        return same_scalar(gold.item, Mul((Num(Fraction(100)), answer)), policy)
    if not policy.degrees and isinstance(gold, Degree) != isinstance(answer, Degree):
        return False, "mismatch"
    differ, gold, answer = _units_differ(gold, answer, policy)
    if differ:
        return False, "mismatch"
    result, reason = same_value(gold, answer)
    if result is not True and _is_rounded(gold, answer, policy):
        return True, "numeric"
    return result, reason


def _no_quotient(node: Node) -> bool:
    """Whether a ratio is not a number: it has three parts, or a zero as in a time of day."""
    return isinstance(node, Ratio) and (len(node.items) > 2 or _has_zero(node))


def _has_zero(node: Ratio) -> bool:
    return any(isinstance(item, Num) and item.value == 0 for item in node.items)


def _same_ratio(gold: Ratio, answer: Ratio, policy: MathPolicy) -> Answer:
    """Proportional ratios are equal; one with a zero, which may be a time of day, only to itself."""
    if len(gold.items) != len(answer.items):
        return False, "mismatch"
    if _has_zero(gold) or _has_zero(answer):
        pairs = zip(gold.items, answer.items, strict=True)
        return all(same_scalar(one, other, policy)[0] is True for one, other in pairs), "exact-rational"
    for one, other in zip(gold.items[1:], answer.items[1:], strict=True):
        result, reason = same_value(Mul((gold.items[0], other)), Mul((answer.items[0], one)))
        if result is not True:
            return result, reason
    return True, "exact-rational"
