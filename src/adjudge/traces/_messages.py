"""Messages in any of the usual shapes, brought to one.

The shapes are Chat Completions, items of the Responses API, the parts of OpenTelemetry's `gen_ai.*.messages`, content
blocks of Anthropic, and LangChain's messages, plain or serialised. One message means one `Message` in every shape:
text parts are joined, reasoning is left out, arguments are objects where they are JSON.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import msgspec

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall
from adjudge.traces._items import CALLS, RESULTS, item_kind, read_call
from adjudge.traces._parts import read_part
from adjudge.traces._values import arguments_of, as_text, first, kind_of, loose, mapping, sequence, text

RESULT_ROLES = frozenset({"tool", "function"})
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "AIMessageChunk": "assistant"}
_PAIRED = frozenset(
    {"user", "human", "assistant", "ai", "system", "developer"}
)  # ("user", "Hi"), as LangChain takes it
_CLASSES = {"Human": "user", "AI": "assistant", "System": "system", "Tool": "tool", "Function": "function"}
_TEXT_PARTS = frozenset({None, "text", "input_text", "output_text", "refusal"})
_PLAIN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


MessageCache: TypeAlias = dict[Hashable, tuple[Message, ...]]
"""Messages that were read before, by how they were written: most of what a model is given, it was given before."""

_RAW = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(eq=False)
class _Drafts(list[Message]):
    """Messages while they are read, and calls that belong to one of them, by its index: a turn may have very many."""

    calls: dict[int, list[ToolCall]] = field(default_factory=dict)

    def finish(self) -> tuple[Message, ...]:
        """Return the messages with all their calls."""
        for index, calls in self.calls.items():
            self[index] = replace(self[index], tool_calls=(*self[index].tool_calls, *calls))
        return tuple(self)


def read_messages(
    value: object, where: str, role: str = "user", cache: MessageCache | None = None
) -> tuple[Message, ...]:
    """Read whatever holds messages; a plain text is one of `role`, what holds none gives none."""
    # Most of what a model is given, it was given before; only what is new is read.
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
    messages = _Drafts()
    is_open = False
    for index, item in enumerate(sequence(value, where)):
        is_open = _read_item(item, f"{where}, message {index}", role, messages, is_open=is_open)
    return messages.finish() if messages.calls else tuple(messages)


def _read_each(value: object, where: str, role: str, cache: MessageCache) -> tuple[Message, ...] | None:
    """Read a list of messages, each only once; None where it is anything else, or where items belong together."""
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
            # Without a role of its own, a message depends on the role that it is read with.
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


def message_key(message: Message) -> object:
    """Return what is the same about a message wherever it is repeated."""
    try:
        calls = tuple((call.id, call.name, repr(call.arguments)) for call in message.tool_calls)
    except RecursionError:
        raise TrajectoryError("arguments of a tool call are nested too deeply") from None
    content = message.content if isinstance(message.content, str | None) else repr(message.content)
    return message.role, content or "", message.tool_call_id, calls


def plain_result(message: Message) -> Message:
    """Return a result without the tool's name where it has the call's id: not every format has both."""
    is_result = message.role in RESULT_ROLES and message.tool_call_id is not None and message.name is not None
    return replace(message, name=None) if is_result else message


def read_message(item: Mapping[str, Any], where: str, role: str) -> tuple[Message, ...]:
    """Read one message; results of tools that it holds become messages of their own."""
    messages = _Drafts()
    _read_item(item, where, role, messages, is_open=False)
    return messages.finish()


def _from_mapping(value: Mapping[str, Any], where: str, role: str, cache: MessageCache | None) -> tuple[Message, ...]:
    """Read the messages of a request, a reply, or of what a framework wraps around them."""
    if "messages" in value:
        return read_messages(value["messages"], where, role, cache)
    if "role" in value or "parts" in value or item_kind(value) is not None or _class_of(value) is not None:
        return read_message(value, where, role)
    for key in ("choices", "generations"):
        if isinstance(value.get(key), list):
            return _read_choices(value[key], f"{where}, {key}")
    # Output comes first: a response of the Responses API has the request beside it.
    system = value.get("instructions")
    start = (Message("system", system),) if isinstance(system, str) and system else ()
    for key, speaker in (("output", "assistant"), ("input", "user"), ("message", role)):
        held = value.get(key)
        if isinstance(held, list | str | Mapping):
            return (start if key == "input" else ()) + read_messages(held, where, speaker, cache)
    return ()


def _read_choices(choices: Sequence[Any], where: str) -> tuple[Message, ...]:
    """Read the reply out of a model's choices; of numbered ones only the first counts, the others are alternatives."""
    first_ones = [each for each in choices if not isinstance(each, Mapping) or each.get("index", 0) in (0, "0", None)]
    messages: list[Message] = []
    for index, choice in enumerate(first_ones or choices[:1]):
        # LangChain has a list of one generation in the place of a choice.
        held = choice[0] if isinstance(choice, list) and choice else choice
        if isinstance(held, Mapping):
            held = [held["message"]] if isinstance(held.get("message"), Mapping) else held.get("text")
        messages += read_messages(held, f"{where} {index}", "assistant")
    return tuple(messages)


