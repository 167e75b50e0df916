"""LangSmith: run trees as its SDK and its API give them, nested (`child_runs`) or flat.

    {"id": "...", "run_type": "tool", "name": "search", "parent_run_id": "...", "inputs": {...}, "outputs": {...}, ...}

LangSmith has no run type for agents. A chain is one where its metadata names an agent (`lc_agent_name`, `agent_name`)
that the run around it does not name, where `ls_agent_type` makes it a subagent, or where the Agents SDK wrote it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.model import Message
from adjudge.traces._documents import documents
from adjudge.traces._messages import Known, read_messages
from adjudge.traces._spans import Kind, Record, Span
from adjudge.traces._values import (
    arguments_of,
    as_text,
    first,
    identity,
    instant,
    loose,
    mapping,
    sequence,
    text,
    tool_message,
)


def decode_langsmith(data: object) -> list[Record]:
    """Read one run tree, a list of runs, or the answer of a query."""
    faults: list[str] = []
    runs = list(_runs(data, faults))
    by_id = {identity(run.get("id"), f"{where}.id"): run for run, _, where in runs}
    for run, _, where in runs:
        children = (text(child, f"{where}.child_run_ids") for child in sequence(run.get("child_run_ids"), where))
        faults.extend(f"run {child} is not in the record" for child in children if child not in by_id)
    traces: dict[str, list[Span]] = {}
    known: Known = {}
    for run, parent, where in runs:
        span = _span(run, parent, by_id, where, known)
        trace = text(run.get("trace_id"), f"{where}.trace_id") or ""
        traces.setdefault(trace, []).append(span)
    if "" in traces and len(traces) == 2:  # runs that do not name the trace which the others name
        unnamed = traces.pop("")
        next(iter(traces.values())).extend(unnamed)
    return [Record(trace, tuple(spans), tuple(sorted(set(faults)))) for trace, spans in traces.items()]


def _runs(data: object, faults: list[str]) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    """Give every run with the id of its parent and its place; no recursion: trees can be deep."""
    if isinstance(data, Mapping) and "runs" in data:
        cursors = data.get("cursors")
        if isinstance(cursors, Mapping) and cursors.get("next"):
            faults.append("there are more runs than this page has")
        data = data["runs"]
    top = [data] if isinstance(data, Mapping) else sequence(data, "the record")
    waiting: list[tuple[object, str | None, str]] = [(run, None, f"run {index}") for index, run in enumerate(top)]
    seen: set[int] = set()
    while waiting:
        item, above, where = waiting.pop()
        run = mapping(item, where)
        if id(item) in seen:
            raise TrajectoryError(f"{where}: a run is its own descendant")
        seen.add(id(item))
        own = identity(run.get("id"), f"{where}.id")
        yield run, text(run.get("parent_run_id"), f"{where}.parent_run_id") or above, where
        children = sequence(run.get("child_runs"), f"{where}.child_runs")
        waiting.extend((child, own, f"run {own}, child {index}") for index, child in enumerate(children))


def _span(
    run: Mapping[str, Any], parent: str | None, by_id: Mapping[str, Mapping[str, Any]], where: str, known: Known
) -> Span:
    metadata = _metadata(run)
    inputs, outputs = run.get("inputs"), run.get("outputs")
    kind, name = _kind(run, metadata, by_id.get(parent or ""), where)
    end = instant(run.get("end_time"), f"{where}.end_time")
    given: tuple[Message, ...] = ()
    said: tuple[Message, ...] = ()
    call_id, arguments, result, answer = None, None, None, None
    if kind == "llm":
        given = read_messages(inputs, f"{where}.inputs", "user", known)
        said = read_messages(outputs, f"{where}.outputs", "assistant", known)
    elif kind == "tool":
        call, arguments = _asked(inputs)
        other, result = _result(outputs)
        named = first({"metadata": metadata.get("tool_call_id"), "in": call, "out": other}, "metadata", "in", "out")
        call_id = text(named, f"{where}: tool_call_id") or None
    else:
        answer = _answer(outputs)
    return Span(
        identity(run.get("id"), f"{where}.id"),
        parent,
        kind,
        name,
        instant(run.get("start_time"), f"{where}.start_time"),
        end,
        call_id,
        arguments,
        result,
        text(run.get("error"), f"{where}.error") or None,
        given,
        said,
        answer,
        () if end is not None else ("it has not ended",),
        sources=documents(outputs) if run.get("run_type") == "retriever" else (),
    )


def _metadata(run: Mapping[str, Any] | None) -> Mapping[str, Any]:
    extra = run.get("extra") if run is not None else None
    found = extra.get("metadata") if isinstance(extra, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _kind(
    run: Mapping[str, Any], metadata: Mapping[str, Any], parent: Mapping[str, Any] | None, where: str
) -> tuple[Kind, str]:
    name = text(run.get("name"), f"{where}.name") or ""
    named = text(run.get("run_type"), f"{where}.run_type")
    inputs, extra = run.get("inputs"), run.get("extra")
    if isinstance(inputs, Mapping) and isinstance(inputs.get("to_agent"), str) and "from_agent" in inputs:
        return "handoff", inputs["to_agent"]
    if named == "llm":
        return "llm", name
    if named == "tool":
        return ("aside" if metadata.get("ls_agent_type") == "middleware" else "tool"), name
    outer = _metadata(parent)
    for key in ("lc_agent_name", "agent_name"):
        agent = metadata.get(key)
        if isinstance(agent, str) and agent and agent != outer.get(key):
            return "agent", agent
    parameters = extra.get("invocation_params") if isinstance(extra, Mapping) else None
    is_agent = isinstance(parameters, Mapping) and "handoffs" in parameters
    is_sub = metadata.get("ls_agent_type") == "subagent" != outer.get("ls_agent_type")
    return ("agent" if is_agent or is_sub else "other"), name


def _asked(inputs: object) -> tuple[object, str | dict[str, Any] | None]:
    """Return the call's id, where the inputs have it, and the arguments; LangChain wraps them in `input` or a call."""
    if not isinstance(inputs, Mapping):
        return None, None if inputs is None else arguments_of(inputs)[0]
    if inputs.get("type") == "tool_call" and "args" in inputs:
        return inputs.get("id"), arguments_of(inputs["args"])[0]
    if set(inputs) == {"input"}:
        inner, _ = loose(inputs["input"])
        if isinstance(inner, Mapping):
            return _asked(inner) if inner.get("type") == "tool_call" else (None, arguments_of(inner)[0])
    return None, arguments_of(inputs)[0]


def _result(outputs: object) -> tuple[object, str | None]:
    """Return the call's id, where the result has it, and the result's text."""
    if outputs is None:
        return None, None
    inner = outputs["output"] if isinstance(outputs, Mapping) and set(outputs) == {"output"} else outputs
    return tool_message(inner) or (None, as_text(inner))


def _answer(outputs: object) -> str | None:
    """Return what a run answered, where that is one text."""
    if isinstance(outputs, Mapping) and len(outputs) == 1:
        outputs = next(iter(outputs.values()))
    return outputs if isinstance(outputs, str) else None
