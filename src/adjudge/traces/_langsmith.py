"""LangSmith: run trees as its SDK and its API give them, nested (`child_runs`) or flat.

    {"id": "...", "run_type": "tool", "name": "search", "parent_run_id": "...", "inputs": {...}, "outputs": {...}, ...}

LangSmith has no run type for agents. A chain is one where its metadata names an agent (`lc_agent_name`, `agent_name`)
that the run around it does not name, where `ls_agent_type` makes it a subagent, or where the Agents SDK wrote it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.traces._facts import Facts
from adjudge.traces._messages import MessageCache, read_messages
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import Usage, read_usage
from adjudge.traces._values import RecordPart, arguments_of, as_text, documents_of, loose, sequence, text


def decode_langsmith(data: object) -> list[Record]:
    """Read one run tree, a list of runs, or the answer of a query."""
    faults: list[str] = []
    runs = list(_runs(data, faults))
    # Flat exports name a run's children by id; one that is not in the record is known to be missing.
    by_id = {run.identity("id"): run for run, _ in runs}
    for run, _ in runs:
        children = (text(child, f"{run.where}.child_run_ids") for child in run.items("child_run_ids"))
        faults.extend(f"run {child} is not in the record" for child in children if child not in by_id)
    traces: dict[str, list[Span]] = {}
    cache: MessageCache = {}
    for run, parent in runs:
        span = _span(run, parent, by_id.get(parent or ""), cache)
        traces.setdefault(run.text("trace_id") or "", []).append(span)
    # Where all that name a trace name the same one, the others belong to it.
    if "" in traces and len(traces) == 2:
        unnamed = traces.pop("")
        next(iter(traces.values())).extend(unnamed)
    return [Record(trace, tuple(spans), tuple(sorted(set(faults)))) for trace, spans in traces.items()]


def _runs(data: object, faults: list[str]) -> Iterator[tuple[RecordPart, str | None]]:
    """Give every run with the id of its parent; without recursion: trees can be deep."""
    if isinstance(data, Mapping) and "runs" in data:
        cursors = data.get("cursors")
        if isinstance(cursors, Mapping) and cursors.get("next"):
            faults.append("there are more runs than this page has")
        data = data["runs"]
    top = [data] if isinstance(data, Mapping) else sequence(data, "the record")
    waiting: list[tuple[object, str | None, str]] = [(run, None, f"run {index}") for index, run in enumerate(top)]
    object_ids: set[int] = set()
    while waiting:
        item, above, where = waiting.pop()
        run = RecordPart(item, where)
        if id(item) in object_ids:
            raise TrajectoryError(f"{where}: a run is its own descendant")
        object_ids.add(id(item))
        own = run.identity("id")
        yield run, run.text("parent_run_id") or above
        waiting.extend((child, own, f"run {own}, child {index}") for index, child in enumerate(run.items("child_runs")))


def _span(run: RecordPart, parent: str | None, outer: RecordPart | None, cache: MessageCache) -> Span:
    metadata = _metadata(run)
    inputs, outputs = run.get("inputs"), run.get("outputs")
    kind, name = _kind(run, metadata, _metadata(outer))
    facts = Facts(kind)
    if kind == "llm":
        facts.input = read_messages(inputs, f"{run.where}.inputs", "user", cache)
        facts.output = read_messages(outputs, f"{run.where}.outputs", "assistant", cache)
        facts.usage = _usage(run, metadata, outputs)
    elif kind == "tool":
        call, facts.arguments = _call_in(inputs)
        named = metadata.get("tool_call_id")
        facts.call_id = text(call if named is None else named, f"{run.where}: tool_call_id") or None
        if outputs is not None:
            inner = outputs["output"] if isinstance(outputs, Mapping) and set(outputs) == {"output"} else outputs
            facts.set_result(inner, as_text(inner), run.where)
    else:
        answer = next(iter(outputs.values())) if isinstance(outputs, Mapping) and len(outputs) == 1 else outputs
        facts.text = answer if isinstance(answer, str) else None
    if run.get("run_type") == "retriever":
        facts.sources = documents_of(outputs)
    end = run.time("end_time")
    if end is None:
        facts.faults.append(NOT_ENDED)
    return facts.to_span(
        run.identity("id"),
        parent,
        name,
        start=run.time("start_time"),
        end=end,
        error=run.text("error") or None,
        is_entry=False,
    )


def _usage(run: RecordPart, metadata: Mapping[str, Any], outputs: object) -> Usage:
    """Return what a model call used: as LangSmith counted it, else as the model's service did."""
    held = outputs if isinstance(outputs, Mapping) else {}
    inner = held.get("llm_output")
    from_service = inner.get("token_usage") if isinstance(inner, Mapping) else None
    return read_usage(run.data, metadata.get("usage_metadata"), held.get("usage_metadata"), from_service)


def _metadata(run: RecordPart | None) -> Mapping[str, Any]:
    extra = run.get("extra") if run is not None else None
    found = extra.get("metadata") if isinstance(extra, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _kind(run: RecordPart, metadata: Mapping[str, Any], outer: Mapping[str, Any]) -> tuple[SpanKind, str]:
    name, kind_name = run.text("name") or "", run.text("run_type")
    inputs, extra = run.get("inputs"), run.get("extra")
    # The Agents SDK writes a handoff as a tool with these inputs.
    if isinstance(inputs, Mapping) and isinstance(inputs.get("to_agent"), str) and "from_agent" in inputs:
        return "handoff", inputs["to_agent"]
    if kind_name == "llm":
        return "llm", name
    if kind_name == "tool":
        return ("aside" if metadata.get("ls_agent_type") == "middleware" else "tool"), name
    # Metadata is inherited: only the outermost run that names an agent is the agent.
    for key in ("lc_agent_name", "agent_name"):
        agent = metadata.get(key)
        if isinstance(agent, str) and agent and agent != outer.get(key):
            return "agent", agent
    parameters = extra.get("invocation_params") if isinstance(extra, Mapping) else None
    is_agent = isinstance(parameters, Mapping) and "handoffs" in parameters
    is_sub = metadata.get("ls_agent_type") == "subagent" != outer.get("ls_agent_type")
    return ("agent" if is_agent or is_sub else "other"), name


def _call_in(inputs: object) -> tuple[object, str | dict[str, Any] | None]:
    """Return the call's id, where the inputs have it, and the arguments; LangChain wraps them in `input` or a call."""
    if inputs is None:
        return None, None
    if isinstance(inputs, Mapping) and set(inputs) == {"input"}:
        inner, _ = loose(inputs["input"])
        inputs = inner if isinstance(inner, Mapping) else inputs
    if isinstance(inputs, Mapping) and inputs.get("type") == "tool_call" and "args" in inputs:
        return inputs.get("id"), arguments_of(inputs["args"])
    return None, arguments_of(inputs)
