"""How a world in another process or on another machine is asked: a word and arguments there, JSON back.

    ["reset", {"task": 3}]    ["step", {"action": "open door"}]    ["outcome", {}]    ["health", {}]

The answer is the JSON of a `Step` or an `Outcome`; an error is a list of three texts: its kind, its code and its
message. The first payload that a worker gets is the spec, which builds the world.
"""

from abc import ABC, abstractmethod
from typing import Any, TypeVar

import msgspec

from adjudge.environments._errors import (
    EnvAcquireTimeout,
    EnvBadTask,
    EnvDied,
    EnvError,
    EnvProtocolError,
    EnvStepTimeout,
)
from adjudge.environments._world import Instance, World, start_episode
from adjudge.errors import AdjudgeError, Caught, MissingExtra, UsageError
from adjudge.model import Outcome, Step

__all__ = ["ANYTHING", "AskedInstance", "answer", "describe_error", "restore_error"]

T = TypeVar("T")

ANYTHING = msgspec.json.Decoder(dict[str, Any])
_STEP = msgspec.json.Decoder(Step)
_OUTCOME = msgspec.json.Decoder(Outcome)
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(tuple[str, dict[str, Any]])
# Only these types are made from what another machine sends; everything else becomes a plain `EnvError`.
_ERRORS: dict[str, type[AdjudgeError]] = {
    kind.default_code: kind
    for kind in (
        *(EnvAcquireTimeout, EnvBadTask, EnvDied, EnvError, EnvProtocolError, EnvStepTimeout),
        *(MissingExtra, UsageError),
    )
}


def describe_error(error: AdjudgeError) -> tuple[str, str, str]:
    """Return an error as three texts from which another process or machine can make the same error."""
    return error.default_code, error.code, error.message


def restore_error(kind: str, code: str, message: str) -> AdjudgeError:
    """Return the error that another process or machine described, of its own type if that is known here."""
    return _ERRORS.get(kind, EnvError)(message, code=code)


class AskedInstance(Instance, ABC):
    """An instance that answers questions: what is left to do is to send them."""

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        return await self._ask("reset", _STEP, task=task)

    async def step(self, action: str) -> Step:
        """Do one action, once."""
        return await self._ask("step", _STEP, action=action)

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        return await self._ask("outcome", _OUTCOME)

    async def health(self) -> bool:
        """Ask for a sign of life."""
        with Caught():
            await self._ask("health", ANYTHING)
            return True
        return False

    @abstractmethod
    async def _ask(self, what: str, decoder: "msgspec.json.Decoder[T]", **arguments: Any) -> T:
        """Send a question and decode its answer."""


_worlds: list[World] = []


def answer(payload: Any) -> Any:
    """Answer one question to the world of this worker process; any other exception is the end of the world."""
    try:
        # Questions are bytes; the one object that a worker gets, the spec, comes from its owner and not from a row.
        if type(payload) is bytes:
            what, arguments = _DECODER.decode(payload)
            return _ENCODER.encode(_act(_worlds[0], what, arguments))
        _worlds[:] = [payload.build()]
    except AdjudgeError as error:
        return describe_error(error)
    return b"{}"


def _act(world: World, what: str, arguments: dict[str, Any]) -> object:
    # Steps come first, because nearly every question is one.
    if what == "step":
        return world.step(arguments["action"])
    if what == "reset":
        return start_episode(world, arguments["task"])
    if what == "outcome":
        return world.outcome()
    if what == "close":
        world.close()
    return {}
