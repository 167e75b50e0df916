r"""What was said and which tools were called, message by message.

A message in the usual chat shape:

    {"role": "assistant", "content": "Let me look.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"Paris\"}"}}]}
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adjudge.errors import TrajectoryError

Part: TypeAlias = Mapping[str, Any]
"""One part of a message's content: `{"type": "text", "text": "..."}`, an image, ..."""

_KNOWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
# What frameworks and their guides call the argument by which an agent is asked as a tool.
_IN_WORDS = frozenset(
    {"input", "instruction", "instructions", "message", "prompt", "query", "question", "request", "task"}
)
# Two words in a row, or a sentence of a script without spaces; data begin with a bracket.
_WORDS = re.compile(r"[^{\[<]*?(?:[^\W\d_]{2,}[ ,;:'\u2019]+[^\W\d_]{2,}|[\u3002\uff01\uff1f])")
_LOOKED_AT = 300  # characters of a result


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

    @property
    def is_asked_in_words(self) -> bool:
        """Whether it ran and was asked something in words, as an agent is: then it may be one, whatever its name.

        >>> ToolCall("desk", {"query": "Oslo?"}, executed=True).is_asked_in_words
        True
        >>> ToolCall("get_weather", {"city": "Oslo"}, executed=True).is_asked_in_words
        False
        """
        was_called = self.requested and self.executed
        return was_called and isinstance(self.arguments, Mapping) and not _IN_WORDS.isdisjoint(self.arguments)

    @property
    def is_conversation(self) -> bool:
        """Whether it was asked something in words and nothing else, and answered in words: a sign of an agent.

        The `query` of a search is key words; a sentence is for somebody who reads it.

        >>> ToolCall("desk", {"query": "Is it cold?"}, result="It is cold.", executed=True).is_conversation
        True
        >>> ToolCall("search", {"query": "oslo weather"}, result="It is cold.", executed=True).is_conversation
        False
        """
        if not self.is_asked_in_words or not isinstance(self.arguments, Mapping) or len(self.arguments) > 1:
            return False
        ((name, asked),) = self.arguments.items()
        if not isinstance(asked, str) or (name == "query" and not asked.rstrip().endswith((".", "?", "!"))):
            return False
        return _WORDS.match((self.result or "").lstrip()[:_LOOKED_AT]) is not None


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
