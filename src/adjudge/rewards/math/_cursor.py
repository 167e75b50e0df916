"""A place in the tokens: looking, stepping, and counting brackets."""

from adjudge.rewards.math._lexer import Token
from adjudge.rewards.math._limits import MAX_DEPTH, LimitExceeded, Unreadable
from adjudge.text.number_words import NUMBER_WORDS

OPENING = frozenset({"(", "[", "{", "\\{", "\\langle", "\\lfloor", "\\lceil"})
NOT_OPERANDS = frozenset(
    "\\cup \\cap \\setminus \\cdot \\div \\pm \\mp \\le \\ge \\ne \\approx \\in \\notin \\equiv \\to \\} \\% \\\\"
    " \\rangle \\rfloor \\rceil \\end \\wedge \\vee \\subset \\subseteq \\iff \\Leftrightarrow \\forall \\exists \\circ"
    " \\degreesign \\bullet \\doteq \\coloneqq \\pmod \\mod \\& \\_ \\#".split()
)


class Cursor:
    """The tokens, the current one, and what is open around it."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0
        self.token = tokens[0]
        self.depth = 0
        self.bars = 0
        self.colon_ends = False
        self.bound: set[str] = set()

    def advance(self) -> None:
        """Go to the next token."""
        if self.position < len(self.tokens) - 1:
            self.position += 1
        self.token = self.tokens[self.position]

    def expect(self, value: str) -> None:
        """Step over a token that must be there."""
        if self.token.value != value:
            raise Unreadable(f"{value!r} expected before {self.token.value!r}")
        self.advance()

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
        return self.token.kind == "end" or self.token.value in {")", "]", "}", ",", ";", "\\}", "."}

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
        if self.token.kind != "word":
            return False
        word = self.token.value.lower()
        if word in {"minus", "negative"}:
            following = self.tokens[self.position + 1]
            return following.kind == "number" or following.value.lower() in NUMBER_WORDS
        return word in NUMBER_WORDS

    def raw_argument(self) -> str:
        """Return a command's argument as text, for subscripts and exponents of units."""
        if self.token.value != "{":
            value = self.token.value
            self.advance()
            return value.lstrip("\\")
        depth, parts = 0, []
        while self.token.kind != "end":
            value = self.token.value
            depth += (value == "{") - (value == "}")
            self.advance()
            if depth == 0:
                break
            parts.append(value.lstrip("\\"))
        return "".join(parts[1:])

    def skip_group(self) -> None:
        """Step over a parenthesis."""
        depth = 0
        while self.token.kind != "end":
            depth += (self.token.value == "(") - (self.token.value == ")")
            self.advance()
            if depth == 0:
                return

    def find_bar(self) -> int | None:
        """Where the bar or colon of a set builder stands, if the braces hold one."""
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
