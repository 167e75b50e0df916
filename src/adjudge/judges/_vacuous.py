"""Responses that say nothing: empty, punctuation and markup, or words that only announce an answer.

A response is read segment by segment: what is between sentence ends, colons, commas and line breaks. It says nothing
where each is a label ("Final answer"), an announcement ("Let me work through this carefully") or a filler beside those
("Sure"). Whatever else a segment is may be an answer, and the judge is asked. `openers.txt` has the words.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from unicodedata import category

from adjudge.judges._announcements import Kind, kind_of, names_answer
from adjudge.judges._given import gives_signs, gives_words, plain_words
from adjudge.judges._openers import load_openers
from adjudge.text import fold

_END = re.compile(
    r"(?:[\n\r.:;!?…。：；！？．｡、,،۔।，؟؛|#*<>(){}\[\]【】「」『』《》¡¿/\\`~&$=_]+"
    r"(?:(?<=\n)[ \t]*\d{1,2}[.)](?=[ \t]+\S))?)+|\s[-–—]+\s|[–—]+"
)
_MARKUP = re.compile(
    r"</?[a-zA-Z][^<>]{0,40}>|<\|[^<>|]{1,40}\|>(?:assistant|user|system)?|<start_of_turn>model|```[a-z]*|\[/?[A-Z]+\]"
    r"|(?m:^[ \t]*[QA]:)|\bTL;DR|&[a-z]{2,6};|\\(?:begin|end)\{[a-z*]+\}"
    r"|\\(?:boxed|fbox|text[a-z]*|mathrm|mathbf|q?quad|left|right|displaystyle|hline|(?:sub)*section)\*?(?![a-zA-Z])"
    r"|\n[ \t]*(?:1[.)]|\(1\)|①)(?:[ \t]*\n[ \t]*\d{1,2}[.)])*\s*$"
)
_MAY_BE_MARKUP = re.compile(r"[<\\`\[&]|TL;DR|[QA]:|[\d①][.)]?\s*$")
# Words and numbers between spaces and plain punctuation, which leaves out tags, commands and templates.
_WORD = re.compile(r"(?<![^\s(\"*.,:;!?-])(?:[a-zA-Z][a-zA-Z']*|\d+)(?![^\s)\"*.,:;!?-])")
_NONE = ("\0",)
_SIGN_AFTER_LABEL = re.compile(r"[:：][*_]* +[*_`]*[-!?<>=+%^&@/\[\]{}]{1,3}[*_`]*\s*$", re.MULTILINE)
_COLONS = (":", "：", "…", "=")
_COMMAS = (",", "，", "、", "،")
_HEADING = ("#", "*", "【", "_", "|")
_LONGEST = 200  # no opener is longer, so a longer segment says something
_SILENT = frozenset("PZCM")  # categories of characters that say nothing without letters: the first letter of each
_DECORATION = frozenset("🤔😊🙂😀😄😃✨🌟💡🚀👇⬇➡📝🔍🧠👋📚🎯")
_OPENING = frozenset(("label", "announcement", "imperative"))
# What may be the answer after "Answer:", and after "Let me see:".
_AFTER_LABEL = frozenset(("filler", "continuation", "label", "imperative"))
_AFTER_COLON = frozenset(("filler", "continuation"))


class _Segment(NamedTuple):
    """What is between two marks, as words, and the marks after it."""

    words: str
    end: str
    kind: Kind

    @property
    def goes_on(self) -> bool:
        """Whether the sentence goes on after it."""
        return self.end[:1] in _COMMAS

    @property
    def is_open(self) -> bool:
        """Whether something has to follow it."""
        return self.end[:1] in _COLONS or self.words.endswith((" is", " are"))

    def is_answered_by(self, other: "_Segment") -> bool:
        """Return whether a segment right after this one may be an answer: `Answer: sure`."""
        if other.goes_on or other.is_open:
            return False
        is_label = self.kind == "label" and names_answer(self.words)
        if self.end[:1] not in _COLONS or "\n" in self.end:
            return False
        if is_label:
            return other.kind in _AFTER_LABEL and (other.kind != "label" or " " not in other.words)
        return self.kind == "announcement" and other.kind in _AFTER_COLON


def is_vacuous(response: str | None, references: Sequence[str] = ()) -> bool:
    """Return whether a response says nothing at all; one that gives a reference never does.

    >>> is_vacuous("Thought process:"), is_vacuous("Sure! Let's solve this step by step. Solution:"), is_vacuous("…")
    (True, True, True)
    >>> is_vacuous("Solution: 42"), is_vacuous("Solution", ["solution"]), is_vacuous(".", ["."])
    (False, False, False)
    >>> is_vacuous("To begin, restate what is asked."), is_vacuous("Answer: right"), is_vacuous("[]")
    (True, False, False)
    """
    if response is None or not response.strip():
        return True
    segments = None if _has_other_words(response) else _read(response)
    if segments is None:
        return False
    if not segments:
        return not _says_by_signs(response, references)
    kinds = [segment.kind for segment in segments]
    is_opened = not _OPENING.isdisjoint(kinds) or kinds.count("continuation") > 1
    if not is_opened or _ends_with_answer(segments) or _SIGN_AFTER_LABEL.search(response) is not None:
        return False
    return not gives_words(plain_words(response), references, announced="announcement" in kinds)


def _has_other_words(response: str) -> bool:
    """Return whether a response has a word that no opener has: an ordinary answer is left at its first one."""
    openers = load_openers()
    whole, beginnings = openers.vocabulary
    word = ""
    for found in _WORD.finditer(response):
        before, word = word, found[0].lower().replace("'", "")
        if word.isdigit():
            # The number of a step, or of an item of a list.
            if before and before not in openers.headings and response[found.start() - 1] == " ":
                return True
        elif word not in whole and not word.startswith(beginnings.get(word[:2], _NONE)):
            return True
    return False


def _read(response: str) -> list[_Segment] | None:
    """Return the segments of a response; None where one of them may be an answer."""
    segments: list[_Segment] = []
    for segment in _segments(response):
        if segment.kind == "other" or (segment.kind == "words" and not segment.goes_on):
            return None
        if segments and segments[-1].is_answered_by(segment):
            return None
        # As in "To begin, restate the question", or where a colon comes after it.
        began = bool(segments) and segments[-1].goes_on
        began = segment.kind == "continuation" and (began or segment.end[:1] in _COLONS)
        segments.append(segment._replace(kind="announcement") if began else segment)
    return segments


def _says_by_signs(response: str, references: Sequence[str]) -> bool:
    """Return whether a response without words is an answer: `[]`, or a sign that a reference names."""
    signs = fold(response).strip()
    bare = _MARKUP.sub("", signs) if len(signs) > 3 else signs  # three backticks may be meant as they are
    # "> " begins a quotation, ">" may be an answer.
    is_empty = not bare.strip("\x00\u200b\ufeff" if bare == signs else "{}") or response.endswith("> ")
    return not is_empty and gives_signs(bare, references, signs)


def _ends_with_answer(segments: list[_Segment]) -> bool:
    """Return whether the last segment may be an answer: `Let me see. Yes.`, or whatever comes after a label."""
    last = segments[-1]
    if last.kind == "filler":
        before = segments[-2] if len(segments) > 1 else last
        return last.words not in load_openers().closers or (before.kind == "label" and names_answer(before.words))
    return last.kind == "words"


def _segments(response: str) -> Iterator[_Segment]:
    """Yield what is between marks; nothing for a segment without words or signs that say something."""
    text = _MARKUP.sub("\n", response) if _MAY_BE_MARKUP.search(response) is not None else response
    text = f"\n{text}" if text[:1].isdigit() else text
    is_heading = response.startswith(_HEADING)
    start = 0
    for found in chain(_END.finditer(text), (None,)):
        part, end = (text[start : found.start()], found[0]) if found else (text[start:], "")
        start = found.end() if found else start
        words = plain_words(part) if len(part) <= _LONGEST else ""
        if words:
            is_marked = is_heading or end[:1] in _COLONS or ".." in end
            yield _Segment(words, end, kind_of(words, is_marked=is_marked))
        elif not _is_blank(part):
            yield _Segment("", end, "other")


def _is_blank(segment: str) -> bool:
    """Return whether a segment without words has nothing else that could be an answer, such as an emoji or a sign."""
    return all(c.isspace() or category(c)[0] in _SILENT or category(c) == "Sk" or c in _DECORATION for c in segment)
