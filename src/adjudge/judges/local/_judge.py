"""The judge in the package: no key, no network, no model. For now a few lexical rules, and honest about it.

A response is CORRECT when it gives a reference, after normalisation, without denying it or leaving the choice open; a
reference that is a number is compared as one, a yes or no by polarity. Against people it reaches a kappa of .64 on
Natural Questions, .77 on TriviaQA and .53 on NQ301, a harder set, where a second person reaches .74 (validation rows:
1,320, 965 and 784; containment alone has .63, .75 and .51 on larger sets of the same kind). It is right about most of
what it accepts and too strict with paraphrases: do not take it for a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adjudge.errors import DataError, UsageError
from adjudge.judges._material import references_of, text_of
from adjudge.judges._vacuous import is_vacuous
from adjudge.model import Judgement
from adjudge.text import fold, tokens

if TYPE_CHECKING:
    from adjudge.model import Ask, ChatModel

TIERS = (0,)

AGREEMENT = "lexical judge; agreement with people: kappa .53 to .77, on short factual answers"

_YES = frozenset({"yes", "yeah", "yep", "yup", "true", "correct", "indeed", "affirmative"})
_NO = frozenset({"no", "nope", "nah", "false", "incorrect", "negative", "not"})
_DENIAL = frozenset(
    ("not", "never", "neither", "nor", "isnt", "wasnt", "arent", "werent", "doesnt", "didnt", "dont", "cannot", "cant")
)
_DOUBT = frozenset(("either", "perhaps", "maybe", "possibly", "probably", "might", "could", "may"))
_REFUSAL = re.compile(
    r"\bi (?:do not|dont|did not|didnt) (?:really )?(?:know|have)\b|"
    r"\bi(?:m| am) (?:not (?:sure|certain|able)|unable)\b|"
    r"\bi (?:cannot|cant|can not) (?:answer|help|provide|find|determine|say)\b|\bno (?:idea|clue)\b|\bi have no\b|"
    r"\b(?:there is )?not enough information\b|\bunable to (?:answer|determine|find|provide)\b|\bunanswerable\b"
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,300})(?:\.[0-9]{1,300})?(?![0-9])")
_BARE_NUMBER = re.compile(rf"[$€£¥]?\s*({_NUMBER.pattern})\s*%?")
_LONGEST = 1_000_000


class LocalJudge:
    """Judges by rules in the package, with the same interface as the judges that ask a model, and no calls.

    `tier` chooses among what is installed; tier 0 is there always. Every reason says which rule decided and how
    well such a judge is known to agree with people.

    >>> LocalJudge().judge("What is the capital of France?", "Paris", "It is Paris.").verdict
    'CORRECT'
    >>> LocalJudge().judge("How tall is it?", ["330 m"], "Perhaps 300 m or 330 m").reason
    'hedged (lexical judge; agreement with people: kappa .53 to .77, on short factual answers)'
    """

    def __init__(self, tier: int | None = None) -> None:
        if tier not in (None, *TIERS):
            raise UsageError(f"the local judge has tier {', '.join(map(str, TIERS))}, not {tier}", code="unknown-judge")
        self.tier = TIERS[-1] if tier is None else tier
        self.name = f"local:{self.tier}"
        self.version = "1"
        self.prompt_hash = None
        self.chats: Mapping[str, ChatModel] = {}

    def judge(self, question: str, reference: str | Sequence[str], response: str | None) -> Judgement:
        """Judge one response."""
        try:
            references = references_of(reference)
            text_of(question, "question")
            text = text_of(response, "response")
        except DataError as error:
            return Judgement("error", reason=error.reason, judge=self.name)
        if is_vacuous(text, references):
            return Judgement("scored", "WRONG", reason="vacuous", judge=self.name)
        if len(text) > _LONGEST:
            return Judgement("scored", "WRONG", reason=f"too-long: {len(text)} characters", judge=self.name)
        right, rule = _decide(references, text)
        verdict = "CORRECT" if right else "WRONG"
        return Judgement("scored", verdict, reason=f"{rule} ({AGREEMENT})", judge=self.name)  # type: ignore[arg-type]

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; nothing is asked of anybody."""
        del ask
        return self.judge(question, reference, response)

    def judge_many(self, rows: Iterable[Mapping[str, Any]]) -> list[Judgement]:
        """Judge rows with `question`, `reference` and `response`."""
        return [self.judge(row.get("question", ""), row.get("reference", ()), row.get("response")) for row in rows]


