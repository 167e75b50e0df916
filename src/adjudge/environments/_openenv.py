"""Environments behind OpenEnv servers: a session is a WebSocket, and ends with it.

    {"type": "state"}                                -> {"type": "state", "data": ...}, or why there is no session
    {"type": "reset", "data": {"seed": 3}}           -> {"type": "observation", "data": ...}
    {"type": "step", "data": {"message": "look"}}    -> {"type": "observation", "data": ...}
    {"type": "close"}

The data of an answer are the observation, itself an object, the reward and whether the episode is done. An action is an
object too: our text goes into one field of it. An action that does not fit the server's schema is the agent's mistake:
the server's message is the observation, and nothing was done. Every other error is the environment's.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from adjudge.environments._errors import (
    EnvAcquireTimeout,
    EnvBadTask,
    EnvDied,
    EnvError,
    EnvProtocolError,
    EnvStepTimeout,
)
from adjudge.environments._loops import BACKGROUND
from adjudge.environments._world import EnvSpec, Instance, PoolLimits
from adjudge.errors import Caught, UsageError
from adjudge.model import Outcome, Step

if TYPE_CHECKING:
    import aiohttp

__all__ = ["OpenEnvBackend", "OpenEnvSpec"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])
_MOST_BYTES = 64 << 20
_INVALID = "VALIDATION_ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEnvSpec(EnvSpec):
    """An OpenEnv server's environment; a task is what its reset takes, such as `{"seed": 3}`.

    The agent's text goes into the field `action` of the server's action; the observation is the text in the field
    `observation` of its answer, or all of it as JSON if that is empty.
    """

    kind: ClassVar[str] = "openenv"
    home: ClassVar[str] = "openenv"

    action: str = "message"
    observation: str = ""

    def task(self, task: Any) -> Any:
        """Return the arguments of reset as a dict; None means no arguments."""
        if task is None:
            return {}
        if not isinstance(task, Mapping):
            raise EnvBadTask(f"a task of an OpenEnv server must be a mapping such as {{'seed': 3}}, not {task!r}")
        return dict(task)


class OpenEnvBackend:
    """Opens sessions with an OpenEnv server: `Pool(OpenEnvSpec(), 8, OpenEnvBackend(url))`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "OpenEnvInstance":
        """Open a session."""
        if not isinstance(spec, OpenEnvSpec):
            raise UsageError(f"an OpenEnv server needs an OpenEnvSpec, not {type(spec).__name__}", code="bad-spec")
        instance = OpenEnvInstance(self.url, spec, limits)
        await instance.open()
        return instance


