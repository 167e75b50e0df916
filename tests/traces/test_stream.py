"""Traces out of files that are larger than memory."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError, UsageError
from adjudge.traces import iter_traces
from support import GOLDEN
from traces.encodings import genai
from traces.story import expected


def spans_of(number: int) -> list[dict[str, Any]]:
    """Return the spans of the story with a trace id of their own; span ids repeat, as they may."""
    document: Any = genai()
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return [{**span, "traceId": f"{number:032x}"} for span in spans]


def line(spans: Iterable[dict[str, Any]]) -> str:
    """Return one line of a collector's file."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}) + "\n"


def test_traces_whose_spans_are_mixed(tmp_path: Path) -> None:
    """Spans of several traces, in batches and in any order, are each trace's own story."""
    everything = [span for pair in zip(*(spans_of(n) for n in range(1, 6)), strict=True) for span in pair]
    batches = [everything[start : start + 7] for start in range(0, len(everything), 7)]
    (tmp_path / "spans.jsonl").write_text("".join(map(line, reversed(batches))), encoding="utf-8")
    found = list(iter_traces(tmp_path / "spans.jsonl"))
    assert sorted(trace.id for trace in found) == [f"{n:032x}" for n in range(1, 6)]
    assert all(trace.trajectory == expected() for trace in found)


def test_a_trace_is_given_out_before_the_file_ends(tmp_path: Path) -> None:
    """A trace that is whole does not wait for the end of the file."""
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(line(spans_of(n)) for n in range(1, 40)) + "broken", encoding="utf-8")
    traces = iter_traces(path)
    assert all(next(traces).trajectory == expected() for _ in range(38))
    with pytest.raises(TrajectoryError, match=r"line 40: not JSON"):
        next(traces)


def test_what_does_not_fit_is_given_out_as_incomplete(tmp_path: Path) -> None:
    """Where the traces under way are more than can be held, no part of one that was given out early is complete."""
    mixed = [span for pair in zip(*(spans_of(n) for n in range(1, 31)), strict=True) for span in pair]
    (tmp_path / "spans.jsonl").write_text("".join(line([span]) for span in mixed), encoding="utf-8")
    found = list(iter_traces(tmp_path / "spans.jsonl", hold=50))
    parts = Counter(trace.id for trace in found)
    assert max(parts.values()) > 1
    assert all(trace.trajectory == expected() for trace in found if trace.trajectory.complete)
    assert not any(trace.trajectory.complete for trace in found if parts[trace.id] > 1)
    whole = list(iter_traces(tmp_path / "spans.jsonl", hold=300))
    assert all(trace.trajectory == expected() for trace in whole)
    assert len(whole) == 30


def test_protobuf_files_of_the_collector(tmp_path: Path) -> None:
    """Protobuf messages with their lengths are read one by one; a file that ends within one says so."""
    message = (GOLDEN / "traces" / "sdk-opentelemetry.pb").read_bytes()
    framed = len(message).to_bytes(4, "big") + message
    (tmp_path / "spans.pb").write_bytes(framed + framed)
    assert [trace.trajectory for trace in iter_traces(tmp_path / "spans.pb")] == [expected()]
    (tmp_path / "cut.pb").write_bytes(framed[:-1])
    with pytest.raises(TrajectoryError, match="ends within"):
        list(iter_traces(str(tmp_path / "cut.pb")))


def test_bad_calls(tmp_path: Path) -> None:
    """A file that is not there, and a buffer of nothing, are said to be so."""
    with pytest.raises(UsageError, match="No such file"):
        list(iter_traces(tmp_path / "none"))
    with pytest.raises(UsageError, match="can be read twice"):
        list(iter_traces(tmp_path))
    with pytest.raises(UsageError, match="hold must be at least 1"):
        list(iter_traces(tmp_path / "none", hold=0))
