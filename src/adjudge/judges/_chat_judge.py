"""What all judges that ask a chat model share: writing the request (pure), asking, reading the reply (pure).

A judge asks at most twice: where a reply cannot be read it asks once more, then the row is unscored. A refusal is an
answer, so it does not ask again. A failure of the service is an error with its reason; one that is `fatal` (a wrong
key, a spent budget) is raised, because every further call would fail too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from adjudge.errors import AdjudgeError, UsageError
from adjudge.model import ChatModel, ChatReply, ChatRequest, Judgement, asking
from adjudge.prompts import (
    Fields,
    Form,
    Prompt,
    RubricReading,
    UnreadableReply,
    VerdictReading,
    load_prompt,
    nonce_of,
)

if TYPE_CHECKING:
    from adjudge.chat import ChatClient
    from adjudge.model import Ask

SCHEMA_UNSUPPORTED = "schema-unsupported"

_OPENING = re.compile(r"\A\s*`{3,}[^\n`]*\n")
_NO_WORD = re.compile(r"[\W_]+")


class Read(Protocol):
    """Reads a reply's text, given the nonce it was asked with; raises `UnreadableReply`."""

    def __call__(self, reply: str, *, nonce: str | None) -> VerdictReading | RubricReading:
        """Return what the reply says."""
        ...


