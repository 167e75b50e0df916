r"""Tokens into a tree: a precedence parser that is linear in its input and bounded in depth.

It reads what people and models write, LaTeX or plain: `\frac12`, `2 1/3`, `x=1 or x=2`, `\{x | x<3\}`,
`5 \text{ square units}`. Whatever it cannot read raises `Unreadable`; words that are not mathematics become `Text`.
"""

from collections.abc import Sequence

from adjudge.rewards.math._atoms import CLOSERS
from adjudge.rewards.math._lexer import compile_once, repair, tokenize
from adjudge.rewards.math._limits import MAX_ANSWER, MAX_ITEMS, LimitExceeded, Unreadable
from adjudge.rewards.math._logic import Logic, is_vector, relation_sign
from adjudge.rewards.math._numerals import negate
from adjudge.rewards.math._tree import (
    MINUS_ONE,
    Add,
    Builder,
    Call,
    Degree,
    Group,
    Items,
    Mul,
    Node,
    Num,
    Percent,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Relation,
    SetOf,
    SetOperation,
    Sym,
    Text,
    single,
)
from adjudge.rewards.math._units import is_measurable

_RELATIONS = {
    "=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "\\le": "<=", "\\ge": ">=", "!=": "!=",
    "\\ne": "!=", "\\approx": "~", "\\doteq": "~", "\\in": "in", "\\equiv": "=", "\\to": "=", "\\coloneqq": "=",
    "\\sim": "~", "\\Rightarrow": "implies", "\\perp": "perp", "\\parallel": "parallel",
    "\\subset": "in", "\\subseteq": "in", "\\iff": "iff", "\\Leftrightarrow": "iff", "\\notin": "notin",
}  # fmt: skip
_FACTOR_SIGNS = frozenset({"*", "\\cdot", "/", "\\div", "\\bullet"})
_SET_OPERATORS = {"\\cup": "union", "\\cap": "intersection", "\\setminus": "minus"}
_SEPARATORS = frozenset({",", ";", "\\\\", "\\wedge", "\\vee"})
_APPROXIMATORS = frozenset(
    {"approximately", "about", "around", "roughly", "exactly", "approx", "nearly", "almost", "either"}
)
_CLAUSES = frozenset(
    "for where when if with such whenever as because since each respectively given provided only per".split()
)
_DOUBTS = frozenset({"or", "not", "maybe", "perhaps", "possibly", "never", "wrong", "false", "incorrect", "mistaken"})
# Words after a number that make another statement of it.
_ALTERING = r"(?i)\bat (?:most|least)\b|\bbelow zero\b|^(?:squared|cubed)\b"
_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "can", "will", "does", "and"})


def parse(text: str, *, grouping: bool = True) -> Node:
    """Read one answer.

    >>> parse("x^2 = 4")
    Relation(operators=('=',), items=(Pow(base=Sym(name='x'), exponent=Num(value=Fraction(2, 1), digits=None, \
places=None)), Num(value=Fraction(4, 1), digits=None, places=None)))
    """
    return parse_with_bound(text, grouping=grouping)[0]


def parse_with_bound(text: str, *, grouping: bool = True) -> tuple[Node, frozenset[str]]:
    """Read one answer, and name the variables that its words bind (`for some integer t`)."""
    if len(text) > MAX_ANSWER:
        raise LimitExceeded(f"the answer has {len(text)} characters")
    text = repair(text)
    parser = _Parser(text, tokenize(text, grouping=grouping))
    return parser.answer(), frozenset(parser.bound)


