"""What frameworks write in words of their own, beside the conventions or in place of them.

    gcp.vertex.agent.llm_response   {"content": {"parts": [{"function_call": {...}}]}}   Google's ADK
    crewai.crew.result              "It is 18 degrees in Oslo."                          CrewAI, through OpenLLMetry
    traceloop.entity.output         {"current_agent_name": "router", ...}                LlamaIndex, through OpenLLMetry
    AgentWorkflow.run_agent_step    {"ev": "AgentSetup(current_agent_name='x')"}         the same, through OpenInference
    Agent.run                       {"messages": ["ChatMessage(...)", ...]}              Haystack, through OpenInference

Each reader knows one framework by attributes that nobody else writes, and says only what those add; the dialects say
the rest. `how_to_send` says how the instrumentation that wrote a span is made to send contents.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from adjudge.traces._facts import Facts
from adjudge.traces._messages import MessageCache, message_key, read_messages
from adjudge.traces._otlp import OtlpSpan
from adjudge.traces._reprs import read_haystack_message
from adjudge.traces._spans import NOT_SENT
from adjudge.traces._values import arguments_of, as_text, loose

_ADK_REQUEST, _ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
_ADK_ARGUMENTS, _ADK_RESULT = "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"
_CREW_RESULT, _CREW_ROLE = "crewai.crew.result", "crewai.agent.role"
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_NO_TOOLS = (
    "OpenLLMetry's instrumentation of CrewAI sends no tool calls: instrument the model's client too, "
    "with opentelemetry-instrumentation-openai or its like"
)
_NAMELESS = (
    "OpenLLMetry's instrumentation of LlamaIndex sent a tool's call without the tool's name, as it does where the tool "
    "asks another agent: use OpenInference"
)
_SERVER_TOOL = re.compile('"type": ?"(?:server|mcp)_tool_use"')
_NO_SERVER_TOOLS = "OpenLLMetry does not send what Anthropic's own tools did: use OpenInference, or give the messages"
_UNREADABLE = "the messages of Haystack's agent cannot be read: they are cut off, or of an unknown kind"
_SWITCHES = {  # how contents are sent, by the beginning of the scope that wrote a span
    "gcp.vertex.agent": (
        f"contents were not sent: set {_CONTENT}=SPAN_AND_EVENT and "
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
    ),
    "agent_framework": "contents were not sent: call enable_instrumentation(enable_sensitive_data=True)",
    "autogen": "AutoGen's own spans hold no contents: add openinference-instrumentation-autogen-agentchat",
    "semantic_kernel": (
        "contents were not sent: set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"
    ),
    "opentelemetry.instrumentation.openai_agents": (
        "contents were not sent: set TRACELOOP_TRACE_CONTENT=true; of the Chat Completions API OpenLLMetry sends no "
        "replies at all: use the Responses API, or OpenInference"
    ),
    "opentelemetry.instrumentation.ag2": "contents were not sent: use instrument_llm_wrapper(capture_messages=True)",
    "opentelemetry.instrumentation.": (
        f"contents were not sent: set TRACELOOP_TRACE_CONTENT=true (OpenLLMetry), or {_CONTENT}=true"
    ),
    "pydantic-ai": "contents were not sent: use InstrumentationSettings(include_content=True)",
    "openinference": "contents were not sent: unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
}
_DEFAULT = f"contents were not sent: set {_CONTENT}=true"
_CURRENT = re.compile(r"current_agent_name='((?:[^'\\]|\\.)+)'\)\Z")  # at the end, where no message can write it
_CURRENT_WITHIN = 300  # characters at the end that are looked at


@lru_cache(maxsize=64)  # a record has few scopes
def how_to_send(scope: str) -> str:
    """Return what to do so that contents are sent, for the instrumentation that wrote a span.

    >>> how_to_send("agent_framework")
    'contents were not sent: call enable_instrumentation(enable_sensitive_data=True)'
    """
    for beginning, how in _SWITCHES.items():
        if scope.startswith(beginning):
            return how
    return _DEFAULT if scope else NOT_SENT


def read_framework(span: OtlpSpan, where: str, cache: MessageCache) -> Facts | None:
    """Read what a framework says about a span in words of its own, where it does."""
    attributes = span.attributes
    facts: Facts | None = None
    if _ADK_RESPONSE in attributes or _ADK_ARGUMENTS in attributes:
        facts = _read_adk(attributes, where, cache)
    elif _CREW_RESULT in attributes or _CREW_ROLE in attributes:
        facts = _read_crew(attributes)
    elif span.name.endswith(".run_agent_step"):
        facts = _read_step(attributes)
    elif span.name == "Agent.run" and attributes.get("openinference.span.kind") == "CHAIN":
        facts = _read_haystack(attributes, where)
    elif "pydantic_ai.all_messages" in attributes and attributes.get("final_result") is not None:
        facts = Facts("agent", text=as_text(attributes["final_result"]))
    elif attributes.get("traceloop.span.kind") == "task":
        if _SERVER_TOOL.search(as_text(attributes.get("traceloop.entity.output"))):
            facts = Facts(is_blind=True, unsent=_NO_SERVER_TOOLS)
        elif "traceloop.entity.output" in attributes:
            facts = _read_task(attributes)
        elif span.name == "FunctionTool.task" and "traceloop.entity.input" in attributes:
            facts = Facts(is_blind=True, unsent=_NAMELESS)
    return facts


@lru_cache(maxsize=64)  # every request of an agent has the same
def read_answers(parameters: str) -> tuple[str, ...]:
    """Return the tools by which a model of pydantic-ai gives its answer: types and functions of the output.

    >>> read_answers('{"function_tools": [{"name": "search"}], "output_tools": [{"name": "final_result"}]}')
    ('final_result',)
    """
    found = loose(parameters)[0]
    tools = found.get("output_tools") if isinstance(found, Mapping) else None
    names = [tool.get("name") for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
    return tuple(name for name in names if isinstance(name, str))


def _read_adk(attributes: Mapping[str, Any], where: str, cache: MessageCache) -> Facts | None:
    """Read the attributes that ADK 1 writes; those of a tool have an empty request and response beside them."""
    arguments = attributes.get(_ADK_ARGUMENTS)
    if arguments is not None:
        facts = Facts()
        answer = attributes.get(_ADK_RESULT)
        # Without contents both are empty objects; a result that was sent never is.
        if arguments != "{}" or answer != "{}":
            facts.arguments = arguments_of(facts.whole(_ADK_ARGUMENTS, arguments))
            facts.result = None if answer is None else as_text(answer)
        return facts
    facts = Facts("llm")
    request = facts.whole(_ADK_REQUEST, attributes.get(_ADK_REQUEST))
    response = facts.whole(_ADK_RESPONSE, attributes[_ADK_RESPONSE])
    contents = request.get("contents") if isinstance(request, Mapping) else None
    content = response.get("content") if isinstance(response, Mapping) else None
    if isinstance(contents, list):
        facts.input = read_messages(contents, where, "user", cache)
    if isinstance(content, Mapping):
        facts.output = read_messages([content], where, "assistant", cache)
    return facts if facts.input or facts.output or facts.faults else None


def _read_crew(attributes: Mapping[str, Any]) -> Facts:
    if _CREW_RESULT in attributes:
        return Facts(text=as_text(attributes[_CREW_RESULT]))
    tools = loose(attributes.get("crewai.agent.tools"))[0]
    can_delegate = as_text(attributes.get("crewai.agent.allow_delegation")).lower() == "true"
    is_blind = bool(tools) or can_delegate
    return Facts("agent", as_text(attributes[_CREW_ROLE]), is_blind=is_blind, unsent=_NO_TOOLS)


def _read_step(attributes: Mapping[str, Any]) -> Facts | None:
    """Read LlamaIndex's step in which an agent asks its model: the event that it was given names the agent."""
    given = loose(attributes.get("input.value"))[0]
    event = given.get("ev") if isinstance(given, Mapping) else None
    found = _CURRENT.search(event, max(len(event) - _CURRENT_WITHIN, 0)) if isinstance(event, str) else None
    return None if found is None else Facts("agent", found[1])


