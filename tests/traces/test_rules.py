"""The rules that turn spans into a Trajectory, one by one."""

import json
from typing import Any

import pytest

from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces import Record, Span, SpanKind, assemble, faults_of, load, missing
from traces.encodings import TRACE, genai, langfuse_pages, observations


def run(*spans: Span, **options: Any) -> Trajectory:
    """Assemble spans."""
    return assemble(Record("t", spans), **options)


def faults(*spans: Span, **options: Any) -> tuple[str, ...]:
    """Say what is missing from spans."""
    return faults_of(Record("t", spans), **options)


def asks(time: int, *calls: ToolCall, said: str | None = None, given: tuple[Message, ...] = ()) -> Span:
    """Return a model call that asks for tools, or answers."""
    return Span(
        f"llm {time}", None, "llm", "chat", time, time + 1, input=given, output=(Message("assistant", said, calls),)
    )


def tool(time: int, name: str = "search", **more: Any) -> Span:
    """Return a tool's execution."""
    return Span(more.pop("id", f"tool {time}"), more.pop("parent", None), "tool", name, time, time + 1, **more)


def span(identity: str, kind: SpanKind, name: str, start: int = 0, parent: str | None = None, **more: Any) -> Span:
    """Return any span."""
    return Span(identity, parent, kind, name, start, start + 9, **more)


A = ToolCall("search", {"q": "a"}, "c1")
B = ToolCall("search", {"q": "b"}, "c2")
NO_ID = ToolCall("search", {"q": "a"})


def result(identity: str | None = None, text: str = "r", name: str | None = None) -> Message:
    """Return a message with a tool's result."""
    return Message("tool", text, tool_call_id=identity, name=name)


# --- requested and executed


def test_requested_is_not_executed() -> None:
    """A call that a model asked for and nobody executed was requested, not used."""
    found = run(asks(1, A))
    assert (found.tools_requested, found.tools_used) == (("search",), ())


def test_executed_without_a_request() -> None:
    """A tool that ran without a model's asking was used, not requested."""
    found = run(tool(1, result="r"))
    assert (found.tools_requested, found.tools_used) == ((), ("search",))
    assert found.tool_calls == (ToolCall("search", "", None, "r", requested=False, executed=True),)


def test_one_call_in_three_places_counts_once() -> None:
    """A request, its tool span and its result message, joined by id, are one call."""
    found = run(asks(1, A), tool(3, call_id="c1", result="span"), asks(5, said="ok", given=(result("c1", "message"),)))
    assert found.tool_calls == (ToolCall("search", {"q": "a"}, "c1", "message", requested=True, executed=True),)


def test_a_result_message_is_an_execution() -> None:
    """Where tools have no spans, the result that the next model call is given shows the execution."""
    found = run(asks(1, A, B), asks(5, said="ok", given=(result("c1"),)))
    assert found.tools_requested == ("search", "search")
    assert [call.id for call in found.tool_calls or () if call.executed] == ["c1"]


@pytest.mark.parametrize("requested", [NO_ID, A], ids=["no ids at all", "no id on the span"])
def test_without_ids_name_arguments_and_order_join(requested: ToolCall) -> None:
    """A tool span without an id joins the request of its name and arguments."""
    found = run(asks(1, requested), tool(3, arguments={"q": "a"}, result="r"))
    assert found.tools_requested == found.tools_used == ("search",)


def test_parallel_calls_without_ids_keep_their_results() -> None:
    """Of parallel calls of one tool, each span joins the request with its arguments, in whatever order they ran."""
    found = run(asks(1, A, B), tool(3, arguments={"q": "b"}, result="rb"), tool(4, arguments={"q": "a"}, result="ra"))
    assert [call.result for call in found.tool_calls or ()] == ["ra", "rb"]


def test_arguments_that_a_framework_changed_still_join() -> None:
    """Where no arguments agree, name and order join: defaults may have been filled in, or texts reformatted."""
    found = run(asks(1, A), tool(3, arguments={"q": "a", "k": 5}))
    assert found.tools_requested == found.tools_used == ("search",)


