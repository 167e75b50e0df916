"""Which client speaks which interface."""

from typing import Any, Literal, TypeAlias, get_args

from adjudge.chat._client import ChatClient

__all__ = ["APIS", "Api", "client_of"]

Api: TypeAlias = Literal["openai", "anthropic", "litellm"]
"""The interfaces, by the word that stands before a model's name."""

APIS: tuple[str, ...] = get_args(Api)


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
