"""Typed rows to and from JSON lines: what goes out comes back equal, what is wrong is named.

to_json(Case(id="q1", question="Capital of France?", references=("Paris",)))
from_json(Case, line, source="cases.jsonl", line_number=3)
"""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import msgspec

from adjudge.errors import RowError, closest

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """Return one line of JSON, without its line end.

    What JSON cannot hold (NaN, a date, a set, a key that is not a text) raises `RowError`: it would come back as
    something else.

    >>> from adjudge.model import Message
    >>> from_json(Message, to_json(Message("user", "hi"))).text
    'hi'
    """
    try:
        return encode_json(_plain(value, "$"))
    except RecursionError:
        raise RowError("the row is nested too deeply for JSON") from None


def encode_json(value: object) -> bytes:
    """Return one line of JSON, fast, of a value that is known to hold only what JSON can hold.

    A date or a set in it would come back as something else, unnoticed; NaN and the infinities are refused here too.

    >>> encode_json({"id": 1})
    b'{"id":1}'
    """
    try:
        encoded = msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers over 64 bits: legal in JSON escapes and digits, refused by msgspec.
        return json.dumps(_plain(value, "$"), ensure_ascii=True, separators=(",", ":")).encode()
    # msgspec writes NaN as null: where a null is, the slow way looks whether it was one.
    if b"null" in encoded:
        _plain(msgspec.to_builtins(value), "$")
    return encoded


def from_json(kind: type[T], line: bytes | str, *, source: str = "", line_number: int | None = None) -> T:
    """Read one line of JSON as a `kind`; `RowError` names file, line, field and what was expected."""
    place = _place(source, line_number)
    plain = decode_json(line, place=place)
    try:
        value = msgspec.convert(plain, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # a lone surrogate where no text should be
        # msgspec's "Expected `str`, got `int` - at `$.id`" with the field in front; a misspelt field explains more.
        message, _, path = str(error).partition(" - at `$")
        name = path.rstrip("`").lstrip(".") or "the row"
        unknown = _unknown_field(plain, {each.name: None for each in fields(kind)}) if is_dataclass(kind) else ""
        raise RowError(f"{place}{unknown or f'{name}: {message[:1].lower()}{message[1:]}'}") from None
    # msgspec ignores fields that it does not know; a misspelt one would be lost silently.
    unknown = _unknown_field(plain, msgspec.to_builtins(value))
    if unknown:
        raise RowError(f"{place}{unknown}")
    return value


def _unknown_field(given: object, known: object, path: str = "") -> str:
    """Name the first field that was given and is not known; the value that was read has all the known ones."""
    if isinstance(given, Mapping) and isinstance(known, Mapping):
        for key, value in given.items():
            if key not in known:
                return f"there is no field {path}{key!r}{closest(str(key), known)}"
            if found := _unknown_field(value, known[key], f"{path}{key}."):
                return found
    elif isinstance(given, list) and isinstance(known, list | tuple):
        for index, (value, read) in enumerate(zip(given, known, strict=False)):
            if found := _unknown_field(value, read, f"{path}{index}."):
                return found
    return ""


def decode_json(line: bytes | str, *, place: str = "") -> Any:
    """Read one JSON value; `RowError` says where the text stops being JSON."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
        pass
    # Few lines get here: broken ones, and legal ones that msgspec refuses (the escape of a lone surrogate).
    try:
        text = line if isinstance(line, str) else bytes(line).decode("utf-8")
        return json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise RowError(f"{place}not UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise RowError(f"{place}nested too deeply") from None
    except ValueError as error:
        detail = (
            f"{error.msg.removesuffix(' at')} at column {error.colno}"
            if isinstance(error, json.JSONDecodeError)
            else str(error)
        )
        raise RowError(f"{place}not JSON: {detail}") from None


def _refuse_constant(name: str) -> float:
    # Python's reader would accept NaN and Infinity, which JSON does not have.
    raise ValueError(f"{name} is not a JSON number")


def _plain(value: object, path: str, *, typed: bool = True) -> object:
    """Return a value as JSON holds it; a tuple becomes a list only where a type makes it a tuple again."""
    # The order is by frequency: rows are mostly texts and numbers.
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name), f"{path}.{each.name}") for each in fields(value)}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, f"{path}.{key}", typed=False) for key, item in value.items()}
    if isinstance(value, list) or (typed and isinstance(value, tuple)):
        inner = (_plain(item, f"{path}[{index}]", typed=False) for index, item in enumerate(value))
        return list(inner)
    what = value if isinstance(value, float) else f"a {type(value).__name__}"
    raise RowError(f"{path} is {what}, which JSON cannot hold")


def _place(source: str, line_number: int | None) -> str:
    line = "" if line_number is None else f"line {line_number}"
    place = ", ".join(part for part in (source, line) if part)
    return f"{place}: " if place else ""
