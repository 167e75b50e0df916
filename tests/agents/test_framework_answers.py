"""Agents that return what their framework returns, checked: nothing right fails, and nothing wrong passes."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.scenarios import CheckOptions, check, run_scenario
from agent_server import serving
from support import GOLDEN

LINES = (GOLDEN / "frameworks" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in map(json.loads, LINES)}
TURNS = [*map(json.loads, (GOLDEN / "frameworks" / "turns.jsonl").read_text(encoding="utf-8").splitlines())]


def verdict(row: dict[str, Any], folder: Path, **wanted: Any) -> bool | None:
    """Return whether a scenario passes on an agent that returns the messages of a row."""

    def agent(question: str) -> Any:
        del question
        return row["messages"]

    folder.mkdir(exist_ok=True)
    scenario = {"id": "s", "question": "q", "workflow": {"unlisted": "ignore", **wanted}}
    (result,) = check([scenario], CheckOptions(agent=agent, run=folder / "check.run")).run.results
    found: bool | None = result["pass"]
    return found


@pytest.mark.parametrize(
    "name",
    ["openai-agents.handoff", "pydantic-ai.two_tools", "langgraph-supervisor.full_history", "google-adk.transfer"],
)
def test_verdicts(name: str, tmp_path: Path) -> None:
    """The right tools pass and wrong ones fail; so do agents where the list names them, else they are undecided."""
    row = ROWS[name]
    tools, agents = list(dict.fromkeys(tool["name"] for tool in row["tools"])), row["agents"]
    is_named = "agents" not in row["unknown"]
    assert verdict(row, tmp_path / "1", tools_should_include=tools) is True
    assert verdict(row, tmp_path / "2", tools_should_include=["nothing"]) is False
    assert verdict(row, tmp_path / "3", agents_should_include=agents) is (True if is_named else None)
    assert verdict(row, tmp_path / "4", agents_should_include=["nobody"]) is (False if is_named else None)


def test_what_is_not_known_is_undecided(tmp_path: Path) -> None:
    """A message that cannot be read is the record's fault: undecided, never a failure of the agent."""
    row = {"messages": [{"role": "assistant", "content": [{"type": "tool_thing", "name": "search"}]}]}
    assert verdict(row, tmp_path, tools_should_include=["search"]) is None


@pytest.mark.parametrize("row", TURNS, ids=lambda row: row["name"])
def test_second_turns(row: dict[str, Any]) -> None:
    """Of messages with an earlier turn, what was done since the question counts; in process and over HTTP."""
    tools = [tool["name"] for tool in row["tools"]]
    question = {"id": "s", "question": row["question"]}
    with serving(lambda asked: {"response": row["answer"], "messages": row["messages"]}) as url:
        for agent in (lambda question: row["messages"], url):
            right = run_scenario({**question, "tools_should_include": tools}, agent)
            assert (right["pass"], right["reasons"]) == (True, [])
            wrong = run_scenario({**question, "tools_should_include": [*tools, "nothing"]}, agent)
            assert wrong["pass"] is False
    saved = run_scenario({**question, "tools_should_include": tools}, trajectory=row["messages"])
    assert saved["pass"] is True


def test_a_question_asked_before() -> None:
    """Where a list has the question twice, nobody can tell what was done for which: undecided if it matters."""
    call = {"id": "c", "function": {"name": "search", "arguments": "{}"}}
    answer = {"role": "assistant", "content": "Sunny."}
    turn = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "found"},
        answer,
    ]
    wanted = {"id": "s", "question": "?", "tools_should_include": ["search"]}
    assert run_scenario(wanted, lambda question: [*turn, *turn])["pass"] is None
    assert run_scenario(wanted, lambda question: [turn[0], answer, turn[0], answer])["pass"] is False
    twice = {"id": "s", "turns": ["?", "?"], "workflow": {"tools_count": {"search": 2}}}
    said = iter([turn, [*turn, *turn]])
    assert run_scenario(twice, lambda question: next(said))["reasons"] == []
    assert run_scenario(twice, trajectory=[*turn, *turn])["reasons"] == []


GEMINI = [
    {"role": "user", "parts": [{"text": "q"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "sun"}}}]},
    {"role": "model", "parts": [{"text": "Sun."}]},
]
STRANGE = [{"role": "user", "content": "q"}, {"role": "robot", "content": "x"}]


def test_messages_of_gemini_over_http() -> None:
    """Contents of Gemini that an agent behind HTTP returns show their calls."""
    with serving(lambda asked: {"response": "Sun.", "messages": GEMINI}) as url:
        for tool, passed in (("get_weather", True), ("nothing", False)):
            scenario = {"id": "s", "question": "q", "tools_should_include": [tool]}
            assert run_scenario(scenario, url)["pass"] is passed


def test_strange_roles_over_http() -> None:
    """A role that nobody knows is the record's fault behind HTTP, too: undecided, and the reason names it."""
    with serving(lambda asked: {"response": "x", "messages": STRANGE}) as url:
        result = run_scenario({"id": "s", "question": "q", "tools_should_include": ["search"]}, url)
    assert (result["pass"], "'robot', which is not known" in result["reasons"][0]) == (None, True)


INSPECT = [
    {"id": "m1", "role": "user", "content": "q", "source": "input"},
    {
        "id": "m2",
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "I search."}, {"type": "text", "text": ""}],
        "tool_calls": [{"id": "c1", "function": "search", "arguments": {"q": "x"}, "type": "function"}],
        "model": "mockllm/model",
    },
    {"id": "m3", "role": "tool", "content": "found", "tool_call_id": "c1", "function": "search"},
    {"id": "m4", "role": "assistant", "content": "Found.", "source": "generate", "model": "mockllm/model"},
]


def test_messages_of_inspect_over_http() -> None:
    """Messages as Inspect writes them, which an agent behind HTTP returns, show their calls."""
    with serving(lambda asked: {"messages": INSPECT}) as url:
        for tool, passed in (("search", True), ("nothing", False)):
            scenario = {"id": "s", "question": "q", "tools_should_include": [tool]}
            assert run_scenario(scenario, url)["pass"] is passed
        assert run_scenario({"id": "s", "question": "q"}, url)["response"] == "Found."
