"""The dictionary of scores: the same for any order and division, with intervals and breakdowns."""

import math
import random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.conversations import METRICS, RATE_RANGES, RATES, RuleScope, two_wrong
from adjudge.crag._results import TurnResults
from adjudge.crag._scores import BREAKDOWNS, Scores, score_results
from adjudge.errors import DataError, RowError, UsageError
from adjudge.statistics import estimate_mean
from crag.rows import CONVERSATIONS, LABELS, brute_force, rows_of

SCOPES: list[RuleScope] = ["conversation", "all"]
VALUES = {"X": 1.0, "C": 1.0, "M": 0.0, "H": -1.0}


def categorised(conversations: list[str], chance: random.Random) -> list[dict[str, Any]]:
    """Return rows with categories, some of them ego-centric, and the values of a scorer."""
    rows = rows_of(conversations)
    for row in rows:
        row["is_ego"] = chance.random() < 0.5
        row["domain"] = chance.choice([None, 0, 1, "sports"])
        row["query_category"] = chance.choice([0, 1])
        row["image_quality"] = chance.choice(["0", 0])
        if chance.random() < 0.8:
            value = chance.random()
            row["scorers"] = {"f1": {"value": value, "status": "scored", "reason": None}}
    return rows


@settings(max_examples=40)
@given(CONVERSATIONS, st.randoms(use_true_random=False), st.integers(1, 4), st.sampled_from(SCOPES))
def test_order_and_shards(conversations: list[str], chance: random.Random, shards: int, scope: RuleScope) -> None:
    """Any order, and any division, even of one conversation, gives the same dictionary to the last bit."""
    rows = categorised(conversations, chance)
    parts = [Scores(rule_scope=scope) for _ in range(shards)]
    for row in chance.sample(rows, len(rows)):
        chance.choice(parts).add(row)
    whole = Scores(rule_scope=scope)
    for part in chance.sample(parts, shards):
        whole.merge(part)
    assert len(whole) == len(rows)
    assert whole.dictionary() == score_results(rows, rule_scope=scope)
    assert whole.dictionary() == score_results(TurnResults.of(rows), rule_scope=scope)


@settings(max_examples=40)
@given(CONVERSATIONS, st.integers(0, 3), st.integers(1, 3))
def test_turn_numbers(conversations: list[str], first: int, step: int) -> None:
    """Turns are broken down by their own numbers, also where those begin later than 0 or leave some out."""
    rows = rows_of(conversations)
    for row in rows:
        row["turn_idx"] = first + step * row["turn_idx"]
    found = {part["value"]: part for part in score_results(rows)["all"]["breakdowns"]["turn_idx"]}
    for number, part in found.items():
        here = [row for row in rows if row["turn_idx"] == number]
        assert (part["total"], part["miss"]) == (
            sum(row["status"] == "scored" for row in here),
            sum(row["is_miss"] for row in here),
        )
    assert set(found) == {row["turn_idx"] for row in rows}


