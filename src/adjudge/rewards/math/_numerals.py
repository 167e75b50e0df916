"""A place in the tokens, and numbers as they are written there: digits, words, mixed numbers, bases, repeats."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from adjudge.rewards.math._lexer import Token
from adjudge.rewards.math._limits import MAX_DEPTH, LimitExceeded, Unreadable, spend
from adjudge.rewards.math._tree import MINUS_ONE, Based, Mul, Node, Num, Pow
from adjudge.text.number_words import NUMBER_WORDS, PART_WORDS, read_number_words
from adjudge.text.numbers import MAX_DIGITS, Numeral, read_numeral

_GROUPING = str.maketrans("", "", "{}, \t\n")
OPENING = frozenset({"(", "[", "{", "\\{", "\\langle", "\\lfloor", "\\lceil"})
NOT_OPERANDS = frozenset(
    "\\cup \\cap \\setminus \\cdot \\div \\pm \\mp \\le \\ge \\ne \\approx \\in \\notin \\equiv \\to \\} \\% \\\\"
    " \\rangle \\rfloor \\rceil \\end \\wedge \\vee \\subset \\subseteq \\iff \\Leftrightarrow \\forall \\exists \\circ"
    " \\degreesign \\bullet \\doteq \\sim \\Rightarrow \\perp \\parallel \\coloneqq \\pmod \\mod \\& \\_ \\#".split()
)


class Numerals(ABC):
    """The tokens, the current one and what is open around it; and the reading of one number."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.move_to(0)
        self.depth = 0
        self.bars = 0
        self.colon_ends = False
        self.bound: set[str] = set()

    def advance(self) -> None:
        """Go to the next token."""
        if self.position < len(self.tokens) - 1:
            self.move_to(self.position + 1)

    def move_to(self, position: int) -> None:
        """Make the token at a position the current one; its kind and value are looked at all the time."""
        self.position = position
        self.token = self.tokens[position]
        self.kind, self.value, _, _ = self.token

    def rounds(self) -> Iterator[None]:
        """Go round a loop as often as its body takes a token: a body that takes none has gone round for the last time.

        Every loop of the parser whose body calls other rules is written with this, so that none can be endless.
        """
        before = -1
        while self.position > before:
            spend()
            before = self.position
            yield

    def expect(self, value: str) -> None:
        """Step over a token that must be there."""
        if self.value != value:
            raise Unreadable(f"{value!r} expected before {self.value!r}")
        self.advance()

    def wrote(self, command: str) -> bool:
        """Whether the token before this one was written as a command that others are read as."""
        return self.text.startswith(command, self.tokens[self.position - 1].start)

    def enter(self) -> None:
        """Go one bracket deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LimitExceeded("brackets are nested too deeply")

    def leave(self) -> None:
        """Come back out of a bracket."""
        self.depth -= 1

    def dangling(self) -> bool:
        """Whether an operator has nothing to its right."""
        return self.kind == "end" or self.value in {")", "]", "}", ",", ";", "\\}", "."}

    def starts_operand(self) -> bool:
        """Whether the current token begins a factor of an implicit product."""
        token = self.token
        if token.kind in {"number", "letter", "repeating"}:
            return True
        if token.kind == "word":
            return self.number_word()
        if token.value == "|":
            return self.bars == 0 and not self.colon_ends
        if token.kind == "command":
            return token.value not in NOT_OPERANDS
        return token.value in {"(", "[", "{"}

    def number_word(self) -> bool:
        """Whether the current token is a number word."""
        if self.kind != "word":
            return False
        word = self.value.lower()
        if word in {"minus", "negative"}:
            following = self.tokens[self.position + 1]
            return following.kind == "number" or following.value.lower() in NUMBER_WORDS
        return word in NUMBER_WORDS

    def raw_argument(self) -> str:
        """Return a command's argument as text, for subscripts and exponents of units."""
        if self.value != "{":
            value = self.value
            self.advance()
            return value.lstrip("\\")
        depth, parts = 0, []
        while self.kind != "end":
            value = self.value
            depth += (value == "{") - (value == "}")
            self.advance()
            if depth == 0:
                break
            parts.append(value.lstrip("\\"))
        return "".join(parts[1:])

    def skip_group(self) -> None:
        """Step over a parenthesis."""
        depth = 0
        while self.kind != "end":
            depth += (self.value == "(") - (self.value == ")")
            self.advance()
            if depth == 0:
                return

    def find_bar(self) -> int | None:
        """Return where the bar or colon of a set builder is, if the braces hold one."""
        depth = 0
        for position in range(self.position, len(self.tokens)):
            token = self.tokens[position]
            if token.value in OPENING:
                depth += 1
            elif token.value in {")", "]", "}", "\\}", "\\rangle", "\\rfloor", "\\rceil"}:
                depth -= 1
                if depth < 0:
                    return None
            elif depth == 0 and token.value in {"|", ":"}:
                return position if position > self.position else None
        return None

    # The operands and the parser proper provide these.
    @abstractmethod
    def operand(self) -> Node:
        """One operand with its sign."""

    @abstractmethod
    def fraction(self) -> Node:
        r"""`\frac` and its two arguments."""

    def number(self) -> Node:
        """Return a number with what belongs to it: a base, an ordinal ending, a fraction beside it."""
        token = self.token
        self.advance()
        following = self.token
        if following.value == "_":
            return self.read_based(token.value)
        literal = token.value.replace("\\!", "").replace("\\", "").translate(_GROUPING)
        # Checked before the digits are read: reading is not linear.
        if len(literal) > MAX_DIGITS:
            raise LimitExceeded("a numeral has too many digits")
        numeral = read_numeral(literal)
        if numeral is None:
            raise Unreadable(f"{token.value!r} is not a number")
        node = literal_of(numeral)
        if following.kind == "word" and following.value.lower() in {"st", "nd", "rd", "th"} and not following.spaced:
            self.advance()
        # Only a whole number can have a fraction beside it.
        if numeral.places is None:
            mixed = self._read_mixed(node)
            return self._parts(mixed) if isinstance(mixed, Num) else mixed
        return node

    def _read_mixed(self, whole: Num) -> Node:
        r"""`2\frac{1}{3}` and `2 1/3`: a whole number and a proper fraction side by side are added."""
        at = self.position
        tokens = self.tokens
        if self.value == "\\frac" and self._is_plain_fraction():
            saved = self.tokens[at : at + 8]
            fraction = self.fraction()
            match fraction:
                case Mul((Num(top, None), Pow(Num(bottom, None), _))) if (
                    0 < top < bottom and top.denominator == bottom.denominator == 1
                ):
                    return Num(whole.value + top / bottom)
            # Reading an argument may have split a token.
            self.tokens[at : at + 8] = saved
            self.move_to(at)
        elif (
            self.kind == "number"
            and self.token.spaced
            and tokens[at + 1].value == "/"
            and tokens[at + 2].kind == "number"
            and self.value.isdigit()
            and tokens[at + 2].value.isdigit()
            and len(self.value) < 10
            and len(tokens[at + 2].value) < 10
        ):
            part, parts = int(self.value), int(tokens[at + 2].value)
            if 0 < part < parts:
                for _ in range(3):
                    self.advance()
                return Num(whole.value + Fraction(part, parts))
        return whole

    def _is_plain_fraction(self) -> bool:
        r"""Whether the arguments of the `\frac` here are numerals, so that nothing else is read twice."""
        ahead = self.tokens[self.position + 1 : self.position + 7]
        shape = "".join("n" if token.kind == "number" else token.value for token in ahead)
        digits = len(ahead[0].value) if ahead[0].kind == "number" else 0
        return shape.startswith(("{n}{n}", "{n}n", "n{n}", "nn")) or digits > 1

    def read_based(self, digits: str) -> Node:
        """Return digits with the base that is below them, as a number or in words."""
        self.advance()
        below = self.raw_argument()
        base = int(below) if below.isdigit() and len(below) < 4 else read_number_words(below)
        if base is None or not 2 <= base <= 36 or not digits.isdigit():
            raise Unreadable("a subscript of a number must be its base")
        return Based(digits.lstrip("0") or "0", base)

    def words(self) -> Node:
        """Return a number in words."""
        if self.value.lower() in {"minus", "negative"}:
            self.advance()
            self.enter()
            number = self.operand()
            self.leave()
            return negate(number)
        words: list[str] = []
        while self.number_word() or (words and self.value == "and" and words[-1].lower() in {"hundred", "thousand"}):
            words.append(self.value)
            self.advance()
            if self.value == "-" and self.tokens[self.position + 1].value.lower() in NUMBER_WORDS:
                self.advance()
        count = read_number_words(" ".join(words))
        if count is None:
            raise Unreadable("these number words are not a number")
        return self._parts(Num(Fraction(count)))

    def _parts(self, count: Num) -> Node:
        """Return `two thirds` as 2/3; an ordinal after one number is a part of it."""
        token = self.token if self.value != "-" else self.tokens[self.position + 1]
        parts = PART_WORDS.get(token.value.lower()) if token.kind == "word" else None
        if parts is None:
            return count
        while self.token is not token:
            self.advance()
        self.advance()
        return Num(count.value / parts)

    def digit(self, token: Token) -> Node:
        """Return a number that is an argument by itself."""
        numeral = read_numeral(token.value)
        if numeral is None:
            raise Unreadable(f"{token.value!r} is not an argument")
        self.advance()
        return Num(numeral.value)


def literal_of(numeral: Numeral) -> Num:
    """Return a numeral as a node; only a decimal keeps how many digits it has."""
    return Num(numeral.value, None if numeral.places is None else numeral.digits, numeral.places)


def negate(node: Node) -> Node:
    """Return the node with the other sign; a number stays one number."""
    return Num(-node.value, node.digits, node.places) if isinstance(node, Num) else Mul((MINUS_ONE, node))


def repeating(value: str) -> Node:
    r"""`0.1\overline{6}` is 1/6."""
    head, _, tail = value.partition("\\")
    period = "".join(char for char in tail if char.isdigit())
    whole, _, fixed = head.partition(".")
    if len(whole) + len(fixed) + len(period) > 300:
        raise LimitExceeded("a repeating decimal has too many digits")
    start = Fraction(int(whole + fixed or "0"), 10 ** len(fixed))
    return Num(start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed)))
