"""Agents of every kind: a function, a batch, a program, an address; each gives a trajectory or says why not."""

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents import BatchAgent, CommandAgent, FunctionAgent, HttpAgent, get_agent
from adjudge.errors import AdjudgeError, DataError, ProcessError, RowError, UsageError
from adjudge.model import Agent, Case, Message, Trajectory
from adjudge.testing import ChatServer, Fault

CASE = Case("q1", "Capital of France?", image="data:image/png;base64,AA==")
HISTORY = (Message("user", "Hi"), Message("assistant", "Hello"))


def answer(agent: Agent, case: Case = CASE, history: Sequence[Message] = ()) -> Trajectory:
    """Ask an agent once."""

    async def once() -> Trajectory:
        try:
            return await agent.respond(case, history)
        finally:
            close = getattr(agent, "aclose", None)
            if close is not None:
                await close()

    return asyncio.run(once())


async def by_query(query: str, image: str | None, history: list[dict[str, Any]]) -> str:
    """Answer with all it was given."""
    return f"{query} {image} {len(history)}"


class Whole:
    """An object that is called."""

    def __call__(self, case: Case) -> dict[str, Any]:
        """Answer with a source."""
        return {"response": case.id, "sources": ["a"]}


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (str.upper, "CAPITAL OF FRANCE?"),
        (lambda anything: f"got {anything}", "got Capital of France?"),
        (by_query, "Capital of France? data:image/png;base64,AA== 2"),
        (Whole(), "q1"),
        (lambda messages: [{"role": "assistant", "content": f"{len(messages)}"}], "0"),
        (lambda question: Trajectory(final_response="mine"), "mine"),
        ("under_test.test_agents:place", "Capital of France?"),
    ],
    ids=["sync", "any-name", "async", "object", "messages", "trajectory", "place"],
)
def test_functions(agent: Any, expected: str) -> None:
    """A function gets its arguments by name and returns a text, messages, a mapping or a trajectory."""
    found = answer(get_agent(agent), history=HISTORY)
    assert found.final_response == expected


@pytest.mark.parametrize("kind", ["list", "mapping", "nested"])
def test_an_answer_names_no_file(kind: str, tmp_path: Path) -> None:
    """A text where messages should be is a text, never the path of a record."""
    record = tmp_path / "record.json"
    record.write_text('[{"role": "assistant", "content": "from the file"}]')
    answers: dict[str, Any] = {
        "list": [str(record)],
        "mapping": {"messages": str(record)},
        "nested": {"messages": {"messages": str(record)}},
    }
    try:
        said = answer(get_agent(lambda question: answers[kind])).final_response
    except AdjudgeError as error:
        said = error.message
    assert "from the file" not in (said or "")


def place(question: str) -> str:
    """Answer as asked."""
    return question


def test_sync_functions_wait_together() -> None:
    """Sync functions do not hold up the event loop, nor one another."""
    barrier = threading.Barrier(4, timeout=60)

    def waits(question: str) -> str:
        barrier.wait()
        return question

    async def together() -> list[Trajectory]:
        agent = get_agent(waits)
        return await asyncio.gather(*(agent.respond(CASE, ()) for _ in range(4)))

    assert len(asyncio.run(together())) == 4


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (lambda a, b: "", "has an unknown argument 'a'"),
        (5, "an agent must be a function, an object with respond, or a name, got int"),
        ("nothing", "does not name an agent"),
        ("no_such_module:agent", "cannot import"),
        ("under_test.test_agents:plaice", "did you mean 'place'"),
        ("command:", "does not name an agent"),
    ],
)
def test_no_agent(agent: Any, words: str) -> None:
    """What cannot be an agent is refused in words."""
    with pytest.raises(UsageError, match=words):
        get_agent(agent)


