"""OpenInference: the attributes that Phoenix and its instrumentations write.

`openinference.span.kind` says what a span is, `llm.input_messages.N.message.*` and `llm.output_messages.N.message.*`
hold the messages, `input.value` and `output.value` whatever went in and came out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from adjudge.model import Message
from adjudge.traces._facts import SHORT, Facts, in_order, nest, numbered_items
from adjudge.traces._items import BY_SERVICE
from adjudge.traces._messages import MessageCache, read_message
from adjudge.traces._otlp import OtlpSpan
from adjudge.traces._spans import SpanKind
from adjudge.traces._values import RecordPart, as_text, call_arguments, documents_of, loose, style, unquoted

_KINDS: dict[str, SpanKind] = {
    "AGENT": "agent",
    "LLM": "llm",
    "TOOL": "tool",
    "GUARDRAIL": "aside",
    "EVALUATOR": "aside",
}
_Side: TypeAlias = dict[int, dict[str, Any]]
_HANDOFF = "handoff to "
_GIVEN, _SAID = "llm.input_messages.", "llm.output_messages."
_UNNAMED = frozenset({"ToolCallingAgent", "CodeAgent", "MultiStepAgent"})  # agents of smolagents that nobody named
_CALLED = ".__call__"  # after the name of a tool of DSPy
_DELEGATIONS = frozenset({"delegate_work_to_coworker", "ask_question_to_coworker"})  # of CrewAI
_REPR = re.compile(r"[A-Z]\w*\(\w+=")
_LANGCHAIN = "openinference.instrumentation.langchain"
HIDDEN = "__REDACTED__"  # in the place of contents that the user does not want to send
_DIGITS = 8  # that a number in an attribute's name has less of


def read_openinference(span: OtlpSpan, where: str, cache: MessageCache) -> Facts | None:
    """Read a span's OpenInference attributes, where it has any."""
    kind_name = span.attributes.get("openinference.span.kind")
    if not isinstance(kind_name, str):
        return None
    is_hidden = HIDDEN in span.attributes.values()
    if is_hidden:
        span = replace(span, attributes={key: value for key, value in span.attributes.items() if value != HIDDEN})
    attributes = span.attributes
    part = RecordPart(attributes, where)
    said = attributes.get("output.value")
    facts = Facts(_KINDS.get(kind_name.upper(), "other"))
    # Google's ADK writes one more span for the results of parallel calls, LlamaIndex one in which it prepares a call.
    if attributes.get("gen_ai.tool.name") == "(merged tools)" or "._prepare_" in span.name:
        facts.kind = "other"
    if facts.kind == "llm":
        _read_llm(facts, attributes, where, cache)
    elif facts.kind == "tool" and span.name.startswith(_HANDOFF) and "tool.name" not in attributes:
        facts.kind, facts.name = "handoff", span.name.removeprefix(_HANDOFF)
    elif facts.kind == "tool":
        _read_tool(facts, part, span)
        # It leaves out what is empty; what somebody hides it replaces.
        if facts.arguments is None and facts.result is not None and not is_hidden and span.scope == _LANGCHAIN:
            facts.arguments = {}
    else:
        if kind_name.upper() == "RETRIEVER":
            items = numbered_items(attributes, "retrieval.documents")
            facts.sources = documents_of([item.get("document") for item in items])
        if facts.kind == "agent":
            name = part.text("agent.name") or part.text("graph.node.id")
            facts.is_named = bool(name)
            facts.name = name or span.name.removesuffix(".run")
            if facts.name in _UNNAMED and not name:
                facts.kind, facts.agent = "other", ""
        facts.text = _answer(span, said)
    return facts


def _read_llm(facts: Facts, attributes: Mapping[str, Any], where: str, cache: MessageCache) -> None:
    inputs, outputs = _sides(attributes)
    # The numbered attributes leave out what a service's own tools did; the whole request and reply have it.
    whole: list[tuple[Message, ...]] = [(), ()]
    for index, (key, role) in enumerate((("input.value", "user"), ("output.value", "assistant"))):
        value = attributes.get(key)
        if isinstance(value, str) and BY_SERVICE.search(value):
            whole[index] = facts.messages(key, value, where, role, cache)
    facts.input = whole[0] or _messages(inputs, _GIVEN, where, cache)
    found = whole[1] or _messages(outputs, _SAID, where, cache)
    # A message without any content is one whose content was hidden: an empty one has an empty text.
    facts.output = tuple(message for message in found if message.content is not None or message.tool_calls)
    if not facts.input:
        facts.input = facts.messages("input.value", attributes.get("input.value"), where, "user", cache)
    if not facts.output:
        facts.output = facts.messages("output.value", attributes.get("output.value"), where, "assistant", cache)


