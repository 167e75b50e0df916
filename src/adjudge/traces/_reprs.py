"""Messages that were recorded as they look in Python, as Haystack's are.

    ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[ToolCall(tool_name='search', arguments={}, id='c1')])

The text is scanned once, never run: objects with named fields, lists, dictionaries, texts and numbers are all that is
understood.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.traces._values import DEPTH

_KIND = ""  # the key of an object's class
_TOKEN = re.compile(
    r"""\s*(?:
        <\w+\.\w+:\ (?P<member>'[^'\\]*')>                     # of an enumeration: its value counts
      | (?P<text>'(?:[^'\\]++|\\.)*+' | "(?:[^"\\]++|\\.)*+")
      | (?P<number>-?[0-9]{1,300}(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<mark>[][(){},:=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"None": None, "True": True, "False": False}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def read_repr(text: str) -> Any:
    """Return what a text shows, None where it cannot be read; an object is its fields, with its class under "".

    >>> read_repr("Call(name='f', of=<Role.USER: 'user'>, arguments={'x': [1, -2.5]})")
    {'': 'Call', 'name': 'f', 'of': 'user', 'arguments': {'x': [1, -2.5]}}
    """
    try:
        tokens = _Tokens(text)
        value = tokens.value(0)
    except ValueError:
        return None
    return value if tokens.kind == "end" else None


class _Tokens:
    """The tokens of a text, one at a time: `kind` and `token` are those of the next."""

    def __init__(self, text: str) -> None:
        self._rest = self._scan(text)
        self.kind, self.token = next(self._rest)

    @staticmethod
    def _scan(text: str) -> Iterator[tuple[str, str]]:
        here, end = 0, len(text.rstrip())
        while here < end:
            found = _TOKEN.match(text, here)
            if found is None or found.lastgroup is None:
                raise ValueError(here)
            here = found.end()
            yield found.lastgroup, found[found.lastgroup]
        while True:
            yield "end", ""

    def step(self) -> str:
        """Go on to the next token; return the one before."""
        before = self.token
        self.kind, self.token = next(self._rest)
        return before

    def expect(self, mark: str) -> None:
        if self.kind != "mark" or self.token != mark:
            raise ValueError(mark)
        self.step()

    def value(self, depth: int) -> Any:
        """Read one value, with all that is inside it."""
        if depth > DEPTH:
            raise ValueError(depth)
        kind, word = self.kind, self.step()
        if kind in ("text", "member"):
            return _ESCAPE.sub(_unescape, word[1:-1])
        if kind == "number":
            return int(word) if word.lstrip("-").isdigit() else float(word)
        if kind == "name" and word in _CONSTANTS:
            return _CONSTANTS[word]
        if kind == "name":
            self.expect("(")
            return {_KIND: word, **dict(self._pairs(")", "=", depth))}
        if kind != "mark" or word not in _CLOSING:
            raise ValueError(word)
        if word == "{":
            return dict(self._pairs("}", ":", depth))
        return list(self._items(_CLOSING[word], depth))

    def _items(self, closing: str, depth: int) -> Iterator[Any]:
        while self.token != closing or self.kind != "mark":
            yield self.value(depth + 1)
            if self.token != closing:
                self.expect(",")
        self.step()

    def _pairs(self, closing: str, between: str, depth: int) -> Iterator[tuple[Any, Any]]:
        while self.token != closing or self.kind != "mark":
            key = self.step() if between == "=" else self.value(DEPTH)
            self.expect(between)
            yield key if isinstance(key, str) else str(key), self.value(depth + 1)
            if self.token != closing:
                self.expect(",")
        self.step()


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[4], found[4])


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
