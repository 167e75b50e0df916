"""Answers that a candidate names and takes back: denied, doubted in a subordinate clause, replaced by a later one.

"A hexagon does not have 6 sides."          denied
"I cannot confirm that it is helium."       not vouched for
"Marie Curie... scratch that: Rutherford."  retracted
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._reference import Prepared, Reference
from adjudge.judges.local._words import ARTICLES, STOP, stem, words

_LONGEST = 40  # words of a response whose clauses are looked at: in longer ones too much stands beside a denial
_PLACES = 20  # clauses that are looked at


_NOT = frozenset(
    "not never nor neither isnt wasnt arent werent doesnt didnt dont cannot cant couldnt wouldnt wont hasnt havent"
    " hadnt aint shouldnt".split()
)
_DENIALS = _NOT | frozenset(
    "wrong wrongly false falsely incorrect incorrectly untrue mistaken mistakenly mistake erroneous erroneously myth"
    " misconception fallacy hoax without unlike except excluding excludes lack lacks lacked lacking fail fails failed"
    " refuse refused deny denies denied reject rejected outside contrary opposite nobody hardly whether"
    " no nowhere unable impossible unsure uncertain unclear unlikely doubtful doubt doubts".split()
)
_REACH = frozenset("until till before after since than only just merely simply question unless least but".split())
_DOUBTS = frozenset(("doubt", "doubts"))
_NO_DOUBT = frozenset(("no", "without", "not", "any", "little", "beyond"))
_PAIRS = re.compile(
    r"\b(?:no longer|other than|rather than|instead of|apart from|opposed to|far from|rul(?:e|ed|es) out"
    r"|(?:any|every|all)\w*(?: \w+)? (?:but|save)|nothing to do with"
    r"|(?:tell|say|know|sure|certain|confirm|verify|clear|determine|prove) if)\b(?: \w+){0,4}$"
)
_OTHER_THAN = re.compile(r"\b(?:non|no)(?:e|body|thing| 1)? other than\b")
_FAILED = re.compile(
    r"(?:(?:has|have|had|was|were|is|are|did|does|do|can|could|would|will) )?(?:\w+ly )?"
    r"(?:(?:not|never|isnt|wasnt|arent|werent|doesnt|didnt|dont|hasnt|havent|hadnt|cannot|cant|couldnt|wont)\b(?P<what>.*)"
    r"|nothing to do with|fail(?:s|ed)? to\b|lost\b"
    r"|(?:been )?(?:replaced|superseded|displaced|disproved|debunked|refuted)\b"
    r"|(?:be )?(?:\w+ )?(?:wrong|false|incorrect|untrue|mistaken|myth|misconception|fallacy|ruled out)\b)"
)
_RANKED = re.compile(
    r"(?:is|was|are|were|comes|came|ranks|ranked) (?:only |just |merely )?(?P<rank>[2-9])\b(?P<what>.*)"
)
_CLAUSE = re.compile(
    r"[.;:!?,()\n]+(?=\s|$)|\s[-–—]+\s|[—…“”\"]|\.\.+"
    r"|\b(?:although|though|whereas|while|because|(?<!not )yet|however|and|so|but)\b",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(r"\b(?:any|every|all)\w*(?: \w+)? but$", re.IGNORECASE)
_RETRACTED = re.compile(
    r"\b(?:no,? wait|wait,? no|scratch that|strike that|correction|on second thoughts?|let me correct|make that"
    r"|i take (?:that|it) back|i was wrong|that(?:'s| is) wrong"
    r"|my (?:final |actual |real )?answer (?:is|will be|would be)"
    r"|i(?:'ll| will| would|'d| am going to|'m going to)? (?:go(?:ing)? (?:with|for)|settle (?:on|for))"
    r"|i(?:'ll| will| would|'d) (?:say|answer|choose|pick|take)"
    r"|(?:right|correct|real|actual|true) (?:answer|one) (?:is|was))\b",
    re.IGNORECASE,
)
_CLAIMED = re.compile(
    r"\b(?:thought|believed?|assumed?|claim(?:ed)?|often|commonly|usually|popular(?:ly)?|comes? to mind|formerly"
    r"|used to|at first|wrongly|mistakenly|falsely|people (?:say|think)|some (?:say|think)|once)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^\W*(?:(?:but|however|now|today|actually|really|instead|rather|in fact|in reality|in truth),? )+"
    r"(?:it|that|he|she|they|the \w+(?: \w+)?)(?:'s| is| was| are| were)(?: (?:now|actually|really|in fact|in))*"
    r" (?:the |an? )?(?P<other>\w.*)",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<=\s)[^\W\d_a-z][^\W\d_]+")
_TURN = frozenset("but however yet now today actually really instead rather no".split())
_REBUKE = frozenset("wrong false incorrect untrue mistaken mistake myth misconception nope not no".split())
_ANSWER = frozenset(
    map(
        stem,
        "settling settle answer answering say saying choose choosing pick picking go going guess think thinking believe"
        " final right correct real true actual actually 1 fact reflection now today im ill id".split(),
    )
)
_RELATIONS = frozenset(
    "contemporary friend rival student pupil teacher brother sister son daughter wife husband father mother cousin"
    " uncle nephew neighbour neighbor predecessor successor opponent assistant follower colleague widow".split()
)
_CUES = frozenset(
    map(
        stem,
        "longer other rather instead apart opposed far but nothing if lost wait scratch strike correction thoughts"
        " answer go going settle say choose pick right real actual true thought believe believed assume assumed claim"
        " claimed often commonly usually popular popularly mind formerly used people think once let make take"
        " save replaced however yet now today 2 3".split(),
    )
) | frozenset(map(stem, _DENIALS | _RELATIONS))


class _Clause(NamedTuple):
    text: str
    plain: list[str]  # without articles
    padded: str  # the stems of those


def denial(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    """Return how a candidate that names a reference takes it back: `negated`, `retracted`, or not at all."""
    if asked.denies or prepared.explains or len(candidate.plain) > _LONGEST or _CUES.isdisjoint(candidate.unique):
        return None
    named = [one for one in prepared.references if one.padded in candidate.padded and not one.denies]
    if not named:
        return None
    clauses = list(_clauses(candidate.text))
    last, is_given = -1, False
    for at, clause in enumerate(clauses):
        for reference in named:
            if reference.padded in clause.padded:
                last = at
                is_given = is_given or not _is_denied(clauses, at, reference, asked)
    if last < 0:
        return None
    if not is_given:
        return "negated"
    return "retracted" if _is_replaced(clauses, last, prepared, asked) else None


def _clauses(text: str) -> Iterator[_Clause]:
    """Yield the clauses of a text, each from the mark or word that opens it."""
    start = found = 0
    for end in [*_CLAUSE.finditer(text), None]:
        if end and end[0].lower() == "but" and _ALL_BUT.search(text[start : end.end()]):
            continue
        part = text[start : end.start()] if end else text[start:]
        start = end.start() if end else start
        plain = [word for word in words(part) if word not in ARTICLES]
        if plain:
            yield _Clause(part, plain, f" {' '.join(map(stem, plain))} ")
            found += 1
            if found == _PLACES:
                return


def _is_denied(clauses: Sequence[_Clause], at: int, reference: Reference, asked: Question) -> bool:
    """Whether a clause denies a reference at every place where it has it."""
    clause, size = clauses[at], len(reference.stems)
    place = clause.padded.find(reference.padded)
    while place >= 0:
        start = clause.padded[: place + 1].count(" ") - 1
        before, after = clause.plain[:start], clause.plain[start + size :]
        if not (_is_denied_inside(before, after, asked) or _is_denied_beside(clauses, at, before, asked)):
            return False
        place = clause.padded.find(reference.padded, place + 1)
    return True


def _is_denied_inside(before: Sequence[str], after: Sequence[str], asked: Question) -> bool:
    """Whether the words before a reference deny it, or what the clause says of it."""
    if after and after[-1] in _REBUKE and "that" in before:
        return True  # `the claim that France gave it is false`
    return _is_denied_before(before, asked) or _is_denied_after(after, asked) or _is_relation(before, after, asked)


def _is_denied_beside(clauses: Sequence[_Clause], at: int, before: Sequence[str], asked: Question) -> bool:
    """Whether the clause before a reference or the one after it denies it."""
    if not before and at and clauses[at - 1].plain[-1] in _NOT:
        return True  # `it is not, in fact, Paris`
    following = clauses[at + 1].plain if at + 1 < len(clauses) and "or" not in asked.plain else []
    if following[:1] != ["not"] or len(following) == 1:
        return False  # `Au is the symbol of silver, not of gold`
    return all(word in STOP or stem(word) in asked.content for word in following[1:])


def _is_denied_before(before: Sequence[str], asked: Question) -> bool:
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        if word in _REACH or (word in _DOUBTS and at and before[at - 1] in _NO_DOUBT):
            break
        if word in _DENIALS and word not in asked.plain and not (word == "no" and before[at + 1 : at + 2] == ["1"]):
            return True
    joined = " ".join(before)
    return _PAIRS.search(joined) is not None and _OTHER_THAN.search(joined) is None


def _is_denied_after(after: Sequence[str], asked: Question) -> bool:
    said = " ".join(after[:8])
    ranked = _RANKED.match(said)
    if ranked is not None:  # `the femur is only the second largest`
        return ranked["rank"] not in asked.plain and _is_asked(ranked["what"], asked)
    failed = _FAILED.match(said)
    if failed is None:
        return False
    if failed["what"] is not None:
        return _is_asked(failed["what"], asked)
    return all(word in STOP or word not in asked.plain for word in failed[0].split())


def _is_asked(what: str, asked: Question) -> bool:
    """Whether what is denied of a reference is what the question asks for; else it is a remark."""
    return any(stem(word) in asked.content for word in what.split()[:4])


def _is_relation(before: Sequence[str], after: Sequence[str], asked: Question) -> bool:
    """Whether a reference only says whose friend or rival is meant: `a contemporary of Charles Dickens`."""
    relation = before[-2] if before[-1:] == ["of"] and len(before) > 1 else after[0] if after else ""
    return relation in _RELATIONS and relation not in asked.plain


def _is_replaced(clauses: Sequence[_Clause], last: int, prepared: Prepared, asked: Question) -> bool:
    """Whether what comes after the last mention of a reference gives another answer in its place."""
    later = " ".join(clause.text for clause in clauses[last:])
    if any(_is_other(later[match.end() :], prepared, asked) for match in _RETRACTED.finditer(later)):
        return True
    is_claim = _CLAIMED.search(clauses[last].text) is not None
    for before, clause in pairwise(clauses[last:]):
        match = _INSTEAD.match(clause.text) if is_claim else None
        if match is not None and _is_other(match["other"], prepared, asked):
            return True
        is_turn = clause.plain[0] in _TURN and clause.plain[1:2] != ["also"] and _NOT.isdisjoint(before.plain)
        if is_turn and _is_turn(clause, prepared, asked, is_last=clause is clauses[-1]):
            return True
    return False


def _is_turn(clause: _Clause, prepared: Prepared, asked: Question, *, is_last: bool) -> bool:
    """Whether a clause after a `but` calls what was said wrong, or does nothing else than to name another answer."""
    names = {stem(word) for word in words(" ".join(_CAPITALISED.findall(clause.text)))}
    if is_last:
        names |= {word for word in clause.plain if word[0].isdigit() and word != "1"}
    names -= prepared.union | asked.content
    content = [one for one in map(stem, clause.plain[1:]) if one not in STOP and one not in asked.content]
    if not names:
        is_denied = not _NOT.isdisjoint(clause.plain) and all(one in _NOT or one in _ANSWER for one in content)
        return is_denied or (len(clause.plain) > 1 and clause.plain[-1] in _REBUKE)
    return prepared.union.isdisjoint(content) and all(one in names or one in _ANSWER for one in content)


def _is_other(text: str, prepared: Prepared, asked: Question) -> bool:
    """Whether a text names something that neither the question nor a reference does, and nothing of a reference."""
    content = [stem(word) for word in words(text) if word not in STOP]
    return (
        bool(content)
        and all(word not in prepared.union for word in content)
        and any(word not in asked.content for word in content)
    )