class _Parser(Logic):
    """Sequences, relations and operators; `Atoms` has the operands, `Logic` some signs."""

    def answer(self) -> Node:
        """Return the whole text as one node."""
        node = self.sequence(("end",))
        if self.kind != "end":
            raise Unreadable(f"nothing can follow at {self.value!r}")
        return node

    def sequence(self, closers: Sequence[str]) -> Node:
        """Items up to a closer; one item stands for itself."""
        items: list[Node] = []
        choice = False
        for _ in self.rounds():
            while self._separator():
                choice = choice or self.value in {"or", "\\vee"}
                self.advance()
            if self.value in closers or self.kind == "end":
                break
            items.append(self.item(closers))
            if not (self._separator() or self.value in closers or self.kind == "end"):
                raise Unreadable(f"unexpected {self.value!r}")
        if not items:
            raise Unreadable("nothing to read")
        items = self._without_domains(items)
        return items[0] if len(items) == 1 else Items(tuple(items), choice)

    def _without_domains(self, items: list[Node]) -> list[Node]:
        """Return the items without `k in Z` beside `k pi`, which binds k instead of being an element."""
        kept: list[Node] = []
        for item in items:
            match item:
                case Relation(("in",), (Sym(name), Sym(domain))) if len(items) > 1 and (
                    domain.startswith("mathbb") or domain in {"Z", "N", "Q", "R"}
                ):
                    self.bound.add(name)
                case _:
                    kept.append(item)
        return kept or items

    def _separator(self) -> bool:
        token = self.token
        if token.kind == "word":
            return token.value in {"and", "or"}
        return token.value in _SEPARATORS

    def item(self, closers: Sequence[str]) -> Node:
        """One element of a list: a relation or expression with the words around it."""
        start = self.position
        words: list[str] = []
        while self.kind == "word" and not self._separator() and not self.number_word():
            words.append(self.value)
            self.advance()
        if not words or all(word.lower() in _APPROXIMATORS for word in words):
            if self._ends(closers):
                return self._prose(start, closers)
            node = self._tail(self.relation(), closers)
            if isinstance(node, Text):
                return self._prose(start, closers)
            return node
        if self.value in {"=", ":", "\\approx", "\\sim"}:
            self.advance()
            if self._ends(closers):
                return self._prose(start, closers)
            value = self._tail(self.relation(), closers)
            return Relation(("=",), (Text(" ".join(words)), value))
        return self._prose(start, closers)

    def _ends(self, closers: Sequence[str]) -> bool:
        return self.value in closers or self.kind == "end" or self._separator()

    def _prose(self, start: int, closers: Sequence[str]) -> Text:
        """Return the words of an item that has no mathematical reading, as they are."""
        depth = 0
        while self.kind != "end":
            value = self.value
            if depth == 0 and (value in closers or value in {",", ";"}):
                break
            depth += (value in "([{" and value != "") - (value in ")]}" and value != "" and depth > 0)
            self.advance()
        if not any(token.kind in {"word", "letter"} for token in self.tokens[start : self.position]):
            raise Unreadable("no expression and no words")
        return Text(self.text[self.tokens[start].start : self.token.start].strip(" {}"))

    def _tail(self, node: Node, closers: Sequence[str]) -> Node:
        """Return what follows a value: a full stop, a unit, or a clause that says where it holds."""
        while self.value in {".", "?", '"', "`", "'"} or (self.value == "!" and self.token.spaced):
            self.advance()
        if self.value in _SEPARATORS and self.value != "\\\\":
            following = self.tokens[self.position + 1]
            if following.kind == "word" and following.value.lower() in _CLAUSES:
                self.advance()
        if self.kind == "word" and not self._separator():
            word = self.value.lower()
            if word in _VERBS and (isinstance(node, Relation) or self._is_doubted()):
                if self._is_doubted() or any(token.value in _RELATIONS for token in self.tokens[self.position :]):
                    return Text("")
                self.move_to(len(self.tokens) - 1)
                return node
            if word in _CLAUSES:
                self._clause(closers)
                return node
            if not is_measurable(node):
                return Text("")
            start = self.token.start
            node = self._with_unit(node)
            if compile_once(_ALTERING).search(self.text[start : self.token.start]) is not None:
                return Text("")
            if self.kind == "word" and self.value.lower() in _CLAUSES | _VERBS and not self._separator():
                self._clause(closers)
        elif self.value in {"\\forall", "\\exists", "\\quad"}:
            self._clause(closers)
        while self.value in {".", "?", '"', "`"}:
            self.advance()
        return node

    def _is_doubted(self) -> bool:
        """Whether the words from here on take back what they follow."""
        return any(token.value.lower() in _DOUBTS for token in self.tokens[self.position :])

    def _clause(self, closers: Sequence[str]) -> None:
        """Step over `for all integers n`, remembering that it binds n."""
        while not (self.kind == "end" or self.value in closers or self.value in {",", ";"}):
            if self.kind == "word" and self._separator():
                return
            if self.kind == "letter":
                self.bound.add(self.value)
            self.advance()

    def _with_unit(self, node: Node) -> Node:
        """Attach the words after a value; a parenthesis after them belongs to them."""
        words: list[str] = []
        for _ in self.rounds():
            token = self.token
            if token.kind == "word" and not self._separator() and token.value.lower() not in _CLAUSES | _VERBS:
                words.append(token.value)
                self.advance()
            elif words and token.value == "^":
                self.advance()
                words[-1] += "^" + self.raw_argument()
            elif words and token.value.lower() in {"/", "per"}:
                words.append("/")
                self.advance()
            elif words and token.value in {"-", "."}:
                self.advance()
            elif words and token.kind == "letter" and self.tokens[self.position - 1].value in {"/", "per"}:
                words.append(token.value)
                self.advance()
            else:
                break
        if self.value == "(" and words:
            self.skip_group()
        unit = " ".join(words)
        if isinstance(node, Relation):
            return Relation(node.operators, (*node.items[:-1], Quantity(node.items[-1], unit)))
        return Quantity(node, unit)

    def relation(self) -> Node:
        """Return a chain of relations, or just an expression."""
        items = [self.first_side()]
        operators: list[str] = []
        for _ in self.rounds():
            sign = self.value
            operator = _RELATIONS.get(sign)
            if operator is None:
                break
            self.advance()
            if operator == "<" and self.value == "=":
                operator = "<="
                self.advance()
            items.append(self.expression(0))
            operators.append(relation_sign(sign, operator, *items[-2:]))
        if self.value in {"\\pmod", "\\bmod", "\\mod"}:
            self.advance()
            items[-1] = Call("mod", (items[-1], self.argument()))
        return Relation(tuple(operators), tuple(items)) if operators else items[0]

    def expression(self, level: int) -> Node:
        """Operators that bind tighter than `level`: 5 sets, 10 sums, 20 products, 30 sign, 40 powers."""
        left = self.operand()
        for wrapped, _ in enumerate(self.rounds()):
            # Every round wraps what was read so far, and what walks trees goes as deep as they are.
            if wrapped > MAX_ITEMS:
                raise LimitExceeded("too many signs follow one another")
            value = self.value
            if value in {"+", "-", "\\pm", "\\mp"} and level < 10:
                left = self._sum(left)
            elif level < 20 and (value in _FACTOR_SIGNS or (value == ":" and not self.colon_ends)):
                left = self._product(left)
            elif level < 20 and self.starts_operand():
                # `2 3` is not a product: nobody writes one so.
                if isinstance(left, Num) and self.kind == "number" and self.token.spaced:
                    raise Unreadable("two numbers side by side")
                left = self._product(left)
            elif value in _SET_OPERATORS and level < 5:
                self.advance()
                left = SetOperation(_SET_OPERATORS[value], (left, self.expression(5)))
            elif value in {"^", "**"} and level < 40:
                self.advance()
                self.enter()
                left = self.power(left)
                self.leave()
            elif value == "!" and not (self.token.spaced and self.tokens[self.position + 1].kind == "end"):
                left = self.factorial(left)
            elif value in {"%", "\\%"}:
                self.advance()
                left = Percent(left)
            elif value == "_" and isinstance(left, Num) and left.value.denominator == 1:
                left = self.read_based(str(left.value))
            elif value == "\\degreesign":
                self.advance()
                left = Degree(left)
            elif value == "'" and isinstance(left, Num | Degree):
                self.advance()
            else:
                break
        return left

    def _sum(self, first: Node) -> Node:
        items = [first]
        for _ in self.rounds():
            operator = self.value
            if operator not in {"+", "-", "\\pm", "\\mp"}:
                break
            self.advance()
            if self.dangling():
                if operator == "+" and len(items) == 1 and isinstance(first, Num):
                    raise Unreadable("`3+` is three or more")
                break
            right = self.expression(10)
            if isinstance(first, SetOf | Builder | SetOperation) and operator == "-":
                return SetOperation("minus", (first, right))
            if operator == "-":
                right = negate(right)
            elif operator != "+":
                right = PlusMinus(1 if operator == "\\pm" else -1, right)
            items.append(right)
        return single(Add, items)

    def _product(self, first: Node) -> Node:
        items = [first]
        ratio: list[Node] = []
        for _ in self.rounds():
            value = self.value
            if value in {"*", "\\cdot", "\\bullet"}:
                self.advance()
                if self.dangling():
                    raise Unreadable("a product without its second factor")
                is_cross = is_vector(items[-1]) and self.wrote("\\times")
                right = self.expression(20)
                items[-1:] = [Call("?cross", (items[-1], right))] if is_cross else [items[-1], right]
            elif value in {"/", "\\div"}:
                self.advance()
                items.append(Pow(self.expression(20), MINUS_ONE))
            elif value == ":" and not self.colon_ends:
                self.advance()
                ratio.append(single(Mul, items))
                items = [self.expression(20)]
            elif self.starts_operand():
                if isinstance(items[-1], Num) and self.kind == "number":
                    raise Unreadable("two numbers side by side")
                items.append(self.expression(20))
            else:
                break
        last = single(Mul, items)
        return Ratio((*ratio, last)) if ratio else last

    def set_of(self) -> Node:
        """Return the inside of braces: elements, or a variable and its condition."""
        self.advance()
        if self.value == "\\}":
            self.advance()
            return SetOf(())
        outside = self.bars, self.colon_ends
        bar = self.find_bar()
        variable: Node | None = None
        if bar is not None:
            self.bars, self.colon_ends = 0, True
            variable = self.relation()
            if self.position != bar:
                raise Unreadable("a set builder needs one variable")
            self.advance()
        self.bars, self.colon_ends = 0, False
        inner = self.sequence(("\\}",))
        self.bars, self.colon_ends = outside
        self.expect("\\}")
        if variable is not None:
            return Builder(variable, inner)
        return SetOf(inner.items if isinstance(inner, Items) else (inner,))

    def group(self, opener: str) -> Node:
        """Round, square or angle brackets: one element stands for itself, several are a tuple or an interval."""
        inner = self.read_enclosed(*CLOSERS[opener])
        closer = self.tokens[self.position - 1].value
        if (not isinstance(inner, Items) or len(inner.items) != 2) and (opener, closer) in {("(", "]"), ("[", ")")}:
            raise Unreadable("the brackets do not match")
        if isinstance(inner, Items):
            left = "[" if opener == "[" else "("
            return Group(inner.items, left, "]" if closer == "]" else ")")
        return inner
