"""Agents behind an address: a plain chat endpoint, or a model behind an OpenAI-compatible one."""

from collections.abc import Sequence

from adjudge.agents._answer import asked, to_trajectory
from adjudge.agents._images import image_url
from adjudge.agents._sessions import session_of
from adjudge.chat import ChatClient
from adjudge.errors import DataError
from adjudge.http import HttpClient, Limits, Request
from adjudge.model import Case, ChatRequest, Message, Trajectory, decode_json, to_json


class HttpAgent:
    """An agent that answers `POST {"message", "session_id"}` with JSON that has a `response`, or with its messages.

    All turns of a conversation have one session, 32 hexadecimal digits that also go out as the `traceparent`, so that
    the agent's trace can be found again.
    """

    def __init__(self, url: str, *, name: str | None = None, limits: Limits | None = None) -> None:
        self.url = url
        self.name = name or url
        self._client = HttpClient(limits or Limits(attempts=3))

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Send one case's question, and read the answer; the agent keeps the history by its session."""
        del history
        session = session_of(case)
        body = to_json({"message": case.question, "session_id": session})
        headers = {"Content-Type": "application/json", "traceparent": f"00-{session}-{session[:16]}-01"}
        reply = await self._client.fetch(Request(self.url, body, headers=lambda: headers))
        return to_trajectory(case, decode_json(reply.body, place="the agent's answer: "))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


class ChatAgent:
    """A model behind an OpenAI-compatible endpoint as the agent under test."""

    def __init__(
        self, model: str, *, base_url: str | None = None, system: str | None = None, max_tokens: int | None = None
    ) -> None:
        self.model = model
        self.name = f"openai:{model}"
        self.system = system
        self.max_tokens = max_tokens
        self._client = ChatClient(model, base_url=base_url)

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Ask the model, with the history before the question and the image, if there is one, beside it."""
        opening = () if self.system is None else (Message("system", self.system),)
        question = asked(case)
        if case.image is not None and not case.messages:
            image = {"type": "image_url", "image_url": {"url": image_url(case.image)}}
            question = (Message("user", ({"type": "text", "text": case.question}, image)),)
        messages = (*opening, *history, *question)
        reply = await self._client.complete(ChatRequest(self.model, messages, max_tokens=self.max_tokens))
        if reply.text is None:
            raise DataError(f"the model gave no text: {reply.refusal or reply.finish_reason}", code="bad-answer")
        return Trajectory((*messages, Message("assistant", reply.text)), final_response=reply.text)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()