def _read_tool(facts: Facts, part: RecordPart, span: OtlpSpan) -> None:
    attributes = part.data
    given, said = attributes.get("input.value"), attributes.get("output.value")
    facts.name = part.text("tool.name") or span.name.removesuffix(_CALLED)
    facts.call_id = part.text("tool_call.id") or part.text("tool.id") or None
    if given is not None:
        facts.arguments = call_arguments(given, attributes.get("tool.parameters"))
    if said is not None:
        facts.set_result(loose(said)[0], _said(attributes), where=part.where)
    if style(facts.name) in _DELEGATIONS and isinstance(facts.arguments, Mapping):
        coworker = facts.arguments.get("coworker")
        if isinstance(coworker, str) and coworker.strip():
            facts.kind, facts.name = "handoff", coworker.strip()
    # By these tools smolagents and DSPy end a run; the answer is in the span of the run.
    is_end = span.name == "FinalAnswerTool" or (span.name == f"finish{_CALLED}" and "tool.name" not in attributes)
    facts.is_internal = is_end


def _answer(span: OtlpSpan, said: object) -> str | None:
    """Return what an agent, or the run as a whole, answered: a text, or what frameworks wrap around one."""
    found = loose(said)[0]
    if isinstance(found, str):
        # LlamaIndex writes how an object looks in Python, and cuts it off.
        return None if _REPR.match(found) else _said(span.attributes)
    if not isinstance(found, Mapping):
        return None
    raw = found.get("raw")
    if isinstance(raw, str) and "tasks_output" in found:  # of a crew
        return raw
    if span.name.endswith(".forward"):  # of a DSPy program: the fields of its signature
        fields = {key: value for key, value in found.items() if key not in ("trajectory", "reasoning")}
        return as_text(next(iter(fields.values())) if len(fields) == 1 else fields) if fields else None
    return None


def _said(attributes: Mapping[str, Any]) -> str:
    """Return `output.value` as text; JSON that is one text is that text."""
    value = attributes["output.value"]
    return as_text(unquoted(value) if attributes.get("output.mime_type") == "application/json" else value)


def _sides(attributes: Mapping[str, Any]) -> tuple[_Side, _Side]:
    """Return the attributes of the messages that were given and said, by the message's number."""
    sides: tuple[_Side, _Side, _Side] = ({}, {}, {})
    for name, value in attributes.items():
        side, number, rest = _place(name) if len(name) <= SHORT else _place.__wrapped__(name)
        sides[side].setdefault(number, {})[rest] = value
    return sides[:2]


@lru_cache(maxsize=4096)  # every span has the same names
def _place(name: str) -> tuple[int, int, str]:
    """Return whether an attribute belongs to what was given, said, or neither, the message's number, and the rest."""
    for side, key in enumerate((_GIVEN, _SAID)):
        if name.startswith(key):
            number, _, rest = name[len(key) :].partition(".")
            if number.isascii() and number.isdigit() and len(number) < _DIGITS:
                return side, int(number), rest
    return 2, 0, name


def _messages(side: _Side, key: str, where: str, cache: MessageCache) -> tuple[Message, ...]:
    """Read the messages of one side, in order of their numbers; one that was read before is in the cache."""
    role = "user" if key == _GIVEN else "assistant"
    messages: list[Message] = []
    for number in sorted(side):
        pairs = tuple(side[number].items())
        try:
            found = cache.get(pairs) or cache.get((role, pairs))
        except TypeError:  # a value that is a list
            found = None
        if found is None:
            found = read_message(_message(pairs, role), f"{where}: {key}{number}", role)
            if all(isinstance(value, str) for _, value in pairs):  # else: look again
                cache[pairs if "message.role" in side[number] else (role, pairs)] = found
        messages.extend(found)
    return tuple(messages)


def _message(pairs: Iterable[tuple[str, Any]], role: str) -> Mapping[str, Any]:
    """Return one message in the usual shape."""
    item = nest(pairs).get("message")
    if not isinstance(item, dict):
        return {"role": role, "content": None}
    parts = [_part(part) for part in in_order(item.get("contents"))]
    calls = [_call(part.get("tool_call")) for part in in_order(item.get("tool_calls"))]
    if item.get("function_call_name"):
        calls.append({"name": item["function_call_name"], "arguments": item.get("function_call_arguments_json")})
    content = item.get("content")
    return {
        "role": item.get("role") or role,
        "content": parts if parts and content is None else content,
        "tool_calls": [call for call in calls if call is not None],
        "tool_call_id": item.get("tool_call_id"),
        "name": item.get("name"),
    }


def _part(part: Mapping[Any, Any]) -> Mapping[str, Any]:
    body = part.get("message_content")
    held = body if isinstance(body, dict) else {}
    kind = held.get("type", "text")
    call = _call(part.get("tool_call"))
    if kind == "tool_use" and call is not None:
        return {"type": "tool_use", **call}
    return {"type": kind, **{name: value for name, value in held.items() if isinstance(name, str) and name != "type"}}


def _call(found: object) -> dict[str, Any] | None:
    if not isinstance(found, dict):
        return None
    function = found.get("function")
    held = function if isinstance(function, dict) else {}
    return {"id": found.get("id"), "name": held.get("name"), "arguments": held.get("arguments")}
