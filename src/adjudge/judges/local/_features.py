"""What tier 0 sees of a question, its references and a candidate, as numbers: `NAMES` says which.

`observe` gives them together with the reference that they are about and the signs that rules go by. A
`Pair` is what a rule is given.
"""

from __future__ import annotations

import re
from math import log1p

from adjudge.judges.local._clauses import Standing
from adjudge.judges.local._limits import LEAST
from adjudge.judges.local._mentions import MENTIONED, NOTHING, Cues, mentioned
from adjudge.judges.local._model import chance, load_model
from adjudge.judges.local._name_forms import is_near_name
from adjudge.judges.local._nearness import (
    Overlap,
    Seen,
    Weights,
    bigrams,
    clash,
    close_ones,
    dates_in,
    has_acronym,
    is_glued,
    members_in,
    numbers_in,
    overlap,
    rivals,
    strangers,
    trigram,
)
from adjudge.judges.local._pair import KINDS, Candidate, Prepared, Question, Reference, read_question
from adjudge.judges.local._quantities import stated
from adjudge.judges.local._words import DENIALS, REFUSAL

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
_LOOKED_AT = 3  # references whose mentions are read
_ASKS = {kind: tuple(float(kind == one) for one in KINDS) for kind in (None, *KINDS)}

NAMES = (
    # how the references are found
    "exact", "contained", "contained_share", "bare", "full", "full_share", "found_size", "reverse", "recall",
    "new_recall", "mean_recall", "f1",
    # the nearest of them
    "fuzzy", "trigram", "last", "missing", "missing_weight", "missing_asked", "shared", "shared_weight", "shared_asked",
    "in_first", "bigrams", "acronym", "glued",
    # how long all is
    "size", "sentences", "references", "shortest", "longest", "best_size", "best_content", "size_ratio", "asked_size",
    # what else there is
    "asked_precision", "asked_recall", "novel", "foreign", "foreign_share", "foreign_mean", "capitals", "rivals",
    "own_items", "clash", "near_name",
    # numbers and dates
    "gold_numbers", "gold_numeric", "number_match", "number_clash", "numbers", "date_match", "date_coarser",
    "date_clash",
    # whether it is vouched for
    "refusal", "hedges", "denials", "denial_mismatch", "denial_gold", "negated", "hedged",
    "members", *(f"asks_{kind}" for kind in KINDS),
    # how a longer response mentions a reference
    *MENTIONED,
)  # fmt: skip
"""The names of the features, in their order."""

_MENTIONS = NAMES.index("mentions")


def observe(asked: Question, prepared: Prepared, candidate: Candidate, learnt: tuple[Weights, Cues]) -> Seen:
    """Look at a candidate, with what was learnt of stems and of cues."""
    weights, cues = learnt
    found = overlap(asked, prepared, candidate, weights)
    numbers, number_match = numbers_in(found.best, prepared, candidate)
    foreign_items, own_items = rivals(candidate, prepared, asked)
    # Where a reference is there as a whole, another name beside it is not in its place.
    may_be_near = not (found.whole or prepared.explains)
    seen = Seen(
        found.best,
        found.contained > 0,
        found.full > 0,
        found.standing or Standing.GIVEN,
        numbers,
        dates_in(prepared, candidate),
        not _REFUSING.isdisjoint(candidate.plain) and REFUSAL.search(candidate.lowered) is not None,
        foreign_items,
        own_items,
        number_match,
        has_acronym(prepared, candidate),
        found.reverse >= 0.5,
        members_in(found.best, candidate.unique),
        may_be_near and is_near_name(prepared, candidate, asked, has_part=found.full > 0),
        stated(asked, prepared, candidate),
    )
    seen.values = [
        *_of_overlap(found, max(1, len(prepared.references))),
        *_of_nearest(found, asked, candidate, weights),
        float(seen.acronym),
        float(found.is_found or is_glued(prepared, candidate)),
        *_of_sizes(seen.best, asked, prepared, candidate),
        *_of_others(seen, asked, prepared, candidate, weights),
        *_of_facts(seen, candidate),
        *_of_doubts(seen, candidate),
        seen.members,
        *_ASKS[asked.kind],
        *_of_mentions(seen, asked, prepared, candidate, cues),
    ]
    return seen


def _of_overlap(found: Overlap, count: int) -> tuple[float, ...]:
    """Return how the references are found; `count` of them there are."""
    return (
        float(found.exact),
        float(found.contained > 0),
        found.contained / count,
        float(found.is_found),
        float(found.full > 0),
        found.full / count,
        float(found.size),
        found.reverse,
        found.recall,
        found.new,
        found.total / count,
        found.f1,
    )


def _of_nearest(found: Overlap, asked: Question, candidate: Candidate, weights: Weights) -> tuple[float, ...]:
    """Return how near the nearest reference is: word by word, letter by letter."""
    best, unique, most = found.best, candidate.unique, weights[""]
    content = best.content if best is not None else frozenset()
    shared, missing = content & unique, content - unique
    close = close_ones(missing, candidate)
    return (
        (len(shared) + close) / max(1, len(content)),
        1.0 if found.is_found else trigram(best, candidate, is_spelt=close > 0),
        float(best is not None and best.stems[-1] in unique),
        float(len(missing)),
        sum([weights.get(one, most) for one in missing]),
        float(len(missing & asked.content)),
        float(len(shared)),
        sum([weights.get(one, most) for one in shared]),
        float(len(shared & asked.content)),
        len(content & candidate.first) / max(1, len(content)),
        bigrams(best, candidate),
    )


