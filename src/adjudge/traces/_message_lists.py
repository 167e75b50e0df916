"""Messages as the frameworks hand them to their users, brought to the usual chat shape.

    AutoGen          {"source": "weather", "type": "ToolCallRequestEvent", "content": [{"id": ..., "name": ...}]}
    Google's ADK     {"author": "weather", "content": {"role": "model", "parts": [{"function_call": ...}]}}
    pydantic-ai      {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": ..., "args": ...}]}
    Agent Framework  {"type": "message", "role": "assistant", "author_name": "weather", "contents": [...]}
    Semantic Kernel  {"content_type": "message", "role": "assistant", "name": "weather", "items": [...]}
    LlamaIndex       {"role": "assistant", "blocks": [{"block_type": "tool_call", ...}]}
    smolagents       {"step_number": 1, "model_output_message": {...}, "observations": "..."}
    CrewAI           {"agent": "Writer", "messages": [...], "raw": "the task's output"}
    AG2              {"role": "tool", "tool_responses": [{"tool_call_id": ..., "content": ...}]}

What differs in nothing but the parts of a message (Gemini, Bedrock and Strands, Haystack) needs nothing here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeAlias

from adjudge.errors import TrajectoryError
from adjudge.model import Question, ToolCall
from adjudge.traces._agent_names import BEHIND
from adjudge.traces._refusals import (
    MAY_HAVE_RUN,
    autogen_ran,
    is_refused_by_crew,
    langchain_ran,
    llama_index_ran,
    pydantic_ai_refusal,
    ran_with_error,
    smolagents_ran,
)
from adjudge.traces._values import as_text, first, loose, mapping, quote, sequence

Unknown: TypeAlias = dict[Question, str]
Item: TypeAlias = Mapping[str, Any]
_Called: TypeAlias = dict[str, tuple[str, object]]  # by the ids of calls, their names and arguments

_AUTOGEN_TEXTS = frozenset(
    {"TextMessage", "StopMessage", "MultiModalMessage", "StructuredMessage", "ToolCallSummaryMessage", "HandoffMessage"}
)
_AUTOGEN_ASIDES = frozenset(
    {"ThoughtEvent", "MemoryQueryEvent", "ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent"}
    | {"UserInputRequestedEvent", "CodeGenerationEvent", "CodeExecutionEvent"}
)
USUAL = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_BODIES = frozenset({"content", "parts", "tool_calls", "function_call", "refusal"})
_LIKE_CALLS = re.compile("tool|function|call|invocation|intermediate_?steps", re.IGNORECASE)
_CALL_KEYS = frozenset(
    {"tool_calls", "invalid_tool_calls", "tool_call_chunks", "function_call", "tool_responses", "tool_call_results"}
)
_WRAPPERS = frozenset({"type", "message", "messages", "kwargs", "data"})
_ASIDES = frozenset({"metadata", "meta", "usage", "extra", "annotations", "additional_kwargs", "response_metadata"})
_REQUEST_ROLES = {"system-prompt": "system", "tool-return": "tool", "retry-prompt": "tool"}
_FROM_CODE = "its tools are called from the code that it writes: record a trace"
_SUMMARISED = "the messages before a summary are gone: return all of them, or record a trace"
_OPEN = "may_have_run"  # the key of a message by which a reader names a tool of which nobody can tell
_INTERRUPTED = "the run was interrupted in a call, and maybe in its tool: record a trace"
# What LangChain writes before the result of a call that a person changed; the name is that of the tool that ran.
EDITED = re.compile(r"[^\n]{0,2000}? Executed instead: (\S+) with arguments \{")
CHANGED = "a person changed call {} before it ran, and what ran is not in the record: record a trace with contents"
CUT = "the question is not among the messages, and maybe others are not: return all messages, and the question"
_NO_ANSWER = "a trajectory of DSPy has none: give the prediction's answer too"


def plain_object(value: object) -> object:
    """Return a message that is an object of a framework as a mapping: a pydantic model's fields, or a dataclass's."""
    if type(value) is dict:  # nearly always, and much faster to ask
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump()
    of_haystack = getattr(value, "to_dict", None)
    if callable(of_haystack) and not isinstance(value, Mapping | type):
        return of_haystack()
    is_ours = type(value).__module__.startswith("adjudge.")
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) and not is_ours else value


def is_framework_message(item: Item) -> bool:
    """Whether an object is written in a shape of a framework that this module knows."""
    return _reader_of(item) is not None or _is_trajectory(item)


def to_chat(items: Sequence[Any], where: str) -> tuple[list[Any], Unknown]:
    """Return messages in the usual shapes, and what their record cannot show."""
    unknown: Unknown = {}
    found: list[Any] = []
    begins_with_question = False
    calls: _Called = {}
    for index, given in enumerate(items):
        item = plain_object(given)
        # The usual shape comes first: most messages have it.
        if not isinstance(item, Mapping) or ("role" in item and item.keys() <= USUAL):
            found.append(item)
            continue
        reader, place = _reader_of(item), f"{where}, message {index}"
        _note_call(item, calls)
        if reader is not None:
            found.extend(_llama_result(one, calls) if reader is _llama_index else one for one in reader(item, place))
            begins_with_question = begins_with_question or reader in (_pydantic_ai, _smolagents)
            if item.get("code_action") is not None:  # smolagents
                unknown["tools"] = _FROM_CODE
            if reader is _pydantic_ai and any(pydantic_ai_refusal(part) == "interrupted" for part in item["parts"]):
                unknown["inside"] = _INTERRUPTED
            continue
        # Without a role it may be a choice, or an item that its type explains.
        if ("role" in item or item.keys().isdisjoint(_WRAPPERS)) and item.keys().isdisjoint(_BODIES):
            _check_empty(item, place)
        _check_keys(item, place)
        body = first(item, "kwargs", "data")  # of a serialised message of LangChain
        about = body if isinstance(body, Mapping) else item
        more = about.get("additional_kwargs")
        if isinstance(more, Mapping) and more.get("lc_source") == "summarization":
            unknown |= dict.fromkeys(("agents", "tools"), _SUMMARISED)
        found.append(_read_result(item, about, calls))
    for one in found:
        if isinstance(one, Mapping) and _OPEN in one:
            unknown.setdefault("inside", MAY_HAVE_RUN.format(quote(one[_OPEN])))
    # Whatever these two return begins with what the user asked, also of a later turn.
    if begins_with_question and not any(isinstance(one, Mapping) and one.get("role") == "user" for one in found):
        unknown = {**dict.fromkeys(("agents", "inside"), CUT), **unknown}
    asked = _asked_agent(found)
    if asked is not None:
        unknown.setdefault("inside", BEHIND.format(quote(asked)))
    return _turn_round(items, found), unknown


def _note_call(item: Item, calls: _Called) -> None:
    """Keep the name and the arguments of calls whose results are judged by them: OpenAI Agents', and LlamaIndex's."""
    if item.get("type") == "function_call":
        calls[as_text(item.get("call_id"))] = as_text(item.get("name")), item.get("arguments")
    blocks = item.get("blocks")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, Mapping) and block.get("block_type") == "tool_call":
            calls[as_text(block.get("tool_call_id"))] = as_text(block.get("tool_name")), None


def _settled(ran: bool | None, name: object, result: Item) -> Item:
    """Return the result of a call; where it was not executed its words alone, and the name where nobody can tell."""
    if ran:
        return result
    words = {"role": "system", "content": result.get("content")}
    return words if ran is False else {**words, _OPEN: as_text(name)}


def _read_result(item: Item, about: Item, calls: _Called) -> Item:
    """Return a message of LangChain, or an item of OpenAI's, settled where it is the result of a tool."""
    text, output, settled = about.get("content"), item.get("output"), item
    if about.get("status") == "error" and isinstance(text, str):
        name = as_text(about.get("name"))
        settled = _settled(langchain_ran(text, name), name, {"content": text})
    elif item.get("type") == "function_call_output" and isinstance(output, str):
        name, arguments = calls.get(as_text(item.get("call_id")), ("", None))
        settled = _settled(ran_with_error(output, arguments), name, {"content": output})
    return settled if "role" in settled else item


