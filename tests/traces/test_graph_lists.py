"""Lists of LangChain's messages: each node of a graph chooses what it returns, so that what is not there is open.

What is there counts, and what is forbidden is decided, as for any list. The answer's own `agents_called` and
`tools_used` end the doubt.
"""

from typing import Any

import pytest

from adjudge.agents import to_trajectory
from adjudge.model import Case, Trajectory
from adjudge.traces import load, load_messages
from adjudge.workflow import check_workflow

HUMAN = {"type": "human", "content": "Refund A1."}


def ai(name: str | None, content: str = "", *calls: str) -> dict[str, Any]:
    """Return a message of an agent."""
    made = [{"name": tool, "args": {"order": "A1"}, "id": tool, "type": "tool_call"} for tool in calls]
    return {"type": "ai", "name": name, "content": content, "tool_calls": made}


def result(tool: str, content: str = "done") -> dict[str, Any]:
    """Return the result of a call."""
    return {"type": "tool", "name": tool, "content": content, "tool_call_id": tool}


# `triage` handed over by `Command(goto="billing", graph=Command.PARENT)`, without an update.
BILLING = [HUMAN, ai("billing", "", "refund"), result("refund"), ai("billing", "A1 is refunded.")]
SILENT: list[tuple[dict[str, Any], bool | None]] = [
    ({"agents_should_include": ["triage", "billing"]}, None),
    ({"agents_should_include": ["triage", "billing"], "agents_order": "strict"}, None),
    ({"agents_count": {"triage": 1}}, None),
    ({"agents_should_include": ["triage", "billing"], "tools_should_include": ["find_customer", "refund"]}, None),
    # What is there and must not be fails as ever, and what only must not be there passes.
    ({"agents_should_include": ["triage"]}, False),
    ({"agents_should_include": ["triage", "billing"], "tools_should_exclude": ["refund"]}, False),
    ({"agents_should_include": ["billing"], "agents_should_exclude": ["triage"]}, True),
    # No agent is missing: the tools are those of the list.
    ({"agents_should_include": ["billing"], "tools_should_include": ["find_customer", "refund"]}, False),
    ({"tools_should_include": ["find_customer", "refund"]}, False),
]


@pytest.mark.parametrize(("expectation", "passed"), SILENT)
def test_an_agent_that_left_no_message(expectation: dict[str, Any], passed: bool | None) -> None:
    """An agent of a graph that is expected and wrote no message may have handed over without one: undecided."""
    found = check_workflow(expectation, load(BILLING))
    assert found.passed is passed
    if passed is None:
        assert "return agents_called beside the messages, or record a trace" in found.reasons[0]


def test_a_tool_of_a_graph_that_may_be_the_agent() -> None:
    """Where a tool was asked in words, the reason names it, too; that it is not an agent ends that doubt alone."""
    call = {"name": "consult", "args": {"query": "Refund A1?"}, "id": "c", "type": "tool_call"}
    asked = [
        HUMAN,
        {**ai("triage"), "tool_calls": [call]},
        {**result("consult"), "tool_call_id": "c"},
        ai("triage", "Ok"),
    ]
    expectation = {"agents_should_include": ["triage", "billing"]}
    for names, is_named in (({}, True), ({"consult": None}, False)):
        found = check_workflow(expectation, load(asked, agents=names))
        assert found.passed is None
        assert ("--map-agent 'consult'=NAME" in found.reasons[0]) is is_named
        assert "return agents_called beside the messages" in found.reasons[0]
    assert check_workflow(expectation, load(asked, agents={"consult": "billing"})).passed is True


def test_a_graph_whose_handoffs_are_seen() -> None:
    """A list with a handoff shows how this graph hands over: who is not in it was not entered."""
    seen = [HUMAN, ai("triage", "", "transfer_to_billing"), result("transfer_to_billing", "Successfully transferred")]
    seen[2]["content"] += " to billing"
    found = load([*seen, *BILLING[1:]])
    assert (found.agents_called, dict(found.unknown)) == (("triage", "billing"), {})
    expectation = {"agents_should_include": ["triage", "billing", "audit"]}
    assert check_workflow(expectation, found).passed is False


