"""Keys that are written into an address or a command, where a run file would keep them."""

import re
import shlex
from collections.abc import Mapping
from urllib.parse import parse_qsl

from adjudge.errors import UsageError

__all__ = ["check_command", "check_password", "check_query", "secrets_of"]

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


def _secret_parameter(text: str) -> str | None:
    """Return the first parameter of the URL in a text that is a key by its name."""
    _, found, rest = text.partition("://")
    query = rest.partition("?")[2].partition("#")[0] if found else ""
    return next((name for name, _ in parse_qsl(query) if _SECRET_NAME.fullmatch(name)), None)
