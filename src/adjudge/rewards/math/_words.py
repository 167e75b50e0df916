"""Answers in words: names, findings, "no solution", and choices."""

from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._tree import Group, Mul, Node, SetOf, Sym

_EMPTY = frozenset(
    {"no solution", "no solutions", "none", "empty set", "no real solution", "no real solutions", "empty", "no such",
     "no real roots", "there is no solution", "there are no solutions", "no integer solutions"}
)  # fmt: skip
_REALS = frozenset(
    {"all real numbers", "all reals", "real numbers", "any real number", "all real x", "every real number"}
)
_ABSENT = frozenset({"does not exist", "dne", "undefined", "not defined", "doesnt exist"})
_FAMILIES = (_EMPTY, _REALS, _ABSENT)
_LIMITING = frozenset(
    "not no never neither nor than or and but if unless without except either both whether only cannot".split()
)
_EMPTY_WORDS = frozenset(
    "a an the is are was were be of to in on for it this that will by as at with from any all each its their his her"
    " more less most least than number answer same does do has have".split()
)
_COPULAS = frozenset({"is", "are", "was", "were"})
_WINNING = frozenset("win wins won lose loses lost receive receives".split())
_AUXILIARIES = frozenset("will can may must should has had did does".split())

_MARKUP = r"\\(?:text[a-z]*|mbox|mathrm|mathbf|operatorname|quad|left|right|displaystyle|[,;:! ])|[${}\\~*_`\"]"
_SPACE = r"\\(?:left|right|displaystyle|,|;|:|!| |quad|qquad)(?![a-zA-Z])|[$~]|\s+"
_WRAPPED = r"\\(?:text(?:bf|it|rm|normal)?|mbox|mathrm|mathbf)\s*\{([^{}]*)\}"
_FRAC = r"\\[dtc]frac"
_DIGITS = r"(?<=\d)\s+(?=\d)"
_SIGNS = r"[=+<>^*/|\d]|(?<![a-zA-Z])-|-(?![a-zA-Z])"
_CHOICE = r"(?s)[\s$*]*(?:(?:[Oo]ption|[Cc]hoice)\s+)?\(?\s*([A-J])\s*(?:\)|(?=[.:])|(?=\s*$))(?:[.:)]|\s|$)[\s.]*(.*)"
_ANOTHER = r"\([A-J]\)"
_CHOICES = r"[A-J]{2,6}|(?:[A-J]|\([A-J]\))(?:\s*(?:,|;|and|&)\s*(?:and\s+)?(?:[A-J]|\([A-J]\)))+"
_PUNCTUATION = r"[^\w\s']+"


def squash(text: str) -> str:
    r"""Return a text without the layout that means nothing, for comparing strings.

    >>> squash(r"\left( \dfrac{1}{2} \right)") == squash(r"(\frac{1}{2})")
    True
    """
    text = text.strip()
    if text.isalnum():
        return text
    text = compile_once(_WRAPPED).sub(r"\1", text)
    text = compile_once(_FRAC).sub(r"\\frac", text)
    text = compile_once(_DIGITS).sub("\x00", text)
    text = compile_once(_SPACE).sub("", text)
    return text.rstrip(".").replace("\\%", "%").replace("\x00", " ")


def plain_words(text: str) -> str:
    r"""Lower-case words without markup and punctuation.

    >>> plain_words(r"\text{The Midpoints form a hexagon.}")
    'the midpoints form a hexagon'
    """
    bare = compile_once(_MARKUP).sub(" ", text)
    bare = compile_once(_PUNCTUATION).sub(" ", bare.replace("'", ""))
    return " ".join(bare.lower().split())


def choice_of(text: str) -> tuple[str, str] | None:
    r"""Return the letter of a choice and what follows it: `(B)`, `\text{B}`, `C. x = 42`.

    >>> choice_of(r"\text{(B)}"), choice_of("C. x = 42"), choice_of("AB")
    (('B', ''), ('C', 'x = 42'), None)
    """
    if len(text) > 400:
        return None
    text = text.replace("**", "")
    text = compile_once(_WRAPPED).sub(r"\1", text).replace("\\ ", " ").replace("\\quad", " ").replace("~", " ")
    found = compile_once(_CHOICE).fullmatch(text.strip().rstrip("."))
    if found is None:
        return None
    letter, rest = found.groups()
    # `(A) 5, (B) 6` answers two questions, or lists what there is to choose.
    if compile_once(_ANOTHER).search(rest) is not None:
        return None
    return letter, rest.strip(" .$")


