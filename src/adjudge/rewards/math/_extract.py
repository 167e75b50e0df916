r"""Where the answer is in a response: the last box, the last statement, or the whole of a short text.

A later box revises an earlier one; boxes side by side ("\boxed{1} and \boxed{2}") are one list; boxes offered as
alternatives are a list too, and a list never equals one of its elements. What is in a think block does not count.
"""

import re
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._policy import ExtractionMode
from adjudge.rewards.math._sentence import from_sentence

_SHORT = 400
_WINDOW = 2_000
_REACH = 32_768
_MAX_BOXES = 128
_NEAR = 80  # characters between two boxes of one list
_REVISING = frozenset(
    "but not wait however actually correction no instead revise revised then so therefore hmm rather sorry mistake"
    " wrong check thus hence".split()
)
_ALTERNATIVE = frozenset("or maybe perhaps possibly alternatively either".split())


class Found(NamedTuple):
    """An answer: its text and its place."""

    text: str
    start: int
    end: int
    how: str
    whole: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer, and why: `no-answer` or `hedged`."""

    reason: str
    detail: str


_BRACES = r"\\[^a-zA-Z]|[{}]"
_BETWEEN = r"\\[()\[\],;:!\\]|\\(?:quad|qquad|text[a-z]*|mathrm|displaystyle)|[${}\s*]+"
_LABEL = r"\s*[,;]\s*\w{1,2}(?:_\w)?\s*=\s*"
_WORDS = r"[A-Za-z]+"
_PERCENT = r"(?:\s|\\\)|\$)*(?:\\?%|percent\b|pct\b)"
_FINAL = (
    r"(?i)\bfinal\s+answer\b[\s*_\"]*(?:is|are|:|=|->|would be|should be)[\s*_:\"]*"
    r"(?:the\s+final\s+answer\s+is\s*:?\s*)?"
)
_STATEMENT = (
    r"(?i)(?:\banswer|\b(?:correct|right|best)\s+(?:option|choice))\b(?:\s+(?:to|of|for)\s[^.\n]{1,80}?)?[\s*_\"]*"
    r"(?:(?:is|are|:|=|->|equals|would be|should be|must be|will be)[\s*_:\"]*|(?=\s*(?:\$|\\[\[(])))"
    r"(?:the\s+final\s+answer\s+is\s*:?\s*)?"
)
_CONCLUSION = r"(?i)\b(?:therefore|thus|hence|so|in conclusion|consequently|we (?:find|get|have|conclude)|it follows)\b"
_FLUFF = r"(?i)(?:i hope (?:it|this) (?:is|helps)|let me know|thank you)[^.\n]*\.?"
_THINKING = r"(?i)<(/?)(?:think|thinking|reasoning|reflection)>"
_SPECIAL = r"<\|(?:im_start|im_end|endoftext|eot_id|end|eom_id|start_header_id)[^|]{0,20}\|>"
_DENIED = r"(?i)(?:\bnot|\bcannot|n't|\bnever)(?:\s+be|\s+equal(?:\s+to)?)?$"
_REFUSED = (
    r"(?i)(?:(?:is|was|are|would be|must be|seems)\s+(?:\w+\s+)?"
    r"(?:wrong|incorrect|false|mistaken|not\s+(?:the\s+)?(?:right|correct|answer|true))\b"
    r"|(?:is\s?n't|isn't|cannot be|can't be)\s+(?:the\s+)?(?:right|correct|answer|true)\b|\?+\s*no\b)"
)
_LAYOUT = " \t\r\n$*_:,()[]{}\\"
_DENIAL_ENDS = frozenset("trelo" + "TRELO")
_REFUSAL_STARTS = frozenset("iwamsc?" + "IWAMSC")
_RETRACTED = r"(?i)\?+\s*no\b|[.!]\s*(?:wait,?\s+)?no[,.!:;]"
_SENTENCE = r"\n|[.!?](?=[\s*\"]|$)|</"


def _visible(text: str) -> tuple[int, int]:
    """Return the part of a response that is meant to be read: after its thinking, before the next speaker."""
    start, stop = 0, len(text)
    if "<" not in text:
        return start, stop
    opened: int | None = None
    for tag in compile_once(_THINKING).finditer(text):
        if tag[1]:
            start, opened = tag.end(), None
        elif opened is None:
            opened = tag.start()
    if opened is not None:
        stop = opened
    if "<|" in text:
        for found in compile_once(_SPECIAL).finditer(text, start, stop):
            if text[start : found.start()].strip():
                stop = found.start()
                break
            start = found.end()
            if text.startswith("assistant", start):
                start += len("assistant")
    return start, stop


def _closing(text: str, opened: int, stop: int) -> int:
    """Where the brace that opens at `opened` closes, or -1."""
    first = text.find("}", opened, stop)
    inside = text[opened + 1 : first]
    if first < 0 or ("{" not in inside and "\\" not in inside):
        return first
    depth = 0
    for found in compile_once(_BRACES).finditer(text, opened, stop):
        char = found.group()
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return found.start()
    return -1


def _box(text: str, start: int, stop: int) -> tuple[int, int, int] | None:
    """Return where the last box of a range begins, where its content does, and where it ends; -1 if it does not."""
    at = text.rfind("\\boxed", start, stop)
    if at < 0:
        at = text.rfind("\\fbox", start, stop)
        if at < 0:
            return None
    inside = at + (6 if text[at + 1] == "b" else 5)
    while inside < stop and text[inside] in " \t":
        inside += 1
    # For example `\boxed 42`.
    if inside >= stop or text[inside] != "{":
        end = inside
        while end < stop and (text[end].isalnum() or text[end] in ".-/"):
            end += 1
        return at, inside, end if end > inside else -1
    end = _closing(text, inside, stop)
    if end < 0 and "\\{" not in text[inside : inside + _WINDOW]:
        escaped = text.find("\\}", inside, min(stop, inside + _WINDOW))
        end = escaped + 1 if escaped >= 0 else -1
    return at, inside + 1, end


def _joins(between: str) -> bool:
    """Whether two boxes with this text between them belong to one list or offer alternatives."""
    if len(between) > _NEAR:
        return False
    bare = compile_once(_BETWEEN).sub(" ", between)
    words = {word.lower() for word in compile_once(_WORDS).findall(bare)}
    if not words:
        return not set(bare) - set(" ,;+&/|\\")
    if any(mark in bare for mark in ".!?") or words & _REVISING:
        return False
    if compile_once(_LABEL).fullmatch(bare):
        return True
    return bool(words & _ALTERNATIVE) or "and" in words


def _is_denied(text: str, box: tuple[int, int, int]) -> bool:
    r"""Whether the words beside a box take it back: `not \boxed{42}`, `\boxed{42} is wrong`."""
    at, inside, end = box
    # Most boxes have nothing beside them that could begin or end a denial, which their last and next letters tell.
    before = text[at - 30 if at > 30 else 0 : at].rstrip(_LAYOUT)
    if before[-1:] in _DENIAL_ENDS and compile_once(_DENIED).search(before) is not None:
        return True
    after = text[end + 1 : end + 60].lstrip(_LAYOUT)
    # `(2) is wrong` and `B is wrong` may answer which of several statements is.
    return (
        after[:1] in _REFUSAL_STARTS
        and compile_once(_REFUSED).match(after) is not None
        and text[inside : inside + 1] != "("
        and any(char.isdigit() for char in text[inside:end])
    )


def _boxes(text: str, start: int, stop: int, *, lenient: bool) -> Found | Missing | None:
    last = _box(text, start, stop)
    if last is None:
        return None
    denied = 0
    while not lenient and last[2] >= 0 and _is_denied(text, last):
        denied, stop = denied + 1, last[0]
        last = _box(text, start, stop)
        if last is None or denied == _MAX_BOXES:
            return Missing("hedged", "the text denies its box")
    at, inside, end = last
    if end < 0:
        if not lenient:
            return Missing("hedged", "the last box is not closed")
        end = stop
    # The last box counts, and with it those right before it that belong to the same list.
    parts = [(inside, end)]
    while len(parts) < _MAX_BOXES:
        # Another one of the list ends right before this one, or begins there; a long text is not searched.
        near = max(start, at - _NEAR - 1)
        if text.find("}", near, at) < 0 and text.find("box", max(start, near - _NEAR), at) < 0:
            break
        before = _box(text, start, at)
        if before is None or before[2] < 0:
            break
        earlier, inside, closed = before
        if not _joins(text[closed + 1 : at]):
            break
        parts.append((inside, closed))
        at = earlier
    if len(parts) == 1:
        unique = [text[parts[0][0] : parts[0][1]].strip()]
    else:
        parts.reverse()
        unique = list(dict.fromkeys(text[one:other].strip() for one, other in parts))
    found = ", ".join(unique)
    after = text[end + 1 : min(end + 24, stop)]
    # A percent sign after the box belongs to the answer.
    if ("%" in after or "p" in after) and len(unique) == 1 and found and found[-1] != "%":
        found += "%" if compile_once(_PERCENT).match(after) else ""
    return Found(found, parts[0][0], parts[-1][1], "box")


def _sentence_end(text: str, start: int, stop: int) -> int:
    """Where the sentence that begins here ends; display mathematics is taken whole."""
    # A full stop inside display mathematics ends no sentence.
    for opener, closer in (("\\[", "\\]"), ("$$", "$$")):
        if text.startswith(opener, start):
            closed = text.find(closer, start + 2, min(stop, start + _WINDOW))
            if closed >= 0:
                return closed + 2
    found = compile_once(_SENTENCE).search(text, start, stop)
    return found.start() if found is not None else stop


def _last(pattern: str, text: str, start: int, stop: int) -> re.Match[str] | None:
    found = deque(compile_once(pattern).finditer(text, start, stop), maxlen=1)
    return found[0] if found else None


def _statement(text: str, start: int, stop: int, pattern: str) -> Found | None:
    # The answer is near the end; a long text is not searched from its beginning.
    start = max(start, stop - _REACH)
    for found in reversed(deque(compile_once(pattern).finditer(text, start, stop), maxlen=16)):
        at = found.end()
        while at < stop and text[at] in " \t\r\n*_:":
            at += 1
        end = _sentence_end(text, at, stop)
        if text[at:end].strip() and compile_once(_RETRACTED).match(text, end, stop) is None:
            return from_sentence(text, at, end, whole=True)
    return None


def extract(text: str, mode: ExtractionMode = "final") -> Found | Missing:
    r"""Return the answer of a response.

    >>> extract(r"so \boxed{1} ... no, \boxed{2}").text
    '2'
    >>> extract("The answer is 42.").text
    '42'
    >>> extract("<think>\\boxed{42}</think>").reason
    'no-answer'
    """
    start, stop = _visible(text)
    box = _boxes(text, start, stop, lenient=False)
    if mode == "boxed":
        return box or Missing("no-answer", "there is no box")
    if isinstance(box, Missing):
        return box
    if box is not None:
        # A statement after the box that says "final" revises the box, if it has a number.
        later = _statement(text, box.end, stop, _FINAL) if text.find("inal", box.end, stop) >= 0 else None
        if later is not None and any(char.isdigit() for char in later.text):
            return later
        return box if box.text.strip() else Missing("no-answer", "the box is empty")
    return _extract_unboxed(text, start, stop, mode)


def _extract_unboxed(text: str, start: int, stop: int, mode: ExtractionMode) -> Found | Missing:
    tag = _tag_content(text, start, stop)
    if tag is not None:
        return tag
    marked = _marked(text, start, stop)
    if marked is not None:
        return marked
    for pattern in (_FINAL, _STATEMENT):
        found = _statement(text, start, stop, pattern)
        if found is not None:
            return found
    shown = text[start:stop]
    start = stop - len(shown.lstrip())
    stop = start + len(shown.strip())
    if start == stop:
        return Missing("no-answer", "the response is empty")
    conclusion = _conclusion(text, start, stop)
    if conclusion is not None:
        return conclusion
    if stop - start <= _SHORT:
        return from_sentence(text, start, stop, whole=True) or Missing("no-answer", "nothing to compare")
    if mode == "lenient":
        window = max(start, stop - _WINDOW)
        return from_sentence(text, window, stop, whole=False) or Missing("no-answer", "no number or formula")
    return Missing("no-answer", "no box, no final statement, and too long to be an answer itself")


def _marked(text: str, start: int, stop: int) -> Found | None:
    """Return what follows the last `####`, by which GSM8K marks its answers."""
    marks = text.rfind("####", start, stop)
    end = text.find("\n", marks, stop)
    end = stop if end < 0 else end
    if marks < 0 or not text[marks + 4 : end].strip(" #*"):
        return None
    return Found(text[marks + 4 : end].strip(" #*"), marks + 4, end, "marks")


def _tag_content(text: str, start: int, stop: int) -> Found | None:
    """Return the content of the last complete answer tag."""
    closed = text.rfind("</answer>", start, stop)
    opened = text.rfind("<answer>", start, closed) if closed >= 0 else -1
    if opened < 0 or not text[opened + 8 : closed].strip():
        return None
    return Found(text[opened + 8 : closed].strip(), opened + 8, closed, "tag")


def _conclusion(text: str, start: int, stop: int) -> Found | None:
    """Return the last sentence, where it draws a conclusion."""
    fluff = _last(_FLUFF, text, max(start, stop - 200), stop)
    if fluff is not None and not text[fluff.end() : stop].strip(" .\n"):
        stop = fluff.start()
    window = max(start, stop - 600)
    found = _last(_CONCLUSION, text, window, stop)
    if found is None:
        return None
    end = _sentence_end(text, found.end(), stop)
    if text[end:stop].strip(" .\n*!") and stop - start > _SHORT:
        return None
    return from_sentence(text, found.end(), end, whole=False)


def extract_gold(text: str) -> Found:
    r"""Return the answer that a gold states: its boxes, the mark or statement of a worked solution, or all of it.

    >>> extract_gold(r"so the sum is $\boxed{12}$.").text, extract_gold("48+24 = 72\n#### 72").text
    ('12', '72')
    """
    if "boxed" in text or "\\fbox" in text:
        box = _boxes(text, 0, len(text), lenient=True)
        if isinstance(box, Found) and box.text.strip():
            return box
    marked = _marked(text, 0, len(text))
    if marked is not None:
        return marked
    if "inal " in text:
        found = _statement(text, 0, len(text), _FINAL)
        if found is not None:
            return found
    return Found(text, 0, len(text), "gold")