def answered(messages: list[dict[str, Any]], **more: Any) -> Trajectory:
    """Return what an agent's answer shows."""
    return to_trajectory(Case("a", "Refund A1."), {"messages": messages, **more})


def test_what_the_agent_says_ends_the_doubt() -> None:
    """`agents_called` and `tools_used` beside the messages say all; a name for whoever has none says nothing of it."""
    expectation = {"agents_should_include": ["triage", "billing"]}
    assert check_workflow(expectation, answered(BILLING, agents_called=["billing"])).passed is False
    assert check_workflow(expectation, answered(BILLING, agents_called=["triage"])).passed is True
    bare = [one | {"name": None} if one["type"] == "ai" else one for one in BILLING]
    assert check_workflow(expectation, load(bare, agents={"*": "billing"})).passed is None
    for names in ({"refund": None}, {"billing": "billing"}):
        assert check_workflow(expectation, load(BILLING, agents=names)).passed is None


LAST: list[tuple[dict[str, Any], bool]] = [
    ({"tools_should_include": ["refund"]}, False),
    ({"tools_should_include": ["refund"], "unlisted": "ignore"}, False),
    ({"tools_count": {"refund": 1}}, False),
    ({"tools_should_exclude": ["refund"]}, True),
    ({"tools_should_include": []}, True),
]
ADVICE = (
    "where a node of a graph returns its last message alone, return tools_used beside the messages, or check its traces"
)


@pytest.mark.parametrize("name", ["billing", None])
@pytest.mark.parametrize(("expectation", "passed"), LAST)
def test_a_list_without_calls_decides(expectation: dict[str, Any], passed: bool, name: str | None) -> None:
    """A question and an answer without a call are a run whose model called nothing: an expected tool fails."""
    last = [HUMAN, ai(name, "A1 is refunded.")]
    found = check_workflow(expectation, load(last))
    assert found.passed is passed
    if "tools_should_include" in expectation and not passed:
        # A graph may have kept its calls to itself, which the reason says after what is seen.
        assert found.reasons == (f"missing: the list shows no call of tool 'refund'; {ADVICE}",)
        for names in ({"*": "billing"}, {"billing": "desk"}):
            assert check_workflow(expectation, load(last, agents=names)).passed is False
        assert check_workflow(expectation, answered(last, tools_used=[])).passed is False
        assert check_workflow(expectation, answered(last, tools_used=["refund"])).passed is True
        # A list of any other shape is what its agent did, whoever wrote it.
        usual = [{"role": "user", "content": "Refund A1."}, {"role": "assistant", "content": "A1 is refunded."}]
        plain = check_workflow(expectation, load_messages(usual))
        assert (plain.passed, plain.reasons) == (False, ("missing: tool 'refund' is expected and was not called",))


def test_a_list_with_several_speakers_and_no_calls() -> None:
    """Where several agents speak, one that says nothing but words may have called tools: an expected one is open."""
    several = [HUMAN, ai("triage", "One moment."), ai("billing", "A1 is refunded.")]
    assert check_workflow({"tools_should_include": ["refund"]}, load(several)).passed is None


def test_a_list_with_calls_decides() -> None:
    """Where the only agent's calls are there, its list is whole: an expected tool that is missing fails."""
    expectation = {"tools_should_include": ["refund", "find_customer"]}
    assert check_workflow(expectation, load(BILLING)).passed is False


def test_a_tool_that_returns_directly() -> None:
    """With `return_direct=True` a graph ends with the result of its tool: that is the answer."""
    asked = ai("billing", "One moment.", "refund")
    found = load([HUMAN, asked, result("refund", "A1 is refunded.")])
    assert (found.final_response, found.tools_used) == ("A1 is refunded.", ("refund",))
    assert "answer" not in found.unknown
    # Of several results nothing says which one the user gets, nor of a list that ends with a handoff.
    call = {"name": "notify", "args": {"to": "ops"}, "id": "n", "type": "tool_call"}
    both = {**asked, "tool_calls": [*asked["tool_calls"], call]}
    several = [HUMAN, both, result("refund", "A1 is refunded."), {**result("notify", "Sent."), "tool_call_id": "n"}]
    assert "which is the answer" in load(several).unknown["answer"]
    # What the agent says beside its messages counts.
    assert answered(several, response="Done.").final_response == "Done."
