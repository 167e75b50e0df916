"""The key: read when it is used, shown nowhere."""

import os
import re
from pathlib import Path

from adjudge.chat._errors import Unauthorised
from adjudge.http import hide, probes_of

__all__ = ["Key", "cleaned"]

_GOOD_KEY = re.compile(r"[!-~]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_LONGEST_TEXT = 300


class Key:
    """Where a key comes from: the argument, a file (a `Path`), or the environment variable `name`, or `name`_FILE.

    >>> Key("sk-secret", "OPENAI_API_KEY")
    Key(...)
    """

    # Slots and `__repr__` keep the key out of whatever prints an object's attributes.
    __slots__ = ("_given", "_name", "_value")

    def __init__(self, given: str | Path | None, name: str) -> None:
        self._given = given
        self._name = name
        self._value: str | None = None

    def reveal(self) -> str | None:
        """Return the key, or None where there is none."""
        if self._value is not None:
            return self._value
        found = self._given
        if found is None:
            found = os.environ.get(self._name)
            file = os.environ.get(f"{self._name}_FILE")
            if not found and file:
                found = Path(file)
        if isinstance(found, Path):
            found = _read_file(found)
        found = (found or "").strip()
        if not found:
            return None
        if _GOOD_KEY.fullmatch(found) is None:
            raise Unauthorised("the key has characters that are not allowed in a key", code="bad-key")
        self._value = found
        return found

    def hidden(self, body: bytes) -> bytes:
        """Return a server's reply without the key, which some servers repeat, in whatever spelling."""
        if self._value is not None:
            # Nearly all replies have nothing to hide, and a look for a few pieces is cheap.
            for piece in probes_of(self._value):
                if piece in body:
                    return hide(body, self._value)
        return body

    def __repr__(self) -> str:
        return "Key(...)"


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        # A file that is not UTF-8 raises a ValueError, whose text would quote the key.
        pass
    raise Unauthorised(f"the key file {path} cannot be read", code="bad-key")


def cleaned(text: str) -> str:
    r"""Return a server's text as it may be shown: on one line and short.

    >>> cleaned("Incorrect key.\nTry again")
    'Incorrect key. Try again'
    """
    text = _CONTROL.sub(" ", text[: 2 * _LONGEST_TEXT]).strip()
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
