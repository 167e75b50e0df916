"""Environments behind AgentGym servers: one address, and a number for each environment that the server made.

    POST /create                               -> 7, or {"id": 7}
    POST /reset {"id": 7, "game": 3, ...}      -> the first observation
    POST /step  {"id": 7, "action": "look"}    -> observation, reward, done

Each environment has its own names for the same fields; a spec holds them. A failure arrives as `{"error": ...}` with a
status of 200. The servers cannot tell a repeated step from a second one, so a step is sent once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from adjudge.environments._errors import EnvBadTask, EnvDied, EnvProtocolError
from adjudge.environments._http import RemoteInstance, SharedClient, read_json
from adjudge.environments._world import EnvSpec, PoolLimits, whole
from adjudge.errors import Caught, UsageError
from adjudge.model import Outcome, Step

__all__ = ["AgentGymAlfworld", "AgentGymBackend", "AgentGymScienceWorld", "AgentGymWebShop"]

_POINTS = 100  # of a task that is done, as ScienceWorld counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentGymSpec(EnvSpec):
    """What the specs share: tasks are numbers, and no episode can be replayed."""

    home: ClassVar[str] = "agentgym"
    id_name: ClassVar[str] = "id"
    task_name: ClassVar[str] = ""
    extra: ClassVar[tuple[tuple[str, str], ...]] = ()
    closes: ClassVar[bool] = False  # whether the server has a call that closes an environment
    in_points: ClassVar[bool] = False  # whether rewards are points of 100, beside a `score` of all points so far

    def task(self, task: Any) -> Any:
        """Return the number of a task."""
        number = whole(task)
        if number is None or number < 0:
            raise EnvBadTask(f"a task of this server must be a number from 0, not {task!r}")
        return number


class AgentGymWebShop(_AgentGymSpec):
    """WebShop behind AgentGym's server; a task is the number of a goal."""

    kind: ClassVar[str] = "webshop"
    id_name: ClassVar[str] = "env_idx"
    task_name: ClassVar[str] = "session_id"


class AgentGymAlfworld(_AgentGymSpec):
    """ALFWorld behind AgentGym's server; a task is the number of a game in its list."""

    kind: ClassVar[str] = "alfworld"
    task_name: ClassVar[str] = "game"
    extra: ClassVar[tuple[tuple[str, str], ...]] = (("world_type", "Text"),)


class AgentGymScienceWorld(_AgentGymSpec):
    """ScienceWorld behind AgentGym's server; a task is the number of a variation in its list."""

    kind: ClassVar[str] = "scienceworld"
    task_name: ClassVar[str] = "data_idx"
    closes: ClassVar[bool] = True
    in_points: ClassVar[bool] = True


