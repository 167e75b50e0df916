r"""Texts as a page shows them: whole lines, nothing that hides or turns, not more than a reader wants.

    shown("red\x1b[31m\u202eevil")      'red␛[31m⟨202E⟩evil'

What a row holds is never markup: the templates escape everything. This is about characters that escape nothing and
still mislead, such as those that turn the direction of text.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from adjudge.errors import DataError, RowError
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES, references_in, text_in
from adjudge.model import decode_json, encode_json
from adjudge.view._sources import ViewRow

MOST = 20_000  # characters of one text on a page
MOST_INDEXED = 20_000  # characters of one row that can be searched
LONGEST_TAG = 400  # characters of a tag that are kept
DEEPEST = 12  # levels of JSON that are laid out
# Controls but tab and line feed, marks that turn or hide text, half characters, and what is no character at all.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")


class Shown(NamedTuple):
    """A text for a page, and how many characters of it were left out."""

    text: str
    left_out: int = 0


def shown(text: object, most: int = MOST) -> str:
    r"""Return text in which what cannot be seen can be: controls as their pictures, others by their number.

    >>> shown("a\x1b[31m b\u202e c\r\n")
    'a␛[31m b⟨202E⟩ c\n'
    """
    cut = str(text)[:most].replace("\r\n", "\n")
    return _HIDDEN.sub(_picture, cut) + ("…" if len(str(text)) > most else "")


def cut(text: object, most: int = MOST) -> Shown:
    """Return text for a page, and how much of it was left out."""
    whole = str(text)
    return Shown(shown(whole[:most], most), max(0, len(whole) - most))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    # A joiner or a variant belongs to the sign before it, as in most emoji.
    if code in (0x200D, 0xFE0E, 0xFE0F):
        return found[0]
    return f"⟨{code:04X}⟩"


def one_line(text: object, most: int = 160) -> str:
    """Return the beginning of a text as one line."""
    return shown(" ".join(str(text)[: 4 * most].split()), most)


def decimal(value: float) -> str:
    """Return a mean as text: four decimals, unless it is too large for that.

    >>> decimal(0.5), decimal(-1e308)
    ('0.5000', '-1e+308')
    """
    return f"{value:.4f}" if abs(value) < 1e9 else f"{value:.3g}"


def pretty(value: Any, most: int = MOST) -> str:
    """Return a value as text: JSON laid out where it is JSON, or looks like it."""
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("{", "["):
            return shown(value, most)
        try:
            value = decode_json(value.encode("utf-8", "surrogatepass"))
        except (RowError, RecursionError):
            return shown(value, most)
    try:
        text = json.dumps(_shallow(value, DEEPEST), indent=2, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return shown(text, most)


def _shallow(value: Any, levels: int) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _shallow(one, levels - 1) for key, one in value.items()} if levels else "…"
    if isinstance(value, list | tuple):
        return [_shallow(one, levels - 1) for one in value] if levels else "…"
    return value


class RowMaterial(NamedTuple):
    """What a row is about, in the words of judges: the question, the references, the response."""

    question: str | None
    references: tuple[str, ...]
    response: str | None
    criteria: str | None


def material_of(row: ViewRow) -> RowMaterial:
    """Return what was asked, what a good answer is, and what was answered."""
    columns = row.columns
    question = _text(columns, QUESTIONS)
    response = None if row.trajectory is None else row.trajectory.final_response
    if response is None:
        response = _text(columns, RESPONSES)
    references: tuple[str, ...] = ()
    try:
        found = references_in(columns)
        references = tuple(str(one) for one in found or ())
    except (DataError, TypeError, ValueError):
        given = next((columns[name] for name in REFERENCES if columns.get(name) is not None), None)
        references = () if given is None else (str(given),)
    criteria = columns.get("criteria") or columns.get("expected_answer_criteria")
    return RowMaterial(question, references, response, None if criteria is None else _plain(criteria))


def _text(columns: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    try:
        found = text_in(columns, names)
    except (DataError, TypeError, ValueError):
        found = next((columns[name] for name in names if columns.get(name) is not None), None)
    return None if found is None else _plain(found)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else encode_json(value).decode("utf-8", "replace")


def folded(text: str) -> str:
    """Return text without the accents of Latin, Greek and Cyrillic letters, as a search compares it.

    >>> folded("Δέλτα, naïve")
    'Δελτα, naive'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))


def searchable_text(row: ViewRow) -> str:
    """Return what a row can be found by: its id, its columns, what was said, and the reasons of its scores."""
    parts: list[str] = []
    room = MOST_INDEXED
    # The same text is often in a column and in what was said.
    for text in dict.fromkeys(_texts(row)):
        parts.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return folded("\n".join(parts))


def _texts(row: ViewRow) -> Iterator[str]:
    yield row.id
    yield from (one for one in (row.fault, row.traceback) if one)
    yield from (event.title for event in row.events)
    found = material_of(row)
    yield from (one for one in (found.question, found.response, *found.references) if one)
    for name, score in (row.scores or {}).items():
        if score.reason:
            yield f"{name} {score.reason}"
    if row.trajectory is not None:
        yield from row.trajectory.agents_called
        for call in row.trajectory.tool_calls or ():
            yield f"{call.name} {call.arguments if isinstance(call.arguments, str) else pretty(call.arguments)}"
        for message in row.trajectory.messages:
            yield message.text
    for value in row.columns.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


def tags_of(row: ViewRow) -> list[str]:
    """Return the tags of a row: those it has as a list, and the values of columns that name a kind."""
    tags = row.columns.get("tags")
    found = [str(tag) for tag in tags[:50]] if isinstance(tags, list | tuple) else []
    for name in ("tag", "topic", "domain", "category", "split", "group"):
        value = row.columns.get(name)
        if isinstance(value, str | int | bool) and value != "":
            found.append(f"{name}={value}")
    return [_short_tag(tag) for tag in found]


def _short_tag(tag: str) -> str:
    """Return a tag as it is kept: of a very long one the beginning, and a sum that no other one has."""
    if len(tag) <= LONGEST_TAG:
        return tag
    return f"{tag[: LONGEST_TAG - 20]} {blake2b(tag.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
