"""Messages that were recorded as they look in Python, as Haystack's are.

    ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[ToolCall(tool_name='search', arguments={}, id='c1')])

The text is parsed, never run: names, calls, lists, dictionaries and constants are all that is understood.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

_ENUM = re.compile(r"<\w+\.\w+: ('[^'\\]*')>")  # a member of an enumeration, as its value
_LONGEST = 1 << 20  # characters of one message
_KIND = ""  # the key of an object's class


def read_repr(text: str) -> Any:
    """Return what a text shows, None where it cannot be read; an object is its fields, with its class under "".

    >>> read_repr("Call(name='f', of=<Role.USER: 'user'>, arguments={'x': [1, -2]})")
    {'': 'Call', 'name': 'f', 'of': 'user', 'arguments': {'x': [1, -2]}}
    """
    if len(text) > _LONGEST:
        return None
    try:
        return _value(ast.parse(_ENUM.sub(r"\1", text), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return [_value(each) for each in node.elts]
        case ast.Dict():
            keys = [None if key is None else _value(key) for key in node.keys]
            return dict(zip(keys, map(_value, node.values), strict=True))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call(func=ast.Name(id=name), args=[]):
            return {_KIND: name, **{each.arg or "": _value(each.value) for each in node.keywords}}
    raise ValueError(node)


def read_haystack_message(text: object) -> Mapping[str, Any] | None:
    """Return a message of Haystack in the parts that everybody else writes; None where it cannot be read."""
    message = read_repr(text) if isinstance(text, str) else None
    if not isinstance(message, dict) or message.get(_KIND) != "ChatMessage":
        return None
    role, content = message.get("_role"), message.get("_content")
    if not isinstance(role, str) or not isinstance(content, list):
        return None
    parts = [_part(part) for part in content if isinstance(part, dict)]
    return {"role": role, "name": message.get("_name"), "parts": parts}


def _part(part: dict[str, Any]) -> Mapping[str, Any]:
    match part.get(_KIND):
        case "TextContent":
            return {"type": "text", "content": part.get("text")}
        case "ToolCall":
            return {
                "type": "tool_call",
                "id": part.get("id"),
                "name": part.get("tool_name"),
                "arguments": part.get("arguments"),
            }
        case "ToolCallResult":
            origin = part.get("origin")
            identity = origin.get("id") if isinstance(origin, dict) else None
            return {"type": "tool_call_response", "id": identity, "response": part.get("result")}
    return {"type": "reasoning"}
