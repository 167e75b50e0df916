"""What a record costs grows with its size and no faster; where a few bytes can stand for many, a budget ends it.

The inputs of the first tests are of a few megabytes. Where work grew with the square of that, they would take hours:
that they end is the test.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.traces import Record, Span, assemble, iter_traces, load
from adjudge.traces._facts import _pieces, nest
from adjudge.traces._genai import read_genai
from adjudge.traces._langgraph import GraphFacts
from adjudge.traces._openinference import _place
from adjudge.traces._otlp import OtlpEvent, OtlpSpan
from adjudge.traces._protobuf import iter_frames

BIG = "x" * 2_000_000
MANY = 20_000


def calls_in_a_row(count: int) -> object:
    """Return a response in which one turn calls a tool very often."""
    item = {"type": "function_call", "name": "f", "arguments": "{}"}
    return {"object": "response", "output": [{**item, "call_id": str(n)} for n in range(count)]}


def test_calls_of_one_turn() -> None:
    """Each call of a turn is added to its message once."""
    assert len(load(calls_in_a_row(150_000)).tool_calls or ()) == 150_000


def test_events_that_hold_attributes() -> None:
    """Each of many events adds its attributes to those of the span once."""
    events = [OtlpEvent("gen_ai.content.prompt", {f"a{n}.{k}": "v" for k in range(5)}, n) for n in range(3 * MANY)]
    facts = read_genai(OtlpSpan("t", "s", None, "", 1, 2, {}, events), "span s", {})
    assert facts is not None


def test_spans_of_one_id() -> None:
    """A large span is looked at once, not once for every other span with its id."""
    spans = [Span("s", None, "other", BIG), *(Span("s", None, "other", f"{n}") for n in range(MANY))]
    assert assemble(Record("r", tuple(spans))).complete


def test_tools_inside_a_tool() -> None:
    """The arguments of a tool are written once, however many calls of its name are inside."""
    outer = Span("0", None, "tool", "f", 1, 9, arguments={"a": BIG})
    inner = [Span(str(n), "0", "tool", "f", 2, 3, arguments={"a": n}) for n in range(1, MANY)]
    assert len(assemble(Record("r", (outer, *inner))).tool_calls or ()) == MANY


def test_agents_inside_a_tool() -> None:
    """The name of a tool is compared with those of the agents inside it in one form that is made once."""
    outer = Span("0", None, "tool", BIG, 1, 9)
    inner = [Span(str(n), "0", "agent", "a", 2, 3) for n in range(1, MANY)]
    assert assemble(Record("r", (outer, *inner))).agents_called == ("a",)


def test_a_deep_graph() -> None:
    """The graph around a node is looked for once, however many spans of that node are inside each other."""
    place = GraphFacts("model", "model:1", None)
    spans = [Span("0", None, "other", "research")]
    spans += [Span(str(n), str(n - 1), "llm", "chat", n, 3 * MANY, graph=place) for n in range(1, 3 * MANY)]
    assert assemble(Record("r", tuple(spans))).agents_called == ("research",)


def test_traces_that_do_not_fit(tmp_path: Path) -> None:
    """The trace that has waited longest is found at once, however many were given out before it."""
    path = tmp_path / "spans.jsonl"
    with path.open("w", encoding="ascii") as file:
        for n in range(60_000):
            span = {"traceId": f"{n + 1:032x}", "spanId": f"{1:016x}", "endTimeUnixNano": "1"}
            file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + "\n")
        # All of them again: none has ended before the last line.
        spans = [{"traceId": f"{n + 1:032x}", "spanId": f"{2:016x}", "endTimeUnixNano": "1"} for n in range(60_000)]
        file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + "\n")
    assert len({trace.id for trace in iter_traces(path, hold=20_000)}) == 60_000


def test_long_names_are_not_remembered() -> None:
    """The tables of names that every span has hold short names only: others would fill the memory."""
    _pieces.cache_clear()
    _place.cache_clear()
    for number in range(100):
        name = f"{number}.{'y' * 1000}"
        nest([(name, "v")])
        load({"resourceSpans": [{"scopeSpans": [{"spans": [openinference(name)]}]}]})
    assert max(_pieces.cache_info().currsize, _place.cache_info().currsize) < 10


def openinference(name: str) -> dict[str, Any]:
    """Return a span of a model call with an attribute of that name."""
    attributes = [
        {"key": key, "value": {"stringValue": "LLM"}}
        for key in ("openinference.span.kind", "llm.output_messages." + name)
    ]
    return {"traceId": "a" * 32, "spanId": "b" * 16, "endTimeUnixNano": "1", "attributes": attributes}


def sample(events: list[Any], **more: Any) -> dict[str, Any]:
    """Return a sample of Inspect's."""
    return {"id": 1, "epoch": 1, "events": events, **more}


def test_references_have_a_budget() -> None:
    """A log whose few ranges stand for billions of messages ends as too large, not with the memory."""
    pool = [{"role": "user", "content": "hi"}] * 20_000
    event = {"event": "model", "model": "m", "input_refs": [[0, 20_000]] * 20_000, "output": {"choices": []}}
    with pytest.raises(TrajectoryError, match="refers to more than") as caught:
        load(sample([event], events_data={"messages": pool}), format="inspect")
    assert caught.value.code == "too-large"


def test_attachments_have_a_budget() -> None:
    """A result that repeats one long attachment a million times ends as too large."""
    event = {"event": "tool", "id": "c", "function": "f", "arguments": {}, "result": ["attachment://a"] * 1_000_000}
    with pytest.raises(TrajectoryError, match="refers to more than") as caught:
        load(sample([event], attachments={"a": BIG}), format="inspect")
    assert caught.value.code == "too-large"


@pytest.mark.parametrize("name", ["header.json", "samples/1.json"])
def test_archives_are_not_unpacked_beyond_a_size(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header and all samples together are limited before anything is unpacked."""
    monkeypatch.setattr("adjudge.traces._inspect._LARGEST", 1000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, " " * 600)
        archive.writestr("samples/2.json", " " * 600)
    with pytest.raises(TrajectoryError, match="larger than"):
        load(packed.getvalue())


def test_a_length_is_checked_before_it_is_believed() -> None:
    """A frame that claims more bytes than the file has is refused before room is made for them."""
    asked: list[int] = []

    class File(io.BytesIO):
        """A file that notes what is asked of it."""

        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(size or 0)
            return super().read(size)

    with pytest.raises(TrajectoryError, match="ends within a protobuf message"):
        list(iter_frames(File(b"\xff\xff\xff\xff12"), "f"))
    assert max(asked) <= 4
