"""OpenTelemetry's `gen_ai.*` conventions: the current ones and the older ones that instrumentations still write.

Messages are, by age, in `gen_ai.input.messages` and `gen_ai.output.messages` (attributes, or the event
`gen_ai.client.inference.operation.details`), in one event a message (`gen_ai.user.message`, `gen_ai.choice`), in
`gen_ai.prompt` and `gen_ai.completion` (attributes or events), or in numbered attributes (`gen_ai.prompt.0.role`).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.model import Message
from adjudge.traces._facts import Facts, numbered_items
from adjudge.traces._items import BY_SERVICE
from adjudge.traces._messages import MessageCache, read_messages
from adjudge.traces._otlp import OtlpEvent, OtlpSpan
from adjudge.traces._spans import Span, SpanKind
from adjudge.traces._values import RecordPart, arguments_of, as_text, documents_of, loose

_KINDS: dict[str, SpanKind] = {
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "generate": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "agent_handoff": "handoff",
}
_TRACELOOP: dict[str, SpanKind] = {"agent": "agent", "tool": "tool", "handoff": "handoff"}
_MERGED = "(merged tools)"
_NO_ID = "<not specified>"  # what Google's ADK writes as the id of a call whose tool raised
_TRANSFER = "TransferToAgentTool"  # of Google's ADK
_KERNEL, _HANDOFF, _COMPLETE = "semantic_kernel", "Handoff-", "Handoff-complete_task"
_DETAILS = "gen_ai.client.inference.operation.details"
_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def read_genai(span: OtlpSpan, where: str, cache: MessageCache) -> Facts | None:
    """Read a span's `gen_ai.*` attributes and events, where it has any."""
    names = " ".join(("", *span.attributes, *(event.name for event in span.events)))
    if " gen_ai." not in names and " traceloop." not in names:  # much faster than to look at each name
        return None
    facts = Facts(_kind(span.attributes))
    # Some events only hold what others write as attributes of the span.
    attributes = span.attributes
    holders = [event for event in span.events if event.name == _DETAILS or event.name.startswith("gen_ai.content.")]
    if holders:
        attributes = dict(attributes)
        for event in holders:
            attributes.update(event.attributes)
    if facts.kind == "other":
        # LangSmith writes what goes into a step and comes out of it as messages, whatever it is: a step is not a model.
        with suppress(TrajectoryError):
            _read_messages(facts, attributes, span.events, where, cache)
    elif facts.kind != "tool":
        _read_messages(facts, attributes, span.events, where, cache)
    if facts.kind is None and facts.output:
        facts.kind = "llm"
    part = RecordPart(attributes, where)
    entity = attributes.get("traceloop.entity.name")
    entity = entity if isinstance(entity, str) else None
    if facts.kind == "tool":
        facts.name = part.text("gen_ai.tool.name") or entity or span.name.removeprefix("execute_tool").strip()
        _read_tool(facts, part, span)
    elif facts.kind == "agent" and attributes.get("traceloop.span.kind") == "workflow":
        # OpenLLMetry says of whatever LangChain runs first that it is an agent.
        facts.kind, facts.name = "other", part.text("gen_ai.agent.name") or entity
    elif facts.kind == "agent":
        name = part.text("gen_ai.agent.name") or entity
        facts.is_named = bool(name) or span.name.startswith("invoke_agent ")
        facts.name = name or span.name.removeprefix("invoke_agent").strip() or "agent"
        texts = [message.text for message in facts.output if message.role == "assistant" and message.text]
        facts.text = texts[-1] if texts else None
        # A model call inside the agent has the same messages, and they count once.
        facts.input = facts.output = ()
    elif attributes.get("gen_ai.retrieval.documents") is not None:
        found = facts.whole("gen_ai.retrieval.documents", attributes["gen_ai.retrieval.documents"])
        facts.sources = documents_of(found)
    elif facts.kind == "handoff":
        facts.name = as_text(attributes.get("gen_ai.handoff.to_agent")) or span.name
    return facts


