"""A judge and a model that do what a test tells them, in this process."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import AdjudgeError
from adjudge.model import Ask, ChatModel, ChatReply, ChatRequest, Judgement, Message


@dataclass
class Model:
    """Answers with what `say` makes of the prompt, after a while, and counts."""

    say: Callable[[str], str | Exception] = lambda prompt: "CORRECT"
    pause: float = 0.0
    name: str = "model"
    calls: int = 0
    in_flight: int = 0
    most: int = 0
    prompts: list[str] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        prompt = request.messages[-1].text
        self.calls += 1
        self.prompts.append(prompt)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.pause)
        finally:
            self.in_flight -= 1
        said = self.say(prompt)
        if isinstance(said, Exception):
            raise said
        return ChatReply(said, finish_reason="stop", prompt_tokens=len(prompt), completion_tokens=10, raw=f"<{said}>")


@dataclass
class AskingJudge:
    """Asks its model once and takes the reply for the verdict; anything but a verdict is unscored."""

    model: Model = field(default_factory=Model)
    name: str = "asking"
    version: str = "1"

    @property
    def chats(self) -> dict[str, ChatModel]:
        """Who answers."""
        return {"model": self.model}

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response."""
        assert ask is not None
        prompt = f"{question}|{reference}|{response}"
        try:
            reply = await ask(ChatRequest("model", (Message("user", prompt),), max_tokens=20))
        except AdjudgeError as error:
            if getattr(error, "fatal", False):
                raise
            return Judgement("error", reason=error.reason, judge=self.name)
        if reply.text == "CORRECT":
            return Judgement("scored", "CORRECT", raw=reply.text, judge=self.name)
        if reply.text == "WRONG":
            return Judgement("scored", "WRONG", raw=reply.text, judge=self.name)
        return Judgement("unscored", reason=f"unreadable: {reply.text}", judge=self.name)


class Fatal(AdjudgeError):
    """What a refused key raises."""

    default_code = "unauthorised"
    fatal = True


def rows(count: int, start: int = 0) -> Iterator[dict[str, Any]]:
    """Give rows that can be judged and scored."""
    for index in range(start, start + count):
        yield {
            "id": f"r{index}",
            "question": f"What is {index} + 1?",
            "reference": str(index + 1),
            "answer": str(index + 1),
            "response": f"It is {index + 1}.",
            "final_response": str(index + 1),
        }
