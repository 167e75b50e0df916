"""Several answers at once, of which the reader is to choose: options of the question, alternatives, shares, heaps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._reference import Prepared
from adjudge.judges.local._words import STOP, VERBS, stem, words

_SHORT = 20  # words of a candidate that offers answers and says little else
_HEAP = 3  # foreign words beside the answer in a heap
_PART = re.compile(r"[,;/\n]|\.\s|\band\b|\bor\b|\bthen\b", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s?(?:%|percent\b|per cent\b)", re.IGNORECASE)
_EITHER = re.compile(r"\beither\b(.{1,80}?)\bor\b(.{1,80})", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r"\W*(?:it(?:'s|s| is| was) )?(?:somewhere )?between (.{1,60}?) and (.{1,60})", re.IGNORECASE)
_UNLESS = re.compile(
    r"\bunless\s+(?:it|that|this|he|she|they)(?:'s|\s+(?:is|was|are|were))\s+(?P<after>.{1,60})"
    r"|\bif\s+(?:it|that|this)?\s*(?:is\s+|was\s+)?(?:not|isn't|wasn't)\s+(?P<before>[^,.;]{1,60})[,;]",
    re.IGNORECASE,
)

_ELSE = re.compile(
    r"\b(?:alternatively|or else|otherwise|failing that|if wrong|then again|(?:on|my) (?:second|reflection|another)"
    r"(?: thoughts?| guess| choice)?(?: is| was)?)\b",
    re.IGNORECASE,
)


def is_offer(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate that names a reference, or part of one, leaves it to the reader to choose it."""
    if len(candidate.plain) > _SHORT or prepared.explains:
        return False
    plain, text = candidate.plain, candidate.text
    if "or" in plain and "or" in asked.plain:
        return _is_option(asked, prepared, candidate)
    if _is_one_of_two(prepared, asked, candidate) or ("percent" in plain and _is_lesser_share(prepared, text)):
        return True
    if "unless" in plain or "if" in plain:
        match = _UNLESS.search(text)
        if match is not None and _has_foreign(match["after"] or match["before"], prepared, asked):
            return True
    other = _ELSE.search(text)
    return other is not None and _is_foreign(text[other.end() :], prepared, asked)


def _is_one_of_two(prepared: Prepared, asked: Question, candidate: Candidate) -> bool:
    """Whether a candidate says `either A or B`, or `between A and B`, and one of them is foreign."""
    match = None
    if "either" in candidate.unique:
        match = _EITHER.search(candidate.text)
    elif "between" in candidate.unique and "between" not in asked.plain:
        match = _BETWEEN.match(candidate.text)
    return match is not None and any(_is_foreign(side, prepared, asked) for side in match.groups())


def _is_option(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate repeats the options of the question with their `or`, and gives none of them by itself."""
    stems = candidate.stems
    if not any(one.content <= asked.content for one in prepared.references):
        return False
    for at in range(1, len(stems) - 1):
        if stems[at] == "or" and f" {stems[at - 1]} or {stems[at + 1]} " in asked.padded:
            rest = f" {' '.join([*stems[: max(0, at - 4)], '|', *stems[at + 5 :]])} "
            return not any(one.padded in rest or "or" in one.stems for one in prepared.references)
    return False


def _is_foreign(text: str, prepared: Prepared, asked: Question) -> bool:
    """Whether a text names something that neither the question nor a reference has, and nothing of a reference."""
    content = [stem(word) for word in words(text) if word not in STOP]
    return any(one not in asked.content for one in content) and prepared.union.isdisjoint(content)


def _has_foreign(text: str, prepared: Prepared, asked: Question) -> bool:
    content = {stem(word) for word in words(text) if word not in STOP}
    return not content <= asked.content | prepared.union and not any(
        one.content <= content for one in prepared.references
    )


def _is_lesser_share(prepared: Prepared, text: str) -> bool:
    """Whether several answers get a share each, and no reference the largest."""
    if any(one.numbers for one in prepared.references):
        return False
    mine = others = 0.0
    found = 0
    for part in _PART.split(text):
        share = _SHARE.search(part)
        if share is not None:
            found += 1
            if prepared.union.isdisjoint(map(stem, words(part))):
                others = max(others, float(share[1][:9]))
            else:
                mine = max(mine, float(share[1][:9]))
    return found > 1 and 0 < mine <= others


def is_heap(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a heap of single words, one of which is the answer: no grammar."""
    plain = candidate.plain
    if not _HEAP <= len(plain) <= _SHORT or prepared.explains or any(word in STOP or word in VERBS for word in plain):
        return False
    if len(set(plain)) < len(plain):
        return False
    if len(candidate.numbers) == len(plain):
        return all(len(one.numbers) == 1 for one in prepared.references)
    if candidate.numbers or (candidate.text != candidate.text.lower() and len(candidate.names()) < len(plain)):
        return False
    foreign = sum(stem(word) not in prepared.union and stem(word) not in asked.content for word in plain)
    if any(len(one.stems) > 1 for one in prepared.references):  # a full name has several words too
        return foreign > _HEAP and len(plain) - foreign == 1
    return foreign >= _HEAP


def is_torn(plain: Sequence[str], yes: frozenset[str], no: frozenset[str]) -> bool:
    """Whether a text is made of yes and no, both of them."""
    said = [word for word in plain if word in yes or word in no]
    others = [word for word in plain if word not in yes and word not in no and word not in _JOINTS]
    return not others and len({word in yes for word in said}) == 2


_JOINTS = frozenset("and or but maybe perhaps actually wait well either both rather also then".split())