def _of_sizes(best: Reference | None, asked: Question, prepared: Prepared, candidate: Candidate) -> tuple[float, ...]:
    """Return how long the candidate, the references and the question are."""
    size = len(candidate.plain)
    stems, content = (len(best.stems), len(best.content)) if best is not None else (0, 0)
    return (
        log1p(size),
        float(candidate.sentences),
        log1p(prepared.given),
        float(prepared.shortest),
        float(min(prepared.longest, 60)),
        float(stems),
        float(content),
        min(8.0, size / max(1, stems)),
        log1p(asked.size),
    )


def _of_others(
    seen: Seen, asked: Question, prepared: Prepared, candidate: Candidate, weights: Weights
) -> tuple[float, ...]:
    """Return what a candidate has that question and references have not."""
    novel = [one for one in candidate.content if one not in asked.content]
    unique = frozenset(novel)
    foreign = unique - prepared.union
    most = weights[""]
    foreign_weight = sum([weights.get(one, most) for one in foreign])
    novel_weight = foreign_weight + sum([weights.get(one, most) for one in unique & prepared.union])
    beside = None
    # A foreign word matters beside a part of a reference, not beside all of it.
    if seen.best is not None and not seen.best.content <= candidate.unique:
        beside = clash(seen.best, candidate.content, prepared, asked)
    return (
        1 - len(novel) / max(1, len(candidate.content)),
        len(asked.content & candidate.unique) / max(1, len(asked.content)),
        float(min(len(novel), 100)),
        float(min(len(foreign), 100)),
        foreign_weight / novel_weight if novel_weight else 0.0,
        foreign_weight / max(1, len(foreign)),
        float(strangers(candidate, asked, prepared)),
        float(min(seen.rivals, 12)),
        float(min(seen.own_items, 12)),
        float(weights.get(beside, most)) if beside is not None else 0.0,
        float(seen.near_name),
    )


def _of_facts(seen: Seen, candidate: Candidate) -> tuple[float, ...]:
    """Return how numbers and dates stand."""
    return (
        float(len(seen.best.numbers)) if seen.best is not None else 0.0,
        float(seen.best is not None and seen.best.is_number),
        float(seen.number_match),
        float(seen.numbers in ("clash", "missing")),
        float(min(len(candidate.numbers), 10)),
        float(seen.dates == "match"),
        float(seen.dates == "coarser"),
        float(seen.dates == "clash"),
    )


def _of_mentions(
    seen: Seen, asked: Question, prepared: Prepared, candidate: Candidate, cues: Cues
) -> tuple[float, ...]:
    """Return how references that are there are mentioned; a short candidate mentions nothing else."""
    if not (seen.contained or seen.stated) or len(candidate.plain) <= LEAST:
        return NOTHING
    there = [one.stems for one in prepared.references if one.padded in candidate.padded]
    return mentioned(asked.content, there[:_LOOKED_AT], candidate.text, cues, seen.stated)


def _of_doubts(seen: Seen, candidate: Candidate) -> tuple[float, ...]:
    """Return whether a candidate refuses, hedges or denies."""
    # A look into a set is cheaper than a search that nearly always fails.
    denials = 0 if DENIALS.isdisjoint(candidate.plain) else sum([word in DENIALS for word in candidate.plain])
    hedges = 0 if _HEDGING.isdisjoint(candidate.plain) else len(HEDGE.findall(candidate.lowered))
    denies = seen.best is not None and seen.best.denies
    return (
        float(seen.refuses),
        float(min(3, hedges)),
        float(min(denials, 4)),
        float((denials > 0) != denies),
        float(denies),
        float(seen.standing is Standing.NEGATED),
        float(seen.standing is Standing.HEDGED),
    )


class Pair:
    """A question, its references and a candidate as rules see them; what is seen of them is looked at when it is asked.

    `text` is the whole response, `answer` what is judged of it, from which the candidate was read.
    """

    __slots__ = ("_chance", "_seen", "answer", "asked", "candidate", "prepared", "question", "text")

    def __init__(self, question: str, prepared: Prepared, candidate: Candidate, text: str, answer: str) -> None:
        self.question = question
        self.asked = read_question(question)
        self.prepared = prepared
        self.candidate = candidate
        self.text = text
        self.answer = answer
        self._seen: Seen | None = None
        self._chance: float | None = None

    @property
    def seen(self) -> Seen:
        """What tier 0 sees of it."""
        if self._seen is None:
            self._seen = observe(self.asked, self.prepared, self.candidate, load_model().learnt)
        return self._seen

    @property
    def is_named(self) -> bool:
        """Whether a reference is there: what is said of it weighs more than what is beside it."""
        return self.seen.contained or self.seen.complete

    @property
    def is_mention(self) -> bool:
        """Whether a longer response mentions a reference: it may be something else there than the answer."""
        return bool(self.seen.values[_MENTIONS]) and not self.prepared.explains

    @property
    def chance(self) -> float:
        """What the model says: the probability that the candidate is right."""
        if self._chance is None:
            model = load_model()
            # Explanations, mentions and short phrases were learnt apart: the same features mean different things there.
            phrases = model.mentions if self.is_mention else model.phrases
            trees = model.statements if self.prepared.explains else phrases
            self._chance = chance(trees.log_odds(self.seen.values))
        return self._chance

    def having(self, candidate: Candidate) -> Pair:
        """Return the pair with another candidate; itself, if it is the same."""
        if candidate is self.candidate:
            return self
        return Pair(self.question, self.prepared, candidate, self.text, self.answer)
