"""The operands of the grammar: numbers, names, functions, fractions, roots, matrices, sums."""

from abc import abstractmethod
from fractions import Fraction

from adjudge.rewards.math._derivatives import derivative, match_derivative
from adjudge.rewards.math._lexer import FUNCTIONS
from adjudge.rewards.math._limits import Unreadable
from adjudge.rewards.math._numerals import NOT_OPERANDS, OPENING, Numerals, negate, repeating
from adjudge.rewards.math._tree import (
    MINUS_ONE,
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
    ratio,
    single,
)
from adjudge.text.numbers import read_numeral

_HALF = Num(Fraction(1, 2))
CLOSERS = {"(": (")", "]"), "[": ("]", ")"), "\\langle": ("\\rangle",)}
_BIG = {
    "\\sum": "sum", "\\prod": "prod", "\\int": "int", "\\lim": "lim", "\\iint": "iint", "\\iiint": "iiint",
    "\\oint": "oint", "\\limsup": "limsup", "\\liminf": "liminf",
}  # fmt: skip
_SKIPPED = frozenset(
    "\\$ \\angle \\triangle \\boxed \\forall \\exists \\therefore \\because \\ensuremath \\mathop".split()
)
_FONTS = frozenset(
    "\\mathcal \\mathfrak \\mathscr \\overrightarrow \\vec \\overline \\bar \\hat \\widehat \\tilde \\dot \\widetilde"
    " \\underline \\overset \\stackrel".split()
)
_UNKNOWN_FUNCTIONS = frozenset({"f", "g"})
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "array", "Bmatrix", "smallmatrix"})


