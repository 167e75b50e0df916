"""A secret that a server repeats is taken out, however the server spells it and wherever it cuts it."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.chat import Key
from adjudge.chat._litellm import _failure
from adjudge.http import Again, hide
from chat.test_keys import SECRET
from support import assert_linear

KEYS = (SECRET, "sk-proj-Zq9/Wx+7=Tt&Rr<0>Pp", 'k"q\\w-e1r2t3y4')
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "json in json": lambda key: json.dumps(json.dumps(key))[3:-3],
    "codes": lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
    "quoted": lambda key: quote(key, safe=""),
    "quoted in lower case": lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    "quoted twice": lambda key: quote("".join(f"%{ord(letter):02X}" for letter in key), safe=""),
    "numbers": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "hexadecimal numbers": lambda key: "".join(f"&#x{ord(letter):x};" for letter in key),
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "base64": lambda key: b64encode(key.encode()).decode(),
    "base64 for URLs": lambda key: urlsafe_b64encode(key.encode()).decode(),
    "base64 with a slash escaped": lambda key: b64encode(key.encode()).decode().replace("/", "\\/"),
    "a bearer in base64": lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    "a password in base64": lambda key: b64encode(f"pk:{key}".encode()).decode(),
    "a longer name in base64": lambda key: b64encode(f"user:{key}".encode()).decode(),
}


def leaks(text: bytes, spelt: str) -> bool:
    """Say whether twelve characters in a row of a spelling are left."""
    shown = text.decode("utf-8", "surrogateescape")
    return any(spelt[at : at + 12] in shown for at in range(6, len(spelt) - 18))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("how", SPELLINGS)
def test_every_spelling(key: str, how: str) -> None:
    """The words around an echo stay; of the key nothing does."""
    spelt = SPELLINGS[how](key)
    body = f'{{"error": "wrong key {spelt} here"}}'.encode()
    found = hide(body, key)
    assert found.startswith(b'{"error": "wrong key ')
    assert found.endswith(b' here"}')
    assert b"***" in found
    assert not leaks(found, spelt)
    given = Key(key, "NONE")
    given.reveal()
    assert given.hidden(body) == found  # by its quicker look, too


@pytest.mark.parametrize("how", SPELLINGS)
def test_a_text_that_ends_inside_the_key(how: str) -> None:
    """Part of a key is as much a secret as all of it; an encoded one is cut at its end."""
    spelt = SPELLINGS[how](SECRET)
    part = len(spelt) * 2 // 3
    for cut in (spelt[:part], spelt if how.lower() == "hex" or "base64" in how else spelt[-part:]):
        found = hide(f"wrong key {cut}".encode(), SECRET)
        assert b"***" in found
        assert not leaks(found, cut)


def test_what_is_left_of_a_cut_key() -> None:
    """Eight characters of the start or the end are hidden; a usual prefix and the last four can be read."""
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    assert hide(b"no key sk-proj-abcd...6789", key) == b"no key ***...6789"
    assert hide(b"no key sk-proj-a====", key) == b"no key ***===="
    assert hide(b"no key ...23456789!", key) == b"no key ...***!"
    readable = b"a key begins with sk- or sk-proj-, and yours ends in 6789"
    assert hide(readable, key) == readable


def test_several_secrets() -> None:
    """Every secret is hidden; what is shorter than eight characters is a placeholder, and an empty one nothing."""
    assert hide(b"user first-key-1 second-key-2 none", "first-key-1", "second-key-2", "none", "") == (
        b"user *** *** none"
    )


@given(st.binary(), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40))
def test_other_bytes_stay(body: bytes, key: str) -> None:
    """A text without a piece of the key comes back as it is."""
    if not any(key[at : at + 4].encode() in body for at in range(len(key) - 3)) and not set(body) & set(b"\\%&"):
        assert hide(body, key) == body


@pytest.mark.parametrize("piece", [SECRET, SECRET[:12], "\\u0073", "\\", "%73", "&#115;", "a" * 8])
def test_hiding_is_linear(piece: str) -> None:
    """A server that repeats the key, or pieces of it, a thousand times cannot make the search slow."""

    def work(size: int) -> Callable[[], object]:
        body = (piece * (size // len(piece))).encode()
        return lambda: hide(body, SECRET)

    assert_linear(work, 50_000)


def test_what_litellm_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the library's own errors neither our key nor one of the environment is shown, cut or not."""
    monkeypatch.setenv("GEMINI_API_KEY", "gem-0123456789-abcdef")
    kinds = {"Timeout": TimeoutError, "APIConnectionError": ConnectionError}
    key = Key(SECRET, "NONE")
    key.reveal()
    for kind in kinds.values():
        error = kind("x" * 200 + f" {SECRET} gem-0123456789-abcdef {b64encode(SECRET.encode()).decode()}")
        failed = _failure(SimpleNamespace(exceptions=SimpleNamespace(**kinds)), error, key)
        assert isinstance(failed, Again)
        assert "x *** *** ***" in failed.error.message
