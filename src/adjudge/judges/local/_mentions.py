"""How a longer response mentions a reference: as its answer, or as something else.

"Who won?"  "It was going to be Sol, but Karlo won."  ->  Sol is rather something else
"Who won?"  "It was going to be Karlo, but Sol won."  ->  Sol is rather the answer

Every word near a mention is a cue, by where it stands: `cl<but` in its clause and before it, `p>instead` in a later
sentence, `l1=not` next to it. Words of the question are `QQ`, numbers `NUM`, names `CAP` and rare words `NEW`, so that
cues are about form, not about a subject. How much each one says was learnt from answers as assistants write them
(training/mentions.py): the larger their sum, the rather is the mention the answer. The trees of tier 0 weigh it,
together with where the mention stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._limits import PART
from adjudge.judges.local._words import ARTICLES, STOP, stem, words

MENTIONED = (
    "cue", "mentions", "mention_before", "mention_after", "clause_before", "clause_after", "new_before", "new_beside",
    "alike_before", "alike_after", "asked_beside", "asked_elsewhere",
)  # fmt: skip
"""What is said of the mention with the best cues: their sum; how many mentions there are; how many clauses, and how
many words of its clause, are before it and after it; words before it, and after it in its clause, that are new; things
of its kind before and after it; words of the question in its clause, and in the clause that has most of the others."""

NOTHING = (0.0,) * len(MENTIONED)
"""The values where nothing is looked for."""

_MENTIONS = 4  # that are looked at
_MOST = 12  # of whatever is counted
_NEAR = 4  # words beside a mention
_TOKEN = re.compile(r"[^\W_](?:[\w.,:'’/&+%#°²³-]*[\w%°+#])?|[^\w\s]|\n+")
_ENDS = frozenset(".!?\n")
_PARTS = frozenset(',;:()—–|-[]"“”')
_JOINTS = frozenset(
    "although though whereas while because yet however and so but if until since when which who after before as where"
    " with then".split()
)


class Cues(NamedTuple):
    """What was learnt: how much each cue says, and the words that are told from others."""

    says: Mapping[str, int]
    """In thousandths: sums are then exact, in any order."""
    known: frozenset[str]


class Term(NamedTuple):
    """A word of a response, or a mark, which has no stems."""

    form: str
    stems: tuple[str, ...]
    kind: str
    """`NUM`, `CAP`, or `NEW` for another word that says something; nothing for the question's words and small ones."""
    sentence: int
    clause: int
    start: int
    """Where it stands in the response."""


class Utterance(NamedTuple):
    """A response, token by token, and what opens each of its clauses."""

    tokens: list[Term]
    openers: list[str]
    stems: list[str]
    """All of them but articles, one after the other."""
    owners: list[int]
    """The token of each stem."""


Span = tuple[int, int]
"""Where something begins, and where it has ended: tokens, or characters."""


def mentioned(
    asked: frozenset[str], references: Sequence[Sequence[str]], text: str, cues: Cues, others: Sequence[Span] = ()
) -> tuple[float, ...]:
    """Return the values that `MENTIONED` names, for stems of the question and of references that a text has.

    `others` are places in the text that mention a reference in other words.

    >>> cues = Cues({"cl<but": 1200, "nc=but": -700}, frozenset(("but",)))
    >>> mentioned(frozenset(("won",)), [("sol",)], "It was going to be Sol, but Karlo won.", cues)[0]
    -0.7
    """
    read = read_response(text, asked, cues.known)
    found = [place for one in references for place in places(read, one)]
    found = [*found, *(place for one in others for place in _tokens_of(read, one))][:_MENTIONS]
    if not found:
        return NOTHING
    sums = [sum([cues.says.get(cue, 0) for cue in cues_of(read, place)]) for place in found]
    best = max(range(len(found)), key=sums.__getitem__)
    return (sums[best] / 1000, float(len(found)), *_standing(read, asked, found[best]))


def read_response(text: str, asked: frozenset[str], known: frozenset[str]) -> Utterance:
    """Return a response with its clauses; `known` are the words that have a form of their own."""
    tokens: list[Term] = []
    openers = ["^"]
    all_stems: list[str] = []
    owners: list[int] = []
    sentence = clause = 0
    # Whether a word has been seen, and whether a sentence or a clause has ended since the last one.
    begun = ended = parted = False
    opener = "^"
    for match in _TOKEN.finditer(text, 0, PART):
        token, start = match[0], match.start()
        mark = token[0]
        if not mark.isalnum():
            if mark in _ENDS or mark in _PARTS:
                ended, parted, opener = ended or mark in _ENDS, True, mark
            tokens.append(Term("NL" if mark == "\n" else mark, (), "", sentence, clause, start))
            continue
        if not parted and begun and token in _JOINTS:
            parted, opener = True, token
        if parted and begun:
            sentence, clause = sentence + ended, clause + 1
            openers.append(opener)
        form, stems, kind = _read_word(token, known, ended or not begun)
        if not asked.isdisjoint(stems):
            form, kind = "QQ", ""
        for one in stems:
            if one not in ARTICLES:
                all_stems.append(one)
                owners.append(len(tokens))
        tokens.append(Term(form, stems, kind, sentence, clause, start))
        begun, ended, parted = True, False, False
    return Utterance(tokens, openers, all_stems, owners)


