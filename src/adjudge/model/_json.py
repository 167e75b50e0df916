"""Typed rows to and from JSON lines: what goes out comes back equal, what is wrong is named.

to_json(Case(id="q1", question="Capital of France?", references=("Paris",)))
from_json(Case, line, source="cases.jsonl", line_number=3)
"""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

import msgspec

from adjudge.errors import RowError, closest

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """Return one line of JSON, without its line end.

    A number that JSON does not have (NaN, an infinity) raises `RowError`: it would come back as null.

    >>> from adjudge.model import Message
    >>> from_json(Message, to_json(Message("user", "hi"))).text
    'hi'
    """
    plain = msgspec.to_builtins(value)
    try:
        encoded = msgspec.json.encode(plain)
    except (UnicodeEncodeError, OverflowError):
        _refuse_non_finite(plain, "$")
        # Lone surrogates and integers over 64 bits: legal in JSON escapes and digits, refused by msgspec.
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode()
    if b"null" in encoded:  # what JSON cannot hold would have become this
        _refuse_non_finite(plain, "$")
    return encoded


def from_json(kind: type[T], line: bytes | str, *, source: str = "", line_number: int | None = None) -> T:
    """Read one line of JSON as a `kind`; `RowError` names file, line, field and what was expected."""
    place = _place(source, line_number)
    plain = decode_json(line, place=place)
    if is_dataclass(kind) and isinstance(plain, Mapping):
        known = [field.name for field in fields(kind)]
        for key in plain:
            if key not in known:
                raise RowError(f"{place}{kind.__name__} has no field {key!r}{closest(str(key), known)}")
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        name = path.rstrip("`").lstrip(".") or "the row"
        raise RowError(f"{place}{name}: {message[:1].lower()}{message[1:]}") from None


def decode_json(line: bytes | str, *, place: str = "") -> Any:
    """Read one JSON value; `RowError` says where the text stops being JSON."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
        pass
    # Only the odd line comes here: broken, or legal in a way that msgspec refuses (a lone surrogate's escape).
    try:
        text = line if isinstance(line, str) else bytes(line).decode("utf-8")
        return json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise RowError(f"{place}not UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise RowError(f"{place}nested too deeply") from None
    except ValueError as error:
        detail = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise RowError(f"{place}not JSON: {detail}") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_non_finite(value: object, path: str) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RowError(f"{path} is {value}, which JSON cannot hold")
    elif isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            _refuse_non_finite(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_non_finite(item, f"{path}[{index}]")


def _place(source: str, line_number: int | None) -> str:
    line = "" if line_number is None else f"line {line_number}"
    place = ", ".join(part for part in (source, line) if part)
    return f"{place}: " if place else ""
