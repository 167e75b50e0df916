"""How near a candidate is to the references, measure by measure: words, letters, numbers, dates, members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adjudge.judges.local._clauses import Standing, standing
from adjudge.judges.local._facts import number_standing, span_standing, spans_of
from adjudge.judges.local._limits import REFERENCES
from adjudge.judges.local._pair import Candidate, Prepared, Question, Reference
from adjudge.judges.local._words import STOP

Weights = Mapping[str, int]
"""How much a stem says: its inverse document frequency, in hundredths; the empty one is for all that are not listed."""

_SPOKEN = 30  # words among which those may be that a reference abbreviates


@dataclass(slots=True)
class Overlap:
    """How the references are found in a candidate, over all of them."""

    best: Reference | None = None
    recall: float = 0.0
    new: float = 0.0
    f1: float = 0.0
    total: float = 0.0
    exact: bool = False
    contained: int = 0
    bare: int = 0
    is_found: bool = False  # one is there word for word, perhaps but for small ones
    full: int = 0
    whole: bool = False  # all of a reference of several words
    size: int = 0
    reverse: float = 0.0
    standing: Standing | None = None


@dataclass(slots=True)
class Seen:
    """What was seen: the reference that is nearest, what rules go by, and the numbers."""

    best: Reference | None
    contained: bool
    complete: bool  # every word of some reference is there
    standing: Standing
    numbers: str
    dates: str
    refuses: bool
    rivals: int
    own_items: int
    number_match: bool
    acronym: bool
    is_part: bool  # the candidate is the better part of a reference
    members: float
    near_name: bool
    stated: tuple[tuple[int, int], ...]  # where a longer candidate states the number of a reference in other words
    values: list[float] = field(default_factory=list)  # the features


def overlap(asked: Question, prepared: Prepared, candidate: Candidate, weights: Weights) -> Overlap:
    unique, padded, bare = candidate.unique, candidate.padded, candidate.bare
    most = weights[""]
    found = Overlap()
    best = (-1.0, -1.0, -1.0)
    for reference in prepared.references:
        content = reference.content
        shared = content & unique
        count = len(shared)
        if count == len(content):
            found.full += 1
            found.whole = found.whole or count > 1
            recall = new = 1.0
        elif count:
            recall, new = _recall(content, shared, asked, weights, most)
        else:
            recall = new = 0.0
            if found.best is not None and padded not in reference.padded:
                continue
        if reference.padded in padded:
            found.contained += 1
            found.size = max(found.size, len(reference.stems))
            found.exact = found.exact or reference.padded == padded
            if found.standing is not Standing.GIVEN:
                stands = standing(reference, candidate, asked, prepared.union)
                found.standing = stands if found.standing is None or stands is Standing.GIVEN else found.standing
        elif reference.bare in bare:
            found.bare += 1
            found.size = max(found.size, len(content))
        elif candidate.stems and padded in reference.padded:
            found.reverse = max(found.reverse, len(candidate.stems) / len(reference.stems))
        found.total += recall
        f1 = 2 * count / (len(content) + len(unique)) if count else 0.0
        found.f1 = max(found.f1, f1)
        if (new, recall, f1) > best:
            best, found.best = (new, recall, f1), reference
    found.is_found = found.contained + found.bare > 0
    found.new, found.recall = max(best[0], 0.0), max(best[1], 0.0)
    return found


def _recall(
    content: frozenset[str], shared: frozenset[str], asked: Question, weights: Weights, most: int
) -> tuple[float, float]:
    """Return the weighted share of a reference's words that is there: of all, and of those that the question lacks."""
    total = got = new_total = new_got = 0.0
    for word in content:
        weight = weights.get(word, most)
        total += weight
        hit = word in shared
        if hit:
            got += weight
        if word not in asked.content:
            new_total += weight
            if hit:
                new_got += weight
    recall = got / total if total else 0.0
    return recall, new_got / new_total if new_total else recall


def numbers_in(best: Reference | None, prepared: Prepared, candidate: Candidate) -> tuple[str, bool]:
    """Say how the nearest reference's numbers stand, and whether those of any are there."""
    given = candidate.numbers
    if best is None:
        return "none", False
    mine = _standing(best, given)
    if mine in ("match", "rounded"):
        return mine, True
    return mine, gives_number(prepared, candidate)


