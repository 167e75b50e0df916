r"""Derivatives, which look like fractions: `\frac{d}{dx} x^3`, `\frac{dy}{dx}`, `\frac{\partial f}{\partial x}`.

As fractions they would cancel to something else (`\frac{dy}{dx}` to `\frac{y}{x}`). Of an expression in its own
variable a derivative is `Big("diff", ...)`, which sympy works out; of anything else it is an unknown function of it.
"""

from adjudge.rewards.math._tree import Big, Call, Mul, Node, Num, Pow, Sym, names, walk

_SIGNS = frozenset({"d", "partial"})


def _power(node: Node) -> tuple[Node, int]:
    """Return a base and its whole exponent; of anything else the node itself and 1."""
    match node:
        case Pow(base, Num(exponent)) if exponent.denominator == 1 and 1 < exponent < 10:
            return base, int(exponent)
        case _:
            return node, 1


def _factors(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Mul) else (node,)


def match_derivative(top: Node, bottom: Node) -> "tuple[str, tuple[str, ...], Node | None] | None":
    """Return the sign, the variables and what is differentiated (if it is above the line) of a derivative."""
    sign, order = _power(_factors(top)[0])
    below = _factors(bottom)
    if not isinstance(sign, Sym) or sign.name not in _SIGNS or len(below) % 2 or set(below[::2]) != {sign}:
        return None
    variables: list[str] = []
    for item in below[1::2]:
        variable, times = _power(item)
        if not isinstance(variable, Sym):
            return None
        variables += [variable.name] * times
    if len(variables) != order:
        return None
    rest = _factors(top)[1:]
    inner = None if not rest else rest[0] if len(rest) == 1 else Mul(rest)
    return sign.name, tuple(variables), inner


def is_derivative(node: Node) -> bool:
    r"""Whether a node is the derivative of something unknown, such as a label `\frac{dy}{dx}`."""
    return isinstance(node, Call) and "/" in node.name


def derivative(sign: str, variables: tuple[str, ...], inner: Node | None) -> Node:
    """Return a derivative; with nothing to differentiate, the operator as a name."""
    name = f"{sign}/" + "".join(f"{sign}{variable}" for variable in variables)
    if inner is None:
        return Sym(name)
    # Another letter may depend on the variable, unless the derivative is a partial one.
    found = names(inner)
    known = found >= set(variables) if sign == "partial" else found == set(variables)
    if not known or any(isinstance(part, Call) and part.name[0] == "?" for part in walk(inner)):
        return Call("?" + name, (inner,))
    for variable in variables:
        inner = Big("diff", inner, variable, None, None)
    return inner
