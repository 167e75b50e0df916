"""What holds for every record: order and repetition change nothing, and nothing raises but what is promised."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces import FORMATS, Record, Span, assemble, faults_of, load, missing
from adjudge.traces._reprs import read_repr
from adjudge.traces._usage import Usage
from support import GOLDEN
from traces.encodings import genai, observations
from traces.story import expected

NAMES = st.sampled_from(["f", "g", "transfer_to_a", "a", "b"])
IDS = st.none() | st.sampled_from(["1", "2", "3"])
CALLS = st.builds(ToolCall, NAMES, st.sampled_from(["", "{", "x"]) | st.just({"q": 1}), IDS)
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.sampled_from([None, "x", "y"])),
    st.builds(Message, st.just("assistant"), st.none(), st.lists(CALLS, max_size=2).map(tuple)),
    st.builds(Message, st.just("tool"), st.just("r"), st.just(()), IDS, st.none() | NAMES),
)
SPANS = st.builds(
    Span,
    id=st.sampled_from([f"s{n}" for n in range(12)]),
    parent=st.none() | st.sampled_from([f"s{n}" for n in range(14)]),
    kind=st.sampled_from(["agent", "llm", "tool", "handoff", "aside", "other"]),
    name=NAMES,
    start=st.none() | st.integers(0, 4),
    end=st.none() | st.integers(0, 6),
    call_id=IDS,
    arguments=st.none() | st.just({"q": 1}),
    result=st.none() | st.just("r"),
    error=st.none() | st.just("e"),
    input=st.lists(MESSAGES, max_size=3).map(tuple),
    output=st.lists(MESSAGES, max_size=2).map(tuple),
    text=st.none() | st.just("t"),
    is_internal=st.booleans(),
    is_whole=st.booleans(),
    is_blind=st.booleans(),
    unsent=st.none() | st.just("u"),
    usage=st.none() | st.builds(Usage, st.none() | st.just(1), st.none() | st.just(2), st.none() | st.just(0.1)),
)


@settings(max_examples=300)
@given(st.lists(SPANS, max_size=12), st.data())
def test_order_and_repetition_change_nothing(spans: list[Span], data: st.DataObject) -> None:
    """Any permutation of any spans, with any of them repeated, is the same Trajectory with the same faults."""
    again = data.draw(st.lists(st.sampled_from(spans), max_size=4)) if spans else []
    shuffled = data.draw(st.permutations([*spans, *again]))
    one, other = Record("t", tuple(spans)), Record("t", tuple(shuffled))
    assert assemble(one) == assemble(other)
    assert faults_of(one) == faults_of(other)


@settings(max_examples=40)
@given(st.data())
def test_the_story_in_any_order(data: st.DataObject) -> None:
    """The story's spans and observations, shuffled and repeated, are the story."""
    document: Any = genai()
    scope = document["resourceSpans"][0]["scopeSpans"][0]
    again = data.draw(st.lists(st.sampled_from(scope["spans"]), max_size=5))
    scope["spans"] = data.draw(st.permutations([*scope["spans"], *again]))
    assert load(document) == expected()
    assert load(data.draw(st.permutations(observations()))) == expected()


@settings(max_examples=200)
@given(st.lists(SPANS, max_size=12))
def test_calls_add_up(spans: list[Span]) -> None:
    """Every call was requested or executed, and no more calls are executed than tools, results and requests allow."""
    found = assemble(Record("t", tuple(spans)))
    assert all(call.requested or call.executed for call in found.tool_calls or ())
    tools = len({span.id for span in spans if span.kind == "tool"})
    results = sum(message.role == "tool" for message in found.messages)
    assert len(found.tools_used) <= tools + results
    assert len(set(found.agents_called)) == len(found.agents_called)


PLAIN = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=3)),
        st.builds(
            lambda text, calls: {
                "role": "assistant",
                "content": text,
                "tool_calls": [{"id": call[0], "function": {"name": call[1], "arguments": "{}"}} for call in calls],
            },
            st.none() | st.just("x"),
            st.lists(st.tuples(IDS, st.sampled_from(["f", "g"])), max_size=3),
        ),
        st.builds(
            lambda identity, name, text: {"role": "tool", "tool_call_id": identity, "name": name, "content": text},
            IDS,
            st.none() | st.sampled_from(["f", "g"]),
            st.sampled_from(["r", "s"]),
        ),
    ),
    max_size=10,
)


