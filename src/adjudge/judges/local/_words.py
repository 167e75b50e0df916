"""Words as tier 0 compares them: lower-case, without accents and apostrophes, numbers in figures, stems.

"The U.S.'s twenty-first"  ->  ["us", "21"];  "colours", "2.5 million", "ii"  ->  "color", "2500000", "2"

Tables of words are data, one file of `lexicon` for each module that has some.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from unicodedata import normalize

from adjudge.text import fold


@cache
def lexicon(name: str) -> dict[str, Any]:
    """Return the tables of a module by their names: words between blanks, or a form with its other forms.

    >>> lexicon("formulas")["orders"]["linear"]
    'O(n)'
    """
    text = files("adjudge.judges.local").joinpath("lexicon", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def word_set(name: str, table: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(lexicon(name)[table].split())


@cache
def phrases(name: str, table: str) -> re.Pattern[str]:
    """Return what matches any pattern of a table, in small and capital letters."""
    return re.compile("|".join(lexicon(name)[table]), re.IGNORECASE)


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {word: n for n, word in enumerate(_UNITS)} | {word: n for n, word in enumerate(_ORDINALS)}
_SMALL |= {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SMALL |= {f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TENS, 2)}
_RANKS = frozenset(_ORDINALS)
_SMALL |= {"once": 1, "twice": 2, "thrice": 3}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ROMAN = {
    "ii": 2, "iii": 3, "iv": 4, "iiii": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "xi": 11, "xii": 12, "xiii": 13,
    "xiv": 14, "xv": 15, "xvi": 16, "xvii": 17, "xviii": 18, "xix": 19, "xx": 20, "xxi": 21,
}  # fmt: skip
NUMERIC = frozenset(_SMALL) | frozenset(_SCALES) | frozenset(_ROMAN)
"""The words that are numbers, or parts of one."""


def in_figures(found: list[str]) -> list[str]:
    """Return words in small letters with their numbers in figures.

    >>> in_figures("the twenty first of 2.5 million".split()), in_figures("nineteen oh five ii 3rd %".split())
    (['the', '21', 'of', '2500000'], ['1905', '2', '3', 'percent'])
    >>> in_figures("in 1998 two students".split()), in_figures("3 hundred and five".split())
    (['in', '1998', '2', 'students'], ['305'])
    """
    result: list[str] = []
    at, end = 0, len(found)
    while at < end:
        word = found[at]
        at += 1
        if word not in NUMERIC and word.isalpha():
            result.append(word)
        elif word in _SMALL:
            value, at = _number(float(_SMALL[word]), found, at, last=float(_SMALL[word]))
            result.append(_written(value))
        elif word[0].isdecimal():
            figure = word[:-2] if word[-1] in "tdh" else word
            if figure[-1] == "s" or len(figure) > 15:
                result.append(figure)
            else:
                # A word adds to a figure only after a scale: `in 1998 two of them` has two numbers.
                value, at = _number(float(figure), found, at, last=0.0)
                result.append(_written(value))
        elif word in _ROMAN:
            result.append(str(_ROMAN[word]))
        else:
            result.append("percent" if word == "%" else word)
    return result


def _number(first: float, found: list[str], at: int, *, last: float) -> tuple[float, int]:
    """Read on after the first part of a number, of which `last` may be added to; return its value and its end."""
    if 11 <= first <= 20 and found[at - 1] in _SMALL and at < len(found):
        year = _year(int(first), found, at)
        if year is not None:
            return year
    total, group = 0.0, first
    while at < len(found):
        word = found[at]
        small = _SMALL.get(word)
        if small is not None and ((20 <= last < 100 and 0 < small < 10 and last % 10 == 0) or (last >= 100 > small)):
            group, last = group + small, float(small)
        elif word == "hundred" and 0 < group < 100:
            group, last = group * 100, 100.0
        elif word in _SCALES and word != "hundred" and group > 0:
            total, group, last = total + group * _SCALES[word], 0.0, 1000.0
        elif not (word == "and" and last >= 100 and at + 1 < len(found) and found[at + 1] in _SMALL):
            break
        at += 1
    return total + group, at


def _year(century: int, found: list[str], at: int) -> tuple[float, int] | None:
    """Read a year in two halves: `nineteen eighty four`, `nineteen oh five`; `twenty one` is none."""
    tens = _SMALL.get(found[at], 0)
    ones = _SMALL.get(found[at + 1], 0) if at + 1 < len(found) else 0
    if found[at] == "oh" and 0 < ones < 10:
        return 100.0 * century + ones, at + 2
    if not (10 <= tens < 100) or found[at] in _RANKS:
        return None
    is_more = tens >= 20 and 0 < ones < 10 and found[at + 1] not in _RANKS
    return 100.0 * century + tens + (ones if is_more else 0), at + 1 + is_more


def _written(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


_OUR = re.compile(r"(?<=[bdlmnpv])our(?=(?:s|ed|ing|able|ite|al|ful)?$)")
_RE = re.compile(r"(?<=\w[bt])re(?=[sd]?$)")
_ISE = re.compile(r"(?<=\w{2}[cdglnmrt])is(?=(?:es?|ed|ers?|ing|ations?)$)")


@cache
def _table() -> dict[str, str]:
    return dict(pair.split() for pair in lexicon("spellings")["pairs"].split(";"))


def american(word: str) -> str:
    """Return a word in small letters as it is spelt in America, a plural that is none by its ending as the singular.

    >>> [american(word) for word in "colours centre organised grey mice theatres".split()]
    ['colors', 'center', 'organized', 'gray', 'mouse', 'theaters']
    """
    found = _table().get(word) or _table().get(word.removesuffix("s"))
    if found is not None:
        return found
    if "our" in word:
        word = _OUR.sub("or", word)
    if "re" in word[-4:]:
        word = _RE.sub("er", word)
    return _ISE.sub("iz", word) if "is" in word[-8:] else word


_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ħ": "h", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"}
)
_MARKS = re.compile("[\u0300-\u036f]")
_LEADS = "\u00c2\u00c3\u00c4\u00c5\u00e2"
# UTF-8 that was read as Windows-1252 or Latin-1: the first byte of a letter or of a mark, and bytes that go on.
_GOES_ON = "\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122"
_BROKEN = re.compile(
    f"[\u00c2-\u00c5][{_GOES_ON}]|\u00e2[\u20ac\u201a\u201e\u02c6\u0080\u0082\u0084\u0088][{_GOES_ON}]?"
)
_RAISED = "[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]"
_NOTES = re.compile(f"{_RAISED}(?<=[\\w.].){_RAISED}*")  # footnotes: `in 1994⁶`
_MONEY = re.compile(r"(?<=[$£€])\s?(\d[\d.,]*)\s?(m|mn|bn|b|k)\b")
_BLANKS = re.compile(r"\s{40,}+")
_SHORT = {"m": "million", "mn": "million", "bn": "billion", "b": "billion", "k": "thousand"}
_SYMBOL = re.compile(r"(?<![^\s\"'(“*])([a-z]{1,2})(\+{1,2}|#)(?![\w+#])")  # `C++`, `F#`, `A+`
_SIGNS = {"#": " sharp", "+": "plus", "++": " plus plus"}
_MINUS = re.compile(r"-(?=[\d.])(?<![^\s({$`=]-)")
_POINT = re.compile(r"(?<![\w.])\.(?=\d)")  # `.25`
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_DOTS = re.compile(r"\.[^\W\d_]\.")  # what every such one has: a quicker look
_THOUSANDS = re.compile(r"[,\u00a0\u202f](?<=\d.)(?=\d{3}(?!\d))")
_PER = re.compile(r"\b(mm|cm|k?m|mi|ft|m?g|kg|m?l|k?w|k?j)/(s|sec|h|hr|min|m|kg|m?l)\b")  # `m/s` is not a millisecond
_WORD = re.compile(
    r"\d+(?:\.\d+)?(?:(?:st|nd|rd|th|s)\b)?|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|"
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|%"
)
_ASCII_WORD = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)?(?:(?:st|nd|rd|th|s)\b)?|%")  # the same, where all is ASCII

_FIGURE = re.compile(r"[\d%]")
_ASCII_FIGURE = re.compile(r"[0-9%]")
_SINGLES = frozenset("bcdefghjklmnopqrstuvwxyz")
_NUMERIC_OR_SINGLE = NUMERIC | _SINGLES

STOP = frozenset(
    "a an the of in on at to for from by with as is are was were be been being am and or but that this these those it"
    " its he she they them his her their there here which who whom whose what when where why how do does did done has"
    " have had having will would can could might shall should must i you we me my your our if then than so such into"
    " onto over under about after before between during up down out off both all any some s t also most more very just"
    " only own same too each other because while through until against per via".split()
)
"""Words that say little by themselves."""

ARTICLES = frozenset(("a", "an", "the"))
VERBS = frozenset("is are was were be been has have had do does did will would can could not".split())
"""Words of sentences, which names and lists do without."""

NOT = frozenset(
    "not never nor neither isnt wasnt arent werent doesnt didnt dont cannot cant couldnt wouldnt wont hasnt havent"
    " hadnt aint shouldnt".split()
)
"""Words that deny what a verb says."""

DENIALS = NOT | {"no", "none", "without", "nobody", "nothing"}
"""Those, and words that deny a noun."""

REFUSAL = re.compile(
    r"\bi (?:do not|dont|did not|didnt) (?:really |actually |currently )?(?:know|have)\b|\bas an ai\b|"
    r"\bi(?:m| am) (?:sorry|not (?:sure|certain|able|aware)|unable)\b|\bi apologi[sz]e\b|"
    r"\bi (?:could not|couldnt|cannot|cant|can not|was unable to) (?:answer|help|provide|find|determine|say|confirm)\b|"
    r"\bno (?:idea|clue|answer|information)\b|\bi have no\b|\bnot enough (?:information|context)\b|"
    r"\bunable to (?:answer|determine|find|provide)\b|\bunanswerable\b|\b(?:un|not )clear (?:what|which|who|from)\b|"
    r"\b(?:more|additional) (?:context|information) (?:is|would be)? ?(?:needed|required|to)\b|\bplease provide\b"
)
"""What a text without punctuation says that gives no answer."""


def words(text: str) -> list[str]:
    """Return the words of a text, numbers written in figures.

    >>> words("The 1,250 U.S. troops of Beyoncé’s twenty-first “war”")
    ['the', '1250', 'us', 'troops', 'of', 'beyonces', '21', 'war']
    >>> words("2.5 million people, 3rd place, World War II")
    ['2500000', 'people', '3', 'place', 'world', 'war', '2']
    """
    text = _bare(text)
    word, figure = (_ASCII_WORD, _ASCII_FIGURE) if text.isascii() else (_WORD, _FIGURE)
    found = word.findall(text)
    has_figures = figure.search(text) is not None
    if not has_figures and _NUMERIC_OR_SINGLE.isdisjoint(found):
        return found
    if has_figures or not NUMERIC.isdisjoint(found):
        found = in_figures(found)
    return found if _SINGLES.isdisjoint(found) else _joined(found)


def _bare(text: str) -> str:
    """Return a text in small letters without accents and apostrophes; signs that mean something are words."""
    if not text.isascii():
        text = _MARKS.sub("", normalize("NFKD", _NOTES.sub("", fold(mended(text)))))
    text = text.lower().replace("'", "")
    if not text.isascii():
        text = text.translate(_LETTERS)
    if "$" in text or "£" in text or "€" in text:
        text = _MONEY.sub(lambda match: f"{match[1]} {_SHORT[match[2]]}", text)
    if "/" in text:
        text = _PER.sub(r"\1 per \2", text)
    if "+" in text or "#" in text:
        text = _SYMBOL.sub(lambda match: match[1] + _SIGNS[match[2]], text)
    if "-" in text:
        text = _MINUS.sub("minus ", text)
    if "." in text:
        if _DOTS.search(text):
            text = _DOTTED.sub(_undotted, text)
        if text[0] == "." or " ." in text:
            text = _POINT.sub("0.", text)
    return _THOUSANDS.sub("", text) if "," in text or not text.isascii() else text


def evened(text: str) -> str:
    r"""Return a text in which no run of blanks is so long that looking for what may end it takes its time.

    >>> evened("a" + 100 * " " + "b"), evened("a\n" + 100 * " " + "b"), evened("a  b")
    ('a b', 'a\nb', 'a  b')
    """
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def mended(text: str) -> str:
    """Return a text without the damage of UTF-8 that was read as Windows-1252.

    >>> mended("10\u00e2\u20ac\u201c12 caf\u00c3\u00a9s"), mended("São “Â”")
    ('10–12 cafés', 'São “Â”')
    """
    if text.isascii() or not any(lead in text for lead in _LEADS):
        return text
    return _BROKEN.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    """Return what a sequence was; a dash for a mark whose last byte is lost, itself if it was a letter and a quote."""
    try:
        found = b"".join(one.encode("cp1252" if one > "\u00ff" else "latin-1") for one in match[0]).decode()
    except UnicodeError:
        return "-" if match[0][0] == "\u00e2" else match[0]
    return match[0] if "\u0080" <= found < "\u00a0" else found


def _joined(found: list[str]) -> list[str]:
    """Join initials: `j k rowling` is `jk rowling`, as it is without blanks."""
    result: list[str] = []
    run = ""
    for word in found:
        if len(word) == 1 and word.isalpha() and word.isascii() and (run or word not in "ai"):
            run += word
            continue
        if run:
            result.append(run)
            run = ""
        result.append(word)
    if run:
        result.append(run)
    return result


def _undotted(match: re.Match[str]) -> str:
    return match[0].replace(".", "") + " "


def stems_of(text: str, *, without: frozenset[str] = ARTICLES) -> list[str]:
    """Return the stems of the words of a text, but for small ones.

    >>> stems_of("The cities of Japan"), stems_of("The cities of Japan", without=STOP)
    (['citi', 'of', 'japan'], ['citi', 'japan'])
    """
    return [stem(word) for word in words(text) if word not in without]


def stemmed(text: str) -> frozenset[str]:
    """Return the stems of words in a row, as tables are written: one form of each word is enough.

    >>> sorted(stemmed("win winner winners"))
    ['win', 'winner']
    """
    return frozenset(map(stem, text.split()))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without the endings of English inflection.

    >>> [stem(word) for word in ("cities", "stopped", "terminals", "classes", "news", "1990s")]
    ['citi', 'stop', 'terminal', 'class', 'news', '1990s']
    """
    if not word.isalpha():
        return word
    word = american(word)
    size = len(word)
    if size <= 3:
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "news")):
        if word.endswith("ies"):
            return word[:-2] if size > 4 else word[:-1]
        word = word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zes")) else word[:-1]
    for ending, least in (("ing", 3), ("edly", 3), ("ed", 3), ("ly", 4), ("ment", 4), ("ness", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith(("eed",)):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3:
        if word[-1] == "e":
            word = word[:-1]
        elif word[-1] == "y":
            word = word[:-1] + "i"
    return "note" if word == "not" else word


@cache
def presents() -> dict[str, str]:
    """Return verbs by their pasts, of those whose past is not made by an ending."""
    return dict(pair.split() for pair in lexicon("verbs")["pasts"].split(","))


@cache
def _pasts() -> dict[str, frozenset[str]]:
    table = presents()
    return {verb: frozenset(stem(past) for past, one in table.items() if one == verb) for verb in table.values()}


def pasts_of(verb: str) -> frozenset[str]:
    """Return the stems of the pasts of such a verb."""
    return _pasts().get(verb, frozenset())