class AgentGymBackend:
    """Makes environments on an AgentGym server: `Pool(AgentGymWebShop(), 8, AgentGymBackend(url))`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = SharedClient(attempts=1)
        self._taken: set[int] = set()

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "AgentGymInstance":
        """Let the server make an environment."""
        if not isinstance(spec, _AgentGymSpec):
            raise UsageError(f"an AgentGym server needs a spec such as AgentGymWebShop, not {type(spec).__name__}")
        instance = AgentGymInstance(self._client, self.url, limits, spec, self._taken)
        try:
            await instance.create()
        except BaseException:
            await instance.hang_up()
            raise
        return instance


class AgentGymInstance(RemoteInstance):
    """One environment of an AgentGym server."""

    def __init__(
        self, shared: SharedClient, url: str, limits: PoolLimits, spec: _AgentGymSpec, taken: set[int]
    ) -> None:
        super().__init__(shared, url, limits)
        self._spec = spec
        self._taken = taken
        self._id = -1
        self._outcome = Outcome()

    async def create(self) -> None:
        """Make an environment. A full WebShop server hands out one that is in use, which is an error here."""
        found = _check(await self._send("/create", {}, read_json))
        if isinstance(found, Mapping):
            found = found.get("id")
        if not isinstance(found, int):
            raise EnvProtocolError(f"{self._url}/create answered {found!r} instead of a number")
        # Two rollouts in one environment would act in each other's episode.
        if found in self._taken:
            raise EnvDied(f"{self._url} is full: it handed out environment {found} a second time", code="server-full")
        self._id = found
        self._taken.add(found)

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        try:
            found = await self._post("reset", {self._spec.task_name: task, **dict(self._spec.extra)})
        except EnvProtocolError as error:
            # These servers look a task up in a Python list, and send on what Python says of a number that is too high.
            if "index out of range" in error.message:
                raise EnvBadTask(f"{self._url} has no task {task}: {error.message}") from error
            raise

        if isinstance(found, Mapping):
            parts = (found.get("task_description"), found.get("observation"))
            text = "\n".join(str(part) for part in parts if part)
            info = _info(found)
        else:  # WebShop answers with a pair whose text is empty
            text, info = str(await self._get("observation")), {"actions": await self._get("available_actions")}

        self._outcome = Outcome(reward=0.0, observation=text, task=task)
        if self._spec.in_points:
            info |= self._count_points(found, done=False)
        return Step(text, info=info)

    async def step(self, action: str) -> Step:
        """Do one action, sent once."""
        found = await self._post("step", {"action": action})
        if not isinstance(found, Mapping):
            raise EnvProtocolError(f"{self._url}/step answered {type(found).__name__}")
        text = found.get("observation", found.get("state"))
        reward, done = found.get("reward"), found.get("done")
        if not isinstance(text, str) or not isinstance(reward, int | float) or not isinstance(done, bool):
            raise EnvProtocolError(f"{self._url}/step answered without a text, a reward or done")

        self._outcome = Outcome(
            reward=float(reward),
            success=reward >= 1.0 if done else None,
            observation=text,
            done_reason="done" if done else None,
            task=self._outcome.task,
        )
        info = _info(found)
        if self._spec.in_points:
            info |= self._count_points(found, done=done)
            reward /= _POINTS
        return Step(text, float(reward), done=done, info=info)

    def _count_points(self, found: Any, *, done: bool) -> dict[str, Any]:
        """Read the score into the outcome, as our own ScienceWorld counts it; return what it adds to `Step.info`."""
        score = found.get("score") if isinstance(found, Mapping) else None
        # Without it the points of one step would pass for the share of the whole task.
        if not isinstance(score, int | float):
            raise EnvProtocolError(f"{self._url} answered without a score")
        reason = None
        if done:
            reason = "failed" if score < 0 else "completed" if score >= _POINTS else "done"
        self._outcome = replace(
            self._outcome,
            reward=max(0.0, score / _POINTS),
            success=score >= _POINTS,
            failed=score < 0,
            score_raw=float(score),
            done_reason=reason,
        )
        return {"done_reason": reason}

    async def outcome(self) -> Outcome:
        """Return what the last step said: these servers have no call that only reads."""
        return self._outcome

    async def health(self) -> bool:
        """Ask the server for a sign of life."""
        with Caught():
            await self._send("/", None, lambda reply: reply.status < 500, method="GET")
            return self.alive
        return False

    async def close(self) -> None:
        """Close the environment, if the server has a call for it."""
        if self._spec.closes and self._id >= 0 and self.alive:
            with Caught(fatal_too=True):
                await self._post("close", {})
        await self.hang_up()
        if self._spec.closes:
            # A server that has closed it may give the number out again. Any other keeps it for ever.
            self._taken.discard(self._id)

    async def _post(self, what: str, body: dict[str, Any]) -> Any:
        return _check(await self._send(f"/{what}", {self._spec.id_name: self._id, **body}, read_json))

    async def _get(self, what: str) -> Any:
        # The number is a part of the address, because these calls only read.
        query = urlencode({self._spec.id_name: self._id})
        return _check(await self._send(f"/{what}?{query}", None, read_json, method="GET"))


def _check(found: Any) -> Any:
    if isinstance(found, Mapping) and "error" in found:
        raise EnvProtocolError(f"the environment server failed: {str(found['error'])[:300]}")
    return found


def _info(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the answer says beside the observation, under the names that our own environments use."""
    info = {name: found[name] for name in ("score", "moves") if name in found}
    if "available_actions" in found:
        info["admissible_commands"] = found["available_actions"]
        info["won"] = found.get("reward") == 1.0
    return info
