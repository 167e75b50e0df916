r"""Text into tokens, in one pass and linear time.

Layout that means nothing (`\left`, `\,`, `$`, `\displaystyle`) disappears here; `\text{...}` becomes word tokens;
unicode signs become the LaTeX command of the same meaning.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from adjudge.rewards.math._limits import MAX_TOKENS, LimitExceeded, spend
from adjudge.text.number_words import NUMBER_WORDS
from adjudge.text.numbers import VULGAR, fold_symbols
from adjudge.text.units import UNIT_WORDS


class Token(NamedTuple):
    """One token: `number`, `letter`, `command`, `word`, `operator`, `repeating` or `end`."""

    kind: str
    value: str
    spaced: bool
    start: int


FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log lg exp max min gcd lcm det arccot arcsec"
    " arccsc sqrt".split()
)
_NAMES = {"pi": "pi", "infinity": "infty", "infty": "infty", "inf": "infty", "oo": "infty", "theta": "theta",
          "alpha": "alpha", "beta": "beta", "gamma": "gamma", "lambda": "lambda", "phi": "phi", "omega": "omega",
          "sqrt": "sqrt", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "binom": "binom",
          "abs": "abs"}  # fmt: skip
_UNICODE = {
    "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "⩽": r"\le ",
    "⩾": r"\ge ", "≈": r"\approx ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "±": r"\pm ", "∓": r"\mp ",
    "°": r"^\circ ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R} ", "ℤ": r"\mathbb{Z} ", "ℕ": r"\mathbb{N} ",
    "∖": r"\setminus ", "′": "'", "″": "''", "⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "μ": r"\mu ",
    "φ": r"\phi ", "ω": r"\omega ", "Ω": r"\Omega ", "ρ": r"\rho ", "σ": r"\sigma ", "δ": r"\delta ",
    "Δ": r"\Delta ", "ε": r"\epsilon ", "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "→": r"\to ",
    "∀": r"\forall ", "∃": r"\exists ", "€": r"\$", "£": r"\$", "¥": r"\$", "ⁿ": "^{n}", "…": r"\ldots ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "≡": r"\equiv ",
}  # fmt: skip
_UNICODE_TABLE = str.maketrans(
    _UNICODE | {sign: rf"\frac{{{top}}}{{{bottom}}}" for sign, (top, bottom) in VULGAR.items()}
)
_RAISED = {"⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "⁻": "-"}
_LOWERED = {chr(0x2080 + digit): str(digit) for digit in range(10)}

_ESCAPED_BY_MISTAKE = {"\t": "\\t", "\f": "\\f", "\b": "\\b", "\r": "\\r", "\v": "\\v", "\a": "\\a"}
_COMMANDS_AFTER = {
    "\t": "ext imes heta an frac o",
    "\f": "rac orall",
    "\b": "eta ar inom egin ullet ig oxed",
    "\r": "ight ho angle ceil floor",
    "\v": "ec arnothing",
    "\a": "lpha rctan rcsin rccos pprox",
}

_MISTAKE = "|".join(f"{char}(?={'|'.join(rests.split())})" for char, rests in _COMMANDS_AFTER.items())
_DOUBLED = (
    r"(?<!\\)\\\\(?=[dtc]?frac|sqrt|left|right|boxed|text|pi\b|infty|cdot|times|leq?\b|geq?\b|neq?\b|pm\b"
    r"|cup\b|circ|theta|alpha|quad|mathrm|begin|end)"
)
_RAISED_SIGNS = "[" + "".join(_RAISED) + "]+"
_LOWERED_SIGNS = "[" + "".join(_LOWERED) + "]+"
_UNIT = r"[\s~]*([mgshlLNJWVKkcd]{1,3}(?:\s?/\s?[a-z]{1,4})?(?:\^\{?[23]\}?|[²³])?)\s*"
_HTML = r"<(sup|sub)>([^<>]{0,40})</\1>"
_TOKENS = (
    r"(?P<space>\s+|~|\\(?:left|right)\s?\.|\\[,;:!> ]"
    r"|\\(?:left|right|displaystyle|textstyle|limits|nolimits|quad|qquad"
    r"|[bB]ig{1,2}[lrm]?|middle|hfill|hspace\*?\{[^{}]{0,20}\}|mathstrut|strut|(?:th|med|thick)inspace"
    r"|negthinspace|bf|rm|it|label\{[^{}]{0,40}\}|phantom\{[^{}]{0,40}\}|tag\*?\{[^{}]{0,40}\})(?![a-zA-Z])"
    r"|\\?\$|\\[()\[\]])"
    r"|(?P<repeating>\d*\.\d*\\(?:overline|bar|dot)\s?\{\d+\})"
    r"|(?P<number>\d{1,3}(?:(?:\s?\{,\s?\}|,\\!\s?|\\,|,)\d{3})+(?![\d])(?:\.\d+)?"
    r"|\d{1,3}(?: \d{3})+(?![\d/,])(?:\.\d+)?"
    r"|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,4}(?![\d.a-zA-Z]))?)"
    r"|(?P<text>\\(?:text(?:bf|it|rm|normal|sf|tt|up|md|sc)?|mbox|hbox|fbox|mathrm|mathbf|mathit|mathsf|boldsymbol|bm"
    r"|operatorname\*?|emph|mathop)\s?\{)"
    r"|(?P<command>\\(?:[a-zA-Z]+|[{}|%$#&_\\]))"
    r"|(?P<run>[a-zA-Z]+)"
    r"|(?P<operator>\*\*|<=>|<=|>=|!=|==|=>|->|[+\-*/^_=<>(){}\[\]|!%:;,&.'\"?@#`])"
    r"|(?P<other>(?s:.))"
)


@cache
def compile_once(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first used: to compile them all would make every import slow."""
    return re.compile(pattern)


