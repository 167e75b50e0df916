"""Lists of guesses: a reference among others that are given in the same way, and none of them chosen.

"Vermeer / Rembrandt / Hals / Rubens"                   many answers
"red green blue"                                        many answers, of one kind
"Bach wrote it. Handel wrote it. Vivaldi wrote it."     many answers in one frame, `... wrote it`
"Rembrandt. Others were Vermeer, Hals and Rubens."      one answer, and a list beside it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

from adjudge.judges.local._clauses import beginnings, may_have
from adjudge.judges.local._limits import PART, REFERENCES, SHORT, STATEMENT
from adjudge.judges.local._nearness import Seen
from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import ARTICLES, DENIALS, STOP, VERBS, lexicon, stem, stemmed, stems_of, words

_SEVERAL = 3  # others in a row that are not said in passing
_HEAP = 3  # foreign words beside the answer in a heap
_SENTENCES = re.compile(r"[.!?:](?<!\b\w\.)(?:\s+|$)|[\n()]|\s[-–—]+\s")
_UNIT = re.compile(
    r",(?!\d{3}(?!\d)|(?:(?<=[a-z] \d,)|(?<=[a-z] \d\d,))\s[12]\d{3}\b)"  # `July 4, 1776` is one
    r"|[;|•·&]|/(?:(?<!\d/)|(?!\d))|and(?<!\wand)\b|or(?<!\wor)\b"
)
MARKDOWN = re.compile(r"[*_`#>]")
_MARKER = re.compile(r"(?:^|(?<=\s))\(?(?:\d{1,2}|[A-Ha-h])[.)]\s")
_OPTION = re.compile(r"\b(?:\d{1,2}|[A-Ha-h])\)\s")
_LONGEST = 50  # characters of a bare unit
_WORDS_OF_ONE = 4  # content words of a bare unit
_LINKS = ARTICLES | {"of", "de", "la", "van", "von", "st"}
_ALL_OF_THEM = re.compile(r"\bare (?:all|both|some|examples)\b|\b(?:1|any|all|some|each) of (?:these|them|those)\b")
_GRAMMAR = STOP | DENIALS
_PLURALITY = stemmed("include such several various variety many other list")
_FRAMES = re.compile(
    r"[,;](?=\s)|[.!?](?<!\b[^\W\d].)(?=\s|$)|[\n{}\[\]|]|[Aa][Nn][Dd](?<!\w...)\b|[Oo][Rr](?<!\w..)\b"
)
_FRAME = 120  # characters of a part that may be one
_PARTS = 60  # parts that are looked at
_FILLER = 6  # words of a filler
_SMALL = ARTICLES | {"also", "then", "but", "too"}
_LETTERS = re.compile(r"[^\W_]+")

Unit = tuple[str, frozenset[str]]
"""A part of a row: how it is written, nothing for prose; and its words."""


def is_list(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate is a list of guesses, the reference no more than one of them."""
    if is_heap(asked, prepared, candidate):
        return True
    if prepared.explains or asked.wants_list:
        return False
    size, is_named = len(candidate.plain), seen.contained or seen.complete
    # The items of `10 °F, 20 °F, 32 °F` share a word.
    items = max(seen.rivals, seen.own_items)
    is_counted = len(candidate.numbers) > _SEVERAL and any(one.is_number for one in prepared.references[:1])
    text = candidate.text[:PART]
    # For example `A) Rubens B) Hals`.
    is_lettered = ")" in text and _OPTION.search(text) is not None
    if not is_counted and not is_lettered and items <= (_SEVERAL if size > 2 * STATEMENT else 1):
        return False
    if any(len(one.members) > 1 for one in prepared.references):
        return is_named and is_framed(prepared, candidate)
    if not is_named:
        return size <= STATEMENT and _is_stuffed(asked, candidate, seen)
    return _is_among_others(asked, prepared, candidate, seen)


