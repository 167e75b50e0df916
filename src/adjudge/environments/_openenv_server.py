"""OpenEnv's protocol in front of our environments, beside our own: `adjudge env serve webshop --openenv`.

    /ws                  {"type": "reset", "data": {"seed": 3, "episode_id": "r7"}}, then "step", "state", "close"
    POST /reset, /step   the same for one step at a time; the session is that of the body's `episode_id`
    GET  /state, /health, /metadata, /schema

Of a server with several kinds each has these below its name, /webshop/ws; the only kind of a server has them at the
root, too. A task is what `reset` has under `task`, or else `seed`. A session that names its `episode_id` belongs to the
rollout of that id: a reward in another process reaches it (see `_server`), and no other session may reset it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.environments._errors import EnvAcquireTimeout, EnvBadTask, EnvDied, EnvStepTimeout
from adjudge.environments._lease import NO_EPISODE, LeasedEnvironment
from adjudge.environments._pool import Pool
from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.model import Step

if TYPE_CHECKING:
    from aiohttp import web

    from adjudge.environments._server import EnvServer

__all__ = ["OpenEnvDoor"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])
_PATIENCE_S = 30.0  # how long a full server lets a session wait; OpenEnv's client waits for 60
_MOST_BYTES = 8 << 20
_TEXT = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
_STATUS = {"VALIDATION_ERROR": 422, "CAPACITY_REACHED": 503}

Fields = dict[str, Any]


class OpenEnvDoor:
    """Speaks OpenEnv for one pool of a server."""

    def __init__(self, server: "EnvServer", pool: Pool, *, patience_s: float = _PATIENCE_S) -> None:
        self._server = server
        self._pool = pool
        self._patience_s = patience_s
        self._single: dict[str, _Play] = {}  # those of single requests, by their episode_id
        self._opening = asyncio.Lock()

    def add_routes(self, app: "web.Application", prefix: str) -> None:
        """Listen below a prefix."""
        app.router.add_get(f"{prefix}/ws", self._socket)
        app.router.add_post(f"{prefix}/reset", self._reset)
        app.router.add_post(f"{prefix}/step", self._step)
        app.router.add_get(f"{prefix}/state", self._state)
        app.router.add_get(f"{prefix}/health", self._health)
        app.router.add_get(f"{prefix}/metadata", self._metadata)
        app.router.add_get(f"{prefix}/schema", self._schema)

    async def _socket(self, request: "web.Request") -> "web.StreamResponse":
        """Play with one client until it leaves; its environment is given back then."""
        from aiohttp import WSMsgType, web

        # A page in a browser may open sockets to any address, without asking; no other client names an origin.
        if not self._server.is_allowed(request) or "Origin" in request.headers:
            return self._server.refusal()
        socket = web.WebSocketResponse(max_msg_size=_MOST_BYTES)
        await socket.prepare(request)
        play: _Play | None = None
        with Caught(fatal_too=True) as caught:
            play = await self._open()
        if play is None:
            await socket.send_str(_ENCODER.encode({"type": "error", "data": self._error(caught, None)}).decode())
            await socket.close()
            return socket
        try:
            async for message in socket:
                answer = await self._answer(play, message.data) if message.type is WSMsgType.TEXT else None
                if answer is None:
                    break
                await socket.send_str(_ENCODER.encode(answer).decode())
        finally:
            await play.close()
        await socket.close()
        return socket

    async def _answer(self, play: "_Play", text: str) -> Fields | None:
        """Answer one message; None ends the session."""
        try:
            given = _DECODER.decode(text)
        except (msgspec.MsgspecError, RecursionError) as error:
            return {"type": "error", "data": {"message": f"Invalid JSON: {error}", "code": "INVALID_JSON"}}
        what, data = given.get("type"), given.get("data", {})
        if what == "close":
            return None
        calls: dict[str, Callable[[Any], Awaitable[Fields]]] = {
            "reset": play.reset,
            "step": play.step,
            "state": lambda _: play.state(),
        }
        call = calls.get(str(what))
        if call is None:
            return {"type": "error", "data": {"message": f"Unknown message type: {what}", "code": "UNKNOWN_TYPE"}}
        with Caught(fatal_too=True) as caught:
            return {"type": "state" if what == "state" else "observation", "data": await call(data)}
        return {"type": "error", "data": self._error(caught, str(what))}

    async def _open(self) -> "_Play":
        name, lease = await self._server.lease(self._pool, self._patience_s)
        return _Play(self._server, name, lease)

    async def _reset(self, request: "web.Request") -> "web.Response":
        return await self._once(request, "reset")

    async def _step(self, request: "web.Request") -> "web.Response":
        return await self._once(request, "step")

    async def _state(self, request: "web.Request") -> "web.Response":
        return await self._once(request, "state")

    async def _once(self, request: "web.Request", what: str) -> "web.Response":
        """Answer one request; the session that it belongs to ends when nobody calls it any more."""
        if not self._server.is_allowed(request):
            return self._server.refusal()
        with Caught(fatal_too=True) as caught:
            given: Fields = dict(request.query)
            if what != "state":
                # A content type that a foreign page in a browser cannot send without permission.
                if request.content_type != "application/json":
                    raise UsageError("the content type must be application/json", code="bad-content-type")
                given = _DECODER.decode(await request.read() or b"{}")
            play = await self._find(given.get("episode_id"), is_new=what == "reset")
            if what == "reset":
                return _json(200, await play.reset(given))
            return _json(200, await (play.state() if what == "state" else play.step(given.get("action"))))
        error = self._error(caught, what)
        return _json(_STATUS.get(error["code"], 500), {"detail": error["message"], **error})

    async def _find(self, episode: Any, *, is_new: bool) -> "_Play":
        key = str(episode or "")
        # One at a time, so that two resets of one episode do not open two sessions.
        async with self._opening:
            for name in [name for name, play in self._single.items() if not play.lease.is_open]:
                del self._single[name]
            play = self._single.get(key)
            if play is None:
                if not is_new:
                    raise EnvBadTask("no episode was started: reset it first")
                play = await self._open()
                try:
                    play.claim(episode)
                except UsageError:
                    await play.close()
                    raise
                self._single[key] = play
        return play

    async def _health(self, request: "web.Request") -> "web.Response":  # noqa: ARG002 (a handler)
        return _json(200, {"status": "healthy"})

    async def _metadata(self, request: "web.Request") -> "web.Response":  # noqa: ARG002 (a handler)
        kind = self._pool.spec.kind
        return _json(200, {"name": kind, "description": f"{kind}, served by adjudge"})

    async def _schema(self, request: "web.Request") -> "web.Response":  # noqa: ARG002 (a handler)
        observation = {"type": "object", "properties": {"text": {"type": "string"}, "info": {"type": "object"}}}
        return _json(200, {"action": _TEXT, "observation": observation, "state": {"type": "object"}})

    def _error(self, caught: Caught, what: str | None) -> Fields:
        """Return an error as OpenEnv's clients know it, with our own code beside it."""
        error = caught.error
        code = "EXECUTION_ERROR"
        if isinstance(error, EnvAcquireTimeout):
            code = "CAPACITY_REACHED"
        elif what is None:
            code = "FACTORY_ERROR"
        elif isinstance(error, EnvDied | EnvStepTimeout):
            code = "SESSION_ERROR"
        elif isinstance(error, EnvBadTask | UsageError | msgspec.MsgspecError):
            code = "VALIDATION_ERROR"
        found: Fields = {"message": error.message if isinstance(error, AdjudgeError) else caught.reason, "code": code}
        if isinstance(error, AdjudgeError):
            found["reason"] = error.code
        if code == "CAPACITY_REACHED":
            found |= {"active_sessions": self._pool.counts().leased, "max_sessions": self._pool.size}
        return found