@settings(max_examples=300)
@given(PLAIN)
def test_chats_agree_with_the_chat_reader(chat: list[dict[str, Any]]) -> None:
    """On chat messages, requests, executions and the answer are those of `Trajectory.from_messages`."""
    ours, theirs = load(chat, "chat"), Trajectory.from_messages(chat)
    # Rewards count a result whose tool nobody names; a verdict on tools cannot rest on it.
    if any(not call.name for call in theirs.tool_calls or ()):
        assert "tools" in ours.unknown
        return
    assert ours.tools_requested == theirs.tools_requested
    assert [call.result for call in ours.tool_calls or ()] == [call.result for call in theirs.tool_calls or ()]
    assert ours.final_response == theirs.final_response


SHAPES_OF_CALLS = st.one_of(
    st.builds(
        lambda i, n, a: {"id": i, "function": {"name": n, "arguments": a}}, IDS, NAMES, st.sampled_from(["{}", "{"])
    ),
    st.builds(lambda i, n, a: {"call_id": i, "name": n, "args": a}, IDS, NAMES, st.none() | st.just({"q": [1]})),
    CALLS,
)
PARTS = st.one_of(
    st.builds(lambda kind: {"type": kind, "text": "t"}, st.sampled_from(["text", "output_text", "thinking", "image"])),
    st.just({"type": "refusal", "refusal": "no"}),
    st.builds(lambda i, n: {"type": "tool_use", "id": i, "name": n, "input": {"q": 1}}, IDS, NAMES),
    st.builds(lambda i: {"type": "tool_result", "tool_use_id": i, "content": "r"}, IDS),
    st.sampled_from(["", "text"]),
)
ROLES = st.sampled_from(["user", "assistant", "ai", "system", "tool", "function"])
ITEMS = st.one_of(
    MESSAGES,
    st.fixed_dictionaries(
        {"role": ROLES},
        optional={
            "content": st.none() | st.sampled_from(["", "x"]) | st.lists(PARTS, max_size=3),
            "tool_calls": st.none() | st.lists(SHAPES_OF_CALLS, max_size=3),
            "tool_call_id": IDS | st.integers(1, 3),
            "name": st.none() | st.sampled_from(["", "a", "b", "f"]),
            "refusal": st.just("no"),
        },
    ),
    st.builds(lambda i, n: {"type": "function_call", "call_id": i, "name": n, "arguments": "{}"}, IDS, NAMES),
    st.builds(lambda i: {"type": "function_call_output", "call_id": i, "output": "r"}, IDS),
    st.just({"role": "assistant", "name": "a", "content": "x"}),
    st.builds(lambda i: {"role": "assistant", "tool_calls": [{"id": i, "name": "transfer_to_a"}]}, IDS),
    st.just({"type": "mcp_call", "id": "1", "name": "f", "output": "r"}),
    st.just({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "said"}]}),
    st.builds(lambda i: {"type": "tool", "data": {"content": "r", "tool_call_id": i}}, IDS),
    st.sampled_from(["said", {"type": "reasoning"}, {}, 3]),
)


@settings(max_examples=1_000)
@given(st.lists(ITEMS, max_size=8))
def test_conversations_are_read_as_one_model_call_would_be(chat: list[Any]) -> None:
    """The direct way from messages to a Trajectory gives what `assemble` makes of a model call that wrote them all."""
    # A sample of Inspect without events is such a call; as texts alone, messages show no tools, which it cannot say.
    assume(not all(isinstance(item, str) for item in chat))
    sample = {"messages": chat, "events": [], "epoch": 1}
    direct, by_spans = outcome([*chat], "chat"), outcome(sample, "inspect")
    # Of an answer alone, a result without its call, and LangGraph's messages, only a list knows that more may be gone.
    if isinstance(direct, Trajectory) and isinstance(by_spans, Trajectory):
        is_alone = direct.unknown.get("tools", "").startswith("an answer alone")
        is_cut = direct.unknown.get("inside", "").startswith("the question is not")
        if is_alone or is_cut or any(isinstance(item, dict) and "data" in item for item in chat):
            assert direct.unknown.keys() >= by_spans.unknown.keys()
            direct = replace(direct, unknown=by_spans.unknown)
        # LangGraph's last result is the answer where a tool returns directly, which a model call cannot be.
        if any(isinstance(item, dict) and "data" in item for item in chat) and direct.final_response == "r":
            direct = replace(direct, final_response=by_spans.final_response)
        # Who speaks in a list and is called there by name is an agent; among spans it would have one of its own.
        assume(not {call.name for call in by_spans.tool_calls or ()} & {*direct.agents_called})
    assert direct == by_spans


