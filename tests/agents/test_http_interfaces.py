"""An agent with an interface of its own: what it is sent, where its answer is, its headers, its errors."""

from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate
from adjudge.agents import HttpAgent, get_agent, wait_for_agent
from adjudge.calling import agent_options
from adjudge.errors import AdjudgeError, DataError, UsageError
from adjudge.http import BadStatus, Limits
from adjudge.model import Message
from agent_server import Asked, Reply, respond, serving

SECRET = "sk-0123456789abcdef"  # noqa: S105 (not one)
ONCE = Limits(attempts=1)
HISTORY = (Message("user", "Hello?"), Message("assistant", "Hi."))


@pytest.mark.parametrize(
    ("fields", "answer", "found"),
    [
        ({"response": "$.output.text"}, {"output": {"text": "Paris"}}, ("Paris", (), None)),
        ({"response": "output[0]['the text']"}, {"output": [{"the text": "Paris"}]}, ("Paris", (), None)),
        ({"response": "$.o[-1]"}, {"o": ["Lyon", "Paris"]}, ("Paris", (), None)),
        (
            {"response": "$.a", "tools_used": "$.steps[*].tool", "agents_called": "$.agent"},
            {"a": "Paris", "steps": [{"tool": "search"}, {}, {"tool": "read"}], "agent": "research"},
            ("Paris", ("research",), ("search", "read")),
        ),
        (
            {"tools_used": "$.runs[*].calls[*].n"},
            {"response": "Paris", "runs": [{"calls": [{"n": "a"}]}, {"calls": [{"n": "b"}]}]},
            ("Paris", (), ("a", "b")),
        ),
        # What is mapped is looked for there and nowhere else: a name that is missing is not known.
        ({"agents_called": "$.x"}, {"response": "Paris", "agents_called": ["liar"]}, ("Paris", (), None)),
    ],
)
def test_fields(fields: dict[str, str], answer: Any, found: tuple[Any, ...]) -> None:
    """A field is taken from where it is said to be; the others keep their usual places."""
    with serving(lambda _: answer) as url:
        record = respond(HttpAgent(url, fields=fields))
    tools = None if record.tool_calls is None else record.tools_used
    assert (record.final_response, record.agents_called, tools) == found


@pytest.mark.parametrize(
    ("fields", "answer", "why"),
    [
        (
            {"response": "$.output.text"},
            {"output": {"txt": "x"}},
            r"nothing at \$.output.text; there it has 'txt'; did",
        ),
        ({"response": "$.output.text"}, {"output": ["x"]}, r"nothing at \$.output.text; there it has a list"),
        ({"response": "$.output"}, {"output": 7}, r"response must be text, and at \$.output .* has a int"),
        ({"response": "$.r", "tools_used": "$.t"}, {"r": "x", "t": [{"name": "s"}]}, r"write \$.t\[\*\].NAME"),
    ],
)
def test_fields_that_are_not_there(fields: dict[str, str], answer: Any, why: str) -> None:
    """An answer without its response at its place is an error that names what is there, not an empty answer."""
    with serving(lambda _: answer) as url, pytest.raises(DataError, match=why):
        respond(HttpAgent(url, fields=fields))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"fields": {"reponse": "$.a"}}, "no field 'reponse'; did you mean 'response'"),
        ({"fields": {"response": "$.a[x]"}}, r"is not a place in JSON from character 4 on"),
        ({"send": {"input": "question"}}, r"neither \{question\} nor \{messages\}"),
        ({"send": {"input": "{query}"}}, r"nothing is sent for \{query\}"),
    ],
)
def test_bad_interfaces(options: dict[str, Any], why: str) -> None:
    """An interface that cannot be is refused before anybody is asked."""
    with pytest.raises(UsageError, match=why):
        HttpAgent("http://h/", **options)


def test_what_is_sent() -> None:
    """The body is the template with question, session and messages in it; a question is never read as a template."""
    asked: list[Asked] = []

    def answer(one: Asked) -> dict[str, str]:
        asked.append(one)
        return {"response": "Paris"}

    send = {"input": {"text": "{question}"}, "thread": "{session_id}", "all": "{messages}", "n": [1, None]}
    with serving(answer) as url:
        respond(HttpAgent(url, send=send), HISTORY)
        respond(HttpAgent(url))
    body = asked[0].body
    assert (body["input"], body["n"]) == ({"text": "Capital?"}, [1, None])
    assert asked[0].headers["traceparent"].split("-")[1] == body["thread"]
    assert [one["content"] for one in body["all"]] == ["Hello?", "Hi.", "Capital?"]
    assert asked[1].body == {"message": "Capital?", "session_id": body["thread"]}


