"""The operands of the grammar: numbers, names, functions, fractions, roots, matrices, sums."""

from fractions import Fraction

from adjudge.rewards.math._cursor import NOT_OPERANDS, OPENING, Cursor
from adjudge.rewards.math._lexer import FUNCTIONS, Token
from adjudge.rewards.math._limits import TooLarge, Unreadable
from adjudge.rewards.math._tree import (
    Based,
    Big,
    Call,
    Degree,
    Items,
    Matrix,
    Mul,
    Node,
    Num,
    PlusMinus,
    Pow,
    Relation,
    Sym,
)
from adjudge.text.number_words import NUMBER_WORDS, PART_WORDS, read_number_words
from adjudge.text.numbers import MAX_DIGITS, read_numeral

__all__ = ["Atoms", "negated"]

_MINUS_ONE = Num(Fraction(-1))
_GROUPING = str.maketrans("", "", "{}, \t\n")
_HALF = Num(Fraction(1, 2))
_CLOSERS = {"(": (")", "]"), "[": ("]", ")"), "\\langle": ("\\rangle",)}
_BIG = {"\\sum": "sum", "\\prod": "prod", "\\int": "int", "\\lim": "lim"}
_SKIPPED = frozenset(
    {
        "\\$",
        "\\angle",
        "\\triangle",
        "\\boxed",
        "\\forall",
        "\\exists",
        "\\therefore",
        "\\because",
        "\\ensuremath",
        "\\mathop",
    }
)
_FONTS = frozenset(
    "\\mathcal \\mathfrak \\mathscr \\overrightarrow \\vec \\overline \\bar \\hat \\widehat \\tilde \\dot \\widetilde"
    " \\underline \\overset \\stackrel".split()
)
_UNKNOWN_FUNCTIONS = frozenset({"f", "g"})
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "array", "Bmatrix", "smallmatrix"})