@settings(max_examples=60)
@given(CONVERSATIONS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_subsets(conversations: list[str], ego: list[bool]) -> None:
    """`all` and `ego` are scored independently: each is what its turns alone amount to."""
    scores = score_results(rows_of(conversations, ego=ego))
    some = [letters for letters, is_ego in zip(conversations, ego, strict=False) if is_ego]
    assert {name: scores["all"][name] for name in METRICS} == brute_force(conversations)
    assert {name: scores["ego"][name] for name in METRICS} == brute_force(some)


def test_ego_turns_of_a_conversation() -> None:
    """Where only some turns of a conversation are ego-centric, those alone are its turns in that subset."""
    rows = rows_of(["HCHC"])
    for row, is_ego in zip(rows, (True, False, True, True), strict=True):
        row["is_ego"] = is_ego
    scores = score_results(rows)
    assert scores["all"]["mean_multi_turn_conversation_score"] == 0.0
    assert scores["ego"]["mean_multi_turn_conversation_score"] == -2 / 3


@settings(max_examples=60)
@given(CONVERSATIONS)
def test_rule_before_everything(conversations: list[str]) -> None:
    """Under `rule_scope="all"` every number is that of the labels that the rule gives, ruled on before or not."""
    scores = score_results(rows_of(conversations), rule_scope="all")
    letters = {"correct": "C", "miss": "M", "wrong": "H"}
    ruled = []
    for conversation in conversations:
        after = two_wrong([LABELS[letter].label for letter in conversation])
        pairs = zip(conversation, after, strict=True)
        ruled.append("".join(one if LABELS[one].label == label else letters[label] for one, label in pairs))
    assert {name: scores["all"][name] for name in METRICS} == brute_force(ruled)
    results = TurnResults.of(rows_of(conversations), rule_scope="all")
    assert score_results(results) == score_results(results, rule_scope="all") == scores


def test_scopes() -> None:
    """C H H C C: the default keeps raw labels in the counts, `all` does not; there is no third scope."""
    rows = rows_of(["CHHCC"])
    raw, ruled = (score_results(rows, rule_scope=scope)["all"] for scope in SCOPES)
    assert (raw["accuracy"], raw["truthfulness_score"]) == (0.6, 0.2)
    assert (ruled["accuracy"], ruled["missing"], ruled["truthfulness_score"]) == (0.2, 0.4, -0.2)
    assert raw["mean_multi_turn_conversation_score"] == ruled["mean_multi_turn_conversation_score"] == -0.2
    with pytest.raises(UsageError, match="different rule_scope cannot be merged: conversation, all"):
        Scores().merge(Scores(rule_scope="all"))
    with pytest.raises(UsageError, match="rule_scope is 'conversation' or 'all', got 'turn'"):
        Scores(rule_scope=cast("RuleScope", "turn"))


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="XCMH", min_size=1, max_size=5), min_size=1, max_size=30))
def test_intervals(conversations: list[str]) -> None:
    """Every rate has the interval of its values, clustered by conversation; it holds the rate and has a width."""
    scores = score_results(rows_of(conversations))["all"]
    values = [VALUES[letter] for letters in conversations for letter in letters]
    clusters = [number for number, letters in enumerate(conversations) for _ in letters]
    expected = estimate_mean(values, clusters, range=(-1.0, 1.0))
    found = scores["intervals"]["truthfulness_score"]
    assert expected is not None
    assert (found["n"], found["clusters"], found["note"]) == (len(values), len(conversations), expected.note)
    assert (found["se"], found["low"], found["high"]) == (expected.se, expected.low, expected.high)
    assert tuple(scores["intervals"]) == RATES
    for rate, interval in scores["intervals"].items():
        least, most = RATE_RANGES[rate]
        assert least <= interval["low"] <= scores[rate] + 1e-12
        assert scores[rate] - 1e-12 <= interval["high"] <= most
        assert interval["low"] < interval["high"]
        assert ("fewer than 20" in (interval["note"] or "")) <= (len(conversations) < 20)


def test_worked_interval() -> None:
    """1 1 0, 1 0, 0 1 1, 1 0: accuracy .6, clustered error .0461880, interval [.453009, .746991]."""
    scores = score_results(rows_of(["CCH", "CH", "HCC", "CH"]))["all"]
    found = scores["intervals"]["accuracy"]
    assert scores["accuracy"] == 0.6
    assert [found["se"], found["low"], found["high"]] == pytest.approx([0.0461880, 0.453009, 0.746991], abs=1e-6)
    assert found["note"] == "4 clusters, fewer than 20: the interval is rough"


