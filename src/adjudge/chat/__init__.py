"""Talking to chat models: a thin client of OpenAI-compatible endpoints, and of Anthropic's.

    client = ChatClient("gpt-4.1-mini")
    reply = await client.complete(ChatRequest("gpt-4.1-mini", (Message("user", "Capital of France?"),)))
    reply.text, reply.refusal, reply.prompt_tokens

What passes is retried, what does not is raised, both with a code that stays the same; see `docs/how-to/chat.md`.
"""

from adjudge.chat._anthropic import AnthropicClient
from adjudge.chat._apis import Api, client_of, require_litellm
from adjudge.chat._client import ChatClient, check_base_url
from adjudge.chat._errors import (
    BadRequest,
    ChatError,
    ChatTimeout,
    MalformedReply,
    NotFound,
    QuotaExceeded,
    RateLimited,
    ServerFailed,
    Unauthorised,
    Unreachable,
)
from adjudge.chat._key import Key, cleaned

__all__ = [
    "AnthropicClient",
    "Api",
    "BadRequest",
    "ChatClient",
    "ChatError",
    "ChatTimeout",
    "Key",
    "MalformedReply",
    "NotFound",
    "QuotaExceeded",
    "RateLimited",
    "ServerFailed",
    "Unauthorised",
    "Unreachable",
    "check_base_url",
    "cleaned",
    "client_of",
    "require_litellm",
]
