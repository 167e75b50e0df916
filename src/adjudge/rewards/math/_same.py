"""Whether two trees are the same answer: lists, tuples, sets, intervals, matrices, equations, scalars."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adjudge.rewards.math._derivatives import is_derivative
from adjudge.rewards.math._limits import MAX_ITEMS, LimitExceeded, spend
from adjudge.rewards.math._logic import SYMMETRIC
from adjudge.rewards.math._matrix import matrix_value
from adjudge.rewards.math._normal import assignment, normal, substitute
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._relations import difference, proportional, solved_by, turn_around
from adjudge.rewards.math._scalar import Answer, same_scalar, same_value
from adjudge.rewards.math._sets import IntervalPiece, NotInterval, is_interval, pieces
from adjudge.rewards.math._shapes import (
    function_of,
    have_other_variables,
    is_ordering,
    is_scalar,
    is_word,
    names_each,
    reason_of,
)
from adjudge.rewards.math._tree import (
    Add,
    Call,
    Group,
    Items,
    Matrix,
    Node,
    Relation,
    SetOf,
    Sym,
    Text,
    children,
    names,
)
from adjudge.rewards.math._words import same_words


class NeedsWorker(Exception):
    """Only symbolic algebra can compare the two expressions."""


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """What a comparison goes by: the policy, and who decides where tier 1 cannot."""

    policy: MathPolicy
    oracle: Callable[[Node, Node], bool | None] | None = field(default=None, compare=False)
    bound: frozenset[str] = field(default=frozenset(), compare=False)


def same(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    """Whether two answers are the same, and by which reason."""
    spend()
    gold, answer = normal(gold), normal(answer)
    if gold == answer:
        return True, reason_of(gold)
    # Words come first: the empty set may be written in words or in signs.
    if isinstance(gold, Text) or isinstance(answer, Text) or is_word(gold) or is_word(answer):
        equal = same_words(
            gold,
            answer,
            gold_text=gold.words if isinstance(gold, Text) else None,
            answer_text=answer.words if isinstance(answer, Text) else None,
            prose=rules.policy.prose,
        )
        if equal or isinstance(gold, Text) or isinstance(answer, Text):
            return equal, "exact-string" if equal else "mismatch"
    gold_label, answer_label = assignment(gold), assignment(answer)
    if gold_label is not None or answer_label is not None:
        return _same_labelled(gold, answer, gold_label, answer_label, rules)
    if isinstance(gold, Matrix) or isinstance(answer, Matrix):
        return _matrices(gold, answer, rules)
    if is_interval(gold) or is_interval(answer):
        return _intervals(gold, answer, rules)
    if isinstance(gold, Items | SetOf | Group) or isinstance(answer, Items | SetOf | Group):
        return _collections(gold, answer, rules)
    if isinstance(gold, Relation) or isinstance(answer, Relation):
        return _equations(gold, answer, rules)
    return _scalars(gold, answer, rules)


def _scalars(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    if not is_scalar(gold) or not is_scalar(answer):
        return _alike(gold, answer, rules), "symbolic"
    result, reason = same_scalar(gold, answer, rules.policy)
    if result is None:
        if rules.oracle is None:
            raise NeedsWorker
        result, reason = rules.oracle(gold, answer), "symbolic"
    # `2k pi` and `2n pi` differ only in the name of a bound variable.
    if not result and rules.bound:
        renamed = _rename(gold, answer, rules)
        if renamed is not None:
            return same_scalar(gold, renamed, rules.policy)
    if not result and isinstance(gold, Add) and isinstance(answer, Add):
        renamed = _with_constant(gold, answer)
        if renamed is not None:
            return bool(same_scalar(gold, renamed, rules.policy)[0]), "symbolic"
    return bool(result), reason


def _with_constant(gold: Add, answer: Add) -> Node | None:
    """Return the answer with its constant of integration, `+ c` or `+ C`, written as in the gold."""
    for one, other in (("C", "c"), ("c", "C")):
        if Sym(one) in gold.items and Sym(other) in answer.items and other not in names(gold):
            return None if one in names(answer) else substitute(answer, other, Sym(one))
    return None


def _alike(gold: Node, answer: Node, rules: ComparisonRules) -> bool:
    """Whether two expressions over collections are built the same way of equal parts."""
    one, other = children(gold), children(answer)
    if type(gold) is not type(answer) or len(one) != len(other) or not one:
        return False
    if isinstance(gold, Call) and isinstance(answer, Call) and gold.name != answer.name:
        return False
    return _same_in_order(one, other, rules)


def _rename(gold: Node, answer: Node, rules: ComparisonRules) -> Node | None:
    """Return the answer with its own bound variable called as in the gold, where each side has one name of its own."""
    if isinstance(answer, Sym) or isinstance(gold, Sym):
        return None
    mine, theirs = names(gold), names(answer)
    only_gold, only_answer = mine - theirs, theirs - mine
    if len(only_gold) != 1 or len(only_answer) != 1:
        return None
    old, new = next(iter(only_answer)), next(iter(only_gold))
    if not {old, new} & rules.bound and old.lower() != new.lower():
        return None
    return substitute(answer, old, Sym(new))


def _same_labelled(
    gold: Node,
    answer: Node,
    gold_label: tuple[Node, Node] | None,
    answer_label: tuple[Node, Node] | None,
    rules: ComparisonRules,
) -> Answer:
    if gold_label is not None and answer_label is not None:
        return _same_both_labelled(gold, answer, gold_label, answer_label, rules)
    label, value = gold_label or answer_label or (gold, answer)
    other = answer if gold_label is not None else gold
    if (
        isinstance(label, Group)
        and isinstance(other, Items)
        and isinstance(value, Group)
        and len(label.items) == len(value.items)
    ):
        parts = zip(label.items, value.items, strict=True)
        spread: Node = Items(tuple(Relation(("=",), pair) for pair in parts))
        return same(spread, other, rules) if gold_label is not None else same(other, spread, rules)
    if isinstance(other, Relation):
        return _equations(gold, answer, rules)
    # The arguments of `f(x) = ...` are bound variables.
    if isinstance(label, Call | Group) and not is_derivative(label):
        rules = replace(rules, bound=rules.bound | names(label))
    return same(value, other, rules) if gold_label is not None else same(other, value, rules)


def _same_both_labelled(
    gold: Node, answer: Node, one: tuple[Node, Node], other: tuple[Node, Node], rules: ComparisonRules
) -> Answer:
    (gold_label, gold_value), (answer_label, answer_value) = one, other
    if gold_label == answer_label or isinstance(gold_label, Text) or isinstance(answer_label, Text):
        return same(gold_value, answer_value, rules)
    # `f(x) = x + 1` and `f(t) = t + 1` are the same function.
    first, second = function_of(gold_label), function_of(answer_label)
    if first is not None and second is not None and first[0] == second[0]:
        if isinstance(first[1], Sym) and isinstance(second[1], Sym):
            if first[1] != second[1] and first[1].name in names(answer_value):
                return False, "mismatch"
            return same(gold_value, substitute(answer_value, second[1].name, first[1]), rules)
        return False, "mismatch"
    if isinstance(gold_label, Group) or isinstance(answer_label, Group):
        return same(gold_value, answer_value, rules)
    if first is not None or second is not None:
        result = same(gold_value, answer_value, rules)
        if Sym("y") in {gold_label, answer_label} or not result[0]:
            return result
        return False, "mismatch"
    # `A = 5` is `a = 5`, and `x_{max} = 5` is `x = 5`, but `x_1 = 5` is not `x_2 = 5`.
    if isinstance(gold_label, Sym) and isinstance(answer_label, Sym):
        (base, _, index), (other_base, _, other_index) = (
            gold_label.name.partition("_"),
            answer_label.name.partition("_"),
        )
        numbered = index.isdigit() and other_index.isdigit()
        if base.lower() == other_base.lower() and not numbered:
            return same(gold_value, answer_value, rules)
    return _equations(gold, answer, rules)


def _matrices(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    left, right = matrix_value(gold), matrix_value(answer)
    if left is None or right is None:
        return False, "mismatch"
    # A vector may be written as a row or as a column.
    flat = len(left.rows) == 1 or len(left.rows[0]) == 1
    shapes = [(len(side.rows), len(side.rows[0])) for side in (left, right)]
    if shapes[0] != shapes[1] and not (flat and shapes[0] == shapes[1][::-1]):
        return False, "matrix"
    return _same_in_order(children(left), children(right), rules), "matrix"


def _intervals(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    ordering = is_ordering(gold, answer)
    if ordering is not None:
        return ordering, "set" if ordering else "mismatch"
    try:
        left, right = pieces(gold), pieces(answer)
    except NotInterval:
        if isinstance(gold, Group) and isinstance(answer, Group):
            return _collections(gold, answer, rules)
        if isinstance(gold, Items | SetOf) and isinstance(answer, Items | SetOf):
            return _collections(gold, answer, rules)
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return _inequalities(gold, answer, rules)
        return False, "mismatch"
    if len(left) != len(right) or have_other_variables(gold, answer):
        return False, "interval"
    return all(_same_piece(one, other, rules) for one, other in zip(left, right, strict=True)), "interval"


def _same_piece(one: IntervalPiece, other: IntervalPiece, rules: ComparisonRules) -> bool:
    if (one.closed_low, one.closed_high) != (other.closed_low, other.closed_high):
        return False
    for left, right, value, far in (
        (one.low, other.low, one.start, other.start),
        (one.high, other.high, one.stop, other.stop),
    ):
        if abs(value) == float("inf") or abs(far) == float("inf"):
            if value != far:
                return False
        elif not _scalars(left, right, rules)[0]:
            return False
    return True


def _inequalities(gold: Relation, answer: Relation, rules: ComparisonRules) -> Answer:
    """Inequalities in several variables: the same chain, read in either direction, up to a positive factor."""
    for candidate in (answer, turn_around(answer)):
        if candidate.operators == gold.operators:
            if len(gold.items) == 2:
                if proportional(difference(gold), difference(candidate), positive=gold.operators[0] != "!="):
                    return True, "symbolic"
            elif _same_in_order(gold.items, candidate.items, rules):
                return True, "symbolic"
    return False, "mismatch"


def _equations(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    if isinstance(gold, Relation) and isinstance(answer, Relation):
        if gold.operators == answer.operators and gold.operators in SYMMETRIC:
            return any(
                _same_in_order(gold.items, side, rules) for side in (answer.items, answer.items[::-1])
            ), "symbolic"
        if gold.operators != ("=",) or answer.operators != ("=",):
            return False, "mismatch"
        equal = proportional(difference(gold), difference(answer), positive=False)
        return equal, "symbolic" if equal else "mismatch"
    if isinstance(gold, Relation) and gold.operators == ("=",):
        if isinstance(answer, Items | SetOf | Group | Matrix | Relation):
            return False, "mismatch"
        # An identity such as `2+2 = 4` states its last side.
        if same_value(*gold.items)[0]:
            return _scalars(gold.items[-1], answer, rules)
        equal = solved_by(gold, answer)
        return equal, "symbolic" if equal else "mismatch"
    if (
        isinstance(answer, Relation)
        and answer.operators == ("=",)
        and names(gold)
        and not isinstance(gold, Items | SetOf | Group | Matrix | Relation)
        and same_value(*answer.items)[0]
    ):
        return _scalars(gold, answer.items[-1], rules)
    return False, "mismatch"


def _collections(gold: Node, answer: Node, rules: ComparisonRules) -> Answer:
    match gold, answer:
        case Group(one, left, right), Group(other, other_left, other_right):
            # Of two items the brackets tell a point from an interval; of more they mean nothing.
            if len(one) == 2 and (left, right) != (other_left, other_right):
                return False, "interval"
            return _same_in_order(one, other, rules), "interval" if left == "[" or right == "]" else "set"
        case (Group(one, _, _), Items(other, _)) | (Items(one, _), Group(other, _, _)):
            return _same_in_order(one, other, rules), "set"
        case Items(one, _), Items(other, _):
            if rules.policy.list_order:
                return _same_in_order(one, other, rules), "set"
            return _same_in_any_order(one, other, rules), "set"
        case ((Items(one, _) | SetOf(one)), (Items(other, _) | SetOf(other))):
            return _same_in_any_order(one, other, rules), "set"
        case SetOf((single,)), _:
            return same(single, answer, rules)
        case _, SetOf((single,)):
            return same(gold, single, rules)
        case _, Items(other, _) if not isinstance(gold, Group) and len(other) <= MAX_ITEMS:
            # The same value twice, as in two boxes with `42` and `42.0`, offers nothing else.
            return all(same(gold, item, rules)[0] for item in other), "set"
        case _:
            return False, "mismatch"


def _same_in_order(one: tuple[Node, ...], other: tuple[Node, ...], rules: ComparisonRules) -> bool:
    return len(one) == len(other) and all(same(left, right, rules)[0] for left, right in zip(one, other, strict=True))


def _same_in_any_order(one: tuple[Node, ...], other: tuple[Node, ...], rules: ComparisonRules) -> bool:
    """Equal as collections; an answer may repeat an element that the gold lists once."""
    if max(len(one), len(other)) > MAX_ITEMS:
        raise LimitExceeded("the list is too long")
    # `x=1, y=2` is compared label by label, in any order.
    labels = [{pair[0] for pair in map(assignment, side) if pair is not None} for side in (one, other)]
    if labels[0] and labels[0] == labels[1] and len(labels[0]) == len(one) == len(other):
        by_label = {pair[0]: item for item in other if (pair := assignment(item)) is not None}
        return all(same(item, by_label[pair[0]], rules)[0] for item in one if (pair := assignment(item)) is not None)
    if len(one) > len(other):
        return False
    if len(one) == len(other) and not labels[1] and names_each(one):
        return _same_in_order(one, other, rules)
    # Each element of the gold takes one of the answer; what is left over may only repeat some of them.
    waiting = list(other)
    for item in one:
        spend(len(waiting))
        # One that is written the same way is found without comparing values.
        if item in waiting:
            waiting.remove(item)
            continue
        for position, candidate in enumerate(waiting):
            if same(item, candidate, rules)[0]:
                del waiting[position]
                break
        else:
            return False
    return all(any(same(item, extra, rules)[0] for item in one) for extra in waiting) and (
        not waiting or not _repeats(one, rules)
    )


def _repeats(items: tuple[Node, ...], rules: ComparisonRules) -> bool:
    return any(
        same(items[first], items[second], rules)[0]
        for first in range(len(items))
        for second in range(first + 1, len(items))
    )


def contains(answer: Node, gold: Node, rules: ComparisonRules) -> bool:
    """Whether an answer offers the gold among other things."""
    answer, gold = normal(answer), normal(gold)
    if not isinstance(answer, Items | SetOf) or len(answer.items) > MAX_ITEMS:
        return False
    wanted = gold.items if isinstance(gold, Items | SetOf) else (gold,)
    return len(wanted) < len(answer.items) and all(
        any(same(item, offered, rules)[0] for offered in answer.items) for item in wanted
    )
