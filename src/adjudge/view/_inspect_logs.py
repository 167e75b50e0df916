"""Logs of Inspect as rows: what was said in a sample, what happened in which order, and what went wrong.

    {"event": "tool", "function": "search", "arguments": {"q": "Oslo"}, "result": "..."}
        ->  RowEvent("tool", 'search {"q":"Oslo"}', detail='{"function": ...}', at=0.35)

Long texts are kept beside a sample, as attachments, and are put back here: a few bytes of a log may stand for many, so
there is a limit to what references may stand for.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from adjudge.comparison import MetricValues
from adjudge.errors import AdjudgeError
from adjudge.model import Score, Trajectory, decode_json, encode_json
from adjudge.traces import load_messages, unpack_entries
from adjudge.view._sources import RowEvent, ViewRow

ZIP = b"PK\x03\x04"
LARGEST_LOG = 1 << 29  # bytes of a log in JSON, which is read whole
NO_SCORE = "no-score: the file has none for this row"
ATTACHMENT = "attachment://"
APART = ("attachments", "events_data")  # what a sample keeps for its events to refer to
MOST_ATTACHED = 1 << 22  # characters that the references of a sample may stand for
DEEPEST = 60  # levels in which references are looked for
MOST_EVENTS = 500
MOST_DETAIL = 20_000  # characters of one event
# What every event has, and what the conversation shows already.
USUAL = frozenset(
    [
        "uuid",
        "span_id",
        "parent_id",
        "timestamp",
        "working_start",
        "event",
        "pending",
        "completed",
        "input",
        "input_refs",
        "tools",
        "call",
        "call_refs",
    ]
)
UNTOLD = ("sample_init", "span_end")
TITLES = ("message", "name", "action", "type", "data", "limit", "source")  # columns that say most of other events


def sample_rows(path: Path, metrics: Mapping[str, MetricValues]) -> Iterator[ViewRow]:
    """Give the samples of a log with their scores; each repeat of a sample is a row."""
    seen: dict[str, int] = {}
    samples = sorted(_samples(path), key=lambda one: one.get("epoch") or 1)
    is_repeated = len(samples) > len({str(one.get("id")) for one in samples})
    for number, packed in enumerate(samples):
        texts = _Attachments(packed)
        sample = {name: texts.put_back(one) for name, one in packed.items() if name not in APART}
        case = str(sample.get("id"))
        repeat = seen[case] = seen.get(case, -1) + 1
        columns: dict[str, Any] = {"question": _said(sample.get("input")), "references": sample.get("target")}
        columns |= {f"metadata.{name}": value for name, value in _mapping(sample.get("metadata")).items()}
        if is_repeated:
            columns["group_id"] = case
        error = _mapping(sample.get("error"))
        seconds = sample.get("working_time")
        yield ViewRow(
            number,
            case if repeat == 0 else f"{case}#{repeat + 1}",
            columns,
            _trajectory(sample),
            float(seconds) if isinstance(seconds, int | float) else None,
            _text(error.get("message")),
            {name: _score(sample, name, one, case, repeat) for name, one in metrics.items()},
            _text(error.get("traceback")),
            tuple(_events(sample.get("events"))),
        )


def score_of(metric: MetricValues, case: str, repeat: int, reason: str | None = None) -> Score:
    """Return the value that a reader of results found for one repeat of a case, as a score."""
    values = metric.values.get(case, ())
    value = values[repeat] if repeat < len(values) else None
    return Score.unscored(reason or NO_SCORE) if value is None else Score.scored(value, reason=reason)


def _score(sample: Mapping[str, Any], name: str, metric: MetricValues, case: str, repeat: int) -> Score:
    explained = _mapping(_mapping(sample.get("scores")).get(name.partition(".")[0]))
    return score_of(metric, case, repeat, _text(explained.get("explanation")))


def _samples(path: Path) -> Iterator[Mapping[str, Any]]:
    content = path.read_bytes() if path.stat().st_size <= LARGEST_LOG else b""
    if content.startswith(ZIP):
        found: Iterator[Any] = (
            decode_json(entry) for name, entry in unpack_entries(content) if name.startswith("samples/")
        )
    else:
        found = iter(_mapping(decode_json(content)).get("samples") or ())
    return (one for one in found if isinstance(one, dict))


class _Attachments:
    """The long texts of a sample, which its events and messages refer to."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._texts = _mapping(sample.get("attachments"))
        self._room = MOST_ATTACHED

    def put_back(self, value: Any, levels: int = DEEPEST) -> Any:
        """Return a value with the texts in place of what refers to them."""
        if isinstance(value, str) and value.startswith(ATTACHMENT):
            text = self._texts.get(value.removeprefix(ATTACHMENT))
            if isinstance(text, str) and len(text) <= self._room:
                self._room -= len(text)
                return text
        elif isinstance(value, dict) and levels:
            return {name: self.put_back(one, levels - 1) for name, one in value.items()}
        elif isinstance(value, list) and levels:
            return [self.put_back(one, levels - 1) for one in value]
        return value


