"""Inspect: evaluation logs, as JSON or as an `.eval` archive; each sample is a run of its own.

The events of a sample become spans: `model` and `tool` events with the spans (`span_begin`, `span_end`) or the older
steps around them. What a scorer did is not the agent's doing. A sample without events is read as its messages.

Events refer to attachments and to a pool of messages, so a few bytes may stand for gigabytes: what the references of a
sample stand for has a budget, and beyond it the sample is `too-large`.
"""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import read_usage
from adjudge.traces._values import DEPTH, RecordPart, arguments_of, as_text, mapping, read_json, sequence

_ATTACHMENT = "attachment://"
_LARGEST = 1 << 30  # bytes of an archive's samples, unpacked
_MOST = 1 << 32  # what the references of a sample may stand for: characters of attachments, messages of the pool
_MESSAGE = 1 << 11  # that a message counts as
_KINDS: dict[str, SpanKind] = {"agent": "agent", "scorer": "aside", "scorers": "aside"}


def decode_inspect(data: object) -> list[Record]:
    """Read a log, or one sample of it."""
    log = mapping(data, "the log")
    if "samples" not in log:
        return [_record(RecordPart(log, "the sample"), ())]
    faults = ("the evaluation was still running",) if log.get("status") == "started" else ()
    samples = enumerate(sequence(log["samples"], "samples"))
    return [_record(RecordPart(item, f"sample {index}"), faults) for index, item in samples]


def unpack(content: bytes) -> Mapping[str, Any]:
    """Return the log that an `.eval` archive holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # The size is checked before anything is unpacked: a small archive may hold far too much.
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            has_header = "header.json" in archive.namelist()
            parts = [*names, *(["header.json"] if has_header else [])]
            if sum(archive.getinfo(name).file_size for name in parts) > _LARGEST:
                raise TrajectoryError(f"what the archive holds is larger than {_LARGEST >> 20} MB", code="too-large")
            header = read_json(archive.read("header.json"), "header.json") if has_header else {}
            samples = [read_json(archive.read(name), name) for name in names]
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
    spent: int = 0

    def spend(self, size: int) -> None:
        """Count what a reference stands for: a log is linear in its size, what it refers to need not be."""
        self.spent += size
        if self.spent > _MOST:
            raise TrajectoryError(f"{self.where} refers to more than {_MOST:,} characters", code="too-large")

    def whole(self, value: Any, depth: int = 0) -> Any:
        """Put attachments back where they were taken out."""
        if isinstance(value, str):
            if not value.startswith(_ATTACHMENT):
                return value
            found = self.attachments.get(value.removeprefix(_ATTACHMENT))
            if isinstance(found, str):
                self.spend(len(found))
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

    def begin(self, event: RecordPart, identity: str, parent: str | None) -> None:
        """Open a span, or a step; where its end is found later, it has ended."""
        kind_name = event.text("type") or ""
        kind, name = _KINDS.get(kind_name, "other"), event.text("name") or kind_name
        self.spans.append(Span(identity, parent, kind, name, event.time("timestamp"), faults=(NOT_ENDED,)))

    def add(self, event: RecordPart, kind: SpanKind, name: str, **facts: Any) -> None:
        """Add what a model or a tool did as a span of its own."""
        start = event.time("timestamp")
        self.spans.append(
            Span(
                event.text("uuid") or event.where,
                event.text("span_id") or (self.steps[-1] if self.steps else None),
                kind,
                name,
                start,
                event.time("completed") or start,
                faults=(NOT_ENDED,) if event.get("pending") is True else (),
                **facts,
            )
        )


def _record(sample: RecordPart, faults: tuple[str, ...]) -> Record:
    data, attachments = sample.get("events_data"), sample.get("attachments")
    pool = sequence(data.get("messages"), f"{sample.where}.events_data") if isinstance(data, Mapping) else ()
    reading = _Sample(sample.where, attachments if isinstance(attachments, Mapping) else {}, pool)
    events = sample.items("events")
    for index, item in enumerate(events):
        event = RecordPart(item, f"{sample.where}.events[{index}]")
        match event.text("event"):
            case "span_begin":
                reading.begin(event, event.identity("id"), event.text("parent_id"))
            case "span_end":
                reading.ends[event.identity("id")] = event.time("timestamp")
            case "step":
                _read_step(reading, event)
            case "model":
                _read_model(reading, event)
            case "tool":
                _read_tool(reading, event)
    # Logs can be written without events; the messages of the sample are then all that is known.
    if not events:
        messages = read_messages(reading.whole(sample.get("messages")), f"{sample.where}.messages")
        if messages:
            reading.spans.append(Span("messages", None, "llm", "messages", 0, 0, output=messages))
    # A span is opened as one that has not ended; its end, where there is one, is a later event.
    ends = reading.ends
    spans = tuple(replace(one, end=ends[one.id], faults=()) if one.id in ends else one for one in reading.spans)
    lost = [f"{len(reading.lost)} attachments are missing"] if reading.lost else []
    return Record(sample.text("uuid") or sample.text("id") or "", spans, (*faults, *lost))


def _read_step(reading: _Sample, event: RecordPart) -> None:
    """Read the beginning or the end of a step, which older logs have in place of spans."""
    if event.get("action") == "begin":
        parent = reading.steps[-1] if reading.steps else None
        reading.steps.append(f"step {len(reading.spans)}")
        reading.begin(event, reading.steps[-1], parent)
    elif reading.steps:
        reading.ends[reading.steps.pop()] = event.time("timestamp")


def _read_model(reading: _Sample, event: RecordPart) -> None:
    where = event.where
    given, output, error = event.get("input"), event.get("output"), event.text("error")
    # Newer logs keep each message once, in a pool, and refer to it by number.
    if event.get("input_refs") is not None:
        given = [reading.pool[number] for number in _numbers(reading, event)]
    said = output.get("choices") if isinstance(output, Mapping) else None
    if error is not None:
        said = None  # the log has an empty message there
    reading.add(
        event,
        "llm",
        event.text("model") or "model",
        error=error,
        usage=read_usage(output.get("usage")) if isinstance(output, Mapping) else None,
        input=read_messages(reading.whole(given), f"{where}.input"),
        output=read_messages({"choices": reading.whole(said)} if said else None, f"{where}.output", "assistant"),
    )


def _numbers(reading: _Sample, event: RecordPart) -> list[int]:
    """Return the numbers of the pool's messages that an event refers to by ranges."""
    size = len(reading.pool)
    found: list[int] = []
    for item in event.items("input_refs"):
        pair = sequence(item, f"{event.where}.input_refs")
        if len(pair) != 2 or not all(isinstance(each, int) for each in pair) or not 0 <= pair[0] <= pair[1] <= size:
            raise TrajectoryError(f"{event.where}.input_refs has a range that is not in the pool of {size} messages")
        reading.spend((pair[1] - pair[0]) * _MESSAGE)
        found.extend(range(pair[0], pair[1]))
    return found


def _read_tool(reading: _Sample, event: RecordPart) -> None:
    agent, error, result = event.text("agent"), event.get("error"), event.get("result")
    reading.add(
        event,
        "handoff" if agent else "tool",
        agent or event.text("function") or "",
        call_id=event.text("id"),
        arguments=arguments_of(reading.whole(event.get("arguments"))),
        result=None if result in (None, "") else as_text(reading.whole(result)),
        error=as_text(error.get("message")) if isinstance(error, Mapping) else None,
    )
