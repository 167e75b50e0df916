"""A service that repeats its keys does not bring them into an error."""

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import quote

import pytest

from adjudge.errors import AdjudgeError, UsageError
from adjudge.http import Limits
from adjudge.receivers import LangfuseReceiver, LangSmithReceiver
from chat.test_keys import shown
from receivers.services import Langfuse, Service

PUBLIC = "pk-lf-0123-abcdef-456789"
SECRET = "sk-lf-98/76-fedcba+543210"  # noqa: S105 (not one)
TRACE = "0af7651916cd43dd8448eb211c80319c"
ECHOES = {
    "plain": SECRET,
    "in a URL": quote(SECRET, safe=""),
    "as the header": b64encode(f"{PUBLIC}:{SECRET}".encode()).decode(),
    "in hex": SECRET.encode().hex(),
    "cut": SECRET[:-6],
}


@pytest.mark.parametrize("status", [400, 401, 404, 500])
@pytest.mark.parametrize("how", ECHOES)
@pytest.mark.parametrize("kind", [LangfuseReceiver, LangSmithReceiver])
def test_the_keys_are_shown_nowhere(kind: type, how: str, status: int) -> None:
    """Whatever status comes with whatever spelling, no message, traceback or local name holds a key."""
    faults: list[tuple[int, Mapping[str, str], bytes]] = [
        (status, {}, f"refused {ECHOES[how]} of {PUBLIC}".encode())
    ] * 20
    with (Langfuse if kind is LangfuseReceiver else Service)(faults=faults) as service:
        keys = {"public_key": PUBLIC, "secret_key": SECRET} if kind is LangfuseReceiver else {"api_key": SECRET}
        receiver = kind(service.base_url, **keys, limits=Limits(attempts=1))
        with pytest.raises(AdjudgeError) as caught:
            receiver.fetch(TRACE, timeout=0.05, settle=0.01)
    said = caught.value.message
    assert "***" in said
    trace = caught.value.__traceback__
    ours = shown(caught.value.with_traceback(trace and trace.tb_next))  # without the local names of this test
    assert not any(SECRET[at : at + 8] in ours for at in (0, 6, 12, len(SECRET) - 8))
    assert ECHOES[how][-20:-4] not in said
    assert kind is LangSmithReceiver or PUBLIC not in said
    assert SECRET not in repr(receiver) + repr(vars(receiver))


@pytest.mark.parametrize("kind", [LangfuseReceiver, LangSmithReceiver])
@pytest.mark.parametrize("url", [f"http://user:{SECRET}@h", f"https://h/?key={SECRET}"])
def test_keys_in_addresses(kind: type, url: str) -> None:
    """An address with a password or a query is refused at once, and not shown: messages have the address."""
    with pytest.raises(UsageError) as caught:
        kind(url)
    assert SECRET not in str(caught.value)


def test_a_long_error_page() -> None:
    """A key that the limit of a message would cut in two is hidden before the text is cut."""
    page = "x" * 290 + " " + SECRET + "y" * 400
    with Langfuse(faults=[(403, {}, page.encode())] * 5) as service:
        receiver = LangfuseReceiver(service.base_url, public_key=PUBLIC, secret_key=SECRET)
        with pytest.raises(AdjudgeError) as caught:
            receiver.fetch(TRACE, timeout=0.05)
    assert SECRET[:5] not in caught.value.message
