"""pass@k and pass^k are what they say, for every n, c and k."""

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.scenarios import ScenarioRun, pass_at_k, pass_hat_k


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_estimators(tries: list[bool], data: st.DataObject) -> None:
    """They are the shares of all choices of k tries in which one, or every one, passes: counted, not computed."""
    k = data.draw(st.integers(1, len(tries)))
    choices = list(combinations(tries, k))
    at_least_one = sum(map(any, choices)) / len(choices)
    every_one = sum(map(all, choices)) / len(choices)
    assert pass_at_k(len(tries), sum(tries), k) == pytest.approx(at_least_one, abs=1e-12)
    assert pass_hat_k(len(tries), sum(tries), k) == pytest.approx(every_one, abs=1e-12)


@pytest.mark.parametrize(("tries", "passes", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_senseless_numbers(tries: int, passes: int, k: int) -> None:
    """More passes than tries, or more tries wanted than made, are refused."""
    for formula in (pass_at_k, pass_hat_k):
        with pytest.raises(UsageError):
            formula(tries, passes, k)


def test_large_numbers() -> None:
    """Ten thousand tries are no trouble."""
    assert pass_at_k(10_000, 5_000, 1) == pass_hat_k(10_000, 5_000, 1) == 0.5
    assert pass_at_k(10_000, 1, 5_000) == 0.5


def run_of(**passes: list[bool | None]) -> ScenarioRun:
    """Return a run with these results."""
    results = [{"id": name, "pass": one, "status": "scored"} for name, several in passes.items() for one in several]
    return ScenarioRun(Path("x.run"), tuple(results))


def test_runs() -> None:
    """A run gives the estimate of every scenario over its decided tries, and the bounds of the undecided ones."""
    run = run_of(a=[True, False, True, False], b=[True, None, True], c=[None, None])
    assert run.passes == {"passed": 4, "failed": 2, "undecided": 3}
    assert run.pass_at(2)["a"].value == pytest.approx(5 / 6)
    assert run.pass_hat(2)["a"].value == pytest.approx(1 / 6)
    b = run.pass_hat(2)["b"]
    assert (b.value, b.high, b.tries, b.undecided) == (1.0, 1.0, 3, 1)
    assert b.low == pytest.approx(1 / 3)
    c = run.pass_at(1)["c"]
    assert (c.value, c.low, c.high) == (None, 0.0, 1.0)
    assert run.pass_at(3)["c"].low is None
