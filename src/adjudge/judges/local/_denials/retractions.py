"""Answers that a candidate takes back after it has named them: called false, or replaced by another.

"Paris is the capital. That could not be further from the truth."   rebuked
"Marie Curie... scratch that: Rutherford."                           replaced
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from adjudge.judges.local._reading.answer import TAKEN_BACK
from adjudge.judges.local._reading.candidate import Question
from adjudge.judges.local._reading.clauses import Clause, is_of_question
from adjudge.judges.local._reading.reference import Prepared, Reference
from adjudge.judges.local._reading.words import NOT, STOP, stem, stemmed, stems_of, words

_RETRACTED = re.compile(
    r"\b(?:that(?:'s| is) wrong"
    r"|my (?:final |actual |real )?answer (?:is|will be|would be)"
    r"|i(?:'ll| will| would|'d| am going to|'m going to)? (?:go(?:ing)? (?:with|for)|settle (?:on|for))"
    r"|i(?:'ll| will| would|'d) (?:say|answer|choose|pick|take)"
    r"|the (?:right|correct|real|actual|true) \w+ (?:is|was|were|are))\b",
    re.IGNORECASE,
)
_CLAIMED = re.compile(
    r"\b(?:thought|believed?|assumed?|claim(?:ed)?|often|commonly|usually|popular(?:ly)?|comes? to mind|formerly"
    r"|used to|at first|attributed|credited"
    r"|ascribed|wrongly|mistakenly|falsely|people (?:say|think)|some (?:say|think)|once)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^\W*(?:(?:but|however|now|today|actually|really|instead|rather|in fact|in reality|in truth),? )+"
    r"(?:it|that|he|she|they|the \w+(?: \w+)?)(?:'s| is| was| are| were)(?: (?:now|actually|really|in fact|in))*"
    r" (?:the |an? )?(?P<other>\w.*)",
    re.IGNORECASE,
)
_NO_NAMES = STOP | frozenset(
    "everyone everybody anyone anybody nobody people many several few no yes not nothing none historians"
    " experts scientists scholars sources books well sadly unfortunately yet however still even now today".split()
)
_IN_FACT = frozenset(("however", "but", "yet", "actually", "fact", "reality"))
_TURN = frozenset("but however yet now today actually really instead rather no".split())
_REBUKE = frozenset("wrong false incorrect untrue mistaken mistake myth misconception nope not no".split())
_WRONG = (
    "wrong|false|incorrect|untrue|mistaken|inaccurate|erroneous|myth|misconception|fallacy|hoax|baseless|unfounded"
    "|nonsense|error|mistake|debunked|disproved|refuted|discredited|misattribution"
)
CALLED_FALSE = frozenset(_WRONG.split("|")) | {"disagree"}
_FALSE = CALLED_FALSE | frozenset(
    "true correct right so case accurate supported agree hold stand withstand survive fit match add apply borne".split()
)
_CLAIMS = (
    "(?:claim|idea|belief|view|tradition|theory|legend|story|notion|attribution|answer|statement|account|assumption"
    "|impression|misconception|myth|rumou?r|saying)"
)
_ANOTHER = re.compile(rf"\b(?:{_CLAIMS}s?|sa(?:y|ys|id)|think|thought|believed?|claimed) that \w+ \w+")
_REBUKED = re.compile(
    r"^(?:\w+ ){1,3}(?:is|are|was|were|be|been|seems?|proves?|proved|turns? out|remains?)"
    rf"(?: (?!not|never|hardly|no)\w+){{0,3}}? (?:{_WRONG})\b"
    rf"|\b{_CLAIMS}s? (?:is|are|was|were|seems?|proves?|proved|turns? out|remains?)"
    rf"(?: (?!not|never|no)\w+){{0,3}}? (?:{_WRONG})\b"
    r"|\b(?:this|that|these|those|it|they|which|such|claims?|idea|belief|view|tradition|theory|legend|story|notion"
    r"|attribution|answer|statement|account)\b(?: \w+){0,3}?"
    r" (?:(?:is|are|was|were|do|does|did|has|have|can|could|will) (?:not|never|hardly|scarcely)"
    r"|isnt|arent|wasnt|werent|doesnt|dont|didnt|cannot|cant|by no means|in no way)(?: \w+){0,2}?"
    r" (?:true|correct|right|so|case|accurate|supported|hold|stand|withstand|survive|fit|match|add up|apply|borne)\b"
    r"|\bi (?:\w+ )?(?:disagree|(?:do not|dont|cannot|cant) (?:\w+ )?agree)\b"
)
_UNSURE = frozenset("if may might could i im me unless perhaps maybe".split())
_FAR_OFF = re.compile(
    r"\b(?:not|never|couldnt|cannot) be (?:more|further)\b|\bfar from (?:it|truth|true)\b|\bnot even close\b"
    r"|\b(?:misled|misleads?|misinformed?|deceived?|fooled|lied to) (?:you|us|them|people|every\w+|me|readers)\b"
    r"|\bthink again\b|\bquite (?:opposite|contrary)\b|\bopposite is true\b|\bknow better\b"
    r"|\bsome(?:body|one|thing|where) else\b|\bnothing of sort\b"
)
_COPULAS = frozenset(("is", "are", "was", "were"))
CONTRASTS = frozenset(("whereas", "while", "though", "although"))
_ELLIPSIS = re.compile(
    r"\b(?:it|he|she|they|that|this) (?:(?:is|was|are|were|did|does|do|has|have|had) not"
    r"|isnt|wasnt|arent|werent|didnt|doesnt|dont|hasnt|havent)$"
)
ANSWER = stemmed(
    "settle answer say choose pick go going guess think believe final right correct real true actual 1 fact"
    " reflection now today im ill id"
)


def is_rebuked(clauses: Sequence[Clause], last: int, prepared: Prepared, asked: Question) -> bool:
    """Whether what comes after the last mention of a reference calls it false, before it names somebody else."""
    for at, clause in enumerate(clauses[last + 1 :]):
        if names_in(clause, prepared, asked):
            return False
        said = " ".join(clause.plain)
        is_far = _FAR_OFF.search(said) is not None
        if is_far or _ANOTHER.search(said):
            return is_far
        if not _FALSE.isdisjoint(clause.plain) and _REBUKED.search(said):
            return _UNSURE.isdisjoint(clause.plain[:2]) or "that" in clause.plain
        # For example `Paris is what they say, but it is not`.
        if not NOT.isdisjoint(clause.plain) and _ELLIPSIS.search(said):
            later = clauses[last + at + 2 :]
            return is_restated(later, asked) or any(names_in(one, prepared, asked) for one in later)
    return False


def is_replaced(clauses: Sequence[Clause], last: int, prepared: Prepared, asked: Question) -> bool:
    """Whether what comes after the last mention of a reference gives another answer in its place."""
    later = " ".join(clause.text for clause in clauses[last:])
    retractions = (*_RETRACTED.finditer(later), *TAKEN_BACK.finditer(later))
    if any(_is_other(later[match.end() :], prepared, asked) for match in retractions):
        return True
    is_claim = _CLAIMED.search(clauses[last].text) is not None
    if is_claim and _is_turned(clauses[last + 1 :], prepared, asked):
        return True
    for before, clause in pairwise(clauses[last:]):
        match = _INSTEAD.match(clause.text) if is_claim else None
        if match is not None and _is_other(match["other"], prepared, asked):
            return True
        is_turn = clause.plain[0] in _TURN and clause.plain[1:2] != ["also"] and NOT.isdisjoint(before.plain)
        is_of_another = before is not clauses[last] and bool(names_in(before, prepared, asked))
        if is_turn and not is_of_another and _is_turn(clause, prepared, asked, is_last=clause is clauses[-1]):
            return True
    return False


def _is_turned(later: Sequence[Clause], prepared: Prepared, asked: Question) -> bool:
    """Whether what follows what others say comes to somebody else, in fact."""
    turned = False
    for clause in later:
        turned = turned or not _IN_FACT.isdisjoint(clause.plain)
        if turned and names_in(clause, prepared, asked) and " fact " in f" {' '.join(clause.plain)} ":
            return True
    return False


def is_conceded(clauses: Sequence[Clause], named: Sequence[Reference], prepared: Prepared, asked: Question) -> bool:
    """Whether a reference is named in contrast to another answer only: `Lyon has it, whereas Paris lost it`."""
    is_other = False
    for clause in clauses:
        if not any(clause.has(one) for one in named):
            names = names_in(clause, prepared, asked, with_first=True)
            is_other = is_other or bool(names and NOT.isdisjoint(clause.plain))
        elif (
            not is_other
            or clause.plain[0] not in CONTRASTS
            or any(is_of_question(word, asked) for word in clause.plain)
        ):
            return False
    return is_other


def is_restated(later: Sequence[Clause], asked: Question) -> bool:
    """Whether a clause says the question's words of something else than a reference: `the main ingredient is beans`."""
    for clause in later:
        if not _COPULAS.isdisjoint(clause.plain) and NOT.isdisjoint(clause.plain):
            content = {word for word in clause.plain if word not in STOP}
            shared = sum(is_of_question(word, asked) for word in content)
            if 2 * shared > len(asked.content) and shared < len(content):
                return True
    return False


