"""What tier 0 sees of a question, its references and a candidate, as numbers: `NAMES` says which.

`observe` gives them together with the reference that they are about and the signs that rules go by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log1p

from adjudge.judges.local._names.namesakes import is_near_name
from adjudge.judges.local._names.standing import Standing
from adjudge.judges.local._nearness import (
    Weights,
    acronym_in,
    bigrams,
    clash,
    close_ones,
    dates_in,
    is_glued,
    members_in,
    numbers_in,
    overlap,
    rivals,
    strangers,
    trigram,
)
from adjudge.judges.local._reading.candidate import KINDS, Candidate, Question
from adjudge.judges.local._reading.reference import Prepared, Reference
from adjudge.judges.local._reading.words import DENIALS, REFUSAL

HEDGE = re.compile(
    r"\b(?:perhaps|maybe|possibly|probably|might|could be|may be|may have|likely|unclear|uncertain|either|depends|"
    r"varies|guess|not sure|it seems|i think|i believe|some sources|not specified|no specific|no definitive|debated)\b"
)
# Words of which every hedge, every refusal has one: a look at them is cheaper than a search.
_HEDGING = frozenset(
    "perhaps maybe possibly probably might could may likely unclear uncertain either depends varies guess sure seems"
    " think believe sources specified specific definitive debated".split()
)
_REFUSING = frozenset("i im ai no enough unable unanswerable unclear clear more additional provide".split())
_ASKS = {kind: tuple(float(kind == one) for one in KINDS) for kind in (None, *KINDS)}

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


def observe(asked: Question, prepared: Prepared, candidate: Candidate, weights: Weights) -> Seen:
    """Look at a candidate."""
    found = overlap(asked, prepared, candidate, weights)
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
    numbers, number_match = numbers_in(best, prepared, candidate)
    dates = dates_in(prepared, candidate)
    foreign_items, own_items = rivals(candidate, prepared, asked)
    close = close_ones(missing, candidate)
    denials = 0 if DENIALS.isdisjoint(candidate.plain) else sum([word in DENIALS for word in candidate.plain])
    refuses = not _REFUSING.isdisjoint(candidate.plain) and REFUSAL.search(candidate.lowered) is not None
    hedges = 0 if _HEDGING.isdisjoint(candidate.plain) else len(HEDGE.findall(candidate.lowered))
    denies = best is not None and best.denies
    stands = found.standing or Standing.GIVEN
    near_name = (
        not found.whole and not prepared.explains and is_near_name(prepared, candidate, asked, has_part=found.full > 0)
    )
    acronym, members = acronym_in(prepared, candidate), members_in(best, unique)
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
        1.0 if is_found else trigram(best, candidate, is_spelt=close > 0),
        float(best is not None and bool(best.stems) and best.stems[-1] in unique),
        float(len(missing)),
        sum([weights.get(word, most) for word in missing]),
        float(len(missing & asked.content)),
        float(len(shared)),
        sum([weights.get(word, most) for word in shared]),
        float(len(shared & asked.content)),
        len(content & candidate.first) / max(1, len(content)),
        bigrams(best, candidate),
        acronym,
        float(is_found or is_glued(prepared, candidate)),
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
        float(strangers(candidate, asked, prepared)),
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
        float(min(3, hedges)),
        float(min(denials, 4)),
        float((denials > 0) != denies),
        float(denies),
        float(stands is Standing.NEGATED),
        float(stands is Standing.HEDGED),
        members,
        *_ASKS[asked.kind],
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