def is_langchain_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message of LangChain, plain or serialised."""
    return _class_of(value) is not None


def _class_of(value: Mapping[str, Any]) -> str | None:
    """Return the role of a LangChain message: `{"type": "ai", ...}`, or serialised with its class."""
    kind, path = value.get("type"), value.get("id")
    if isinstance(kind, str) and "role" not in value and (kind in _ROLES or kind in ("system", "tool", "function")):
        return _ROLES.get(kind, kind)
    if isinstance(value.get("kwargs"), Mapping) and isinstance(path, list) and path and isinstance(path[-1], str):
        return _CLASSES.get(path[-1].removesuffix("Chunk").removesuffix("Message"))
    return None


def _read_item(item: Any, where: str, role: str, into: _Drafts, *, is_open: bool) -> bool:
    """Add what one item of a list says; return whether a call that follows belongs to the last message.

    In the Responses API it does: the items that are one turn of the model become one message.
    """
    if isinstance(item, str):
        into.append(Message(role, item))
        return False
    if isinstance(item, Message):
        into.append(replace(item, tool_calls=tuple(_tool_calls(item.tool_calls, where))))
        return False
    is_list = not isinstance(item, dict | bytes) and isinstance(item, Sequence)
    if is_list and len(item) == 2 and isinstance(item[0], str) and item[0] in _PAIRED:
        item, is_list = {"role": item[0], "content": item[1]}, False
    if is_list:
        for index, inner in enumerate(item):
            place = f"{where}.{index}"
            is_open = _read_item(mapping(inner, place), place, role, into, is_open=is_open)
        return is_open
    given = item if type(item) is dict else mapping(item, where)
    # The usual shape comes first: it is by far the fastest to read.
    plain = _plain(given, where) if "role" in given and given.keys() <= _PLAIN_KEYS else None
    if plain is not None:
        into.append(plain)
        return False
    kind = item_kind(given)
    if kind is not None and "role" not in given:
        return _read_call_item(given, kind, where, into, is_open=is_open)
    if isinstance(given.get("message"), Mapping) and "role" not in given:  # a choice, with calls inside or beside
        calls = first(given["message"], "tool_calls") or given.get("tool_calls")
        given = {**given["message"], "tool_calls": calls}
        role = "assistant"
    for message in _messages(given, where, role):
        into.append(message)
        is_open = message.role == "assistant" and given.get("type") == "message"
    return is_open


def _read_call_item(item: Mapping[str, Any], kind: str, where: str, into: _Drafts, *, is_open: bool) -> bool:
    """Add the call or the result that an item of the Responses API is; reasoning and the like are left out."""
    if kind in RESULTS:
        content = _content(item.get("output"), where)
        into.append(Message("tool", content, tool_call_id=text(item.get("call_id"), where) or None))
        return False
    if kind not in CALLS:
        return is_open
    name, arguments, result = read_call(item, kind)
    call = _call(name, arguments, first(item, "call_id", "id"), where)
    if is_open:
        into.calls.setdefault(len(into) - 1, []).append(call)
    else:
        into.append(Message("assistant", None, (call,)))
    # The services' own tools have their result in the same item.
    if result is None:
        return True
    into.append(Message("tool", result, tool_call_id=call.id))
    return False


def _plain(item: Mapping[str, Any], where: str) -> Message | None:
    """Return a message of Chat Completions whose content is nothing but text; None of any other."""
    role, content = item["role"], item.get("content")
    if not isinstance(role, str) or not role or not (content is None or isinstance(content, str)):
        return None
    calls = tuple(_tool_calls(item.get("tool_calls"), where))
    identity = item.get("tool_call_id") if role in RESULT_ROLES else None
    name = text(item.get("name"), f"{where}: name") or None
    said = content if content or not calls else None
    return Message(_ROLES.get(role, role), said, calls, text(identity, f"{where}: tool_call_id") or None, name)


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
    content = item["parts"] if "parts" in item else item.get("content")
    if content is None and isinstance(item.get("refusal"), str):
        content = item["refusal"]
    calls, results, rest = _parts(content, where)
    # Some writers give a call twice: as a part, and beside the parts.
    in_parts = {call.id for call in calls if call.id}
    calls += [call for call in _tool_calls(_given_calls(item), where) if call.id not in in_parts]
    # Results of earlier calls come before the message; those of tools that the service ran for it come after.
    own = {call.id for call in calls}
    yield from (result for result in results if result.tool_call_id not in own)
    body = _content(rest, where)
    if content and rest == [] and not calls:
        return  # nothing but results, or reasoning
    # OpenTelemetry's events give the call's id as the id of the message.
    identity = first(item, "tool_call_id", "id") if role in RESULT_ROLES else None
    yield Message(
        role,
        body if body or not calls else None,
        tuple(calls),
        text(identity, f"{where}: tool_call_id") or None,
        text(item.get("name"), f"{where}: name") or None,
    )
    yield from (result for result in results if result.tool_call_id in own)


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
    for index, given in enumerate(content):
        if not isinstance(given, Mapping):
            rest.append(given)
            continue
        part, place = read_part(given), f"{where}, part {index}"
        shown = _ui_tool(given)
        if shown is not None:
            calls.append(_call(shown, given.get("input"), given.get("toolCallId"), place))
            # A call that did not fit has its raw input and the error.
            if given.get("state") in ("output-available", "output-error") and given.get("rawInput") is None:
                answer = _content(first(given, "output", "errorText"), place)
                results.append(Message("tool", answer, tool_call_id=calls[-1].id))
            continue
        kind = item_kind(given) if part.kind == "other" else None
        if kind in CALLS:  # as LangChain keeps the items of the Responses API
            name, arguments, result = read_call(given, str(kind))
            calls.append(_call(name, arguments, first(given, "call_id", "id"), place))
            if result is not None:
                results.append(Message("tool", result, tool_call_id=calls[-1].id))
        elif part.kind == "call":
            calls.append(_call(part.name, part.arguments, part.identity, place))
        elif part.kind == "result":
            identity, name = text(part.identity, f"{place}: id") or None, text(part.name, f"{place}: name") or None
            results.append(Message("tool", _content(part.answer, place), (), identity, name))
        elif part.kind != "thought":
            rest.append(given)
    return calls, results, rest


def _ui_tool(part: Mapping[str, Any]) -> object:
    """Return the tool of a part of Vercel's UI messages, which holds its call and its result; None of any other."""
    kind = part.get("type")
    if "toolCallId" not in part or not isinstance(kind, str):
        return None
    return part.get("toolName") if kind == "dynamic-tool" else kind[len("tool-") :] if kind[:5] == "tool-" else None


