"""Several answers at once, of which the reader is to choose: alternatives, options of the question, shares, doubts."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from adjudge.judges.local._clauses import DOUBT, clauses_near
from adjudge.judges.local._guesses import MARKDOWN, are_alike, is_framed
from adjudge.judges.local._limits import PASSAGE, SHORT
from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import STOP, lexicon, phrases, stem, stemmed, stems_of, word_set, words

_BARE = 10  # words of a candidate that is an offer and nothing else
_HEDGES = DOUBT | stemmed("some half possible if many")
_CONDITIONS = DOUBT | stemmed("if possible")
_PART = re.compile(r"[,;/\n]|\.\s|\band\b|\bor\b|\bthen\b", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s?(?:%|percent\b|per cent\b)", re.IGNORECASE)
_TWO = re.compile(
    r"\beither\b(.{1,80}?)\bor\b(.{1,80})"
    r"|\A\W*(?:it(?:'s|s| is| was) )?(?:somewhere )?between (.{1,60}?) and (.{1,60})",
    re.IGNORECASE | re.DOTALL,
)
_UNLESS = re.compile(
    r"\bunless\s+(?:(?:it|that|this|he|she|they)(?:'s|\s+(?:is|was|are|were))\s*"
    r"|(?=(?:the\s+|an?\s+)?(?-i:[A-Z0-9])))"
    r"(?P<after>.{1,60})"
    r"|\bif\s+(?:it|that|this)?\s*(?:is\s+|was\s+)?(?:not|isn't|wasn't)\s+(?P<before>[^,.;]{1,60})[,;]",
    re.IGNORECASE,
)
_SIDES = re.compile(r"\s+or\s+|\s+and\s+|[,;/?(.]\s*(?:or\s+|and\s+|if not,?\s+)?")
_OR = re.compile(r"\s*\(?\s*\b(?:and/)?or\s+|(?<=[^\W\d_])\s?/\s?(?=[^\W\d_])")
_MARKS = " .…!?*"
_BREAK = re.compile(r"[()]|[.;:!?](?:\s|$)|\s[-–—]+\s|,\s")
_AMONG = re.compile(
    r" (?:between|among|amongst|whether|if)\b(?: (?!but\b|its?\b|so\b|however\b|though\b|until\b)\w+){0,12}"
)


def is_offer(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a short candidate that names a reference, or part of one, leaves it to the reader to choose it."""
    if len(candidate.plain) > SHORT or prepared.explains:
        return False
    plain, text = candidate.plain, candidate.text
    if "or" in plain and "or" in asked.plain:
        return _is_option(asked, prepared, candidate)
    # Two sides are announced; a foreign one among them makes it an offer.
    is_announced = "either" in plain or ("between" in plain and "between" not in asked.plain)
    two = _TWO.search(text) if is_announced else None
    is_foreign = two is not None and any(_is_foreign(side, prepared, asked) for side in two.groups() if side)
    if is_foreign or ("percent" in plain and _is_lesser_share(prepared, text)):
        return True
    if "unless" in plain or "if" in plain:
        match = _UNLESS.search(text)
        side = "" if match is None else match["after"] or match["before"]
        content = frozenset(stems_of(side, without=STOP))
        is_named = any(one.content <= content for one in prepared.references)
        if not (content <= asked.content | prepared.union or is_named):
            return True
    # Each of the phrases has one of the cues: most texts are not searched.
    if word_set("offers", "else_cues").isdisjoint(plain):
        return False
    other = phrases("offers", "else").search(text)
    sides = () if other is None else (text[: other.start()], text[other.end() :])
    return any(_is_foreign(side, prepared, asked) for side in sides)


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
    new = [one for one in stems_of(text, without=STOP) if one not in asked.content and one not in DOUBT]
    return bool(new) and prepared.union.isdisjoint(new) and not any(one.initials in new for one in prepared.references)


def _is_lesser_share(prepared: Prepared, text: str) -> bool:
    """Whether several answers get a share each, and no reference the largest."""
    # A share may be the answer itself.
    if any(one.numbers for one in prepared.references):
        return False
    mine, others = [0.0], [0.0]
    for part in _PART.split(text):
        share = _SHARE.search(part)
        if share is not None:
            is_mine = not prepared.union.isdisjoint(map(stem, words(part)))
            (mine if is_mine else others).append(float(share[1][:9]))
    return len(mine) + len(others) > 3 and 0 < max(mine) <= max(others)