class OpenEnvInstance(Instance):
    """One session. The socket belongs to the background loop, whichever loop calls."""

    def __init__(self, url: str, spec: OpenEnvSpec, limits: PoolLimits) -> None:
        self._url = url
        self._spec = spec
        self._limits = limits
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._outcome = Outcome()
        self._broken = False
        self._held = False

    @property
    def alive(self) -> bool:
        """Whether the session is open and every call so far had an answer."""
        return not self._broken and self._socket is not None and not self._socket.closed

    async def open(self) -> None:
        """Connect; called on the background loop."""
        import aiohttp

        BACKGROUND.hold()  # the socket lives on that loop for as long as the session does
        self._held = True
        self._session = aiohttp.ClientSession()
        try:
            async with asyncio.timeout(self._limits.start_s):
                self._socket = await self._session.ws_connect(f"{self._url}/ws", max_msg_size=_MOST_BYTES)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            await self.close()
            raise EnvDied(f"{self._url} opened no session: {type(error).__name__} {error}".strip()) from error
        # A server that is full, or whose environment cannot be made, says so in the place of its first answer.
        try:
            found = await self._exchange({"type": "state"})
            if found.get("type") == "error":
                raise _fault(self._url, found)
        except BaseException:
            await self.close()
            raise

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        found = await self._ask("reset", task)
        if found.get("type") == "error":
            code, message = _error_of(found)
            if code == _INVALID:
                raise EnvBadTask(f"{self._url} refused the task: {message}")
            raise _fault(self._url, found)
        step = self._read_step(found, task)
        self._outcome = replace(self._outcome, done_reason=None)  # only an action can end an episode
        return step

    async def step(self, action: str) -> Step:
        """Do one action, sent once."""
        found = await self._ask("step", {self._spec.action: action})
        if found.get("type") == "error":
            code, message = _error_of(found)
            # What does not fit the schema is the agent's mistake, and it may try again. The rest is the server's.
            if code != _INVALID:
                raise _fault(self._url, found)
            return Step(f"The action is not valid: {message}", info={"valid": False})
        return self._read_step(found, self._outcome.task)

    async def outcome(self) -> Outcome:
        """Return what the last step said: these servers have no call that only reads."""
        return self._outcome

    async def health(self) -> bool:
        """Ask for the state."""
        with Caught():
            return (await self._ask("state")).get("type") == "state"
        return False

    async def close(self) -> None:
        """End the session; called on the background loop."""
        self._broken = True
        with Caught(fatal_too=True):
            # Each part on its own: a socket that cannot be closed must not keep the session and the loop from ending.
            if self._socket is not None and not self._socket.closed:
                await self._socket.send_str(_ENCODER.encode({"type": "close"}).decode())
                await self._socket.close()
        with Caught(fatal_too=True):
            if self._session is not None:
                await self._session.close()
        if self._held:
            self._held = False
            BACKGROUND.let_go()

    async def _ask(self, what: str, data: object = None) -> dict[str, Any]:
        """Send a message and return its answer, on the background loop."""
        # The socket belongs to the background loop, and an exchange must not stop half-way with its caller.
        message = {"type": what} if data is None else {"type": what, "data": data}
        try:
            return await asyncio.wrap_future(BACKGROUND.submit(self._exchange(message)))
        except BaseException:
            self._broken = True  # a call that was left in the middle: nobody knows the state of the episode
            raise

    async def _exchange(self, message: Mapping[str, Any]) -> dict[str, Any]:
        import aiohttp

        if not self.alive or self._socket is None:
            raise EnvDied(f"the session with {self._url} has ended, or one of its calls had no answer")
        try:
            # One answer belongs to one message, and calls come one at a time: the next text is the answer to this one.
            async with asyncio.timeout(self._limits.step_s):
                await self._socket.send_str(_ENCODER.encode(message).decode())
                reply = await self._socket.receive()
        except TimeoutError:
            raise EnvStepTimeout(f"{self._url} did not answer within {self._limits.step_s:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise EnvDied(f"the session with {self._url} broke: {error}") from error
        if reply.type is not aiohttp.WSMsgType.TEXT:
            raise EnvDied(f"{self._url} ended the session")
        try:
            return _DECODER.decode(reply.data)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise EnvProtocolError(f"{self._url} sent an invalid answer: {error}") from error

    def _read_step(self, found: Mapping[str, Any], task: Any) -> Step:
        data = found.get("data")
        observed = data.get("observation") if isinstance(data, Mapping) else None
        if found.get("type") != "observation" or not isinstance(data, Mapping) or not isinstance(observed, Mapping):
            raise EnvProtocolError(f"{self._url} answered {found.get('type')!r} instead of an observation")
        reward, done = data.get("reward"), data.get("done")
        if not (reward is None or isinstance(reward, int | float)) or not isinstance(done, bool):
            raise EnvProtocolError(f"{self._url} answered a reward of {reward!r} and done of {done!r}")
        # An observation is an object: agents read one field of it, or all of it as JSON.
        field = self._spec.observation
        text = str(observed.get(field, "")) if field else _ENCODER.encode(observed).decode()
        step = Step(text, None if reward is None else float(reward), done=done, info=dict(observed))
        self._outcome = Outcome(reward=step.reward, observation=text, done_reason="done" if done else None, task=task)
        return step


def _fault(url: str, found: Mapping[str, Any]) -> EnvError:
    """Return what a server's error is: no room, a message that it does not know, or the end of its environment."""
    code, message = _error_of(found)
    if code == "CAPACITY_REACHED":
        return EnvAcquireTimeout(f"{url} has no room for another session: {message}")
    if code in ("INVALID_JSON", "UNKNOWN_TYPE", _INVALID):
        return EnvProtocolError(f"{url} did not understand a message: {message}")
    # OpenEnv gives one code to every exception of an environment: nobody knows what state it is in.
    return EnvDied(f"the environment behind {url} broke: {message}")


def _error_of(found: Mapping[str, Any]) -> tuple[object, str]:
    """Return the code and the message of an error."""
    data = found.get("data")
    if not isinstance(data, Mapping):
        return None, str(data)[:300]
    return data.get("code"), str(data.get("message", data))[:300]
