"""Tier 2: sympy objects built from our own tree, and only inside a worker process.

No text reaches sympy, not even the name of a variable: every number, symbol and function is constructed from a node.
Whatever has no counterpart makes the answer undecided, which counts as not equal.
"""

from typing import Any

import sympy

from adjudge.rewards.math._compare import decide
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._tree import Add, Big, Call, Degree, Mul, Node, Num, Percent, Pow, Quantity, Ratio, Sym

_FUNCTIONS: dict[str, Any] = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "arccot": sympy.acot, "sinh": sympy.sinh,
    "cosh": sympy.cosh, "tanh": sympy.tanh, "exp": sympy.exp, "ln": sympy.log, "log": sympy.log, "abs": sympy.Abs,
    "factorial": sympy.factorial, "floor": sympy.floor, "ceil": sympy.ceiling, "binom": sympy.binomial,
    "max": sympy.Max, "min": sympy.Min,
}  # fmt: skip
_CONSTANTS: dict[str, Any] = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infinity": sympy.oo}


class _NoCounterpart(Exception):
    """The node is nothing that sympy can decide about."""


class _Builder:
    """Nodes into sympy objects. Variables and unknown functions are numbered: their names stay here."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def symbol(self, name: str) -> Any:
        """Return the symbol that stands for a variable."""
        return sympy.Symbol(f"v{self._number(name)}", positive=True)

    def build(self, node: Node) -> Any:
        """Return a node as a sympy object."""
        build = self.build
        match node:
            case Num(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Sym(name):
                return _CONSTANTS[name] if name in _CONSTANTS else self.symbol(name)
            case Add(items):
                return sympy.Add(*map(build, items))
            case Mul(items):
                return sympy.Mul(*map(build, items))
            case Pow(base, exponent):
                return sympy.Pow(build(base), build(exponent))
            case Percent(item):
                return build(item) / 100
            case Degree(item) | Quantity(item, _):
                return build(item)
            case Ratio((left, right)):
                return build(left) / build(right)
            case Call("log", (argument, base)):
                return sympy.log(build(argument), build(base))
            case Call(name, args) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(build, args))
            case Call(name, args) if name[0] == "?":
                return sympy.Function(f"f{self._number(name)}")(*map(build, args))
            case Big():
                return self._big(node)
            case _:
                raise _NoCounterpart(type(node).__name__)

    def _big(self, node: Big) -> Any:
        body = self.build(node.body)
        if not node.variable:
            raise _NoCounterpart(node.kind)
        variable = self.symbol(node.variable)
        if node.kind == "diff":
            return sympy.diff(body, variable)
        if node.kind == "int" and node.low is None:
            return sympy.Integral(body, variable)
        if node.kind == "lim" and node.low is not None:
            return sympy.Limit(body, variable, self.build(node.low))
        if node.low is None or node.high is None:
            raise _NoCounterpart(node.kind)
        limits = (variable, self.build(node.low), self.build(node.high))
        match node.kind:
            case "sum":
                return sympy.Sum(body, limits)
            case "prod":
                return sympy.Product(body, limits)
            case "int":
                return sympy.Integral(body, limits)
            case _:
                raise _NoCounterpart(node.kind)


def oracle(gold: Node, answer: Node) -> bool | None:
    """Whether sympy can show that two expressions are equal; None where it cannot tell."""
    builder = _Builder()
    try:
        left, right = builder.build(gold), builder.build(answer)
    except (_NoCounterpart, TypeError, ValueError):
        return None
    try:
        # Its own `==` compares shapes; the difference is compared with 0.
        difference = sympy.simplify((left - right).doit())
        if difference == 0:
            return True
        equal = difference.equals(0)
    except (TypeError, ValueError, NotImplementedError, AttributeError, ArithmeticError, RecursionError):
        return None
    return None if equal is None else bool(equal)


def job(payload: dict[str, Any]) -> dict[str, Any]:
    r"""Return the whole comparison in a worker: the fields of the verdict as plain data.

    >>> job({"response": "\\boxed{\\int_0^1 x^2 dx}", "gold": "1/3", "policy": {}})["equal"]
    True
    """
    verdict = decide(payload["response"], payload["gold"], MathPolicy(**payload["policy"]), _Sympy())
    return {name: getattr(verdict, name) for name in verdict.__slots__}


class _Sympy:
    """The oracle of one comparison, and whether it was asked."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, gold: Node, answer: Node) -> bool | None:
        self.asked = True
        return oracle(gold, answer)