KEYS = """role content parts type id name messages tool_calls function arguments spans attributes key value stringValue
kvlistValue arrayValue values resourceSpans scopeSpans traceId spanId data meta observations input output run_type
child_runs extra metadata span_data object samples events event text gen_ai.input.messages kwargs choices"""
WORDS = st.sampled_from(KEYS.split())


def json_values(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    """Return JSON with such numbers that are not whole."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=5) | WORDS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
        max_leaves=20,
    )


JSON = json_values(st.floats(allow_nan=False))
FINITE = json_values(st.floats(allow_nan=False, allow_infinity=False))  # `Infinity` is no JSON: as text it is refused


@settings(max_examples=300)
@given(JSON, st.sampled_from(FORMATS))
def test_nothing_else_is_raised_on_any_json(data: object, name: str) -> None:
    """Any JSON, read as any format, is a Trajectory or a TrajectoryError."""
    assert is_read_or_refused(json.dumps(data).encode(), name)
    assert is_read_or_refused([data], name)


def is_read_or_refused(data: object, name: str | None) -> bool:
    """Whether a record is read, or refused with a word about why; no other error may come."""
    try:
        found = load(data, name)
        missing(data, name)
    except TrajectoryError as error:
        return bool(error.message.strip())
    return isinstance(found, Trajectory)


PAYLOADS = {
    path.name: json.loads(path.read_bytes())
    for path in sorted((GOLDEN / "traces").glob("*.json"))
    if path.stat().st_size < 20_000
}


def paths(value: object, here: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the places of all values inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, inner in items for path in paths(inner, (*here, key)))]


PLACES = {name: paths(payload) for name, payload in PAYLOADS.items()}


@settings(max_examples=600)
@given(st.sampled_from(sorted(PAYLOADS)), st.data(), JSON)
def test_nothing_else_is_raised_on_damaged_records(name: str, data: st.DataObject, other: Any) -> None:
    """A real record in which any one value is replaced by any JSON is a Trajectory or a TrajectoryError."""
    payload = json.loads(json.dumps(PAYLOADS[name]))
    path = data.draw(st.sampled_from(PLACES[name]))
    if not path:
        assert is_read_or_refused([other], None)
        return
    here = payload
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = other
    assert is_read_or_refused(payload, None)


def outcome(data: object, name: str = "otlp") -> Trajectory | None:
    """Return what a record says, None where it cannot be read."""
    try:
        return load(data, name)
    except TrajectoryError:
        return None


@settings(max_examples=300)
@given(st.sampled_from(sorted(name for name in PAYLOADS if "otlp" in name)), st.data(), FINITE)
def test_typed_and_plain_otlp_are_read_alike(name: str, data: st.DataObject, other: Any) -> None:
    """A document as text, which is read at once into its types, says what the same document as data says."""
    payload = json.loads(json.dumps(PAYLOADS[name]))
    here = payload
    path = data.draw(st.sampled_from(PLACES[name][1:]))
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = other
    assert outcome(json.dumps(payload).encode()) == outcome(payload)


PROTOBUF = (GOLDEN / "traces" / "sdk-openinference.pb").read_bytes()


@settings(max_examples=400)
@given(st.integers(0, len(PROTOBUF) - 1), st.binary(max_size=8), st.booleans())
def test_nothing_else_is_raised_on_damaged_protobuf(place: int, other: bytes, is_cut: bool) -> None:
    """Protobuf that is cut off or damaged anywhere is a Trajectory or a TrajectoryError."""
    damaged = PROTOBUF[:place] if is_cut else PROTOBUF[:place] + other + PROTOBUF[place + len(other) :]
    assert is_read_or_refused(damaged, "otlp-protobuf")


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_nothing_else_is_raised_on_any_bytes(content: bytes) -> None:
    """Any bytes, read as any format, are a Trajectory or a TrajectoryError."""
    for name in (None, *FORMATS):
        assert is_read_or_refused(content, name)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_looks_like_python_is_read_back(value: object) -> None:
    """Lists, dictionaries, texts and numbers are read as they look in Python, also as the fields of an object."""
    assert read_repr(repr(value)) == value
    assert read_repr(f"Thing(a={value!r}, b=<Kind.ONE: 'one'>)") == {"": "Thing", "a": value, "b": "one"}


@given(st.text(alphabet="'\"\\\\[](){}=,:<>.x1- \n", max_size=40) | st.text(max_size=40))
def test_no_text_is_more_than_a_text(text: str) -> None:
    """Whatever is written where an object should be, nothing is raised and nothing is run."""
    read_repr(text)
    read_repr(f"ChatMessage(_role={text}")
