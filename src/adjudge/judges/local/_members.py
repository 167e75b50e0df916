r"""Lists where several things are asked for: every member, no other one, and in their order where that is asked for.

"List the Baltic states."  reference "Estonia, Latvia, Lithuania"
"- Lithuania\n- Latvia\n- Estonia"       the list
"Estonia and Latvia"                      incomplete
"Estonia, Latvia, Lithuania, Finland"     a member too many
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adjudge.judges.local._limits import PASSAGE, REFERENCES, SHORT
from adjudge.judges.local._nearness import Seen
from adjudge.judges.local._pair import Candidate, Decision, Prepared, Question, members_of
from adjudge.judges.local._words import DENIALS, STOP, lexicon, phrases, stem, stemmed, words

_LONGEST = 600  # characters of a list
_COUNTS = frozenset(map(str, range(2, 11)))
_WORDS_OF_ONE = 5  # words of a member
_HEAD = 3  # letters with which spellings of one name begin
_SURE = 3  # members that make a list by their number
_MARKDOWN = dict.fromkeys(map(ord, '*_`#>"“”$\\'))
_BULLET = re.compile(r"^\s*[-–—•+*]\s+", re.MULTILINE)
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)]\s+")  # `1. `, `(2) `
_SMALL = re.compile(r"[(\[{]\s*(\w{1,2})\s*[)\]}]")  # `(a)`, `[12]`
# What parts members: not the commas of `1,250` and of `July 4, 1776`, nor the slash of `1/2`.
_PART = re.compile(
    r"\s*(?:[;\n|•·&]|,(?!\d{3}(?!\d)|(?:(?<=[a-z] \d,)|(?<=[a-z] \d\d,))\s[12]\d{3}\b)|(?<!\d)/(?!\d)|->|→|[<>]"
    r"|\b(?:and|then)\b)[\s,]*(?:(?:and|then)\b\s*)?"
)
_JOINED = re.compile(r"[;\n|•·&]|\band\b")
_FRAME = re.compile(
    r"([^,;\n]*?)(?::|\b(?:(?:are|were|is|was)(?: (?:made up|composed|formed) of)?"
    r"|includes?|consists? of|comprises?)\b:?)\s+(?=\S)"
)
_DENIED = re.compile(r"\b(?:but )?(?:not|except|excluding|without)\s(?:for\s)?([^.;()]+)[.)]*$")
_SOME = re.compile(r"\b(?:name|list|give|state|mention|identify|cite) (?:me )?(?:any |at least )?(an example|\d)\b")
_LINKS = frozenset(("a", "an", "the", "of", "de", "la", "van", "von", "st"))
_OTHERS = (STOP | DENIALS | {"maybe", "perhaps", "etc", "except"}) - _LINKS
_WORD = re.compile(r"[^\W\d_]+")
_FILLERS = stemmed("answer list following sure correct members one")
_REMARKS = stemmed("yes course indeed please thanks right ok alone together others else")

Member = frozenset[str]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list as a reference gives it."""

    members: tuple[Member, ...]
    is_joined: bool  # by `and`, or line by line: `Paris, Texas` has commas too
    is_plain: bool  # every member is a number or a letter: it has no other name
    is_named: bool  # every word has a capital


def lists_of(texts: Sequence[str]) -> tuple[Listed, ...]:
    """Return the lists that references are; none if one of them is not a list.

    >>> [len(one.members) for one in lists_of(["red, white and blue", "2, 3, 5, 7"])]
    [3, 4]
    >>> lists_of(["July 4, 1776"]), lists_of(["red and blue", "purple"])
    ((), ())
    """
    if len(texts) > REFERENCES or not all(len(text) <= _LONGEST and _PART.search(text) for text in texts):
        return ()
    found = []
    for text in texts:
        members = _members(text)
        # A list with one member twice has another meaning than a set: leave it to other rules.
        if members is None or len(members) < 2 or len(set(members)) < len(members):
            return ()
        is_joined = _JOINED.search(text) is not None
        found.append(Listed(tuple(members), is_joined, all(map(_is_plain, members)), _is_named(text)))
    return tuple(found)


def _is_plain(member: Member) -> bool:
    return len(member) == 1 and (min(member).isdecimal() or len(min(member)) == 1)


def _is_named(text: str) -> bool:
    return not any(word.islower() and word not in _LINKS and word != "and" for word in _WORD.findall(text))