def test_arguments_join_in_any_order_of_keys() -> None:
    """Arguments are compared as objects, not as texts."""
    request = ToolCall("f", {"x": 1, "y": 2})
    other = ToolCall("f", {"x": 3, "y": 4})
    found = run(asks(1, other, request), tool(3, "f", arguments={"y": 2, "x": 1}))
    assert [call.executed for call in found.tool_calls or ()] == [False, True]


def test_a_call_cannot_be_executed_before_it_is_asked_for() -> None:
    """Without ids, an execution before the request is another call."""
    found = run(tool(1, arguments={"q": "a"}), asks(3, NO_ID))
    assert (found.tools_requested, found.tools_used) == (("search",), ("search",))
    assert len(found.tool_calls or ()) == 2


def test_an_id_that_is_used_again() -> None:
    """An id that each turn uses anew belongs to the call that used it last."""
    first, second = ToolCall("f", {"n": 1}, "0"), ToolCall("f", {"n": 2}, "0")
    found = run(
        asks(1, first),
        tool(2, "f", call_id="0", result="one"),
        asks(4, second, given=(Message("assistant", None, (first,)), result("0", "one"))),
        tool(6, "f", call_id="0", result="two"),
    )
    assert [(call.arguments, call.result) for call in found.tool_calls or ()] == [({"n": 1}, "one"), ({"n": 2}, "two")]


def test_a_tool_that_failed_was_executed() -> None:
    """A tool that ran into an error was used; its result is the error."""
    found = run(asks(1, A), tool(3, call_id="c1", error="boom"))
    assert found.tool_calls == (ToolCall("search", {"q": "a"}, "c1", "boom", requested=True, executed=True),)


# --- retries


def test_retries_of_a_tool_are_one_call() -> None:
    """Two spans with one id are one call, with the last result."""
    found = run(asks(1, A), tool(3, call_id="c1", error="timeout"), tool(5, call_id="c1", result="r"))
    assert [call.result for call in found.tool_calls or ()] == ["r"]


def test_retries_without_ids() -> None:
    """Without ids, the same call after one that failed is a retry; after one that did not, it is a second call."""
    once = run(tool(1, arguments={"q": "a"}, error="timeout"), tool(3, arguments={"q": "a"}, result="r"))
    assert once.tools_used == ("search",)
    twice = run(tool(1, arguments={"q": "a"}, result="r"), tool(3, arguments={"q": "a"}, result="r"))
    assert twice.tools_used == ("search", "search")


def test_retries_of_a_model_call() -> None:
    """A model call that failed said nothing; the next one counts."""
    failed = Span("llm 0", None, "llm", "chat", 0, 1, error="503", input=(Message("user", "q"),))
    found = run(failed, asks(2, A, given=(Message("user", "q"),)))
    assert found.tools_requested == ("search",)
    assert [message.role for message in found.messages] == ["user", "assistant"]


def test_a_model_call_inside_a_model_call_is_the_same() -> None:
    """Two instrumentations that see one model call, one inside the other, make one."""
    outer = asks(1, A)
    inner = span("inner", "llm", "chat", 1, outer.id, output=outer.output)
    assert run(outer, inner).tools_requested == ("search",)
    empty = span("outer", "llm", "gateway", 1)
    assert run(empty, span("inner", "llm", "chat", 1, "outer", output=outer.output)).tools_requested == ("search",)


# --- agents


def test_agents_in_the_order_of_first_entry() -> None:
    """Agents stand in the order in which they were first entered, each once."""
    found = run(
        span("3", "agent", "b", 5), span("1", "agent", "a", 1), span("2", "handoff", "b", 3), span("4", "agent", "a", 7)
    )
    assert found.agents_called == ("a", "b")


def test_a_handoff_is_a_called_agent() -> None:
    """The agent that a handoff names was called; the call that did it is no tool."""
    request = ToolCall("transfer_to_fact_checker", {}, "h")
    found = run(asks(1, request), span("h", "handoff", "Fact Checker", 3))
    assert (found.agents_called, found.tools_used, found.tools_requested) == (("Fact Checker",), (), ())


def test_a_handoff_that_was_not_made_stays_a_request() -> None:
    """Of two handoffs that a model asks for, the one that is not made remains a request."""
    found = run(
        asks(1, ToolCall("transfer_to_a", {}, "h1"), ToolCall("transfer_to_b", {}, "h2")), span("h", "handoff", "a", 3)
    )
    assert (found.agents_called, found.tools_requested, found.tools_used) == (("a",), ("transfer_to_b",), ())


