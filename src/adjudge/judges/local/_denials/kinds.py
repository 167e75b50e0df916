"""Small kinds of words of which no two mean the same: colours, weekdays, planets, members of a family.

"a blue car" for "a red car"                  another member of the kind in the same place: wrong
"in early fall" for "in early autumn"         the same one
"""

from __future__ import annotations

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import STOP, stem

_LONGEST = 12  # words of a candidate that says one thing
_LOOKED_AT = 20  # references
_KINDS = (
    "red blue green yellow orange purple pink brown black white gray",
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
    "spring summer autumn=fall winter",
    "north south east west northeast northwest southeast southwest",
    "northern southern eastern western",
    "left right",
    "mother=mom father=dad brother sister son daughter uncle aunt cousin nephew niece husband wife"  # noqa: ISC004
    " grandmother=grandma=granny grandfather=grandpa=granddad",
    "man woman", "boy girl", "male female",
    "africa asia europe australia antarctica",
    "mercury venus earth mars jupiter saturn uranus neptune pluto",
    "gold silver copper iron tin zinc aluminum nickel platinum mercury uranium titanium",
    "wood=wooden plastic glass stone paper leather cotton wool=woollen silk rubber",
    "rain snow fog hail drought earthquake",
    "dog cat horse cow pig sheep goat rabbit lion tiger elephant bear wolf fox monkey snake mouse rat",
    "breakfast lunch dinner=supper",
    "morning afternoon night",
    "arm leg", "hand foot", "eye ear nose mouth", "knee elbow shoulder ankle wrist hip",
    "heart liver lung kidney brain stomach",
    "oxygen hydrogen nitrogen helium chlorine neon argon",
    "piano violin guitar trumpet flute cello",
    "apple banana cherry lemon pear peach grape mango",
    "tea coffee milk beer wine juice water",
    "triangle circle square pentagon hexagon octagon",
    "older younger", "oldest youngest", "taller shorter",
)  # fmt: skip
_FAMILY = stem("mother")
_OWNERS = frozenset(("his", "her", "their", "my", "your", "our", "its"))

_ONES: dict[str, dict[int, str]] = {}  # of a stem, the kinds that it is of, and what it is called there
for _at, _kind in enumerate(_KINDS):
    for _member in _kind.split():
        for _word in _member.split("="):
            _ONES.setdefault(stem(_word), {})[_at] = stem(_member.partition("=")[0])
_ALL = frozenset(_ONES)


def member(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    """Name how the one word by which a candidate differs from a reference is of a kind with that word.

    >>> from adjudge.judges.local._reading.candidate import read_question
    >>> from adjudge.judges.local._reading.reference import prepare
    >>> asked, red = read_question("What did he buy?"), prepare(("a red car",))
    >>> [member(asked, red, Candidate(one)) for one in ("a blue car", "a car", "a fast car")]
    ['other-member', None, None]
    """
    if _ALL.isdisjoint(candidate.unique) or _ALL.isdisjoint(prepared.union) or len(candidate.plain) > _LONGEST:
        return None
    content = frozenset(candidate.content)
    unasked = content - asked.content
    found = None
    named = any(one.padded in candidate.padded for one in prepared.references[:_LOOKED_AT])
    for reference in prepared.references[:_LOOKED_AT]:
        if reference.dates or reference.name:
            # `March 2016` for `April 2016`, `South Carolina` for `North Carolina`: others look at these.
            continue
        missing = reference.content - content
        given = [one for one in unasked - reference.content if one not in STOP]
        # The other thing may be one of the question's options.
        extra = given or [one for one in content - reference.content if one in _ALL]
        left = [one for one in missing if one not in asked.content] if len(missing) > 1 else [*missing]
        if len(left) != 1 or len(extra) != 1:
            continue
        relation = _relation(left[0], extra[0])
        if relation:
            return "same-sense"
        if (
            relation is False
            and not named
            and extra[0] not in prepared.union
            and _is_plain(left[0], reference.stems, candidate)
        ):
            found = "other-member"
    return found


def _relation(one: str, other: str) -> bool | None:
    """Return whether two stems are one member of a kind, or (False) two."""
    mine, yours = _ONES.get(one), _ONES.get(other)
    if mine is None or yours is None:
        return None
    shared = mine.keys() & yours.keys()
    return None if not shared else any(mine[at] == yours[at] for at in shared)


def _is_plain(word: str, stems: tuple[str, ...], candidate: Candidate) -> bool:
    """Whether two members cannot be one after all: `her husband` may be `his father`."""
    is_kin = any(at in _ONES[_FAMILY] for at in _ONES[word])
    return not is_kin or _OWNERS.intersection(stems) == _OWNERS.intersection(candidate.plain)