@lru_cache(maxsize=50_000)
def _read_word(token: str, known: frozenset[str], begins: bool) -> tuple[str, tuple[str, ...], str]:
    """Return form, stems and kind of a word, as if the question lacked it."""
    stems = tuple([stem(word) for word in words(token)])
    if not stems:
        return "NEW", stems, ""
    if stems[0][0].isdigit():
        return "NUM", stems, "NUM"
    one = stems[-1]
    is_small = stems[0] in STOP
    form = one if one in known else "NEW"
    if token[0].isupper() and not is_small:
        # The first word of a sentence is no name by its capital alone.
        return (form if begins else "CAP"), stems, "CAP"
    return form, stems, "" if is_small else "NEW"


def places(read: Utterance, reference: Sequence[str]) -> Iterator[Span]:
    """Yield where the stems of a reference stand, one after the other but for articles."""
    stems, owners = read.stems, read.owners
    size, wanted = len(reference), list(reference)
    for at in range(len(stems) - size + 1):
        if stems[at] == wanted[0] and stems[at : at + size] == wanted:
            yield owners[at], owners[at + size - 1] + 1


def _tokens_of(read: Utterance, place: Span) -> Iterator[Span]:
    """Yield the tokens of a place in the text."""
    inside = [at for at, one in enumerate(read.tokens) if place[0] <= one.start < place[1]]
    if inside and read.tokens[inside[0]].stems:
        yield inside[0], inside[-1] + 1


def cues_of(read: Utterance, place: Span) -> set[str]:
    """Return the cues around a mention."""
    start, end = place
    tokens, sentence, clause = read.tokens, read.tokens[start].sentence, read.tokens[start].clause
    found = {f"open={read.openers[clause]}"}
    if clause + 1 < len(read.openers):
        found.add(f"next={read.openers[clause + 1]}")
    found.update(_cues_beside([one.form for one in tokens[max(0, start - _NEAR) : start]][::-1], "l", "L"))
    found.update(_cues_beside([one.form for one in tokens[end : end + _NEAR]], "r", "R"))
    for side, some in (("<", tokens[:start]), (">", tokens[end:])):
        here, near, far = f"cl{side}", f"s{side}", f"p{side}"
        for form, stems, _, its_sentence, its_clause, _ in some:
            if not stems:
                continue
            if its_clause == clause:
                found.add(here + form)
                continue
            found.add((near if its_sentence == sentence else far) + form)
            if its_clause == clause + 1:
                found.add("nc=" + form)
            elif its_clause == clause - 1:
                found.add("pc=" + form)
    found.update(_cues_of_beginnings(read, sentence))
    return found


def _cues_beside(forms: Sequence[str], near: str, far: str) -> list[str]:
    """Return the cues of the tokens on one side of a mention, the nearest first."""
    one, two, *_ = [*forms, "^", "^"]
    return [f"{near}1={one}", f"{near}2={two}", f"{near}12={one}_{two}", *[f"{far}={form}" for form in forms]]


def _cues_of_beginnings(read: Utterance, sentence: int) -> Iterator[str]:
    """Yield how the response, the sentence of a mention and the one after it begin."""
    begins: dict[int, list[str]] = {0: [], sentence: [], sentence + 1: []}
    for form, stems, _, at, _, _ in read.tokens:
        if stems and at in begins:
            begins[at].append(form)
    yield f"t0={'_'.join(begins[0][:2])}"
    yield f"s0={begins[sentence][0]}"
    yield f"s01={'_'.join(begins[sentence][:2])}"
    if begins[sentence + 1]:
        yield f"n0={begins[sentence + 1][0]}"


def _standing(read: Utterance, asked: frozenset[str], place: Span) -> tuple[float, ...]:
    """Return where a mention stands among the words of the question, and among others of its kind."""
    start, end = place
    tokens, clause = read.tokens, read.tokens[start].clause
    inside = frozenset(one for token in tokens[start:end] for one in token.stems)
    kinds = {token.kind for token in tokens[start:end]}
    kind = next((one for one in ("NUM", "CAP") if one in kinds), "NEW")
    wanted = asked - inside
    before = after = new = beside = alike_before = alike_after = 0
    shared: list[set[str]] = [set() for _ in read.openers]
    for at, (_, stems, its_kind, _, its_clause, _) in enumerate(tokens):
        if not stems or start <= at < end:
            continue
        if not wanted.isdisjoint(stems):
            shared[its_clause].update(wanted.intersection(stems))
        is_new = bool(its_kind) and inside.isdisjoint(stems)
        if at < start:
            before += its_clause == clause
            new += is_new
            alike_before += is_new and its_kind == kind
        else:
            after += its_clause == clause
            beside += is_new and its_clause == clause
            alike_after += is_new and its_kind == kind
    own = len(shared.pop(clause))
    other = max(map(len, shared), default=0)
    found = (
        clause, len(read.openers) - 1 - clause, before, after, new, beside, alike_before, alike_after, own, other
    )  # fmt: skip
    return tuple([float(min(one, _MOST)) for one in found])
