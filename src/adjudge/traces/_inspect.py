"""Inspect: evaluation logs, as JSON or as an `.eval` archive; each sample is a run of its own.

The events of a sample become spans: `model` and `tool` events with the spans (`span_begin`, `span_end`) or the older
steps around them. What a scorer did is not the agent's doing. A sample without events is read as its messages.
"""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import Kind, Record, Span
from adjudge.traces._values import DEPTH, arguments_of, as_text, decoded, identity, instant, mapping, sequence, text

_ATTACHMENT = "attachment://"
_LARGEST = 1 << 30  # bytes of one sample, unpacked
_KINDS: dict[str, Kind] = {"agent": "agent", "scorer": "aside", "scorers": "aside"}


def decode_inspect(data: object) -> list[Record]:
    """Read a log, or one sample of it."""
    log = mapping(data, "the log")
    if "samples" not in log:
        return [_record(log, "the sample", ())]
    faults = ("the evaluation was still running",) if log.get("status") == "started" else ()
    samples = sequence(log["samples"], "samples")
    return [_record(mapping(item, f"sample {index}"), f"sample {index}", faults) for index, item in enumerate(samples)]


def unpack(content: bytes) -> Mapping[str, Any]:
    """Return the log that an `.eval` archive holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            large = [name for name in names if archive.getinfo(name).file_size > _LARGEST]
            if large:
                raise TrajectoryError(f"{large[0]!a} of the archive is larger than {_LARGEST >> 20} MB")
            header = decoded(archive.read("header.json"), "header.json") if "header.json" in archive.namelist() else {}
            samples = [decoded(archive.read(name), name) for name in names]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise TrajectoryError(
            f"the archive cannot be read: {error}; `inspect log convert --to json` makes JSON"
        ) from None
    return {**mapping(header, "header.json"), "samples": samples}


@dataclass(slots=True)
class _Sample:
    """One sample while its events are read."""

    where: str
    attachments: Mapping[str, Any]
    pool: Sequence[Any]
    spans: list[Span] = field(default_factory=list)
    ends: dict[str, int | None] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    def whole(self, value: Any, depth: int = 0) -> Any:
        """Put attachments back where they were taken out."""
        if isinstance(value, str):
            if not value.startswith(_ATTACHMENT):
                return value
            found = self.attachments.get(value.removeprefix(_ATTACHMENT))
            if isinstance(found, str):
                return found
            self.lost.add(value)
            return value
        if depth > DEPTH:
            raise TrajectoryError(f"{self.where}: an event is nested too deeply")
        if isinstance(value, Mapping):
            return {key: self.whole(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.whole(inner, depth + 1) for inner in value]
        return value


def _record(sample: Mapping[str, Any], where: str, faults: tuple[str, ...]) -> Record:
    data = sample.get("events_data")
    pool = sequence(data.get("messages"), f"{where}.events_data") if isinstance(data, Mapping) else ()
    attachments = sample.get("attachments")
    reading = _Sample(where, attachments if isinstance(attachments, Mapping) else {}, pool)
    events = sequence(sample.get("events"), f"{where}.events")
    for index, item in enumerate(events):
        place = f"{where}.events[{index}]"
        event = mapping(item, place)
        read = _READERS.get(text(event.get("event"), f"{place}.event") or "")
        if read is not None:
            read(reading, event, place)
    if not events:
        messages = read_messages(reading.whole(sample.get("messages")), f"{where}.messages")
        reading.spans.append(Span("messages", None, "llm", "messages", 0, 0, output=messages))
    spans = [_ended(span, reading.ends) for span in reading.spans]
    lost = [f"{len(reading.lost)} attachments are missing"] if reading.lost else []
    named = text(sample.get("uuid"), f"{where}.uuid") or text(sample.get("id"), f"{where}.id") or ""
    return Record(named, tuple(spans), (*faults, *lost))


def _ended(span: Span, ends: Mapping[str, int | None]) -> Span:
    from dataclasses import replace

    return replace(span, end=ends[span.id], faults=()) if span.id in ends else span


def _parent(reading: _Sample, event: Mapping[str, Any], place: str) -> str | None:
    found = text(event.get("span_id"), f"{place}.span_id")
    return found or (reading.steps[-1] if reading.steps else None)


def _begin(reading: _Sample, event: Mapping[str, Any], place: str) -> None:
    named = text(event.get("type"), f"{place}.type") or ""
    reading.spans.append(
        Span(
            identity(event.get("id"), f"{place}.id"),
            text(event.get("parent_id"), f"{place}.parent_id"),
            _KINDS.get(named, "other"),
            text(event.get("name"), f"{place}.name") or named,
            instant(event.get("timestamp"), f"{place}.timestamp"),
            faults=("it has not ended",),
        )
    )


def _end(reading: _Sample, event: Mapping[str, Any], place: str) -> None:
    reading.ends[identity(event.get("id"), f"{place}.id")] = instant(event.get("timestamp"), f"{place}.timestamp")


def _step(reading: _Sample, event: Mapping[str, Any], place: str) -> None:
    """Read the beginning or the end of a step, which older logs have in place of spans."""
    time = instant(event.get("timestamp"), f"{place}.timestamp")
    if event.get("action") == "begin":
        named = text(event.get("type"), f"{place}.type") or ""
        parent = reading.steps[-1] if reading.steps else None
        name = text(event.get("name"), f"{place}.name") or named
        reading.steps.append(f"step {len(reading.spans)}")
        kind = _KINDS.get(named, "other")
        reading.spans.append(Span(reading.steps[-1], parent, kind, name, time, faults=("it has not ended",)))
    elif reading.steps:
        reading.ends[reading.steps.pop()] = time


def _model(reading: _Sample, event: Mapping[str, Any], place: str) -> None:
    given = event.get("input")
    if event.get("input_refs") is not None:
        given = [reading.pool[number] for number in _numbers(event["input_refs"], len(reading.pool), place)]
    output = event.get("output")
    said = output.get("choices") if isinstance(output, Mapping) else None
    end = instant(event.get("completed"), f"{place}.completed") or instant(event.get("timestamp"), f"{place}.timestamp")
    error = text(event.get("error"), f"{place}.error")
    if error is not None:
        said = None  # an empty message stands there
    reading.spans.append(
        Span(
            text(event.get("uuid"), f"{place}.uuid") or place,
            _parent(reading, event, place),
            "llm",
            text(event.get("model"), f"{place}.model") or "model",
            instant(event.get("timestamp"), f"{place}.timestamp"),
            end,
            error=error,
            input=read_messages(reading.whole(given), f"{place}.input"),
            output=read_messages({"choices": reading.whole(said)} if said else None, f"{place}.output", "assistant"),
            faults=_pending(event),
        )
    )


def _numbers(ranges: object, size: int, place: str) -> list[int]:
    found: list[int] = []
    for item in sequence(ranges, f"{place}.input_refs"):
        pair = sequence(item, f"{place}.input_refs")
        if len(pair) != 2 or not all(isinstance(each, int) for each in pair) or not 0 <= pair[0] <= pair[1] <= size:
            raise TrajectoryError(f"{place}.input_refs has a range that is not in the pool of {size} messages")
        found.extend(range(pair[0], pair[1]))
    return found


def _tool(reading: _Sample, event: Mapping[str, Any], place: str) -> None:
    agent = text(event.get("agent"), f"{place}.agent")
    error = event.get("error")
    result = event.get("result")
    start = instant(event.get("timestamp"), f"{place}.timestamp")
    reading.spans.append(
        Span(
            text(event.get("uuid"), f"{place}.uuid") or place,
            _parent(reading, event, place),
            "handoff" if agent else "tool",
            agent or text(event.get("function"), f"{place}.function") or "",
            start,
            instant(event.get("completed"), f"{place}.completed") or start,
            text(event.get("id"), f"{place}.id"),
            arguments_of(reading.whole(event.get("arguments")))[0],
            None if result in (None, "") else as_text(reading.whole(result)),
            as_text(error.get("message")) if isinstance(error, Mapping) else None,
            faults=_pending(event),
        )
    )


def _pending(event: Mapping[str, Any]) -> tuple[str, ...]:
    return ("it has not ended",) if event.get("pending") is True else ()


_READERS: Mapping[str, Callable[[_Sample, Mapping[str, Any], str], None]] = {
    "span_begin": _begin,
    "span_end": _end,
    "step": _step,
    "model": _model,
    "tool": _tool,
}
