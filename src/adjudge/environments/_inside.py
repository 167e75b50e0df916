"""The inside of a worker: one world, asked by lines of JSON.

    ["reset", task]    ["step", "open door"]    ["outcome"]    ["health"]

The answer is the JSON of a `Step` or an `Outcome`; an error is a list of three texts: its kind, its code and its
message. The first payload of all is the spec, and builds the world.
"""

from typing import Any

import msgspec

from adjudge.environments._backend import info_of, told_of
from adjudge.environments._world import World
from adjudge.errors import AdjudgeError
from adjudge.model import Step

__all__ = ["answer"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(list[Any])
_worlds: list[World] = []


def answer(payload: Any) -> Any:
    """Do one thing with the world of this process; whatever else it raises is the end of the world."""
    try:
        if type(payload) is bytes:
            return _ENCODER.encode(_done(_worlds[0], *_DECODER.decode(payload)))
        _worlds[:] = [payload.build()]
    except AdjudgeError as error:
        return told_of(error)
    return b"{}"


def _done(world: World, what: str, *arguments: Any) -> object:
    if what == "step":
        return world.step(*arguments)
    if what == "reset":
        observation = world.reset(*arguments)
        return Step(observation, info=info_of(world))
    if what == "outcome":
        return world.outcome()
    if what == "close":
        world.close()
    return {}
