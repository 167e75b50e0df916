"""Real rollouts of verifiers, with a scripted model, and rows that have a number, and some that have none.

`make integration` runs it in an environment that has verifiers.
"""

import asyncio
from typing import Any

import pytest

pytest.importorskip("verifiers.v1")
if hasattr(pytest.importorskip("verifiers"), "Rubric"):
    pytest.skip("has rubrics: test_verifiers_rubric", allow_module_level=True)

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode

from adjudge.errors import UsageError
from adjudge.integrations import RewardFault
from adjudge.integrations.verifiers import rubric
from adjudge.model import Score
from adjudge.rewards import reward
from adjudge.testing import ChatServer
from trainers import golden


class Direct(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """An agent that asks once, through the address that verifiers watches."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> Any:
        """Ask."""
        body = {"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]}
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{endpoint.rstrip('/')}/chat/completions", json=body, headers=headers) as reply,
        ):
            reply.raise_for_status()
        return vf.ProgramResult(0, "", "")


class Data(vf.TaskData):  # type: ignore[misc]
    """A question with its answer."""

    answer: Any = None


@reward(parts=("words",))
def own(final_response: str, prompt: str, answer: str | None) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    words = {"words": float(len(final_response.split()))}
    asked = prompt == "Capital of France?" and answer == "Paris"
    return outcomes.get(final_response) or Score.scored(float(asked), parts=words)


def rollouts(good: Any, responses: list[str], *, plugged: bool = False, **columns: Any) -> list[Any]:
    """Play a task with each response and return the traces."""
    if plugged:
        config = vf.TaskConfig(rewards={"good": {"fn": f"{__name__}:PLUGGED"}})
        task = vf.Task[Data](Data(prompt="Capital of France?", **columns), config)
    else:

        class Capital(vf.Task[Data]):  # type: ignore[misc]
            pass

        Capital.good = good
        task = Capital(Data(prompt="Capital of France?", **columns))

    async def play() -> list[Any]:
        with ChatServer(list(responses)) as server:
            client = vf.EvalClientConfig(base_url=server.base_url, api_key_var="ADJUDGE_NO_KEY")
            agent = vf.Agent(vf.AgentConfig(model="any", client=client, runtime=vf.SubprocessConfig()))
            agent.harness = Direct(vf.HarnessConfig(id="direct"))
            return [await agent.run(task) for _ in responses]

    return asyncio.run(play())


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the key that verifiers asks for."""
    monkeypatch.setenv("ADJUDGE_NO_KEY", "none")


def test_a_row_without_a_number_is_an_error_of_its_rollout() -> None:
    """It has no reward, which is None and not 0, and the rollout is not ok; the reason is kept in three places."""
    good, dead, tie = rollouts(rubric(own, name="good"), ["Paris", "dead", "tie"], answer="Paris")
    assert (good.ok, good.rewards["good"].value, good.metrics) == (True, 1.0, {"good/words": 1.0})
    assert good.info["good"] == {"status": "scored", "reason": None}
    for trace, status, reason in [(dead, "error", "env-died: gone"), (tie, "unscored", "tie")]:
        assert (trace.ok, trace.rewards) == (False, {"good": None})
        assert trace.errors[-1].message.endswith(f"good: the rollout is {status}: {reason}")
        assert trace.info["good"] == {"status": status, "reason": reason}


def test_zero_is_a_reward() -> None:
    """With `on_fault="zero"` the rollout is ok, its reward 0.0; what it is stays in its info."""
    (dead,) = rollouts(rubric(own, name="good", on_fault="zero"), ["dead"], answer="Paris")
    assert (dead.ok, dead.rewards["good"].value, dead.info["good"]["status"]) == (True, 0.0, "error")


PLUGGED = rubric(own, weight=0.5)


def test_the_config_names_it_too() -> None:
    """The same object as the `fn` of a task's config, which has neither a class nor the weight of one."""
    (good,) = rollouts(None, ["Paris"], plugged=True, answer="Paris")
    assert (good.rewards["good"].score, good.rewards["good"].weight) == (1.0, 0.5)


def trace_of(messages: list[tuple[Any, bool]], *, root_reply: str | None = None, **columns: Any) -> tuple[Any, Any]:
    """Return a task's data and a finished trace of messages, each with whether the model wrote it."""
    data = Data(prompt="Capital of France?", **columns)
    agent = vf.AgentInfo(config=vf.AgentConfig(model="any"))
    trace = vf.Trace(task=vf.TraceTask(type="Task", data=data), agent=agent, root_reply=root_reply)
    for index, (message, sampled) in enumerate(messages):
        trace.nodes.append(MessageNode(message=message, sampled=sampled, parent=index - 1 if index else None))
    return data, trace


CALL = vf.AssistantMessage(tool_calls=[vf.ToolCall(id="1", name="search", arguments="{}")])
FOUND = vf.ToolMessage(tool_call_id="1", content="Paris")
ASKED = vf.UserMessage(content="Capital of France?")
SAID = vf.AssistantMessage(content="Paris")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([(ASKED, False), (CALL, True), (FOUND, False), (SAID, True)], 1.0),
        ([(ASKED, False), (CALL, False), (FOUND, False), (SAID, True)], 0.0),
        ([(ASKED, False), (SAID, True)], 0.0),
    ],
    ids=["its-own", "of-the-prompt", "none"],
)
def test_tools_of_the_prompt_are_not_the_agents(messages: Any, expected: float) -> None:
    """A tool that ran before the model's first message was not called by the agent."""
    data, trace = trace_of(messages, answer="Paris")
    assert asyncio.run(rubric("qa_f1_reward_tool")(data, trace)) == expected


def test_the_root_agents_reply_is_the_response() -> None:
    """Of an agent with others below it, the response is the root's; of one that said nothing, it is empty."""
    data, trace = trace_of([(ASKED, False), (SAID, True)], root_reply="Lyon", answer="Paris")
    assert asyncio.run(rubric("qa_f1_reward")(data, trace)) == 0.0
    data, trace = trace_of([(vf.AssistantMessage(content="Paris"), False)], answer="Paris")
    assert asyncio.run(rubric("qa_f1_reward")(data, trace)) == 0.0


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number has none."""
    good = rubric(scorer)

    async def values() -> list[float | None]:
        found: list[float | None] = []
        for row in golden.rows(scorer):
            data, trace = trace_of([(vf.AssistantMessage(content=row["response"]), True)], answer=row["answer"])
            data = data.model_copy(update={"prompt": row["prompt"]})
            try:
                found.append(await good(data, trace))
            except RewardFault:
                found.append(None)
        return found

    golden.check(scorer, asyncio.run(values()))


def test_groups_are_refused() -> None:
    """Verifiers asks for one rollout at a time."""

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [0.0] * len(final_response)

    with pytest.raises(UsageError, match="one at a time"):
        rubric(rank)
