"""What real frameworks send through real instrumentations, read as what they did.

The payloads were recorded from the packages, with a scripted model behind them; `truth.json` is what was counted there.
"""

import gzip
import json
from typing import Any

import pytest

from adjudge.model import Trajectory
from adjudge.rewards import max_tool_calls, tools_f1
from adjudge.traces import load
from adjudge.workflow import check_workflow
from support import GOLDEN

FOLDER = GOLDEN / "frameworks"
TRUTH: dict[str, dict[str, Any]] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
UNDECIDED = tuple(name for name, truth in TRUTH.items() if "unknown" in truth)


def recorded(name: str) -> Any:
    """Return a recorded payload."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


def used(found: Trajectory, truth: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools that were executed, with their arguments, without agents that are called as tools."""
    agents = {*truth.get("agents_as_tools", ()), *truth["agents"]}
    calls = [call for call in found.tool_calls or () if call.executed and call.name not in agents]
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def test_there_are_enough() -> None:
    """Many runs of many set-ups are recorded, and few of them cannot be decided."""
    assert len(TRUTH) >= 60
    assert len({name.split(".")[0] for name in TRUTH}) >= 12
    assert len(UNDECIDED) <= 6
    assert {path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.gz")} == set(TRUTH)


@pytest.mark.parametrize("name", [name for name in TRUTH if name not in UNDECIDED])
def test_what_happened(name: str) -> None:
    """Agents, tools with their arguments, and the answer come out as they were; a wrong expectation fails."""
    truth, found = TRUTH[name], load(recorded(name))
    assert list(found.agents_called) == truth["agents"]
    assert used(found, truth) == truth["tools"]
    assert found.final_response == truth["answer"]
    assert (found.complete, [*found.unknown]) == (True, truth.get("open", []))
    expected = {"agents_should_include": truth["agents"], "unlisted": "ignore"}
    assert check_workflow(expected, found).passed is True
    assert check_workflow({**expected, "agents_should_include": ["somebody"]}, found).passed is False
    wrong = check_workflow({"tools_should_include": ["something"], "unlisted": "ignore"}, found)
    assert wrong.passed is (False if found.unknown.keys().isdisjoint(("inside", "hosted")) else None)


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("openai-agents-openllmetry")])
def test_tools_of_the_service_that_are_not_sent(name: str) -> None:
    """Tools that OpenAI runs itself have no spans here, and may have any name: what is not seen is open."""
    found = load(recorded(name))
    for tool in ("web_search", "ask_wiki"):
        for rule in ({"tools_should_exclude": [tool]}, {"tools_should_include": [tool], "unlisted": "ignore"}):
            result = check_workflow(rule, found)
            assert result.passed is None
            assert "use OpenInference, or give the messages" in result.reasons[0]
        assert tools_f1(found, tools=[tool]).get("unscored")
    seen = found.tools_used
    assert check_workflow({"tools_should_include": [seen[0]], "unlisted": "ignore"}, found).passed is True
    assert check_workflow({"tools_should_exclude": [seen[0]]}, found).passed is False
    assert check_workflow({"tools_should_include": [*seen]}, found).passed is None
    assert check_workflow({"tools_should_include": []}, found).passed is False
    assert max_tool_calls(found, calls=len(seen)).get("unscored")
    assert max_tool_calls(found, calls=len(seen) - 1)["reward"] == 0


def test_chat_completions_run_no_tools() -> None:
    """A service that is asked through Chat Completions, where a span names the model, runs no tools of its own."""
    record = recorded("openai-agents-openllmetry.handoff")
    scopes = [scope for document in record for one in document["resourceSpans"] for scope in one["scopeSpans"]]
    for span in (span for scope in scopes for span in scope["spans"]):
        span["attributes"].append({"key": "gen_ai.request.model", "value": {"stringValue": "gpt-5.6-luna"}})
    found = load(record)
    assert check_workflow({"tools_should_exclude": ["delete"]}, found).passed is True
    assert check_workflow({"tools_should_include": ["delete"], "unlisted": "ignore"}, found).passed is False


def test_a_tool_without_a_name() -> None:
    """Where a tool's span does not name it, the tools that are there count, and one that is not is undecided."""
    found = load(recorded("llamaindex-agents-openllmetry.agent_as_tool"))
    wanted = {"tools_should_include": ["ask_weather", "get_weather"]}
    assert check_workflow(wanted, found).passed is None
    assert "use OpenInference" in check_workflow(wanted, found).reasons[0]
    assert check_workflow({"tools_should_include": ["get_weather"], "unlisted": "ignore"}, found).passed is True
    assert check_workflow({"tools_should_include": ["get_weather"]}, found).passed is None


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_nobody_can_tell(name: str) -> None:
    """What a record cannot show is undecided, neither a pass nor a fail, and says what to do; the rest is right."""
    truth, found = TRUTH[name], load(recorded(name))
    assert sorted(found.unknown) == truth["unknown"]
    assert all(": " in reason for reason in found.unknown.values())
    assert found.complete
    agents = check_workflow({"agents_should_include": truth["agents"], "unlisted": "ignore"}, found)
    assert agents.passed is (None if "agents" in truth["unknown"] else True)
    names = list(dict.fromkeys(tool["name"] for tool in truth["tools"]))
    tools = check_workflow({"tools_should_include": names, "unlisted": "ignore"}, found)
    assert tools.passed is (None if "tools" in truth["unknown"] else True)
    wrong = check_workflow({"tools_should_include": ["something"], "unlisted": "ignore"}, found)
    assert wrong.passed is (None if "tools" in truth["unknown"] else False)
    if "arguments" not in truth["unknown"]:
        assert used(found, truth) == truth["tools"]
    assert found.final_response == (None if "answer" in truth["unknown"] else truth["answer"])


@pytest.mark.parametrize("name", TRUTH)
def test_each_model_call_counts_once(name: str) -> None:
    """Tokens are those of the model calls, whichever spans repeat or add them up; where one call has none, unknown."""
    found = load(recorded(name))
    assert [found.prompt_tokens, found.completion_tokens] == TRUTH[name].get("tokens", [None, None])
