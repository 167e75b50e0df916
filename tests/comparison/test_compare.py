"""Two runs against each other: verdicts, what is missing, many metrics, what cannot be compared."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import compare
from adjudge.comparison import (
    CaseFacts,
    CompareOptions,
    MetricComparison,
    MetricValues,
    Results,
    compare_results,
    open_results,
)
from adjudge.errors import UsageError
from support import golden

ROWS = golden("comparison")
UNIT = (0.0, 1.0)


def runs(
    cases: Sequence[Mapping[str, Any]], *, metric: str = "right", ends: tuple[float, float] | None = UNIT
) -> tuple[Results, Results]:
    """Return two runs with these cases, each as often as it says."""
    pairs = [(one["base"], one["new"]) for one in cases for _ in range(one["times"])]
    base, new = (
        Results(
            ("base", "new")[side],
            {metric: MetricValues({f"c{at}": pair[side] for at, pair in enumerate(pairs)}, ends)},
        )
        for side in (0, 1)
    )
    return base, new


def one_metric(base: Results, new: Results, **options: Any) -> MetricComparison:
    """Compare, and return the only metric."""
    return next(iter(compare_results(base, new, CompareOptions(**options)).metrics.values()))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_verdicts(row: dict[str, Any]) -> None:
    """Verdict, exit code, pairs, missing share and changed cases are those of the table."""
    ends = row["expected"].get("range", UNIT)
    found = compare_results(*runs(row["cases"], ends=ends), CompareOptions(**row["options"]))
    metric, expected = found.metrics["right"], row["expected"]
    assert metric.verdict == expected["verdict"], row["why"]
    for name in ("pairs", "robust"):
        assert getattr(metric, name) == expected.get(name, getattr(metric, name)), row["why"]
    for name in ("p", "missing"):
        assert getattr(metric, name) == pytest.approx(expected.get(name, getattr(metric, name))), row["why"]
    assert found.exit_code() == expected.get("exit", 0), row["why"]
    if "inferior" in expected:
        assert found.exit_code("inferior") == expected["inferior"], row["why"]
    assert found.exit_code("none") == 0
    if "changes" in expected:
        assert [len(ids) for ids in (found.regressions, found.fixes, found.flaky)] == expected["changes"], row["why"]


values = st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=4)
tables = st.dictionaries(st.sampled_from([f"q{at}" for at in range(12)]), values, max_size=12)


@given(tables, tables, st.one_of(st.none(), st.sampled_from([0.01, 0.3])), st.randoms())
def test_the_order_of_cases_and_repeats_is_nothing(
    ours: dict[str, list[float | None]],
    theirs: dict[str, list[float | None]],
    margin: float | None,
    drawn: random.Random,
) -> None:
    """Cases in another order, and repeats of each in another order, give the same numbers."""
    base, new = (Results("run", {"m": MetricValues(table, UNIT)}) for table in (ours, theirs))
    keys = list(theirs)
    drawn.shuffle(keys)
    turned = {key: drawn.sample(theirs[key], len(theirs[key])) for key in keys}
    first = one_metric(base, new, margin=margin)
    second = one_metric(base, Results("run", {"m": MetricValues(turned, UNIT)}), margin=margin)
    assert (first.verdict, first.pairs, first.missing) == (second.verdict, second.pairs, second.missing)
    for name in ("base", "new", "difference"):
        one, other = getattr(first, name), getattr(second, name)
        assert one == other or one.value == pytest.approx(other.value)


@given(tables, tables)
def test_the_runs_exchanged(ours: dict[str, list[float | None]], theirs: dict[str, list[float | None]]) -> None:
    """New against base is base against new with the other sign: better becomes worse, fixes become regressions."""
    base, new = (Results("run", {"m": MetricValues(table, UNIT)}) for table in (ours, theirs))
    there, back = compare_results(base, new), compare_results(new, base)
    first, second = there.metrics["m"], back.metrics["m"]
    opposite = {"better": "worse", "worse": "better"}
    assert opposite.get(first.verdict, first.verdict) == second.verdict
    assert set(there.regressions) == set(back.fixes)
    assert set(there.flaky) == set(back.flaky)
    assert there.only_in_base == back.only_in_new
    if first.difference is not None:
        assert second.difference is not None
        assert first.difference.value == pytest.approx(-second.difference.value)
        assert (first.p is None) == (second.p is None)


@given(tables, tables)
def test_the_interval_the_p_value_and_the_verdict_agree(
    ours: dict[str, list[float | None]], theirs: dict[str, list[float | None]]
) -> None:
    """A difference is shown exactly where the interval excludes 0, and there p is below .05."""
    metric = one_metric(
        *(Results("run", {"m": MetricValues(table, UNIT)}) for table in (ours, theirs)), max_missing=1.0
    )
    if metric.difference is None or metric.reason is not None or metric.p is None:
        return
    assert metric.difference.low is not None
    assert metric.difference.high is not None
    excluded = metric.difference.low > 0.0 or metric.difference.high < 0.0
    assert excluded == (metric.verdict in ("better", "worse"))
    if abs(metric.p - 0.05) > 1e-6:
        assert excluded == (metric.p < 0.05)


def test_what_only_one_run_has_is_listed() -> None:
    """A case of one run alone is in no pair, and is named; one that was spared by an early decision is not."""
    base = Results("base", {"m": MetricValues({"a": [1.0], "b": [1.0], "d": [0.0]}, UNIT)}, spared=("e",))
    new = Results("new", {"m": MetricValues({"b": [1.0], "c": [0.0], "e": [0.0]}, UNIT)}, spared=("d",))
    found = compare_results(base, new)
    assert (found.only_in_base, found.only_in_new, found.metrics["m"].pairs) == (("a",), ("c",), 1)


def test_a_case_that_lost_a_metric_lacks_its_score() -> None:
    """A case that both runs have, and only one has this metric of, is a missing score and not another case."""
    base = Results("base", {"m": MetricValues({"a": [1.0], "b": [1.0]}), "n": MetricValues({"a": [1.0], "b": [1.0]})})
    new = Results("new", {"m": MetricValues({"a": [1.0]}), "n": MetricValues({"a": [1.0], "b": [1.0]})})
    found = compare_results(base, new)
    assert (found.metrics["m"].new_missing, found.metrics["m"].missing, found.only_in_base) == (1, 0.5, ())
    assert found.exit_code() == 3


def test_metrics_that_decide_share_the_level() -> None:
    """With ten metrics that decide, one p of .03 shows nothing; printing ten explored ones changes nothing."""
    noise = {f"c{at}": [float(at % 2)] for at in range(200)}
    close = {key: [one[0] if at > 5 else 1.0] for at, (key, one) in enumerate(noise.items())}
    lost = {key: [one[0] if at > 5 else 0.0] for at, (key, one) in enumerate(noise.items())}

    def compared(*, others_decide: bool) -> MetricComparison:
        others = {f"m{at}": MetricValues(noise, UNIT, is_gated=others_decide) for at in range(9)}
        base = Results("base", {"right": MetricValues(close, UNIT), **others})
        new = Results("new", {"right": MetricValues(lost, UNIT), **others})
        return compare_results(base, new).metrics["right"]

    alone, among = compared(others_decide=False), compared(others_decide=True)
    assert (alone.verdict, alone.p, alone.p_adjusted) == ("worse", 0.03125, 0.03125)
    assert (among.verdict, among.p, among.p_adjusted) == ("no difference shown", 0.03125, 0.3125)
    assert among.difference is not None
    assert among.difference.confidence == pytest.approx(0.995)


def test_explored_metrics_never_decide() -> None:
    """A part, a cost or a slice that is clearly worse leaves the exit code at 0, and is marked."""
    facts = {f"c{at}": CaseFacts(tags=("odd",) if at % 2 else ()) for at in range(100)}
    right = MetricValues(dict.fromkeys(facts, (1.0,)), UNIT)
    dearer = {key: [2.0 + at / 1000] for at, key in enumerate(facts)}
    base, new = (
        Results(name, {"right": right, "cost": MetricValues(cost, is_gated=False, higher_is_better=False)}, facts)
        for name, cost in (("base", dict.fromkeys(facts, (1.0,))), ("new", dearer))
    )
    found = compare_results(base, new, CompareOptions(by="odd"))
    assert (found.metrics["cost"].verdict, found.metrics["cost"].is_gated) == ("worse", False)
    assert [(one.among, one.is_gated, one.pairs) for one in found.slices] == [("tag=odd", False, 50)]
    assert found.exit_code() == 0


def test_costs_are_better_when_lower() -> None:
    """Where less is better, a rise is worse, and a margin is how much it may rise."""
    base, new = (
        Results(name, {"cost": MetricValues({f"c{at}": [one + at / 50] for at in range(50)}, higher_is_better=False)})
        for name, one in (("base", 1.0), ("new", 1.5))
    )
    noisy = {
        key: [value[0] + 0.01 * (at % 3)]
        for at, (key, value) in enumerate(new.metrics["cost"].values.items())
        if value[0]
    }
    new = Results("new", {"cost": MetricValues(noisy, higher_is_better=False)})
    assert one_metric(base, new).verdict == "worse"
    assert one_metric(base, new, margin=0.2).verdict == "inferior"
    assert one_metric(base, new, margin=0.9).verdict == "non-inferior"
    assert len(compare_results(base, new).regressions) == 50


def test_clusters_widen_the_interval() -> None:
    """Cases that vary together count as what they amount to, by the reader's clusters or by a column."""
    facts = {
        f"{group}-{at}": CaseFacts(f"g{group}", columns={"topic": f"t{group}"})
        for group in range(20)
        for at in range(10)
    }
    lost = {f"g{group}": group % 4 == 0 for group in range(20)}
    base = Results("base", {"m": MetricValues(dict.fromkeys(facts, (1.0,)), UNIT)}, facts)
    new = Results(
        "new", {"m": MetricValues({k: [0.0 if lost[f.cluster or ""] else 1.0] for k, f in facts.items()}, UNIT)}, facts
    )
    loose = {key: CaseFacts(columns=fact.columns) for key, fact in facts.items()}
    plain = one_metric(Results("base", base.metrics, loose), Results("new", new.metrics, loose))
    clustered = one_metric(base, new)
    by_column = one_metric(Results("base", base.metrics, loose), Results("new", new.metrics, loose), cluster="topic")
    assert plain.difference is not None
    assert clustered.difference is not None
    assert by_column.difference is not None
    assert clustered.difference.clusters == by_column.difference.clusters == 20
    assert clustered.difference.se == by_column.difference.se
    assert clustered.difference.se is not None
    assert plain.difference.se is not None
    assert clustered.difference.se > 2 * plain.difference.se


