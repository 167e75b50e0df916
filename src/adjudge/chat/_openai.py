"""The OpenAI-compatible interface: what a request looks like there, and how its reply is read. Pure."""

import json
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from adjudge.chat._body import INSTRUCTION, decode_body, error_text, join_parts, read_count, read_text, require_object
from adjudge.chat._errors import MalformedReply
from adjudge.chat._key import cleaned
from adjudge.model import ChatReply, ChatRequest, ToolCall

__all__ = ["OpenAIShape", "read_completion"]

_SCHEMA_WORDS = ("response_format", "response format", "json_schema", "json schema", "structured output", "json mode")
_DECODING_WORDS = ("guided decoding", "guided_json", "grammar")
_TOO_LONG_WORDS = ("context length", "context size", "context window", "too large", "too long")


def read_completion(body: str) -> ChatReply:
    """Read the body of a reply; `MalformedReply` says what is wrong with it.

    >>> read_completion('{"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}').text
    'Paris'
    """
    whole = decode_body(body)
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices:
        problem = whole.get("error")
        text = f"the reply has an error in place of choices: {cleaned(error_text(problem))}".rstrip(": ")
        raise MalformedReply(text if problem else "the reply has no choices")
    choice = require_object(choices[0], "choice that can be read")
    message = require_object(choice.get("message"), "message")
    content = message.get("content")
    usage = whole.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ChatReply(
        text=join_parts(content, "content") if isinstance(content, list) else read_text(content, "content"),
        refusal=read_text(message.get("refusal"), "refusal"),
        finish_reason=read_text(choice.get("finish_reason"), "finish_reason"),
        prompt_tokens=read_count(usage.get("prompt_tokens")),
        completion_tokens=read_count(usage.get("completion_tokens")),
        raw=body,
    )


class OpenAIShape:
    """`/chat/completions`, as OpenAI, vLLM, llama.cpp, LiteLLM and many others serve it."""

    prefix = "openai"
    path = "/chat/completions"
    default_base_url = "https://api.openai.com/v1"
    base_url_name = "OPENAI_BASE_URL"
    key_name = "OPENAI_API_KEY"
    key_header = ("Authorization", "Bearer ")
    more_headers: ClassVar[Mapping[str, str]] = {}

    def body(self, request: ChatRequest, model: str, without: Collection[str]) -> dict[str, Any]:
        """Return the body, leaving out or renaming what the endpoint is known to reject."""
        messages: list[dict[str, Any]] = []
        for message in request.messages:
            content = message.content
            out = {"role": message.role, "content": list(content) if isinstance(content, tuple) else content}
            if message.name is not None:
                out["name"] = message.name
            if message.tool_call_id is not None:
                out["tool_call_id"] = message.tool_call_id
            if message.tool_calls:
                out["tool_calls"] = [_tool_call(call, number) for number, call in enumerate(message.tool_calls)]
            messages.append(out)
        body: dict[str, Any] = {"model": model, "messages": messages}
        if request.schema is not None:
            # The endpoint takes no schemas: ask for one in words.
            if "response_format" in without:
                body["messages"] = _asking_for_json(messages, request.schema)
            else:
                wanted: dict[str, Any] = {"name": "reply", "schema": request.schema}
                properties = request.schema.get("properties")
                # Only a closed object with every key required may be asked for strictly.
                if isinstance(properties, Mapping) and request.schema.get("additionalProperties") is False:
                    wanted["strict"] = set(request.schema.get("required") or ()) == set(properties)
                body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if request.max_tokens is not None:
            # Newer models of OpenAI reject `max_tokens` and take the other name.
            body["max_completion_tokens" if "max_tokens" in without else "max_tokens"] = request.max_tokens
        if request.temperature is not None and "temperature" not in without:
            body["temperature"] = request.temperature
        return body

    def rejected(self, detail: str, body: Mapping[str, Any]) -> str | None:
        """Name the part of a body that a 400 complains about, where the endpoint can be asked without it.

        >>> OpenAIShape().rejected("'response_format' is not supported", {"response_format": {}})
        'response_format'
        """
        text = detail.lower()
        if "response_format" in body and any(word in text for word in (*_SCHEMA_WORDS, *_DECODING_WORDS)):
            return "response_format"
        # What does not fit is the matter of one prompt, whatever limits are named with it.
        if any(words in text for words in _TOO_LONG_WORDS):
            return None
        return next((name for name in ("max_tokens", "temperature") if name in body and name in text), None)

    read = staticmethod(read_completion)


def _tool_call(call: ToolCall, number: int) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    return {
        "id": call.id or f"call_{number}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _asking_for_json(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask for the schema in words, in the system message: templates want one, and at the beginning."""
    wish = INSTRUCTION + json.dumps(schema, ensure_ascii=False)
    first = messages[0] if messages else None
    if first is not None and first["role"] == "system" and isinstance(first["content"], str):
        return [{**first, "content": f"{first['content']}\n\n{wish}"}, *messages[1:]]
    return [{"role": "system", "content": wish}, *messages]
