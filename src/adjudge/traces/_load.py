"""One call for every format: find out what a record is, decode it, put it together."""

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from adjudge.errors import TrajectoryError, UsageError, closest
from adjudge.model import Trajectory
from adjudge.traces._spans import Record
from adjudge.traces._typed import OtlpDocument, document_of
from adjudge.traces._values import decoded, kind_of, shown

Format: TypeAlias = Literal[
    "chat", "responses", "otlp", "otlp-protobuf", "langfuse", "langsmith", "openai-agents", "inspect"
]
"""How a record of what an agent did is written."""

FORMATS: tuple[Format, ...] = (
    "chat",
    "responses",
    "otlp",
    "otlp-protobuf",
    "langfuse",
    "langsmith",
    "openai-agents",
    "inspect",
)


def load(
    path_or_data: object,
    format: str | None = None,  # noqa: A002 (the word that users expect)
    *,
    trace: str | None = None,
    parent: str | None = None,
    agents: Collection[str] = (),
) -> Trajectory:
    """Return what an agent did, from a record in any of the `FORMATS`.

    The record is a file's path, its content, or the data in it; its format is recognised unless it is given. A record
    of several runs needs the id of one (`trace`: a trace id; for Inspect, a sample's id). `parent` is the id of a span
    outside the record that the run was started from; `agents` are names of spans that are agents and do not say so.

    >>> load([{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]).final_response
    '4'
    """
    from adjudge.traces._assemble import assemble

    with _reading():
        found = _read(path_or_data, format, trace)
        return found if isinstance(found, Trajectory) else assemble(found, parent=parent, agents=agents)


def missing(
    path_or_data: object,
    format: str | None = None,  # noqa: A002 (as in load)
    *,
    trace: str | None = None,
    parent: str | None = None,
) -> tuple[str, ...]:
    """Say why a record is incomplete: what is known to be missing, and from which span; nothing of a complete one."""
    from adjudge.traces._assemble import faults_of

    with _reading():
        found = _read(path_or_data, format, trace)
        return () if isinstance(found, Trajectory) else faults_of(found, parent=parent)


@contextmanager
def _reading() -> Iterator[None]:
    """Name what is nested too deeply, and keep the garbage collector from looking through what is only growing.

    A record makes very many objects and no circles; looking for some takes a third of the time.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    except RecursionError:
        raise TrajectoryError("the record is nested too deeply") from None
    finally:
        if is_on:
            gc.enable()


def _read(path_or_data: object, named: str | None, trace: str | None) -> Record | Trajectory:
    if named is not None and named not in FORMATS:
        raise UsageError(f"no format is called {named!r}{closest(named, FORMATS)} (there are {', '.join(FORMATS)})")
    if isinstance(path_or_data, Trajectory):
        return path_or_data
    data, where = _data(path_or_data, named)
    kind = named or detect(data, where)
    if kind == "chat" and _is_own(data):
        return Trajectory.from_messages(data)
    return _chosen(_DECODERS[kind](data), trace, where)


def _data(given: object, named: str | None) -> tuple[object, str]:
    """Return the data of a path, of a file's content, or as it stands, and how to call it in an error."""
    if isinstance(given, str) and given.lstrip()[:1] not in ("{", "["):
        given = Path(given)
    if isinstance(given, Path):
        try:
            return _content(given.read_bytes(), str(given), named), str(given)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{given!s:.200}: {getattr(error, 'strerror', None) or error}", code="cannot-read"
            ) from None
    if isinstance(given, str):
        return _content(given.encode("utf-8", "surrogatepass"), "the record", named), "the record"
    if isinstance(given, bytes | bytearray | memoryview):
        return _content(bytes(given), "the record", named), "the record"
    return given, "the record"


