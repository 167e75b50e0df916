"""Messages in any of the usual shapes, brought to one.

The shapes are Chat Completions, items of the Responses API, the parts of OpenTelemetry's `gen_ai.*.messages`, content
blocks of Anthropic, and LangChain's messages, plain or serialised. One message means one `Message` in every shape:
text parts are joined, reasoning is left out, arguments are objects where they are JSON.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall
from adjudge.traces._items import CALLS, RESULTS, call_arguments, item_kind, name_of, result_of
from adjudge.traces._values import arguments_of, as_text, first, kind_of, loose, mapping, sequence, text

RESULT_ROLES = frozenset({"tool", "function"})
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "AIMessageChunk": "assistant"}
_CLASSES = {"Human": "user", "AI": "assistant", "System": "system", "Tool": "tool", "Function": "function"}
_TEXT_PARTS = frozenset({None, "text", "input_text", "output_text", "refusal"})
_PLAIN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "server_tool_use", "server_tool_call", "mcp_tool_use"})
_RESULT_PARTS = frozenset({"tool_result", "tool_call_response", "server_tool_call_response"})
_RESULT_END = "_tool_result"  # of the tools that Anthropic runs: web_search_tool_result, mcp_tool_result, ...
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})


MessageCache: TypeAlias = dict[Hashable, tuple[Message, ...]]
"""Messages that were read before, by how they were written: most of what a model is given, it was given before."""

_RAW = msgspec.json.Decoder(list[msgspec.Raw])


def read_messages(
    value: object, where: str, role: str = "user", cache: MessageCache | None = None
) -> tuple[Message, ...]:
    """Read whatever holds messages; a plain text is one of `role`, what holds none gives none."""
    if cache is not None:
        found = _read_each(value, where, role, cache)
        if found is not None:
            return found
    value, _ = loose(value)
    if value is None:
        return ()
    if isinstance(value, str):
        return (Message(role, value),) if value else ()
    if isinstance(value, Mapping):
        return _from_mapping(value, where, role, cache)
    reader = _Reader()
    for index, item in enumerate(sequence(value, where)):
        reader.read(item, f"{where}, message {index}", role)
    return tuple(reader.messages)


def _read_each(value: object, where: str, role: str, cache: MessageCache) -> tuple[Message, ...] | None:
    """Read a list of messages, each only once; None where it is not a list of messages that stand alone."""
    items: Sequence[Any]
    if isinstance(value, str) and value[:1] == "[":
        try:
            items = _RAW.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    elif isinstance(value, list):
        items = value
    else:
        return None
    messages: list[Message] = []
    for index, item in enumerate(items):
        spelling = _spelling(item)
        found = cache.get(spelling) or cache.get((role, spelling))
        if found is None:
            plain = msgspec.json.decode(item) if isinstance(item, msgspec.Raw) else item
            if not isinstance(plain, Mapping) or (item_kind(plain) is not None and "role" not in plain):
                return None
            found = read_message(plain, f"{where}, message {index}", role)
            if spelling is not None:
                cache[spelling if "role" in plain else (role, spelling)] = found
        messages.extend(found)
    return tuple(messages)


def _spelling(item: object) -> bytes | None:
    """Return how a message is written, to recognise it again; None where it cannot be written."""
    if isinstance(item, msgspec.Raw):
        return bytes(item)
    try:
        return msgspec.json.encode(item)
    except (TypeError, ValueError, RecursionError):
        return None


def read_message(item: Mapping[str, Any], where: str, role: str) -> tuple[Message, ...]:
    """Read one message; results of tools that it holds become messages of their own."""
    reader = _Reader()
    reader.read(item, where, role)
    return tuple(reader.messages)


def _from_mapping(value: Mapping[str, Any], where: str, role: str, cache: MessageCache | None) -> tuple[Message, ...]:
    """Read the messages of a request, a reply, or of what a framework wraps around them."""
    if "messages" in value:
        return read_messages(value["messages"], where, role, cache)
    if "role" in value or "parts" in value or item_kind(value) is not None or _class_of(value) is not None:
        return read_message(value, where, role)
    for key in ("choices", "generations"):
        if isinstance(value.get(key), list):
            return tuple(
                message
                for index, choice in enumerate(_first_choice(value[key]))
                for message in read_messages(_choice(choice), f"{where}, {key} {index}", "assistant")
            )
    system = value.get("instructions")
    start = (Message("system", system),) if isinstance(system, str) and system else ()
    for key, speaker in (("output", "assistant"), ("input", "user"), ("message", role)):
        held = value.get(key)
        if isinstance(held, list | str | Mapping):
            return (start if key == "input" else ()) + read_messages(held, where, speaker, cache)
    return ()


def _first_choice(choices: Sequence[Any]) -> Sequence[Any]:
    """Leave alternatives out: of numbered choices only the first is the reply."""
    first_ones = [each for each in choices if not isinstance(each, Mapping) or each.get("index", 0) in (0, "0", None)]
    return first_ones or choices[:1]


def _choice(choice: object) -> object:
    """Take the message out of a choice, or out of LangChain's list of one generation."""
    if isinstance(choice, list) and choice:
        choice = choice[0]
    if isinstance(choice, Mapping):
        return [choice["message"]] if isinstance(choice.get("message"), Mapping) else choice.get("text")
    return choice


