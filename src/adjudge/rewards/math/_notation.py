r"""Ways of writing that the grammar does not have, written as it has them: `]0,5]`, `1'234'567`, `m s^{-2}`, dates.

Each rule looks at the whole of an answer, so that a part which only looks like one is left alone.
"""

import re
from fractions import Fraction
from unicodedata import normalize

from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._tree import Node, Num, Text

_GROUPED = r"([-+]?\d{1,3})((?:\.\d{3}){2,}|(?:['’]\d{3})+)(?:([.,])(\d+))?"
_CHOOSE = r"\{([^{}]{1,80})\\choose(?![a-zA-Z])([^{}]{1,80})\}"
_INTERVAL = r"([\[\]])([^\[\]()]{1,200})([\[\]])"
_AROUND = r"(?:\$?\s*[a-zA-Z]\s*(?:\\in|∈))?(?:[\s$∪∩]|\\(?:cup|cap|left)(?![a-zA-Z]))*"
_UNIT_PRODUCT = (
    r"(?<![a-zA-Z\\])(mol|km|cm|mm|kg|m|g|J|N)(?:\s|~|\\[,;: ]|\\cdot(?![a-zA-Z])|[·*])+(mol|min|kg|s|h|m|L|K)(\})?"
    r"\s*\^\s*(?:\{\s*)?[-−]\s*([1-9])\s*\}?"
)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(january|february|march|april|may|june|july|august|september|october|november|december|[a-z]{3})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(\d{4}))?"
_DAY_FIRST = rf"(?i){_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}"
_MONTH_FIRST = rf"(?i){_MONTH}\s+(?:the\s+)?{_DAY}{_YEAR}"
_MARKS = r"\\(?:text[a-z]*|mathrm|mbox)\s*\{|\\[ ,]|[{}$~]"

_FORMULA_MARKS = r"\\(?:ce|mathrm|mathsf|text[a-z]*|mbox|rm)(?![a-zA-Z])|\\[,;:! ]|\((?:s|l|g|aq)\)|[${}_~\s]"
_ARROWS = r"\\(?:long)?(?:rightarrow|to)(?![a-zA-Z])|[-=]+>|[→⟶]"
_BOTH_WAYS = r"\\rightleftharpoons(?![a-zA-Z])|<[-=]+>|[⇌↔]"
_FORMULA = r"(?:[A-Z][a-z]?|e(?=\^)|\d|[()\[\].&>=]|\^\d*[-+])*"
_RAISED = str.maketrans({sign: f"^{plain}" for sign, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True)})

_CHINESE_DIGITS = {sign: value % 10 for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}


def rewrite(text: str) -> str:
    r"""Return an answer in the grammar's own notation.

    >>> rewrite("]0,5]"), rewrite("1.234.567"), rewrite("1'234,5"), rewrite(r"3 \text{ m s}^{-2}")
    ('(0,5]', '1234567', '1234.5', '3 \\text{ m/s^2}')
    """
    number = grouped_number(text)
    if number is not None:
        return number
    if "\\choose" in text:
        text = compile_once(_CHOOSE).sub(r"\\binom{\1}{\2}", text)
    if "]" in text or "[" in text:
        text = _turn_brackets(text)
    if "^" in text and ("-" in text or "−" in text):
        text = compile_once(_UNIT_PRODUCT).sub(_divide_units, text)
    return text


def grouped_number(text: str) -> str | None:
    """Return a number whose thousands are marked by points or apostrophes without these marks, if it is one."""
    number = compile_once(_GROUPED).fullmatch(text) if len(text) < 60 else None
    # The mark between thousands is not the one before decimals.
    if number is None or number[3] == ("." if "." in number[2] else "'"):
        return None
    whole = number[1] + "".join(char for char in number[2] if char.isdigit())
    return whole if number[4] is None else f"{whole}.{number[4]}"


def _turn_brackets(text: str) -> str:
    """Return `]0,5]` as `(0,5]`, where the text is intervals and nothing else."""
    pattern = compile_once(_INTERVAL)
    if compile_once(_AROUND).fullmatch(pattern.sub(" ", text)) is None:
        return text
    return pattern.sub(_turn_interval, text)


def _turn_interval(found: re.Match[str]) -> str:
    left, ends, right = found.groups()
    if (left, right) != ("]", "["):
        return ("(" if left == "]" else "[") + ends + (")" if right == "[" else "]")
    # `(1,2)` might be a point: what is open at both ends is written as the set that it can only be.
    low, *rest = ends.replace(";", ",").split(",")
    return rf"\{{t : {low} < t < {rest[0]}\}}" if len(rest) == 1 else found.group()