def names_in(clause: Clause, prepared: Prepared, asked: Question, *, with_first: bool = False) -> set[str]:
    """Return the names in a clause that neither the question nor a reference has."""
    found = [word for word in clause.names(with_first=with_first) if word.lower() not in _NO_NAMES]
    return {stem(word) for word in words(" ".join(found))} - prepared.union - asked.content if found else set()


def _is_turn(clause: Clause, prepared: Prepared, asked: Question, *, is_last: bool) -> bool:
    """Whether a clause after a `but` calls what was said wrong, or does nothing else than to name another answer."""
    names = names_in(clause, prepared, asked)
    if is_last:
        names |= {word for word in clause.plain if word[0].isdigit() and word != "1"} - prepared.union - asked.content
    content = [one for one in map(stem, clause.plain[1:]) if one not in STOP and one not in asked.content]
    if not names:
        is_denied = not NOT.isdisjoint(clause.plain) and all(one in NOT or one in ANSWER for one in content)
        return is_denied or (len(clause.plain) > 1 and clause.plain[-1] in _REBUKE)
    return prepared.union.isdisjoint(content) and all(one in names or one in ANSWER for one in content)


def _is_other(text: str, prepared: Prepared, asked: Question) -> bool:
    """Whether a text names something that neither the question nor a reference does, and nothing of a reference."""
    content = stems_of(text, without=STOP)
    return (
        bool(content)
        and all(word not in prepared.union for word in content)
        and any(word not in asked.content for word in content)
    )
