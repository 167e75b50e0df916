"""Which client speaks which interface."""

from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from adjudge.chat._client import ChatClient
from adjudge.errors import MissingExtra

__all__ = ["Api", "client_of", "require_litellm"]

Api: TypeAlias = Literal["openai", "anthropic", "litellm"]
"""The interfaces, by the word that stands before a model's name."""


def client_of(api: Api, model: str, **options: Any) -> ChatClient:
    """Return a client of that interface; `options` are those of `ChatClient`.

    >>> client_of("anthropic", "claude-sonnet-4-5").name
    'anthropic:claude-sonnet-4-5'
    """
    if api == "anthropic":
        from adjudge.chat._anthropic import AnthropicClient

        return AnthropicClient(model, **options)
    if api == "litellm":
        from adjudge.chat._litellm import LiteLLMClient

        return LiteLLMClient(model, **options)
    return ChatClient(model, **options)


def require_litellm() -> None:
    """Raise `MissingExtra`, which names the install, where LiteLLM is missing; it is looked for, not loaded."""
    if find_spec("litellm") is None:
        raise MissingExtra.of("litellm", "a model named litellm:MODEL")