def with_origin(**origin: str) -> Results:
    """Return a run whose metric has this origin."""
    return Results("run", {"m": MetricValues({"a": [1.0], "b": [0.0]}, UNIT, origin)})


@pytest.mark.parametrize(
    ("base", "new", "why"),
    [
        (with_origin(version="1"), with_origin(version="2"), r"m has another version \(1 and 2\)"),
        (with_origin(judge="a"), with_origin(judge="b"), r"m has another judge \(a and b\)"),
        (with_origin(prompt_hash="a"), with_origin(prompt_hash="b"), r"m has another prompt hash \(a and b\)"),
        (
            Results("x", {"m": MetricValues({"a": [1.0]})}, {"a": CaseFacts(digest="1")}),
            Results("y", {"m": MetricValues({"a": [1.0]})}, {"a": CaseFacts(digest="2")}),
            r"other cases have the same id \(a\)",
        ),
    ],
)
def test_numbers_that_mean_different_things_are_refused(base: Results, new: Results, why: str) -> None:
    """Another version, judge, prompt or case is refused with the reason; compared all the same, the result says so."""
    with pytest.raises(UsageError, match=why) as refused:
        compare_results(base, new)
    assert refused.value.code == "not-comparable"
    assert compare_results(base, new, CompareOptions(allow_mismatch=True)).mismatches
    # What only one side says is not a contradiction.
    assert compare_results(with_origin(), with_origin(version="2")).mismatches == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0.0}, "margin must be a number greater than 0"),
        ({"margin": float("nan")}, "margin must be"),
        ({"max_missing": 1.5}, "max_missing is a share"),
        ({"scope": "all"}, "scope is new or these"),
        ({"scorers": ["right"]}, "has no metric 'right'.*m"),
        ({"cluster": "topic"}, "no case has a column 'topic'"),
        ({"by": "topic"}, "no case has a column or a tag 'topic'"),
        ({"scope": "these"}, "needs cases that were repeated"),
    ],
)
def test_wrong_calls_say_what_is_wrong(options: dict[str, Any], message: str) -> None:
    """A wrong option, and one that asks for what the runs do not have, is a usage error with the reason."""
    with pytest.raises(UsageError, match=message):
        compare_results(with_origin(), with_origin(), CompareOptions(**options))


