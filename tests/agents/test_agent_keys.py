"""A key of an agent is in no address, no command and no run file; a program gets the variables that are named."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from adjudge import evaluate
from adjudge.agents import CommandAgent, HttpAgent, get_agent
from adjudge.calling import agent_variables
from adjudge.errors import ProcessError, UsageError
from adjudge.model import Agent, Case, Trajectory
from adjudge.scenarios import CheckOptions, check
from adjudge.testing import ChatServer
from chat.test_keys import shown

SECRET = "sk-0123456789abcdef"  # noqa: S105 (not one)
CASES = [{"id": "1", "question": "?", "answer": "Paris"}]


def answer(agent: Agent) -> Trajectory:
    """Ask an agent one question."""

    async def work() -> Trajectory:
        try:
            return await agent.respond(Case("1", "?"), ())
        finally:
            await agent.aclose()  # type: ignore[attr-defined]

    return asyncio.run(work())


@pytest.mark.parametrize(
    "address",
    [
        f"http://h/chat?api_key={SECRET}",
        f"https://h/chat?v=1&token={SECRET}",
        f"http://h/chat?key={SECRET}#x",
        f"http://h/chat?accessToken={SECRET}",
        f"http://h/chat?x-api-key={SECRET}",
        f"http://h/chat?client_secret={SECRET}",
        f"http://h/chat?code={SECRET}",
        f"http://h/chat?api%5Fkey={SECRET}",
        f"http://user:{SECRET}@h/chat",
        f"http://{SECRET}@h/chat",
    ],
)
def test_keys_in_addresses(address: str, tmp_path: Path) -> None:
    """An address with a key in its query, or a password, is refused before anything is written, and not shown."""
    (tmp_path / "s.toml").write_text('id = "s"\nquestion = "?"\ntools_should_include = ["t"]\n')
    run = tmp_path / "a.run"
    for start in (
        lambda: get_agent(address),
        lambda: evaluate(CASES, agent=address, scorers=["qa_f1_reward"], run=run),
        lambda: check(tmp_path / "s.toml", CheckOptions(agent=address, run=run)),
    ):
        with pytest.raises(UsageError, match="ADJUDGE_AGENT_KEY") as caught:
            start()
        assert SECRET not in str(caught.value)
    assert not list(tmp_path.glob("a.run*"))


@pytest.mark.parametrize("query", ["v=2", "author=x", "keyword=x", "design=x", "passage=3", "key="])
def test_queries_that_are_not_keys(query: str) -> None:
    """Other parameters of an address stay."""
    agent = get_agent(f"http://h/chat?{query}")
    assert isinstance(agent, HttpAgent)
    assert agent.url == f"http://h/chat?{query}"


def test_an_agent_with_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The key of an agent is ADJUDGE_AGENT_KEY, or in headers; an answer that repeats it is kept without it."""
    with ChatServer(lambda call: {"response": f"Paris {call.headers.get('authorization')}"}) as server:
        url = f"{server.base_url}/chat/completions"
        assert answer(get_agent(url)).final_response == "Paris None"
        monkeypatch.setenv("ADJUDGE_AGENT_KEY", SECRET)
        assert answer(get_agent(url)).final_response == "Paris Bearer ***"
        agent = HttpAgent(url, headers={"Authorization": f"Token {SECRET[::-1]}"})
        assert answer(agent).final_response == "Paris Token ***"
        assert [call.headers.get("authorization") for call in server.calls] == [
            None,
            f"Bearer {SECRET}",
            f"Token {SECRET[::-1]}",
        ]
        plain = HttpAgent(url, headers={"x-tenant": "Bearer None", "x-project": "Paris Bearer"})
        assert answer(plain).final_response == "Paris None"
        evaluate(CASES, agent=url, scorers=["qa_f1_reward"], run=tmp_path / "a.run")
    assert SECRET[::-1] not in repr(agent) + repr(vars(agent))
    assert not any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        f"./agent --api-key {SECRET}",
        f"./agent --api-key={SECRET}",
        f"./agent --auth_token {SECRET}",
        f"env OPENAI_API_KEY={SECRET} ./agent",
        f"curl https://user:{SECRET}@h/",
        f"./agent --url 'https://h/?api_key={SECRET}'",
    ],
)
def test_keys_in_commands(command: str) -> None:
    """A command with a key in it is refused, and not shown: run files keep the command."""
    for spec in (f"command: {command}", command):
        with pytest.raises(UsageError, match="--agent-env") as caught:
            get_agent(spec) if spec != command else CommandAgent(command)
        assert SECRET not in str(caught.value)


def test_commands_that_are_not_keys() -> None:
    """A file that holds a key, a number of tokens and a plain address are not keys."""
    for command in ("./a --api-key-file key.txt", "./a --max-token 100", "./a http://h/chat?v=1", "./a --key k"):
        assert CommandAgent(command).command == command


SHOWING = """
import json, os, sys
for line in sys.stdin:
    print(json.dumps({"response": json.dumps(dict(os.environ))}), flush=True)
"""
KEYS = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LITELLM_API_KEY", "LANGFUSE_SECRET_KEY", "LANGFUSE_PUBLIC_KEY"),
    *("LANGSMITH_API_KEY", "MLFLOW_TRACKING_TOKEN", "PHOENIX_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS"),
    *("OPENAI_API_KEY_FILE", "ADJUDGE_AGENT_KEY", "ADJUDGE_ENV_TOKEN", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY", "OTHER"),
)


def seen_by(agent: Agent) -> dict[str, str]:
    """Return the environment that a program reports."""
    found = json.loads(answer(agent).final_response or "")
    assert isinstance(found, dict)
    return found


def test_what_a_program_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program gets what every program needs, and what is named; no key of ours, and nothing that we do not know."""
    (tmp_path / "show.py").write_text(SHOWING)
    command = f"{sys.executable} {tmp_path / 'show.py'}"
    for name in KEYS:
        monkeypatch.setenv(name, SECRET)
    for name in ("LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONUTF8", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        monkeypatch.setenv(name, "1" if name == "PYTHONUTF8" else "C")
    seen = seen_by(get_agent(f"command: {command}"))
    assert not seen.keys() & set(KEYS)
    assert SECRET not in seen.values()
    kept = {"PATH", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONUTF8", "OTEL_EXPORTER_OTLP_ENDPOINT"}
    assert kept <= seen.keys()
    assert seen["PATH"] == os.environ["PATH"]
    seen = seen_by(CommandAgent(command, env=("OTHER", "OPENAI_API_KEY")))
    assert seen.keys() & set(KEYS) == {"OTHER", "OPENAI_API_KEY"}


def test_named_for_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What --agent-env names reaches every program that is started under it; one that is not set is an error."""
    (tmp_path / "show.py").write_text(SHOWING)
    monkeypatch.setenv("OTHER", SECRET)
    token = agent_variables.set(("OTHER",))
    try:
        agent = get_agent(f"command: {sys.executable} {tmp_path / 'show.py'}")
    finally:
        agent_variables.reset(token)
    assert seen_by(agent)["OTHER"] == SECRET
    with pytest.raises(UsageError, match="NOT_THERE is not set"):
        CommandAgent("x", env=("NOT_THERE",))


def test_a_program_that_misses_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends at once may miss a variable: its error says which it gets, and how to name another."""
    (tmp_path / "needy.py").write_text("import os\nos.environ['MY_SERVICE_KEY']\n")
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    with pytest.raises(ProcessError, match=r"PATH, HOME.*--agent-env NAME") as caught:
        answer(get_agent(f"command: {sys.executable} {tmp_path / 'needy.py'}"))
    assert SECRET not in shown(caught.value)