def test_a_tool_that_only_sounds_like_a_handoff() -> None:
    """`transfer_to_X` is a tool like any other unless an agent X was entered."""
    found = run(
        asks(1, ToolCall("transfer_to_human_agents", {}, "c")), tool(3, "transfer_to_human_agents", call_id="c")
    )
    assert found.tools_used == ("transfer_to_human_agents",)


def test_an_agent_that_is_called_as_a_tool() -> None:
    """A tool span that holds the agent of its name is a called agent; one that holds another agent is a tool."""
    inner = span("a", "agent", "Research Agent", 4, "tool 3")
    found = run(tool(3, "research_agent"), inner)
    assert (found.agents_called, found.tools_used) == (("Research Agent",), ())
    found = run(tool(3, "ask"), inner)
    assert (found.agents_called, found.tools_used) == (("Research Agent",), ("ask",))


def test_who_speaks_in_a_chat_is_an_agent() -> None:
    """In a conversation without spans, the names of assistant messages are the agents."""
    chat = [{"role": "assistant", "name": "a", "content": "x"}, {"role": "assistant", "name": "b", "content": "y"}]
    assert load(chat).agents_called == ("a", "b")
    assert load([{"role": "user", "name": "Ann", "content": "x"}]).agents_called == ()


def test_guardrails_and_evaluators_stand_aside() -> None:
    """What happens inside a guardrail or an evaluator is not what the agent did."""
    inside = [
        span("a", "agent", "critic", 2, "g"),
        span("t", "tool", "moderate", 3, "a"),
        span("m", "llm", "chat", 4, "a", output=(Message("assistant", "fine"),)),
    ]
    found = run(asks(1, said="answer"), span("g", "aside", "guardrail", 2), *inside)
    assert (found.agents_called, found.tools_used, found.final_response) == ((), (), "answer")


# --- messages


def test_what_was_said_before_is_context() -> None:
    """Calls and results of earlier turns, which a model is given again, are not this run's."""
    before = (Message("user", "q1"), Message("assistant", None, (A,)), result("c1"), Message("assistant", "a1"))
    found = run(asks(1, said="a2", given=(*before, Message("user", "q2"))))
    assert (found.tools_used, found.tools_requested, found.final_response) == ((), (), "a2")
    assert [message.text for message in found.messages] == ["q1", "", "r", "a1", "q2", "a2"]


def test_every_message_once() -> None:
    """A message that later calls are given again stands once; one that was said twice stands twice."""
    user, yes = Message("user", "again?"), Message("assistant", "yes")
    found = run(asks(1, said="yes", given=(user,)), asks(3, said="yes", given=(user, yes, user)))
    assert [message.text for message in found.messages] == ["again?", "yes", "again?", "yes"]


def test_clocks_that_differ() -> None:
    """A model call that seems to come before the one whose words it was given does not double them."""
    found = run(asks(1, said="done", given=(Message("assistant", None, (A,)), result("c1"))), asks(2, A))
    assert [message.role for message in found.messages] == ["assistant", "tool", "assistant"]
    assert found.tools_used == ("search",)


def test_the_answer_of_the_run() -> None:
    """The answer is what the root says it is, else the last reply."""
    root = span("root", "other", "run", 0, text="whole answer")
    inner = Span("m", "root", "llm", "chat", 1, 2, output=(Message("assistant", "last words"),))
    assert run(root, inner).final_response == "whole answer"
    assert run(span("root", "other", "run", 0), inner).final_response == "last words"
    assert run(root, inner, span("other", "other", "run", 0)).final_response == "last words"


# --- what is missing


