"""The answers of a scripted model, in the form that the call asks for."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from adjudge.testing._calls import ChatCall

__all__ = ["Reply", "call_tool", "correct", "reply_body", "reply_chunks", "scores", "verdict", "wrong"]

VerdictWord: TypeAlias = Literal["CORRECT", "WRONG"]

_EITHER = re.compile(r"[<\[({\"'`]*\b(?:CORRECT|WRONG)\b(?:\s*(?:or|and|/|\||,)\s*\b(?:CORRECT|WRONG)\b)+[>\])}\"'`]*")
_QUOTED = re.compile(r"[`\"“]([^`\"”]+)[`\"”]")
_NONCE = re.compile(r"(?=[0-9A-Za-z]*[0-9])[0-9A-Za-z]{6,}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer: its text (None for null content), a refusal, or calls of tools; with the tokens it reports."""

    text: str | None = ""
    refusal: str | None = None
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tools: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def call_tool(name: str, /, **arguments: Any) -> Reply:
    """Ask for a call of a tool.

    >>> call_tool("get_weather", city="Oslo").tools
    (('get_weather', {'city': 'Oslo'}),)
    """
    return Reply(None, finish_reason="tool_calls", tools=((name, arguments),))


def correct(call: ChatCall) -> str:
    """Answer CORRECT in the form that the call asks for; a script for a judge that accepts everything."""
    return verdict(call, "CORRECT")


def wrong(call: ChatCall) -> str:
    """Answer WRONG in the form that the call asks for."""
    return verdict(call, "WRONG")


def verdict(call: ChatCall, word: VerdictWord) -> str:
    """Write a verdict as JSON by the call's schema, or on the line that carries the prompt's nonce, or plainly."""
    if call.schema is not None:
        return json.dumps(_by_schema(call.schema, word, 1.0 if word == "CORRECT" else 0.0))
    return _nonce_line(call.prompt, word) or word


def scores(call: ChatCall, value: float) -> str:
    """Write rubric scores as JSON: every number that the call's schema names is `value`."""
    schema = call.schema or {"properties": {"score": {"type": "number"}}}
    return json.dumps(_by_schema(schema, "CORRECT", value))


def _by_schema(schema: dict[str, Any], word: str, value: float) -> Any:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return next((choice for choice in choices if str(choice).upper() == word), choices[0])
    kind = schema.get("type")
    # Of several types the first that is a value is filled in.
    kind = next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return {name: _by_schema(one, word, value) for name, one in properties.items() if isinstance(one, dict)}
    plain = {"number": value, "integer": round(value), "boolean": value >= 0.5, "array": [], "object": {}, "null": None}
    return plain.get(str(kind), f"as scripted: {word}")


def _nonce_line(prompt: str, word: str) -> str | None:
    """Find the line on which the prompt asks for a verdict with a nonce, and fill it in; the last one counts."""
    for line in reversed(prompt.splitlines()):
        # The template may be quoted inside a sentence: the quoted part is then the line to fill in.
        pieces: list[str] = [*_QUOTED.findall(line), line]
        for piece in pieces:
            # Without the nonce it is not the line that the prompt asks for.
            if _NONCE.search(piece) is None:
                continue
            filled, count = _EITHER.subn(word, piece)
            if count:
                return filled.strip()
            if re.search(rf"\b{word}\b", piece):
                return piece.strip()
    return None


def reply_body(call: ChatCall, reply: Reply) -> dict[str, Any]:
    """Return the reply's JSON in the shape of the interface that was called."""
    if call.shape == "anthropic":
        return _anthropic_body(call, reply)
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tools:
        message["tool_calls"] = [
            {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for identity, name, arguments in _numbered(call, reply)
        ]
    prompt_tokens, completion_tokens = _tokens(call, reply)
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": call.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def reply_chunks(call: ChatCall, reply: Reply) -> Iterator[dict[str, Any]]:
    """Yield the reply as a stream of `/chat/completions` has it: what it says, its end, its tokens."""
    whole = reply_body(call, reply)
    (choice,) = whole["choices"]
    delta = choice["message"]
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": index, **one} for index, one in enumerate(delta["tool_calls"])]
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**head, "choices": [], "usage": whole["usage"]}


def _numbered(call: ChatCall, reply: Reply) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the calls of tools, each with an id that no other reply of the server has."""
    for index, (name, arguments) in enumerate(reply.tools):
        yield f"call_{call.number}_{index}", name, arguments


def _anthropic_body(call: ChatCall, reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    reason = {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish_reason, reply.finish_reason)
    if reply.tools:
        uses = _numbered(call, reply)
        content = [{"type": "tool_use", "id": one, "name": name, "input": dict(given)} for one, name, given in uses]
        reason = "tool_use"
    elif reply.refusal is not None:
        content, reason = [{"type": "text", "text": reply.refusal}], "refusal"
    elif reply.text is not None and call.schema is not None:
        try:
            filled = json.loads(reply.text)
        except ValueError:
            content = [{"type": "text", "text": reply.text}]
        else:
            content, reason = [{"type": "tool_use", "id": "toolu_1", "name": "reply", "input": filled}], "tool_use"
    elif reply.text is not None:
        content = [{"type": "text", "text": reply.text}]
    prompt_tokens, completion_tokens = _tokens(call, reply)
    return {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": reason,
        "usage": {"input_tokens": prompt_tokens, "output_tokens": completion_tokens},
    }


def _tokens(call: ChatCall, reply: Reply) -> tuple[int, int]:
    """Count tokens as a quarter of the bytes, where the script does not say."""
    said = len((reply.text or reply.refusal or "").encode("utf-8", "surrogatepass"))
    prompt_tokens = len(call.body) // 4 if reply.prompt_tokens is None else reply.prompt_tokens
    return prompt_tokens, said // 4 + 1 if reply.completion_tokens is None else reply.completion_tokens