def test_headers_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a variable holds is sent, and kept nowhere: not where an answer or an error repeats it, not in a run."""
    monkeypatch.setenv("AGENT_TENANT", SECRET[::-1])
    monkeypatch.setenv("AGENT_TOKEN", SECRET)
    given = ("X-Tenant=env:AGENT_TENANT", "Authorization=Bearer $AGENT_TOKEN", "X-Plain=production")

    def answer(asked: Asked) -> Reply | dict[str, str]:
        told = " ".join(asked.headers[name] for name in ("x-tenant", "authorization", "x-plain"))
        return Reply(told.encode(), status=422) if told.endswith("broken") else {"response": told}

    token = agent_options.set({"header": given})
    try:
        with serving(answer) as url:
            assert respond(get_agent(url)).final_response == "*** Bearer *** production"
            cases = [{"id": "1", "question": "?", "answer": "x"}]
            evaluate(cases, agent=url, scorers=["qa_f1_reward"], run=tmp_path / "a.run")
            agent_options.set({"header": (*given[:2], "X-Plain=broken")})
            with pytest.raises(BadStatus, match=r"422: \*\*\* Bearer \*\*\* broken") as caught:
                respond(get_agent(url))
    finally:
        agent_options.reset(token)
    assert SECRET not in repr(caught.value) + repr(caught.value.__context__)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET.encode() not in kept
    assert SECRET[::-1].encode() not in kept


def test_the_key_beside_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """ADJUDGE_AGENT_KEY is sent beside headers of the command line, unless they have an Authorization themselves."""
    monkeypatch.setenv("ADJUDGE_AGENT_KEY", SECRET)
    asked: list[str | None] = []

    def answer(one: Asked) -> dict[str, str]:
        asked.append(one.headers.get("authorization"))
        return {"response": "x"}

    with serving(answer) as url:
        for header in ("X-Tenant=one", "authorization=Token other-token"):
            token = agent_options.set({"header": (header,)})
            try:
                respond(get_agent(url))
            finally:
                agent_options.reset(token)
    assert asked == [f"Bearer {SECRET}", "Token other-token"]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("sk-0123456789", r"a header must be NAME=VALUE"),
        ("X-Key=$NOT_THERE_AT_ALL", "NOT_THERE_AT_ALL is not set"),
        ("X-Key=one\r\nX-Other: two", "the header X-Key cannot be sent"),
        ("Content-Length=7", "the header Content-Length cannot be sent"),
    ],
)
def test_bad_headers(header: str, why: str) -> None:
    """A header that cannot be sent is refused, and its value is not shown."""
    token = agent_options.set({"header": (header,)})
    try:
        with pytest.raises(UsageError, match=why) as caught:
            get_agent("http://h/")
    finally:
        agent_options.reset(token)
    assert "0123456789" not in str(caught.value)


def test_options_of_an_address() -> None:
    """What only a URL can use is refused for other agents, not silently dropped."""
    token = agent_options.set({"header": ("X-A=b",), "field": (("response", "$.a"),)})
    try:
        with pytest.raises(UsageError, match=r"--header and --field needs an agent behind a URL"):
            get_agent("openai:gpt-4o")
    finally:
        agent_options.reset(token)


@pytest.mark.parametrize("status", [400, 404, 422, 503])
def test_the_body_of_an_error(status: int) -> None:
    """What the agent says of an error is in the reason, in one short line that commands nobody."""
    body = b'{"detail":\n "no field input \x1b[2J ::error::", "more": "' + b"x" * 5000
    with serving(lambda _: Reply(body, status=status)) as url, pytest.raises(BadStatus) as caught:
        respond(HttpAgent(url, limits=ONCE))
    assert caught.value.message.startswith(f'the agent answered {status}: {{"detail": "no field input')
    assert len(caught.value.message) < 400
    assert not any(mark in caught.value.message for mark in ("\x1b", "\n", "::error::"))


def test_a_run_is_bound_to_its_interface(tmp_path: Path) -> None:
    """A run is not resumed with another place for the answer: it would mix two readings."""
    cases = [{"id": "1", "question": "?", "answer": "x"}]

    def run(**options: Any) -> None:
        evaluate(cases, agent=HttpAgent(url, **options), scorers=["qa_f1_reward"], run=tmp_path / "a.run")

    with serving(lambda _: {"a": "x", "b": "y"}) as url:
        run(fields={"response": "$.a"})
        run(fields={"response": "$.a"})
        with pytest.raises(AdjudgeError, match="has changed since the run began"):
            run(fields={"response": "$.b"})


def test_waiting() -> None:
    """Whatever an agent answers, it is there; one that is not, or whose proxy says so, is named with what was tried."""
    lines: list[str | None] = []
    with serving(lambda _: {}) as url:  # it answers 501 to GET
        wait_for_agent(url, 5.0, watch=lines.append)
    assert lines == [None]
    with pytest.raises(UsageError, match=r"not ready within 0.3 s: GET was tried .* connection refused"):
        wait_for_agent(f"{url}?v=1", 0.3, watch=lines.append)
    assert lines[1] is not None
    assert lines[1].startswith(f"waiting for {url}: ")
    with pytest.raises(UsageError, match="--wait needs an agent behind a URL"):
        wait_for_agent("module:agent", 0.3)