class Atoms(Numerals):
    """The reading of one operand."""

    # The parser proper provides these.
    @abstractmethod
    def expression(self, level: int) -> Node:
        """Operators that bind tighter than `level`."""

    @abstractmethod
    def sequence(self, closers: tuple[str, ...]) -> Node:
        """Items up to a closer."""

    @abstractmethod
    def set_of(self) -> Node:
        """Return the inside of set braces."""

    @abstractmethod
    def group(self, opener: str) -> Node:
        """Brackets."""

    def read_enclosed(self, *closers: str) -> Node:
        """Return what is between the bracket here and its closer; bars and colons outside of it do not count inside."""
        self.enter()
        self.advance()
        bars, self.bars = self.bars, 0
        ends, self.colon_ends = self.colon_ends, False
        inner = self.sequence(closers)
        self.bars, self.colon_ends = bars, ends
        if self.value not in closers:
            raise Unreadable(f"{' or '.join(map(repr, closers))} expected before {self.value!r}")
        self.advance()
        self.leave()
        return inner

    def read_between(self, closer: str) -> Node:
        """Return the one expression between the sign here and its closer."""
        self.enter()
        self.advance()
        inner = self.expression(0)
        self.expect(closer)
        self.leave()
        return inner

    def operand(self) -> Node:
        """One operand with its sign."""
        token = self.token
        value = token.value
        match token.kind:
            case "number":
                return self.number()
            case "letter":
                return self._name()
            case "repeating":
                self.advance()
                return repeating(value)
            case "word" if self.number_word():
                return self.words()
            case "command":
                return self._command(value)
        if value in {"-", "+"}:
            self.advance()
            self.enter()
            inner = self.expression(15 if value == "-" else 10)
            self.leave()
            return negate(inner) if value == "-" else inner
        if value in CLOSERS:
            return self.group(value)
        if value == "{":
            return self.read_enclosed("}")
        if value == "|":
            self.bars += 1
            inner = self.read_between("|")
            self.bars -= 1
            return Call("abs", (inner,))
        raise Unreadable(f"unexpected {value!r}" if value else "the expression ends too early")

    def _name(self) -> Node:
        found = self._derivative_in_line() if self.value == "d" else None
        if found is not None:
            return found
        name = self.value
        self.advance()
        for _ in self.rounds():
            if self.value == "_":
                self.advance()
                name += "_" + self.raw_argument()
            elif self.value == "'":
                self.advance()
                name += "'"
            else:
                break
        if self.value == "[" and name in {"E", "P"}:
            return Call("?" + name, self._arguments("]"))
        if self.value == "(" and (name in _UNKNOWN_FUNCTIONS or "'" in name or self._is_applied(name)):
            return Call("?" + name, self._arguments())
        return Sym(name)

    def _derivative_in_line(self) -> Node | None:
        """Return the derivative `dy/dx` or `d/dx` that begins here, if one does."""
        above = 1 if self.tokens[self.position + 1].value == "/" else 2
        ahead = self.tokens[self.position : self.position + above + 3]
        if [token.value for token in (ahead[0], *ahead[above : above + 2])] != ["d", "/", "d"]:
            return None
        if ahead[-1].kind not in {"letter", "command"} or ahead[-1].spaced or len(ahead) < above + 3:
            return None
        self.move_to(self.position + len(ahead))
        sides = [[Sym(token.value.lstrip("\\")) for token in side] for side in (ahead[:above], ahead[-2:])]
        return self._quotient(single(Mul, [*sides[0]]), single(Mul, [*sides[1]]))

    def _is_applied(self, name: str) -> bool:
        """Whether `P(x)` is a function's value: a capital of one letter, or any name that is being defined."""
        inside, closer, after = (*self.tokens[self.position + 1 : self.position + 4], self.tokens[-1], self.tokens[-1])[
            :3
        ]
        if closer.value != ")" or inside.kind not in {"letter", "number"}:
            return False
        return after.value == "=" or (name[0].isupper() and inside.kind == "letter")

    def _arguments(self, closer: str = ")") -> "tuple[Node, ...]":
        inner = self.read_enclosed(closer)
        return inner.items if isinstance(inner, Items) else (inner,)

    def argument(self) -> Node:
        """Return a command's argument: braces, or the next token, of a number only its first digit."""
        token = self.token
        self.enter()
        if token.value == "{":
            node = self.read_enclosed("}")
        elif token.kind == "number" and token.value.isdigit() and len(token.value) > 1:
            # `\frac12` is one half: TeX takes one digit.
            self.tokens[self.position] = token._replace(value=token.value[1:], spaced=False)
            self.move_to(self.position)
            node = Num(Fraction(int(token.value[0])))
        else:
            node = self.operand() if token.kind != "number" else self.digit(token)
        self.leave()
        return node

    def fraction(self) -> Node:
        r"""`\frac` and its two arguments."""
        self.advance()
        return self._quotient(self.argument(), self.argument())

    def _quotient(self, top: Node, bottom: Node) -> Node:
        """Return a fraction, or the derivative that looks like one with what it applies to."""
        found = match_derivative(top, bottom)
        if found is None:
            return ratio(top, bottom)
        sign, variables, inner = found
        if inner is None and self.starts_operand():
            self.enter()
            inner = self.expression(15)
            self.leave()
        return derivative(sign, variables, inner)

    def _root(self) -> Node:
        self.advance()
        index: Node | None = None
        if self.value == "[":
            self.advance()
            index = self.sequence(("]",))
            self.expect("]")
        radicand = self.digit(self.token) if self.kind == "number" else self.argument()
        return Pow(radicand, _HALF if index is None else Pow(index, MINUS_ONE))

    def power(self, base: Node) -> Node:
        """Return what is after `^`: an exponent, a degree sign, an ordinal ending or a prime."""
        if self.dangling():
            return base
        inside = self.tokens[self.position + 1] if self.value == "{" else self.token
        if inside.value == "\\circ":
            self.raw_argument()
            return self._minutes(base)
        if inside.kind == "word" and inside.value.lower() in {"st", "nd", "rd", "th"}:
            self.raw_argument()
            return base
        if inside.value == "\\prime":
            self.raw_argument()
            return Call("prime", (base,))
        if self.value == "-":
            self.advance()
            exponent: Node = negate(self.expression(30))
        elif self.value == "{":
            exponent = self.read_enclosed("}")
        else:
            exponent = self.expression(30)
        return Pow(base, exponent)

    def _minutes(self, degrees: Node) -> Node:
        following = self.tokens[self.position + 1] if self.kind == "number" else None
        if isinstance(degrees, Num) and following is not None and following.value == "'":
            minutes = read_numeral(self.value)
            if minutes is not None:
                self.advance()
                self.advance()
                return Degree(Num(degrees.value + minutes.value / 60))
        return Degree(degrees)

    def _command(self, value: str) -> Node:
        name = value[1:]
        if value == "\\frac":
            return self.fraction()
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
            self.enter()
            item = self.expression(15)
            self.leave()
            return PlusMinus(1 if value == "\\pm" else -1, item)
        if value in _BIG:
            return self._big(_BIG[value])
        if value in CLOSERS:
            return self.group(value)
        if value == "\\begin":
            return self._environment()
        if value in {"\\lfloor", "\\lceil"}:
            return Call("floor" if value == "\\lfloor" else "ceil", (self.read_between("\\r" + value[2:]),))
        if value == "\\binom":
            self.advance()
            return Call("binom", (self.argument(), self.argument()))
        if value in _SKIPPED:
            self.advance()
            corner = self._corner() if value == "\\angle" else None
            if corner is not None:
                return corner
            self.enter()
            item = self.operand()
            self.leave()
            return Call("?exists", (item,)) if value == "\\exists" else item
        if value in {"\\mathbb", *_FONTS}:
            self.advance()
            return self._with_suffix(f"{name}({self.raw_argument()})")
        if value in NOT_OPERANDS and value != "\\perp":
            raise Unreadable(f"unexpected {value!r}")
        self.advance()
        if value == "\\nabla" and self.value == "\\cdot":
            self.advance()
            return Call("?curl" if self.wrote("\\times") else "?div", (self.expression(20),))
        return self._with_suffix({"infty": "infinity", "emptyset": "emptyset"}.get(name, name))

    def _corner(self) -> Node | None:
        """Return an angle by its three points, read from either side."""
        ahead = self.tokens[self.position : self.position + 4]
        are_points = [token.kind == "letter" and token.value.isupper() for token in ahead]
        if are_points != [True, True, True, False] or ahead[3].value in {"_", "'"}:
            return None
        self.move_to(self.position + 3)
        points = "".join(token.value for token in ahead[:3])
        return Sym("angle " + min(points, points[::-1]))

    def _with_suffix(self, name: str) -> Node:
        while self.value == "_":
            self.advance()
            name += "_" + self.raw_argument()
        return Sym(name)

    def _function(self, name: str) -> Node:
        self.advance()
        base, exponent = self._below_and_above()
        args = self._arguments() if self.value == "(" else (self._bare_argument(),)
        # A base belongs to `log`; below other names it makes another function.
        if base is not None:
            if name != "log":
                name += "_"
            args = (*args, base)
        # `sin^{-1}` is the inverse function, not the reciprocal.
        if exponent == MINUS_ONE and name in {"sin", "cos", "tan", "cot", "sec", "csc"}:
            return Call("arc" + name, args)
        result: Node = Call(name, args)
        return result if exponent is None else Pow(result, exponent)

    def _below_and_above(self) -> "tuple[Node | None, Node | None]":
        """Return what is written below (`_`) and above (`^`) a command, in either order."""
        found: dict[str, Node] = {}
        for _ in range(2):
            sign = self.value
            if sign in {"_", "^"}:
                self.advance()
                found[sign] = self.argument()
        return found.get("_"), found.get("^")

    def _bare_argument(self) -> Node:
        r"""Return the argument of `\sin 2x`: factors up to the next operator or function."""
        self.enter()
        factors = [self.expression(20)]
        for _ in self.rounds():
            if not self.starts_operand() or self.value in OPENING:
                break
            if self.kind == "command" and self.value[1:] in FUNCTIONS and self.value != "\\sqrt":
                break
            factors.append(self.expression(20))
        self.leave()
        return single(Mul, factors)

    def _big(self, kind: str) -> Node:
        self.advance()
        low, high = self._below_and_above()
        variable = ""
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
            raise Unreadable(f"a {name} environment is not a single answer")
        if name not in _MATRICES and name not in {"vmatrix", "Vmatrix"}:
            raise Unreadable(f"unknown environment {name!r}")
        if name == "array" and self.value == "{":
            self.raw_argument()
        self.enter()
        rows: list[tuple[Node, ...]] = [()]
        for _ in self.rounds():
            if self.value == "\\end":
                break
            if self.kind == "end":
                raise Unreadable("the matrix is not closed")
            if self.value == "&":
                self.advance()
            elif self.value == "\\\\":
                self.advance()
                rows.append(())
            elif self.value == "\\hline":
                self.advance()
            else:
                rows[-1] = (*rows[-1], self.expression(0))
                if self.value == ",":
                    self.advance()
        self.expect("\\end")
        self.raw_argument()
        self.leave()
        entries = tuple(row for row in rows if row)
        if not entries or len({len(row) for row in entries}) != 1:
            raise Unreadable("the rows of the matrix differ in length")
        matrix = Matrix(entries)
        return matrix if name in _MATRICES else Call("det" if name == "vmatrix" else "?norm", (matrix,))