def _llama_result(item: Item, calls: _Called) -> Item:
    """Return a message of LlamaIndex, settled where it is the result of a tool."""
    parts = item["parts"]
    said = first(parts[0], "text") if len(parts) == 1 and isinstance(parts[0], Mapping) else None
    if item["role"] != "tool" or not isinstance(said, str):
        return item
    name, _ = calls.get(as_text(item["tool_call_id"]), ("", None))
    ran = llama_index_ran(said, name)
    return item if ran else _settled(ran, name, {"content": said})


def _asked_agent(items: Iterable[Any]) -> str | None:
    """Return the first tool that was called as OpenAI Agents calls an agent (`as_tool`), and answered in words.

    Its only argument is `input` then, a name that hardly any function of a person's has in these lists.
    """
    asked: dict[str, str] = {}
    for item in items:
        identity = item.get("call_id") if isinstance(item, Mapping) else None
        if not isinstance(identity, str):
            continue
        if item.get("type") == "function_call":
            arguments = loose(item.get("arguments"))[0]
            if isinstance(arguments, Mapping) and arguments.keys() == {"input"}:
                asked[identity] = as_text(item.get("name"))
        elif item.get("type") == "function_call_output" and identity in asked:
            name = asked[identity]
            if ToolCall(name, {"input": ""}, result=as_text(item.get("output")), executed=True).is_conversation:
                return name
    return None