def repair(text: str) -> str:
    r"""Undo what lost or doubled backslashes did to LaTeX, and write unicode signs as commands.

    >>> repair("\frac12") == r"\frac12"
    True
    """
    if not text.isprintable():
        text = compile_once(_MISTAKE).sub(lambda found: _ESCAPED_BY_MISTAKE[found.group()], text)
    if "\\\\" in text and "\\begin" not in text.replace("\\\\begin", ""):
        text = compile_once(_DOUBLED).sub(r"\\", text)
    if "<su" in text:
        text = compile_once(_HTML).sub(lambda found: ("^{" if found[1] == "sup" else "_{") + found[2] + "}", text)
    # ASCII has none of the signs below.
    if text.isascii():
        return text
    text = fold_symbols(text)
    text = compile_once(_RAISED_SIGNS).sub(
        lambda found: "^{" + "".join(_RAISED[char] for char in found.group()) + "}", text
    )
    text = compile_once(_LOWERED_SIGNS).sub(
        lambda found: "_{" + "".join(_LOWERED[char] for char in found.group()) + "}", text
    )
    return text.translate(_UNICODE_TABLE)


_BEFORE_UNITS = frozenset("0123456789)}")
_VOWELS = frozenset("aeiouyAEIOUY")


def is_word(run: str) -> bool:
    """Whether a run of letters is a word rather than a product of variables.

    >>> is_word("apples"), is_word("cm"), is_word("ab"), is_word("xyz"), is_word("ABCD")
    (True, True, False, False, False)
    """
    lower = run.lower()
    if lower in NUMBER_WORDS:
        return True
    if len(run) >= 2 and (
        run in UNIT_WORDS or (lower in _SHORT_WORDS and not run.isupper()) or (len(run) > 2 and lower in UNIT_WORDS)
    ):
        return True
    if len(run) < 4 or run.isupper():
        return False
    return bool(_VOWELS.intersection(run)) and list(lower) != sorted(lower)


_SHORT_WORDS = frozenset(
    "is are for all the of if no yes not any but may with odd even true false none cm mm km kg th st nd rd so we it our"
    " as by can has was its let per one two six ten red".split()
)


def tokenize(text: str, *, grouping: bool = True) -> list[Token]:
    r"""Tokens of a repaired text; `grouping` reads `3,250` as one number, otherwise as two.

    >>> [token.value for token in tokenize("2x + \\frac{1}{2}")]
    ['2', 'x', '+', '\\frac', '{', '1', '}', '{', '2', '}', '']
    """
    tokens = list(_scan(text, 0, len(text), grouping=grouping, prose=0))
    tokens.append(Token("end", "", spaced=False, start=len(text)))
    return tokens


def _closing(text: str, start: int, stop: int) -> int:
    depth = 1
    for found in compile_once(r"[{}]").finditer(text, start, stop):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return found.start()
    return stop


