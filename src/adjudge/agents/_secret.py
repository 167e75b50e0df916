"""Keys of agents: those written into an address or a command, where a run file would keep them, and headers."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from adjudge.errors import UsageError, closest

__all__ = ["KEY_VARIABLE", "check_command", "check_password", "check_query", "read_headers", "secrets_of"]

KEY_VARIABLE = "ADJUDGE_AGENT_KEY"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)|\benv:(\w+)")

_PASSWORD = re.compile(r"(?i)https?://[^/?#\s]*@")
_SECRET_NAME = re.compile(
    r"(?i).*(key|token|secret|passwo?r?d|signature|credentials?|jwt|bearer|cookie)"
    r"|pass|pwd|(proxy-)?auth|authorization|sig|sas|code"
)
"""A parameter or a header that is a key, by its name: `api_key`, `accessToken`, `sig`; not `keyword`, not `author`."""
_SECRET_WORD = re.compile(r"(?i)-{0,2}[\w-]*(?:api[-_]?key|token|secret|passwo?r?d)(?:=(.*))?")
"""An option or a variable in a command: `--api-key`, `OPENAI_API_KEY=...`; not `--api-key-file`."""
_SHORTEST_SECRET = 8
_INSTEAD = "a run file would keep it. Set ADJUDGE_AGENT_KEY, which is sent as a bearer token"


def check_password(url: str) -> None:
    """Raise `UsageError` for a URL with a user name or a password, without showing it."""
    if _PASSWORD.match(url):
        raise UsageError(f"remove the password from the agent's URL: {_INSTEAD}", code="key-in-address")


def check_query(url: str) -> None:
    """Raise `UsageError` for a URL with a parameter that is a key by its name."""
    if (name := _secret_parameter(url)) is not None:
        message = f"remove {name[:40]!a} from the agent's URL: {_INSTEAD}; in Python, HttpAgent takes headers"
        raise UsageError(message, code="key-in-address")


def check_command(command: str) -> None:
    """Raise `UsageError` for a command with what looks like a key in it."""
    words = shlex.split(command)
    for word, after in zip(words, [*words[1:], ""], strict=True):
        option = _SECRET_WORD.fullmatch(word)
        value = ""
        if option is not None:
            # The value is in the same word, or is the next one.
            value = option[1] or (after if word.startswith("-") and not after.startswith("-") else "")
        if len(value) >= _SHORTEST_SECRET or _PASSWORD.search(word) or _secret_parameter(word) is not None:
            message = "the agent's command has a key in it, which a run file would keep: put it into a variable of the"
            raise UsageError(f"{message} environment and name that with --agent-env NAME", code="key-in-command")


def secrets_of(headers: Mapping[str, str]) -> list[str]:
    """Return what must not be kept of an agent's headers: of `Bearer KEY` the key.

    >>> secrets_of({"Authorization": "Bearer sk-0123456789", "x-tenant": "production"})
    ['sk-0123456789']
    """
    return [value.split()[-1] for name, value in headers.items() if _SECRET_NAME.fullmatch(name) and value.strip()]


def read_headers(given: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the headers that `NAME=VALUE` texts stand for, and what of them is secret: whatever a variable holds.

    In a value, `env:NAME`, `$NAME` and `${NAME}` are variables of the environment. `ADJUDGE_AGENT_KEY` is sent too,
    unless one of the headers is `Authorization`.
    """
    from adjudge.chat import Key

    headers: dict[str, str] = {}
    secrets: list[str] = []

    def variable(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        value = os.environ.get(name)
        if not value:
            message = f"{name[:80]} is not set, and a header is to hold it{closest(name, os.environ)}"
            raise UsageError(message, code="unknown-variable")
        secrets.append(value)
        return value

    for text in given:
        name, found, value = text.partition("=")
        if not found or not _HEADER_NAME.fullmatch(name):
            # The text is not shown: it may be a key.
            raise UsageError("a header must be NAME=VALUE, as in Authorization='Bearer $TOKEN'", code="bad-option")
        # Replaced once: a variable that holds `$X` is sent as it is.
        filled = _VARIABLE.sub(variable, value).strip()
        if not _HEADER_VALUE.fullmatch(filled) or name.lower() in ("content-length", "transfer-encoding", "host"):
            raise UsageError(f"the header {name} cannot be sent with that value", code="bad-option")
        headers[name] = filled
    if "authorization" not in {name.lower() for name in headers}:
        key = Key(None, KEY_VARIABLE).reveal()
        headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
    return headers, tuple(secrets)


def _secret_parameter(text: str) -> str | None:
    """Return the first parameter of the URL in a text that is a key by its name."""
    _, found, rest = text.partition("://")
    query = rest.partition("?")[2].partition("#")[0] if found else ""
    return next((name for name, _ in parse_qsl(query) if _SECRET_NAME.fullmatch(name)), None)