def gives_number(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the numbers of some reference are there, perhaps rounded."""
    given = candidate.numbers
    return bool(given) and any(
        one.numbers and _standing(one, given) in ("match", "rounded") for one in prepared.references[:REFERENCES]
    )


def _standing(reference: Reference, given: Mapping[float, str]) -> str:
    """Say how a reference's numbers stand; any number of a range is meant by it, `1914-18` is from 1914 to 1918."""
    if reference.range is not None and any(reference.range[0] <= one <= reference.range[1] for one in given):
        return "match"
    if reference.spans and any(first in given and last in given for first, last in reference.spans):
        return "match"
    return number_standing(reference.numbers, given)


def dates_in(prepared: Prepared, candidate: Candidate) -> str:
    """Say how the references' dates stand: the best of them counts."""
    dated = [one for one in prepared.references[:REFERENCES] if one.dates or one.spans]
    if not dated:
        return "none"
    given, spans = candidate.dates, spans_of(candidate.plain, candidate.text)
    standings = {span_standing(one.dates, one.spans, given, spans) for one in dated}
    return next((one for one in ("match", "coarser", "clash", "missing") if one in standings), "none")


def close_ones(missing: frozenset[str], candidate: Candidate) -> int:
    """Count the missing words of which the candidate has a close spelling."""
    # Every missing word is compared with every word of the candidate.
    if not missing or len(missing) > 8:
        return 0
    wanted = [word for word in missing if len(word) > 3 and word.isalpha()]
    if not wanted:
        return 0
    longer = [word for word in candidate.unique if len(word) > 3]
    return sum(any(other[0] == word[0] and is_close(word, other) for other in longer) for word in wanted)


def is_close(word: str, other: str) -> bool:
    """Return whether two words differ in a letter or two in one place, or begin alike.

    >>> is_close("shakespear", "shakspear"), is_close("environment", "environmental"), is_close("paris", "parisian")
    (True, True, False)
    """
    longer = max(len(word), len(other))
    # Short words differ from many others in a single letter.
    if longer < 6 or longer - min(len(word), len(other)) > 3:
        return False
    head = 0
    for mine, yours in zip(word, other, strict=False):
        if mine != yours:
            break
        head += 1
    tail = 0
    for mine, yours in zip(reversed(word), reversed(other), strict=False):
        if mine != yours:
            break
        tail += 1
    return head + tail >= longer - (1 if longer < 9 else 2) or head >= max(6, longer - 3)


def trigram(best: Reference | None, candidate: Candidate, *, is_spelt: bool) -> float:
    """Return how much of a reference's letters is there; `is_spelt` where its words are, in a close spelling."""
    if best is None:
        return 0.0
    wanted, given = _trigrams(best.padded[:301].rstrip() + " "), candidate.padded[:400]
    shared = sum([one in given for one in wanted])
    if len(candidate.stems) <= len(best.stems) + 2:
        alike = 2 * shared / (len(wanted) + len(_trigrams(given)))
        # A single word is weak evidence: another word may begin alike.
        return alike if len(best.stems) > 1 or is_spelt else min(alike, 0.5)
    return shared / len(wanted)


def _trigrams(text: str) -> frozenset[str]:
    """Return all runs of three characters; of a shorter text, itself."""
    return frozenset([text[at : at + 3] for at in range(max(1, len(text) - 2))])


def bigrams(best: Reference | None, candidate: Candidate) -> float:
    if best is None:
        return 0.0
    if len(best.stems) < 2:
        return float(not best.content.isdisjoint(candidate.unique))
    pairs = list(zip(best.stems, best.stems[1:], strict=False))
    padded = candidate.padded
    return sum([f" {one} {other} " in padded for one, other in pairs[:60]]) / len(pairs[:60])


def has_acronym(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether one side has the initials of the other."""
    plain = candidate.plain
    # A long text has any initials somewhere.
    initials = "".join([word[0] for word in plain if word not in STOP]) if 1 < len(plain) <= _SPOKEN else ""
    for reference in prepared.references:
        if reference.initials and reference.initials in candidate.unique:
            return True
        if len(initials) > 1 and len(reference.stems) == 1:
            short = reference.stems[0]
            if short == initials or (2 < len(short) <= 6 and short in initials):
                return True
    return False


def is_glued(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a reference of several words is there without its blanks, or with figures stuck to its end."""
    joined = candidate.joined
    return any(
        len(one.stems) > 1 and len(one.padded) > 9 and one.padded.replace(" ", "") in joined
        for one in prepared.references[:REFERENCES]
    )


def members_in(best: Reference | None, unique: frozenset[str]) -> float:
    """Return the share of a list's members that are there; 1 for what is not a list."""
    if best is None or not best.members:
        return 1.0
    return sum([not member.isdisjoint(unique) for member in best.members]) / len(best.members)


def strangers(candidate: Candidate, asked: Question, prepared: Prepared) -> int:
    """Count capitalised words that neither the question nor a reference has."""
    found = candidate.capitals()
    return min(20, sum([one not in asked.content and one not in prepared.union and one not in STOP for one in found]))


def rivals(candidate: Candidate, prepared: Prepared, asked: Question) -> tuple[int, int]:
    """Count the members of an enumeration: those foreign to question and references, and those of a reference."""
    foreign = own = 0
    for item in candidate.items():
        new = [word for word in item if word not in asked.content]
        if not new:
            continue
        if prepared.union.isdisjoint(new):
            foreign += 1
        else:
            own += 1
    return foreign, own


def clash(reference: Reference, content: Sequence[str], prepared: Prepared, asked: Question) -> str | None:
    """Return the foreign word beside a part of a reference, if any."""
    if not 2 <= len(reference.content) <= 4:
        return None
    for at, word in enumerate(content):
        if word in reference.content and word not in asked.content:
            for near in (content[at - 1] if at else "", content[at + 1] if at + 1 < len(content) else ""):
                if near and near not in prepared.union and near not in asked.content:
                    return near
    return None
