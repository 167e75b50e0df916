"""MCP: a server of tools as a world, in which an action is a call of one of its tools.

    spec = McpSpec(command=("python", "kitchen.py"), reset_tool="start", outcome_tool="result", last_tools=("serve",))
    await env.step('{"tool": "open", "arguments": {"what": "fridge"}}')

The tools that start an episode and read its outcome are ours: the agent neither sees nor calls them. Without a
`reset_tool` every episode has a session, and a server behind `command` a process, of its own. Written against mcp 2.3.
"""

from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from shutil import which
from typing import Any, ClassVar, TypeVar

from adjudge.environments import EnvBadTask, EnvDied, EnvProtocolError, EnvSpec, World
from adjudge.errors import AdjudgeError, Caught, MissingExtra, UsageError, closest
from adjudge.http import LoopThread
from adjudge.model import Outcome, Step, decode_json
from adjudge.processes import tethered

__all__ = ["McpSpec"]

T = TypeVar("T")

_NO_REWARD = "the outcome tool answered neither a number nor an object with a reward"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSpec(EnvSpec):
    """A server of tools: a `command` that speaks over its standard streams, or the `url` of one that speaks HTTP.

    A task is the arguments of `reset_tool`; None means none. The answer of `outcome_tool` is the reward, or an object
    with `reward`, and where it is known `success`. A call of one of `last_tools` ends the episode.
    """

    kind: ClassVar[str] = "mcp"
    home: ClassVar[str] = "worker"
    memory_mb: ClassVar[int | None] = None  # the server is a process of its own

    command: tuple[str, ...] = ()
    url: str = ""
    reset_tool: str = ""
    outcome_tool: str = ""
    last_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise UsageError("give the command of the MCP server, or its url", code="bad-spec")

    def build(self) -> World:
        """Make the world; its server is started with the first episode."""
        try:
            import mcp
        except ImportError:
            raise MissingExtra.of("mcp", "a server of MCP tools") from None
        if not hasattr(mcp, "Client"):
            raise MissingExtra.of("mcp", "a server of MCP tools (mcp 2 and up)")
        return McpWorld(self)

    def task(self, task: Any) -> Any:
        """Return the arguments of the reset tool."""
        if task is None:
            return {}
        if not isinstance(task, Mapping) or not self.reset_tool:
            wanted = "arguments of the reset tool" if self.reset_tool else "None, because there is no reset tool"
            raise EnvBadTask(f"a task of this MCP server must be {wanted}, not {task!r}")
        return dict(task)


class McpWorld:
    """One session with a server, on an event loop of its own."""

    def __init__(self, spec: McpSpec) -> None:
        self._spec = spec
        self._thread: LoopThread | None = None
        self._client: Any = None
        self._tools: dict[str, Any] = {}
        self._said = ""
        self._end: str | None = None

    def reset(self, task: Any) -> str:
        """Start an episode; the first observation is what the reset tool says, then the tools."""
        if self._thread is None or not self._spec.reset_tool:
            self.close()
            self._connect()
        said = self._client.instructions or ""
        if self._spec.reset_tool:
            said, failed, _ = self._call(self._spec.reset_tool, task)
            if failed:
                raise EnvBadTask(f"the reset tool refused the task: {said}")
        self._end = None
        self._said = said
        lines = [f"{name}: {tool.description or ''}".strip() for name, tool in self._tools.items()]
        return "\n".join([*([said, ""] if said else []), "Tools:", *lines])

    def info(self) -> dict[str, Any]:
        """Return the tools in the form for chat models."""
        return {"tools": [_schema(tool) for tool in self._tools.values()]}

    def step(self, action: str) -> Step:
        """Call a tool; what cannot be called is an answer to the agent."""
        try:
            given = decode_json(action)
        except (AdjudgeError, RecursionError):
            given = None
        name, arguments = (given.get("tool"), given.get("arguments", {})) if isinstance(given, Mapping) else (None, {})
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            return _invalid('An action is JSON: {"tool": NAME, "arguments": {...}}.')
        if name not in self._tools:
            hint = closest(name, self._tools)
            return _invalid(f"There is no tool {name!r}{hint}. There are {', '.join(self._tools)}.")
        self._said, failed, structured = self._call(name, dict(arguments))
        # A call that failed has not ended anything: the agent may try again.
        if name in self._spec.last_tools and not failed:
            self._end = name
        info = {"tool": name, "is_error": failed, "structured": structured, "done_reason": self._end}
        return Step(self._said, done=self._end is not None, info=info)

    def outcome(self) -> Outcome:
        """Ask the outcome tool."""
        if not self._spec.outcome_tool:
            return Outcome(observation=self._said, done_reason=self._end)
        said, failed, structured = self._call(self._spec.outcome_tool, {})
        if failed:
            raise EnvProtocolError(f"the outcome tool failed: {said}")
        found = _reward_in(structured, said)
        success = found.get("success")
        return Outcome(
            reward=float(found["reward"]),
            success=success if isinstance(success, bool) else None,
            observation=self._said,
            done_reason=self._end,
        )

    def close(self) -> None:
        """End the session, and with it a server that was started for it."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def _connect(self) -> None:
        thread = LoopThread(self._session, "adjudge-mcp")
        thread.start()
        self._thread = thread
        found = {tool.name: tool for tool in self._wait(self._client.list_tools()).tools}
        ours = {self._spec.reset_tool, self._spec.outcome_tool} - {""}
        missing = (ours | set(self._spec.last_tools)) - set(found)
        if missing:
            message = f"the MCP server has no tool {', '.join(sorted(missing))}; it has {', '.join(found)}"
            raise UsageError(message, code="bad-spec")
        self._tools = {name: tool for name, tool in found.items() if name not in ours}

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[int]:
        from mcp import Client, StdioServerParameters

        server: Any = self._spec.url
        if command := self._spec.command:
            if which(command[0]) is None:
                raise EnvDied(f"there is no program {command[0]!r} for the MCP server")
            first, *more = tethered(command)  # mcp starts it in a session of its own, where nobody would end it
            server = StdioServerParameters(command=first, args=more)
        with Caught(fatal_too=True) as caught:
            async with Client(server) as self._client:
                yield 0
        if caught.reason is not None:
            raise EnvDied(f"the session with the MCP server broke: {caught.reason}")

    def _call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool, Any]:
        """Call a tool: its text, whether it failed, and its structured result."""
        result = self._wait(self._client.call_tool(name, arguments))
        text = "\n".join(block.text for block in result.content if getattr(block, "text", None) is not None)
        return text, bool(result.is_error), result.structured_content

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for an answer; the time that it may take is watched by whoever owns this world's process."""
        if self._thread is None:
            work.close()
            raise EnvDied("the session with the MCP server has ended")
        with Caught() as caught:
            return self._thread.submit(work).result()
        raise EnvDied(f"the MCP server gave no answer: {caught.reason}")


def _reward_in(structured: Any, said: str) -> Mapping[str, Any]:
    """Find the reward in what the outcome tool answered."""
    found: Any = structured
    if found is None:
        try:
            found = decode_json(said)
        except AdjudgeError:
            raise EnvProtocolError(_NO_REWARD) from None
    # The servers of the Python SDK put a bare number into an object of this one field.
    if isinstance(found, Mapping) and set(found) == {"result"}:
        found = found["result"]
    if not isinstance(found, Mapping):
        found = {"reward": found}
    reward = found.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise EnvProtocolError(_NO_REWARD)
    return {"reward": reward, "success": found.get("success")}


def _invalid(said: str) -> Step:
    return Step(said, info={"valid": False})


def _schema(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
    return {"type": "function", "function": function}
