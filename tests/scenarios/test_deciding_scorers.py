"""Nothing passes by not looking: what a scenario's scorers say counts, or is said not to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.judges import LocalJudge
from adjudge.model import ToolCall, Trajectory
from adjudge.rewards import reward
from adjudge.scenarios import Scenario, outcome_of, run_scenario
from cli.command import adjudge
from scenarios.agents import did


def answer(text: str) -> Any:
    """Return an agent that gives this answer."""
    return lambda question: {"response": text, "agents_called": [], "tools_used": []}


@reward(binary=True)
def is_short(final_response: str) -> bool:
    """Return whether a response is short."""
    return len(final_response) < 10


@pytest.mark.parametrize(
    ("scorer", "passes", "fails"),
    [
        ("qa_em_reward", "Paris", "Lyon"),
        ("contains_reward", "It is Paris.", "It is Lyon."),
        ("local:0", "Paris", "Lyon"),
        (LocalJudge(tier=0), "Paris", "Lyon"),
        (is_short, "Paris", "It is the capital of France."),
        ({"name": "qa_f1_reward", "threshold": 0.6}, "Paris", "Paris or Lyon or Nice"),
        ({"name": "contains_all", "arguments": {"texts": ["Paris"]}}, "Paris", "Lyon"),
    ],
)
def test_a_scorer_decides(scorer: Any, passes: str, fails: str) -> None:
    """A check, a judge and a scorer with a threshold fail the scenario, with the reason."""
    scenario = Scenario("a", "Capital of France?", references=["Paris"], scorers=[scorer])
    good, bad = run_scenario(scenario, answer(passes)), run_scenario(scenario, answer(fails))
    assert (good["pass"], good["status"], good["reasons"]) == (True, "scored", [])
    assert (bad["pass"], bad["status"]) == (False, "scored")
    assert len(bad["reasons"]) == 1
    [entry] = bad["scores"].values()
    assert (entry["pass"], entry["gated"]) == (False, True)


def test_a_scorer_without_a_threshold_decides_nothing() -> None:
    """A share has no natural limit: it is shown, and said not to decide."""
    scenario = Scenario("a", "Capital?", references=["Paris"], scorers=["qa_f1_reward"])
    result = run_scenario(scenario, answer("Lyon"))
    assert (result["pass"], result["scores"]["qa_f1_reward"]["gated"]) == (True, False)


def test_a_fault_is_not_a_fail() -> None:
    """A scorer that cannot score leaves the run undecided, whatever else it is."""
    scenario = Scenario("a", "Capital?", scorers=[{"name": "max_turns", "arguments": {"turns": 1}}])
    result = run_scenario(scenario, answer("Paris"))
    assert (result["status"], result["scores"]) != ("scored", {})
    assert result["pass"] is not False


@pytest.mark.parametrize(
    "scorer",
    [
        "qa_em_reward",
        "local:0",
        {"name": "contains_all", "arguments": {"texts": ["Paris"]}},
        {"name": "tools_requested", "arguments": {"tools": ["search"]}},
        {"name": "max_turns", "arguments": {"turns": 1}},
    ],
)
def test_an_answer_that_was_not_sent_is_not_an_empty_one(scorer: Any) -> None:
    """Where a record cannot show the answer, whoever reads it is undecided, with what to do; the rest is not."""
    record = did(None, tools=("search",), unknown={"answer": "set THAT=true"})
    record = replace(record, tool_calls=(ToolCall("search", "{}", requested=False, executed=True),))
    scenario = Scenario("a", "Capital?", references=["Paris"], tools_should_include=["search"], scorers=[scorer])
    result = run_scenario(scenario, trajectory=record)
    assert (result["pass"], result["status"], result["workflow"]["pass"]) == (None, "unscored", True)
    [entry] = result["scores"].values()
    assert (entry["value"], entry["status"]) == (None, "unscored")


def test_a_tool_listed_twice() -> None:
    """A list of names says nothing about how often; the hint names what does."""
    with pytest.raises(UsageError, match="'s' is listed twice: say how often it is called with tools_count"):
        Scenario("a", "Why?", tools_should_include=["s", "s"])


@pytest.mark.parametrize("threshold", ["1", True, float("nan"), float("inf")])
def test_bad_thresholds(threshold: Any) -> None:
    """A threshold is a number."""
    with pytest.raises(UsageError, match="the threshold of qa_f1_reward must be a number"):
        Scenario("a", "Why?", scorers=[{"name": "qa_f1_reward", "threshold": threshold}])


def test_the_command(tmp_path: Path) -> None:
    """A wrong answer is exit code 1, every score is in the table, and criteria that nobody judges are a warning."""
    (tmp_path / "agent.py").write_text("def answer(question):\n    return 'Lyon'\n")
    (tmp_path / "s.toml").write_text(
        'id = "capital"\nquestion = "Capital of France?"\nreferences = ["Paris"]\n'
        'expected_answer_criteria = "Names it"\nscorers = ["contains_reward", "qa_f1_reward"]\n'
    )
    done = adjudge("check", "s.toml", "--agent", "agent:answer", cwd=tmp_path, env={"COLUMNS": "120"})
    assert done.returncode == 1, done.stderr
    shown = done.stdout.decode()
    assert "contains_reward 0.00 " in shown
    assert "qa_f1_reward 0.00 (not gated)" in shown
    assert b"expected_answer_criteria, and there is no --judge" in done.stderr


def test_references_that_nobody_looks_at(tmp_path: Path) -> None:
    """References without a scorer decide nothing, which is a warning: a wrong answer would pass by not looking."""
    (tmp_path / "agent.py").write_text("def answer(question):\n    return 'Lyon'\n")
    scenario = 'id = "capital"\nquestion = "Capital of France?"\nreferences = ["Paris"]\n'
    for more, is_warned in (("", True), ('scorers = ["qa_f1_reward"]\n', False)):
        (tmp_path / "s.toml").write_text(scenario + more)
        done = adjudge("check", "s.toml", "--agent", "agent:answer", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (b"a scenario has references, and no scorers that look at them" in done.stderr) is is_warned


def test_an_answer_that_the_record_cannot_show() -> None:
    """What was not recorded is not a wrong answer: scorers that read it are unscored, others are as ever."""
    scorers = [
        {"name": "contains_all", "arguments": {"texts": ["Paris"]}},
        {"name": "not_contains", "arguments": {"texts": ["Lyon"]}},
        {"name": "max_tool_calls", "arguments": {"calls": 1}},
    ]
    scenario = {"id": "s", "question": "Capital?", "scorers": scorers}
    record = Trajectory(agents_called=("a",), unknown={"answer": "contents were not sent: set X"})
    result = run_scenario(scenario, trajectory=record)
    assert [one["status"] for one in result["scores"].values()] == ["unscored", "unscored", "scored"]
    assert (result["status"], outcome_of(result)) == ("unscored", "undecided")
    assert "contents were not sent: set X" in result["reasons"][0]
    result = run_scenario(scenario, trajectory=replace(record, unknown={}))
    assert outcome_of(result) == "failed"


@pytest.mark.parametrize(
    "scorer",
    [
        {"name": "contains_all", "arguments": {"texts": []}},
        {"name": "matches_regex", "arguments": {"pattern": "("}},
        {"name": "matches_schema", "arguments": {"schema": {"type": "objekt"}}},
        {"name": "max_cost", "arguments": {"dollars": "much"}},
    ],
)
def test_wrong_options_are_found_first(scorer: dict[str, Any]) -> None:
    """An option that can never work is found before the agent is asked."""

    def agent(question: str) -> str:
        raise AssertionError(question)

    with pytest.raises(UsageError, match=scorer["name"]):
        run_scenario({"id": "s", "question": "?", "scorers": [scorer]}, agent)


def test_a_check_without_a_score_leaves_the_verdict_open() -> None:
    """A check that could not be made is not a pass; one that decides nothing is left out."""
    limit = {"name": "max_tokens", "arguments": {"tokens": 5}}
    result = run_scenario({"id": "s", "question": "?", "scorers": [limit]}, answer("Paris"))
    assert (result["pass"], outcome_of(result)) == (None, "undecided")
    free = {"name": "tools_f1", "arguments": {"tools": ["search"]}}
    result = run_scenario({"id": "s", "question": "?", "scorers": [free]}, answer("Paris"))
    assert (result["pass"], [one["gated"] for one in result["scores"].values()]) == (True, [False])


def test_a_scenario_that_checks_nothing(tmp_path: Path) -> None:
    """A scenario without any expectation passes whatever the agent answers, which is a warning."""
    (tmp_path / "agent.py").write_text("def answer(question):\n    return 'Lyon'\n")
    bare = 'id = "capital"\nquestion = "Capital of France?"\n'
    for more, is_warned in (("", True), ('scorers = ["is_json"]\n', False), ("tools_should_include = []\n", False)):
        (tmp_path / "s.toml").write_text(bare + more)
        done = adjudge("check", "s.toml", "--agent", "agent:answer", cwd=tmp_path)
        assert (b"a scenario has no expectation, no criteria and no scorers" in done.stderr) is is_warned, done.stderr
