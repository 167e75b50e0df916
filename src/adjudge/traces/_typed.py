"""OTLP in JSON, read at once into the form that nearly all writers give it.

What deviates in anything (keys in snake case, log records, a wrong type) is left to the reader in `_otlp.py`, which
takes every form and says what is wrong; this one is only faster.
"""

import re
from typing import Any

import msgspec

from adjudge.traces._values import decoded

_BEGINNING = re.compile(rb'\s*\{\s*"resourceSpans"')


class _Value(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An AnyValue."""

    string_value: str | None = None
    int_value: Any = None
    bool_value: Any = None
    double_value: Any = None
    array_value: Any = None
    kvlist_value: Any = None
    bytes_value: Any = None


class _Pair(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An attribute."""

    key: str
    value: _Value | None = None


class TypedSpan(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A span, with everything that OTLP 1.9 has."""

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: str | int = 0
    end_time_unix_nano: str | int = 0
    attributes: list[_Pair] = []
    events: list[Any] = []
    status: Any = None
    flags: int = 0
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0
    kind: Any = None
    trace_state: Any = None
    links: Any = None
    dropped_links_count: Any = None


class _Scope(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    spans: list[TypedSpan] = []
    scope: Any = None
    schema_url: Any = None


class _Resource(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    scope_spans: list[_Scope] = []
    resource: Any = None
    schema_url: Any = None


class OtlpDocument(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """An export request, as it is sent or written to a file."""

    resource_spans: list[_Resource]


_DECODER = msgspec.json.Decoder(OtlpDocument)


def document_of(content: bytes, where: str) -> Any:
    """Read a document: typed where it is the usual one of spans, else as plain JSON."""
    if _BEGINNING.match(content):
        try:
            return _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # ValidationError is one too
            pass
    return decoded(content, where)