class Batches:
    """A batch agent as competitions have them."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def get_batch_size(self) -> int:
        """Return how many questions it likes at once."""
        return 4

    def batch_generate_response(
        self, queries: list[str], images: list[Any], message_histories: list[list[dict[str, Any]]]
    ) -> list[str]:
        """Answer many questions."""
        self.sizes.append(len(queries))
        time.sleep(0.01)
        if "short" in queries:
            return []
        return [query.upper() for query in queries]


def test_batches() -> None:
    """A batch agent is asked in batches of its size; too few answers are an error of those cases."""
    batches = Batches()

    async def many(questions: Sequence[str]) -> list[Any]:
        agent = get_agent(batches)
        assert isinstance(agent, BatchAgent)
        asked = (agent.respond(Case(str(n), question), ()) for n, question in enumerate(questions))
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(many([f"q{n}" for n in range(10)]))
    assert [one.final_response for one in found] == [f"Q{n}" for n in range(10)]
    assert batches.sizes == [4, 4, 2]
    found = asyncio.run(many(["a", "short", "b", "c", "d"]))
    assert [isinstance(one, DataError) for one in found] == [True, True, True, True, False]


PROGRAM = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["message"] == "die": sys.exit(1)
    if asked["message"] == "garbage": print("no json", flush=True); continue
    if asked["message"] == "hang": time.sleep(60)
    print(json.dumps({"response": asked["message"].upper(), "sources": [asked["session_id"]]}), flush=True)
"""


def test_command(tmp_path: Path) -> None:
    """A program answers JSON lines; one that dies, hangs or talks nonsense fails its own case, and is replaced."""
    (tmp_path / "agent.py").write_text(PROGRAM)

    async def talk() -> list[Any]:
        agent = get_agent(f"command: {sys.executable} {tmp_path / 'agent.py'}")
        assert isinstance(agent, CommandAgent)
        found: list[Any] = []
        for question in ("a", "die", "b", "garbage", "hang", "c"):
            try:
                async with asyncio.timeout(1.0 if question == "hang" else 60.0):
                    found.append((await agent.respond(Case("1", question), ())).final_response)
            except (AdjudgeError, TimeoutError) as error:
                found.append(type(error))
        await agent.aclose()
        return found

    assert asyncio.run(talk()) == ["A", ProcessError, "B", RowError, TimeoutError, "C"]


def test_no_command() -> None:
    """A program that cannot be started is an error of the case, in words."""
    with pytest.raises(ProcessError, match="No such file"):
        answer(get_agent("command: /no/such/program"))


def test_http_agent() -> None:
    """An HTTP agent is sent the message and a session that all turns share, and its answer is read."""
    with ChatServer({"response": "Paris", "sources": ["atlas"]}) as server:
        url = f"{server.base_url}/chat/completions"
        agent = get_agent(url)
        assert isinstance(agent, HttpAgent)
        found = answer(agent, Case("a", "Capital?", conversation_id="c"))
        answer(get_agent(url), Case("b", "And of Spain?", conversation_id="c"))
        bodies = [call.json for call in server.calls]
    assert (found.final_response, found.sources) == ("Paris", ("atlas",))
    assert [body["message"] for body in bodies] == ["Capital?", "And of Spain?"]
    assert len({body["session_id"] for body in bodies}) == 1
    assert len(bodies[0]["session_id"]) == 32


def test_http_agent_is_named_without_its_query() -> None:
    """What follows a question mark in an address may be a key, and stands in no name."""
    agent = HttpAgent("http://127.0.0.1:9/chat?key=sk-0123456789")
    assert (agent.name, agent.url) == ("http://127.0.0.1:9/chat", "http://127.0.0.1:9/chat?key=sk-0123456789")


def test_http_agent_fails() -> None:
    """What an address answers that is no answer is an error with a code."""
    for script in (Fault("404"), Fault("html"), {"nothing": 1}):
        with ChatServer(script) as server, pytest.raises(AdjudgeError):
            answer(get_agent(f"{server.base_url}/chat/completions"))


def test_chat_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model behind an OpenAI-compatible endpoint is asked with the history, the question and the image."""
    with ChatServer("Paris") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        found = answer(get_agent("openai:m"), history=HISTORY)
        (call,) = server.calls
    assert found.final_response == "Paris"
    assert [message["role"] for message in call.messages] == ["user", "assistant", "user"]
    assert call.messages[-1]["content"][1]["image_url"]["url"].startswith("data:image/png")


def test_agent_as_it_is() -> None:
    """An object with a name and respond is an agent already."""
    agent = FunctionAgent.of(place)
    assert get_agent(agent) is agent