def _read_tool(facts: Facts, part: RecordPart, span: OtlpSpan) -> None:
    call_id = part.text("gen_ai.tool.call.id")
    facts.call_id = None if call_id == _NO_ID else call_id or None
    for key in ("gen_ai.tool.call.arguments", "traceloop.entity.input", "tool_arguments"):
        if part.data.get(key) is not None:
            facts.arguments = arguments_of(part.data[key])
            _unwrap(facts)
            break
    result = part.get("gen_ai.tool.call.result", "traceloop.entity.output", "tool_response")
    # Strands writes a call as events of the tool's span: what it was given, and what it said.
    for event in span.events:
        if event.name == "gen_ai.tool.message" and facts.arguments is None and "content" in event.attributes:
            facts.arguments = arguments_of(event.attributes["content"])
        elif event.name == "gen_ai.choice" and result is None:
            result = event.attributes.get("message")
    facts.result = None if result is None else as_text(result)
    facts.is_internal = part.get("gen_ai.tool.type") == _TRANSFER
    if span.scope.startswith(_KERNEL):
        _read_kernel(facts)


def _unwrap(facts: Facts) -> None:
    """Take a call of LangChain's out of what OpenLLMetry writes around it: `{"input_str", "inputs", "kwargs"}`."""
    held = facts.arguments
    if not isinstance(held, Mapping) or "input_str" not in held or not isinstance(held.get("inputs"), Mapping):
        return
    facts.arguments = held["inputs"]
    about = held.get("kwargs")
    identity = about.get("tool_call_id") if isinstance(about, Mapping) else None
    facts.call_id = facts.call_id or (identity if isinstance(identity, str) and identity else None)


def _read_kernel(facts: Facts) -> None:
    """Read what Semantic Kernel adds: an argument for agents as tools, and the plugin by which agents hand over."""
    arguments = dict(facts.arguments) if isinstance(facts.arguments, Mapping) else {}
    if "instructions_override" in arguments and arguments["instructions_override"] is None:
        del arguments["instructions_override"]
        facts.arguments = arguments
    facts.is_internal = (facts.name or "").startswith(_HANDOFF)
    if facts.name == _COMPLETE and "task_summary" in arguments:
        facts.text = as_text(arguments["task_summary"])


def add_log_events(span: Span, events: list[OtlpEvent]) -> Span:
    """Return a span with the messages that its log records hold, where it has none itself."""
    raw = OtlpSpan("", span.id, None, span.name, None, None, {}, events)
    facts = read_genai(raw, f"log records of span {span.id}", {})
    if facts is None or span.kind not in ("llm", "other"):
        return span
    return replace(
        span,
        kind="llm" if facts.output else span.kind,
        input=span.input or facts.input,
        output=span.output or facts.output,
        faults=(*span.faults, *facts.faults),
    )


def _kind(attributes: Mapping[str, Any]) -> SpanKind | None:
    if attributes.get("gen_ai.handoff.to_agent") is not None:
        return "handoff"
    operation, traceloop = attributes.get("gen_ai.operation.name"), attributes.get("traceloop.span.kind")
    if isinstance(operation, str) and operation:
        # Google's ADK writes one more span for the results of parallel calls.
        is_none = attributes.get("gen_ai.tool.name") == _MERGED or _is_machinery(attributes)
        return "other" if is_none else _KINDS.get(operation, "other")
    if isinstance(traceloop, str):
        return _TRACELOOP.get(traceloop, "other")
    if "gen_ai.tool.name" in attributes or "gen_ai.tool.call.id" in attributes:
        return "tool"
    return None


def _is_machinery(attributes: Mapping[str, Any]) -> bool:
    """Say whether what is called an invocation of an agent is a task of a crew, or an agent that AG2 itself adds."""
    name = attributes.get("gen_ai.agent.name")
    if name is None:
        return attributes.get("traceloop.span.kind") == "task"
    is_added = isinstance(name, str) and (name == "chat_manager" or name.startswith("_"))
    return is_added and attributes.get("ag2.span.type") == "agent"


