"""Models through the real LiteLLM package, against a real server: its replies and failures are ours."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents import get_agent
from adjudge.chat import ChatError
from adjudge.chat._litellm import LiteLLMClient
from adjudge.judges import LLMJudge, get_judge
from adjudge.model import Case, ChatReply, ChatRequest, Message
from adjudge.runs import RunConfig, evaluate
from adjudge.runs._reading import run_state
from adjudge.testing import ChatServer, Fault, Limit, correct

KEY = "sk-test-0123456789abcdef"
MODEL = "openai/m"
QUICK: dict[str, Any] = {"attempts": 3, "attempt_timeout_s": 2.0, "deadline_s": 20.0}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the library a key where it looks for one."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(server: ChatServer, **more: Any) -> ChatReply:
    """Ask one question."""

    async def once() -> ChatReply:
        async with LiteLLMClient(MODEL, base_url=server.base_url, **{**QUICK, **more}) as client:
            request = ChatRequest(MODEL, (Message("user", "Capital of France?"),), max_tokens=5, temperature=0.0)
            return await client.complete(request)

    return asyncio.run(once())


def test_reply() -> None:
    """The text, the usage and the raw body come back; the library is given the model, the key and the parameters."""
    with ChatServer("Paris", key=KEY) as server:
        reply = ask(server)
        (call,) = server.calls
    assert (reply.text, reply.finish_reason) == ("Paris", "stop")
    assert reply.prompt_tokens is not None
    assert '"content":"Paris"' in reply.raw
    assert {name: call.json[name] for name in ("model", "max_tokens", "temperature")} == {
        "model": "m",
        "max_tokens": 5,
        "temperature": 0.0,
    }


@pytest.mark.parametrize(
    ("script", "code", "fatal", "calls"),
    [
        (Fault("401"), "unauthorised", True, 1),
        (Fault("403"), "unauthorised", True, 1),
        (Fault("quota"), "quota", True, 1),
        (Fault("400"), "bad-request", False, 1),
        (Fault("404"), "not-found", False, 1),
        (Fault("429"), "rate-limited", False, 3),
        (Fault("429", retry_after=86400), "rate-limited", False, 1),
        (Fault("500"), "server-error", False, 3),
        (Fault("503"), "server-error", False, 3),
        (Fault("html"), "server-error", False, 3),
        (Fault("truncated"), "server-error", False, 3),
        (Fault("no-choices"), "malformed-reply", False, 3),
        (Fault("hang"), "timeout", False, 3),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else None,
)
def test_failures(script: Fault, code: str, fatal: bool, calls: int) -> None:
    """What the library raises is an error of ours with its code, tried as often as we say: its own retries are off."""
    with ChatServer(script) as server:
        with pytest.raises(ChatError) as caught:
            ask(server)
        assert server.counts.calls == calls
    assert (caught.value.code, caught.value.fatal) == (code, fatal)
    assert caught.value.__cause__ is caught.value.__context__ is None  # nothing leads back to the request


@pytest.mark.parametrize("fault", ["reset", "close", "500", "429"])
def test_what_passes(fault: str) -> None:
    """What passes is tried again, and the reply comes."""
    with ChatServer([Fault(fault), "Paris"]) as server:
        assert ask(server).text == "Paris"
        assert server.counts.calls == 2


def test_refusal() -> None:
    """A refusal and a missing text are replies."""
    with ChatServer(Fault("refusal")) as server:
        assert ask(server).refusal == "I cannot help with that."
    with ChatServer(Fault("null")) as server:
        assert ask(server).text is None


def test_the_key_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that a server repeats stands in no message, representation or reply."""
    with ChatServer(f"your key is {KEY}") as server:
        reply = ask(server)
    assert KEY not in repr(reply)
    monkeypatch.delenv("OPENAI_API_KEY")
    with ChatServer(Fault("401")) as server, pytest.raises(ChatError) as caught:
        ask(server, api_key=KEY)
    assert KEY not in f"{caught.value!r}{vars(caught.value)}{LiteLLMClient(MODEL, api_key=KEY)!r}"


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any key the run would end in the same way everywhere: that is fatal, and nobody is called."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with ChatServer("Paris") as server:
        with pytest.raises(ChatError) as caught:
            ask(server)
        assert (caught.value.fatal, server.counts.calls) == (True, 0)


def test_judged_run(tmp_path: Path) -> None:
    """A judge and an agent by LiteLLM names work in a run: kept, counted, within the limit of calls in flight."""
    cases = [Case(f"c{n}", f"What is {n} + 1?", references=(str(n + 1),)) for n in range(20)]
    with ChatServer(correct, latency_s=0.01, faults={"503": 0.1}, limit=Limit(in_flight=4), seed=3) as server:
        result = evaluate(
            cases,
            agent=get_agent(f"litellm:{MODEL}", base_url=server.base_url),
            judge=get_judge(f"litellm:{MODEL}", base_url=server.base_url),
            run=tmp_path / "a.run",
            config=RunConfig(cache="off", workers=4),
        )
        assert result.counts == {"scored": 20, "unscored": 0, "error": 0}
        assert run_state(tmp_path / "a.run").calls == server.counts.calls
    assert KEY.encode() not in (tmp_path / "a.run").read_bytes()


def test_structured_fallback() -> None:
    """Where the endpoint takes no schema, the verdict is asked by key: one refused call, one answer."""
    with ChatServer(correct, rejects=("response_format",)) as server:
        judgement = LLMJudge(MODEL, server.base_url, api="litellm").judge("What is 1 + 1?", "2", "It is 2.")
        assert (judgement.verdict, server.counts.calls) == ("CORRECT", 2)
        assert ["response_format" in call.json for call in server.calls] == [True, False]
