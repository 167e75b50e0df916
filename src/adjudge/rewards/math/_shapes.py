"""What an answer's tree is: a word, a scalar, a function, an order of names, values of names."""

from adjudge.rewards.math._derivatives import is_derivative
from adjudge.rewards.math._normal import assignment
from adjudge.rewards.math._sets import is_interval
from adjudge.rewards.math._tree import (
    Builder,
    Call,
    Group,
    Items,
    Matrix,
    Node,
    Num,
    Relation,
    SetOf,
    SetOperation,
    Sym,
    Text,
    names,
    walk,
)
from adjudge.rewards.math._verdict import Reason


def is_word(node: Node) -> bool:
    """Whether a tree is written in words as well: the empty set, all real numbers."""
    return node in {Sym("emptyset"), Sym("mathbb(R)")} or node == SetOf(())


def reason_of(node: Node) -> Reason:
    """Return the reason by which an answer that is the gold itself is right."""
    match node:
        case Items() | SetOf() | Group():
            return "interval" if is_interval(node) else "set"
        case Matrix():
            return "matrix"
        case SetOperation() | Builder():
            return "interval"
        case Relation() if is_interval(node):
            return "interval"
        case Num():
            return "exact-rational"
        case Text():
            return "exact-string"
        case _:
            return "symbolic"


def is_scalar(node: Node) -> bool:
    """Whether a tree is one value: no collection, relation or text is in it."""
    return not any(
        isinstance(part, Items | SetOf | Group | SetOperation | Matrix | Relation | Text | Builder)
        for part in walk(node)
    )


def function_of(label: Node) -> tuple[str, Node] | None:
    """Return the name and the argument of `f(x)`; None for any other label."""
    match label:
        case Call(name, (arg,)) if not is_derivative(label):
            return name.lstrip("?"), arg
        case _:
            return None


def have_other_variables(gold: Node, answer: Node) -> bool:
    """Whether both sides are inequalities, each about a variable of its own."""
    sides = []
    for side in (gold, answer):
        relations = side.items if isinstance(side, Items) else (side,)
        if not all(isinstance(part, Relation) for part in relations):
            return False
        if any(isinstance(part, Call) for part in walk(side)):
            return False
        sides.append(names(side))
    return len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1] and "y" not in sides[0] | sides[1]


def is_ordering(gold: Node, answer: Node) -> bool | None:
    """Whether a list of names is the order that a chain of inequalities states."""
    match gold, answer:
        case Relation(operators, items), Items(listed, False) if len(set(operators)) == 1 and len(items) > 2:
            if all(isinstance(item, Sym) for item in (*items, *listed)):
                return items == listed or (operators[0] in {">", ">="} and items[::-1] == listed)
    return None


def names_each(items: tuple[Node, ...]) -> bool:
    """Whether every element is the value of another name, as in `A=3, B=5`; `x_1=3, x_2=5` are values of one."""
    found = [pair[0] for pair in map(assignment, items) if pair is not None]
    # `x_1` and `x_2` are two values of x, in any order.
    bases = {label.name.partition("_")[0] if isinstance(label, Sym) else label for label in found}
    return len(found) == len(items) == len(bases)