def test_a_model_that_is_asked_beside_the_agents() -> None:
    """Where nobody says what was answered, a reply that no agent gave may be a grader's: the answer is unknown."""

    def said(name: str, start: int, parent: str) -> Span:
        return Span(name, parent, "llm", "chat", start, start + 1, output=(Message("assistant", name),))

    agent = span("a", "agent", "clerk", 1, "r")
    inner, grade = said("Paris", 2, "a"), said("CORRECT", 7, "r")
    for text, answer in ((None, None), ("Paris", "Paris")):
        found = run(span("r", "other", "run", 0, text=text), agent, inner, grade)
        assert (found.final_response, "answer" in found.unknown) == (answer, answer is None)
    found = run(span("r", "other", "run", 0), agent, inner, grade)
    assert found.unknown["answer"].endswith("record the answer on the root span")
    # Beside them, but not the last one; and where no agent has a model's span inside.
    assert run(span("r", "other", "run", 0), agent, inner, said("no", 0, "r")).final_response == "Paris"
    assert run(span("r", "other", "run", 0), agent, grade).final_response == "CORRECT"


def test_a_missing_parent() -> None:
    """A span whose parent is not there makes the record incomplete, unless the run was started from that parent."""
    orphan = tool(1, parent="gone")
    assert not run(orphan).complete
    assert "its parent gone is not in the record" in faults(orphan)[0]
    assert run(orphan, parent="gone").complete
    assert run(orphan).tools_used == ("search",)


def test_a_remote_parent_that_is_in_the_record() -> None:
    """A span that another process started hangs under its parent where that is recorded too; else it is a root."""
    entry = span("a", "agent", "remote", 2, "t", is_entry=True)
    found = run(span("root", "other", "run", 0, text="whole"), tool(1, "call", id="t", parent="root"), entry)
    assert (found.agents_called, found.final_response, found.complete) == (("remote",), "whole", True)
    aside = span("g", "aside", "guardrail", 1)
    assert run(aside, span("a", "agent", "remote", 2, "g", is_entry=True)).agents_called == ()
    assert run(entry).complete


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_parents_in_a_circle(parents: dict[str, str]) -> None:
    """A circle of parents is cut, once, and the record is incomplete."""
    spans = [span(name, "tool", name, 1, parent) for name, parent in parents.items()]
    assert sorted(run(*spans).tools_used) == sorted(parents)
    assert len(faults(*spans)) == 1
    assert "circle" in faults(*spans)[0]


def test_duplicates_and_drafts() -> None:
    """Of two spans with one id the finished one counts."""
    draft = Span("t", None, "tool", "search", 1, None, faults=("it has not ended",))
    done = Span("t", None, "tool", "search", 1, 2, result="r")
    for spans in ([draft, done], [done, draft], [done, done]):
        found = run(*spans)
        assert (found.tools_used, found.complete) == (("search",), True)


def edited(change: dict[str, Any], index: int = 2) -> dict[str, Any]:
    """Return the story's spans with one of them changed."""
    document: Any = genai()
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][index] |= change
    return dict(document)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"endTimeUnixNano": "0"}, "it has not ended"),
        ({"droppedAttributesCount": 2}, "2 of its attributes or events were dropped"),
        ({"droppedEventsCount": 1}, "1 of its attributes or events were dropped"),
        ({"parentSpanId": "00000000000000ff"}, "is not in the record"),
        (
            {"attributes": [{"key": "gen_ai.output.messages", "value": {"stringValue": '[{"role": "assis'}}]},
            "its attribute gen_ai.output.messages is cut off",
        ),
    ],
)
def test_what_makes_a_record_incomplete(change: dict[str, Any], said: str) -> None:
    """A span that did not end, that lost attributes, or whose attribute is cut off is named."""
    assert load(genai()).complete
    document = edited(change)
    assert not load(document).complete
    assert not any(message.text.startswith("[") for message in load(document).messages)
    assert any(said in fault for fault in missing(document))