@settings(max_examples=15)
@given(CONVERSATIONS, st.randoms(use_true_random=False))
def test_breakdowns(conversations: list[str], chance: random.Random) -> None:
    """Each value of each breakdown has the numbers of its own turns, and together they are all turns."""
    rows = categorised(conversations, chance)
    block = score_results(rows)["all"]
    assert tuple(block["breakdowns"]) == BREAKDOWNS
    for name, entries in block["breakdowns"].items():
        assert [(type(entry["value"]), entry["value"]) for entry in entries] == sorted(
            {(type(row[name]), row[name]) for row in rows},
            key=lambda item: ((int, str, type(None)).index(item[0]), item[1] or 0),
        )
        for metric in ("total", "correct", "miss", "hallucination", "unscored", "errors"):
            assert sum(entry[metric] for entry in entries) == block[metric]
        for entry in entries:
            some = score_results([row for row in rows if row[name] == entry["value"]])["all"]
            assert {key: entry[key] for key in METRICS[:-1]} == {key: some[key] for key in METRICS[:-1]}
            assert entry["intervals"] == {rate: some["intervals"][rate] for rate in RATES[:-1]}
            assert entry["intervals"]["accuracy"]["n"] == entry["total"]


def test_bounds() -> None:
    """With turns missing, the numbers lie between those of all wrong and all right."""
    scores = score_results(rows_of(["CHU", "CE"]))["all"]
    assert (scores["total"], scores["unscored"], scores["errors"]) == (3.0, 1, 1)
    assert (scores["conversations"], scores["flagged_conversations"]) == (2, 2)
    assert scores["bounds"] == {"accuracy": [0.4, 0.8], "truthfulness_score": [-0.2, 0.6]}


def test_extra_scorers() -> None:
    """Additional scorers have their mean, counts and clustered interval beside the others, in both subsets."""
    rows = rows_of(["CH", "C", "H"], ego=[True])
    values = [0.5, 1.0, None, 0.25]
    for row, value in zip(rows, values, strict=True):
        row["scorers"] = {"f1": {"value": value, "status": "error" if value is None else "scored", "reason": None}}
    scores = score_results(rows, ranges={"f1": (0.0, 1.0)})
    expected = estimate_mean([0.5, 1.0, 0.25], ["a", "a", "b"])
    assert expected is not None
    found = scores["all"]["scorers"]["f1"]
    assert (found["mean"], found["n"], found["unscored"], found["errors"]) == (1.75 / 3, 3, 0, 1)
    assert (found["interval"]["se"], found["interval"]["low"]) == (expected.se, expected.low)
    assert scores["ego"]["scorers"]["f1"]["mean"] == 0.75
    assert score_results([])["all"].keys() == score_results(rows_of(["C"]))["all"].keys()
    alone = score_results(rows[2:3])["all"]["scorers"]["f1"]
    assert (alone["mean"], alone["interval"]["note"]) == (None, "nothing was scored")


def test_bad_rows() -> None:
    """Rows that cannot be scored are named: a missing column, a contradiction, two turns of one number."""
    (row,) = rows_of(["C"])
    with pytest.raises(RowError, match="there is no field 'domain'"):
        score_results([{name: value for name, value in row.items() if name != "domain"}])
    with pytest.raises(RowError, match="turn_idx: 4294967296 is not a number of turns"):
        score_results([{**row, "turn_idx": 2**32}])
    with pytest.raises(RowError, match="domain: expected"):
        score_results([{**row, "domain": [1]}])
    with pytest.raises(RowError, match="session 's0000', turn 0: a turn cannot be correct and a miss at once"):
        score_results([{**row, "is_miss": True}])
    with pytest.raises(RowError, match="session 's0000': the scorer 'f1' has the status scored and no number"):
        score_results([{**row, "scorers": {"f1": {"value": None, "status": "scored"}}}])
    with pytest.raises(DataError, match="session 's0000' has two turns 0"):
        score_results([row, row])


def test_long_conversations() -> None:
    """Conversations of any length are scored alike."""
    chance = random.Random(3)  # noqa: S311 (the same in every run)
    conversations = ["".join(chance.choices("XCMHUE", k=length)) for length in (1, 8, 9, 50, 700)]
    found = score_results(rows_of(conversations))["all"]
    assert {name: found[name] for name in METRICS} == brute_force(conversations)
    assert math.isfinite(found["intervals"]["accuracy"]["low"])