def _divide_units(found: re.Match[str]) -> str:
    power = "" if found[4] == "1" else f"^{found[4]}"
    return f"{found[1]}/{found[2]}{power}{found[3] or ''}"


def date_of(text: str) -> Node | None:
    """Return a day of the year, as words in one order.

    >>> date_of("14th of March"), date_of("Mar 14, 2020"), date_of("14 marbles")
    (Text(words='march 14'), Text(words='march 14 2020'), None)
    """
    if not 5 <= len(text) <= 60:
        return None
    bare = compile_once(_MARKS).sub(" ", text).strip(" .")
    bare = " ".join(bare.split())
    first = compile_once(_DAY_FIRST).fullmatch(bare)
    found = first or compile_once(_MONTH_FIRST).fullmatch(bare)
    if found is None:
        return None
    day, name, year = found.groups() if first else (found[2], found[1], found[3])
    months = [month for month in _MONTHS if month.startswith(name.lower())]
    if len(months) != 1 or not 1 <= int(day) <= 31:
        return None
    return Text(f"{months[0]} {int(day)}" + (f" {year}" if year else ""))


def same_formula(gold: str, answer: str) -> bool | None:
    r"""Return whether two chemical formulas are the same; None where none is marked as one, or one is something else.

    >>> same_formula(r"\ce{H2SO4}", r"\text{H}_2\text{SO}_4"), same_formula(r"\ce{SO4^2-}", "SO₄²⁻")
    (True, True)
    >>> same_formula(r"\ce{CO}", "Co"), same_formula("H_2O", "OH_2")
    (False, None)
    """
    if "\\ce" not in gold and "\\ce" not in answer:
        return None
    one, other = _formula_of(gold), _formula_of(answer)
    return None if one is None or other is None else one == other


def _formula_of(text: str) -> str | None:
    """Return a formula or an equation as mhchem writes it, without what is only layout."""
    if len(text) > 400:
        return None
    plain = compile_once(_ARROWS).sub(">", compile_once(_BOTH_WAYS).sub("=", text.translate(_RAISED)))
    plain = normalize("NFKC", plain).replace("−", "-").replace("\\cdot", ".").replace("·", ".").replace("*", ".")
    # Only with spaces around it does mhchem read a plus between two formulas; elsewhere it is a charge.
    plain = compile_once(_FORMULA_MARKS).sub("", plain.replace(" + ", "&"))
    plain = re.sub(r"(?<=\^\d)\^", "", plain)  # `²⁻` is one charge
    plain = re.sub(r"(?<=[A-Za-z0-9)\]])([-+])(?=[&>=]|$)", _charge, plain)
    return plain if plain and compile_once(_FORMULA).fullmatch(plain) else None


def _charge(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    return found[1] if re.search(r"\^\d*$", before) else f"^{found[1]}"


def chinese_number(text: str) -> Node | None:
    """Return a number in Chinese numerals, up to 99,999,999.

    >>> chinese_number("一百零五").value, chinese_number("二十五").value, chinese_number("三万二千").value
    (Fraction(105, 1), Fraction(25, 1), Fraction(32000, 1))
    """
    if not 1 <= len(text) <= 16 or text.isascii():
        return None
    above, has_wan, below = text.rpartition("万")
    parts = [_below_ten_thousand(part) for part in ((above, below) if has_wan else (below,))]
    # In `三万五` the last digit is of thousands.
    if has_wan and len(below) < 2:
        parts[1] = _CHINESE_DIGITS.get(below, 0) * 1000 if not below or below in _CHINESE_DIGITS else None
    values = [part for part in parts if part is not None]
    if len(values) != len(parts) or (has_wan and not values[0]):
        return None
    return Num(Fraction(values[0] * 10_000 + values[1] if has_wan else values[0]))


def _below_ten_thousand(text: str) -> int | None:
    """Return digits with units that fall (千, 百, 十), or plain digits such as 二〇二〇."""
    if len(text) > 1 and all(sign in _CHINESE_DIGITS for sign in text.lstrip("零")):
        return int("".join(str(_CHINESE_DIGITS[sign]) for sign in text))
    total, digit, limit = 0, None, 10_000
    for sign in text:
        if sign in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[sign]
            continue
        unit = _CHINESE_UNITS.get(sign)
        if unit is None or unit >= limit or (digit is None and (total or unit != 10)) or digit == 0:
            return None
        total, digit, limit = total + (1 if digit is None else digit) * unit, None, unit
    if not text:
        return None
    # In `一百五` the last digit is of the next unit, not of ones.
    if digit and total and limit > 10 and "零" not in text and "〇" not in text:
        return total + digit * limit // 10
    return total + (digit or 0)