def test_runs_without_a_common_metric_are_refused() -> None:
    """Different scorers are not compared; both lists are named."""
    other = Results("other", {"n": MetricValues({"a": [1.0]})})
    with pytest.raises(UsageError, match="run has m; other has n"):
        compare_results(with_origin(), other)


TEN_EACH_WAY = (
    {"base": [1.0], "new": [0.0], "times": 10},
    {"base": [0.0], "new": [1.0], "times": 10},
    {"base": [1.0], "new": [1.0], "times": 80},
)
NONE_LOST = ({"base": [1.0], "new": [1.0], "times": 100},)
TWO_LOST = ({"base": [1.0], "new": [0.0], "times": 2}, {"base": [1.0], "new": [1.0], "times": 98})


@pytest.mark.parametrize("seen", [TEN_EACH_WAY, NONE_LOST, TWO_LOST])
def test_what_is_detected_is_found(seen: Sequence[Mapping[str, Any]]) -> None:
    """A true loss of the size that is said to be detected is found in about 80 % of simulations, never in half."""
    detectable = one_metric(*runs(seen)).detectable
    assert detectable is not None
    shares = [one["times"] / 100 for one in seen]
    more = detectable + sum(share * (one["new"][0] - one["base"][0]) for share, one in zip(shares, seen, strict=True))
    rng = random.Random(7)  # noqa: S311 (simulated answers)
    found = 0
    for _ in range(400):
        cases = []
        for _ in range(100):
            lost = {"base": [1.0], "new": [0.0], "times": 1}
            [kind] = rng.choices(seen, shares)
            cases.append(lost if kind is seen[-1] and rng.random() < more / shares[-1] else {**kind, "times": 1})
        found += one_metric(*runs(cases)).verdict == "worse"
    assert 0.68 < found / 400 < 0.95


