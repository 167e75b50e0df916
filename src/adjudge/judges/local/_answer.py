r"""The answer in a response, written as references are: outside of its wrapping, of thinking and of JSON.

"<think>5? no</think> It is 4"     ->  "It is 4"
'{"answer": "two", "sure": true}'  ->  "two"
"2 + 2 = 4, so \boxed{4}"           ->  "4"
"Rio. Sorry, I meant Brasília"     ->  "Brasília"
"Use `git commit`."                ->  "git commit", where a code is accepted
"## Answer\n\n**Paris** [1]\n\n[1] https://example.org"  ->  "Paris"
"""

from __future__ import annotations

import re
from calendar import month_name

from adjudge.judges.local._limits import LONGEST
from adjudge.judges.local._words import DENIALS, stemmed, words
from adjudge.text import strip_thinking

LONGEST_CODE = 200
"""Characters of a response that may be one code or formula."""

_FENCE = re.compile(r"```[\w+#-]*\n(.*?)\n?\s*```", re.DOTALL)
_TICKED = re.compile(r"`([^`\n]+)`")
_DOLLARS = re.compile(r"\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_OUTSIDE = " \t\n`*\"'“”‘’"
_PROMPT = re.compile(r"[$>%#] (?=\w)")
_BEFORE = re.compile(
    r".*(?:\b(?:is|are|was|equals?|be|becomes|takes|called|named|use|run|type|press|hit|call|at|in|to|with|by|get|gives?"
    r"|reference|number|order|flight|email|isbn|iban|version|that|therefore|thus|so|hence|answer|formula|symbol|file)\b[,:]?"
    r"|:)\s+(?:the |an? )?(?=\S)",
    re.IGNORECASE | re.DOTALL,
)
_AFTER = re.compile(
    r"\s+(?:time|complexity|file|function|method|command|clause|keyword|gas|language|framework|operator|tag"
    r"|element|property|attribute|exception|variable|address)$"
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_END = 2000  # characters of a text in which a box is looked for
_NEAR = 60  # characters before a box that may deny it
_TAIL = 20  # characters after the last box
_THE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_CHOICE = re.compile(r",? (?:or|and)(?: then)? |, |\n")
_LEAD = 8  # words before what is given
_STOPS = re.compile(r"[.?!;](?:\s|$)|\w\s?,.*\s.*,|\w\s\w+,")  # more than `So, the answer is`
DOUBTS = DENIALS | frozenset(
    """impossible if whether might may maybe perhaps possibly could would some say says said claim claims doubt doubtful
    unsure unlikely wrong incorrect false confirm but although though instead except than formerly previously earlier
    old either or other another unless hardly people tempted trap mistake far try""".split()
)
"""Words beside an answer that do not vouch for it."""


def given(text: str) -> tuple[str, ...]:
    r"""Return the readings of a short response, all of it first; none where it marks several things or doubts them.

    >>> given("Use `git commit`."), given("The derivative is 2x."), given("`a` or `b`")
    (('git commit',), ('The derivative is 2x', '2x'), ())
    >>> given("```sh\n$ ls -a\n```"), given("the len() function")
    (('ls -a',), ('the len() function', 'len()'))
    """
    for pattern in (_FENCE, _TICKED, _DOLLARS):
        marked = [next(filter(None, one.groups())) for one in pattern.finditer(text)]
        if marked:
            is_plain = len(set(marked)) == 1 and DOUBTS.isdisjoint(words(pattern.sub(" ", text)))
            return (bare(marked[0]),) if is_plain else ()
    found = [bare(text)]
    start = _BEFORE.match(found[0])
    if start is not None and _leads(start[0]):
        found.append(found[0][start.end() :])
    found.append(_THE.sub("", _AFTER.sub("", found[-1]), count=1))
    return tuple(dict.fromkeys(found))


def _leads(text: str) -> bool:
    """Whether a text does no more than lead to an answer."""
    before = words(text)
    return len(before) <= _LEAD and DOUBTS.isdisjoint(before) and _STOPS.search(text) is None


def choices(text: str) -> list[str]:
    """Return the parts of a text that are joined by commas, `and` or `or`.

    >>> choices("either `a` or `b`"), choices("a, b and then c"), choices("a")
    (['a', 'b'], ['a', 'b', 'c'], ['a'])
    """
    return [bare(one) for one in _CHOICE.split(text.removeprefix("either "))]


def unboxed(text: str) -> str:
    r"""Return what is in the box at the end of a text, or in all boxes if they differ, unless words deny it.

    >>> unboxed(r"5 - 8, so $\boxed{-3}$."), unboxed(r"not \boxed{3}"), unboxed(r"\boxed{3} \boxed{4}")
    ('-3', 'not \\boxed{3}', '3 or 4')
    """
    found = list(_BOX.finditer(text, max(0, len(text) - _END)))
    if not found or len(text) - found[-1].end() > _TAIL:
        return text
    start = found[0].start() if len(found) > 1 else found[-1].start()
    near = words(text[max(0, start - _NEAR) : start] + text[found[-1].end() :])
    boxes = dict.fromkeys(box[1] for box in found)
    return " or ".join(boxes) if DOUBTS.isdisjoint(near) else text


def bare(text: str) -> str:
    """Return a text without quotes, emphasis, a prompt before it and a full stop after it."""
    text = text.strip(_OUTSIDE)
    text = text[:-1].rstrip(_OUTSIDE) if text.endswith((".", "!", ",", ";")) and not text.endswith("..") else text
    return _PROMPT.sub("", text, count=1) if _PROMPT.match(text) else text


_LONGEST = 200  # characters of a sentence that is courtesy
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(\w{1,20})\b[^<>]{0,200}?(?:\bhidden\b|display:\s?none|font-size:\s?0)[^<>]{0,200}>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t]*#{1,6}[ \t]*(?:the |my |final |short )*(?:answer|response|result|solution|summary)[ \t]*:?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_HEAD = re.compile(
    r"^[ \t]*\|?[^\n|]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$", re.MULTILINE
)
_ROW = re.compile(r"^[ \t]*\|[ \t]*([^\n|]*?)[ \t]*\|[ \t]*([^\n|]*?)[ \t]*\|[ \t]*$", re.MULTILINE)
_SOURCE = re.compile(r"^[ \t]*\[\^?\d{1,3}\]:?[ \t]*<?https?://\S+[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"(?:(?<=[.,!?)*\"'])|[ \t])\[\^?\d{1,3}\](?=[\s.,;:!?)]|\Z)")
_OPENING = re.compile(
    r"\s{0,20}(?:(?:what an? )?(?:great|good|excellent|interesting|nice) question"
    r"|(?:sure|certainly|absolutely|gladly)(?: thing)?|of course|happy to help|glad you asked|hi|hello|hi there"
    r"|thanks? (?:you )?for (?:asking|your (?:question|patience|message))|hello there)[!.]{1,3}\s{1,20}",
    re.IGNORECASE,
)
_MAY_CLOSE = re.compile(r"know|ask|reach|tell|anything|hope|have a|happy|if you", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?<=[.!?*)\"'\]])\s{1,20}(?:please |just |feel free to |do |and )*(?:let me know|ask me|reach out|tell me"
    r"|is there anything|hope (?:this|that|it)|i hope (?:this|that|it)|have a (?:great|good|nice|lovely)"
    r"|happy to (?:help|explain)"
    r"|if you (?:need|have|want|would like|'d like) (?:any(?:thing)?|more|further|other))\b"
    rf"[^.!?\n\d]{{0,{_LONGEST}}}[.!?]{{0,3}}\s{{0,20}}\Z",
    re.IGNORECASE,
)
_UNLESS = re.compile(
    r"\bunless otherwise (?:stated|noted|specified|indicated|mentioned|agreed|said),?[ \t]?", re.IGNORECASE
)


def unwrapped(text: str) -> str:
    r"""Return a response without what is around its answer; all of it, if nothing else is there.

    >>> unwrapped("| City | Country |\n|---|---|\n| Rome | Italy |")
    'Rome: Italy'
    >>> unwrapped("<!-- nothing -->")
    '<!-- nothing -->'
    """
    found = text
    if "<" in found:
        found = _HIDDEN.sub(" ", found)
    if "#" in found:
        found = _HEADING.sub("", found)
    if "--" in found and "|" in found:
        found = _of_one_row(found)
    # `[1]` is a note only where its source is named: it may be a list.
    if "[" in found and _SOURCE.search(found):
        found = _NOTE.sub("", _SOURCE.sub("", found))
    if "nless" in found:
        found = _UNLESS.sub("", found)
    opening = _OPENING.match(found)
    found = found if opening is None else found[opening.end() :]
    if found is not text or _MAY_CLOSE.search(found, max(0, len(found) - _LONGEST)):
        found = _CLOSING.sub("", found)
    return found.strip() if found != text and _has_words(found) else text


def _of_one_row(text: str) -> str:
    """Return a table of one row as that row; one of several is left, since only some of it is the answer."""
    bare = _HEAD.sub("", text)
    return _ROW.sub(r"\1: \2", bare) if len(_ROW.findall(bare)) == 1 else text


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


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
    return in_one_piece(text)


def in_one_piece(text: str) -> str:
    """Return a text with its figures in one piece, and dates in figures written out.

    >>> in_one_piece("299 792 458 m/s on 14.03.1879")
    '299792458 m/s on 14 March 1879'
    """
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
