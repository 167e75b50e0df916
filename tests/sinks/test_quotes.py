"""What a dashboard says when it refuses a score is quoted without our keys."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from adjudge.http import HttpReply
from adjudge.sinks._langfuse import LangfuseWire, langfuse_keys
from adjudge.sinks._otel import OtelWire
from adjudge.sinks._wire import Wire

SECRET = "sk-lf-98/76-fedcba+543210"  # noqa: S105 (not one)
ECHOES = {
    "plain": SECRET,
    "URL": quote(SECRET, safe=""),
    "base64": b64encode(SECRET.encode()).decode(),
    "header": b64encode(f"pk-lf-0123456789:{SECRET}".encode()).decode(),
    "hex": SECRET.encode().hex(),
    "cut": SECRET[:-6],
}


@pytest.mark.parametrize("how", ECHOES)
def test_quotes_have_no_keys(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that repeats a key, in whatever spelling, is quoted without it."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{quote(SECRET, safe='')}")
    wires: list[Wire] = [
        LangfuseWire("http://h", None, langfuse_keys("pk-lf-0123456789", SECRET)),
        OtelWire("http://h"),
    ]
    for wire in wires:
        said = wire.quote(HttpReply(400, {}, f"no room for {ECHOES[how]}, sorry".encode()))
        assert said.startswith("the receiver answered 400: no room for ")
        assert said.endswith(", sorry")
        assert "***" in said
        assert ECHOES[how][-19:-5] not in said