def _is_among_others(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether every mention of a reference is in a row with others."""
    beside, is_all = company(asked, prepared, candidate)
    if beside < 2:
        return is_framed(prepared, candidate)
    # Prose may list what there is: `Several kinds live there, including tilapia, ...`
    if beside > _SEVERAL and _PLURALITY.isdisjoint(candidate.unique):
        return True
    is_place = asked.kind == "where" and "or" not in candidate.unique
    # For example `Salzburg, Austria, Europe`.
    if is_all and seen.own_items < 2 and beside > is_place + 1:
        return True
    return _is_stuffed(asked, candidate, seen)


def _is_stuffed(asked: Question, candidate: Candidate, seen: Seen) -> bool:
    """Whether there are several foreign members, and hardly a word outside of the list."""
    if seen.rivals < 3 or seen.rivals <= 2 * seen.own_items:
        return False
    rest = candidate.plain[min(8, len(candidate.plain) // 3) :]
    is_prose = not VERBS.isdisjoint(rest) or sum(word in STOP for word in rest) > 0.3 * len(rest)
    is_set = len(candidate.plain) <= 2 * STATEMENT and _ALL_OF_THEM.search(candidate.lowered) is not None
    if is_prose and not is_set:
        return False
    inside = sum(map(len, candidate.items()))
    return inside >= 0.8 * sum(one not in asked.content and len(one) > 1 for one in candidate.content)


def company(asked: Question, prepared: Prepared, candidate: Candidate) -> tuple[int, bool]:
    """Return how many others are in a row with a reference, where they are fewest; and whether that is all.

    >>> from adjudge.judges.local._pair import read_question
    >>> from adjudge.judges.local._pair import prepare
    >>> asked, prepared = read_question("Who painted it?"), prepare(("Hals",))
    >>> company(asked, prepared, Candidate("Rubens, Hals, Rembrandt"))
    (2, True)
    >>> company(asked, prepared, Candidate("Hals. A rival of Rubens and Rembrandt"))
    (0, False)
    """
    least = 0
    is_all = True
    begins = beginnings(prepared.references[:REFERENCES])
    for run, is_whole in _runs(candidate.text[:PART], asked, begins):
        own = [shape for shape, stems in run if _has_one(stems, prepared)]
        if not own:
            is_all = False
            continue
        # A sentence begins with a capital too, so its first unit need not be a name.
        kind = run[1][0] if len(run) > 1 and own[0] == run[0][0] == "name" else own[0]
        others = sum(
            shape == kind and not stems <= prepared.union and not _has_one(stems, prepared) for shape, stems in run
        )
        # The reference is given by itself, or is one of several that are asked for.
        if others < 2 or others <= 2 * (len(own) - 1):
            return 0, False
        is_all = is_all and is_whole
        least = min(least or others, others)
    return least, is_all and least > 0


def _has_one(stems: frozenset[str], prepared: Prepared) -> bool:
    return not prepared.union.isdisjoint(stems) and any(one.content <= stems for one in prepared.references)


def _runs(text: str, asked: Question, begins: Sequence[str]) -> Iterator[tuple[list[Unit], bool]]:
    """Yield rows of bare units, each with its form and its words; prose is a row of its own, and not whole.

    Rows end with their sentence, unless that is a single unit, as in a list of lines.
    """
    run: list[Unit] = []
    is_open = False
    for sentence in _SENTENCES.split(_MARKER.sub("\n", MARKDOWN.sub("", text))):
        units = [unit for part in _UNIT.split(sentence) if (unit := _unit(part.strip(), begins)) is not None]
        if not units:
            continue
        if run and not (is_open and len(units) == 1):
            yield run, True
            run = []
        is_open = len(units) == 1
        for shape, content in units:
            if shape and content <= asked.content:
                continue
            if not shape:
                if run:
                    yield run, True
                    run = []
                yield [(shape, content)], False
            else:
                run.append((shape, content))
    if run:
        yield run, True


def _unit(part: str, begins: Sequence[str]) -> Unit | None:
    """Return the form and the words of a part, without a form if it is prose; nothing if it has no words."""
    if len(part) > _LONGEST and not may_have(part, begins):
        return "", frozenset()
    plain = words(part)
    content = frozenset(stem(word) for word in plain if word not in STOP)
    if not content or all(len(one) == 1 and one.isalpha() and one not in begins for one in content):
        return None
    is_bare = (
        not part.startswith(("a ", "an ", "plus ", "with "))
        and len(content) <= _WORDS_OF_ONE
        and all(word in _LINKS or (word not in STOP and word not in VERBS) for word in plain)
    )
    return (_shape(part) if is_bare else ""), content


def _shape(part: str) -> str:
    """Return how a unit is written: a number, a name, or common words."""
    found = [word for word in _LETTERS.findall(part) if word.lower() not in _LINKS]
    if found and found[0].isdigit():
        # `9 symphonies and 1 opera` are not guesses.
        return f"number {found[-1]}" if len(found) > 1 else "number"
    return "name" if found and found[0] != found[0].lower() else "words"


def is_heap(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a heap of single words, one of which is the answer: no grammar."""
    plain = candidate.plain
    if len(candidate.numbers) > _SEVERAL and _is_count(prepared, candidate):
        return True
    if not _HEAP <= len(plain) <= SHORT or prepared.explains or not _GRAMMAR.isdisjoint(plain):
        return False
    if len(set(plain)) < len(plain) or (len(plain) == _HEAP and len(candidate.dates) == 1):
        return False
    if len(candidate.numbers) == len(plain):
        return all(len(one.numbers) == 1 for one in prepared.references)
    return _is_of_one_kind(candidate.stems, prepared) or _is_row(asked, prepared, candidate)


def _is_count(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the one number that is accepted occurs only in a row of numbers."""
    if prepared.explains or not all(len(one.stems) == len(one.numbers) == 1 for one in prepared.references):
        return False
    is_among = False
    for is_number, run in groupby(candidate.stems, lambda one: one[0].isdigit()):
        given = list(run)
        if is_number and not prepared.union.isdisjoint(given):
            is_among = len(given) > _SEVERAL + 1
            if not is_among:
                return False
    return is_among


def _is_row(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether all words but the reference are foreign, and written alike."""
    plain, text = candidate.plain, candidate.text[1:]
    if candidate.numbers or (text != text.lower() and len(candidate.names()) < len(plain)):
        return False
    foreign = sum(stem(word) not in prepared.union and stem(word) not in asked.content for word in plain)
    # A full name has several words too, so words alone do not make a list.
    if any(len(one.stems) > 1 for one in prepared.references):
        own = len(plain) - foreign
        is_whole = any(len(one.stems) == own and one.padded in candidate.padded for one in prepared.references)
        return foreign > _HEAP * own and (own == 1 or is_whole)
    return foreign >= _HEAP


@cache
def _kinds() -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    """Return kinds that have few members, and all of these."""
    kinds = tuple(map(stemmed, (*lexicon("opposites")["kinds"], *lexicon("opposites")["alike"])))
    return kinds, frozenset[str]().union(*kinds)


def are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two texts have different members of one kind, as two colours are.

    >>> are_alike(["red"], ["dark", "green"]), are_alike(["red"], ["crimson"])
    (True, False)
    """
    kinds, members = _kinds()
    if members.isdisjoint(one):
        return False
    return any(kind.intersection(one) and kind.intersection(other).difference(one) for kind in kinds)


def _is_of_one_kind(stems: Sequence[str], prepared: Prepared) -> bool:
    """Whether most words are of one kind of which there are few, as colours are, and the reference is one of them."""
    for kind in _kinds()[0]:
        given = frozenset[str]() if kind.isdisjoint(prepared.union) else kind.intersection(stems)
        is_most = len(given) > max(2, len(stems) / 2)
        if is_most and not any(given <= one.content for one in prepared.references):
            return True
    return False


def is_framed(prepared: Prepared, candidate: Candidate, hedges: frozenset[str] = frozenset()) -> bool:
    """Whether a reference stands in no other way than in a frame that two others fill, too; or one that hedges, one.

    >>> from adjudge.judges.local._pair import prepare
    >>> hals = prepare(("Hals",))
    >>> is_framed(hals, Candidate("Rubens made it. Hals made it. Steen made it."))
    True
    >>> is_framed(hals, Candidate("It was Hals. Rubens made it. Hals made it. Steen made it."))
    False
    """
    least = 1 if hedges else 2
    # The words of a frame are repeated.
    if len(candidate.stems) - len(candidate.unique) < least or (hedges and hedges.isdisjoint(candidate.unique)):
        return False
    own: list[tuple[str, str]] = []
    others: set[str] = set()
    for text in _FRAMES.split(candidate.text[:PART], _PARTS)[:_PARTS]:
        part = f" {' '.join(stems_of(text, without=_SMALL))} " if len(text) <= _FRAME else ""
        named = next((one.padded for one in prepared.references if one.padded in part), None)
        if named is None:
            others.add(part)
        else:
            before, _, after = part.partition(named)
            own.append((before, after))
    if hedges and any(hedges.isdisjoint(f"{before} {after}".split()) for before, after in own):
        return False
    return bool(own) and all(_fillers(*frame, others, prepared.union) >= least for frame in own)


def _fillers(before: str, after: str, others: Iterable[str], union: frozenset[str]) -> int:
    """Count the other parts that begin and end as the frame does, with a few words between that no reference has."""
    if not before and not after:
        return 0
    start, end = f"{before} ", f" {after}"
    count = 0
    for other in others:
        if other.startswith(start) and other.endswith(end):
            filler = other[len(start) : len(other) - len(end)].split()
            count += 0 < len(filler) <= _FILLER and not union.issuperset(filler)
    return count