def is_choice(candidate: Candidate, prepared: Prepared, asked: Question) -> bool:
    """Whether a candidate that names a reference leaves the choice to the reader, one of the offers being foreign.

    `Paris or Lyon`, `Paris/Lyon`, `maybe Paris, maybe Lyon`, `Paris? Lyon?`, `torn between Paris and Lyon`. `naos or
    cella` gives two words for one thing: joined by `or` alone, only names, numbers and members of one kind are offers.
    """
    if prepared.explains:
        return False
    # A reference may be all that comes after a `but`: `Paris or Lyon, I thought, but it is Paris`.
    before, _, last = candidate.padded.rpartition(" but it ")
    is_settled = before and " or " not in last and any(last.endswith(one.padded) for one in prepared.references)
    if not is_settled and len(candidate.stems) <= 14 + 2 * len(asked.content & candidate.unique):
        text = MARKDOWN.sub("", candidate.text).strip()
        if _is_open(text, candidate, prepared, asked):
            sides = [side for side in _SIDES.split(text) if side.strip()]
            if len(sides) > 1 and any(_is_foreign(side, prepared, asked) for side in sides):
                return True
    return is_undecided(candidate, prepared, asked)


def _is_open(text: str, candidate: Candidate, prepared: Prepared, asked: Question) -> bool:
    """Whether a text has the form of a choice."""
    is_likely = "(" in text or not word_set("offers", "between_cues").isdisjoint(candidate.plain)
    if text.count("?") > 1 or (is_likely and phrases("offers", "between").search(text) is not None):
        return True
    if "or" in asked.plain:
        return False
    if sum([one in DOUBT for one in candidate.stems]) > 1:
        return True
    return len(candidate.stems) <= _BARE and ("/" in text or "or" in candidate.unique) and _is_pair(text, prepared)


def _is_pair(text: str, prepared: Prepared) -> bool:
    """Whether an `or` of a short text joins a reference to another name or number, or to another of its kind."""
    offers = _OR.split(text)
    if len(offers) == 2:
        sides = [stems_of(side) for side in offers]
        # For example `trumpet/saxophone`.
        alone = [side for side in sides if any(one.padded == f" {' '.join(side)} " for one in prepared.references)]
        if are_alike(*sides) or ("/" in text and len(alone) == 1):
            return True
    if len(offers) < 2 or not all(map(_is_name, offers)):
        return False
    for one, other in pairwise(offers):
        joint = f"{_BREAK.split(one.rstrip(_MARKS))[-1]} {_BREAK.split(other)[0]}"
        if not prepared.union.isdisjoint(map(stem, words(joint))):
            return True
    return False


def _is_name(side: str) -> bool:
    """Whether what stands next to an `or` is a name or a number."""
    parts = side.split()
    return bool(parts) and any(part[0].isupper() or part[0].isdigit() for part in (parts[0], parts[-1]))


def is_undecided(candidate: Candidate, prepared: Prepared, asked: Question) -> bool:
    """Whether a candidate of any length says that it does not choose, or doubts the reference and another alike."""
    if not _cues().isdisjoint(candidate.unique) or " 1 of the " in candidate.lowered:
        ends = [match.end() for match in phrases("offers", "undecided").finditer(candidate.lowered)]
        if ends and _is_left_open(ends[-1], candidate, prepared, asked):
            return True
    if len(candidate.plain) <= PASSAGE and is_framed(prepared, candidate, _HEDGES):
        # For example `some say Paris, some say Lyon`.
        return True
    # Two conditions offer one answer each.
    is_split = len(candidate.plain) <= SHORT and candidate.plain.count("if") > 1
    doubts = _CONDITIONS if is_split else DOUBT
    return not doubts.isdisjoint(candidate.unique) and _is_doubted(candidate, prepared, asked, doubts)


@cache
def _cues() -> frozenset[str]:
    return stemmed(lexicon("offers")["undecided_cues"])


def _is_left_open(end: int, candidate: Candidate, prepared: Prepared, asked: Question) -> bool:
    """Whether others than a reference are named, and none of it by itself after it is said that nothing is chosen."""
    known = prepared.union | asked.content
    if all(one in known for one in candidate.capitals()) and all(
        one in known for item in candidate.items() for one in item
    ):
        return False
    left = candidate.lowered[end:]
    among = _AMONG.match(left)
    # For example `I cannot decide between Paris and Lyon`.
    if among is not None:
        left = left[among.end() :]
    rest = f" {' '.join(map(stem, words(left)))} "
    return not any(one.padded in rest for one in prepared.references)


def _is_doubted(candidate: Candidate, prepared: Prepared, asked: Question, doubts: frozenset[str]) -> bool:
    """Whether every clause with a reference has a doubt or a condition, and so has one with another name or number."""
    named = [one for one in prepared.references if one.padded in candidate.padded]
    mine = others = 0
    opening = ""
    for clause in clauses_near(candidate.text, named):
        is_doubt = (opening == "if" and "if" in doubts) or any(stem(word) in doubts for word in clause.plain)
        opening = clause.plain[0]
        if any(clause.has(one) for one in named):
            # A reference that is given once without a doubt is given.
            if not is_doubt:
                return False
            mine += 1
        elif is_doubt:
            names = frozenset(stem(word.lower()) for word in clause.names() if word.lower() not in STOP)
            others += not names <= prepared.union | asked.content | DOUBT
    return mine > 0 and others > 0
