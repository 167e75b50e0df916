"""One call as the server received it, parsed only when it is used."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

__all__ = ["ChatCall", "Shape"]

Shape: TypeAlias = Literal["openai", "anthropic"]
"""Which interface was called: `/chat/completions` or `/messages`."""


@dataclass(frozen=True)
class ChatCall:
    """One call of the server: `number` counts all calls from 0, `repeat` the earlier ones with the same body."""

    number: int
    repeat: int
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def shape(self) -> Shape:
        """The interface that was called."""
        return "anthropic" if self.path.partition("?")[0].endswith("/messages") else "openai"

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body, read as JSON; empty where it is not JSON."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.json.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages; the system text of a messages call comes first."""
        listed = self.json.get("messages")
        messages = [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []
        system = self.json.get("system")
        return messages if system is None else [{"role": "system", "content": system}, *messages]

    @property
    def prompt(self) -> str:
        """The text of all messages, one after another."""
        return "\n".join(_text(message.get("content")) for message in self.messages)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the reply is asked to follow, if any."""
        wanted = self.json.get("response_format")
        if isinstance(wanted, dict):
            wanted = wanted.get("json_schema")
            wanted = wanted.get("schema") if isinstance(wanted, dict) else None
        elif isinstance(tools := self.json.get("tools"), list) and tools and isinstance(tools[0], dict):
            # Anthropic's interface has no schemas: they are asked for as the input of a tool.
            wanted = tools[0].get("input_schema")
        return wanted if isinstance(wanted, dict) else None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