def _scan(text: str, start: int, stop: int, *, grouping: bool, prose: int) -> Iterator[Token]:
    # Nested text commands recurse, so their depth is bounded.
    if prose > 8:
        raise LimitExceeded("text is nested too deeply")
    pattern = compile_once(_TOKENS)
    position, count, spaced = start, 0, False
    while position < stop:
        spend()
        found = pattern.match(text, position, stop)
        if found is None:
            position += 1
            continue
        kind, value = str(found.lastgroup), found.group()
        position = found.end()
        count += 1
        if count > MAX_TOKENS:
            raise LimitExceeded("the expression has too many tokens")
        if kind == "space":
            spaced = True
            continue
        if kind == "number":
            if not grouping and "," in value and "{" not in value and "\\" not in value:
                position = found.start() + value.index(",")
                value = value[: value.index(",")]
            yield Token(kind, value, spaced, found.start())
        elif kind == "text":
            end = _closing(text, position, stop)
            upright = "text" in value or "box" in value
            unit = compile_once(_UNIT).fullmatch(text, position, end)
            if unit is not None and text[: found.start()].rstrip(" ~\\,;!")[-1:] in _BEFORE_UNITS:
                yield Token("word", unit[1].replace(" ", ""), True, position)
                position = end + 1
                continue
            deeper = prose + 1 if upright or end - position > 1 else prose
            yield from _scan(text, position, end, grouping=grouping, prose=deeper)
            position = end + 1
        elif kind == "run":
            glued = text[found.start() - 1 : found.start()]
            if (
                glued
                and (glued.isdigit() or glued in ")}")
                and len(value) in {3, 4}
                and value.startswith(("or", "and"))
            ):
                word = "or" if value.startswith("or") else "and"
                yield Token("word", word, spaced, found.start())
                value, spaced = value[len(word) :], False
            yield from _letters(value, spaced=spaced, start=found.start(), prose=prose > 0)
        elif kind == "command":
            yield _command(value, spaced=spaced, start=found.start())
        else:
            yield Token("operator" if kind == "other" else kind, value, spaced, found.start())
        spaced = False


_ALIASES = {
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\rac": "\\frac", "\\leq": "\\le",
    "\\geq": "\\ge", "\\leqslant": "\\le", "\\geqslant": "\\ge", "\\lt": "<", "\\gt": ">", "\\neq": "\\ne",
    "\\times": "\\cdot", "\\ast": "\\cdot", "\\simeq": "\\approx", "\\cong": "\\approx", "\\implies": "\\Rightarrow",
    "\\varnothing": "\\emptyset", "\\lbrace": "\\{", "\\rbrace": "\\}", "\\lbrack": "[", "\\rbrack": "]",
    "\\lvert": "|", "\\rvert": "|", "\\vert": "|", "\\mid": "|", "\\dbinom": "\\binom", "\\tbinom": "\\binom",
    "\\backslash": "\\setminus", "\\smallsetminus": "\\setminus", "\\cdots": "\\ldots", "\\dots": "\\ldots",
    "\\dotsc": "\\ldots", "\\dotsb": "\\ldots", "\\dotsm": "\\ldots", "\\degree": "\\circ", "\\textcirc": "\\circ",
    "\\textdegree": "\\degreesign", "\\varphi": "\\phi", "\\varepsilon": "\\epsilon", "\\vartheta": "\\theta",
    "\\land": "\\wedge", "\\lor": "\\vee", "\\cupdot": "\\cup", "\\bigcup": "\\cup", "\\bigcap": "\\cap",
    "\\ell": "\\ell", "\\lnot": "\\neg", "\\arcctg": "\\arccot", "\\tg": "\\tan", "\\ctg": "\\cot",
    "\\arctg": "\\arctan", "\\colon": ":", "\\And": "\\wedge", "\\|": "|", "\\lg": "\\log",
}  # fmt: skip


def _command(value: str, *, spaced: bool, start: int) -> Token:
    value = _ALIASES.get(value, value)
    kind = "command" if value.startswith("\\") else "operator"
    return Token(kind, value, spaced, start)


def _letters(run: str, *, spaced: bool, start: int, prose: bool) -> Iterator[Token]:
    lower = run.lower()
    if len(run) == 1:
        yield Token("letter", run, spaced, start)
    elif lower in {"and", "or"}:
        yield Token("word", lower, spaced, start)
    elif (run in FUNCTIONS or run in _NAMES) and not (prose and run in UNIT_WORDS):
        yield Token("command", "\\" + _NAMES.get(run, run), spaced, start)
    elif prose or is_word(run):
        yield Token("word", run, spaced, start)
    else:
        for offset, letter in enumerate(run):
            yield Token("letter", letter, spaced and offset == 0, start + offset)
