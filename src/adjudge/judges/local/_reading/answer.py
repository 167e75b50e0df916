r"""The answer in a response, written as references are: outside of thinking and JSON, after what was taken back.

"<think>5? no</think> It is 4"     ->  "It is 4"
'{"answer": "two", "sure": true}'  ->  "two"
"2 + 2 = 4, so \boxed{4}"           ->  "4"
"Rio. Sorry, I meant Brasília"     ->  "Brasília"
"299 792 km/s on 14.03.1879"       ->  "299792 km/s on 14 March 1879"
"""

from __future__ import annotations

import re
from calendar import month_name

from adjudge.judges.local._codes.given import unboxed
from adjudge.judges.local._reading.words import LONGEST, stemmed
from adjudge.judges.local._reading.wrapping import unwrapped
from adjudge.text import strip_thinking

_FIELD = re.compile(
    r'"(?:final_?)?answer"\s*:\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<list>\[[^\[\]{}]*\])|(?P<figure>-?[\d.]+)|(?P<truth>true|false))',
    re.IGNORECASE,
)
_TAGGED = re.compile(r"<answer>([^<]*)</answer>\s*$")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)
_FIGURES = re.compile(r"\d[ \u2009'./-]\d")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u2009']\d{3})+(?![\d.,]*\d)")  # `299 792`
_DOTTED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}+(?![\d.,]*\d)")  # `1.250.000`
_ISO = re.compile(r"(?<![\d./-])([12]\d{3})-(\d{2})-(\d{2})(?![\d./-]*\d)")
_DATE = re.compile(r"(?<![\d./])(\d{1,2})([./])(\d{1,2})\2([12]\d{3})(?![\d./]*\d)")
_QUOTES = re.compile(r"(?<!`)` ?`(?!`)|''")  # a fence is none
TAKEN_BACK = re.compile(
    r"\b(?=[achilmnosw])(?:no,? wait|wait,? no|hold on|scratch that|strike that|correction"
    r"|i mis(?:spoke|remembered|typed|read)|i (?:meant?|take (?:that|it) back|was wrong)"
    r"|on (?:second thoughts?|(?:further )?reflection)|let me correct (?:myself|that|this)|make that"
    r"|(?:actually|sorry),? no|no,? (?:actually|sorry)"
    r"|my (?:mistake|bad|apologies)|oops)\b|\?\s*(?:no|nope|wrong)\b",
    re.IGNORECASE,
)

_CUES = stemmed(
    "wait hold scratch strike correction misspoke misremembered mistyped misread mean meant take wrong thought"
    " reflection correct make actually sorry no mistake bad apologies oops nope"
)


def untagged(text: str) -> str:
    """Return a response without the tags of its answer, which trainers ask for."""
    return text if _TAGGED.search(text[-LONGEST:]) is None else text.replace("<answer>", " ").replace("</answer>", " ")


def answer_of(text: str) -> str:
    r"""Return what a response says outside of its thinking, of JSON the answer alone, figures in one piece.

    >>> answer_of("<think>Rome?</think>Paris"), answer_of('{"answer": ["a", "b"], "n": 2}'), answer_of("12 400")
    ('Paris', '"a", "b"', '12400')
    >>> answer_of('{"answer": "a\\nb"}'), answer_of("31.12.1999"), answer_of("12/31/1999")
    ('a\nb', '31 December 1999', '31 December 1999')
    """
    if "<think" in text or "</think" in text:
        text = strip_thinking(text)
    if "<answer>" in text:
        tagged = _TAGGED.search(text[-LONGEST:])
        text = text if tagged is None else tagged[1]
    text = unwrapped(text[:LONGEST])
    if "\\boxed" in text:
        text = unboxed(text)
    if "`" in text:
        text = _QUOTES.sub('"', text)
    if '"' in text and "{" in text[:20]:
        values = [_value(field) for field in _FIELD.finditer(text)]
        text = ", ".join(values) if values else text
    if _FIGURES.search(text) is None:
        return text
    text = _THOUSANDS.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text)
    text = _ISO.sub(lambda match: _written(int(match[3]), int(match[2]), match), text)
    return _DATE.sub(_dated, text)


def corrected(text: str, stems: frozenset[str]) -> str | None:
    """Return what comes after the last place where a response takes back what it said, if there is one.

    >>> corrected("Six? No, eight.", frozenset(["no"])), corrected("Six", frozenset(["six"]))
    (', eight.', None)
    """
    if _CUES.isdisjoint(stems):
        return None
    end = -1
    for match in TAKEN_BACK.finditer(text):
        end = match.end()
    return None if end < 0 else text[end:]


def _value(field: re.Match[str]) -> str:
    if field["text"] is not None:
        return _ESCAPED.sub(_unescaped, field["text"])
    if field["list"] is not None:
        return field["list"][1:-1]
    return field["figure"] or ("yes" if field["truth"].lower() == "true" else "no")


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return {"n": "\n", "t": "\t", "r": "\n"}.get(match[2], match[2])


def _dated(match: re.Match[str]) -> str:
    """Write a date with the name of its month, where only one reading is possible."""
    first, second = int(match[1]), int(match[3])
    if match[2] == "/" and first <= 12 and second <= 12 and first != second:
        return match[0]
    day, month = (second, first) if second > 12 else (first, second)
    return _written(day, month, match)


def _written(day: int, month: int, match: re.Match[str]) -> str:
    """Write a date out, if there is such a day."""
    year = next(part for part in match.groups() if len(part) == 4)
    return f"{day} {month_name[month]} {year}" if 1 <= month <= 12 and 1 <= day <= 31 else match[0]
