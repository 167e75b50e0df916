r"""Signs of logic and geometry that look like products or equations: `p \land q`, `AB \perp CD`, `n!!`."""

from fractions import Fraction

from adjudge.rewards.math._atoms import Atoms
from adjudge.rewards.math._tree import CONSTANTS, Call, Mul, Node, Num, Sym

_CONNECTIVES = frozenset({"\\wedge", "\\vee"})
SYMMETRIC = frozenset({("perp",), ("parallel",), ("similar",), ("iff",)})
_NEGATION = Sym("neg")
_ABOUT = frozenset({"\\approx", "=", "\\doteq", "\\sim"})
_MOST_FACTORIAL = 300


def is_proposition(node: Node) -> bool:
    """Whether a node may be true or false: a name, a negated one, or several that are connected."""
    match node:
        case Sym(name):
            return name not in CONSTANTS
        case Mul((Sym("neg"), inner)):
            return is_proposition(inner)
        case Call(name, _):
            return name[0] == "?"
        case _:
            return False


def is_vector(node: Node) -> bool:
    """Whether a name has an arrow above it."""
    return isinstance(node, Sym) and node.name.startswith(("vec(", "overrightarrow("))


def _connect(signs: list[str], parts: list[Node]) -> Node:
    """Return propositions as one: "and" binds tighter than "or", and the order on either side means nothing."""
    terms: list[list[Node]] = [parts[:1]]
    for sign, part in zip(signs, parts[1:], strict=True):
        if sign == "\\vee":
            terms.append([part])
        else:
            terms[-1].append(part)
    return _joined("?vee", [_joined("?wedge", term) for term in terms])


def _joined(name: str, parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    flat = [
        inner for part in parts for inner in (part.args if isinstance(part, Call) and part.name == name else (part,))
    ]
    return Call(name, tuple(sorted(flat, key=repr)))


def relation_sign(sign: str, usual: str, left: Node, right: Node) -> str:
    """Return what a sign relates, where that depends on its sides: figures are similar, numbers about equal."""
    if sign == "\\sim" and isinstance(left, Mul) and all(isinstance(p, Sym) and p.name.isupper() for p in left.items):
        return "similar"
    if sign == "\\to" and is_proposition(left) and is_proposition(right):
        return "implies"
    return usual


def _double_factorial(node: Node) -> Node:
    """Return `n!!`, the product of every second number down from n; never the factorial of a factorial."""
    if isinstance(node, Num) and node.value.denominator == 1 and 0 <= node.value <= _MOST_FACTORIAL:
        product = 1
        for factor in range(int(node.value), 1, -2):
            product *= factor
        return Num(Fraction(product))
    return Call("?!!", (node,))


class Logic(Atoms):
    """The reading of signs that connect or deny what may be true, and of factorials."""

    def first_side(self) -> Node:
        """Return the first side of a relation, which may have a sign before it, or be connected with others."""
        sign = self.value
        if sign in _ABOUT:
            self.advance()
        first = self.expression(0)
        if not is_proposition(first):
            return first
        # `\sim 5` is about 5, `\sim p` is not p.
        if sign == "\\sim":
            first = Mul((_NEGATION, first))
        signs, parts = [], [first]
        for _ in self.rounds():
            if self.value not in _CONNECTIVES:
                break
            signs.append(self.value)
            self.advance()
            parts.append(self.expression(0))
        return _connect(signs, parts)

    def factorial(self, node: Node) -> Node:
        """Return a factorial; two signs together are a double one."""
        self.advance()
        if self.value != "!" or self.token.spaced:
            return Call("factorial", (node,))
        self.advance()
        return _double_factorial(node)
