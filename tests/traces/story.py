"""One run of two agents, told once; every encoding in these tests tells the same.

An orchestrator hands over to a research agent, which calls two tools at once, asks for a third call that is never
executed, and answers.
"""

import json
from dataclasses import dataclass
from typing import Any

from adjudge.model import Message, ToolCall, Trajectory

ANSWER = "It was opened in 1932 and is 1149 m long."


@dataclass(frozen=True)
class Model:
    """A call of a model: how many of the messages it was given; the next one is what it wrote."""

    given: int


@dataclass(frozen=True)
class Tool:
    """An execution of a tool."""

    name: str
    arguments: dict[str, Any]
    id: str
    result: str


@dataclass(frozen=True)
class Agent:
    """An agent and what it did; `next_agent` is whom it handed over to, by the call `Tool`."""

    name: str
    steps: tuple[Model | Tool, ...]
    next_agent: str | None = None


def call(tool: Tool) -> dict[str, Any]:
    """Return a tool's call as a chat message has it."""
    return {"id": tool.id, "type": "function", "function": {"name": tool.name, "arguments": json.dumps(tool.arguments)}}


def result(tool: Tool) -> dict[str, Any]:
    """Return a tool's result as a chat message has it."""
    return {"role": "tool", "tool_call_id": tool.id, "content": tool.result}


HANDOFF = Tool("transfer_to_research", {}, "call_1", '{"assistant": "research"}')
PDF = Tool("pdf_retrieval", {"query": "bridge opening"}, "call_2", "Opened on 19 March 1932.")
WEB = Tool("web_search", {"query": "bridge length", "k": 2}, "call_3", "The bridge is 1149 metres long.")
TOLL = Tool("web_search", {"query": "bridge toll"}, "call_4", "")

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer from documents."},
    {"role": "user", "content": "When was the bridge opened, and how long is it?"},
    {"role": "assistant", "content": None, "tool_calls": [call(HANDOFF)]},
    result(HANDOFF),
    {"role": "assistant", "content": None, "tool_calls": [call(PDF), call(WEB)]},
    result(PDF),
    result(WEB),
    {"role": "assistant", "content": "One more thing.", "tool_calls": [call(TOLL)]},
    {"role": "assistant", "content": ANSWER},
]
AGENTS = (
    Agent("orchestrator", (Model(2), HANDOFF), "research"),
    Agent("research", (Model(4), PDF, WEB, Model(7), Model(8))),
)
SPEAKERS = {2: "orchestrator", 4: "research", 7: "research", 8: "research"}


def expected() -> Trajectory:
    """Return what every encoding must give."""

    def asked(tool: Tool) -> ToolCall:
        return ToolCall(tool.name, tool.arguments, tool.id)

    messages = (
        Message("system", "Answer from documents."),
        Message("user", "When was the bridge opened, and how long is it?"),
        Message("assistant", None, (asked(HANDOFF),), name="orchestrator"),
        Message("tool", HANDOFF.result, tool_call_id=HANDOFF.id),
        Message("assistant", None, (asked(PDF), asked(WEB)), name="research"),
        Message("tool", PDF.result, tool_call_id=PDF.id),
        Message("tool", WEB.result, tool_call_id=WEB.id),
        Message("assistant", "One more thing.", (asked(TOLL),), name="research"),
        Message("assistant", ANSWER, name="research"),
    )
    calls = (
        ToolCall(PDF.name, PDF.arguments, PDF.id, PDF.result, requested=True, executed=True),
        ToolCall(WEB.name, WEB.arguments, WEB.id, WEB.result, requested=True, executed=True),
        ToolCall(TOLL.name, TOLL.arguments, TOLL.id, requested=True, executed=False),
    )
    return Trajectory(messages, calls, ("orchestrator", "research"), ANSWER)