def _events(given: object) -> Iterator[RowEvent]:
    """Give what happened in a sample, in order."""
    events = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    # What a sample begins with is shown as its question; the end of a span says nothing that its beginning does not.
    events = [one for one in events if one.get("event") not in UNTOLD and one.get("action") != "end"]
    began = next((at for one in events if (at := _moment(one.get("timestamp"))) is not None), 0.0)
    for event in events[:MOST_EVENTS]:
        kind = str(event.get("event")).removesuffix("_begin")
        error, at = _mapping(event.get("error")), _moment(event.get("timestamp"))
        trace = _text(error.get("traceback"))
        detail = trace or encode_json({name: one for name, one in event.items() if name not in USUAL}).decode()
        since = None if at is None else max(0.0, at - began)
        is_fault = kind == "error" or bool(event.get("error"))
        yield RowEvent(kind, _title(kind, event), detail[:MOST_DETAIL], since, is_fault)
    if len(events) > MOST_EVENTS:
        yield RowEvent("more", f"{len(events) - MOST_EVENTS:,} more events are not shown", "")


def _title(kind: str, event: Mapping[str, Any]) -> str:
    """Return what an event was, in a line."""
    error = event.get("error")
    fault = _text(_mapping(error).get("message")) or _text(error)
    changes = event.get("changes")
    if kind == "tool":
        what = f"{event.get('function')} {encode_json(event.get('arguments')).decode()}"
    elif kind == "model":
        usage = _mapping(_mapping(event.get("output")).get("usage"))
        tokens = f", {usage['total_tokens']} tokens" if "total_tokens" in usage else ""
        what = f"{event.get('model')}{tokens}"
    elif kind == "score":
        what = f"{event.get('scorer') or 'score'}: {_mapping(event.get('score')).get('value')}"
    elif isinstance(changes, Sequence) and not isinstance(changes, str):
        places = [str(_mapping(one).get("path")) for one in changes]
        what = f"{len(places)} change{'' if len(places) == 1 else 's'}: {', '.join(places[:6])}"
    else:
        what = str(next((event[name] for name in TITLES if event.get(name)), ""))
    return " – ".join(one for one in (what, fault) if one)[:1000]


def _moment(given: object) -> float | None:
    """Return a time as seconds."""
    try:
        return datetime.fromisoformat(given).timestamp() if isinstance(given, str) else None
    except (ValueError, OverflowError):
        return None


def _said(given: Any) -> Any:
    """Return a question, which may be a list of messages, as a text."""
    if not isinstance(given, list):
        return given
    texts = (one.get("content") for one in given if isinstance(one, Mapping) and one.get("role") != "system")
    return "\n".join(text for text in texts if isinstance(text, str))


def _trajectory(sample: Mapping[str, Any]) -> Trajectory | None:
    """Return what the model did; what cannot be read as messages is left out."""
    messages, output = sample.get("messages"), sample.get("output")
    answer = output.get("completion") if isinstance(output, Mapping) else None
    try:
        found = load_messages(messages) if isinstance(messages, list) and messages else None
    except AdjudgeError:
        found = None
    if found is None:
        return Trajectory(final_response=answer) if isinstance(answer, str) else None
    return found


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
