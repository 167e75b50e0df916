"""Every fault ends typed: a real server, a real socket, one code each."""

import asyncio
import pickle
from typing import Any

import pytest

from adjudge.chat import AnthropicClient, ChatClient, ChatError, Unauthorised
from adjudge.errors import AdjudgeError, UsageError
from adjudge.testing import FAULTS, ChatServer, Fault
from chat.asking import QUICK_LIMITS, ask, failure, question


@pytest.mark.parametrize(
    ("fault", "code", "calls", "fatal"),
    [
        ("400", "bad-request", 1, False),
        ("401", "unauthorised", 1, True),
        ("403", "unauthorised", 1, True),
        ("402", "quota", 1, True),
        ("404", "not-found", 1, False),
        ("413", "bad-request", 1, False),
        ("302", "redirect", 1, False),
        ("quota", "quota", 1, True),
        ("408", "server-error", 2, False),
        ("409", "server-error", 2, False),
        ("425", "server-error", 2, False),
        ("429", "rate-limited", 2, False),
        ("500", "server-error", 2, False),
        ("502", "server-error", 2, False),
        ("503", "server-error", 2, False),
        ("529", "server-error", 2, False),
        ("reset", "unreachable", 2, False),
        ("close", "unreachable", 2, False),
        ("cut-off", "unreachable", 2, False),
        ("hang", "timeout", 2, False),
        ("slow", "timeout", 2, False),
        ("truncated", "malformed-reply", 2, False),
        ("wrong-json", "malformed-reply", 2, False),
        ("no-choices", "malformed-reply", 2, False),
        ("not-utf8", "malformed-reply", 2, False),
        ("huge", "malformed-reply", 2, False),
        ("html", "malformed-reply", 2, False),
    ],
)
def test_permanent_faults(fault: str, code: str, calls: int, fatal: bool) -> None:
    """A fault that stays has its own code, is retried or not as the docs say, and is fatal or not."""
    with ChatServer(Fault(fault)) as server:
        error = failure(server, attempts=2, attempt_timeout_s=1.0 if fault in ("hang", "slow") else 60)
        assert (error.code, error.fatal) == (code, fatal)
        assert server.counts.calls == calls
        assert ("2 attempts" in error.message) == (calls == 2)


def test_every_fault_is_in_the_table_above() -> None:
    """No fault of the scripted server is left untested; three of them are replies, not errors."""
    (table,) = test_permanent_faults.pytestmark  # type: ignore[attr-defined]
    tested = {row[0] for row in table.args[1]}
    assert set(FAULTS) - tested == {"null", "refusal", "echo"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("401", "unauthorised"),
        ("quota", "quota"),
        ("529", "server-error"),
        ("reset", "unreachable"),
        ("truncated", "malformed-reply"),
        ("no-choices", "malformed-reply"),
        ("wrong-json", "malformed-reply"),
        ("html", "malformed-reply"),
    ],
)
def test_permanent_faults_of_the_other_interface(fault: str, code: str) -> None:
    """Faults have the same codes whichever interface is spoken."""
    with ChatServer(Fault(fault)) as server:
        assert failure(server, kind=AnthropicClient, **QUICK_LIMITS).code == code


@pytest.mark.parametrize("fault", ["html", "no-choices", "reset", "500"])
def test_faults_that_pass(fault: str) -> None:
    """A fault that happens twice and then no more is not seen by the caller."""
    with ChatServer([Fault(fault), Fault(fault), "Paris"]) as server:
        assert ask(server).text == "Paris"
        assert server.counts.calls == 3


def test_malformed_replies_are_asked_for_twice_more() -> None:
    """Other failures do not use up the two repetitions of a malformed reply, nor the other way round."""
    script: list[str | Fault] = [*map(Fault, ("500", "html", "html", "500", "html")), "Paris"]
    with ChatServer(script) as server:
        assert failure(server).code == "malformed-reply"
        assert server.counts.calls == 5


def test_the_deadline_names_the_last_failure() -> None:
    """A call that is out of time says so, and what went wrong last."""
    with ChatServer(Fault("hang")) as server:
        error = failure(server, attempt_timeout_s=0.3, deadline_s=0.8)
    assert error.code == "deadline"
    assert "the last: timeout" in error.message


def test_one_attempt_means_one() -> None:
    """With one attempt nothing is asked twice."""
    for fault in ("500", "html", "reset"):
        with ChatServer(Fault(fault)) as server:
            failure(server, attempts=1)
            assert server.counts.calls == 1


def test_a_request_that_is_no_json() -> None:
    """A request that cannot be written is a bad request, and nothing is sent."""
    with ChatServer("x") as server:
        for schema in ({"a": float("nan")}, {"a": object()}):
            with pytest.raises(ChatError) as caught:
                ask(server, question(schema=schema))
            assert caught.value.code == "bad-request"
        assert server.counts.calls == 0


@pytest.mark.parametrize(
    "base_url", ["file:///etc", "api.openai.com", "http://u:sesame@h/v1", "http://h/v1?key=sesame"]
)
def test_base_urls_that_cannot_work(base_url: str) -> None:
    """A base URL that can never work is refused at once, and not shown."""
    with pytest.raises(UsageError) as caught:
        ChatClient("m", base_url=base_url)
    assert caught.value.code == "bad-base-url"
    assert "sesame" not in str(caught.value)


def test_errors_travel() -> None:
    """An error is one of ours, and survives a process boundary with its code and whether it is fatal."""
    error = pickle.loads(pickle.dumps(Unauthorised("no", code="no-key")))  # noqa: S301 (our own)
    assert isinstance(error, ChatError)
    assert isinstance(error, AdjudgeError)
    assert (type(error), error.code, error.fatal) == (Unauthorised, "no-key", True)


@pytest.mark.parametrize("seed", [1, 2])
def test_many_calls_under_faults(seed: int) -> None:
    """With 20 % mixed transient faults every call is answered, with at most 1.35 calls each, within the limit."""
    faults = dict.fromkeys(("429", "500", "502", "503", "reset", "close", "408"), 0.2 / 7)
    with ChatServer(lambda call: call.messages[0]["content"], faults=faults, seed=seed) as server:

        async def run() -> list[str | None]:
            async with ChatClient("m", base_url=server.base_url, in_flight=32) as client:
                replies = await asyncio.gather(*(client.complete(question(f"q{number}")) for number in range(400)))
                return [reply.text for reply in replies]

        assert asyncio.run(run()) == [f"q{number}" for number in range(400)]
        counts = server.counts
    assert counts.calls <= 1.35 * 400
    assert counts.max_in_flight <= 32
    assert set(counts.faults) == set(faults)


def test_a_mixed_crowd() -> None:
    """Where some rows fail for good, each of them is named with its cause and the others are answered."""
    kinds = {"1": "400", "2": "404", "3": "html", "4": "null", "5": "refusal"}

    def script(call: Any) -> str | Fault:
        kind = kinds.get(call.messages[0]["content"][-1])
        return Fault(kind) if kind else "fine"

    with ChatServer(script) as server:

        async def run() -> list[str]:
            async with ChatClient("m", base_url=server.base_url) as client:

                async def one(number: int) -> str:
                    try:
                        reply = await client.complete(question(f"q{number}"))
                    except ChatError as error:
                        return error.code
                    return reply.text or reply.refusal or "nothing"

                return list(await asyncio.gather(*(one(number) for number in range(60))))

        ends = asyncio.run(run())
    expected = [
        "fine",
        "bad-request",
        "not-found",
        "malformed-reply",
        "nothing",
        "I cannot help with that.",
        *["fine"] * 4,
    ]
    assert ends == expected * 6