def _check_keys(item: Item, where: str) -> None:
    """Refuse a key that nobody reads and that could hold calls: without them the agent would seem to have made none."""
    for key, value in item.items():
        if value and isinstance(value, list | Mapping) and key not in _CALL_KEYS and _LIKE_CALLS.search(str(key)):
            raise TrajectoryError(f"{where} has {quote(str(key))}, which is not known and could hold calls of tools")


def _check_empty(item: Item, where: str) -> None:
    """Refuse a message whose content may be where nobody looks for it: it would look like one that says nothing."""
    strange = [key for key, value in item.items() if value and isinstance(value, list | Mapping) and key not in _ASIDES]
    if strange:
        keys = ", ".join(quote(str(key)) for key in strange[:3])
        raise TrajectoryError(f"{where} has neither content nor calls, but {keys}, which is not known")


def read_trajectory(record: Item) -> tuple[list[Item], Unknown] | None:
    """Read the trajectory of DSPy's ReAct, which numbers its keys; None of anything else."""
    if not _is_trajectory(record):
        return None
    found: list[Item] = []
    index = 0
    while (name := record.get(f"tool_name_{index}")) is not None:
        if name != "finish":  # its own way to end
            identity = f"step {index}"
            call = {"id": identity, "name": name, "arguments": record.get(f"tool_args_{index}")}
            found.append({"role": "assistant", "content": None, "tool_calls": [call]})
            result = as_text(record.get(f"observation_{index}"))
            found.append({"role": "tool", "tool_call_id": identity, "content": result})
        index += 1
    return found, {"answer": _NO_ANSWER, "agents": "a trajectory of DSPy does not name them: record a trace"}


def _is_trajectory(record: Item) -> bool:
    return "tool_name_0" in record and "role" not in record


Reader: TypeAlias = Callable[[Item, str], Iterator[Item]]


def _reader_of(item: Item) -> Reader | None:
    """Return what reads an item: the keys that only one framework has tell which."""
    kind = item.get("kind")
    signs: tuple[tuple[bool, Reader], ...] = (
        ("source" in item and isinstance(item.get("type"), str) and "role" not in item, _autogen),
        ("author" in item and isinstance(item.get("content"), Mapping | None) and "role" not in item, _adk),
        (isinstance(kind, str) and kind in ("request", "response") and "parts" in item, _pydantic_ai),
        ("contents" in item and "role" in item, _agent_framework),
        (item.get("content_type") == "message" and "role" in item, _semantic_kernel),
        ("blocks" in item and "role" in item, _llama_index),
        ("step_number" in item or ("task" in item and "role" not in item), _smolagents),
        ("agent" in item and "raw" in item and "messages" in item, _crewai),
        ("tool_responses" in item and "role" in item, _ag2),
    )
    return next((reader for is_it, reader in signs if is_it), None)


