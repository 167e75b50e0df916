"""Tools for agents: plain async functions on the rollout's context, each with a JSON schema.

    text = await webshop_search("red kettle", context=context)
    schemas = [tool_schema(tool) for tool in TOOLS["webshop"]]

They act in the same live environment that the reward reads. What the model writes is only text to the environment, and
the answer is an observation as text. The harness chooses the task, not the model: `alfworld_reset` starts the same game
again.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from adjudge.environments._lease import LeasedEnvironment
from adjudge.errors import UsageError
from adjudge.model import Step

__all__ = [
    "TOOLS",
    "alfworld_admissible_commands",
    "alfworld_objective",
    "alfworld_reset",
    "alfworld_step",
    "call_tool",
    "scienceworld_objective",
    "scienceworld_reset",
    "scienceworld_step",
    "tool_schema",
    "webshop_actions",
    "webshop_click",
    "webshop_instruction",
    "webshop_search",
]

_OBJECTIVE = "Your task is to:"


class Resources(Protocol):
    """What a tool needs of a context."""

    async def acquire_resource(self, spec: Any, /) -> Any:
        """Return the rollout's environment of that kind."""
        ...


async def webshop_search(query: str, *, context: Resources) -> str:
    """Search the shop; works on the page that has the search bar.

    query: the words to search for
    """
    return await _act(context, "webshop", f"search[{query}]")


async def webshop_click(target: str, *, context: Resources) -> str:
    """Click a button, a product or an option on the page.

    target: the text of what to click, as the page shows it, such as "buy now", "next >", an option or a product's
    number
    """
    return await _act(context, "webshop", f"click[{target}]")


async def webshop_actions(*, context: Resources) -> str:
    """List what can be done on the page: whether there is a search bar, and everything that can be clicked."""
    _, last = await _steps(context, "webshop")
    actions = last.info.get("actions")
    if not isinstance(actions, Mapping):
        return last.observation
    # The search bar takes any words, so it is shown as a form and not as a list.
    lines = ["search[...]"] if actions.get("has_search_bar") else []
    return "\n".join([*lines, *(f"click[{target}]" for target in actions.get("clickables", ()))])


async def webshop_instruction(*, context: Resources) -> str:
    """Show the first page again, with what is to be bought."""
    first, _ = await _steps(context, "webshop")
    return first.observation


async def alfworld_step(command: str, *, context: Resources) -> str:
    """Do one command in the house.

    command: the command, such as "go to cabinet 1" or "take apple 1 from table 1"
    """
    return await _act(context, "alfworld", command)


async def alfworld_reset(*, context: Resources) -> str:
    """Begin the same game again from its first scene."""
    return await _restart(context, "alfworld")


async def alfworld_admissible_commands(*, context: Resources) -> str:
    """List the commands that are possible now, one a line."""
    _, last = await _steps(context, "alfworld")
    commands = last.info.get("admissible_commands")
    return "\n".join(map(str, commands)) if commands else "The commands are not known before the first one: try look."


async def alfworld_objective(*, context: Resources) -> str:
    """Say what is to be done in this game."""
    first, _ = await _steps(context, "alfworld")
    return first.observation.rpartition(_OBJECTIVE)[2].strip()


async def scienceworld_step(action: str, *, context: Resources) -> str:
    """Do one action in the laboratory.

    action: the action, such as "look around", "open door to kitchen" or "focus on thermometer"
    """
    return await _act(context, "scienceworld", action)


async def scienceworld_reset(*, context: Resources) -> str:
    """Begin the same task again from the start."""
    return await _restart(context, "scienceworld")


async def scienceworld_objective(*, context: Resources) -> str:
    """Show the beginning again, with what is to be done."""
    first, _ = await _steps(context, "scienceworld")
    return first.observation


Tool = Callable[..., Awaitable[str]]

TOOLS: dict[str, tuple[Tool, ...]] = {
    "alfworld": (alfworld_step, alfworld_reset, alfworld_admissible_commands, alfworld_objective),
    "scienceworld": (scienceworld_step, scienceworld_reset, scienceworld_objective),
    "webshop": (webshop_search, webshop_click, webshop_actions, webshop_instruction),
}
"""The tools of each kind of environment."""


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Return the description of a tool in the form for chat models; every parameter is text, and required.

    >>> tool_schema(alfworld_step)["function"]["parameters"]["required"]
    ['command']
    """
    # The docstring is the only description, so that what the model reads cannot differ from what people read.
    first, _, rest = (inspect.getdoc(tool) or "").partition("\n\n")
    names = [name for name in inspect.signature(tool).parameters if name != "context"]
    descriptions = dict(line.split(": ", 1) for line in rest.splitlines() if ": " in line)
    properties = {name: {"type": "string", "description": descriptions.get(name, name)} for name in names}
    parameters = {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
    function = {"name": _name(tool), "description": first, "parameters": parameters}
    return {"type": "function", "function": function}


async def call_tool(name: str, arguments: Mapping[str, Any], context: Resources) -> str:
    """Call a tool by name with what a model wrote; wrong names and arguments get an answer, not an exception."""
    known = {_name(tool): tool for tools in TOOLS.values() for tool in tools}
    if name not in known:
        return f"There is no tool {name!r}; there are {', '.join(known)}."
    wanted = tool_schema(known[name])["function"]["parameters"]["required"]
    if not isinstance(arguments, Mapping):
        arguments = {f"a {type(arguments).__name__}": arguments}
    # A model that writes wrong arguments should read what is wrong, as with any other action that does nothing.
    if set(arguments) != set(wanted) or not all(isinstance(value, str) for value in arguments.values()):
        return (
            f"{name} takes {', '.join(wanted) or 'nothing'} as text, got {', '.join(map(str, arguments)) or 'nothing'}."
        )
    return await known[name](**arguments, context=context)


def _name(tool: Tool) -> str:
    return str(getattr(tool, "__name__", tool))


async def _running(context: Resources, kind: str) -> LeasedEnvironment:
    """Return the rollout's environment, in which an episode must be running."""
    lease: LeasedEnvironment = await context.acquire_resource(kind)
    # No first step means no episode, or one that was lost: the error that ended it says more than "no episode".
    if lease.first is None:
        await lease.outcome()  # raises the error that ended the episode, if there was one
        raise UsageError(
            f"no episode was started: reset the {kind} environment before the agent acts", code="no-episode"
        )
    return lease


async def _steps(context: Resources, kind: str) -> tuple[Step, Step]:
    """Return the first and the last step of the episode."""
    lease = await _running(context, kind)
    return lease.first or Step(""), lease.last or Step("")


async def _act(context: Resources, kind: str, action: str) -> str:
    step: Step = await (await _running(context, kind)).step(action)
    return f"{step.observation}\n\nThe episode is over." if step.done else step.observation


async def _restart(context: Resources, kind: str) -> str:
    lease = await _running(context, kind)
    return str(await lease.reset(lease.task))