@pytest.mark.parametrize("number", [1, 3, 5])
def test_what_cannot_be_detected(number: int) -> None:
    """Where an exact test finds nothing even if every answer is lost, no difference is said to be detected."""
    assert one_metric(*runs([{"base": [1.0], "new": [1.0], "times": number}])).detectable is None


@pytest.mark.parametrize(("seen", "needed"), [(TEN_EACH_WAY, 646), (NONE_LOST, 77), (TWO_LOST, 124)])
def test_the_cases_needed_for_a_margin(seen: Sequence[Mapping[str, Any]], needed: int) -> None:
    """So many cases show with 80 % power that equal runs do not differ by the margin.

    (z · s(m) + z' · s)² / m², s(m) the deviation at the margin, where losses are more frequent.
    """
    assert one_metric(*runs(seen), margin=0.05).needed == needed


def test_a_lost_metric_decides_nothing() -> None:
    """A score that only the base has is undecided, unless others were named; one that only the new run has is new."""
    both = {"m": MetricValues({"a": [1.0], "b": [1.0]}, UNIT)}
    base = Results("base", {**both, "bad": MetricValues({"a": [1.0], "b": [1.0]}, UNIT)})
    new = Results("new", {**both, "bad_v2": MetricValues({"a": [0.0], "b": [0.0]}, UNIT)})
    found = compare_results(base, new)
    assert (found.metrics["bad"].verdict, found.exit_code()) == ("undecided", 3)
    assert found.metrics["bad"].reason == "new does not have it; --scorer names others"
    assert compare_results(base, new, CompareOptions(scorers=["m"])).exit_code() == 0


