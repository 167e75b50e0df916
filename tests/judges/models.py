"""A chat model that says what it is told, without a socket: for rules about single requests and replies."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from adjudge.errors import AdjudgeError
from adjudge.model import ChatReply, ChatRequest

Said: TypeAlias = str | ChatReply | AdjudgeError
Script: TypeAlias = Said | Sequence[Said] | Callable[[ChatRequest], Said]

CORRECT = '{"reasoning": "Same city.", "verdict": "CORRECT"}'
WRONG = '{"reasoning": "Another city.", "verdict": "WRONG"}'
QUESTION = ("What is the capital of France?", "Paris")


class Scripted:
    """Says one thing after another, the last for ever, and keeps what it was asked."""

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._script = script

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Say the next thing."""
        self.requests.append(request)
        if callable(self._script):
            said = self._script(request)
        elif isinstance(self._script, str | ChatReply | AdjudgeError):
            said = self._script
        else:
            said = self._script[min(len(self.requests), len(self._script)) - 1]
        if isinstance(said, AdjudgeError):
            raise said
        return ChatReply(said) if isinstance(said, str) else said


class Fatal(AdjudgeError):
    """An error that stops a run."""

    default_code = "unauthorised"
    fatal = True


class Passing(AdjudgeError):
    """An error that concerns one row."""

    default_code = "server-error"


def echo(request: ChatRequest) -> str:
    """Say the whole prompt."""
    return "\n".join(message.text for message in request.messages)


def key_of(request: ChatRequest) -> str:
    """Return the key that a request asks for, as a model would find it."""
    return request.messages[1].text.rpartition('either "')[2].partition(" ")[0]
