"""Agents that return what their framework returns, checked: nothing right fails, and nothing wrong passes."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.scenarios import CheckOptions, check
from support import GOLDEN

LINES = (GOLDEN / "frameworks" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in map(json.loads, LINES)}


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