@pytest.mark.parametrize(("kept", "code"), [(100, 0), (95, 0), (94, 3), (1, 3)])
def test_a_pass_needs_the_cases_of_the_base(kept: int, code: int) -> None:
    """A run that was cut off does not pass on what is left of it; a loss among that is a loss all the same."""
    whole = {str(at): [1.0] for at in range(100)}
    base = Results("base", {"m": MetricValues(whole, UNIT)})
    new = Results("new", {"m": MetricValues({key: whole[key] for key in list(whole)[:kept]}, UNIT)})
    assert compare_results(base, new).exit_code() == code
    assert compare_results(base, new, CompareOptions(max_missing=1.0)).exit_code() == 0
    if kept >= 10:
        worse = Results("new", {"m": MetricValues({str(at): [0.0] for at in range(kept)}, UNIT)})
        assert compare_results(base, worse).exit_code() == 1


def test_few_large_clusters_are_not_believed() -> None:
    """One cluster of 40 cases beside 19 of one: what the large one does is not shown by 40 cases."""
    facts = {f"big-{at}": CaseFacts("big") for at in range(40)} | {f"s{at}": CaseFacts(f"s{at}") for at in range(19)}
    base = Results("base", {"m": MetricValues({key: [0.5] for key in facts})}, facts)
    moved = {key: [0.3 if key.startswith("big") else 0.5 + 0.02 * (at % 5 - 2)] for at, key in enumerate(facts)}
    new = Results("new", {"m": MetricValues(moved)}, facts)
    metric = one_metric(base, new)
    assert metric.difference is not None
    assert (metric.difference.method, metric.verdict) == ("CR2 t", "no difference shown")


def test_a_range_that_a_value_leaves_is_not_known() -> None:
    """Values of true and false against a number beyond them are compared without bounds."""
    base = Results("base", {"m": MetricValues({str(at): [1.0] for at in range(9)}, UNIT)})
    new = Results("new", {"m": MetricValues({str(at): [1.5 + at] for at in range(9)})})
    assert one_metric(base, new).verdict == "better"


def test_one_run_says_that_less_is_better() -> None:
    """A metric whose direction differs between the runs is not compared."""
    base, new = (Results("run", {"m": MetricValues({"a": [1.0]}, higher_is_better=higher)}) for higher in (True, False))
    with pytest.raises(UsageError, match="better when higher in one run"):
        compare_results(base, new)


@pytest.mark.parametrize("fail_on", ["bogus", "inferior"])
def test_what_fails_is_one_of_three_words(fail_on: Any) -> None:
    """Another word, and `inferior` without a margin, are wrong calls, never a pass."""
    with pytest.raises(UsageError, match="fail_on is worse, none, or with a margin inferior"):
        compare_results(with_origin(), with_origin()).exit_code(fail_on)


LOST_ALL = {"base": [1.0], "new": [0.0]}
KEPT = {"base": [1.0], "new": [1.0]}
PLAIN: Mapping[str, Any] = {}
PARTIAL = {"base": [0.5], "new": [0.5], "times": 1}
REPEATED = {"base": [1.0, 1.0], "new": [1.0], "times": 1}


@pytest.mark.parametrize("other", [PLAIN, PARTIAL, REPEATED])
@pytest.mark.parametrize(("number", "margin"), [(300, 0.01), (400, 0.02), (800, 0.01), (300, 0.05), (150, 0.1)])
def test_a_loss_of_the_margin_is_rarely_called_small(number: int, margin: float, other: Mapping[str, Any]) -> None:
    """If as much is lost as the margin says, at most 2.5 % of runs are non-inferior: exactly, by the binomial.

    One case with partial credit or a second answer changes nothing.
    """
    false = 0.0
    for lost in range(number):
        kept = number - lost - (1 if other else 0)
        seen = [{**LOST_ALL, "times": lost}, {**KEPT, "times": kept}, *([other] if other else [])]
        if one_metric(*runs(seen), margin=margin).verdict != "non-inferior":
            # More lost cases never make it better.
            break
        false += math.comb(number, lost) * margin**lost * (1.0 - margin) ** (number - lost)
    assert false <= 0.025


