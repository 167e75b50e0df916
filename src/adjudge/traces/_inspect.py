"""Inspect: evaluation logs, as JSON or as an `.eval` archive; each sample of each epoch is a run of its own.

    load("log.eval", trace="sample 7/2")   # the sample's id and its epoch; its uuid, or the id alone if it is one run

The events of a sample become spans: `model` and `tool` events with the spans (`span_begin`, `span_end`) or the older
steps around them. What a scorer did is not the agent's doing. A sample without events is read as its messages.

Events refer to attachments and to a pool of messages, so a few bytes may stand for gigabytes: what the references of a
sample stand for has a budget, and beyond it the sample is `too-large`.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from adjudge.errors import MissingExtra, TrajectoryError
from adjudge.model import Message
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import read_usage
from adjudge.traces._values import DEPTH, RecordPart, arguments_of, as_text, mapping, quote, read_json, sequence

_ATTACHMENT = "attachment://"
HEADER = "header.json"  # the entry of an archive that says what was evaluated
_LARGEST = 1 << 30  # bytes of samples, unpacked, that are held at once
_MOST = 1 << 32  # bytes that are unpacked one sample at a time; characters that a sample's references may stand for
_MESSAGE = 1 << 11  # that a message counts as
_ZSTANDARD = 93
_HEADER = struct.Struct(
    "<26xHH"
)  # before an entry: what is known already, then the lengths of its name and of the rest
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
    log: Mapping[str, Any] = {}
    samples: list[Any] = []
    for name, entry in unpack_entries(content, _LARGEST):
        found = read_json(entry, name)
        if name == HEADER:
            log = mapping(found, name)
        else:
            samples.append(found)
    return {**log, "samples": samples}


def unpack_entries(content: bytes, largest: int = _MOST) -> Iterator[tuple[str, bytes]]:
    """Give the header of an `.eval` archive, where it has one, and its samples, each unpacked when it is asked for.

    An archive that holds more than `largest` bytes, or a sample of more than a gigabyte, is a `TrajectoryError`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = dict.fromkeys(archive.namelist())
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            parts = [*([HEADER] if HEADER in names else []), *samples]
            # The size is checked before anything is unpacked: a small archive may hold far too much.
            sizes = [archive.getinfo(name).file_size for name in parts]
            if sum(sizes) > largest or max(sizes, default=0) > _LARGEST:
                limit = largest if sum(sizes) > largest else _LARGEST
                raise TrajectoryError(f"what the archive holds is larger than {limit >> 20} MB", code="too-large")
            for name in parts:
                yield name, _read_entry(archive, name, content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error) as error:
        raise TrajectoryError(
            f"the archive cannot be read: {error}; `inspect log convert --to json` makes JSON"
        ) from None


def _read_entry(archive: zipfile.ZipFile, name: str, content: bytes) -> bytes:
    """Return an entry, unpacked to no more than the size that it gives itself."""
    entry = archive.getinfo(name)
    if entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return archive.read(name)
    if entry.compress_type != _ZSTANDARD:
        raise zipfile.BadZipFile(f"{quote(name)} is compressed by method {entry.compress_type}")
    # Not by zipfile, not even where it knows the method: it would unpack everything before it looks at the size.
    start = entry.header_offset + _HEADER.size
    if len(content) < start:
        raise zipfile.BadZipFile(f"{quote(name)} is outside the archive")
    start += sum(_HEADER.unpack_from(content, entry.header_offset))
    zstd = _zstandard()
    try:
        packed = content[start : start + entry.compress_size]
        unpacked: bytes = zstd.ZstdDecompressor().decompress(packed, max_length=entry.file_size + 1)
    except zstd.ZstdError as error:
        raise zipfile.BadZipFile(f"{quote(name)}: {error}") from None
    if len(unpacked) != entry.file_size or zlib.crc32(unpacked) != entry.CRC:
        raise zipfile.BadZipFile(f"{quote(name)} is damaged")
    return unpacked


