"""Scores on real MLflow and Phoenix servers: delivered once, updated, with hostile text, found again."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.sinks import MlflowSink, OutScore, PhoenixSink, resend
from integration.dashboards import ask, mlflow, phoenix
from sinks.hostile import HOSTILE
from sinks.scores import bad_scores, good_scores, trace_id

COUNT = 40
SPAN = "00f067aa0ba902b7"
LATE = trace_id(999)


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give an MLflow server with traces."""
    with mlflow(tmp_path_factory.mktemp("mlflow")) as address:
        for number in range(COUNT):
            add_mlflow_trace(address, trace_id(number))
        yield address


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a Phoenix server with traces."""
    with phoenix(tmp_path_factory.mktemp("phoenix")) as address:
        for number in range(COUNT):
            add_phoenix_trace(address, trace_id(number), f"{number + 1:016x}")
        while len(ask(f"{address}/v1/projects/default/spans?limit=1000")["data"]) < COUNT:
            time.sleep(0.5)
        yield address


def add_mlflow_trace(address: str, trace: str) -> None:
    """Create a trace as an agent's exporter does."""
    place = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}
    info = {"trace_id": f"tr-{trace}", "trace_location": place, "request_time": "2026-11-15T10:00:00Z", "state": "OK"}
    ask(f"{address}/api/3.0/mlflow/traces", {"trace": {"trace_info": info}})


def add_phoenix_trace(address: str, trace: str, span: str) -> None:
    """Create a trace of one span, as an agent's exporter does."""
    at = {"start_time": "2026-11-15T10:00:00Z", "end_time": "2026-11-15T10:00:01Z"}
    context = {"trace_id": trace, "span_id": span}
    one = {"name": "agent", "context": context, "span_kind": "CHAIN", "status_code": "OK", **at}
    ask(f"{address}/v1/projects/default/spans", {"data": [{**one, "attributes": {"session.id": "s1"}}]})


def assessments(address: str, trace: str) -> dict[str, dict[str, Any]]:
    """Return what MLflow has on a trace, by id."""
    found = ask(f"{address}/api/3.0/mlflow/traces/tr-{trace}")["trace"]["trace_info"].get("assessments", [])
    by_id = {one["assessment_id"]: one for one in found}
    assert len(by_id) == len(found)
    return by_id


def annotations(address: str, trace: str) -> dict[str, dict[str, Any]]:
    """Return what Phoenix has on a trace, by identifier."""
    url = f"{address}/v1/projects/default/trace_annotations?trace_ids={trace}&limit=1000"
    found = ask(url)["data"]
    by_id = {one["identifier"]: one for one in found}
    assert len(by_id) == len(found)
    return by_id


def hostile_scores(trace: str) -> list[OutScore]:
    """Return a score for each hostile string."""
    return [OutScore(f"h{at}", 0.5, comment=text, trace_id=trace) for at, text in enumerate(HOSTILE.values())]


def test_mlflow(tracking: str, tmp_path: Path) -> None:
    """Every valid score is an assessment under our id, once; a changed one is updated; a late trace gets its own."""
    sink = MlflowSink(tmp_path / "a.outbox", host=tracking)
    late = OutScore("late", 1.0, trace_id=LATE)
    receipt = sink.send([*good_scores(COUNT), *hostile_scores(trace_id(0)), late, *bad_scores()])
    wanted = COUNT + len(HOSTILE)
    assert (receipt.delivered, receipt.pending, len(receipt.rejected)) == (wanted, 1, len(bad_scores()))
    add_mlflow_trace(tracking, LATE)
    assert resend(tmp_path / "a.outbox")["mlflow"].delivered == wanted + 1
    score = good_scores(COUNT)[10]
    (tmp_path / "a.outbox").unlink()  # as if nothing had been marked: all of it is sent again
    changed = replace(score, value=0.125)
    assert sink.send([*hostile_scores(trace_id(0)), changed]).delivered == len(HOSTILE) + 1
    assert assessments(tracking, trace_id(10))[score.id]["feedback"] == {"value": 0.125}
    found = assessments(tracking, trace_id(0))
    assert len(found) == 1 + len(HOSTILE)
    print(f"MLflow: {wanted + 1} scores on {COUNT + 1} traces, sent twice, {len(found)} on the first trace")  # noqa: T201


def test_phoenix(collector: str, tmp_path: Path) -> None:
    """Every valid score is an annotation under our identifier, once; a changed one is updated; sessions work too."""
    sink = PhoenixSink(tmp_path / "a.outbox", host=collector)
    late = OutScore("late", 1.0, trace_id=LATE)
    more = [OutScore("of_session", "good", session_id="s1"), OutScore("of_span", value=True, trace_id=trace_id(0))]
    more[1] = replace(more[1], observation_id=f"{1:016x}")
    receipt = sink.send([*good_scores(COUNT), *hostile_scores(trace_id(0)), *more, late, *bad_scores()])
    wanted = COUNT + len(HOSTILE) + len(more)
    assert (receipt.delivered, receipt.pending, len(receipt.rejected)) == (wanted, 1, len(bad_scores()))
    add_phoenix_trace(collector, LATE, SPAN)
    while resend(tmp_path / "a.outbox")["phoenix"].pending:  # the server takes spans in when it has time
        time.sleep(0.5)
    score = good_scores(COUNT)[10]
    (tmp_path / "a.outbox").unlink()  # as if nothing had been marked: all of it is sent again
    assert sink.send([*hostile_scores(trace_id(0)), replace(score, value=0.125)]).delivered == len(HOSTILE) + 1
    assert annotations(collector, trace_id(10))[score.id]["result"]["score"] == 0.125
    found = annotations(collector, trace_id(0))
    assert len(found) == 1 + len(HOSTILE)
    print(f"Phoenix: {wanted + 1} scores on {COUNT + 1} traces, sent twice, {len(found)} on the first trace")  # noqa: T201
