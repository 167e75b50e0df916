"""Assertions: each is a check by name, 1 or 0 with a reason, and undecided where the record cannot show it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from adjudge.agents import to_trajectory
from adjudge.errors import ArgumentError, UsageError
from adjudge.model import Case, ToolCall, Trajectory
from adjudge.rewards import (
    contains_all,
    get_scorer,
    is_json,
    matches_regex,
    matches_schema,
    tools_f1,
)
from adjudge.text.refusals import declines
from adjudge.traces import load_messages
from support import golden

SEARCHED = [
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "name": "search", "content": "Paris"},
    {"role": "assistant", "tool_calls": [{"id": "b", "function": {"name": "book", "arguments": "{}"}}]},
    {"role": "assistant", "content": "It is Paris."},
]
CUT = Trajectory.from_messages(SEARCHED)
CUT = Trajectory(CUT.messages, CUT.tool_calls, complete=False)

CHECKS = [
    ("contains_all", {"texts": ["paris", "IT"]}, "It is Paris.", 1.0, None),
    ("contains_all", {"texts": ["Paris", "Seine"]}, "It is Paris.", 0.0, "missing-text: it does not contain 'Seine'"),
    ("contains_all", {"texts": ["paris"], "ignore_case": False}, "It is Paris.", 0.0, "missing-text"),
    ("contains_all", {"texts": "STRASSE"}, "Lange Straße", 1.0, None),
    ("contains_any", {"texts": ["Lyon", "Paris"]}, "It is Paris.", 1.0, None),
    ("contains_any", {"texts": ["Lyon", "Nice"]}, "It is Paris.", 0.0, "missing-text"),
    ("not_contains", {"texts": ["Lyon"]}, "It is Paris.", 1.0, None),
    ("not_contains", {"texts": ["Lyon", "Paris"]}, "It is Paris.", 0.0, "unwanted-text: it contains 'Paris'"),
    ("starts_with", {"texts": ["yes", "no"]}, "\n No.", 1.0, None),
    ("starts_with", {"texts": ["yes"]}, "Well, yes.", 0.0, "missing-text"),
    ("matches_regex", {"pattern": r"\bPar\w+"}, "It is Paris.", 1.0, None),
    ("matches_regex", {"pattern": "^Paris"}, "It is Paris.", 0.0, "no-match"),
    ("is_json", {}, '```json\n{"a": [1, 2]}\n```', 1.0, None),
    ("is_json", {}, "NaN", 0.0, "not-json"),
    ("is_json", {}, '{"a": 1} and more', 0.0, "not-json"),
    ("is_json", {}, "", 0.0, "not-json"),
    ("is_json", {}, "[" * 100_000, 0.0, "not-json"),
    ("is_json", {}, "[" * 100_000 + "}" * 100_000, 0.0, "not-json"),
    ("matches_schema", {"schema": {"required": ["a"]}}, '{"a": 1}', 1.0, None),
    ("matches_schema", {"schema": {"required": ["b"]}}, '{"a": 1}', 0.0, "wrong-json: $: 'b' is a required property"),
    ("matches_schema", {"schema": {"type": "object"}}, "none", 0.0, "not-json"),
    ("is_refusal", {}, "I’m sorry, I can’t help with that.", 1.0, None),
    ("contains_all", {"texts": ["don't", "Z\u00fcrich", "a b"]}, "I don\u2019t, Zu\u0308rich, a\u00a0b", 1.0, None),
    ("contains_all", {"texts": ["a b"]}, "It is a\nb.", 1.0, None),
    ("matches_schema", {"schema": {"format": "email"}}, '"notmail"', 0.0, "wrong-json"),
    ("is_refusal", {}, "It is Paris.", 0.0, "no-refusal"),
    ("is_refusal", {}, "Unfortunately we were unable to find flights.", 0.0, "no-refusal"),
    ("is_refusal", {"expected": False}, "It is Paris.", 1.0, None),
    ("is_refusal", {"expected": False}, "I cannot assist with that.", 0.0, "refusal: it declines"),
    ("is_language", {"language": "de"}, "Der Bahnhof liegt gleich hinter der Kirche.", 1.0, None),
    (
        "is_language",
        {"language": "fr"},
        "Der Bahnhof liegt gleich hinter der Kirche.",
        0.0,
        "other-language: it is wri",
    ),
    ("is_language", {"language": "en"}, f"The list is written like this:\n```\n{'der die das ' * 50}\n```", 1.0, None),
    ("cites_sources", {"sources": ["Report.pdf", "b.pdf"]}, "As report.pdf says, 42.", 1.0, None),
    ("cites_sources", {"sources": ["report.pdf", "b.pdf"], "least": 2}, "As report.pdf says, 42.", 0.0, "no-source: "),
    ("cites_sources", {"sources": ["https://a.org/x/"]}, "It is 42 ([1](https://a.org/x)).", 1.0, None),
    ("cites_sources", {"sources": ["https://a.org/x"]}, "It is 42 ([1](https://a.org/x)).", 1.0, None),
    ("cites_sources", {"sources": ["https://a.org/x"]}, "See https://a.org/x and http://b.org.", 0.0, "unknown-source"),
    ("cites_sources", {"sources": ["https://a.org/x"]}, "See http://A.org/x/?utm_source=y.", 1.0, None),
    ("cites_sources", {"sources": ["doc"]}, "See doc1.", 0.0, "no-source"),
]


@pytest.mark.parametrize(("name", "options", "response", "value", "reason"), CHECKS)
def test_responses(name: str, options: dict[str, Any], response: str, value: float, reason: str | None) -> None:
    """By name, by function and in an event loop the verdict is the same, and a 0 says why."""
    scorer = get_scorer(name, **options)
    score = scorer.score({"final_response": response})
    assert (score.status, score.value) == ("scored", value)
    assert score.reason == reason if reason is None else (score.reason or "").startswith(reason)
    assert scorer.is_binary
    assert asyncio.run(scorer.ascore({"final_response": response})) == score
    assert scorer.score({"final_response": response, "other": 1}) == score


RECORDS = [
    ("max_latency", {"seconds": 5}, Trajectory(seconds=5.0), 1.0),
    ("max_latency", {"seconds": 5}, Trajectory(seconds=5.1), 0.0),
    ("max_latency", {"seconds": 5}, SEARCHED, None),
    ("max_tool_calls", {"calls": 1}, SEARCHED, 1.0),
    ("max_tool_calls", {"calls": 0}, SEARCHED, 0.0),
    ("max_tool_calls", {"calls": 0}, CUT, 0.0),
    ("max_tool_calls", {"calls": 1}, CUT, None),
    ("max_tool_calls", {"calls": 1}, ["only texts"], None),
    ("max_turns", {"turns": 3}, SEARCHED, 1.0),
    ("max_turns", {"turns": 2}, SEARCHED, 0.0),
    ("max_turns", {"turns": 3}, CUT, None),
    ("max_turns", {"turns": 3}, Trajectory(), None),
    ("max_turns", {"turns": 3}, to_trajectory(Case("1", "2+2?"), "4"), None),
    ("max_turns", {"turns": 3}, to_trajectory(Case("1", "2+2?"), {"response": "4", "tools_used": ["add"]}), None),
    ("max_turns", {"turns": 3}, replace(load_messages(SEARCHED), unknown={"inside": "no trace"}), None),
    ("max_tool_calls", {"calls": 1}, replace(load_messages(SEARCHED), unknown={"inside": "no trace"}), None),
    ("max_tool_calls", {"calls": 0}, replace(load_messages(SEARCHED), unknown={"inside": "no trace"}), 0.0),
    ("max_tokens", {"tokens": 100}, Trajectory(prompt_tokens=80, completion_tokens=20), 1.0),
    ("max_tokens", {"tokens": 100}, Trajectory(prompt_tokens=80, completion_tokens=21), 0.0),
    ("max_tokens", {"tokens": 100}, Trajectory(prompt_tokens=80), None),
    ("max_tokens", {"tokens": 100}, Trajectory(prompt_tokens=101), 0.0),
    ("max_tokens", {"tokens": 100}, Trajectory(prompt_tokens=80, completion_tokens=20, complete=False), None),
    ("max_tokens", {"tokens": 100}, SEARCHED, None),
    ("max_cost", {"dollars": 0.02}, Trajectory(cost=0.02), 1.0),
    ("max_cost", {"dollars": 0.02}, Trajectory(cost=0.03), 0.0),
    ("max_cost", {"dollars": 0.02}, Trajectory(cost=0.01, complete=False), None),
    ("max_cost", {"dollars": 0.02}, Trajectory(prompt_tokens=1, completion_tokens=1), None),
    ("max_cost", {"dollars": 2, "price": [1, 2]}, Trajectory(prompt_tokens=10**6, completion_tokens=10**6), 0.0),
    ("max_cost", {"dollars": 3, "price": [1, 2]}, Trajectory(prompt_tokens=10**6, completion_tokens=10**6), 1.0),
    ("max_cost", {"dollars": 3, "price": [1, 2]}, Trajectory(prompt_tokens=10**6), None),
    ("max_cost", {"dollars": 3, "price": [1, 2]}, Trajectory(prompt_tokens=10**7), 0.0),
    ("max_tool_calls", {"calls": 1}, Trajectory(unknown={"tools": "they were not sent"}), None),
    ("cites_sources", {}, Trajectory(sources=("a.pdf",)), 0.0),
    ("cites_sources", {}, Trajectory(), None),
    ("tools_requested", {"tools": ["search", "book"]}, SEARCHED, 1.0),
    ("tools_requested", {"tools": ["pay"]}, SEARCHED, 0.0),
    ("tools_requested", {"tools": ["book"]}, CUT, 1.0),
    ("tools_requested", {"tools": ["pay"]}, CUT, None),
    (
        "tools_requested",
        {"tools": ["s"]},
        Trajectory(tool_calls=(ToolCall("s", requested=False, executed=True),)),
        None,
    ),
    ("tools_f1", {"tools": ["search"]}, SEARCHED, 1.0),
    ("tools_f1", {"tools": ["search", "search"]}, SEARCHED, 2 / 3),
    ("tools_f1", {"tools": ["book"]}, SEARCHED, 0.0),
    ("tools_f1", {"tools": ["search"]}, CUT, None),
]


@pytest.mark.parametrize(("name", "options", "record", "value"), RECORDS)
def test_records(name: str, options: dict[str, Any], record: Any, value: float | None) -> None:
    """What the record cannot show is unscored; what it shows in any case is decided."""
    score = get_scorer(name, **options).score({"final_response": "", "trajectory": record})
    assert (score.status, score.value) == ("unscored" if value is None else "scored", value), score
    assert value == 1.0 or score.reason or name == "tools_f1"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("contains_all", {"texts": []}),
        ("contains_all", {"texts": ["a", ""]}),
        ("contains_any", {"texts": [1]}),
        ("matches_schema", {"schema": {"type": "thing"}}),
        ("matches_schema", {"schema": "object"}),
        ("matches_schema", {"schema": {"$ref": "#/nowhere"}}),
        ("matches_schema", {"schema": {"$ref": "http://127.0.0.1:1/schema.json"}}),
        ("max_latency", {"seconds": -1}),
        ("max_latency", {"seconds": float("nan")}),
        ("max_tool_calls", {"calls": True}),
        ("tools_f1", {"tools": []}),
        ("tools_f1", {"tools": ""}),
        ("max_cost", {"dollars": 1, "price": 3}),
        ("max_cost", {"dollars": 1, "price": [1]}),
        ("max_tokens", {"tokens": "many"}),
        ("is_refusal", {"expected": "yes"}),
        ("is_language", {"language": "german"}),
        ("cites_sources", {"sources": []}),
        ("matches_regex", {"pattern": "("}),
        ("matches_regex", {"pattern": "a" * 2000}),
    ],
)
def test_wrong_options(name: str, options: dict[str, Any]) -> None:
    """A wrong option is an error of the row with its code, in a direct call an exception: never a 0."""
    score = get_scorer(name, **options).score({"final_response": "{}", "trajectory": SEARCHED})
    assert score.status == "error"
    assert (score.reason or "").startswith("bad-option: ")


def test_a_refusal_in_another_language_is_not_known() -> None:
    """Refusals are known in English only: of other texts nothing is said."""
    score = get_scorer("is_refusal").score({"final_response": "Ich kann dabei leider nicht helfen."})
    assert (score.status, (score.reason or "").partition(":")[0]) == ("unscored", "unclear-language")


@pytest.mark.parametrize(
    ("schema", "response"),
    [
        ({"type": "string", "pattern": "^(a+)+$"}, f'"{"a" * 40}!"'),
        ({"uniqueItems": True}, json.dumps([{"a": number} for number in range(6_000)])),
    ],
)
def test_a_schema_that_never_ends(schema: dict[str, Any], response: str) -> None:
    """A pattern or a list that takes for ever is given up, in an event loop too: unscored, not 0."""
    scorer = get_scorer("matches_schema", schema=schema)
    for score in (scorer.score({"final_response": response}), asyncio.run(scorer.ascore({"final_response": response}))):
        assert (score.status, (score.reason or "").partition(":")[0]) == ("unscored", "timeout")


def test_too_little_text_has_no_language() -> None:
    """A word or two could be of many languages."""
    score = get_scorer("is_language", language="fr").score({"final_response": "Oui, Paris."})
    assert (score.status, (score.reason or "").partition(":")[0]) == ("unscored", "unclear-language")


@pytest.mark.parametrize("row", golden("refusals"), ids=lambda row: row["text"][:40])
def test_refusals(row: dict[str, Any]) -> None:
    """Who declines does not only apologise or have doubts, and who apologises may still answer."""
    assert declines(row["text"]) is row["declines"]


def test_direct_calls() -> None:
    """Called directly, they are functions."""
    assert contains_all("Paris", texts="Lyon") == {"reward": 0.0, "reason": "missing-text: it does not contain 'Lyon'"}
    assert is_json("1") == {"reward": 1.0}
    assert tools_f1(SEARCHED, tools=["search", "fetch"]) == {"reward": 2 / 3, "precision": 1.0, "recall": 0.5}
    with pytest.raises(ArgumentError):
        matches_schema("1", schema={"type": "thing"})
    with pytest.raises(UsageError, match="cannot be read"):
        matches_regex("a", pattern="[")


def test_a_pattern_that_never_ends() -> None:
    """A search that takes too long is undecided: neither a match nor none."""
    score = get_scorer("matches_regex", pattern="(a+)+$").score({"final_response": "a" * 40 + "b"})
    assert score.status == "unscored"
    assert score.reason == "timeout: the pattern could not be matched in time"


ENDLESS = {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}


@pytest.mark.parametrize(
    ("name", "options", "response"),
    [
        ("is_json", {}, "[" * 100_000 + '"[{"' + "]" * 100_000),
        ("matches_schema", {"schema": {}}, '{"a":' * 50_000 + "1" + "}" * 50_000),
        ("matches_schema", {"schema": ENDLESS}, "[" * 500 + "]" * 500),
    ],
)
def test_json_that_is_too_deep(name: str, options: dict[str, Any], response: str) -> None:
    """JSON that is nested more deeply than our reader goes is not the agent's fault: unscored, and never a 0."""
    score = get_scorer(name, **options).score({"final_response": response})
    assert (score.status, score.value) == ("unscored", None)
    assert (score.reason or "").startswith("too-deep")
