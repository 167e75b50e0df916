"""The scripted model: real sockets, and what it says it saw."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from adjudge.errors import ProcessError, UsageError
from adjudge.testing import (
    FAULTS,
    ChatCall,
    ChatServer,
    Fault,
    Limit,
    Reply,
    by_prompt,
    call_tool,
    correct,
    scores,
    verdict,
    wrong,
)
from chat.asking import VERDICT_SCHEMA, left_behind


def post(server: ChatServer, body: Any, path: str = "/chat/completions") -> tuple[int, dict[str, str], bytes]:
    """Send one request with a plain client and return status, headers and body."""
    parts = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", f"{parts.path}{path}", data)
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


def said(server: ChatServer, prompt: str = "hello", **more: Any) -> Any:
    """Return the text of the reply to a prompt."""
    status, _, body = post(server, {"model": "m", "messages": [{"role": "user", "content": prompt}], **more})
    assert status == 200
    return json.loads(body)["choices"][0]["message"]["content"]


def shout(call: ChatCall) -> str:
    """Answer with the prompt in capitals; a function that another process can import."""
    return call.prompt.upper()


@pytest.mark.parametrize("process", [False, True])
def test_scripts(process: bool) -> None:
    """A script is a text, a reply, a list whose last item stays, a mapping sent as it is, or a function of the call."""
    with ChatServer("Paris", process=process) as server:
        assert [said(server), said(server)] == ["Paris", "Paris"]
    with ChatServer(["a", Reply(None), "c"], process=process) as server:
        assert [said(server) for _ in range(4)] == ["a", None, "c", "c"]
    with ChatServer({"odd": 1}, process=process) as server:
        assert json.loads(post(server, {})[2]) == {"odd": 1}
    with ChatServer(shout, process=process) as server:
        assert said(server) == "HELLO"


@pytest.mark.parametrize("process", [False, True])
def test_counts(process: bool) -> None:
    """Calls, repeats of the same body and faults are counted, and still known when the server has stopped."""
    with ChatServer([Fault("500"), "x"], process=process) as server:
        for number in (1, 1, 1, 2):
            post(server, {"n": number})
        assert server.counts.calls == 4
    counts = server.counts
    assert (counts.calls, counts.repeats, counts.faults, counts.in_flight) == (4, 2, {"500": 1}, 0)


def test_verdicts_in_whatever_form() -> None:
    """A verdict is JSON with the schema's own key names, or the prompt's nonce line, or the bare word."""
    schema = {
        **VERDICT_SCHEMA,
        "properties": {"urteil": {"enum": ["WRONG", "CORRECT"]}, "why": {"type": "string"}, "p": {"type": "number"}},
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    with ChatServer(correct) as server:
        assert json.loads(said(server, response_format=wanted))["urteil"] == "CORRECT"
        assert said(server) == "CORRECT"
        assert (
            said(server, "End with the line `VERDICT 3fa94c1d: CORRECT` or `VERDICT 3fa94c1d: WRONG`.")
            == "VERDICT 3fa94c1d: CORRECT"
        )
    with ChatServer(wrong) as server:
        assert json.loads(said(server, response_format=wanted)) == {
            "urteil": "WRONG",
            "why": "as scripted: WRONG",
            "p": 0.0,
        }
        assert said(server, "Write this:\n9b1c77aa02 = <CORRECT or WRONG>\nThat is all.") == "9b1c77aa02 = WRONG"
        assert (
            said(server, "End with the line `VERDICT 3fa94c1d: CORRECT` or `VERDICT 3fa94c1d: WRONG`.")
            == "VERDICT 3fa94c1d: WRONG"
        )
    with ChatServer(lambda call: verdict(call, "CORRECT") if "2" in call.prompt else scores(call, 0.8)) as server:
        assert said(server, "2") == "CORRECT"
        rubric = {"type": "object", "properties": {"quality": {"type": "number"}, "reasoning": {"type": "string"}}}
        filled = json.loads(
            said(server, "x", response_format={"type": "json_schema", "json_schema": {"schema": rubric}})
        )
        assert filled["quality"] == 0.8


def test_chance_is_seeded() -> None:
    """Which call meets which fault depends on seed, body and repetition alone, not on the order of arrival."""

    def play(seed: int, order: range) -> dict[int, int]:
        with ChatServer("x", faults={"500": 0.3, "404": 0.2}, seed=seed) as server:
            return {number: post(server, {"n": number})[0] for number in order}

    one, other = play(1, range(60)), play(1, range(59, -1, -1))
    assert one == other
    assert one != play(2, range(60))
    assert {200, 404, 500} == set(one.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_on_the_wire(fault: str) -> None:
    """Each fault is what its name says, seen by a plain client, and the server goes on."""
    with ChatServer([Fault(fault), "fine"]) as server:
        parts = urlsplit(server.base_url)
        with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=60) as plain:
            plain.settimeout(0.5 if fault == "hang" else 60)
            body = b'{"messages": [{"role": "user", "content": "the prompt"}]}'
            plain.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            got, end = receive(plain, slow=fault == "slow")
        assert said(server) == "fine"
    text = got.decode("utf-8", "replace")
    signs = {"reset": (b"", "reset"), "close": (b"", "closed"), "hang": (b"", "silence")}
    if fault in signs:
        assert (got, end) == signs[fault]
    elif fault == "quota":
        assert "429" in text
        assert "insufficient_quota" in text
    else:
        assert text.startswith("HTTP/1.1 200"[: len(text)])
    assert (fault == "slow") == (end == "silence" and 0 < len(got) < 40)
    assert (fault == "huge") == (len(got) > 10_000_000)
    assert (fault == "echo") == ("the prompt" in text)


def receive(plain: socket.socket, *, slow: bool = False) -> tuple[bytes, str]:
    """Read one response, of a slow one its beginning, and say how it ended."""
    got = bytearray()
    while True:
        head, blank, body = bytes(got).partition(b"\r\n\r\n")
        if blank:
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")
            )
            if len(body) >= length:
                return bytes(got), "whole"
        try:
            piece = plain.recv(1 << 20)
        except ConnectionResetError:
            return bytes(got), "reset"
        except TimeoutError:
            return bytes(got), "silence"
        if not piece:
            return bytes(got), "closed"
        got += piece
        if slow:
            plain.settimeout(0.01)  # a byte at a time: enough of it seen


def test_retry_headers() -> None:
    """A fault may say when to come back, in seconds, as a date or in milliseconds."""
    script = [Fault("429", retry_after=2), Fault("503", retry_after="Fri, 31 Dec 2100 23:59:59 GMT", retry_after_ms=5)]
    with ChatServer(script) as server:
        assert post(server, {})[1]["retry-after"] == "2"
        headers = post(server, {})[1]
        assert (headers["retry-after"], headers["retry-after-ms"]) == ("Fri, 31 Dec 2100 23:59:59 GMT", "5")


def test_limits_are_enforced() -> None:
    """More calls at once than allowed, or more in a second, are refused with 429."""
    statuses: list[int] = []
    with ChatServer("x", latency_s=0.5, limit=Limit(in_flight=3, retry_after=1)) as server:
        threads = [threading.Thread(target=lambda: statuses.append(post(server, {})[0])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (statuses.count(429), statuses.count(200)) == (5, 3)
        assert server.counts.refused == 5
    with ChatServer("x", limit=Limit(per_s=5)) as server:
        assert [post(server, {})[0] for _ in range(8)].count(200) in (5, 6)


def test_keys_and_rejections() -> None:
    """A wrong key gets 401, an unwanted part of the body 400 that names it, an unknown path 404."""
    with ChatServer("x", key="sesame") as server:
        assert post(server, {})[0] == 401
    with ChatServer("x", rejects=("tools",)) as server:
        status, _, body = post(server, {"tools": []})
        assert status == 400
        assert b"tools" in body
        assert post(server, {}, "/elsewhere")[0] == 404


@pytest.mark.parametrize("body", [b"", b"[", b"[1]", b"\xff", b'{"messages": 5}', b'{"messages": [5, {"content": 5}]}'])
def test_odd_requests(body: bytes) -> None:
    """A request that is no chat request is answered too."""
    with ChatServer(correct) as server:
        assert post(server, body)[0] == 200
        assert post(server, body, "/messages")[0] == 200


def test_from_async_code() -> None:
    """It works in `async with`, and leaves neither descriptors nor threads."""

    async def run() -> None:
        async with ChatServer("x") as server:
            assert await asyncio.get_running_loop().run_in_executor(None, said, server) == "x"

    assert left_behind(lambda: asyncio.run(run())) == (0, 0)


def test_stopping_cuts_connections() -> None:
    """A stopped server cuts whoever hangs on it, frees its port, and can be started again."""
    server = ChatServer(Fault("hang"))
    with server:
        parts = urlsplit(server.base_url)
        plain = socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=60)
        plain.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    with plain:
        assert receive(plain)[1] in ("closed", "reset")
    with pytest.raises(UsageError):
        _ = server.base_url
    with server:
        assert server.base_url


def test_the_process_ends_with_its_owner() -> None:
    """A server in its own process is gone when its owner is, however the owner ends."""
    code = (
        "import os, sys; from adjudge.testing import ChatServer; server = ChatServer(process=True); server.start();"
        "print(server._process._child.pid, server.base_url, flush=True); os._exit(1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    port = urlsplit(done.stdout.split()[1]).port
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", int(port or 0)), timeout=1).close()
        except OSError:
            return
        threading.Event().wait(0.05)
    pytest.fail("still there")


def test_misuse() -> None:
    """Unknown faults, shares over one, scripts that cannot travel and servers that are gone are named."""
    with pytest.raises(UsageError, match="did you mean 'reset'"):
        Fault("rest")
    with pytest.raises(UsageError):
        ChatServer(faults={"500": 0.7, "reset": 0.7})
    with pytest.raises(UsageError):
        ChatServer(lambda call: "x", process=True)
    with ChatServer(process=True) as server:
        with pytest.raises(UsageError):
            _ = server.calls
        server._process._child.kill()  # type: ignore[union-attr]
        with pytest.raises(ProcessError):
            _ = server.counts


def test_agents_are_played_by_what_was_said() -> None:
    """A script for several agents calls each tool once, in order, whichever runs are in progress."""
    script: dict[str, list[str | Reply]] = {
        "You direct": [call_tool("ask", q="Oslo?"), "Sunny."],
        "You report": [call_tool("look"), "It is sunny."],
    }
    with ChatServer(by_prompt(script)) as server:

        def reply(prompt: str, *earlier: Any) -> Any:
            messages = [{"role": "system", "content": prompt}, *earlier]
            return json.loads(post(server, {"model": "m", "messages": messages})[2])["choices"][0]

        first = reply("You direct questions.")
        assert first["finish_reason"] == "tool_calls"
        (call,) = first["message"]["tool_calls"]
        assert call["function"] == {"name": "ask", "arguments": '{"q": "Oslo?"}'}
        assert reply("You report.")["message"]["tool_calls"][0]["id"] != call["id"]
        assert reply("You direct questions.", first["message"])["message"]["content"] == "Sunny."
        # A user who names the tool has not called it.
        assert reply("You direct questions.", {"role": "user", "content": "ask"})["message"]["tool_calls"]
        assert "no reply" in reply("Who are you?")["message"]["content"]


def test_a_script_tells_names_apart() -> None:
    """A call of a tool is not over because the name of another tool has its name in it."""
    play = by_prompt({"P": [call_tool("search", query="x"), "done"]})

    def reply(name: str, text: str | None = None) -> object:
        made = {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        said = {"role": "assistant", "content": text, "tool_calls": [made]}
        asked = {"messages": [{"role": "system", "content": "P"}, said]}
        return play(ChatCall(0, 0, "/v1/chat/completions", {}, json.dumps(asked).encode()))

    for other in ("transfer_to_research_expert", "search_web", "re-search"):
        assert reply(other) == call_tool("search", query="x")
    assert reply("search") == "done"
    assert reply("x", "I called:\nsearch.") == "done"


def test_calls_of_tools_for_anthropic() -> None:
    """Calls of tools are blocks where the messages interface is called."""
    with ChatServer(call_tool("look", city="Oslo")) as server:
        body = json.loads(post(server, {"model": "m", "messages": []}, "/messages")[2])
    assert body["stop_reason"] == "tool_use"
    assert body["content"] == [{"type": "tool_use", "id": "call_0_0", "name": "look", "input": {"city": "Oslo"}}]


@pytest.mark.parametrize("reply", [Reply("Paris"), call_tool("look", city="Oslo")])
def test_streams(reply: Reply) -> None:
    """A call that asks for a stream gets the reply as events, with calls of tools, the end and the tokens."""
    with ChatServer(reply) as server:
        _, headers, body = post(server, {"model": "m", "messages": [], "stream": True})
    assert headers["content-type"] == "text/event-stream"
    *events, last = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
    assert last == "[DONE]"
    said, end, usage = map(json.loads, events)
    delta = said["choices"][0]["delta"]
    assert delta["content"] == reply.text
    assert [one["function"]["name"] for one in delta.get("tool_calls", ())] == [name for name, _ in reply.tools]
    assert end["choices"][0]["finish_reason"] == reply.finish_reason
    assert usage["usage"]["completion_tokens"] >= 1
