"""Extraction, reading and comparison put together, with the memo and the worker behind them."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from adjudge.rewards.math._exact import show_number
from adjudge.rewards.math._extract import Found, Missing, extract, extract_gold
from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._limits import MAX_ANSWER, LimitExceeded, Memo, StepBudget, Unreadable
from adjudge.rewards.math._notation import same_formula
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._read import ParsedAnswer, read
from adjudge.rewards.math._same import ComparisonRules, NeedsWorker, contains, same
from adjudge.rewards.math._show import describe
from adjudge.rewards.math._tree import Node
from adjudge.rewards.math._verdict import MathVerdict, Reason
from adjudge.rewards.math._weight import is_heavy
from adjudge.rewards.math._words import choice_of, choices_of, squash
from adjudge.text.numbers import read_numeral

_LARGE = 64 * 1024
_LOOKED_AT = 1024 * 1024  # extraction is linear and takes less than 10 ms for this much
_DECIMAL_COMMA = r"([-+]?(?:\d+|\d{1,3}(?:\.\d{3})+))(?:,|\{,\}(?!\d{3}$))(\d+)"
_DEFAULT = MathPolicy()


@lru_cache(maxsize=1024)
def _gold(gold: str) -> tuple[str, tuple[str, str]]:
    """Return the text of a gold, and what the same text looks like squashed, alone and with all around it."""
    # What the gold takes is not held against the response, so that it has a budget of its own.
    with StepBudget():
        text = extract_gold(gold).text
    squashed = squash(text)
    return text, (squashed, squashed if text == gold else squash(gold))


@lru_cache(maxsize=1024)
def _gold_reading(text: str) -> ParsedAnswer | str:
    """Return the reading of a gold, or the reason why there is none."""
    with StepBudget():
        try:
            return read(text)
        except (Unreadable, LimitExceeded) as problem:
            return str(problem)


class _Decision(NamedTuple):
    """Whether two readings are equal, why, and by which tier."""

    equal: bool
    reason: Reason
    tier: int


def clear_memo() -> None:
    """Forget every decision, for measurements with cold caches."""
    for memo in (_decide_trees, _gold, _gold_reading):
        memo.cache_clear()


@runtime_checkable
class Oracle(Protocol):
    """Who decides where tier 1 ends; `asked` tells whether that was needed."""

    asked: bool

    def __call__(self, gold: Node, answer: Node) -> bool | None:
        """Whether two expressions are equal; None where that cannot be decided."""


def _integer(text: str) -> int | None:
    """Return a plain whole number, without the cost of anything more."""
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isdigit() and digits.isascii() else None


def _number_verdict(found: Found, given: str, wanted: str, *, equal: bool, if_equal: str) -> MathVerdict:
    """Return the verdict on two numbers, given as they are shown."""
    reason: Reason = "exact-rational" if equal else "mismatch"
    detail = if_equal if equal else f"{given} is not {wanted}"
    return MathVerdict(equal, reason, found.text, (found.start, found.end), given, wanted, 0, detail)


def _numeral_verdict(found: Found, gold_text: str) -> MathVerdict | None:
    """Two plain numerals without a decimal point decide at once."""
    if len(found.text) > 40 or len(gold_text) > 40:
        return None
    one, other = read_numeral(gold_text), read_numeral(found.text)
    # `3,5` is 3.5 where the gold is that decimal: elsewhere it may be a list.
    written = compile_once(_DECIMAL_COMMA).fullmatch(found.text) if one is not None and one.places else None
    if one is not None and other is None and written is not None:
        comma = read_numeral(f"{written[1].replace('.', '')}.{written[2]}")
        if comma is not None and comma.value == one.value:
            return _number_verdict(found, gold_text, gold_text, equal=True, if_equal=f"{found.text} is {gold_text}")
    if one is None or other is None or "," in gold_text or "," in found.text:
        return None
    shown, wanted = show_number(other.value), show_number(one.value)
    return _number_verdict(found, shown, wanted, equal=one.value == other.value, if_equal=f"{shown} equals {wanted}")


def decide(
    response: str | None, gold: str, policy: MathPolicy, oracle: Oracle | None, *, light: bool = False
) -> MathVerdict:
    """Return the verdict by tiers 0 and 1, and by the oracle where those end; without one, `NeedsWorker`.

    With `light`, an answer that may take tier 1 more than a few milliseconds needs a worker too.
    """
    found: Found | Missing
    found = Missing("no-answer", "the response is empty") if response is None else extract(response, policy.extraction)
    # Two plain whole numbers need no parser, no memo, no policy and no budget of steps.
    if isinstance(found, Found) and len(gold) < 40 and len(found.text) < 40:
        wanted, given = _integer(gold), _integer(found.text)
        if wanted is not None and given is not None:
            return _number_verdict(found, str(given), str(wanted), equal=given == wanted, if_equal="the same number")
    with StepBudget():
        try:
            return _decide_found(found, response, gold, ComparisonRules(policy, oracle), light=light)
        except (LimitExceeded, RecursionError) as problem:
            return MathVerdict(False, "too-large", None, None, None, None, 1, str(problem))


def _decide_found(
    found: Found | Missing, response: str | None, gold: str, rules: ComparisonRules, *, light: bool
) -> MathVerdict:
    gold_text, gold_squashed = _gold(gold)
    if not gold_squashed[0]:
        return MathVerdict(None, "unparsed-gold", None, None, None, None, 0, "the gold is empty")
    if isinstance(found, Missing):
        reason: Reason = "hedged" if found.reason == "hedged" else "no-answer"
        return MathVerdict(False, reason, None, None, None, None, 0, found.detail)
    quick = _numeral_verdict(found, gold_text)
    if quick is not None:
        return quick
    # A short response may be the gold word for word, though only a part was extracted.
    if found.how != "box" and response is not None and len(response) <= 400:
        found = Found(found.text, found.start, found.end, found.how, squash(response))
    # Extraction from a long text is cheap, all that follows it may not be.
    if light and len(response or "") > _LARGE and len(found.text) <= MAX_ANSWER:
        raise NeedsWorker
    return _decide_text(found, gold_text, gold_squashed, rules, light=light)


def _decide_text(
    found: Found, gold_text: str, gold_squashed: tuple[str, str], rules: ComparisonRules, *, light: bool
) -> MathVerdict:
    span = (found.start, found.end)

    def verdict(
        equal: bool | None, reason: Reason, tier: int, detail: str, forms: tuple[str | None, str | None] = (None, None)
    ) -> MathVerdict:
        return MathVerdict(equal, reason, found.text, span, forms[0], forms[1], tier, detail)

    if len(found.text) > MAX_ANSWER:
        return verdict(False, "too-large", 0, f"the answer has {len(found.text)} characters")
    if found.text == gold_text or squash(found.text) in gold_squashed or found.whole in gold_squashed:
        return verdict(True, "exact-string", 0, "the same text", gold_squashed)
    if rules.policy.choices:
        chosen = _choices(gold_text, found.text)
        if chosen is not None:
            return verdict(chosen, "choice" if chosen else "mismatch", 0, "a choice", (found.text, gold_text))
    formula = same_formula(gold_text, found.text)
    if formula is not None:
        return verdict(formula, "exact-string" if formula else "mismatch", 0, "a formula", (found.text, gold_text))
    # An unreadable gold is the data's fault: it is not held against the answer.
    gold_reading = _gold_reading(gold_text)
    try:
        reading = read(found.text)
    except LimitExceeded as problem:
        return verdict(False, "too-large", 1, str(problem))
    except (Unreadable, RecursionError) as problem:
        if isinstance(gold_reading, str):
            return verdict(None, "unparsed-gold", 1, gold_reading)
        return verdict(False, "unparsed-answer", 1, str(problem))
    if isinstance(gold_reading, str):
        return verdict(None, "unparsed-gold", 1, gold_reading)
    if light and is_heavy((*gold_reading.nodes, *reading.nodes)):
        raise NeedsWorker
    try:
        decided = _decide_trees(gold_reading, reading, rules)
        forms = (describe(reading.nodes[0]), describe(gold_reading.nodes[0]))
    except (LimitExceeded, RecursionError) as problem:
        return verdict(False, "too-large", 1, str(problem) or "the expression is nested too deeply")
    detail = f"{forms[0]} {'equals' if decided.equal else 'is not'} {forms[1]}"
    return verdict(decided.equal, decided.reason, decided.tier, detail[:300], forms)


def _choices(gold: str, answer: str) -> bool | None:
    several = choices_of(gold), choices_of(answer)
    # `BD` beside `B, D`: two of one kind are compared as lists or products.
    if None not in several and gold.isalpha() != answer.isalpha():
        return several[0] == several[1]
    wanted = choice_of(gold)
    if wanted is None:
        return None
    given = choice_of(answer)
    if given is None or (wanted[1] and given[1] and wanted[0] == given[0]):
        return None
    return wanted[0] == given[0]


def _decide_readings(gold: ParsedAnswer, answer: ParsedAnswer, rules: ComparisonRules) -> _Decision:
    # Rules are equal where their policies are: who decides beyond tier 1 makes no difference to the decision.
    equal, reason = _compare_all(gold, answer, replace(rules, bound=gold.bound | answer.bound))
    asked = isinstance(rules.oracle, Oracle) and rules.oracle.asked
    return _Decision(equal, reason, 2 if asked else 1)


_decide_trees = Memo(_decide_readings, maxsize=4096)


def _compare_all(gold: ParsedAnswer, answer: ParsedAnswer, rules: ComparisonRules) -> tuple[bool, Reason]:
    """Compare every reading of the gold with every reading of the answer."""
    # A text can be read in two ways, such as `3,250`: any pair of readings may agree.
    pairs = [(wanted, given) for wanted in gold.nodes for given in answer.nodes]
    for wanted, given in pairs:
        equal, why = same(wanted, given, rules)
        if equal:
            return True, why
    return False, "hedged" if any(contains(given, wanted, rules) for wanted, given in pairs) else "mismatch"


def _payload(response: str | None, gold: str, policy: MathPolicy) -> dict[str, Any]:
    return {
        "response": response,
        "gold": gold,
        "policy": {name: getattr(policy, name) for name in policy.__slots__},
    }


def _from_fields(fields: dict[str, Any], response: str | None, policy: MathPolicy) -> MathVerdict:
    if "equal" in fields:
        values = dict(fields)
        values["span"] = None if fields["span"] is None else tuple(fields["span"])
        return MathVerdict(**values)
    found = None if response is None or len(response) > _LARGE else extract(response, policy.extraction)
    text, span = (found.text, (found.start, found.end)) if isinstance(found, Found) else (None, None)
    return MathVerdict(False, fields["reason"], text, span, None, None, 2, fields["detail"])


def compare(response: str | None, gold: str, *, policy: MathPolicy = _DEFAULT, limit_s: float = 2.0) -> MathVerdict:
    r"""Whether a response gives the gold answer.

    Runs in this process wherever a bounded amount of work decides, and in a worker that is killed after `limit_s`
    seconds of its own CPU time where only symbolic algebra can. With a limit of 0 there is no worker: what would need
    one is not equal, for the reason `timeout`.

    >>> compare(r"so $x = \boxed{\frac{3}{6}}$", "0.5").equal
    True
    >>> compare("The answer is 41 or 42.", "42").reason
    'hedged'
    >>> compare(r"\boxed{9^{9^{9^{9}}}}", "1").reason
    'too-large'
    """
    try:
        return decide(response, gold, policy, None, light=limit_s == 0)
    except NeedsWorker:
        if limit_s == 0:
            return _from_fields({"reason": "timeout", "detail": "only a worker could decide"}, response, policy)
        from adjudge.rewards.math._worker import ask

        return _from_fields(ask(_payload(response, gold, policy), limit_s), response, policy)


def warm_up() -> None:
    """Start the worker, which takes seconds to import sympy; one that is not asked for a minute ends again."""
    from adjudge.rewards.math._worker import ask

    ask(_payload("1", "1", _DEFAULT), limit_s=2.0)


async def acompare(
    response: str | None, gold: str, *, policy: MathPolicy = _DEFAULT, limit_s: float = 2.0
) -> MathVerdict:
    """Whether a response gives the gold answer, without holding up the event loop.

    Checks of size and magnitude answer at once; inputs over 64 KB that pass them, whatever would take more than a
    few milliseconds, and everything beyond tier 1 go to a worker.
    """
    # Beyond these sizes even extraction would hold up the event loop.
    if len(response or "") <= _LOOKED_AT and len(gold) <= _LARGE:
        try:
            return decide(response, gold, policy, None, light=True)
        except NeedsWorker:
            pass
    from adjudge.rewards.math._worker import ask_async

    return _from_fields(await ask_async(_payload(response, gold, policy), limit_s), response, policy)
