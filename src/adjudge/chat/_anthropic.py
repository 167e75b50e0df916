"""Anthropic's messages interface: what a request looks like there, and how its reply is read."""

import json
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from adjudge.chat._body import INSTRUCTION, decode_body, join_parts, read_count, read_text, require_object
from adjudge.chat._client import ChatClient
from adjudge.chat._errors import MalformedReply
from adjudge.model import ChatReply, ChatRequest, Message

__all__ = ["AnthropicClient", "AnthropicShape", "read_message"]

_MAX_TOKENS = 4096
"""The interface wants a bound: this one where the request has none."""

_TOOL = "reply"


class AnthropicShape:
    """`/messages`. A schema is asked for as the input of a tool that has to be called."""

    prefix = "anthropic"
    path = "/messages"
    default_base_url = "https://api.anthropic.com/v1"
    base_url_name = "ANTHROPIC_BASE_URL"
    key_name = "ANTHROPIC_API_KEY"
    key_header = ("x-api-key", "")
    more_headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}

    def body(self, request: ChatRequest, model: str, without: Collection[str]) -> dict[str, Any]:
        """Return the body, leaving out what the endpoint is known to reject."""
        # This interface takes the system text apart from the messages.
        system = [message.text for message in request.messages if message.role == "system"]
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": _MAX_TOKENS if request.max_tokens is None else request.max_tokens,
            "messages": [_message(message) for message in request.messages if message.role != "system"],
        }
        if request.schema is not None:
            if "tools" in without:
                system.append(INSTRUCTION + json.dumps(request.schema, ensure_ascii=False))
            else:
                body["tools"] = [{"name": _TOOL, "description": "Give the reply.", "input_schema": request.schema}]
                body["tool_choice"] = {"type": "tool", "name": _TOOL}
        if system:
            body["system"] = "\n\n".join(system)
        if request.temperature is not None and "temperature" not in without:
            body["temperature"] = request.temperature
        return body

    def rejected(self, detail: str, body: Mapping[str, Any]) -> str | None:
        """Name the part of a body that a 400 complains about, where the endpoint can be asked without it."""
        text = detail.lower()
        if "tools" in body and any(word in text for word in ("tool", "input_schema")):
            return "tools"
        return "temperature" if "temperature" in body and "temperature" in text else None

    def read(self, body: str) -> ChatReply:
        """Read a reply."""
        return read_message(body)


class AnthropicClient(ChatClient):
    """A client of Anthropic's messages interface; its key is `ANTHROPIC_API_KEY`, everything else as `ChatClient`."""

    _shape = AnthropicShape()


def read_message(body: str) -> ChatReply:
    """Read the body of a reply; `MalformedReply` says what is wrong with it.

    >>> read_message('{"content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn"}').text
    'Paris'
    """
    whole = decode_body(body)
    content = whole.get("content")
    if not isinstance(content, list):
        raise MalformedReply("the reply has no content")
    text = join_parts(content, "content")
    # The forced tool call carries the JSON; text beside it is chatter.
    for part in content:
        if part.get("type") == "tool_use" and part.get("name") == _TOOL:
            text = json.dumps(require_object(part.get("input"), "input of its tool"), ensure_ascii=True)
            break
    reason = read_text(whole.get("stop_reason"), "stop_reason")
    refused = reason == "refusal"
    usage = whole.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ChatReply(
        text=None if refused else text,
        refusal=(text or "refused") if refused else None,
        finish_reason=reason,
        prompt_tokens=read_count(usage.get("input_tokens")),
        completion_tokens=read_count(usage.get("output_tokens")),
        raw=body,
    )


def _message(message: Message) -> dict[str, Any]:
    role = "assistant" if message.role == "assistant" else "user"
    if message.content is None or isinstance(message.content, str):
        return {"role": role, "content": message.content or ""}
    return {"role": role, "content": [_part(part) for part in message.content]}


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn an image in the OpenAI shape into one of this interface; everything else passes."""
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else image
    if part.get("type") != "image_url" or not isinstance(url, str):
        return part
    head, comma, data = url.partition(",")
    if url.startswith("data:") and comma and head.endswith(";base64"):
        kind = head.removeprefix("data:").removesuffix(";base64")
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
    return {"type": "image", "source": {"type": "url", "url": url}}