def _content(content: bytes, where: str, named: str | None) -> object:
    """Read a file's content: an archive of Inspect, protobuf, JSON, or JSON lines."""
    if content[:4] == b"PK\x03\x04":
        from adjudge.traces._inspect import unpack

        return unpack(content)
    if named == "otlp-protobuf":
        return content
    if named is None and content[:1] in (b"\x00", b"\n") and content.lstrip()[:1] not in (b"{", b"["):
        return content
    try:
        return document_of(content, where) if named in (None, "otlp") else decoded(content, where)
    except TrajectoryError:
        lines = content.splitlines()
        if len(lines) > 1 and lines[0].strip():
            if lines[0].rstrip().endswith((b"}", b"]")):
                return [
                    decoded(line, f"{where}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
                ]
        elif content[:1] == b"\n" and named is None:
            return content  # protobuf: a field's tag and a length that look like the beginning of JSON
        raise


def _is_own(data: object) -> bool:
    """Say whether a record is a trajectory in adjudge's own form, or nothing but texts, which cannot show tools."""
    if isinstance(data, Mapping):
        return "messages" in data and "tool_calls" in data
    if not isinstance(data, Sequence) or isinstance(data, str | bytes) or not data:
        return False
    return all(
        isinstance(item, str)
        or (isinstance(item, list | tuple) and item and all(isinstance(each, str) for each in item))
        for item in data
    )


def _chosen(found: Sequence[Record], trace: str | None, where: str) -> Record:
    if trace is not None:
        wanted = [record for record in found if trace in (record.id, record.id.replace("-", ""))]
        if not wanted:
            raise TrajectoryError(f"{where} has no run {shown(trace)}{closest(trace, [record.id for record in found])}")
        return wanted[0]
    if len(found) > 1:
        names = ", ".join(shown(record.id) for record in found[:3])
        raise TrajectoryError(f"{where} holds {len(found)} runs ({names}, ...): say which with trace=")
    return found[0] if found else Record("", ())


def detect(data: object, where: str) -> Format:
    """Return the format that a record has; one that cannot be told is an error that asks for its name."""
    if isinstance(data, bytes | OtlpDocument):
        return "otlp-protobuf" if isinstance(data, bytes) else "otlp"
    sample: object = data
    if isinstance(data, list | tuple):
        if not data or all(isinstance(item, str) for item in data):
            return "chat"
        sample = next((item for item in data if not _is_empty(item)), data[0])
        if isinstance(sample, bytes):
            return "otlp-protobuf"
        if isinstance(sample, list | tuple):  # segments, or pages of observations
            sample = sample[0] if sample else {}
            if isinstance(sample, str):
                return "chat"
    if isinstance(sample, Mapping):
        for name, is_it in _SIGNS:
            if is_it(sample):
                return name
    elif type(sample).__module__.startswith("adjudge.model"):
        return "chat"
    raise TrajectoryError(
        f"cannot tell the format of {where} ({kind_of(sample)}); say which with format= ({', '.join(FORMATS)})"
    )


def _is_empty(item: object) -> bool:
    return isinstance(item, Mapping | list | tuple) and not item


def _has_observation(sample: Mapping[str, Any]) -> bool:
    if "traceId" in sample and ("startTime" in sample or "parentObservationId" in sample):
        return True
    if "observations" in sample:
        return True
    return isinstance(sample.get("data"), list) and ("meta" in sample or _first_of(sample["data"], "traceId"))


def _first_of(items: object, key: str) -> bool:
    return isinstance(items, list) and bool(items) and isinstance(items[0], Mapping) and key in items[0]


def _is_agents_sdk(sample: Mapping[str, Any]) -> bool:
    if sample.get("object") in ("trace", "trace.span") or "span_data" in sample:
        return True
    return _first_of(sample.get("data"), "object")


def _is_responses(sample: Mapping[str, Any]) -> bool:
    if sample.get("object") == "response":
        return True
    kind = sample.get("type")
    if isinstance(kind, str) and (kind == "message" or kind.endswith(("_call", "_call_output")) or kind == "reasoning"):
        return True
    return isinstance(sample.get("output"), list) and "role" not in sample


def _is_chat(sample: Mapping[str, Any]) -> bool:
    return any(key in sample for key in ("role", "messages", "choices", "parts"))


_SIGNS: Sequence[tuple[Format, Callable[[Mapping[str, Any]], bool]]] = (
    ("otlp", lambda sample: any(f"resource{sep}" in sample for sep in ("Spans", "_spans", "Logs", "_logs"))),
    ("openai-agents", _is_agents_sdk),
    ("langsmith", lambda sample: "run_type" in sample or _first_of(sample.get("runs"), "run_type")),
    ("langfuse", _has_observation),
    ("inspect", lambda sample: "samples" in sample or ("events" in sample and "epoch" in sample)),
    ("responses", _is_responses),
    ("chat", _is_chat),
)


def _decoder(home: str, name: str) -> Callable[[object], list[Record]]:
    """Return a decoder that is loaded when it is used."""

    def decode(data: object) -> list[Record]:
        from importlib import import_module

        records: list[Record] = getattr(import_module(f"adjudge.traces.{home}"), name)(data)
        return records

    return decode


_DECODERS: Mapping[str, Callable[[object], list[Record]]] = {
    "chat": _decoder("_chat", "decode_chat"),
    "responses": _decoder("_chat", "decode_responses"),
    "otlp": _decoder("_otlp", "decode_otlp"),
    "otlp-protobuf": _decoder("_protobuf", "decode_protobuf"),
    "langfuse": _decoder("_langfuse", "decode_langfuse"),
    "langsmith": _decoder("_langsmith", "decode_langsmith"),
    "openai-agents": _decoder("_agents_sdk", "decode_agents_sdk"),
    "inspect": _decoder("_inspect", "decode_inspect"),
}
