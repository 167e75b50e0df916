"""What tier 0 sees of a question, its references and a candidate, as numbers: `NAMES` says which.

`observe` gives them together with the reference that they are about and the signs that rules go by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p

from adjudge.judges.local._candidate import KINDS, Candidate, Question
from adjudge.judges.local._facts import number_standing, span_standing, spans_of
from adjudge.judges.local._reference import Prepared, Reference, trigrams
from adjudge.judges.local._standing import Standing, clash, is_near_name, rivals, standing
from adjudge.judges.local._words import DENIALS, REFUSAL, STOP

Weights = Mapping[str, int]
"""How much a stem says: its inverse document frequency, in hundredths; the empty one stands for all not listed."""

HEDGE = re.compile(
    r"\b(?:perhaps|maybe|possibly|probably|might|could be|may be|may have|likely|unclear|uncertain|either|depends|"
    r"varies|guess|not sure|it seems|i think|i believe|some sources|not specified|no specific|no definitive|debated)\b"
)
_LOOKED_AT = 50  # references whose numbers and dates are compared

NAMES = (
    "exact", "contained", "contained_share", "bare", "full", "full_share", "found_size", "reverse", "recall",
    "new_recall", "mean_recall", "f1", "fuzzy", "trigram", "last", "missing", "missing_weight", "missing_asked",
    "shared", "shared_weight", "shared_asked", "in_first", "bigrams", "acronym", "glued", "size", "sentences",
    "references", "shortest", "longest", "best_size", "best_content", "size_ratio", "asked_size", "asked_precision",
    "asked_recall", "novel", "foreign", "foreign_share", "foreign_mean", "capitals", "rivals", "own_items", "clash",
    "near_name", "gold_numbers", "gold_numeric", "number_match", "number_clash", "numbers", "date_match",
    "date_coarser", "date_clash", "refusal", "hedges", "denials", "denial_mismatch", "denial_gold", "negated", "hedged",
    "members", *(f"asks_{kind}" for kind in KINDS),
)  # fmt: skip
"""The names of the features, in their order."""


@dataclass(slots=True)
class Seen:
    """What was seen: the numbers, the reference that is nearest, and what rules go by."""

    values: list[float]
    best: Reference | None
    contained: bool
    complete: bool  # every word of some reference is there
    standing: Standing
    numbers: str
    dates: str
    refuses: bool
    novel: int
    rivals: int
    own_items: int
    number_match: bool
    acronym: bool
    is_part: bool  # the candidate is the better part of a reference
    members: float
    near_name: bool


@dataclass(slots=True)
class _Overlap:
    """How the references are found in a candidate, over all of them."""

    best: Reference | None = None
    recall: float = 0.0
    new: float = 0.0
    f1: float = 0.0
    total: float = 0.0
    exact: bool = False
    contained: int = 0
    bare: int = 0
    full: int = 0
    whole: bool = False  # all of a reference of several words
    size: int = 0
    reverse: float = 0.0
    standing: Standing | None = None


def _overlap(asked: Question, prepared: Prepared, candidate: Candidate, weights: Weights) -> _Overlap:
    unique, padded, bare = candidate.unique, candidate.padded, candidate.bare
    most = weights[""]
    found = _Overlap()
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


def observe(asked: Question, prepared: Prepared, candidate: Candidate, weights: Weights) -> Seen:
    """Look at a candidate."""
    found = _overlap(asked, prepared, candidate, weights)
    best = found.best
    content = best.content if best is not None else frozenset()
    unique = candidate.unique
    most = weights[""]
    shared, missing = content & unique, content - unique
    count = max(1, len(prepared.references))
    size = len(candidate.plain)
    is_found = found.contained + found.bare > 0
    novel = [one for one in candidate.content if one not in asked.content]
    foreign = {one for one in novel if one not in prepared.union}
    foreign_weight = sum([weights.get(one, most) for one in foreign])
    novel_weight = sum([weights.get(one, most) for one in set(novel)])
    beside = clash(best, candidate.content, prepared, asked) if best is not None and missing else None
    numbers, number_match = _numbers(best, prepared, candidate)
    dates = _dates(prepared, candidate)
    foreign_items, own_items = rivals(candidate, prepared, asked)
    close = _close_ones(missing, candidate)
    denials = sum([word in DENIALS for word in candidate.plain])
    refuses = REFUSAL.search(candidate.lowered) is not None
    denies = best is not None and best.denies
    stands = found.standing or Standing.GIVEN
    near_name = (
        not found.whole and not prepared.explains and is_near_name(prepared, candidate, asked, has_part=found.full > 0)
    )
    acronym, members = _acronym(prepared, candidate), _members(best, unique)
    best_size = len(best.stems) if best is not None else 0
    values = [
        float(found.exact),
        float(found.contained > 0),
        found.contained / count,
        float(is_found),
        float(found.full > 0),
        found.full / count,
        float(found.size),
        found.reverse,
        found.recall,
        found.new,
        found.total / count,
        found.f1,
        (len(shared) + close) / max(1, len(content)),
        1.0 if is_found else _trigram(best, candidate, is_spelt=close > 0),
        float(best is not None and bool(best.stems) and best.stems[-1] in unique),
        float(len(missing)),
        sum([weights.get(word, most) for word in missing]),
        float(len(missing & asked.content)),
        float(len(shared)),
        sum([weights.get(word, most) for word in shared]),
        float(len(shared & asked.content)),
        len(content & candidate.first) / max(1, len(content)),
        _bigrams(best, candidate),
        acronym,
        float(is_found or _is_glued(prepared, candidate)),
        log1p(size),
        float(candidate.sentences),
        log1p(prepared.given),
        float(prepared.shortest),
        float(min(prepared.longest, 60)),
        float(best_size),
        float(len(content)),
        min(8.0, size / max(1, best_size)),
        log1p(asked.size),
        1 - len(novel) / max(1, len(candidate.content)),
        len(asked.content & unique) / max(1, len(asked.content)),
        float(min(len(novel), 100)),
        float(min(len(foreign), 100)),
        foreign_weight / novel_weight if novel_weight else 0.0,
        foreign_weight / max(1, len(foreign)),
        float(_strangers(candidate, asked, prepared)),
        float(min(foreign_items, 12)),
        float(min(own_items, 12)),
        float(weights.get(beside, most)) if beside is not None else 0.0,
        float(near_name),
        float(len(best.numbers)) if best is not None else 0.0,
        float(best is not None and best.is_number),
        float(number_match),
        float(numbers in ("clash", "missing")),
        float(min(len(candidate.numbers), 10)),
        float(dates == "match"),
        float(dates == "coarser"),
        float(dates == "clash"),
        float(refuses),
        float(min(3, len(HEDGE.findall(candidate.lowered)))),
        float(min(denials, 4)),
        float((denials > 0) != denies),
        float(denies),
        float(stands is Standing.NEGATED),
        float(stands is Standing.HEDGED),
        members,
        *(float(asked.kind == at) for at in range(len(KINDS))),
    ]
    return Seen(
        values,
        best,
        found.contained > 0,
        found.full > 0,
        stands,
        numbers,
        dates,
        refuses,
        len(novel),
        foreign_items,
        own_items,
        number_match,
        acronym > 0,
        found.reverse >= 0.5,
        members,
        near_name,
    )


def _numbers(best: Reference | None, prepared: Prepared, candidate: Candidate) -> tuple[str, bool]:
    """Say how the nearest reference's numbers stand, and whether those of any are there."""
    given = candidate.numbers
    if best is None:
        return "none", False
    mine = number_standing(best.numbers, given)
    if mine in ("match", "rounded"):
        return mine, True
    any_match = given and any(
        one.numbers and number_standing(one.numbers, given) in ("match", "rounded")
        for one in prepared.references[:_LOOKED_AT]
    )
    return mine, bool(any_match)


