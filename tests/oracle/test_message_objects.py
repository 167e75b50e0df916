"""Real message objects of LangChain are read like what they write, in every way in which it writes them."""

import json

import pytest

from adjudge.agents import to_trajectory
from adjudge.model import Case, Trajectory
from adjudge.traces import load

messages = pytest.importorskip("langchain_core.messages")
dumping = pytest.importorskip("langchain_core.load")

CALL = {"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
CHAT = [
    messages.HumanMessage("q"),
    messages.AIMessage("", name="research", tool_calls=[CALL]),
    messages.ToolMessage("found", tool_call_id="c1"),
    messages.AIMessage([{"type": "text", "text": "done"}], name="research"),
]


def test_every_way_to_write_them() -> None:
    """Objects, `model_dump`, `messages_to_dict`, `dumps` and a graph's state say the same."""
    written = [
        load(CHAT),
        load([one.model_dump() for one in CHAT]),
        load(messages.messages_to_dict(CHAT)),
        load(json.loads(dumping.dumps(CHAT))),
        load({"messages": CHAT}),
        to_trajectory(Case("1", "q"), {"messages": CHAT}),
    ]
    assert all(one == written[0] for one in written)
    found: Trajectory = written[0]
    assert (found.agents_called, found.tools_used, found.final_response) == (("research",), ("search",), "done")
    # Whoever left no message in a graph's list is not in it.
    assert (list(found.unknown), found.complete) == (["others"], True)
    assert to_trajectory(Case("1", "q"), CHAT[-1]).final_response == "done"