class Atoms(Cursor):
    """The reading of one operand."""

    # The parser proper provides these.
    def expression(self, level: int) -> Node:
        """Operators that bind tighter than `level`."""
        raise NotImplementedError

    def sequence(self, closers: "tuple[str, ...]") -> Node:
        """Items up to a closer."""
        raise NotImplementedError

    def set_of(self) -> Node:
        """Return the inside of set braces."""
        raise NotImplementedError

    def group(self, opener: str, closers: tuple[str, ...]) -> Node:
        """Brackets."""
        raise NotImplementedError

    def braces(self) -> Node:
        """Invisible braces."""
        raise NotImplementedError

    def operand(self) -> Node:
        """One operand with its sign."""
        token = self.token
        value = token.value
        match token.kind:
            case "number":
                return self._number()
            case "letter":
                return self._name()
            case "repeating":
                self.advance()
                return _repeating(value)
            case "word" if self.number_word():
                return self._words()
            case "command":
                return self._command(value)
        if value in {"-", "+"}:
            self.advance()
            self.enter()
            inner = self.expression(15 if value == "-" else 10)
            self.leave()
            return negated(inner) if value == "-" else inner
        if value in _CLOSERS:
            return self.group(value, _CLOSERS[value])
        if value == "{":
            return self.braces()
        if value == "|":
            return self._absolute()
        raise Unreadable(f"unexpected {value!r}" if value else "the expression ends too early")

    def _words(self) -> Node:
        if self.token.value.lower() in {"minus", "negative"}:
            self.advance()
            return negated(self.operand())
        words: list[str] = []
        while self.number_word() or (
            words and self.token.value == "and" and words[-1].lower() in {"hundred", "thousand"}
        ):
            words.append(self.token.value)
            self.advance()
            if self.token.value == "-" and self.tokens[self.position + 1].value.lower() in NUMBER_WORDS:
                self.advance()
        number = read_number_words(" ".join(words))
        if number is None:
            raise Unreadable("these number words make no number")
        return self._parts(Num(Fraction(number)))

    def _parts(self, count: Num) -> Node:
        """Return `two thirds` as 2/3; an ordinal after one number is a part of it."""
        token = self.token if self.token.value != "-" else self.tokens[self.position + 1]
        parts = PART_WORDS.get(token.value.lower()) if token.kind == "word" else None
        if parts is None:
            return count
        while self.token is not token:
            self.advance()
        self.advance()
        return Num(count.value / parts)

    def _number(self) -> Node:
        token = self.token
        self.advance()
        following = self.token
        if following.value == "_":
            return self._based(token.value)
        literal = token.value.replace("\\!", "").replace("\\", "").translate(_GROUPING)
        if len(literal) > MAX_DIGITS:
            raise TooLarge("a numeral has too many digits")
        numeral = read_numeral(literal)
        if numeral is None:
            raise Unreadable(f"{token.value!r} is no number")
        node = Num(numeral.value, None if numeral.places is None else numeral.digits, numeral.places)
        if following.kind == "word" and following.value.lower() in {"st", "nd", "rd", "th"} and not following.spaced:
            self.advance()
        if numeral.places is None:
            mixed = self._mixed(node)
            return self._parts(mixed) if isinstance(mixed, Num) else mixed
        return node

    def _mixed(self, whole: Num) -> Node:
        r"""`2\frac{1}{3}` and `2 1/3`: a whole number and a proper fraction side by side are added."""
        at = self.position
        tokens = self.tokens
        if self.token.value == "\\frac":
            saved = (at, list(self.tokens[at : at + 8]))
            fraction = self._fraction()
            match fraction:
                case Mul((Num(top, None), Pow(Num(bottom, None), _))) if (
                    0 < top < bottom and top.denominator == bottom.denominator == 1
                ):
                    return Num(whole.value + top / bottom)
            self.position, kept = saved
            self.tokens[at : at + 8] = kept
            self.token = self.tokens[at]
        elif (
            self.token.kind == "number"
            and self.token.spaced
            and tokens[at + 1].value == "/"
            and tokens[at + 2].kind == "number"
            and self.token.value.isdigit()
            and tokens[at + 2].value.isdigit()
            and len(self.token.value) < 10
            and len(tokens[at + 2].value) < 10
        ):
            part, parts = int(self.token.value), int(tokens[at + 2].value)
            if 0 < part < parts:
                for _ in range(3):
                    self.advance()
                return Num(whole.value + Fraction(part, parts))
        return whole

    def _based(self, digits: str) -> Node:
        self.advance()
        base = self.raw_argument()
        if not base.isdigit() or not 2 <= int(base[:4]) <= 36 or not digits.isdigit():
            raise Unreadable("a subscript of a number must be its base")
        return Based(digits.lstrip("0") or "0", int(base))

    def _name(self) -> Node:
        name = self.token.value
        self.advance()
        while True:
            if self.token.value == "_":
                self.advance()
                name += "_" + self.raw_argument()
            elif self.token.value == "'":
                self.advance()
                name += "'"
            else:
                break
        if self.token.value == "(" and (name in _UNKNOWN_FUNCTIONS or "'" in name or self._applied(name)):
            return Call("?" + name, self._arguments())
        return Sym(name)

    def _applied(self, name: str) -> bool:
        """Whether `P(x)` is a function's value: a capital of one letter, or any name that is being defined."""
        inside, closer, after = (*self.tokens[self.position + 1 : self.position + 4], self.tokens[-1], self.tokens[-1])[
            :3
        ]
        if closer.value != ")" or inside.kind not in {"letter", "number"}:
            return False
        return after.value == "=" or (name[0].isupper() and inside.kind == "letter")

    def _arguments(self) -> "tuple[Node, ...]":
        self.enter()
        self.advance()
        bars, self.bars = self.bars, 0
        inner = self.sequence((")",))
        self.bars = bars
        self.expect(")")
        self.leave()
        return inner.items if isinstance(inner, Items) else (inner,)

    def _absolute(self) -> Node:
        self.enter()
        self.advance()
        self.bars += 1
        inner = self.expression(0)
        self.bars -= 1
        self.expect("|")
        self.leave()
        return Call("abs", (inner,))

    def argument(self) -> Node:
        """Return a command's argument: braces, or the next token, of a number only its first digit."""
        token = self.token
        self.enter()
        if token.value == "{":
            node = self.braces()
        elif token.kind == "number" and token.value.isdigit() and len(token.value) > 1:
            self.tokens[self.position] = self.token = token._replace(value=token.value[1:], spaced=False)
            node = Num(Fraction(int(token.value[0])))
        else:
            node = self.operand() if token.kind != "number" else self._digit(token)
        self.leave()
        return node

    def _digit(self, token: Token) -> Node:
        numeral = read_numeral(token.value)
        if numeral is None:
            raise Unreadable(f"{token.value!r} is no argument")
        self.advance()
        return Num(numeral.value)

    def _fraction(self) -> Node:
        self.advance()
        top = self.argument()
        bottom = self.argument()
        return Mul((top, Pow(bottom, _MINUS_ONE)))

    def _root(self) -> Node:
        self.advance()
        index: Node | None = None
        if self.token.value == "[":
            self.advance()
            index = self.sequence(("]",))
            self.expect("]")
        radicand = self._digit(self.token) if self.token.kind == "number" else self.argument()
        return Pow(radicand, _HALF if index is None else Pow(index, _MINUS_ONE))

    def power(self, base: Node) -> Node:
        """Return what stands after `^`: an exponent, a degree sign, an ordinal ending or a prime."""
        self.enter()
        try:
            return self._power(base)
        finally:
            self.leave()

    def _power(self, base: Node) -> Node:
        if self.dangling():
            return base
        at = self.position
        inside = self.tokens[at + 1] if self.token.value == "{" else self.token
        if inside.value == "\\circ":
            self.raw_argument()
            return self._minutes(base)
        if inside.kind == "word" and inside.value.lower() in {"st", "nd", "rd", "th"}:
            self.raw_argument()
            return base
        if inside.value == "\\prime":
            self.raw_argument()
            return Call("prime", (base,))
        if self.token.value == "-":
            self.advance()
            exponent: Node = negated(self.expression(30))
        elif self.token.value == "{":
            exponent = self.braces()
        else:
            exponent = self.expression(30)
        return Pow(base, exponent)

    def _minutes(self, degrees: Node) -> Node:
        following = self.tokens[self.position + 1] if self.token.kind == "number" else None
        if isinstance(degrees, Num) and following is not None and following.value == "'":
            minutes = read_numeral(self.token.value)
            if minutes is not None:
                self.advance()
                self.advance()
                return Degree(Num(degrees.value + minutes.value / 60))
        return Degree(degrees)

    def _command(self, value: str) -> Node:
        name = value[1:]
        if value == "\\frac":
            return self._fraction()
        if value == "\\sqrt":
            return self._root()
        if name in FUNCTIONS or value == "\\abs":
            return self._function(name)
        if value == "\\{":
            self.enter()
            node = self.set_of()
            self.leave()
            return node
        if value in {"\\pm", "\\mp"}:
            self.advance()
            return PlusMinus(1 if value == "\\pm" else -1, self.expression(15))
        if value in _BIG:
            return self._big(_BIG[value])
        if value in _CLOSERS:
            return self.group(value, _CLOSERS[value])
        if value == "\\begin":
            return self._environment()
        if value in {"\\lfloor", "\\lceil"}:
            self.enter()
            self.advance()
            inner = self.expression(0)
            self.expect("\\r" + value[2:])
            self.leave()
            return Call("floor" if value == "\\lfloor" else "ceil", (inner,))
        if value == "\\binom":
            self.advance()
            return Call("binom", (self.argument(), self.argument()))
        if value in _SKIPPED:
            self.advance()
            return self.operand()
        if value in {"\\mathbb", *_FONTS}:
            self.advance()
            return self._suffixed(f"{name}({self.raw_argument()})")
        if value in NOT_OPERANDS:
            raise Unreadable(f"unexpected {value!r}")
        self.advance()
        return self._suffixed({"infty": "infinity", "emptyset": "emptyset"}.get(name, name))

    def _suffixed(self, name: str) -> Node:
        while self.token.value == "_":
            self.advance()
            name += "_" + self.raw_argument()
        return Sym(name)

    def _function(self, name: str) -> Node:
        self.advance()
        base: Node | None = None
        exponent: Node | None = None
        for _ in range(2):
            if self.token.value == "_":
                self.advance()
                base = self.argument()
            elif self.token.value == "^":
                self.advance()
                exponent = self.argument()
        args = self._arguments() if self.token.value == "(" else (self._bare_argument(),)
        if base is not None:
            if name != "log":
                name += "_"
            args = (*args, base)
        if exponent == _MINUS_ONE and name in {"sin", "cos", "tan", "cot", "sec", "csc"}:
            return Call("arc" + name, args)
        result: Node = Call(name, args)
        return result if exponent is None else Pow(result, exponent)

    def _bare_argument(self) -> Node:
        r"""Return the argument of `\sin 2x`: factors up to the next operator or function."""
        self.enter()
        factors = [self.expression(20)]
        while self.starts_operand() and self.token.value not in OPENING:
            if self.token.kind == "command" and self.token.value[1:] in FUNCTIONS and self.token.value != "\\sqrt":
                break
            factors.append(self.expression(20))
        self.leave()
        return factors[0] if len(factors) == 1 else Mul(tuple(factors))

    def _big(self, kind: str) -> Node:
        self.advance()
        low: Node | None = None
        high: Node | None = None
        variable = ""
        for _ in range(2):
            if self.token.value == "_":
                self.advance()
                low = self.argument()
            elif self.token.value == "^":
                self.advance()
                high = self.argument()
        if isinstance(low, Relation) and isinstance(low.items[0], Sym):
            variable, low = low.items[0].name, low.items[-1]
        self.enter()
        body = self.expression(10)
        self.leave()
        if kind == "int" and isinstance(body, Mul) and len(body.items) > 2 and body.items[-2] == Sym("d"):
            last = body.items[-1]
            variable = last.name if isinstance(last, Sym) else ""
            body = Mul(body.items[:-2])
        return Big(kind, body, variable, low, high)

    def _environment(self) -> Node:
        self.advance()
        name = self.raw_argument()
        if name in {"cases", "align", "align*", "aligned", "gather"}:
            raise Unreadable(f"a {name} environment is no single answer")
        if name not in _MATRICES and name not in {"vmatrix", "Vmatrix"}:
            raise Unreadable(f"unknown environment {name!r}")
        if name == "array" and self.token.value == "{":
            self.raw_argument()
        self.enter()
        rows: list[tuple[Node, ...]] = [()]
        while self.token.value != "\\end":
            if self.token.kind == "end":
                raise Unreadable("the matrix is not closed")
            if self.token.value == "&":
                self.advance()
            elif self.token.value == "\\\\":
                self.advance()
                rows.append(())
            elif self.token.value == "\\hline":
                self.advance()
            else:
                rows[-1] = (*rows[-1], self.expression(0))
                if self.token.value == ",":
                    self.advance()
        self.advance()
        self.raw_argument()
        self.leave()
        entries = tuple(row for row in rows if row)
        if not entries or len({len(row) for row in entries}) != 1:
            raise Unreadable("the rows of the matrix differ in length")
        matrix = Matrix(entries)
        return matrix if name in _MATRICES else Call("det", (matrix,))


def negated(node: Node) -> Node:
    """Return the node with the other sign; a number stays one number."""
    return Num(-node.value, node.digits, node.places) if isinstance(node, Num) else Mul((_MINUS_ONE, node))


def _repeating(value: str) -> Node:
    r"""`0.1\overline{6}` is 1/6."""
    head, _, tail = value.partition("\\")
    period = "".join(char for char in tail if char.isdigit())
    whole, _, fixed = head.partition(".")
    if len(whole) + len(fixed) + len(period) > 300:
        raise TooLarge("a repeating decimal has too many digits")
    start = Fraction(int(whole + fixed or "0"), 10 ** len(fixed))
    return Num(start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed)))
