"""Lists that stand in attributes with numbers in their names: `llm.input_messages.0.message.role`."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_PIECES = 16  # pieces of a name that can be one of ours


def numbered(attributes: Mapping[str, Any], prefix: str) -> list[dict[Any, Any]]:
    """Return the items of a list, in order of their numbers; lists inside are objects with numbers as keys.

    >>> numbered({"p.1.role": "user", "p.0.calls.0.name": "f", "q": 1}, "p")
    [{'calls': {0: {'name': 'f'}}}, {'role': 'user'}]
    """
    start = f"{prefix}."
    found = nested((key[len(start) :], value) for key, value in attributes.items() if key.startswith(start))
    return [found[key] for key in sorted(key for key in found if isinstance(key, int)) if isinstance(found[key], dict)]


def nested(pairs: Iterable[tuple[str, Any]]) -> dict[Any, Any]:
    """Return names with points in them as objects inside objects, numbers as numbers.

    >>> nested([("message.role", "user"), ("message.tool_calls.0.id", "c")])
    {'message': {'role': 'user', 'tool_calls': {0: {'id': 'c'}}}}
    """
    found: dict[Any, Any] = {}
    for name, value in pairs:
        *path, last = _pieces(name)
        here = found
        for piece in path:
            inner = here.setdefault(piece, {})
            if not isinstance(inner, dict):
                break
            here = inner
        else:
            here.setdefault(last, value)
    return found


@lru_cache(maxsize=4096)  # the same names stand on every span
def _pieces(name: str) -> tuple[str | int, ...]:
    """Cut a name at its points; one with too many is none of ours and stays whole."""
    pieces = name.split(".", _PIECES)
    if len(pieces) > _PIECES:
        return (name,)
    return tuple(int(each) if each.isascii() and each.isdigit() and len(each) < 8 else each for each in pieces)