@dataclass(eq=False)
class ChatJudge:
    """A judge that asks a chat model; `LLMJudge` and `RubricJudge` say what about.

    `chat` answers the requests; without it, the first request makes a client for `model` at `base_url`, with the
    interface `api` and at most `attempts` attempts a request.
    `secret` is the key of the nonces that some requests carry: with the same bytes the same question is the same
    request. `structured=False` asks for the answer on a line with a nonce from the start; otherwise that happens only
    where the endpoint does not support JSON schemas. `gate=False` sends vacuous responses to the model, too. `sample`
    separates several answers to one question: another number is another request.
    """

    model: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    _: KW_ONLY
    chat: ChatModel | None = None
    secret: bytes | None = field(default=None, repr=False)
    prompt: Prompt | str = ""
    structured: bool = True
    gate: bool = True
    max_tokens: int | None = 1024
    temperature: float | None = 0.0
    max_response: int = 200_000
    api: Literal["openai", "anthropic", "litellm"] = "openai"
    attempts: int = 8
    sample: int = 0
    name: str = ""
    version: str = field(default="", init=False)
    prompt_hash: str = field(default="", init=False)
    _slots = MappingProxyType[str, bool]({})
    """The slots that the prompt must have, and whether each takes a list."""

    def __post_init__(self) -> None:
        """Check what was given, and load the prompt."""
        if not self.model and self.chat is None:
            raise UsageError("a judge needs the name of a model, or a chat model")
        # A wrong kind would fail later, in every single request.
        kinds: dict[str, type | UnionType] = {"base_url": str, "temperature": int | float, "max_tokens": int}
        for option, kind in kinds.items():
            value = getattr(self, option)
            if value is not None and not isinstance(value, kind):
                raise UsageError(f"{option} of a judge cannot be {value!r}", code="bad-option")
        if self.base_url is not None:
            from adjudge.chat import check_base_url

            check_base_url(self.base_url)  # now, not with the first request: by then a run file has it
        self.name = self.name or (f"{self.api}:{self.model}" if self.chat is None else self.chat.name)
        self.model = self.model or self.name
        self._prompt = load_prompt(self.prompt) if isinstance(self.prompt, str) else self.prompt
        if self._prompt.slots != self._slots:
            slots = ", ".join(f"{name}*" if is_list else name for name, is_list in self._slots.items())
            raise UsageError(f"prompt {self._prompt.name} must have the slots {slots}")
        if self.secret is None:
            from os import urandom

            self.secret = urandom(32)
        self._refusals = 0  # from 2 on the endpoint is known to refuse schemas
        self.version = self._prompt.name
        self.prompt_hash = self._prompt.hash

    @property
    def chats(self) -> Mapping[str, ChatModel]:
        """The chat models that answer this judge's requests, by the `model` of the request."""
        if self.chat is None:
            self.chat = self.client()
        return {self.model: self.chat}

    def client(self, **limits: Any) -> ChatClient:
        """Return a new client for this judge's model; `limits` are those of `ChatClient`. The caller closes it."""
        from adjudge.chat import client_of

        given: dict[str, Any] = {"base_url": self.base_url, "api_key": self.api_key, "attempts": self.attempts}
        # Without schemas the judge asks with a nonce: the client must not ask for JSON in words instead.
        return client_of(self.api, self.model, in_words=False, **{**given, **limits})

    def request(
        self, fields: Fields, schema: Mapping[str, Any], *, form: Form, again: bool = False
    ) -> tuple[ChatRequest, str | None]:
        """Return the request for these fields and, where the reply must carry one, its nonce."""
        nonce = None
        if form == "nonce":
            assert self.secret is not None  # noqa: S101 (set in the constructor)
            nonce = nonce_of(self.secret, [self.model, self.prompt_hash, self._prompt.fill(fields), str(again)])
        messages = self._prompt.messages(fields, form=form, nonce=nonce, again=again)
        wanted = schema if form == "schema" else None
        return ChatRequest(self.model, messages, wanted, self.max_tokens, self.temperature, self.sample), nonce

    async def _ask(self, fields: Fields, schema: Mapping[str, Any], read: Read, ask: Ask | None) -> Judgement:
        """Ask, at most twice, and read."""
        ask = ask or way_of(self) or self.chats[self.model].complete
        # By schema, unless that is not wanted or the endpoint is known to refuse it.
        refused = self._refusals > 1 or not getattr(self.chat, "structured", True)
        form: Form = "nonce" if refused or not self.structured else "schema"
        calls, again, refusals = 0, False, 0
        while True:
            request, nonce = self.request(fields, schema, form=form, again=again)
            try:
                reply = await ask(request)
            except AdjudgeError as error:
                if isinstance(error, UsageError) or getattr(error, "fatal", False):
                    raise
                # The endpoint refuses schemas: later questions carry a nonce at once. Where that is a guess from its
                # words, two questions must have been answered without a schema first.
                if error.code == SCHEMA_UNSUPPORTED and form == "schema":
                    refusals, form = 1 if getattr(error, "is_guess", False) else 2, "nonce"
                    continue
                return self._judgement("error", error.reason, calls=calls + 1)
            calls += 1
            self._refusals += refusals
            refusals = 0
            if reply.text is None or reply.refusal or reply.finish_reason == "content_filter":
                return self._judgement("unscored", _why_no_text(reply), reply.text, calls)
            text = reply.text
            try:
                reading = read(text, nonce=nonce)
                # A response may contain a reply to be copied. Letters and digits are compared, without a code block.
                words = _NO_WORD.sub("", _OPENING.sub("", text, count=1))
                if nonce is None and words in _NO_WORD.sub("", str(fields["response"])):
                    raise UnreadableReply("the response contains the reply word for word", code="copied")
            except UnreadableReply as unreadable:
                if again:
                    return self._judgement("unscored", _unreadable(unreadable, reply), text, calls)
                # With a nonce, which the response cannot contain, the model has to answer by itself.
                again, form = True, "nonce" if unreadable.code == "copied" else form
                continue
            return self._judgement("scored", reading.reasoning or None, text, calls, reading)

    def _judgement(
        self,
        status: Any,
        reason: str | None,
        raw: str | None = None,
        calls: int = 0,
        found: VerdictReading | RubricReading | None = None,
    ) -> Judgement:
        return Judgement(
            status,
            verdict=found.verdict if isinstance(found, VerdictReading) else None,
            scores=found.scores if isinstance(found, RubricReading) else {},
            reason=reason,
            raw=raw,
            judge=self.name,
            prompt_hash=self.prompt_hash,
            calls=calls,
        )


def _why_no_text(reply: ChatReply) -> str:
    """Return why a reply has no text to read."""
    if reply.refusal:
        return f"refusal: {reply.refusal[:200]}"
    if reply.finish_reason == "content_filter":
        return "content-filter: the endpoint withheld the reply"
    return f"no-content: the reply has no text (finish reason: {reply.finish_reason or 'none given'})"


def _unreadable(error: UnreadableReply, reply: ChatReply) -> str:
    if reply.finish_reason == "length":
        return f"truncated: the reply ended at its limit of tokens; {error.message}"
    return f"unreadable: {error.reason}"


def way_of(member: object) -> Ask | None:
    """Return the function that asks a judge's models in this context; None where the judge asks them itself."""
    way, chats = asking.get(), getattr(member, "chats", None)
    return None if way is None or not chats else way(chats)
