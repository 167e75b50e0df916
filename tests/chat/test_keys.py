"""The key goes to the server and nowhere else."""

import asyncio
import json
import logging
import traceback
from pathlib import Path

import pytest

from adjudge.chat import AnthropicClient, ChatClient, ChatError
from adjudge.chat._key import Key
from adjudge.testing import ChatServer, Fault
from chat.asking import QUICK_LIMITS, ask, failure, question

SECRET = "sk-open-sesame-0123456789"  # noqa: S105 (not one)
VARIABLES = ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without any of the variables."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_where_the_key_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The argument comes first, then the variable, then the file; a `Path` is a file; white space is no part of it."""
    file = tmp_path / "key"
    file.write_text(f"{SECRET}-file\n")
    with ChatServer("x") as server:
        ask(server)
        ask(server, api_key=SECRET)
        ask(server, api_key=file)
        monkeypatch.setenv("OPENAI_API_KEY_FILE", str(file))
        ask(server)
        monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}-variable")
        ask(server)
        ask(server, api_key=SECRET)
        sent = [call.headers.get("authorization") for call in server.calls]
    ends = ("", "-file", "-file", "-variable", "")
    assert sent == [None, *(f"Bearer {SECRET}{end}" for end in ends)]


def test_read_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is set after the client was made counts; so does the base URL's."""
    client = ChatClient("m")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with ChatServer("x", key=SECRET) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
        assert asyncio.run(client.complete(question())).text == "x"


def test_no_key_for_the_real_address() -> None:
    """Without a key OpenAI itself is not called: the error is fatal and says what to set."""
    for kind, name in ((ChatClient, "OPENAI_API_KEY"), (AnthropicClient, "ANTHROPIC_API_KEY")):
        with pytest.raises(ChatError, match=name) as caught:
            asyncio.run(kind("m").complete(question()))
        assert (caught.value.code, caught.value.fatal) == ("no-key", True)


@pytest.mark.parametrize("key", [f"{SECRET}\r\nX-Evil: 1", f"{SECRET} b", f"{SECRET}é", f"{SECRET}\x00"])
def test_keys_that_are_none(key: str) -> None:
    """A key that cannot stand in a header is refused without being shown, and nothing is sent."""
    with ChatServer("x") as server:
        error = failure(server, api_key=key)
        assert (error.code, error.fatal) == ("bad-key", True)
        assert server.counts.calls == 0
    assert SECRET not in "".join(traceback.format_exception(error))


def test_key_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A key file that is missing or not text is named; what is in it is not shown."""
    (tmp_path / "binary").write_bytes(b"\xff" + SECRET.encode())
    with ChatServer("x") as server:
        for name in ("missing", "binary"):
            error = failure(server, api_key=tmp_path / name)
            assert error.code == "bad-key"
            assert SECRET not in "".join(traceback.format_exception(error))


def shown(error: BaseException) -> str:
    """Return everything that a person or a crash reporter could show of an error, its causes and their local names."""
    texts = [str(error), repr(error), "".join(traceback.format_exception(error))]
    seen: BaseException | None = error
    while seen is not None:
        found = traceback.TracebackException.from_exception(seen, capture_locals=True)
        texts += [repr(seen), repr(vars(seen)), repr(seen.args), "".join(found.format())]
        seen = seen.__cause__ or seen.__context__
    return "".join(texts)


@pytest.mark.parametrize("kind", [ChatClient, AnthropicClient])
@pytest.mark.parametrize("fault", ["400", "404", "429", "500", "reset", "close", "hang", "html", "huge", "key"])
def test_the_key_is_shown_nowhere(kind: type[ChatClient], fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """No message, representation, traceback (local names included), log line or URL holds the key, whatever fails."""
    caplog.set_level(logging.DEBUG)
    with ChatServer("x" if fault == "key" else Fault(fault), key="another" if fault == "key" else None) as server:
        limits = {**QUICK_LIMITS, "attempt_timeout_s": 1.0} if fault == "hang" else QUICK_LIMITS
        client = kind("m", base_url=server.base_url, api_key=SECRET, **limits)
        with pytest.raises(ChatError) as caught:
            asyncio.run(client.complete(question()))
        assert SECRET not in shown(caught.value)
        headers = server.calls[0].headers
        assert headers.get("x-api-key", headers.get("authorization", "")).endswith(SECRET)
        assert SECRET not in server.calls[0].path
    assert SECRET not in caplog.text
    assert SECRET not in repr(client) + repr(vars(client)) + repr(Key(SECRET, "X"))


def test_a_server_that_repeats_the_key() -> None:
    """A reply with the key in it comes without it."""
    with ChatServer(lambda call: call.headers["authorization"]) as server:
        reply = ask(server, api_key=SECRET)
    assert reply.text == "Bearer ***"
    assert SECRET not in reply.raw


@pytest.mark.parametrize("key", ["1", "k", "none", "token", "usage"])
def test_a_placeholder_is_no_secret(key: str) -> None:
    """A key too short to be one, for a server that needs none, leaves words and tokens of a reply as they are."""
    with ChatServer("none, by the token usage of 1 key") as server:
        reply = ask(server, api_key=key)
    assert reply.text == "none, by the token usage of 1 key"
    assert (reply.prompt_tokens or 0) > 0


@pytest.mark.parametrize("key", [SECRET, "sk/with/slashes+and<brackets>&more", 'sk-"quoted"\\back'])
def test_a_server_that_spells_the_key_out(key: str) -> None:
    """The key is taken out in every way in which JSON can write it."""
    spelt = [
        "".join(f"\\u{ord(letter):04x}" for letter in key),
        "".join(f"\\u{ord(letter):04X}" for letter in key),
        json.dumps(key)[1:-1].replace("/", "\\/"),
        json.dumps(key)[1:-1].replace("<", "\\u003c").replace("+", "\\u002b"),
    ]
    hiding = Key(key, "X")
    hiding.reveal()
    for text in spelt:
        assert json.loads(f'"{text}"') == key
        within = json.dumps(f'{{"error": "{text}!"}}')
        assert hiding.hidden(f'{{"error": "{text}!"}}'.encode()) == b'{"error": "***!"}'
        assert hiding.hidden(within.encode()) == b'"{\\"error\\": \\"***!\\"}"'