def _dates(prepared: Prepared, candidate: Candidate) -> str:
    """Say how the references' dates stand: the best of them counts."""
    dated = [one for one in prepared.references[:_LOOKED_AT] if one.dates or one.spans]
    if not dated:
        return "none"
    given, spans = candidate.dates, spans_of(candidate.plain, candidate.text)
    standings = {span_standing(one.dates, one.spans, given, spans) for one in dated}
    return next((one for one in ("match", "coarser", "clash", "missing") if one in standings), "none")


def _close_ones(missing: frozenset[str], candidate: Candidate) -> int:
    """Count the missing words of which the candidate has a close spelling."""
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


def _trigram(best: Reference | None, candidate: Candidate, *, is_spelt: bool) -> float:
    """Return how much of a reference's letters is there; `is_spelt` where its words are, in a close spelling."""
    if best is None or not best.trigrams:
        return 0.0
    given = trigrams(candidate.padded[:400])
    shared = len(best.trigrams & given)
    if len(candidate.stems) <= len(best.stems) + 2:
        alike = 2 * shared / (len(best.trigrams) + len(given))
        return alike if len(best.stems) > 1 or is_spelt else min(alike, 0.5)  # another word may begin alike
    return shared / len(best.trigrams)


def _bigrams(best: Reference | None, candidate: Candidate) -> float:
    if best is None:
        return 0.0
    if len(best.stems) < 2:
        return float(not best.content.isdisjoint(candidate.unique))
    pairs = list(zip(best.stems, best.stems[1:], strict=False))
    padded = candidate.padded
    return sum([f" {one} {other} " in padded for one, other in pairs[:60]]) / len(pairs[:60])


def _acronym(prepared: Prepared, candidate: Candidate) -> float:
    """1 where one side has the initials of the other."""
    plain = candidate.plain
    initials = "".join([word[0] for word in plain if word not in STOP]) if 1 < len(plain) <= 8 else ""
    for reference in prepared.references:
        if reference.initials and reference.initials in candidate.unique:
            return 1.0
        if len(initials) > 1 and len(reference.stems) == 1 and reference.stems[0] == initials:
            return 1.0
    return 0.0


def _is_glued(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a reference of several words is there without its blanks, or with figures stuck to its end."""
    joined = candidate.joined
    return any(
        len(one.stems) > 1 and len(one.padded) > 9 and one.padded.replace(" ", "") in joined
        for one in prepared.references[:_LOOKED_AT]
    )


def _members(best: Reference | None, unique: frozenset[str]) -> float:
    """Return the share of a list's members that are there; 1 for what is no list."""
    if best is None or not best.members:
        return 1.0
    return sum([not member.isdisjoint(unique) for member in best.members]) / len(best.members)


def _strangers(candidate: Candidate, asked: Question, prepared: Prepared) -> int:
    """Count capitalised words that neither the question nor a reference has."""
    found = candidate.capitals()
    return min(20, sum([one not in asked.content and one not in prepared.union and one not in STOP for one in found]))