def _read_messages(
    facts: Facts, attributes: Mapping[str, Any], events: Iterable[OtlpEvent], where: str, cache: MessageCache
) -> None:
    # The newest convention that a span follows counts; the module's docstring has them by age.
    given, said = attributes.get("gen_ai.input.messages"), attributes.get("gen_ai.output.messages")
    if given is not None or said is not None:
        facts.input = facts.messages("gen_ai.input.messages", _unfold(given), where, "user", cache)
        found = facts.messages("gen_ai.output.messages", _unfold(said), where, "assistant", cache)
        facts.output = tuple(message for message in found if not _is_hollow(message))
        system = facts.whole("gen_ai.system_instructions", attributes.get("gen_ai.system_instructions"))
        if system is not None:
            parts = system if isinstance(system, list) else [system]
            facts.input = read_messages([{"role": "system", "parts": parts}], where) + facts.input
        return
    facts.input, facts.output = _from_events(events, where)
    if not facts.input and not facts.output:
        facts.input, facts.output = (
            facts.messages(key, _older_messages(attributes, key, role), where, role, cache)
            for key, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant"))
        )


def _unfold(messages: object) -> object:
    """Return messages with the calls of a service's own tools, which OpenLLMetry writes as texts of JSON."""
    if not isinstance(messages, str) or '\\"type\\": \\"' not in messages:
        return messages
    found = loose(messages)[0]
    for message in found if isinstance(found, list) else ():
        held = message.get("parts") if isinstance(message, dict) and message.get("role") == "assistant" else None
        parts: list[Any] = held if isinstance(held, list) else []
        for index, part in enumerate(parts):
            text = part.get("content") if isinstance(part, Mapping) else None
            inner = loose(text)[0] if isinstance(text, str) else None
            # The caller's tools are parts of their own beside these texts.
            if isinstance(text, str) and isinstance(inner, Mapping):
                is_ours = BY_SERVICE.match(text, 1) or str(inner.get("type")).endswith("_tool_result")
                parts[index] = inner if is_ours else part
    return found


def _is_hollow(message: Message) -> bool:
    """Say whether a message has parts of text and no text in them: pydantic-ai's, without contents."""
    if message.tool_calls or not isinstance(message.content, tuple) or message.text:
        return False
    return all(part.get("type") == "text" for part in message.content)


def _from_events(events: Iterable[OtlpEvent], where: str) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Read the conventions up to 1.36: one event a message, in the order in which they were recorded."""
    given: list[Mapping[str, Any]] = []
    said: list[Mapping[str, Any]] = []
    for event in sorted(events, key=lambda event: event.time):
        attributes = event.attributes
        if event.name in _ROLES:
            content = _parts_of(attributes.get("content"))
            given.append({**attributes, "role": attributes.get("role") or _ROLES[event.name], "content": content})
        elif event.name == "gen_ai.choice" and attributes.get("index", 0) in (0, "0", None):
            message = _parts_of(attributes.get("message"))
            if isinstance(message, Mapping):
                said.append({**attributes, "message": message})
            else:
                content = attributes.get("content") if message is None else message
                said.append({**attributes, "role": "assistant", "content": content})
    return (
        read_messages(given, f"{where}: its events"),
        read_messages(said, f"{where}: gen_ai.choice", "assistant"),
    )


def _parts_of(content: object) -> object:
    """Return a message's content: its parts where a text is JSON of such, as Strands writes them."""
    found = loose(content)[0]
    is_parts = isinstance(found, list) and all(isinstance(part, Mapping) for part in found)
    return found if is_parts or (isinstance(found, Mapping) and ("role" in found or "content" in found)) else content


def _older_messages(attributes: Mapping[str, Any], key: str, role: str) -> object:
    """Return the messages of one attribute or of numbered ones, those in the usual shape."""
    if attributes.get(key) is not None:
        return attributes[key]
    messages = []
    for item in numbered_items(attributes, key):
        calls = item.get("tool_calls")
        # Names that are not numbers come last: each is then refused for what it is.
        if isinstance(calls, dict):
            calls = [calls[number] for number in sorted(calls, key=lambda each: (isinstance(each, str), each))]
        messages.append({"role": role, **item, "tool_calls": calls})
    return messages