@pytest.mark.parametrize("size", [1, 3])
def test_one_lost_case_is_not_better_news_than_none(size: int) -> None:
    """Each lost case lowers the interval, in clusters as well."""
    lows = []
    for lost in range(4):
        ours, theirs = runs([{**LOST_ALL, "times": lost * size}, {**KEPT, "times": (200 - lost) * size}])
        facts = {key: CaseFacts(cluster=str(at // size)) for at, key in enumerate(ours.metrics["right"].values)}
        difference = one_metric(replace(ours, cases=facts), theirs, margin=0.02).difference
        assert difference is not None
        assert difference.low is not None
        lows.append(difference.low)
    assert lows == sorted(lows, reverse=True)


def test_repeats_of_one_run_say_nothing_about_the_other() -> None:
    """Fifty right answers a case of the base do not make two of the new run certain."""
    few = runs([{"base": [1.0] * 50, "new": [1.0] * 2, "times": 10}])
    many = runs([{"base": [1.0] * 50, "new": [1.0] * 50, "times": 10}])
    assert one_metric(*few, margin=0.02, scope="these").verdict == "undecided"
    assert one_metric(*many, margin=0.02, scope="these").verdict == "non-inferior"


def test_p_and_interval_agree_where_nothing_varies() -> None:
    """Cases that all fell by the same amount have one answer, and do not use up a step of Holm's."""
    ours, theirs = runs([{"base": [0.5], "new": [0.4], "times": 30}])
    metric = one_metric(ours, theirs)
    assert metric.verdict == "no difference shown"
    assert metric.p is not None
    assert metric.p > 0.05


def test_an_id_of_several_cases_is_refused() -> None:
    """Two questions under one id are not repeats: they are not averaged unless somebody allows it."""
    ours, theirs = runs([{"base": [1.0, 0.0], "new": [0.0, 1.0], "times": 30}])
    mixed = replace(ours, mixed=("c0", "c1"))
    with pytest.raises(UsageError, match=r"several cases have one id \(c0, c1\): name a column"):
        compare_results(mixed, theirs)
    assert compare_results(mixed, theirs, CompareOptions(allow_mismatch=True)).mismatches


def test_a_margin_that_allows_everything_is_refused() -> None:
    """A margin as wide as the range is a wrong call."""
    ours, theirs = runs([{"base": [1.0], "new": [0.0], "times": 30}])
    with pytest.raises(UsageError, match="a margin of 5 allows every loss: right lies between 0 and 1"):
        compare_results(ours, theirs, CompareOptions(margin=5.0))


def test_what_is_better_when_lower() -> None:
    """The direction of a metric can be given; an unknown name is refused."""
    ours, theirs = runs([{"base": [1.0], "new": [0.0], "times": 30}])
    base, new = (open_results(one, CompareOptions(lower_is_better=["right"])) for one in (ours, theirs))
    assert compare_results(base, new).metrics["right"].verdict == "better"
    with pytest.raises(UsageError, match="has no metric 'rihgt'; did you mean 'right'"):
        open_results(ours, CompareOptions(higher_is_better=["rihgt"]))


@pytest.mark.parametrize(("given", "kind"), [([{"id": 1, "score": 1}], "list"), (3, "int")])
def test_what_is_not_a_run(given: Any, kind: str) -> None:
    """Rows are no run: the error says what is."""
    with pytest.raises(UsageError, match=f"a run is a file, the result of `evaluate`, or `Results`; got {kind}"):
        compare(given, given)


def test_clusters_that_differ_are_noted() -> None:
    """Where the runs put a case into different clusters, those of the base count, and a note says so."""
    ours, theirs = runs([{"base": [1.0], "new": [0.0], "times": 30}])
    facts = [{f"c{at}": CaseFacts(cluster=str(at // size)) for at in range(30)} for size in (2, 3)]
    found = compare_results(replace(ours, cases=facts[0]), replace(theirs, cases=facts[1]))
    assert "cases are in another cluster than in base, which counts" in found.notes[0]
