r"""What a response puts forward as its answer, if it is code or a formula: marked, alone, or after a verb.

"Use `git commit`."  ->  "git commit";  "The derivative is 2x."  ->  "2x";  r"so $y = 3$"  ->  "y = 3"
"""

from __future__ import annotations

import re

from adjudge.judges.local._reading.words import DENIALS, words

LONGEST = 200
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
