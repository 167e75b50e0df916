"""What a short statement says: its words, on which side of a pair of opposites they are, its denials, its yes or no.

"It did not reduce symptoms."     reduce symptoms, denied once
"It isn't open on Sundays."       against "It is open on Sundays.", and the same as "It is closed on Sundays."
"Indeed.", "It does."             yes
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from adjudge.judges.local._limits import REFERENCES, STATEMENT
from adjudge.judges.local._opposites import are_opposite, opposites_of
from adjudge.judges.local._pair import Candidate, Decision, Prepared, Question
from adjudge.judges.local._words import ARTICLES, DENIALS, NOT, STOP, VERBS, presents, stem, stemmed, words

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
    found = (sense_of(text) for text in texts[:REFERENCES] if len(text) <= _MOST and _NAME.fullmatch(text) is None)
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
    if len(plain) > STATEMENT or not _OPEN.isdisjoint(plain) or not (plain or lead):
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


_TRUE = stem("true")
_BEGINNINGS = ("un", "in", "im", "il", "ir", "dis", "non")
_NO_OPPOSITES = stemmed("flammable valuable famous habitable different tense press port form side come crease")
_FEW = 4  # references of which each is the whole answer: more of an explanation may be parts of it
_PAIRS = 2  # words that the other statement and the question lack, and that may be opposites
_LEAST = 3  # letters after such a beginning


def compare(one: Sense, other: Sense) -> tuple[int, bool, set[str], set[str]]:
    """Return how often the other statement is turned against one, whether by more than a denial undoes, and the rest.

    The rest is what only one of them has, and what only the other has.
    """
    turns, is_far = abs(one.denials - other.denials), False
    missing, extra = one.roots.keys() - other.roots.keys(), other.roots.keys() - one.roots.keys()
    for root in one.roots.keys() & other.roots.keys():
        if one.roots[root] != other.roots[root]:
            turns += 1
            is_far = is_far or any(SIDES[word][2] for word in one.stems if word in SIDES and SIDES[word][0] == root)
    for mine in sorted(missing) if extra else ():
        for yours in sorted(extra):
            if mine[-_LEAST:] != yours[-_LEAST:] and not opposites_of(mine) and mine[:_LEAST] != yours[:_LEAST]:
                continue
            is_begun = _is_begun(mine, yours) or _is_begun(yours, mine)
            if is_begun or are_opposite(mine, yours):
                turns, is_far = turns + 1, is_far or not is_begun
                missing.discard(mine)
                extra.discard(yours)
                break
    return turns, is_far, missing, extra


def _is_begun(one: str, other: str) -> bool:
    """Whether one word is the other with a beginning that denies it, or ends in `less` for `ful`."""
    if one.endswith("less") and len(one) > 6 and other in (f"{one[:-4]}ful", one[:-4]):
        return True
    if len(one) - len(other) not in (2, 3) or not one.endswith(other):
        return False
    return one.startswith(_BEGINNINGS) and len(other) >= _LEAST and other not in _NO_OPPOSITES


def turned(question: str, asked: frozenset[str], references: Sequence[Sense], candidate: str) -> str | None:
    """Name how a short statement relates to the references: it has their sense, denies it, or says yes or no.

    `asked` are the stems of the question: they may occur in either, or not.

    >>> shut = (sense_of("It is closed at noon."),)
    >>> asked = frozenset(("open", "noon"))
    >>> [turned("Is it open at noon?", asked, shut, one) for one in ("It isn't open.", "It isn't closed.", "Yes.")]
    ['same-sense', 'negated', 'other-yes-no']
    """
    given = sense_of(candidate)
    if given is None:
        return None
    if not given.roots:
        return _by_question(question, references, given)
    asked = _roots_of(asked)
    found = [_relation(one, given, asked) for one in references]
    if "same" in found:
        return None
    if "same-sense" in found:
        return "same-sense" if len(references) <= _FEW else None
    lead = references[0].lead if references else None
    if lead is not None and given.lead is None and all(one.lead == lead for one in references):
        said = says(question, given)
        return None if said is None else "yes-no" if said == lead else "other-yes-no"
    turning = {one.denials: relation for one, relation in zip(references, found, strict=True) if relation}
    others = (one for one in references if one.denials not in turning)
    is_plain = len(turning) == 1 and all(one.roots.keys() & given.roots.keys() <= asked for one in others)
    return next(iter(turning.values())) if is_plain else None


@lru_cache(maxsize=2048)
def _roots_of(asked: frozenset[str]) -> frozenset[str]:
    """Return stems with the roots that they are read as."""
    return asked.union([stem_of(one) for one in asked], [SIDES[one][0] for one in asked if one in SIDES])


def _relation(gold: Sense, given: Sense, asked: frozenset[str]) -> str | None:
    """Name how a statement relates to a reference's."""
    unknown = given.roots.keys() - gold.roots.keys() - asked
    if len(unknown) > _PAIRS or gold.denials > 1 or given.denials > 1:
        return None
    turns, is_far, missing, extra = compare(gold, given)
    if len(gold.roots) == len(missing) or not extra <= asked:
        return None
    if turns % 2:
        return None if len(missing - asked) > 1 else "opposite" if gold.denials == given.denials else "negated"
    if is_far or not missing <= asked or 2 * len(missing) > len(gold.roots) or given.lead not in (None, gold.lead):
        return None
    order = [root for root in gold.roots if root in given.roots]
    if order != [root for root in given.roots if root in gold.roots]:
        return None
    is_plain = turns or gold.denials or gold.lead or gold.stems - given.stems - asked or given.stems <= SIDES.keys()
    return "same-sense" if is_plain else "same"


