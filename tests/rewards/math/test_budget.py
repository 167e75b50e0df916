"""No answer takes more than a fixed number of steps: what would is `too-large`, on any machine and at any time."""

import subprocess
import sys
from random import Random

import pytest

from adjudge.rewards.math import compare
from adjudge.rewards.math._compare import clear_memo, decide
from adjudge.rewards.math._exact import exact_form
from adjudge.rewards.math._lexer import tokenize
from adjudge.rewards.math._limits import MAX_STEPS, LimitExceeded, Memo, StepBudget, spend
from adjudge.rewards.math._parser import _Parser
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._same import NeedsWorker
from rewards.math.fragments import make_answer, make_response
from support import soak

_MATRIX = r"\begin{pmatrix}1&1\\1&1\end{pmatrix}"


def _nest(frame: str, times: int) -> str:
    text = "x"
    for _ in range(times):
        text = frame.replace("@", text)
    return text


ENDLESS = {
    "a set builder with a colon": (r"\{x : x < 4\}", "3"),
    "a set builder of a set builder": (r"\{\{x : x<1\} : x<2\}", "3"),
    "a set builder of a ratio": (r"\{(a:b) : a < 4\}", "3"),
    "a function of an expanded power": (_nest(r"\sin((@+1)^8)", 12), "3"),
    "a product of matrices": (_MATRIX * 60, _MATRIX),
    "a solution of many terms": ("+".join(["y^2"] * 250), "y^3+" + "+".join(["xy"] * 250) + "=1"),
    "factorials": ("5" + "!" * 1_500, "5"),
    "signs of both kinds": (r"\pm" * 1_400 + "1", "1"),
    "skipped commands": (r"\angle" * 1_000 + " 1", "1"),
}
"""Answers and golds: each of them once took for ever, or raised `RecursionError`."""

_ALONE = """
import asyncio, sys
from adjudge.rewards.math import acompare, compare
answer, gold = sys.argv[1:]
for response in (chr(92) + "boxed{" + answer + "}", "The answer is " + answer + "."):
    assert not compare(response, gold).equal
    assert not asyncio.run(acompare(response, gold)).equal
"""


@pytest.mark.parametrize("name", ENDLESS)
def test_every_comparison_ends(name: str) -> None:
    """What could go on for ever ends, in a call and in an event loop, and is not equal."""
    # In a process of its own, which alone would hang.
    done = subprocess.run([sys.executable, "-c", _ALONE, *ENDLESS[name]], check=False, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize(("response", "gold"), [(r"\boxed{\{x : x < 4\}}", r"(-\infty, 4)"), (r"\{x : x<4\}", "x<4")])
def test_a_colon_ends_the_variable_of_a_set_builder(response: str, gold: str) -> None:
    """A set builder with a colon is the set that its condition describes."""
    assert compare(response, gold).equal
    assert not compare(response, gold.replace("4", "5")).equal


def test_a_loop_of_the_parser_ends_when_nothing_is_read() -> None:
    """A round that takes no token is the last one."""
    parser = _Parser("1+1", tokenize("1+1"))
    assert sum(1 for _ in parser.rounds()) == 1
    rounds = 0
    for _ in parser.rounds():
        parser.advance()
        rounds += 1
    assert rounds == len(parser.tokens)


def test_a_budget_ends_what_spends_it() -> None:
    """Spending more steps than a budget has raises; where no budget is open nothing is counted."""
    with StepBudget():
        spend(MAX_STEPS)
        with pytest.raises(LimitExceeded):
            spend()
    spend(2 * MAX_STEPS)


def test_a_kept_result_costs_what_it_cost_at_first() -> None:
    """A result from a memo spends the same steps again."""

    def double(value: int) -> int:
        spend(value)
        return 2 * value

    memo = Memo(double, maxsize=4)
    for _ in range(2):
        with StepBudget() as left:
            assert memo(7) == 14
            assert left == [MAX_STEPS - 7]


def test_a_verdict_does_not_depend_on_what_was_compared_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With any budget a second comparison ends as the first did."""
    for steps in range(0, 600, 20):
        monkeypatch.setattr("adjudge.rewards.math._limits.MAX_STEPS", steps)
        clear_memo()
        exact_form.cache_clear()
        first, second = (compare(r"\boxed{(x+1)^3, \sqrt{2}}", r"\sqrt{2}, x^3+3x^2+3x+1") for _ in range(2))
        assert first == second
    assert first.equal


def test_a_gold_that_takes_too_many_steps_is_the_golds_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gold has a budget of its own, and beyond it cannot be read."""
    clear_memo()
    monkeypatch.setattr("adjudge.rewards.math._limits.MAX_STEPS", 20)
    assert compare(r"\boxed{x}", "+".join("abc" * 9)).reason == "unparsed-gold"
    clear_memo()


def test_a_part_of_what_is_too_large_is_not_the_answer() -> None:
    """An answer that is too large is not cut down to its last number."""
    for response in ("The answer is 5" + "!" * 300 + ".", "So $5" + "!" * 300 + "$.", "5" + "!" * 300):
        assert compare(response, "5").reason == "too-large"


@pytest.mark.soak
def test_answers_from_a_grammar_stay_within_the_budget() -> None:
    """No answer made from LaTeX fragments raises, or takes more steps than one comparison has."""
    random, policy = Random(17), MathPolicy()  # noqa: S311 (drawn answers)
    for _ in range(soak(200_000)):
        response, gold = make_response(random), make_answer(random)
        try:
            verdict = decide(response, gold, policy, None)
        except NeedsWorker:
            continue
        assert "too many steps" not in verdict.detail, (response, gold)


def test_the_longest_list_stays_within_the_budget() -> None:
    """A list of as many elements as are allowed may stand in any order."""
    shown = [rf"\frac{{{number}}}{{7}}" for number in range(128)]
    assert compare(rf"\boxed{{{', '.join(shown[::-1])}}}", ", ".join(shown)).equal
