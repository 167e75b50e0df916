"""Statements that turn round what another one says: by a denial, an opposite or a beginning such as `un-`.

"It isn't open on Sundays."     against "It is open on Sundays.", and the same as "It is closed on Sundays."
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from adjudge.judges.local._denials.opposites import are_opposite, opposites_of
from adjudge.judges.local._denials.senses import PRONOUNS, SIDES, Sense, polar, sense_of, stem_of
from adjudge.judges.local._reading.words import stem, stemmed

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