def _autogen(item: Item, where: str) -> Iterator[Item]:
    kind, source, content = item["type"], item["source"], item.get("content")
    if kind == "ToolCallRequestEvent":
        yield {"role": "assistant", "name": source, "content": None, "tool_calls": content}
    elif kind == "ToolCallExecutionEvent":
        for index, given in enumerate(sequence(content, where)):
            one = mapping(given, f"{where}, result {index}")
            name, result = as_text(one.get("name")), as_text(one.get("content"))
            about = {"tool_call_id": one.get("call_id"), "name": one.get("name")}
            ran = autogen_ran(result, name) if one.get("is_error") is True else True
            yield _settled(ran, name, {"role": "tool", "content": result, **about})
    elif kind in _AUTOGEN_TEXTS:
        said = content if isinstance(content, str | list) else as_text(content)
        yield {"role": "user" if source == "user" else "assistant", "name": source, "content": said}
    elif kind not in _AUTOGEN_ASIDES:
        raise TrajectoryError(f"{where} is of AutoGen's type {quote(str(kind))}, which is not known")


def _adk(item: Item, _where: str) -> Iterator[Item]:
    content = item.get("content")
    # A part of a reply that is still being streamed comes again in the whole reply.
    if content is not None and item.get("partial") is not True:
        role = "user" if item["author"] == "user" else "assistant"
        yield {"role": role, "name": item["author"], "parts": content.get("parts") or []}


def _pydantic_ai(item: Item, where: str) -> Iterator[Item]:
    parts = [mapping(part, f"{where}, part {index}") for index, part in enumerate(sequence(item["parts"], where))]
    if item["kind"] == "response":
        yield {"role": "assistant", "parts": [_output(part) for part in parts]}
        return
    for part in parts:
        kind = part.get("part_kind")
        if kind == "tool-return" and _is_output(part):
            continue
        content = part.get("content")
        if pydantic_ai_refusal(part):
            yield {"role": "system", "content": as_text(content)}
            continue
        role = _REQUEST_ROLES.get(kind, "user") if isinstance(kind, str) else "user"
        # A prompt may be a list of texts and images.
        is_list = kind == "user-prompt" and isinstance(content, list | tuple)
        yield {"role": role, "content": content} if is_list else {"role": role, "parts": [part]}


def _output(part: Item) -> Item:
    """Return a part; the call of an output tool is the answer, and becomes a text."""
    is_answer = part.get("part_kind") == "tool-call" and _is_output(part)
    return {"type": "text", "text": as_text(loose(part.get("args"))[0])} if is_answer else part


def _is_output(part: Item) -> bool:
    name = part.get("tool_name")
    return isinstance(name, str) and (name == "final_result" or name.startswith("final_result_"))


def _agent_framework(item: Item, _where: str) -> Iterator[Item]:
    yield {"role": item["role"], "name": item.get("author_name"), "parts": item["contents"]}


def _semantic_kernel(item: Item, where: str) -> Iterator[Item]:
    parts: list[Item] = []
    for index, given in enumerate(sequence(item.get("items"), where)):
        part = mapping(given, f"{where}, item {index}")
        if part.get("plugin_name") != "Handoff":
            parts.append(part)
        elif part.get("function_name") != "complete_task":
            parts.append({**part, "name": part.get("function_name")})  # transfer_to_X
        elif part.get("content_type") == "function_call":  # its own way to end: the summary is the answer
            arguments, _ = loose(part.get("arguments"))
            summary = arguments.get("task_summary") if isinstance(arguments, Mapping) else arguments
            parts.append({"type": "text", "text": as_text(summary)})
    if parts:
        yield {"role": item["role"], "name": item.get("name"), "parts": parts}


