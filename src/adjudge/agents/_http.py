"""Agents behind an address: a plain chat endpoint, or a chat model."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from adjudge.agents._answer import decode_answer, question_of, session_of, to_trajectory
from adjudge.agents._secret import KEY_VARIABLE, check_password, secrets_of
from adjudge.agents._shape import AnswerFields, BodyTemplate
from adjudge.agents._stream import is_stream, read_stream
from adjudge.chat import Api, ChatClient, Key, client_of
from adjudge.errors import DataError, printable
from adjudge.http import Again, BadStatus, HttpClient, HttpReply, Limits, Request, hide, is_transient
from adjudge.model import Case, ChatModel, ChatRequest, Message, Question, Trajectory, asking, to_json

SENT = {"message": "{question}", "session_id": "{session_id}"}
LONGEST = 300  # characters of an error's body in a reason
_NO_RESULTS = "its stream has calls without results: send events with tools_used or messages, or a trace"
_NO_EVENT = "no event of its stream names them: send one with tools_used or messages, name it with --field, or a trace"
_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}


class HttpAgent:
    """An agent that answers `POST {"message", "session_id"}` with JSON that has a `response`, or with its messages.

    All turns of a conversation have one session, 32 hexadecimal digits that also go out as the `traceparent`, so that
    the agent's trace can be found again. Its key is `ADJUDGE_AGENT_KEY`, sent as a bearer token, or in `headers`;
    `secrets` are what else must not be kept where an answer repeats it.

    Another interface is described by `send`, the body with `{question}`, `{session_id}` or `{messages}` in it, and by
    `fields`, the places of `response`, `agents_called`, `tools_used`, `messages`, `trace_id` and `sources` in the
    answer: `{"response": "$.output.text"}`. A streamed answer (`text/event-stream`) is put together.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        limits: Limits | None = None,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        fields: Mapping[str, str] | None = None,
        send: Any = None,
    ) -> None:
        check_password(url)
        self.url = url
        key = Key(None, KEY_VARIABLE)

        # A closure keeps the key out of whatever prints an object's attributes.
        def own_headers() -> Mapping[str, str]:
            found = None if headers is not None else key.reveal()
            return headers or ({} if found is None else {"Authorization": f"Bearer {found}"})

        self._own_headers = own_headers
        self._hide: Callable[[bytes], bytes] = lambda body: hide(body, *secrets_of(own_headers()), *secrets)
        self._shape = {"fields": dict(fields or {}), "send": send}
        self._fields = AnswerFields(fields or {})
        self._body = BodyTemplate(SENT if send is None else send)
        self.name = name or url.partition("?")[0]  # what follows may be a key, and run files hold the name
        self._client = HttpClient(limits or Limits(attempts=3), proxied=True)

    def own_digest(self) -> str:
        """Return a digest of how it is asked and read, so that a run is not resumed with another interface."""
        return sha256(to_json(self._shape)).hexdigest()[:32]

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Send one case's question, and read the answer; the agent keeps the history by its session."""
        session = session_of(case)
        said = [{"role": one.role, "content": one.content} for one in (*history, *question_of(case))]
        body = to_json(self._body.fill(question=case.question, session_id=session, messages=said))

        def headers() -> Mapping[str, str]:
            usual = {"content-type": "application/json", "traceparent": f"00-{session}-{session[:16]}-01"}
            return usual | {name.lower(): value for name, value in self._own_headers().items()}

        reply = await self._client.send(Request(self.url, body, headers=headers), self._read_status)
        answer, unknown = self._read_answer(reply)
        found = to_trajectory(case, answer)
        if isinstance(answer, Mapping) and "messages" in answer:
            unknown = {}  # they show what the fields do not
        is_named = found.tools_used or "tools_used" in answer
        if is_stream(reply.headers.get("content-type", "")) and not is_named:
            # Its events hold what the model asked for, and no results: the agent may have run it.
            if found.tools_requested:
                unknown = {"tools": _NO_RESULTS, **found.unknown}
            elif found.tool_calls is None:
                unknown = {"tools": _NO_EVENT, **unknown}
        return replace(found, unknown={**found.unknown, **unknown}) if unknown else found

    def _read_status(self, reply: HttpReply) -> HttpReply | Again:
        """Accept every 2xx; what else the agent says is in the error."""
        if 200 <= reply.status < 300:
            return reply
        # The key is taken out before the text is cut: half a key is one, too.
        said = printable(" ".join(self._hide(reply.body).decode("utf-8", "replace").split()), LONGEST)
        error = BadStatus(f"the agent answered {reply.status}{f': {said}' if said else ''}", status=reply.status)
        if is_transient(reply.status):
            return Again(error)
        raise error

    def _read_answer(self, reply: HttpReply) -> tuple[Any, dict[Question, str]]:
        """Return the answer without a key that it repeats, as it is kept, and what is not where it should be."""
        kind = reply.headers.get("content-type", "")
        if not is_stream(kind):
            given = decode_answer(self._hide(reply.body))
            answer = self._fields.apply(given)
            return answer, self._fields.find_missing(given, answer)
        # A key may be spread over several events.
        answer = read_stream(self._hide(reply.body), kind, self._fields)
        answer = decode_answer(self._hide(to_json(answer)))
        return answer, self._fields.find_missing(None, answer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


class ChatAgent:
    """A chat model as the agent under test; `api` says which interface it speaks.

    In a run its questions are asked through the run: written down before they are sent, counted against the budgets,
    and not asked again after an interruption. `chat` answers them; without it, a client is made when it is needed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
        api: Api = "openai",
        chat: ChatModel | None = None,
    ) -> None:
        self.model = model
        self.name = f"{api}:{model}" if chat is None else chat.name
        self.system = system
        self.max_tokens = max_tokens
        self.chat = chat
        self._own: ChatClient | None = None
        # The key is in a closure: an attribute could be printed.
        self._client: Callable[..., ChatClient] = lambda **limits: client_of(
            api, model, base_url=base_url, api_key=api_key, **limits
        )

    def client(self, **limits: Any) -> ChatClient:
        """Return a client of its model, kept to these limits."""
        return self._client(**limits)

    @property
    def chats(self) -> Mapping[str, ChatModel]:
        """The chat model that answers its requests, by the `model` of the request."""
        if self.chat is None:
            self.chat = self._own = self.client()
        return {self.model: self.chat}

    def request(self, case: Case, history: Sequence[Message]) -> ChatRequest:
        """Return what the model is asked: the history before the question, the image, if there is one, beside it."""
        opening = () if self.system is None else (Message("system", self.system),)
        # Messages of a case hold their own images; a bare question has its image beside it.
        question = question_of(case)
        if case.image is not None and not case.messages:
            image = {"type": "image_url", "image_url": {"url": image_url(case.image)}}
            question = (Message("user", ({"type": "text", "text": case.question}, image)),)
        return ChatRequest(self.model, (*opening, *history, *question), max_tokens=self.max_tokens)

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Ask the model."""
        request = self.request(case, history)
        # In a run, the engine asks for us: it writes the request down, and limits and replays it.
        way = asking.get()
        reply = await (self.chats[self.model].complete if way is None else way(self.chats))(request)
        if reply.text is None:
            raise DataError(f"the model gave no text: {reply.refusal or reply.finish_reason}", code="bad-answer")
        return Trajectory((*request.messages, Message("assistant", reply.text)), final_response=reply.text)

    async def aclose(self) -> None:
        """Close the connections that it made itself."""
        if self._own is not None:
            await self._own.close()
            self.chat = self._own = None


def image_url(image: Any) -> str:
    """Return the URL of an image: a text is one; bytes, a file or a decoded picture become a data URL.

    >>> image_url(b"GIF89a")
    'data:image/gif;base64,R0lGODlh'
    """
    if isinstance(image, str):
        return image
    if isinstance(image, Path):
        image = image.read_bytes()
    elif hasattr(image, "save"):
        buffer = BytesIO()
        image.save(buffer, format="PNG")
        image = buffer.getvalue()
    if not isinstance(image, bytes):
        raise DataError(f"an image must be a URL, bytes, a file or a picture, got {type(image).__name__}")
    # By its first bytes: the file's name may lie, and pictures in memory have none.
    kind = next((kind for start, kind in _KINDS.items() if image.startswith(start)), "png")
    return f"data:image/{kind};base64,{b64encode(image).decode()}"
