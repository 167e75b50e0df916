"""Answers that a candidate names and takes back: denies, calls false, or replaces by another.

"A hexagon does not have 6 sides."                                   denied
"I cannot confirm that it is helium."                                not vouched for
"Au is the symbol of silver, not of gold."                           denied beside
"Paris is the capital. That could not be further from the truth."    rebuked
"Marie Curie... scratch that: Rutherford."                            replaced
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from adjudge.judges.local._answer import TAKEN_BACK
from adjudge.judges.local._clauses import Clause, clauses_near, is_asked, is_of_question
from adjudge.judges.local._limits import PASSAGE
from adjudge.judges.local._pair import Candidate, Prepared, Question, Reference
from adjudge.judges.local._words import NOT, STOP, stem, stemmed, stems_of, words

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


_DENIALS = NOT | frozenset(
    "wrong wrongly false falsely incorrect incorrectly untrue mistaken mistakenly mistake erroneous erroneously myth"
    " misconception fallacy hoax without unlike except excluding lack lacks lacked lacking fail fails failed"
    " outside contrary opposite nobody hardly whether error errors blunder fallacious inaccurate inaccurately"
    " forget ignore disregard nonsense unreliable unfounded"
    " no nowhere unable impossible unsure uncertain unclear unlikely doubtful doubt doubts".split()
)
_DENIED = (
    _DENIALS
    | frozenset(
        form
        for verb in "refuse reject exclude dismiss discard eliminate discount".split()
        for form in (verb, f"{verb}s", f"{verb}es", f"{verb.removesuffix('e')}ed", f"{verb.removesuffix('e')}ing")
    )
    | {"deny", "denies", "denied", "denying"}
)
_REACH = frozenset("until till before after since than only just merely simply question unless least but".split())
_DOUBTS = frozenset(("doubt", "doubts"))
_NO_DOUBT = frozenset(("no", "without", "not", "any", "little", "beyond"))
_PAIRS = re.compile(
    r"\b(?:no longer|other than|rather than|instead of|apart from|opposed to|far from|rul(?:e|ed|es) out"
    r"|(?:any|every|all)\w*(?: \w+)? (?:but|save)|nothing to do with"
    r"|(?:mix(?:ed)? up|confused?|mistaken|taken) (?:with|for)"
    r"|(?:tell|say|know|sure|certain|confirm|verify|clear|determine|prove) if)\b(?: \w+){0,4}$"
)
_OTHER_THAN = re.compile(r"\b(?:non|no)(?:e|body|thing| 1)? other than\b")
_FAILED = re.compile(
    r"(?:(?:it|him|her|them)sel(?:f|ves) )?"
    r"(?:(?:has|have|had|was|were|is|are|did|does|do|can|could|would|will|must|should|may|might) )?(?:\w+ly )?"
    r"(?:(?:not|never|isnt|wasnt|arent|werent|doesnt|didnt|dont|hasnt|havent|hadnt|cannot|cant|couldnt|wont)\b(?P<what>.*)"
    r"|nothing to do with"
    r"|(?:plays? |played |takes? |took )?no (?:\w+ )?(?:hand|part|role|share|claim|place|link|bearing|business)\b"
    r"|fail(?:s|ed)? to\b|lost\b"
    r"|(?:(?:been|be) )?(?:\w+ly )?(?:rejected|dismissed|excluded|discarded|eliminated)\b"
    r"|(?:been )?(?:replaced|superseded|displaced|disproved|debunked|refuted)\b"
    r"|(?:be )?(?:\w+ )?(?:wrong|false|incorrect|untrue|mistaken|myth|misconception|fallacy|ruled out)\b)"
)
_SECOND = re.compile(r"\b(?:[Ss]econd|[Tt]hird|2nd|3rd)\b")
_RANKED = re.compile(
    r"(?:is|was|are|were|comes|came|ranks|ranked) (?:only |just |merely )?(?P<rank>[2-9])\b(?P<what>.*)"
)
_ON = frozenset(("and", "but", "yet", "though", "although", "then", "only", "later"))
_DISMISSED = frozenset(
    "wrong false incorrect untrue mistaken inaccurate erroneous unreliable unfounded baseless debunked nonsense myth"
    " misconception fallacy hoax disproved refuted discredited".split()
)
_REJECTED = _DISMISSED | frozenset(
    "rejected dismissed excluded discarded eliminated discounted vetoed disqualified".split()
)
_ONCE = re.compile(
    r"\b(?:used to|once|long|previously|formerly|originally|for \w+|until)\b(?: \w+){0,3}"
    r" (?:thought|believed|assumed|held|said|considered|taught)\b"
)
_USED_TO_BE = re.compile(r"used to be|(?:was|were) (?:once|long|formerly|previously|originally)")
_NOWADAYS = frozenset("now today nowadays better since anymore".split())
_DID_NOT_DO_IT = re.compile(r" \w+ (?:it|this|that|these|those|them|1|so)(?: 1)?(?: at all| either)?")
_DOES_NOT_DO_IT = re.compile(rf"(?:(?:did|does|do) not|didnt|doesnt|dont|never)(?:{_DID_NOT_DO_IT.pattern})")
_RULE = frozenset(("rule", "rules", "ruled", "ruling"))
_IS_NOT = re.compile(r"(?:is|was|are|were) |isnt|wasnt|arent|werent")
_NOT_ONLY = re.compile(r" (?:only|just|merely|simply|surprisingly|until|to be confused|confused)\b|$")
_RELATIONS = frozenset(
    "contemporary friend rival student pupil teacher brother sister son daughter wife husband father mother cousin"
    " uncle nephew neighbour neighbor predecessor successor opponent assistant follower colleague widow".split()
)
_CUES = frozenset(map(stem, _DENIED | _REJECTED | CALLED_FALSE)) | stemmed(
    "longer rather instead apart opposed nothing lost sorry oops meant mean wait scratch strike correction thoughts"
    " answer save else rule replaced however yet actually fact misled mislead fooled deceived"
)
_COMMON_CUES = frozenset(map(stem, _RELATIONS | CONTRASTS)) | stemmed(
    "other far but if go going settle say choose pick right real true believe assume claim often"
    " commonly usually popular mind formerly used people think once let make take now today know"
)


def denial(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    """Return how a candidate that names a reference takes it back: `negated`, `retracted`, or not at all."""
    # A look for cue words spares most candidates the reading of their clauses.
    is_likely = len(candidate.plain) <= PASSAGE and not _COMMON_CUES.isdisjoint(candidate.unique)
    if (
        not is_likely
        and _CUES.isdisjoint(candidate.unique)
        and not (candidate.numbers and _SECOND.search(candidate.text))
    ):
        return None
    # Where the question or the answer denies by itself, denials prove nothing.
    is_open = not (asked.denies or prepared.explains)
    named = [one for one in prepared.references if one.padded in candidate.padded and not one.denies and is_open]
    clauses = clauses_near(candidate.text, named) if named else []
    last, is_given, is_denied = -1, False, False
    for at, clause in enumerate(clauses):
        for reference in named:
            if clause.has(reference):
                last = at
                denies = (is_given and is_denied) or _is_denied(clauses, at, reference, asked)
                is_given, is_denied = is_given or not denies, is_denied or denies
    if last < 0:
        return None
    # A later clause may give again what an earlier one denied.
    is_denied = not is_given or (is_denied and is_restated(clauses[last + 1 :], asked))
    if is_denied or is_rebuked(clauses, last, prepared, asked) or is_conceded(clauses, named, prepared, asked):
        return "negated"
    return "retracted" if is_replaced(clauses, last, prepared, asked) else None


def _is_denied(clauses: Sequence[Clause], at: int, reference: Reference, asked: Question) -> bool:
    """Whether a clause denies a reference at every place where it has it."""
    return all(
        _is_denied_inside(before, after, asked) or _is_denied_beside(clauses, at, (before, after), asked)
        for before, after in clauses[at].around(reference)
    )


def _is_denied_inside(before: Sequence[str], after: Sequence[str], asked: Question) -> bool:
    """Whether the words before a reference deny it, or what the clause says of it."""
    if not _DISMISSED.isdisjoint(after) and _DISMISSED.isdisjoint(asked.plain) and NOT.isdisjoint(after):
        # For example `the claim that France gave it is false`.
        return True
    if after[:1] == ["out"] and before[-1:] and before[-1] in _RULE:
        # For example `I would rule Paris out`.
        return True
    return _is_denied_before(before, asked) or _is_denied_after(after, asked) or _is_relation(before, after, asked)


def _is_denied_beside(clauses: Sequence[Clause], at: int, rest: Sequence[Sequence[str]], asked: Question) -> bool:
    """Whether the clause before a reference or the one after it denies it; `rest` is its own around it."""
    before, after = rest
    if not before and _is_left_hanging(clauses, at):
        # For example `it is not, in fact, Paris`.
        return True
    following = clauses[at + 1].plain if at + 1 < len(clauses) and "or" not in asked.plain else []
    if following[:1] and following[0] in _ON and not _REJECTED.isdisjoint(following[1:3]):
        # For example `Paris was proposed, and rejected`.
        return _REJECTED.isdisjoint(asked.plain)
    if following[:1] and following[0] in _ON and _DOES_NOT_DO_IT.fullmatch(" ".join(following[1:])):
        # For example `Paris gets the credit, but does not deserve it`.
        return True
    is_past = _ONCE.search(" ".join(before)) or (
        _USED_TO_BE.match(" ".join(after[:3])) and _ON.isdisjoint(following[:1])
    )
    if is_past and not _NOWADAYS.isdisjoint(following):
        # For example `It was long thought to be Paris. We know better now.`
        return True
    if following[:1] != ["not"] or len(following) == 1:
        # For example `Au is the symbol of silver, not of gold`.
        return False
    return all(word in STOP or stem(word) in asked.content for word in following[1:])


def _is_left_hanging(clauses: Sequence[Clause], at: int) -> bool:
    """Whether what comes before a clause ends with a denial, but for small words and asides."""
    for clause in reversed(clauses[max(0, at - 2) : at]):
        if clause.plain[-1] in NOT:
            return clause.plain[-2:-1] != ["or"]
        if not all(word in STOP or stem(word) in ANSWER for word in clause.plain):
            return False
    return False


def _is_denied_before(before: Sequence[str], asked: Question) -> bool:
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        # Such a word ends the reach of a denial: `not before Paris`, `no doubt Paris`.
        if word in _REACH or (word in _DOUBTS and at and before[at - 1] in _NO_DOUBT):
            break
        if word in _DENIED and word not in asked.plain and not (word == "no" and before[at + 1 : at + 2] == ["1"]):
            # `cannot live without it` does not deny.
            return word != "without" or NOT.isdisjoint(before)
    joined = " ".join(before)
    return _PAIRS.search(joined) is not None and _OTHER_THAN.search(joined) is None


def _is_denied_after(after: Sequence[str], asked: Question) -> bool:
    said = " ".join(after[:8])
    ranked = _RANKED.match(said)
    # For example `the femur is only the second largest`.
    if ranked is not None:
        return ranked["rank"] not in asked.plain and is_asked(ranked["what"], asked)
    # `Paris was rejected` denies, unless the question asks for what was rejected.
    failed = _FAILED.match(said)
    if failed is None:
        return False
    if failed["what"] is not None:
        is_said = _IS_NOT.match(said) or _DID_NOT_DO_IT.fullmatch(failed["what"]) or is_asked(failed["what"], asked)
        return bool(is_said) and _NOT_ONLY.match(failed["what"]) is None
    return all(word in STOP or word not in asked.plain for word in failed[0].split())


def _is_relation(before: Sequence[str], after: Sequence[str], asked: Question) -> bool:
    """Whether a reference only says whose friend or rival is meant: `a contemporary of Charles Dickens`."""
    relation = before[-2] if before[-1:] == ["of"] and len(before) > 1 else after[0] if after else ""
    return relation in _RELATIONS and relation not in asked.plain
