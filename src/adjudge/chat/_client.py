"""A chat model behind HTTP."""

import os
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from adjudge.chat._errors import BadRequest, Unauthorised
from adjudge.chat._faults import as_chat_error, read_reply
from adjudge.chat._key import Key
from adjudge.chat._openai import OpenAIShape
from adjudge.errors import RowError, UsageError
from adjudge.http import AddressRefused, HttpClient, HttpError, Limits, Request, check_url
from adjudge.model import ChatReply, ChatRequest

if TYPE_CHECKING:
    from types import TracebackType


__all__ = ["ChatClient", "check_base_url"]

SCHEMA_UNSUPPORTED = "schema-unsupported"
SCHEMA_PARTS = ("response_format", "tools")
"""The parts of requests that carry a schema."""


class Shape(Protocol):
    """One interface: where it is, what a request looks like, how a reply is read."""

    prefix: str
    path: str
    default_base_url: str
    base_url_name: str
    key_name: str
    key_header: tuple[str, str]
    """The header that carries the key, and the words before the key in it."""
    more_headers: ClassVar[Mapping[str, str]]

    def body(self, request: ChatRequest, model: str, without: Collection[str]) -> dict[str, Any]:
        """Return the body, leaving out what the endpoint is known to reject."""
        ...

    def rejected(self, detail: str, body: Mapping[str, Any]) -> str | None:
        """Name the part of a body that a 400 complains about, where the endpoint can be asked without it."""
        ...

    def read(self, body: str) -> ChatReply:
        """Read a reply."""
        ...


class ChatClient:
    """A chat model at an OpenAI-compatible endpoint.

    `base_url` is the argument, `OPENAI_BASE_URL` or OpenAI's own. The key is the argument (a `Path` is a file that
    holds it), `OPENAI_API_KEY`, or the file that `OPENAI_API_KEY_FILE` names; all are read when first used. Nothing is
    contacted before the first question.

    A `schema` is asked for as structured output; where the endpoint rejects that, in words from then on, and
    `structured` is False. With `in_words=False` it is not: the error is `schema-unsupported`. An endpoint whose error
    names the rejected part is believed; one that only mentions it must have been right about two questions.

    `in_flight` calls at once are never exceeded; `deadline_s` is for one question in total, waits and retries included.
    """

    _shape: ClassVar[Shape] = OpenAIShape()

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | Path | None = None,
        in_flight: int = 64,
        attempts: int = 8,
        attempt_timeout_s: float = 60.0,
        deadline_s: float = 120.0,
        in_words: bool = True,
    ) -> None:
        self.model = model
        self._in_words = in_words
        self._base_url = None if base_url is None else check_base_url(base_url)
        self._key = Key(api_key, self._shape.key_name)
        limits = Limits(
            in_flight=in_flight, attempts=attempts, attempt_timeout_s=attempt_timeout_s, deadline_s=deadline_s
        )
        # The name that provenance has.
        self.name = f"{self._shape.prefix}:{model}"
        # The endpoint is asked for structured output by schema until it rejects that.
        self.structured = True
        self._http = HttpClient(limits, proxied=True)
        self._read = partial(read_reply, read=self._shape.read, key=self._key)
        self._without: frozenset[str] = frozenset()
        self._guesses = Counter[str]()

    @property
    def base_url(self) -> str:
        """Where the model is asked: the same name at another address is another model."""
        return self._base_url or self._default_base_url()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request; every failure is a `ChatError` with a code."""
        from adjudge.model import encode_json

        # What the endpoint rejects is asked for again without it, within the time of one question.
        deadline = time.monotonic() + self._http.limits.deadline_s
        model = request.model or self.model
        guessed: set[str] = set()
        while True:
            without = self._without | guessed
            if request.schema is not None and not (self._in_words or self.structured):
                raise BadRequest("the endpoint does not take JSON schemas", code=SCHEMA_UNSUPPORTED)
            try:
                body = self._shape.body(request, model, without)
                data = encode_json(body)
            except (RowError, TypeError, ValueError, RecursionError) as error:
                raise BadRequest(f"the request cannot be written as JSON: {error}") from None
            try:
                reply = await self._send(data, deadline - time.monotonic())
            except BadRequest as error:
                rejected = self._shape.rejected(error.param or error.detail, body)
                if rejected is None or rejected in without:
                    raise
                # A named parameter is believed. Words are a guess: they may quote the prompt of this one question.
                if error.param is not None:
                    self._leave_out(rejected)
                elif rejected in SCHEMA_PARTS and not self._in_words:
                    refused = BadRequest(error.message, code=SCHEMA_UNSUPPORTED)
                    refused.is_guess = True
                    raise refused from None
                else:
                    guessed.add(rejected)
                continue
            # What helped two questions is the endpoint's rule: the next one is not rejected first.
            for part in guessed:
                self._guesses[part] += 1
                if self._guesses[part] > 1:
                    self._leave_out(part)
            if not without:
                return reply
            wanted = self._shape.body(request, model, ())
            return replace(reply, left_out=tuple(name for name in wanted if name not in body))

    def _leave_out(self, part: str) -> None:
        """Send no later request with that part."""
        self._without |= {part}
        self.structured = self._without.isdisjoint(SCHEMA_PARTS)

    async def close(self) -> None:
        """Close every connection; later questions are refused."""
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    async def _send(self, data: bytes, left_s: float) -> ChatReply:
        request = Request(f"{self.base_url}{self._shape.path}", data, headers=self._headers)
        try:
            return await self._http.send(request, self._read, deadline_s=max(left_s, 1e-3))
        except HttpError as error:
            failure = as_chat_error(error)
        raise failure

    def _headers(self) -> dict[str, str]:
        key = self._key.reveal()
        # Another address may need no key; the vendor itself always does.
        if key is None and self._base_url is None and self._default_base_url() == self._shape.default_base_url:
            raise Unauthorised(f"there is no key: set {self._shape.key_name} or give api_key", code="no-key")
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "adjudge",
            **self._shape.more_headers,
        }
        if key is not None:
            header, words = self._shape.key_header
            headers[header] = f"{words}{key}"
        return headers

    def _default_base_url(self) -> str:
        found = os.environ.get(self._shape.base_url_name)
        return check_base_url(found) if found else self._shape.default_base_url


def check_base_url(base_url: str) -> str:
    """Return a base URL without its last slash; one that can never work is the caller's mistake."""
    try:
        check_url(base_url)
    except AddressRefused as error:
        raise UsageError(f"the base URL cannot be used: {error.message}", code="bad-base-url") from None
    if "?" in base_url or "#" in base_url:
        raise UsageError("the base URL cannot be used: it has a query or a fragment", code="bad-base-url")
    return base_url.rstrip("/")
