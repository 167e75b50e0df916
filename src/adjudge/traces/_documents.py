"""What a retriever found, as texts: the sources of an answer."""

from collections.abc import Mapping
from typing import Any

from adjudge.traces._values import as_text, loose

_LISTS = ("documents", "results", "output", "data")
_TEXTS = ("page_content", "content", "text")
_NAMES = ("title", "name", "url", "source", "id")


def documents(value: object) -> tuple[str, ...]:
    """Return each document's text, else its name; those of which nothing is known are left out.

    >>> documents('[{"page_content": "Opened in 1932."}, {"document": {"id": "d2"}}, "A text."]')
    ('Opened in 1932.', 'd2', 'A text.')
    """
    found, _ = loose(value)
    if isinstance(found, Mapping):
        held = next((found[key] for key in _LISTS if isinstance(found.get(key), list)), None)
        found = [found] if held is None else held
    if not isinstance(found, list | tuple):
        found = [found]
    texts = (_text(each) for each in found)
    return tuple(text for text in texts if text)


def _text(item: Any) -> str:
    if isinstance(item, Mapping) and isinstance(item.get("document"), Mapping):
        item = item["document"]
    if not isinstance(item, Mapping):
        return item if isinstance(item, str) else ""
    held = item.get("kwargs")  # LangChain's serialised form
    if isinstance(held, Mapping):
        item = held
    for key in (*_TEXTS, *_NAMES):
        if item.get(key):
            return as_text(item[key])
    return ""
