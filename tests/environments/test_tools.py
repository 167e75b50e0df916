"""The agent's tools act in the rollout's environment; what the model writes is text to it and nothing else."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from adjudge.environments import Context, EnvDied, EnvSpec, Pool, World
from adjudge.environments.tools import (
    TOOLS,
    alfworld_admissible_commands,
    alfworld_objective,
    alfworld_reset,
    alfworld_step,
    call_tool,
    scienceworld_objective,
    scienceworld_reset,
    scienceworld_step,
    tool_schema,
    webshop_actions,
    webshop_click,
    webshop_instruction,
    webshop_search,
)
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step


class Stage:
    """Repeats what it hears, with the facts that the three environments add."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def reset(self, task: Any) -> str:
        """Begin."""
        self.heard = []
        return f"A room.\n\nYour task is to: {task}."

    def step(self, action: str) -> Step:
        """Repeat."""
        self.heard.append(action)
        actions = {"has_search_bar": action != "click[a]", "clickables": ["a", "buy now"]}
        facts = {"admissible_commands": ["look", "go east"], "actions": actions}
        return Step(f"heard {action}", done=action.endswith("end"), info=facts)

    def outcome(self) -> Outcome:
        """Say nothing."""
        return Outcome()

    def close(self) -> None:
        """Nothing to free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSpec(EnvSpec):
    """A stage."""

    kind: ClassVar[str] = "webshop"

    def build(self) -> World:
        """Make one."""
        return Stage()


class HouseSpec(StageSpec):
    """The same under another name."""

    kind: ClassVar[str] = "alfworld"


class LabSpec(StageSpec):
    """The same under another name."""

    kind: ClassVar[str] = "scienceworld"


async def test_webshop_tools() -> None:
    """Searching and clicking are actions; any text is safe within them."""
    async with Pool(StageSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        await context.reset_resource("webshop", "buy")
        assert await webshop_actions(context=context) == "A room.\n\nYour task is to: buy."
        assert await webshop_search('a] & "b"\n#', context=context) == 'heard search[a] & "b"\n#]'
        assert await webshop_actions(context=context) == "search[...]\nclick[a]\nclick[buy now]"
        assert await webshop_click("a", context=context) == "heard click[a]"
        assert await webshop_actions(context=context) == "click[a]\nclick[buy now]"
        assert await webshop_instruction(context=context) == "A room.\n\nYour task is to: buy."


async def test_alfworld_tools() -> None:
    """Commands, the objective, what is admissible, and the same game from the start."""
    async with Pool(HouseSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        await context.reset_resource("alfworld", "cool an egg")
        assert await alfworld_objective(context=context) == "cool an egg."
        assert "not known" in await alfworld_admissible_commands(context=context)
        assert await alfworld_step("look", context=context) == "heard look"
        assert await alfworld_admissible_commands(context=context) == "look\ngo east"
        assert await alfworld_step("the end", context=context) == "heard the end\n\nThe episode is over."
        assert await alfworld_step("more", context=context) == "heard the end\n\nThe episode is over."
        assert "A room." in await alfworld_reset(context=context)
        assert await alfworld_step("look", context=context) == "heard look"


async def test_scienceworld_tools() -> None:
    """Actions, the objective, and the same task from the start."""
    async with Pool(LabSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        await context.reset_resource("scienceworld", "boil water")
        assert await scienceworld_step("look around", context=context) == "heard look around"
        assert "boil water" in await scienceworld_objective(context=context)
        assert "boil water" in await scienceworld_reset(context=context)


async def test_the_harness_starts_the_episode() -> None:
    """A tool that is used before an episode was started says whose turn it is."""
    async with Pool(StageSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        with pytest.raises(UsageError, match="reset the webshop environment"):
            await webshop_search("x", context=context)


@pytest.mark.parametrize("tool", [tool for tools in TOOLS.values() for tool in tools])
def test_every_tool_has_a_schema(tool: Any) -> None:
    """The schema names the tool, says what it does, and describes every parameter but the context."""
    function = tool_schema(tool)["function"]
    assert function["name"] == tool.__name__
    assert function["description"]
    parameters = function["parameters"]
    assert parameters["required"] == list(parameters["properties"])
    assert "context" not in parameters["properties"]
    assert all(name != about["description"] for name, about in parameters["properties"].items())


async def test_what_a_model_calls_wrongly_is_answered() -> None:
    """A name or arguments that do not exist are told to the model; they raise nothing and do nothing."""
    async with Pool(StageSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        await context.reset_resource("webshop", "buy")
        assert await call_tool("webshop_search", {"query": "tea"}, context) == "heard search[tea]"
        assert "There is no tool 'rm'" in await call_tool("rm", {}, context)
        assert "takes query as text" in await call_tool("webshop_search", {"context": "x"}, context)
        assert "takes query as text" in await call_tool("webshop_search", {"query": 7}, context)
        assert "takes nothing" in await call_tool("webshop_actions", {"x": "y"}, context)
        for arguments in (None, ["tea"], "tea", 7):
            assert "takes query as text" in await call_tool("webshop_search", arguments, context)  # type: ignore[arg-type]


async def test_a_tool_tells_a_death_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a death a tool repeats the error; it never says that no episode was started."""

    def broken(*_: object) -> Step:
        raise RuntimeError("the roof fell in")

    async with Pool(StageSpec(), 1) as pool, Context("r", pools=[pool]) as context:
        await context.reset_resource("webshop", "buy")
        monkeypatch.setattr(Stage, "step", broken)
        for _ in range(2):
            with pytest.raises(EnvDied, match="the roof fell in"):
                await webshop_search("x", context=context)
        with pytest.raises(EnvDied, match="the roof fell in"):
            await webshop_actions(context=context)