def test_arguments_that_are_no_json() -> None:
    """Arguments that a model wrote wrongly stay as they are; those that end too early may be cut."""

    def with_arguments(arguments: str) -> dict[str, Any]:
        value = {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": arguments}}
        named = {"key": "gen_ai.tool.name", "value": {"stringValue": "search"}}
        return {"resourceSpans": [{"scopeSpans": [{"spans": [raw([value, named])]}]}]}

    wrong = load(with_arguments("{q: Paris}"))
    assert (wrong.complete, wrong.tool_calls and wrong.tool_calls[0].arguments) == (True, "{q: Paris}")
    assert not wrong.unknown.get("arguments")
    assert "arguments" in load(with_arguments('{"q": "Par')).unknown


def raw(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one span of OTLP."""
    times = {"startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"traceId": TRACE, "spanId": "00000000000000aa", "name": "x", **times, "attributes": attributes}


def test_pages_that_are_missing() -> None:
    """Pages of a list that are not there are noticed by the number of items, or because no page is the last."""
    pages: Any = langfuse_pages()
    assert missing(pages) == ()
    assert any("5 of 9 observations" in fault for fault in missing(pages[:1]))
    cursors = [{"data": observations()[:4], "meta": {"cursor": "x"}}, {"data": observations()[4:], "meta": {}}]
    assert load(cursors).complete
    assert missing([{"data": observations(), "meta": {"cursor": "x"}}]) == ("the last page is missing",)


def test_langfuse_without_input_and_output() -> None:
    """Observations that were asked for without their input and output are incomplete, and say what to ask for."""
    bare = [{key: value for key, value in item.items() if key not in ("input", "output")} for item in observations()]
    assert any("fields=core,basic,io" in fault for fault in missing(bare))
    with pytest.raises(Exception, match="only an observation's id"):
        load({"id": TRACE, "observations": ["o1"]})


def test_langsmith_names_what_it_lacks() -> None:
    """Runs that are still open, that are only named, or that are on another page make a record incomplete."""
    done: dict[str, Any] = {"id": "1", "run_type": "tool", "name": "f", "start_time": 1, "end_time": 2, "trace_id": "t"}
    assert load(done).complete
    assert missing({**done, "end_time": None}) == ("span 1 (f): it has not ended",)
    assert missing({**done, "child_run_ids": ["2"]}) == ("run 2 is not in the record",)
    assert missing({"runs": [done], "cursors": {"next": "n"}}) == ("there are more runs than this page has",)


def test_langsmith_trees_and_langchain_calls() -> None:
    """Nested runs with LangChain's messages and tool calls are read; a name that children inherit is one entry."""
    ai = {
        "lc": 1,
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "", "tool_calls": [{"name": "f", "args": {"x": 1}, "id": "c"}]},
    }
    times = {"start_time": "2026-01-01T00:00:01", "end_time": "2026-01-01T00:00:02"}
    named = {"extra": {"metadata": {"lc_agent_name": "solver"}}}
    llm = {"id": "2", "run_type": "llm", "name": "m", "outputs": {"generations": [[{"message": ai}]]}, **times, **named}
    inner = {"id": "4", "run_type": "chain", "name": "node", **times, **named}
    asked = {"input": json.dumps({"name": "f", "args": {"x": 1}, "id": "c", "type": "tool_call"})}
    said = {"output": {"content": "r", "tool_call_id": "c", "type": "tool"}}
    run_tool = {"id": "3", "run_type": "tool", "name": "f", "inputs": asked, "outputs": said, **times}
    root = {"id": "1", "run_type": "chain", "name": "graph", "child_runs": [llm, run_tool, inner], **times, **named}
    found = load(root)
    assert found.agents_called == ("solver",)
    assert found.tool_calls == (ToolCall("f", {"x": 1}, "c", "r", requested=True, executed=True),)


def test_inspect_knows_scorers_steps_and_lost_attachments() -> None:
    """A scorer's model calls are not the agent's; older logs have steps; an attachment that is gone is missing."""

    def model(text: str) -> dict[str, Any]:
        choice = {"message": {"role": "assistant", "content": text}}
        return {"event": "model", "timestamp": "2026-01-01T00:00:01Z", "input": [], "output": {"choices": [choice]}}

    step = {"event": "step", "action": "begin", "type": "scorer", "name": "grade", "timestamp": "2026-01-01T00:00:02Z"}
    end = {"event": "step", "action": "end", "timestamp": "2026-01-01T00:00:03Z"}
    sample = {"id": 1, "epoch": 1, "messages": [], "events": [model("4"), step, {**model("C"), "uuid": "u"}, end]}
    assert load(sample).final_response == "4"
    assert missing(sample) == ()
    assert missing({**sample, "events": [model("attachment://x")]}) == ("1 attachments are missing",)
    assert missing({"status": "started", "samples": [sample]}) == ("the evaluation was still running",)
    plain = {"id": 1, "epoch": 1, "events": [], "messages": [{"role": "assistant", "content": "4"}]}
    assert load(plain).final_response == "4"
