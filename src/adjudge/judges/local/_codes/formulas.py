r"""Answers that are formulas: the same one in another writing is right, another one wrong.

`πr²` is `\pi r^2`, `(3, ∞)` is `x > 3`, `2 and -2` are `x = \pm 2`; `2\pi r`, `x < 3` and `x = 2` are others.
No algebra is done: whether `2(x + 1)` is `2x + 2` belongs to the reward for mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from adjudge.judges.local._codes.expressions import plain_signs, sides
from adjudge.judges.local._codes.given import LONGEST, given
from adjudge.judges.local._reading.candidate import Candidate, Decision
from adjudge.judges.local._reading.words import DENIALS

Formula = frozenset[tuple[str, ...]]
"""What an answer states: each of its values or relations, in one writing."""

_LOOKED_AT = 50  # references
_SIGNAL = re.compile(
    r"[=<>^\\²³⁴√π±≤≥∞→]|\*\*|->|sqrt|\bO\s?\(|\b\d*[xyz]\b|\b\d+[abknpqrt]\b|\b[a-z]\s?[-+*]\s?(?:\d|[a-z]\b)"
    r"|\[[^\[\]()]+,[^\[\]()]+\)|\([^\[\]()]+,[^\[\]()]+\]"  # an interval with one of its ends
)
_NO_FORMULA = re.compile(r"[^\W\d_]{4}|\\[bdswBDSW](?![A-Za-z])|^\W+$")
_NAMED = re.compile(r"\\?[A-Za-z]{4,}")
_KNOWN = frozenset(
    """sqrt frac dfrac tfrac cdot times left right infty text mathrm displaystyle operatorname quad alpha beta gamma
    delta theta lambda sigma omega arcsin arccos arctan leqslant geqslant rightarrow""".split()
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_UNIT = re.compile(r"[-\d.,]+\s?(?:[kcmd]?m|[km]?g|m?s|h|m?l|mi|ft|in|k?[NJWVAKC]|[kM]?Hz|°|\^?\\circ)(?![A-Za-z])")
_LETTER = re.compile(
    r"\+[A-Za-z](?:[_'][\w']*)?|\+(?:alpha|beta|gamma|theta|lambda|phi|omega|[a-zA-Z]'*\*[a-z]|d\*x\*y/\[d\])"
)
_PARTS = re.compile(r"\s*(?:[,;]\s*(?:and|or)?|\b(?:and|or)\b)\s*")
_SET = re.compile(r"(?:[a-z]\s*in\s*)?\\?\{(.*?)\\?\}")
_INTERVAL = re.compile(r"(?:[a-z]\s+in\s+)?([(\[])\s*([^,()\[\]]+),\s*([^,()\[\]]+)([)\]])")
_ARROW = re.compile(r"-+>|→|⟶|⟹|=>|\\(?:long)?rightarrow|\\to\b")
_STATE = re.compile(r"\((?:g|l|s|aq)\)|\\(?:mathrm|text|ce)|[\s_{}$\\]")
_ORDERS = {
    "constant": "O(1)", "logarithmic": "O(log n)", "linear": "O(n)", "linearithmic": "O(n log n)",
    "quasilinear": "O(n log n)", "quadratic": "O(n^2)", "cubic": "O(n^3)", "exponential": "O(2^n)",
    "factorial": "O(n!)",
}  # fmt: skip
_ORDER = re.compile(
    rf"(?:(?:in|is|an?|has|takes|runs in) )*({'|'.join(_ORDERS)})(?:[ -]time)?(?: complexity)?", re.IGNORECASE
)
_GROWTH = re.compile(r"\W*(?:O|Theta)\W*?\((.*)\)")
_BASE = re.compile(r"log\s?_?(?:\d+|\{\d+\})\s?")  # which it is makes no difference to growth


def formulas_of(references: Sequence[str]) -> frozenset[Formula]:
    """Return the formulas that are accepted, if nothing else is; else none.

    >>> [len(formulas_of(texts)) for texts in (["2x", "x*2"], ["x > 3"], ["F-16"], ["7"])]
    [1, 1, 0, 0]
    """
    found: set[Formula] = set()
    for text in references[:_LOOKED_AT]:
        formula = read_formula(text) if len(text) <= LONGEST and _is_formula(text) else None
        if formula is None:
            return frozenset()
        found.add(formula)
    return frozenset(found)


def by_formula(accepted: frozenset[Formula], candidate: Candidate) -> Decision | None:
    """Judge a response by its formula where only formulas are accepted; None where it gives none that is plain."""
    if not accepted or len(candidate.text) > LONGEST or not DENIALS.isdisjoint(candidate.plain):
        return None
    for reading in given(candidate.text) or (candidate.text.replace("`", ""),):
        formula = read_formula(reading)
        if formula is not None:
            verdicts = {_is_same(gold, formula) for gold in accepted}
            if True in verdicts:
                return True, "formula"
            return None if None in verdicts else (False, "other-formula")
    return None


def _is_formula(text: str) -> bool:
    """Whether a reference can be nothing else: it has a sign of mathematics, and no word."""
    if _ORDER.fullmatch(text.strip()):
        return True
    if _SIGNAL.search(text) is None or _NO_FORMULA.match(text) or _UNIT.match(text.strip()):
        return False
    return all(name.strip("\\") in _KNOWN for name in _NAMED.findall(text))


def read_formula(text: str) -> Formula | None:
    """Return what a formula states; None for what is none."""
    order = _ORDER.fullmatch(text.strip(" .")) if len(text) < 40 else None
    text = text if order is None else _ORDERS[order[1].lower()]
    if _ARROW.search(text):
        return _reaction(text)
    text = plain_signs(text)
    growth = _GROWTH.fullmatch(text)
    if growth is not None:
        read = sides(_BASE.sub("log ", growth[1].replace("N", "n")))
        return None if read is None else frozenset((("O", "(", *read),))
    interval = _INTERVAL.fullmatch(text)
    if interval is not None:
        return _interval(*interval.groups())
    inner = _SET.fullmatch(text)
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    found: set[tuple[str, ...]] = set()
    for part in _PARTS.split(text if inner is None else inner[1]):
        for one in (part.replace("±", "+"), part.replace("±", "-")):
            read = sides(one)
            if read is None:
                return None
            found.add(_oriented(read))
    return frozenset(found)


def _oriented(read: tuple[str, ...]) -> tuple[str, ...]:
    """Return a relation with the smaller side first."""
    if any(sign in (">", ">=") for sign in read):
        read = tuple(sign.replace(">", "<") if sign in (">", ">=") else sign for sign in reversed(read))
    if len(read) == 3 and read[1] == "<=" and read[2] == "+inf":
        read = (read[0], "<", read[2])
    return read


def _interval(opened: str, low: str, high: str, closed: str) -> Formula | None:
    """Return an interval as the relation of an unnamed variable."""
    ends = sides(low), sides(high)
    if ends[0] is None or ends[1] is None or len(ends[0]) + len(ends[1]) > 2:
        return None
    left = () if ends[0][0] == "-inf" else (ends[0][0], "<" if opened == "(" else "<=")
    right = () if ends[1][0] == "+inf" else ("<" if closed == ")" else "<=", ends[1][0])
    return frozenset(((*left, "?", *right),))


def _reaction(text: str) -> Formula | None:
    """Return the two sides of a chemical equation, each in any order."""
    parts = [_side(part) for part in _ARROW.split(text)]
    return frozenset((tuple(parts),)) if len(parts) == 2 and all(parts) else None


def _side(text: str) -> str:
    return "+".join(sorted(normalize("NFKC", _STATE.sub("", normalize("NFKC", text))).split("+")))


def _is_same(gold: Formula, formula: Formula) -> bool | None:
    """Whether two formulas state the same; None where it is not plain."""
    if gold == formula:
        return True
    # An order of growth may lack its sign.
    if any(one[0] == "O" for one in gold):
        return frozenset(one[2:] for one in gold) == formula
    # A reaction may have another sign for its arrow.
    if any(len(one) == 2 for one in gold):
        return False if any(len(one) == 2 for one in formula) else None
    either_way = _unnamed if any("?" in one for one in gold | formula) else _unordered
    mine, yours = either_way(gold), either_way(formula)
    if mine == yours:
        return True
    return False if _strictly(mine) == _strictly(yours) else _has_same_values(gold, formula)


def _has_same_values(gold: Formula, formula: Formula) -> bool | None:
    """Whether what stands after names and `=` is the same."""
    names, others = _names(gold), _names(formula)
    if len(names) > 1 or len(others) > 1 or (names and others and names != others):
        return None if len(names) > 1 and not others else False
    is_equation = any("=" in one for one in gold)
    values, found = _values(gold, of_any=False), _values(formula, of_any=not is_equation)
    if values == found:
        return True
    is_numbers = len(values) == len(found) == 1 and all(map(_is_number, (*values, *found)))
    return None if is_numbers or _loosely(values) == _loosely(found) else False


def _names(formula: Formula) -> frozenset[str]:
    """Return what stands before `=` and is but a name."""
    return frozenset(one[0] for one in formula if len(one) > 2 and one[1] == "=" and _LETTER.fullmatch(one[0]))


def _values(formula: Formula, *, of_any: bool) -> Formula:
    """Return what stands after the last `=` of each, where a name stands before it, or of any."""
    return frozenset(
        one[-1:] if set(one[1::2]) == {"="} and (of_any or _LETTER.fullmatch(one[0])) else one for one in formula
    )


def _loosely(formula: Formula) -> Formula:
    """Return a formula in which `ln` is `log`."""
    return frozenset(tuple(side.replace("ln(", "log(") for side in one) for one in formula)


def _unnamed(formula: Formula) -> Formula:
    """Return relations of one variable as an interval is written: `x > 3` is `(3, ∞)`."""
    return frozenset(
        tuple("?" if len(one) > 1 and _LETTER.fullmatch(side) else side for side in one) for one in formula
    )


def _strictly(formula: Formula) -> Formula:
    """Return relations without their ends: `[0, 1)` and `(0, 1]` differ in nothing else."""
    return frozenset(tuple("<" if sign == "<=" else sign for sign in one) for one in formula)


def _unordered(formula: Formula) -> Formula:
    """Return equations with their sides in one order."""
    return frozenset(tuple(sorted(one)) if one[1::2] == ("=",) else one for one in formula)


def _is_number(one: Sequence[str]) -> bool:
    """Whether it is a number, which may be rounded and is compared elsewhere."""
    return not any(char.isalpha() for side in one for char in side)
