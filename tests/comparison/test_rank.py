"""Leaderboards: ranks that the intervals allow, over the cases that all runs have."""

from dataclasses import replace

import pytest

from adjudge.comparison import CompareOptions, MetricValues, Results, rank_results
from adjudge.errors import UsageError


def run(name: str, right: int, of: int = 200, *, missing: int = 0) -> Results:
    """Return a run that gets the first cases right, and has no score of the last ones."""
    values = {f"c{at}": [None if at >= of - missing else float(at < right)] for at in range(of)}
    return Results(name, {"m": MetricValues(values, (0.0, 1.0))})


def test_ranks_are_what_the_intervals_show() -> None:
    """Runs that are not shown to differ share their ranks; one that is worse than both comes behind both."""
    board = rank_results([run("a", 150), run("b", 152), run("c", 60)], CompareOptions()).leaderboards["m"]
    assert [(one.name, one.ranks, one.verdict) for one in board.runs] == [
        ("b", (1, 2), "no difference shown"),
        ("a", (1, 2), None),
        ("c", (3, 3), "worse"),
    ]
    for one in board.runs:
        assert one.mean is not None
        assert one.mean.confidence == pytest.approx(1 - 0.05 / 3)
    assert board.runs[2].difference is not None
    assert board.runs[2].difference.confidence == pytest.approx(1 - 0.05 / 3)


def test_more_runs_widen_the_intervals() -> None:
    """A loss that two runs alone show is not shown among six: all intervals hold at once."""
    two = rank_results([run("a", 100), run("b", 93)], CompareOptions())
    six = rank_results([run("a", 100), run("b", 93), *(run(name, 100) for name in "cdef")], CompareOptions())
    verdicts = {one.name: one.verdict for one in six.leaderboards["m"].runs}
    assert two.verdicts == ["worse"]
    assert verdicts["b"] == "no difference shown"
    assert (two.exit_code(), six.exit_code()) == (1, 0)


def test_only_cases_of_all_runs_count() -> None:
    """A case that one run lacks, or has no score of, is left out of every mean; what is not in all is listed."""
    found = rank_results([run("a", 100), run("b", 100, of=150), run("c", 100, missing=4)], CompareOptions())
    board = found.leaderboards["m"]
    assert (board.cases, len(found.partial), board.reason) == (150, 50, None)
    assert {one.mean.n for one in board.runs if one.mean is not None} == {150}


def test_too_many_missing_scores_decide_nothing() -> None:
    """Above --max-missing the exit code is 3, whatever the rest shows."""
    found = rank_results([run("a", 100), run("b", 10), run("c", 10, missing=30)], CompareOptions())
    assert found.leaderboards["m"].reason == "a run lacks 15.0% of its scores; at most 5% may be missing"
    assert found.exit_code() == 3


def test_a_margin_is_against_the_first_run() -> None:
    """With a margin, each run is held against the first."""
    found = rank_results([run("a", 100), run("b", 99), run("c", 20)], CompareOptions(margin=0.1))
    assert {one.name: one.verdict for one in found.leaderboards["m"].runs} == {
        "a": None,
        "b": "non-inferior",
        "c": "inferior",
    }
    assert (found.exit_code("inferior"), found.exit_code("none")) == (1, 0)


def test_costs_are_ranked_from_the_lowest() -> None:
    """Where less is better, the cheapest run is first."""
    runs = [
        Results(name, {"m": MetricValues({f"c{at}": [cost + at % 7] for at in range(50)}, higher_is_better=False)})
        for name, cost in (("dear", 9.0), ("cheap", 1.0), ("middle", 5.0))
    ]
    assert [one.name for one in rank_results(runs, CompareOptions()).leaderboards["m"].runs] == [
        "cheap",
        "middle",
        "dear",
    ]


def test_each_pair_of_runs_must_be_comparable() -> None:
    """Two of the later runs that used different judges are refused like any two."""
    judged = [
        Results(name, {"m": MetricValues({"a": [1.0]}, (0.0, 1.0), {} if judge is None else {"judge": judge})})
        for name, judge in (("a", None), ("b", "one"), ("c", "two"))
    ]
    with pytest.raises(UsageError, match="b and c cannot be compared: m has another judge"):
        rank_results(judged, CompareOptions())


def test_one_lost_case_is_not_better_news_than_none() -> None:
    """A leaderboard holds a run against a margin as a comparison of two does, only with wider intervals."""
    verdicts = []
    for lost in range(3):
        found = rank_results(
            [run("a", 400, of=400), run("b", 400 - lost, of=400), run("c", 400, of=400)], CompareOptions(margin=0.0125)
        )
        verdicts += [one.verdict for one in found.leaderboards["m"].runs if one.name == "b"]
    assert verdicts == ["undecided"] * 3


def test_scores_that_only_the_new_run_lacks() -> None:
    """What one run alone lacks leaves its verdict open among three runs, as among two."""
    found = rank_results(
        [run("a", 400, of=400), run("b", 400, of=400, missing=16), run("c", 400, of=400)], CompareOptions(margin=0.04)
    )
    (open_one,) = [one for one in found.leaderboards["m"].runs if one.reason is not None]
    assert open_one.name == "b"
    assert open_one.verdict == "undecided"
    assert open_one.reason == (
        "0 scores are missing in the base and 16 in the new run: that is not chance, and they could change the verdict"
    )
    assert found.exit_code() == 3


def test_spared_cases_are_not_lost() -> None:
    """What an early decision spared does not count as missing."""
    early = replace(run("b", 14, of=14), spared=frozenset(f"c{at}" for at in range(14, 200)))
    found = rank_results([run("a", 200), early, run("c", 200)], CompareOptions())
    assert (found.partial, found.too_few, found.exit_code()) == ((), None, 0)


def test_what_cannot_be_ranked() -> None:
    """One run is no ranking, and slices are for two."""
    with pytest.raises(UsageError, match="at least two runs, got 1"):
        rank_results([run("a", 1)], CompareOptions())
    with pytest.raises(UsageError, match="are for two runs"):
        rank_results([run("a", 1), run("b", 1), run("c", 1)], CompareOptions(by="tags"))
