"""What every chat interface has in common: reading JSON that others wrote, without trusting its shape."""

from collections.abc import Mapping
from typing import Any

from adjudge.chat._errors import MalformedReply
from adjudge.errors import RowError

__all__ = [
    "INSTRUCTION",
    "decode_body",
    "error_text",
    "join_parts",
    "read_count",
    "read_text",
    "read_usage",
    "require_object",
]

INSTRUCTION = "Reply with one JSON object and nothing else. It has to follow this JSON schema:\n"
"""How a prompt asks for the schema where an endpoint does not take one."""

_LARGEST_COUNT = 2**53


def decode_body(body: str) -> Mapping[str, Any]:
    """Read a reply's body as a JSON object."""
    from adjudge.model import decode_json

    try:
        value = decode_json(body)
    except RowError as error:
        detail = error.message
    else:
        if isinstance(value, dict):
            return value
        detail = f"a JSON {type(value).__name__} where an object should be"
    # A proxy or a wrong path often answers with a page.
    if body.lstrip()[:1] == "<":
        detail = "a web page"
    raise MalformedReply(f"the reply is not a chat reply: {detail}")


def require_object(value: object, what: str) -> Mapping[str, Any]:
    """Return a part of a reply that has to be an object."""
    if not isinstance(value, dict):
        raise MalformedReply(f"the reply has no {what}")
    return value


def error_text(error: object) -> str:
    """Return what the `error` of a body says, in the usual shape or as text; empty where it says nothing.

    >>> error_text({"message": "no such model", "code": "model_not_found"})
    'no such model | model_not_found'
    """
    if isinstance(error, dict):
        words = [error.get(name) for name in ("message", "param", "code")]
        return " | ".join(word for word in words if isinstance(word, str) and word)
    return error if isinstance(error, str) else ""


def read_text(value: object, what: str) -> str | None:
    r"""Return a part of a reply that has to be text or null; halves of surrogate pairs in it are replaced.

    >>> read_text("a\ud800b", "content")
    'a\ufffdb'
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise MalformedReply(f"{what} is not text")
    # JSON can hold half a surrogate pair, a file cannot.
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def join_parts(parts: list[Any], what: str) -> str | None:
    """Return the text of a list of content parts; None where none of them is text."""
    texts = []
    for part in parts:
        text = require_object(part, f"{what} that can be read").get("text")
        if isinstance(text, str):
            texts.append(read_text(text, what) or "")
    return "".join(texts) if texts else None


def read_count(value: object) -> int | None:
    """Return a number of tokens, where it is one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT:
        return value
    return None


def read_usage(body: bytes) -> tuple[int, int]:
    """Return the tokens that a reply reports for prompt and completion, whatever else is wrong with it.

    >>> read_usage(b'{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": "many"}}')
    (7, 0)
    """
    try:
        usage = decode_body(body.decode("utf-8", "replace")).get("usage")
    except MalformedReply:
        return 0, 0
    usage = usage if isinstance(usage, dict) else {}
    prompt, completion = (
        next((count for name in names if (count := read_count(usage.get(name))) is not None), 0)
        for names in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    return prompt, completion
