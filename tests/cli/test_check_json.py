"""`adjudge check --json`: everything about a run in one file, whatever the agent wrote."""

import json
from pathlib import Path
from typing import Any

from cli.command import adjudge

AGENT = """
def answer(question):
    if question == "raise":
        raise RuntimeError("down")
    if question == "text":
        return "Paris"
    deep = {}
    for _ in range(300):
        deep = {"a": [deep]}
    calls = [
        {"id": "1", "function": {"name": "search", "arguments": "{\\"q\\": \\"France\\"}"}},
        {"id": "2", "function": {"name": "read", "arguments": deep if question == "deep" else "not JSON"}},
    ]
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "Paris <b>"},
        {"role": "assistant", "content": "It is Paris."},
    ]
    return {"messages": messages, "agents_called": ["guide"], "sources": ["atlas"]}
"""


def report(folder: Path, *questions: str) -> list[dict[str, Any]]:
    """Check one scenario for each question, and return the results of the report."""
    (folder / "agent.py").write_text(AGENT)
    rows = [f'[[scenarios]]\nid = "s{at}"\nturns = {json.dumps([one])}\n' for at, one in enumerate(questions)]
    (folder / "s.toml").write_text("".join(rows) + 'tools_should_include = ["search"]\n')
    done = adjudge("check", "s.toml", "--agent", "agent:answer", "--json", "out.json", cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr
    whole = json.loads((folder / "out.json").read_bytes())
    assert whole["schema"] == 1
    found: list[dict[str, Any]] = whole["results"]
    return found


def test_everything(tmp_path: Path) -> None:
    """Question, messages, calls with order, arguments and results, agents, sources, and what is not known."""
    (one,) = report(tmp_path, "Capital?")
    assert (one["question"], one["turns"], one["agents"], one["sources"]) == (
        *("Capital?", ["Capital?"], ["guide"], ["atlas"]),
    )
    first, second = one["calls"]
    assert first == {
        "order": 1,
        "name": "search",
        "arguments": {"q": "France"},
        "id": "1",
        "result": "Paris <b>",
        "requested": True,
        "executed": True,
    }
    assert (second["order"], second["arguments"], second["executed"]) == (2, "not JSON", False)
    assert [message["role"] for message in one["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert (one["response"], one["fault"], one["unknown"].get("agents")) == ("It is Paris.", None, None)


def test_what_is_not_known(tmp_path: Path) -> None:
    """What a record does not show is null, never an empty list; a fault has its reason."""
    text, error = report(tmp_path, "text", "raise")
    assert (text["calls"], text["agents"]) == (None, None)
    assert "agents_called" in text["unknown"]["agents"]
    assert (error["messages"], error["calls"], error["agents"], error["question"]) == (None, None, None, "raise")
    assert error["fault"] == "agent-failed: raised: RuntimeError: down"


def test_deep_arguments(tmp_path: Path) -> None:
    """What is nested without end is text from some level on, so that the report can be written and read."""
    (one,) = report(tmp_path, "deep")
    inner = one["calls"][1]["arguments"]
    while not isinstance(inner, str):
        inner = inner["a"] if isinstance(inner, dict) else inner[0]
    assert inner.startswith('{"a":[{"a":[')
    assert len((tmp_path / "out.json").read_bytes()) < 200_000