def _class_of(value: Mapping[str, Any]) -> str | None:
    """Return the role of a LangChain message: `{"type": "ai", ...}`, or serialised with its class."""
    kind, path = value.get("type"), value.get("id")
    if isinstance(kind, str) and "role" not in value and (kind in _ROLES or kind in ("system", "tool", "function")):
        return _ROLES.get(kind, kind)
    if isinstance(value.get("kwargs"), Mapping) and isinstance(path, list) and path and isinstance(path[-1], str):
        return _CLASSES.get(path[-1].removesuffix("Chunk").removesuffix("Message"))
    return None


class _Reader:
    """Collects messages; the items of the Responses API that are one turn of the model become one message."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._is_open = False  # whether a call that follows belongs to the last message

    def read(self, item: object, where: str, role: str) -> None:
        if type(item) is dict:  # nearly always
            self._mapping(item, where, role)
        elif isinstance(item, str):
            self._add(Message(role, item))
        elif isinstance(item, Message):
            self._add(replace(item, tool_calls=tuple(_normal(call) for call in item.tool_calls)))
        elif isinstance(item, Sequence) and not isinstance(item, bytes):
            for index, inner in enumerate(item):
                self._mapping(mapping(inner, f"{where}.{index}"), f"{where}.{index}", role)
        else:
            self._mapping(mapping(item, where), where, role)

    def _add(self, message: Message, *, is_open: bool = False) -> None:
        self.messages.append(message)
        self._is_open = is_open

    def _mapping(self, item: Mapping[str, Any], where: str, role: str) -> None:
        if item.keys() <= _PLAIN_KEYS and "role" in item:  # the usual shape, and the fastest way to read it
            plain = _plain(item, where)
            if plain is not None:
                self._add(plain)
                return
        kind = item_kind(item)
        if kind is not None and "role" not in item:
            self._item(item, kind, where)
            return
        if isinstance(item.get("message"), Mapping) and "role" not in item:  # a choice, with calls inside or beside
            calls = first(item["message"], "tool_calls") or item.get("tool_calls")
            item = {**item["message"], "tool_calls": calls}
            role = "assistant"
        for message in _messages(item, where, role):
            self._add(message, is_open=message.role == "assistant" and item.get("type") == "message")

    def _item(self, item: Mapping[str, Any], kind: str, where: str) -> None:
        """Read an item that is not a message; reasoning is left out."""
        if kind in CALLS:
            call = _call(name_of(item, kind), call_arguments(item), first(item, "call_id", "id"), where)
            if self._is_open:
                last = self.messages.pop()
                self._add(replace(last, tool_calls=(*last.tool_calls, call)), is_open=True)
            else:
                self._add(Message("assistant", None, (call,)), is_open=True)
            result = result_of(item, kind)
            if result is not None:
                self._add(Message("tool", result, tool_call_id=call.id))
        elif kind in RESULTS:
            self._add(
                Message("tool", _content(item.get("output"), where), tool_call_id=_id(item.get("call_id"), where))
            )


def _plain(item: Mapping[str, Any], where: str) -> Message | None:
    """Return a message of Chat Completions whose content is nothing but text; None of any other."""
    role, content = item["role"], item.get("content")
    if not isinstance(role, str) or not role or not (content is None or isinstance(content, str)):
        return None
    calls = tuple(_tool_calls(item.get("tool_calls"), where, set()))
    identity = item.get("tool_call_id") if role in RESULT_ROLES else None
    name = text(item.get("name"), f"{where}: name") or None
    said = content if content or not calls else None
    return Message(_ROLES.get(role, role), said, calls, _id(identity, f"{where}: tool_call_id"), name)


def _messages(item: Mapping[str, Any], where: str, role: str) -> Iterator[Message]:
    """Give the message of a mapping; results of tools inside it become messages of their own."""
    langchain = _class_of(item)
    if langchain is not None:
        body = first(item, "kwargs", "data")
        item = body if isinstance(body, Mapping) else item
        role = langchain
    else:
        named = item.get("role", role)
        if not isinstance(named, str) or not named:
            raise TrajectoryError(f"{where} has no 'role'")
        role = _ROLES.get(named, named)
    content = first(item, "parts") if "parts" in item else item.get("content")
    calls, results, rest = _parts(content, where)
    calls += _tool_calls(_given_calls(item), where, known={call.id for call in calls if call.id})
    own = {call.id for call in calls}  # ids of calls whose results may be in the same message
    yield from (result for result in results if result.tool_call_id not in own)
    body = _content(rest, where)
    if content and rest == [] and not calls:
        return  # nothing but results, or reasoning
    identity = first(item, "tool_call_id", "id") if role in RESULT_ROLES else None
    yield Message(
        role,
        body if body or not calls else None,
        tuple(calls),
        _id(identity, f"{where}: tool_call_id"),
        text(item.get("name"), f"{where}: name") or None,
    )
    yield from (result for result in results if result.tool_call_id in own)


def _id(value: object, where: str) -> str | None:
    return text(value, where) or None


def _given_calls(item: Mapping[str, Any]) -> object:
    """Return the calls of a message; LangChain has some in the older place, and the oldest form has one."""
    calls, broken = item.get("tool_calls"), item.get("invalid_tool_calls")
    if isinstance(broken, list) and broken:  # LangChain's, of arguments that are not JSON
        return [*sequence(calls, "tool_calls"), *broken]
    if calls:
        return calls
    more = item.get("additional_kwargs")
    if isinstance(more, Mapping) and more.get("tool_calls"):
        return more["tool_calls"]
    return [item["function_call"]] if isinstance(item.get("function_call"), Mapping) else None


def _parts(content: object, where: str) -> tuple[list[ToolCall], list[Message], object]:
    """Take calls and results of tools out of a list of parts; reasoning is left out."""
    if not isinstance(content, list | tuple):
        return [], [], content
    calls: list[ToolCall] = []
    results: list[Message] = []
    rest: list[object] = []
    for index, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str) or kind in _TEXT_PARTS:
            rest.append(part)
        elif kind in _CALL_PARTS:
            inner = part.get("server_tool_call")
            arguments = first(part, "arguments", "input") if inner is None else inner
            calls.append(_call(part.get("name"), arguments, part.get("id"), f"{where}, part {index}"))
        elif kind in _RESULT_PARTS or kind.endswith(_RESULT_END):
            place = f"{where}, part {index}"
            result = first(part, "response", "result", "content", "server_tool_call_response")
            identity = _id(first(part, "id", "tool_use_id"), f"{place}: id")
            results.append(Message("tool", _content(result, place), (), identity))
        elif kind not in _THOUGHTS:
            rest.append(part)
    return calls, results, rest


def _tool_calls(calls: object, where: str, known: set[str]) -> list[ToolCall]:
    found = []
    for index, call in enumerate(sequence(calls, f"{where}: tool_calls")):
        place = f"{where}, tool call {index}"
        if isinstance(call, ToolCall):
            found.append(_normal(call))
            continue
        given = mapping(call, place)
        function = given.get("function")
        body = function if isinstance(function, Mapping) else given
        name = function if isinstance(function, str) else body.get("name")  # Inspect has the name there
        found.append(_call(name, first(body, "arguments", "args"), first(given, "id", "call_id"), place))
    return [call for call in found if call.id not in known]  # said twice: as a part and beside the parts


def _call(name: object, arguments: object, identity: object, where: str) -> ToolCall:
    if not isinstance(name, str) or not name:
        raise TrajectoryError(f"{where} has no 'name'")
    return ToolCall(name, arguments_of(arguments), _id(identity, f"{where}: id"))


def _normal(call: ToolCall) -> ToolCall:
    return ToolCall(call.name, arguments_of(call.arguments), call.id)


def _content(content: object, where: str) -> str | tuple[Mapping[str, Any], ...] | None:
    """Return content as one text where it is nothing else, as parts otherwise."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return as_text(content) if "type" not in content else _content([content], where)
    if not isinstance(content, list | tuple):
        if isinstance(content, bool | int | float):
            return as_text(content)
        raise TrajectoryError(f"{where}: 'content' must be text or a list of parts, got {kind_of(content)}")
    texts = [_text_of(part) for part in content]
    if all(each is not None for each in texts):
        return "".join(each for each in texts if each is not None) if texts else None
    if all(isinstance(part, Mapping | str) for part in content):
        return tuple(_part(part, each) for part, each in zip(content, texts, strict=True))
    return as_text(content)  # the result of a tool: a list of its own


def _part(part: Mapping[str, Any] | str, said: str | None) -> Mapping[str, Any]:
    return {"type": "text", "text": said} if said is not None or isinstance(part, str) else part


def _text_of(part: object) -> str | None:
    """Return the text of a part that is nothing but text."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str | None):
        return None
    if part.get("type") not in _TEXT_PARTS:
        return None
    said = first(part, "text", "content", "refusal")
    return said if isinstance(said, str) else None