def choices_of(text: str) -> frozenset[str] | None:
    r"""Return the letters of several choices, listed (`B, D`, `(B) and (D)`) or side by side (`BD`).

    >>> sorted(choices_of("B and D")), sorted(choices_of("BD")), choices_of("B")
    (['B', 'D'], ['B', 'D'], None)
    """
    if len(text) > 60:
        return None
    found = compile_once(_CHOICES).fullmatch(compile_once(_WRAPPED).sub(r"\1", text).strip(" $*."))
    letters = [] if found is None else [char for char in found.group() if char.isupper()]
    return frozenset(letters) if 1 < len(letters) == len(set(letters)) else None


def _family(node: Node, words: str | None) -> int | None:
    if words is not None:
        return next((number for number, family in enumerate(_FAMILIES) if words in family), None)
    match node:
        case Sym("emptyset") | SetOf(()):
            return 0
        case Sym("mathbb(R)") | Group((Mul((_, Sym("infinity"))), Sym("infinity")), "(", ")"):
            return 1
        case _:
            return None


def same_words(gold: Node, answer: Node, *, gold_text: str | None, answer_text: str | None, prose: bool) -> bool:
    """Whether words say the same; a text is None where that side is mathematics."""
    gold_words = None if gold_text is None else plain_words(gold_text)
    answer_words = None if answer_text is None else plain_words(answer_text)
    if gold_text is not None and answer_text is not None and _has_signs(gold_text + " " + answer_text):
        if _has_signs(answer_text) or not prose:
            return squash(gold_text).lower() == squash(answer_text).lower()
        return _names_finding(gold_text, answer_text)
    if gold_words is not None and gold_words == answer_words:
        return bool(gold_words)
    family = _family(gold, gold_words)
    if family is not None and family == _family(answer, answer_words):
        return True
    if gold_words is None or answer_words is None:
        return False
    # Articles make no difference.
    one, other = _content(gold_words), _content(answer_words)
    if one and one == other:
        return True
    return prose and _names_finding(gold_text or "", answer_text or "")


def _has_signs(text: str) -> bool:
    """Whether a text has numbers or signs, whose loss would change what it says."""
    return compile_once(_SIGNS).search(text) is not None


def _content(words: str) -> list[str]:
    return [word for word in words.split() if word not in {"a", "an", "the"}]


def _names_finding(gold_text: str, answer_text: str) -> bool:
    """Whether a short answer is what a gold sentence says of its subject, or a name that it says something of.

    "odd" answers "The function is odd.", and "Petya" answers "Petya will receive the last token."; one word of a
    phrase says less than the phrase. A sentence with a negation, a comparison or alternatives says more than one
    thing, and no part of it counts.
    """
    gold, answer = plain_words(gold_text), plain_words(answer_text)
    sentence, phrase = _content(gold), _content(answer)
    if len(sentence) < 3 or not 1 <= len(phrase) <= 3 or len(phrase) >= len(sentence):
        return False
    if _LIMITING.intersection(sentence) or all(word in _EMPTY_WORDS or len(word) < 3 for word in phrase):
        return False
    copulas = [at for at, word in enumerate(sentence) if word in _COPULAS]
    if copulas:
        return sentence[copulas[-1] + 1 :] == phrase
    if _has_signs(gold_text) or sentence[: len(phrase)] != phrase:
        return False
    verb = sentence[len(phrase)]
    # A name has a capital and no article; of other words only who wins is surely what was asked for.
    is_name = len(phrase) == 1 and gold.startswith(answer) and answer_text.replace("\\text{", "").strip()[:1].isupper()
    return verb in _WINNING or (is_name and (verb in _AUXILIARIES or verb.endswith("ed")))
