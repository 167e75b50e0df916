"""How often a scenario passes: what k tries give, estimated from n of them, and the results of a whole run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any, Literal

from adjudge.errors import UsageError


def pass_at_k(tries: int, passes: int, k: int) -> float:
    """Return the chance that at least one of k tries passes, estimated without bias from `tries` of them.

    1 - C(n - c, k) / C(n, k), with n tries and c passes: the share of all choices of k tries with a pass among them.

    >>> pass_at_k(4, 2, 2)
    0.8333333333333334
    """
    _check(tries, passes, k)
    return float(1 - Fraction(comb(tries - passes, k), comb(tries, k)))


def pass_hat_k(tries: int, passes: int, k: int) -> float:
    """Return the chance that all of k tries pass (pass^k), estimated without bias from `tries` of them.

    C(c, k) / C(n, k), with n tries and c passes: the share of all choices of k tries that have only passes.

    >>> pass_hat_k(4, 2, 2)
    0.16666666666666666
    """
    _check(tries, passes, k)
    return float(Fraction(comb(passes, k), comb(tries, k)))


def _check(tries: int, passes: int, k: int) -> None:
    if not 0 <= passes <= tries or not 1 <= k <= tries:
        message = f"{k} of {tries} tries with {passes} passes: k is at least 1 and at most the number of tries"
        raise UsageError(message, code="bad-option")


def outcome_of(result: Mapping[str, Any]) -> Literal["passed", "failed", "undecided"]:
    """Return how a run ended: one that passed and lacks another answer that was asked for is undecided."""
    if result["pass"] is None or (result["pass"] and result["status"] != "scored"):
        return "undecided"
    return "passed" if result["pass"] else "failed"


def outcomes_of(results: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count how runs ended."""
    found = Counter(outcome_of(result) for result in results)
    return {outcome: found[outcome] for outcome in ("passed", "failed", "undecided")}


@dataclass(frozen=True, slots=True)
class PassEstimate:
    """pass@k or pass^k of a scenario, over the tries that were decided; None where these are fewer than k.

    `low` and `high` are what it would be if every undecided try failed, or passed.
    """

    value: float | None
    low: float | None
    high: float | None
    tries: int
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """What came of a run of scenarios: one result for each scenario and repeat, in order, and the run's file."""

    file: Path
    results: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many results are scored, unscored and errors; they add up to the number of results."""
        found = Counter(result["status"] for result in self.results)
        return {status: found[status] for status in ("scored", "unscored", "error")}

    @property
    def passes(self) -> dict[str, int]:
        """How many results passed, failed and are undecided."""
        found = Counter(result["pass"] for result in self.results)
        return {"passed": found[True], "failed": found[False], "undecided": found[None]}

    def pass_at(self, k: int) -> Mapping[str, PassEstimate]:
        """Return pass@k of every scenario: the chance that at least one of k tries passes."""
        return {name: _estimate(pass_at_k, found, k) for name, found in self._by_scenario().items()}

    def pass_hat(self, k: int) -> Mapping[str, PassEstimate]:
        """Return pass^k of every scenario: the chance that all of k tries pass."""
        return {name: _estimate(pass_hat_k, found, k) for name, found in self._by_scenario().items()}

    def _by_scenario(self) -> dict[str, list[bool | None]]:
        found: dict[str, list[bool | None]] = {}
        for result in self.results:
            found.setdefault(result["id"], []).append(result["pass"])
        return found


def _estimate(formula: Any, found: list[bool | None], k: int) -> PassEstimate:
    passes, undecided = found.count(True), found.count(None)
    decided = len(found) - undecided
    bounds = (None, None)
    if 1 <= k <= len(found):
        bounds = formula(len(found), passes, k), formula(len(found), passes + undecided, k)
    value = formula(decided, passes, k) if 1 <= k <= decided else None
    return PassEstimate(value, *bounds, len(found), undecided)