def _read_haystack(attributes: Mapping[str, Any], where: str) -> Facts | None:
    """Read an agent of Haystack: its messages are all that is known, as its tools have no spans."""
    facts = Facts("llm", is_whole=True, unsent=_UNREADABLE)
    sides: list[list[Any]] = []
    for key in ("input.value", "output.value"):
        held = facts.whole(key, attributes.get(key))
        messages = held.get("messages") if isinstance(held, Mapping) else None
        sides.append([read_haystack_message(text) for text in messages] if isinstance(messages, list) else [])
    given, said = sides
    if not said and not facts.faults:
        return None
    if None in given or None in said:
        return facts
    facts.input = read_messages(given, f"{where}: input.value")
    # What it was given is among what it returns, and so are its instructions.
    before = Counter(map(message_key, facts.input))
    new = []
    for message in read_messages(said, f"{where}: output.value", "assistant"):
        same = message_key(message)
        if before[same]:
            before[same] -= 1
        elif message.role != "system":
            new.append(message)
    facts.output = tuple(new)
    facts.text = next((one.text for one in reversed(new) if one.role == "assistant" and one.text), None)
    return facts


def _read_task(attributes: Mapping[str, Any]) -> Facts | None:
    """Read a step of LlamaIndex: it names the agent that is on, the tool that was called, or the answer."""
    said = loose(attributes["traceloop.entity.output"])[0]
    if not isinstance(said, Mapping):
        return None
    ended = said.get("result")
    here = ended if isinstance(ended, Mapping) else said
    name, tool = here.get("current_agent_name"), said.get("tool_name")
    if isinstance(name, str) and name:
        response = here.get("response")
        texts = _block_texts(response) if isinstance(response, Mapping) else []
        return Facts("agent", name, text="".join(texts) if texts else None)
    if isinstance(tool, str) and tool:
        return _read_tool_task(said, tool)
    return None


def _read_tool_task(said: Mapping[str, Any], tool: str) -> Facts:
    """Read a tool's call: as the step has it, with its id, or as the tool inside the step has it."""
    facts = Facts("tool", tool)
    raw = said.get("raw_input")
    arguments = said.get("tool_kwargs") if raw is None else raw.get("kwargs") if isinstance(raw, Mapping) else None
    facts.arguments = None if arguments is None else arguments_of(arguments)
    identity = said.get("tool_id")
    facts.call_id = identity if isinstance(identity, str) and identity else None
    output = said.get("tool_output", said)
    texts = _block_texts(output) if isinstance(output, Mapping) else []
    facts.result = "".join(texts) if texts else None
    return facts


def _block_texts(message: Mapping[str, Any]) -> list[str]:
    blocks = message.get("blocks")
    held = blocks if isinstance(blocks, list) else []
    return [block["text"] for block in held if isinstance(block, Mapping) and isinstance(block.get("text"), str)]