def _members(text: str) -> list[Member] | None:
    """Return the members of a text that is a list and nothing else, or a single one; None if it says more."""
    text = _BULLET.sub("\n", text).translate(_MARKDOWN)
    # Numbers one after the other mark members, and are none themselves.
    numbers = _NUMBER.findall(text)
    if len(numbers) > 1 and numbers == [str(at) for at in range(1, len(numbers) + 1)]:
        text = _NUMBER.sub("\n", text)
    text = _SMALL.sub(r"\1", text).strip(" .!\n[]{}()")
    if "(" in text or "?" in text:
        return None
    if ";" in text:
        # For example `Paris, France; Rome, Italy`.
        text = text.replace(",", " ")
    found = []
    for part in _PART.split(text):
        plain = words(part)
        if not plain:
            continue
        # A single letter may be a member, such as `I` of the vowels.
        is_letter = len(plain) == len(plain[0]) == 1
        if len(plain) > _WORDS_OF_ONE or (not is_letter and any(word in _OTHERS for word in plain)):
            return None
        kept = " ".join([word for word in plain if word not in STOP] or plain)
        found.append(frozenset(map(stem, lexicon("members")["names"].get(kept, kept).split())))
    return found


def by_members(question: str, asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge a candidate that is a list by the lists that are accepted; None where one of them is none plainly."""
    if not 0 < len(candidate.text) <= _LONGEST or any(one.padded == candidate.padded for one in prepared.references):
        return None
    if not prepared.facet(lists_of):
        return (False, "extra-member") if _is_more(asked, prepared, candidate) else None
    if candidate.plain[:1] == ["neither"] and not prepared.union.isdisjoint(candidate.unique):
        return False, "negated"

    given = _given(asked, prepared, candidate)
    if given is None:
        return None
    found = [_compared(one, given, question, asked, prepared, candidate) for one in prepared.facet(lists_of)]
    # Words that lead up to the list may change what it is a list of.
    if (True, "list") in found:
        return None if given.is_led else (True, "list")
    return None if None in found else found[0]


def is_ordered(question: str) -> bool:
    """Whether a question asks for an order.

    >>> [is_ordered(one) for one in ("List them in order of size.", "What is needed in order to win?", "In any order?")]
    [True, False, False]
    """
    return phrases("members", "ordered").search(question.lower()) is not None


class _Given(NamedTuple):
    """What a candidate lists, what it says is not in the list, and whether words of its own lead up to it."""

    members: list[Member]
    denied: list[Member]
    is_led: bool


def _given(asked: Question, prepared: Prepared, candidate: Candidate) -> _Given | None:
    """Return what a candidate lists; None if it says more."""
    text, is_led = candidate.text.strip(), False
    frame = _FRAME.match(text)
    if frame is not None:
        before = {stem(word) for word in words(frame[1]) if word not in STOP and not word.isdecimal()}
        # Words of the question before the list add nothing.
        is_led = not before <= asked.content | _FILLERS
        if not is_led or (before.isdisjoint(prepared.union) and before.isdisjoint(DENIALS)):
            text = text[frame.end() :]
    # For example `Rome, but not Paris`.
    denial = _DENIED.search(text)
    members = _members(text if denial is None else text[: denial.start()].rstrip(" ,;("))
    denied = _members("" if denial is None else denial[1])
    return None if members is None or denied is None or not (members or denied) else _Given(members, denied, is_led)


def _compared(
    listed: Listed, given: _Given, question: str, asked: Question, prepared: Prepared, candidate: Candidate
) -> Decision | None:
    """Judge what is given by one list; a ranking is right in its order only."""
    mine, yours = _keys(listed.members, asked), _keys(given.members, asked)
    if not set(mine).isdisjoint(_keys(given.denied, asked)):
        return False, "negated"
    some = _SOME.search(" ".join(words(question))) if set(yours) < set(mine) else None
    # For example `Name two of them`, `Give an example`.
    if some is not None and int(some[1].replace("an example", "1")) <= len(set(yours)):
        return True, "list"

    is_ranked = is_ordered(question)
    # Several things are meant, and not one of which the name has commas.
    is_asked_for = asked.wants_list or str(len(mine)) in asked.plain
    is_sure = is_ranked or is_asked_for or (len(mine) >= _SURE and (listed.is_joined or listed.is_plain))
    if set(mine) == set(yours) and (is_sure or (listed.is_joined and asked.kind == "who")):
        if mine == yours or not is_ranked:
            # Numbers in another order may be the combination of a lock.
            is_code = mine != yours and not asked.wants_list and all(map(str.isdecimal, frozenset().union(*mine)))
            return None if is_code else (True, "list")
        return False, "other-order"
    fault = _fault(mine, yours, listed, asked, prepared, candidate) if is_sure else None
    return None if fault is None else (False, fault)


def _keys(members: Sequence[Member], asked: Question) -> list[Member]:
    """Return members without the question's words, in which they may differ: `Lake Erie` and `Erie`."""
    bare = [one - asked.content or one for one in members]
    return bare if len(set(bare)) == len(set(members)) else list(members)


def _fault(
    mine: list[Member], yours: list[Member], listed: Listed, asked: Question, prepared: Prepared, candidate: Candidate
) -> str | None:
    """Return why a list is another one than the accepted; None if it may be that in other words."""
    missing, extra = set(mine).difference(yours), set(yours).difference(mine)
    # All that is given is accepted, but some of it is missing.
    if not extra:
        return "list-incomplete"
    if not all(
        _is_plain(one) if listed.is_plain else _is_foreign(one, asked, prepared, candidate, is_named=listed.is_named)
        for one in extra
    ):
        return None
    if not missing:
        return "extra-member"
    is_kept = listed.is_named and 2 * len(missing) <= len(mine) and len(missing) <= len(extra)
    is_form = any(_is_form(one, other) for one in missing for other in extra)
    return "other-member" if listed.is_plain or (is_kept and not is_form) else None


def _is_form(one: Member, other: Member) -> bool:
    """Whether two members may be one in two spellings, or the initials of each other."""
    heads = {word[:_HEAD] for word in one}
    if any(word[:_HEAD] in heads for word in other):
        return True
    initials = ["".join(sorted(word[0] for word in member)) for member in (one, other)]
    return [*one] == [initials[1]] or [*other] == [initials[0]]


def _is_foreign(member: Member, asked: Question, prepared: Prepared, candidate: Candidate, *, is_named: bool) -> bool:
    """Whether a member is another thing, of which there is nothing in question and references, and no remark."""
    if not member.isdisjoint(prepared.union) or member <= asked.content:
        return False
    if is_named:
        # `the Nile, Africa's longest river` is one member, not two.
        names = set(map(stem, candidate.names()))
        return member <= names or ("and" in candidate.plain and not member.isdisjoint(names))
    adverbs = (stem(word) for word in candidate.plain if word.endswith("ly"))
    return member.isdisjoint(_REMARKS) and member.isdisjoint(adverbs)


def _is_more(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a short candidate is a list with the one thing that is accepted, and others."""
    if prepared.given > 1 or prepared.explains or not 1 < len(candidate.plain) <= PASSAGE:
        return False
    if not any(one.content <= candidate.unique for one in prepared.references) or not _PART.search(candidate.text):
        return False
    given = _given(asked, prepared, candidate)
    if given is None or len(given.members) < 2:
        return False
    mine, is_named = prepared.references[0].content, _is_named(prepared.texts[0])
    others = [one for one in _keys(given.members, asked) if one not in (mine, mine - asked.content)]
    return len(others) == len(given.members) - 1 and all(
        _is_foreign(one, asked, prepared, candidate, is_named=is_named) for one in others
    )


def is_incomplete(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate gives some members of a list and nothing else, where only lists are accepted.

    Where so many are asked for, a wrong member counts like a missing one.
    """
    if seen.complete or prepared.explains or seen.members == 1 or not all(one.members for one in prepared.references):
        return False
    is_where = asked.kind == "where" and not asked.wants_list
    if is_where and not any(one.is_joined for one in prepared.facet(lists_of)):
        # `Springfield, Illinois, United States` is one place.
        return False
    if all(one in prepared.union or one in asked.content for one in candidate.content):
        return True
    # Only a short list in answer to a stated number can have a wrong member by count.
    if len(candidate.plain) > SHORT or _COUNTS.isdisjoint(asked.plain):
        return False
    given = members_of(candidate.text.strip(" ."))
    return any(one.isdisjoint(prepared.union) and not one <= asked.content for one in given)
