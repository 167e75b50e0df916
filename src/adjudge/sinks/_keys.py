"""Settings and keys from arguments or the environment: read when they are used, keys shown nowhere."""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping

from adjudge.chat import Key
from adjudge.errors import UsageError
from adjudge.sinks._errors import DeliveryFault

__all__ = ["BasicKeys", "TokenKey", "address", "as_json", "setting"]


def setting(given: str | None, *names: str) -> str | None:
    """Return what was given, or the first of the environment variables that is set."""
    return given or next((value for name in names if (value := os.environ.get(name))), None)


def address(given: str | None, *names: str) -> str | None:
    """Return an address that was given or is set; it is kept with the scores, so one with a password is refused."""
    found = setting(given, *names)
    if found is None:
        return None
    if "@" in (found.partition("://")[2] or found).partition("/")[0]:
        raise UsageError(f"an address with a password in it is not called: give keys apart ({' or '.join(names)})")
    if not found.lower().startswith(("http://", "https://")):
        raise UsageError(f"an address begins with http:// or https://, got {found[:80]!r} ({' or '.join(names)})")
    return found.rstrip("/")


class BasicKeys:
    """A public and a secret key, given or from the environment variables of these names, as basic authentication."""

    def __init__(self, public: str | None, secret: str | None, names: tuple[str, str]) -> None:
        self._user, self._password = Key(public, names[0]), Key(secret, names[1])
        self._names = " and ".join(names)

    def headers(self) -> dict[str, str]:
        """Return the header; without keys a `DeliveryFault` says which variables are missing."""
        user, password = self._user.reveal(), self._password.reveal()
        if not user or not password:
            raise DeliveryFault(f"there is no key: set {self._names}", code="no-key")
        return {"Authorization": f"Basic {_packed(user, password)}"}

    def secrets(self) -> list[str]:
        """Return what must not be shown, the longest first."""
        user, password = self._user.reveal() or "", self._password.reveal() or ""
        return [_packed(user, password), password]

    def __repr__(self) -> str:
        return "BasicKeys(...)"


class TokenKey:
    """A token, given or from the environment variable of this name, as a bearer; none where there is none."""

    def __init__(self, token: str | None, name: str) -> None:
        self._key = Key(token, name)

    def headers(self) -> dict[str, str]:
        """Return the header, if there is a token."""
        token = self._key.reveal()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def secrets(self) -> list[str]:
        """Return what must not be shown."""
        return [self._key.reveal() or ""]

    def __repr__(self) -> str:
        return "TokenKey(...)"


def as_json(more: Callable[[], Mapping[str, str]]) -> Callable[[], Mapping[str, str]]:
    """Return headers for a body of JSON, with what `more` adds when they are sent."""
    return lambda: {"Content-Type": "application/json", **more()}


def _packed(user: str, password: str) -> str:
    return b64encode(f"{user}:{password}".encode()).decode("ascii")
