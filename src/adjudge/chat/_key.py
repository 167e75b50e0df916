"""The key: read when it is used, shown nowhere."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from adjudge.chat._errors import Unauthorised

__all__ = ["Key", "cleaned"]

_GOOD_KEY = re.compile(r"[!-~]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_LONGEST_TEXT = 300


class Key:
    """Where a key comes from: the argument, a file (a `Path`), or the environment variable `name`, or `name`_FILE.

    >>> Key("sk-secret", "OPENAI_API_KEY")
    Key(...)
    """

    __slots__ = ("_name", "_read", "_value")

    def __init__(self, given: str | Path | None, name: str) -> None:
        self._name = name
        self._value: str | None = None
        # In a closure, not in an attribute that somebody prints.
        self._read: Callable[[], str | None] = lambda: self._find(given)

    def reveal(self) -> str | None:
        """Return the key, or None where there is none."""
        if self._value is None:
            found = (self._read() or "").strip()
            if not found:
                return None
            if _GOOD_KEY.fullmatch(found) is None:
                raise Unauthorised("the key has characters that no key has", code="bad-key")
            self._value = found
        return self._value

    def hidden(self, body: bytes) -> bytes:
        """Return a server's reply without the key, which some servers repeat."""
        key = (self._value or "").encode()
        return body.replace(key, b"***") if key and key in body else body

    def _find(self, given: str | Path | None) -> str | None:
        if isinstance(given, Path):
            return self._from_file(given)
        if given is not None:
            return given
        value = os.environ.get(self._name)
        if value:
            return value
        file = os.environ.get(f"{self._name}_FILE")
        return self._from_file(Path(file)) if file else None

    def _from_file(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, ValueError):  # not UTF-8 is a ValueError; its text would quote the file
            pass
        raise Unauthorised(f"the key file {path} cannot be read", code="bad-key")

    def __repr__(self) -> str:
        return "Key(...)"


def cleaned(text: str) -> str:
    r"""Return a server's text as it may be shown: on one line and short.

    >>> cleaned("Incorrect key.\nTry again")
    'Incorrect key. Try again'
    """
    text = _CONTROL.sub(" ", text[: 2 * _LONGEST_TEXT]).strip()
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
