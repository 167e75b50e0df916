"""What real frameworks send through real instrumentations, read as what they did.

The payloads were recorded from the packages, with a scripted model behind them; `truth.json` is what was counted there.
"""

import gzip
import json
from typing import Any

import pytest

from adjudge.traces import load
from adjudge.workflow import check_workflow
from support import GOLDEN

FOLDER = GOLDEN / "frameworks"
TRUTH: dict[str, dict[str, Any]] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
UNNAMED = tuple(name for name in TRUTH if name.endswith(".unnamed"))


def recorded(name: str) -> Any:
    """Return a recorded payload."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


@pytest.mark.parametrize("name", [name for name in TRUTH if name not in UNNAMED])
def test_what_happened(name: str) -> None:
    """Agents, tools with their arguments, and the answer come out as they were; a wrong expectation fails."""
    truth, found = TRUTH[name], load(recorded(name))
    assert list(found.agents_called) == truth["agents"]
    used = [{"name": call.name, "arguments": call.arguments} for call in found.tool_calls or () if call.executed]
    agents_as_tools = {call["name"] for call in used} - {tool["name"] for tool in truth["tools"]}
    assert agents_as_tools <= {"ask_researcher", "billing_agent", "researcher", *truth["agents"]}, agents_as_tools
    assert [call for call in used if call["name"] not in agents_as_tools] == truth["tools"]
    assert found.final_response == truth["answer"]
    assert (found.complete, found.unknown) == (True, {})
    expected = {"agents_should_include": truth["agents"], "unlisted": "ignore"}
    assert check_workflow(expected, found).passed is True
    assert check_workflow({**expected, "agents_should_include": ["somebody"]}, found).passed is False
    assert check_workflow({"tools_should_include": ["something"], "unlisted": "ignore"}, found).passed is False


@pytest.mark.parametrize("name", UNNAMED)
def test_nobody_can_tell(name: str) -> None:
    """An agent without a name is undecided: neither a pass nor a fail."""
    found = load(recorded(name))
    assert "agents" in found.unknown
    assert check_workflow({"agents_should_include": TRUTH[name]["agents"]}, found).passed is None