def _by_question(question: str, references: Sequence[Sense], given: Sense) -> str | None:
    """Judge a bare yes or no (`No.`, `It did not.`) by what the references say to the question."""
    said = "no" if given.denials else "yes"
    if given.subject and (given.subject not in PRONOUNS or given.lead not in (None, said)):
        # For example `Yes. No.`
        return None
    said = given.lead or said
    wanted = {one.lead or says(question, one) for one in references} - {None}
    return None if len(wanted) != 1 else "yes-no" if wanted == {said} else "other-yes-no"


def says(question: str, given: Sense) -> str | None:
    """Return the yes or no that a statement says to a question, if that asks for one.

    >>> [says("Is the shop open on Sundays?", sense_of(one)) for one in ("It is closed.", "It is not closed.")]
    ['no', 'yes']
    """
    if given.roots.keys() == {_TRUE} and given.denials <= 1:
        return "no" if given.roots[_TRUE] != given.denials else "yes"
    asked = polar(question)
    if asked is None or given.denials > 1:
        return None
    turns, is_far, missing, extra = compare(asked, given)
    kept = [root for root in asked.roots if root not in missing]
    # For example `The drug.`
    is_named = kept[:2] == [*asked.roots][:1] != [*asked.roots] and given.subject not in PRONOUNS
    if (
        extra
        or not kept
        or is_named
        or not given.is_said
        or (len(missing) > 1 and given.subject in PRONOUNS and kept[0] in asked.hung)
    ):
        return None
    if turns % 2:
        return "no"
    return None if is_far else "yes"


_YES = frozenset(("yes", "yeah", "yep", "yup", "true", "correct", "indeed", "affirmative", "certainly", "absolutely"))
_NO = frozenset(("no", "nope", "nah", "false", "incorrect", "negative", "not", "never"))
_EITHER_WAY = frozenset(map(stem, _YES | _NO))
_JOINTS = frozenset("and or but maybe perhaps actually wait well either both rather also then".split())
_IT_DOES = re.compile(
    r"(?:^|[,;:.!?]\s+|\bcourse\s|\bsure\s)(?:it|they|he|she|you|we|there|that|this|these|those)\s"
    r"(?:(?:certainly|indeed|really|surely|definitely|actually|always)\s)?"
    r"(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should|must)\s*(?:$|[,.;!?]|though\b|but\b)",
    re.IGNORECASE,
)
_UNTRUE = re.compile(r"\b(?:(?:not|isn['’]?t|wasn['’]?t) (?:true|correct)|untrue)\b", re.IGNORECASE)


def polarity(question: str, text: str) -> str | None:
    """Return the yes or no that a text begins with, that it says to the question, or the only one that it has."""
    plain = words(text)
    if _is_torn(plain):
        return None
    if plain and (plain[0] in _YES or plain[0] in _NO):
        return "yes" if plain[0] in _YES else "no"
    sense = sense_of(text) if len(plain) <= STATEMENT else None
    said = None if sense is None else says(question, sense)
    if said is not None:
        return said
    if _UNTRUE.search(text):
        return "no"
    if _IT_DOES.search(text):
        return "yes"
    found = {"yes" if word in _YES else "no" for word in plain[:200] if word in _YES or word in _NO or word in NOT}
    return found.pop() if len(found) == 1 else None


def wanted_polarity(prepared: Prepared) -> str | None:
    """Return yes or no where that, or true or false, is the accepted answer, and no other word is."""
    accepted = {one.lead for one in prepared.facet(senses_of) if one.lead and not one.roots}
    if len(accepted) != 1 or len(prepared.references) > 4:
        return None
    singles = {reference.stems[0] for reference in prepared.references if len(reference.stems) == 1}
    return accepted.pop() if singles <= _EITHER_WAY else None


def _is_torn(plain: Sequence[str]) -> bool:
    """Whether a text is made of yes and no, both of them."""
    said = [word for word in plain if word in _YES or word in _NO]
    others = [word for word in plain if word not in _YES and word not in _NO and word not in _JOINTS]
    return not others and len({word in _YES for word in said}) == 2


def by_sense(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge a short statement that turns what a reference says round."""
    # A long statement says more than one thing: turning one of them round decides nothing.
    if len(candidate.plain) > STATEMENT:
        return None
    found = None
    is_said = prepared.facet(senses_of) and len(candidate.numbers) < len(candidate.content)
    is_open = is_said and not asked.denies and wanted_polarity(prepared) is None
    if is_open and all(one.padded != candidate.padded for one in prepared.references):
        found = turned(question, asked.content, prepared.facet(senses_of), candidate.text)
    if found is None:
        return None
    return found in ("same-sense", "yes-no"), "yes-no" if found == "other-yes-no" else found
