"""What a short statement says: its words, on which side of a pair of opposites they are, and its denials.

"It did not reduce symptoms."   reduce symptoms, denied once
"It is closed on Sundays."      open Sundays, on the other side
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from adjudge.judges.local._reading.words import ARTICLES, DENIALS, STOP, VERBS, presents, stem, words

LONGEST = 14
"""Words of a statement that says one thing."""

YES = "yes|yeah|yep|yup|true|correct"
"""What says yes before a statement, as a pattern."""

_LEAD = re.compile(
    rf"\W*(?P<lead>{YES}|no|nope|nah|false|incorrect)\b(?=\s*(?:[,.;:!–—-]|$)|\s(?:it|he|she|they|there|that|this)\b)"
    r"[\s,.;:!–—-]*",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_a-z][\w.'’-]*(?: (?:(?:of|the|and|de|van|von|la) )*[^\Wa-z][\w.'’-]*)+")
_PARTED = re.compile(r"[,;:?!()]|\.\s|\s[-–—]+\s|\n")
_POLAR = re.compile(
    r"(?:(?:true or false|is it true that|is it correct that)\b[\s:,–—-]*|(?:and|so|but|then),? )?"
    r"(?P<verb>(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|must)\b)?",
    re.IGNORECASE,
)
_OPEN = frozenset(
    "or but if whether although though unless except until only just merely simply doubt doubtful maybe perhaps may"
    " might could would should sure other while whereas nor neither almost nearly hardly barely always".split()
)  # with these, a statement does not plainly say or deny what its other words say
_PLACES = frozenset("of in on at to for from by with as than into about".split())
PRONOUNS = frozenset("it he she they there that this these those its theyre hes shes".split())
"""Words that stand for what was named."""

_FAIL = frozenset(("fail", "fails", "failed", "failing"))
_LOOKED_AT = 20  # references
_MOST = 120  # characters of one

# Two sides each: a denial of the one is the other, or (`_FAR`) may be something between them.
_NEAR = (
    ("open", "close shut"),
    ("pass succeed successful", "fail unsuccessful"),
    ("guilty convicted", "innocent acquitted"),
    ("alive living", "dead"),
    ("true correct", "false untrue incorrect wrong"),
    ("present", "absent"),
    ("same identical", "different differ"),
    ("allowed permitted", "forbidden prohibited banned"),
    ("soluble dissolve", ""),
)
_FAR = (
    (
        "up rise rose risen increase grow grew grown climb",
        "down fall fell fallen decrease decline drop shrink shrank shrunk reduce",
    ),
    ("more", "less fewer"),
    ("before", "after"),
    ("win won", "lose lost"),
    ("attract", "repel"),
)
SIDES = {
    stem(word): (stem(sides[0].split()[0]), side, sides in _FAR)
    for sides in (*_NEAR, *_FAR)
    for side, group in enumerate(sides)
    for word in group.split()
}
"""Of a stem: its root, the side of it, and whether there is something between the sides."""

_TURNING = {"most", "over", "under"} | {word for sides in (*_NEAR, *_FAR) for side in sides for word in side.split()}
_SMALL = (STOP - _TURNING) | frozenset(
    "go goes going gone went get gets got getting become becomes became really indeed actually ever statistically"
    " statement answer".split()
)


@dataclass(frozen=True, slots=True)
class Sense:
    """What a statement says: its words by the side that they are on, and the denials in it."""

    roots: dict[str, int]  # to the side of each: 1 where the word is the opposite of its root
    stems: frozenset[str]  # the words that were read as those
    denials: int
    lead: str | None  # the yes or no before it
    subject: str  # the first word
    hung: frozenset[str]  # roots after a preposition
    is_said: bool  # it has a verb, or may have one after `it`


def senses_of(texts: Sequence[str]) -> tuple[Sense, ...]:
    """Return what references say, of those that are short statements or phrases and no names."""
    found = (sense_of(text) for text in texts[:_LOOKED_AT] if len(text) <= _MOST and _NAME.fullmatch(text) is None)
    return tuple({(tuple(one.roots.items()), one.denials, one.lead): one for one in found if one is not None}.values())


def sense_of(text: str) -> Sense | None:
    """Return what a short text says, if it says one thing plainly.

    >>> sense = sense_of("No, it isn't open.")
    >>> sense.roots, sense.denials, sense.lead, sense.subject
    ({'open': 0}, 1, 'no', 'it')
    >>> sense_of("It may be open.") is None
    True
    """
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead else text
    if _PARTED.search(rest.rstrip(" .!\n")):
        return None
    plain = words(rest)
    if len(plain) > LONGEST or not _OPEN.isdisjoint(plain) or not (plain or lead):
        return None
    roots: dict[str, int] = {}
    stems, hung, denials, last = set(), set(), 0, ""
    for at, word in enumerate(plain):
        if word in DENIALS or word == "non" or (word in _FAIL and plain[at + 1 : at + 2] == ["to"]):
            denials += 1
        elif word not in _SMALL and not (word == "longer" and last == "no"):
            one = stem_of(word)
            root, side, _ = SIDES.get(one, (one, 0, False))
            if roots.setdefault(root, side) != side:
                # For example `up and down`.
                return None
            stems.add(one)
            if last in _PLACES:
                hung.add(root)
        last = last if word in ARTICLES else word
    said = None if lead is None else "yes" if re.fullmatch(YES, lead["lead"].lower()) else "no"
    return Sense(roots, frozenset(stems), denials, said, plain[0] if plain else "", frozenset(hung), _is_said(plain))


def _is_said(plain: Sequence[str]) -> bool:
    return plain[:1] != [] and (
        plain[0] in PRONOUNS
        or any(one in VERBS or one in presents() or one in DENIALS or one.endswith("ed") for one in plain)
    )


def stem_of(word: str) -> str:
    """Return the stem of a word, of a past that of its verb: `disagree` of `disagreed`."""
    verbs = presents()
    if word in verbs:
        return stem(verbs[word])
    for beginning in ("un", "dis"):
        verb = verbs.get(word.removeprefix(beginning)) if word.startswith(beginning) else None
        if verb is not None:
            return beginning + stem(verb)
    return stem(word)


@lru_cache(maxsize=2048)
def polar(question: str) -> Sense | None:
    """Return what a question asks to be affirmed or denied, if that is what it asks.

    >>> polar("Did it rise?") == sense_of("it rise"), polar("When did it rise?"), polar("Did it rise or fall?")
    (True, None, None)
    """
    opening = _POLAR.match(question)
    if opening is None or not opening[0] or len(question) > 300:
        return None
    sense = sense_of(question[opening.end() :].strip(" ?.\n")) if opening["verb"] or ":" in opening[0] else None
    return None if sense is None or sense.denials or sense.lead else sense