class _Play:
    """One session of OpenEnv's: a lease, and the episode that is named by its client."""

    def __init__(self, server: "EnvServer", name: str, lease: LeasedEnvironment) -> None:
        self.lease = lease
        self._server = server
        self._name = name
        self._episode: str | None = None
        self._steps = 0

    def claim(self, episode: Any) -> None:
        """Take the rollout whose id an episode has; raise `UsageError` where another session plays it."""
        name = None if episode is None else str(episode)
        if not self._server.claim(self._name, name, 0):
            raise UsageError(
                f"another session plays episode {name}: a reset would wipe it; give each episode an id of its own",
                code="rollout-shared",
            )
        self._episode = name

    async def reset(self, given: Any) -> Fields:
        """Start an episode."""
        if not isinstance(given, Mapping):
            raise EnvBadTask("reset takes an object with task, or seed, and episode_id")
        # Claimed before it begins, so that nobody reads the episode before it under the new name.
        self.claim(given.get("episode_id"))
        await self.lease.reset(given.get("task", given.get("seed")))
        self._steps = 0
        return _observation(self.lease.first or Step(""))

    async def step(self, action: Any) -> Fields:
        """Do one action."""
        message = action.get("message") if isinstance(action, Mapping) else None
        if not isinstance(message, str):
            raise UsageError('an action is an object with a text, {"message": "..."}', code="bad-action")
        step = await self.lease.step(message)
        self._steps += not step.info.get("repeated", False)
        return _observation(step)

    async def state(self) -> Fields:
        """Return how the episode stands."""
        known: Fields = {"episode_id": self._episode, "step_count": self._steps, "kind": self.lease.spec.kind}
        outcome = await self.lease.outcome()
        if outcome.done_reason == NO_EPISODE:
            return known
        found = {name: getattr(outcome, name) for name in ("task", "reward", "success", "failed", "done_reason")}
        return {**known, **found}

    async def close(self) -> None:
        """Give the environment back."""
        self._server.drop(self._name, "released")
        await self.lease.close()


def _observation(step: Step) -> Fields:
    return {"observation": {"text": step.observation, "info": step.info}, "reward": step.reward, "done": step.done}


def _json(status: int, body: object) -> "web.Response":
    from aiohttp import web

    return web.Response(status=status, body=_ENCODER.encode(body), content_type="application/json")
