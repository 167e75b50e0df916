r"""What was said and which tools were called, message by message.

A message in the usual chat shape:

    {"role": "assistant", "content": "Let me look.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"Paris\"}"}}]}
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adjudge.errors import TrajectoryError

Part: TypeAlias = Mapping[str, Any]
"""One part of a message's content: `{"type": "text", "text": "..."}`, an image, ..."""

_KNOWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: what was asked for and, where it was executed, that it was.

    `arguments` stay as the model wrote them (JSON text, or a mapping where the record has one): nothing
    here reads or runs them.
    """

    name: str
    arguments: str | Mapping[str, Any] = ""
    id: str | None = None
    result: str | None = None
    requested: bool = True
    executed: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; keys that adjudge does not know are kept in `extra`."""

    role: str
    content: str | tuple[Part, ...] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the message; parts that are not text are left out.

        >>> Message("user", ({"type": "text", "text": "a "}, {"type": "image"}, {"text": "b"})).text
        'a b'
        """
        if self.content is None:
            return ""
        if isinstance(self.content, str):
            return self.content
        texts = (part.get("text") for part in self.content)
        return "".join(text for text in texts if isinstance(text, str))

    @classmethod
    def from_mapping(cls, message: Mapping[str, Any], *, where: str = "message") -> "Message":
        """Read the usual chat shape; `where` names the message in errors."""
        role = message.get("role")
        if not isinstance(role, str) or not role:
            raise TrajectoryError(f"{where} has no 'role'")
        return cls(
            role=role,
            content=_content(message.get("content"), where),
            tool_calls=_tool_calls(message.get("tool_calls"), where),
            tool_call_id=_text_or_none(message.get("tool_call_id"), f"{where}: tool_call_id"),
            name=_text_or_none(message.get("name"), f"{where}: name"),
            extra={key: value for key, value in message.items() if key not in _KNOWN_KEYS},
        )


def _text_or_none(value: object, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    # Some frameworks number their calls.
    if isinstance(value, int):
        return str(value)
    raise TrajectoryError(f"{where} must be text, got {type(value).__name__}")


def _content(content: object, where: str) -> str | tuple[Part, ...] | None:
    if content is None or isinstance(content, str):
        return content
    # One part, without a list around it.
    if isinstance(content, Mapping):
        return (content,)
    if isinstance(content, Sequence):
        return tuple(_part(part, where) for part in content)
    raise TrajectoryError(f"{where}: 'content' must be text or a list of parts, got {type(content).__name__}")


def _part(part: object, where: str) -> Part:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Mapping):
        return part
    raise TrajectoryError(f"{where}: a part of 'content' must be a mapping, got {type(part).__name__}")


def _tool_calls(calls: object, where: str) -> tuple[ToolCall, ...]:
    if calls is None:
        return ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise TrajectoryError(f"{where}: 'tool_calls' must be a list, got {type(calls).__name__}")
    return tuple(_tool_call(call, f"{where}: tool call {index}") for index, call in enumerate(calls))


def _tool_call(call: object, where: str) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    if not isinstance(call, Mapping):
        raise TrajectoryError(f"{where} must be a mapping, got {type(call).__name__}")
    # OpenAI has the name and the arguments under `function`, others have them beside the id.
    function = call.get("function")
    body = function if isinstance(function, Mapping) else call
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise TrajectoryError(f"{where} has no 'name'")
    arguments = body.get("arguments")
    if arguments is None:
        arguments = ""
    if not isinstance(arguments, str | Mapping):
        raise TrajectoryError(f"{where}: 'arguments' must be text or a mapping, got {type(arguments).__name__}")
    return ToolCall(name, arguments, _text_or_none(call.get("id"), f"{where}: id"))
