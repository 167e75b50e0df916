"""Models behind the LiteLLM library: the providers are its work, retries, pace, deadlines and errors stay ours.

The package is an extra, loaded with the first question. A LiteLLM proxy server needs none of this: it is an
OpenAI-compatible endpoint.
"""

import asyncio
import json
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from adjudge.chat._apis import require_litellm
from adjudge.chat._body import decode_body, read_text
from adjudge.chat._client import ChatClient, Shape
from adjudge.chat._faults import as_chat_error
from adjudge.chat._key import Key
from adjudge.chat._openai import OpenAIShape, read_completion
from adjudge.errors import Caught
from adjudge.http import Again, AttemptTimeout, ConnectionFailed, HttpError, HttpReply, Request, hide
from adjudge.model import ChatReply

__all__ = ["LiteLLMClient"]

_HOST = "LiteLLM"
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_NO_KEY = ("missing credentials", "api_key", "api key")


class LiteLLMShape(OpenAIShape):
    """The library takes and gives what an OpenAI-compatible endpoint does."""

    prefix = "litellm"
    # Not an address: the library knows those of its providers.
    default_base_url = "litellm"
    base_url_name = "LITELLM_BASE_URL"
    key_name = "LITELLM_API_KEY"

    def read(self, body: str) -> ChatReply:
        """Read a reply; a refusal stands where the library keeps what only some providers have."""
        reply = read_completion(body)
        if reply.text is not None or reply.refusal is not None:
            return reply
        fields = decode_body(body)["choices"][0]["message"].get("provider_specific_fields")
        return (
            replace(reply, refusal=read_text(fields.get("refusal"), "refusal")) if isinstance(fields, dict) else reply
        )


class LiteLLMClient(ChatClient):
    """A model by its LiteLLM name (`anthropic/claude-sonnet-4-5`, `bedrock/...`), everything else as `ChatClient`.

    Without a key of ours (`api_key`, `LITELLM_API_KEY`) the library looks for its provider's own in the environment.
    """

    _shape: ClassVar[Shape] = LiteLLMShape()

    def __init__(
        self, model: str, *, base_url: str | None = None, api_key: str | Path | None = None, **limits: Any
    ) -> None:
        require_litellm()
        super().__init__(model, base_url=base_url, api_key=api_key, **limits)

    async def _send(self, data: bytes, left_s: float) -> ChatReply:
        # The import takes seconds: too long for an event loop.
        library = await asyncio.to_thread(_load)
        given = {"api_key": self._key.reveal(), "api_base": None if self.base_url == "litellm" else self.base_url}
        options = {name: value for name, value in given.items() if value is not None}
        limit = self._http.limits.attempt_timeout_s

        async def ask(request: Request) -> HttpReply | Again:
            """Ask once. What the library raises holds the request with its headers: it goes no further than here."""
            body = json.loads(request.body or b"{}")
            with Caught(fatal_too=True) as caught:
                # Its own retries are off: ours see the budget, the pace and the deadline.
                reply = await library.acompletion(**body, **options, timeout=limit, num_retries=0, max_retries=0)
                return HttpReply(200, {}, _hidden(reply.model_dump_json(), self._key).encode())
            return _failure(library, caught.error, self._key)

        request = Request(f"litellm://{_HOST}", data)
        try:
            return await self._http.send(request, self._read, deadline_s=max(left_s, 1e-3), exchange=ask)
        except HttpError as error:
            failure = as_chat_error(error)
        raise failure


def _failure(library: Any, error: BaseException | None, key: Key) -> HttpReply | Again:
    """Return what the library raised as the reply, or the lack of one, that was behind it."""
    text = _hidden(str(error), key)
    if isinstance(error, library.exceptions.Timeout):
        return Again(AttemptTimeout(f"{_HOST}: {text[:300]}"))
    status = getattr(error, "status_code", None)
    # Some connection errors carry a status that no server sent.
    if isinstance(error, library.exceptions.APIConnectionError) or not isinstance(status, int) or status < 400:
        return Again(ConnectionFailed(f"{_HOST}: {text[:300]}"))
    given = getattr(error, "litellm_response_headers", None) or {}
    if not given and any(words in text.lower() for words in _NO_KEY):
        # The library says 500, but it called nobody and never will without a key.
        status = 401
    headers = {str(name).lower(): str(value) for name, value in dict(given).items()}
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    return HttpReply(status, headers, json.dumps({"error": {"message": text, "code": code}}).encode())


def _load() -> Any:
    """Load the library: no look at the network for prices, no advertisement on standard output."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    library: Any = import_module("litellm")
    library.suppress_debug_info = True
    return library


def _hidden(text: str, key: Key) -> str:
    """Return text without our key or any of the environment: the library finds more of them than we know of."""
    known = [value for name, value in os.environ.items() if any(word in name.upper() for word in _SECRETS)]
    return key.hidden(hide(text.encode("utf-8", "replace"), *known)).decode("utf-8", "replace")