def _zstandard() -> Any:
    """Return the module that unpacks Zstandard: Python's own from 3.14 on, its backport before."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra.of("inspect", "an archive that is compressed with Zstandard, as Inspect's are,")


@dataclass(slots=True)
class _Sample:
    """One sample while its events are read."""

    where: str
    attachments: Mapping[str, Any]
    pool: Sequence[Any]
    spans: list[Span] = field(default_factory=list)
    ends: dict[str, int | None] = field(default_factory=dict)
    tools: dict[str, list[int]] = field(default_factory=dict)  # spans of tools that wait for their event, by name
    answers: dict[str, str] = field(default_factory=dict)  # what was submitted, by the call's id
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
        if kind_name == "tool":
            self.tools.setdefault(name, []).append(len(self.spans))
        self.spans.append(Span(identity, parent, kind, name, event.time("timestamp"), faults=(NOT_ENDED,)))

    def add_tool(self, event: RecordPart, kind: SpanKind, name: str, **facts: Any) -> None:
        """Add what a tool did; where it has a span already, that is it, with what is inside."""
        self.add(event, kind, name, **facts)
        waiting = self.tools.get(event.text("function") or "")
        if waiting:
            index = waiting.pop()
            opened = self.spans[index]
            self.spans[index] = replace(self.spans.pop(), id=opened.id, parent=opened.parent)

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
    spans = [replace(one, end=ends[one.id], faults=()) if one.id in ends else one for one in reading.spans]
    lost = [f"{len(reading.lost)} attachments are missing"] if reading.lost else []
    identity, epoch, uuid = sample.text("id") or "", sample.text("epoch"), sample.text("uuid") or ""
    name = f"{identity}/{epoch}" if identity and epoch else identity or uuid
    return Record(
        name, tuple(_inside_sample(reading, sample, spans)), (*faults, *lost), tuple(filter(None, (uuid, identity)))
    )


def _inside_sample(reading: _Sample, sample: RecordPart, spans: Sequence[Span]) -> Iterator[Span]:
    """Give the spans, inside one that has the sample's answer where there is one; submitted answers become replies."""
    output = sample.get("output")
    answer = reading.whole(output.get("completion")) if isinstance(output, Mapping) else None
    top = f"sample {sample.where}" if isinstance(answer, str) and answer else None
    if top is not None:
        starts = [span.start for span in spans if span.start is not None]
        start = min(starts, default=0)
        yield Span(top, None, "other", "sample", start, max([start, *(one.end or 0 for one in spans)]), text=answer)
    for span in spans:
        said = tuple(_submitted(one, reading.answers) for one in span.output) if reading.answers else span.output
        given = tuple(_submitted(one, reading.answers) for one in span.input) if reading.answers else span.input
        yield replace(span, parent=span.parent or top, output=said, input=given)


def _submitted(message: Message, answers: Mapping[str, str]) -> Message:
    """Return a message with what it submits as its text: to react, that is how to answer."""
    texts = [answers[call.id] for call in message.tool_calls if call.id is not None and call.id in answers]
    if not texts:
        return message
    calls = tuple(call for call in message.tool_calls if call.id not in answers)
    return replace(message, content=message.content or texts[-1], tool_calls=calls)


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
    agent, error, result = event.text("agent"), event.get("error"), reading.whole(event.get("result"))
    arguments, identity = arguments_of(reading.whole(event.get("arguments"))), event.text("id")
    # The tool that react gives to its agents to answer with returns what it is given, and nothing else.
    if isinstance(arguments, Mapping) and list(arguments) == ["answer"] and arguments["answer"] == result and identity:
        reading.answers[identity] = as_text(result)
        return
    reading.add_tool(
        event,
        "handoff" if agent else "tool",
        agent or event.text("function") or "",
        call_id=identity,
        arguments=arguments,
        result=None if result in (None, "") else as_text(result),
        error=as_text(error.get("message")) if isinstance(error, Mapping) else None,
    )