class _Response:
    """A response as the rules look at it, prepared once for all references."""

    def __init__(self, text: str) -> None:
        self.words = tokens(text)
        self.padded = f" {' '.join(self.words)} "
        self.loose = frozenset(self.words) | frozenset(tokens(fold(text).replace("-", " ")))
        self.refuses = _REFUSAL.search(self.padded) is not None
        self.numbers = {_value(match[0]) for match in _NUMBER.finditer(fold(text))}


def _decide(references: Sequence[str], text: str) -> tuple[bool, str]:
    """Return whether the response is right, and the name of the rule that says so."""
    response = _Response(text)
    faults: list[str] = []
    for reference in references:
        right, rule = _against(reference, response)
        if right:
            return True, rule
        faults.append(rule)
    telling = ("negated", "hedged") if not response.refuses else ("negated", "hedged", "refusal")
    return False, next((fault for fault in telling if fault in faults or fault == "refusal"), faults[0])


def _against(reference: str, response: _Response) -> tuple[bool, str]:
    gold = " ".join(tokens(reference))
    if _REFUSAL.search(gold):
        return response.refuses, "both-refuse" if response.refuses else "answers-the-unanswerable"
    if gold in ("yes", "no"):
        return _polarity(response.words) == gold, "yes-no"
    number = _BARE_NUMBER.fullmatch(fold(reference).strip())
    if number is not None and _value(number[1]) not in response.numbers:
        return False, "other-number" if response.numbers else "no-number"
    standings = _standings(gold, response.padded) if gold else []
    if standings:
        return "contained" in standings, "contained" if "contained" in standings else standings[0]
    if number is not None:
        return True, "number"
    return _loosely(tokens(fold(reference).replace("-", " ")), response)


def _loosely(gold: list[str], response: _Response) -> tuple[bool, str]:
    """Compare by words: all of the reference's in any order, or a short response that is the better part of it."""
    if any(_forms(word).isdisjoint(response.loose) for word in gold) or not gold:
        short = response.words
        is_part = len(short) <= 6 and len(short) * 2 >= len(gold) and f" {' '.join(gold)} ".find(response.padded) >= 0
        return is_part, "part-of-reference" if is_part else "not-contained"
    if not _DENIAL.isdisjoint(response.loose):
        return False, "negated"
    return True, "all-words"


def _forms(word: str) -> frozenset[str]:
    """Return a word and its singular or plural."""
    if len(word) <= 3:
        return frozenset((word,))
    return frozenset((word, f"{word}s", f"{word}es", word.removesuffix("s")))


def _standings(gold: str, padded: str) -> list[str]:
    """Say for each place where the gold stands whether it is an answer there, denied, or one of several offers."""
    found: list[str] = []
    at = padded.find(f" {gold} ")
    while at >= 0 and len(found) < 100:
        end = at + len(gold) + 1
        before, after = padded[max(0, at - 80) : at].split()[-5:], padded[end : end + 40].split()[:1]
        if not _DENIAL.isdisjoint(before[-3:]):
            found.append("negated")
        else:
            # "naos or cella" gives two names for one thing; only who doubts as well leaves the choice to the reader.
            doubts = not _DOUBT.isdisjoint(before) and "or" in (*before, *after)
            found.append("hedged" if doubts else "contained")
        at = padded.find(f" {gold} ", end)
    return found


def _polarity(words: list[str]) -> str | None:
    """Return the yes or no that a response begins with, or the only one that it contains."""
    if words and (words[0] in _YES or words[0] in _NO):
        return "yes" if words[0] in _YES else "no"
    found = {"yes" if word in _YES else "no" for word in words[:200] if word in _YES or word in _NO}
    return found.pop() if len(found) == 1 else None


def _value(written: str) -> tuple[str, str]:
    """Return a number as sign with digits, and decimals, so that 1,000 is 1000.0 at any length."""
    whole, _, decimals = written.replace(",", "").partition(".")
    sign = "-" if whole.startswith("-") else ""
    digits, decimals = whole.lstrip("+-").lstrip("0") or "0", decimals.rstrip("0")
    return ("" if (digits, decimals) == ("0", "") else sign) + digits, decimals