def _llama_index(item: Item, where: str) -> Iterator[Item]:
    more = item.get("additional_kwargs")
    about = more if isinstance(more, Mapping) else {}
    # The calls are in the blocks as well, since it has blocks for them.
    blocks = sequence(item["blocks"], f"{where}: blocks")
    has_calls = any(isinstance(one, Mapping) and one.get("block_type") == "tool_call" for one in blocks)
    calls = None if has_calls else about.get("tool_calls")
    yield {"role": item["role"], "parts": blocks, "tool_calls": calls, "tool_call_id": about.get("tool_call_id")}


def _smolagents(item: Item, where: str) -> Iterator[Item]:
    if "step_number" not in item:
        yield {"role": "user", "content": as_text(item["task"])}
        return
    said = item.get("model_output_message")
    asked = first(said, "tool_calls") if isinstance(said, Mapping) else None
    calls = [mapping(one, where) for one in sequence(first(item, "tool_calls") or asked, f"{where}: tool_calls")]
    answers = [call for call in calls if _function(call).get("name") == "final_answer"]
    rest = [call for call in calls if _function(call).get("name") != "final_answer"]
    if rest:
        yield {"role": "assistant", "content": None, "tool_calls": rest}
    error = item.get("error")
    observed = as_text(error.get("message") if isinstance(error, Mapping) else item.get("observations"))
    for call in rest:
        name = as_text(_function(call).get("name"))
        kind = error.get("type") if isinstance(error, Mapping) else None
        ran = kind is None or smolagents_ran(kind, observed, name, is_alone=len(rest) == 1)
        yield _settled(ran, name, {"role": "tool", "tool_call_id": call.get("id"), "content": observed})
    if answers or item.get("is_final_answer") is True:
        arguments = _function(answers[-1]).get("arguments") if answers else None
        answer = arguments.get("answer") if isinstance(arguments, Mapping) else arguments
        final = first({"output": item.get("action_output"), "answer": answer}, "output", "answer")
        yield {"role": "assistant", "content": as_text(final)}


def _function(call: Item) -> Item:
    held = call.get("function")
    return held if isinstance(held, Mapping) else call


def _crewai(item: Item, where: str) -> Iterator[Item]:
    agent, last = item["agent"], None
    for index, given in enumerate(sequence(item["messages"], f"{where}: messages")):
        last = mapping(given, f"{where}.{index}")
        if last.get("role") == "tool":
            yield _settled(not is_refused_by_crew(last), last.get("name"), last)
        else:
            yield {**last, "name": agent} if last.get("role") == "assistant" else last
    # A task's messages may end before its output.
    output = item["raw"]
    if last is None or last.get("role") != "assistant" or last.get("content") != output:
        yield {"role": "assistant", "name": agent, "content": as_text(output)}


def _ag2(item: Item, where: str) -> Iterator[Item]:
    for index, given in enumerate(sequence(item["tool_responses"], f"{where}: tool_responses")):
        one = mapping(given, f"{where}, result {index}")
        yield {"role": "tool", "tool_call_id": one.get("tool_call_id"), "content": as_text(one.get("content"))}


def _turn_round(given: Sequence[Any], items: list[Any]) -> list[Any]:
    """Return AG2's history as its agents spoke: whoever starts a chat keeps its own words as the assistant's."""
    if not given or not all(isinstance(one, Mapping) for one in (*given, *items)):
        return items
    begin, end = given[0], given[-1]
    is_turned = begin.get("role") == "assistant" and end.get("role") == "user" and isinstance(end.get("name"), str)
    opener = begin.get("name")
    is_ag2 = opener == "user" or any("tool_responses" in one for one in given)
    if not (is_turned and is_ag2):
        return items
    turned: list[Any] = []
    for one in items:
        is_opener = one is begin or (opener and one.get("name") == opener)
        role = "user" if is_opener else "assistant"
        turned.append({**one, "role": role} if one.get("role") in ("assistant", "user") else one)
    return turned