def _tool_calls(calls: object, where: str) -> list[ToolCall]:
    found = []
    for index, call in enumerate(sequence(calls, f"{where}: tool_calls")):
        place = f"{where}, tool call {index}"
        if isinstance(call, ToolCall):
            found.append(ToolCall(call.name, arguments_of(call.arguments), call.id))
            continue
        given = mapping(call, place)
        function = first(given, "function", "custom")
        body = function if isinstance(function, Mapping) else given
        name = function if isinstance(function, str) else body.get("name")  # Inspect has the name there
        found.append(_call(name, first(body, "arguments", "args", "input"), first(given, "id", "call_id"), place))
    return found


def _call(name: object, arguments: object, identity: object, where: str) -> ToolCall:
    if not isinstance(name, str) or not name:
        raise TrajectoryError(f"{where} has no 'name'")
    return ToolCall(name, arguments_of(arguments), text(identity, f"{where}: id") or None)


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
        pairs = zip(content, texts, strict=True)
        return tuple(part if said is None else {"type": "text", "text": said} for part, said in pairs)
    return as_text(content)  # the result of a tool: a list of its own


def _text_of(part: object) -> str | None:
    """Return the text of a part that is nothing but text."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    kind = part.get("type")
    if not isinstance(kind, str | None) or kind not in _TEXT_PARTS:
        return None
    said = first(part, "text", "content", "refusal")
    return said if isinstance(said, str) else None
