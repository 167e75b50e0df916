"""MLflow, Phoenix and OpenTelemetry: what is asked, and what their replies mean."""

from pathlib import Path
from typing import Any

import pytest

from adjudge.sinks import MlflowSink, OtelSink, OutScore, PhoenixSink, resend
from sinks.recorded import recorded
from sinks.scores import QUICK, bad_scores, good_scores, trace_id

SPAN = "00f067aa0ba902b7"
TOKEN = "hush"  # noqa: S105 (of nobody)
MISSING = {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Trace with ID 'tr-nope' not found."}


class Assessments:
    """MLflow's assessments: kept under the ids that they come with, 404 for what is not there."""

    def __init__(self, traces: set[str]) -> None:
        self.traces = traces
        self.kept: dict[str, dict[str, Any]] = {}

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, object]:
        """Answer as the server does; creating what is there already is its 500."""
        trace, _, id_ = path.removeprefix("/api/3.0/mlflow/traces/").partition("/assessments")
        if trace not in self.traces:
            return 404, MISSING
        if method == "GET":
            found = self.kept.get(id_[1:])
            return (200, {"assessment": found}) if found else (404, MISSING)
        given = body["assessment"]
        if method == "POST" and given["assessment_id"] in self.kept:
            return 500, {"error_code": "INTERNAL_ERROR", "message": "constraint violation"}
        if given["assessment_name"] == "refused":
            return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"}
        self.kept[given["assessment_id"]] = given
        return 200, {"assessment": given}


def test_mlflow(tmp_path: Path) -> None:
    """A score is created once, updated when it changes, pending while its trace is missing, listed when refused."""
    server = Assessments({f"tr-{trace_id(number)}" for number in range(20)})
    with recorded(server) as told:
        sink = MlflowSink(tmp_path / "a.outbox", host=told.host, token=TOKEN, limits=QUICK)
        more = [OutScore("refused", 1.0, trace_id=trace_id(1)), OutScore("late", 1.0, trace_id=trace_id(99))]
        receipt = sink.send([*good_scores(20), *more, *bad_scores()])
        assert (receipt.delivered, receipt.pending, len(receipt.rejected)) == (20, 1, 1 + len(bad_scores()))
        assert "no-trace" in (receipt.fault or "")
        server.traces.add(f"tr-{trace_id(99)}")
        assert sink.send([OutScore("late", 0.5, trace_id=trace_id(99))]).pending == 0
        assert len(server.kept) == 21
        assert told.headers[0]["authorization"] == f"Bearer {TOKEN}"
    kept = server.kept[good_scores(20)[3].id]
    assert kept["feedback"] == {"value": 3 / 20}
    assert kept["rationale"] == "Reason 3."
    assert kept["metadata"] == {"scenario_id": '"s3"', "tags": '["smoke"]', "adjudge.run": "july"}


def test_mlflow_after_a_lost_reply(tmp_path: Path) -> None:
    """A score that had arrived is updated, not created a second time."""
    server = Assessments({f"tr-{trace_id(0)}"})
    (score,) = good_scores(1)
    server.kept[score.id] = {"assessment_id": score.id, "feedback": {"value": 0.7}}
    with recorded(server) as told:
        assert MlflowSink(tmp_path / "a.outbox", host=told.host, limits=QUICK).send([score]).delivered == 1
    assert (len(server.kept), server.kept[score.id]["feedback"]) == (1, {"value": 0.0})
    assert [method for method, _, _ in told.asked] == ["GET", "PATCH"]


def test_mlflow_without_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an address the scores are kept, and the receipt says what to set."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    receipt = MlflowSink(tmp_path / "a.outbox").send(good_scores(3))
    assert (receipt.pending, "MLFLOW_TRACKING_URI" in (receipt.fault or "")) == (3, True)
    server = Assessments({f"tr-{trace_id(number)}" for number in range(3)})
    with recorded(server) as told:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", told.host)
        assert resend(tmp_path / "a.outbox")["mlflow"].delivered == 3


def test_phoenix(tmp_path: Path) -> None:
    """Traces, spans and sessions are annotated under our identifiers; one unknown trace holds up no other."""
    kept: dict[str, dict[str, Any]] = {}
    known = {trace_id(number) for number in range(20)} | {SPAN, "s1"}

    def answer(_: str, path: str, body: Any) -> tuple[int, object]:
        kind = path.removeprefix("/v1/").removesuffix("_annotations?sync=true")
        if any(one[f"{kind}_id"] not in known for one in body["data"]):
            return 404, f"{kind.title()} with IDs ... do not exist."
        kept.update({one["identifier"]: one for one in body["data"]})
        return 200, {"data": [{"id": "VHJhY2U6MQ=="} for _ in body["data"]]}

    more = [
        OutScore("of_span", value=True, trace_id=trace_id(1), observation_id=SPAN),
        OutScore("of_session", "good", session_id="s1"),
        OutScore("unknown", 1.0, trace_id=trace_id(99)),
    ]
    with recorded(answer) as told:
        sink = PhoenixSink(tmp_path / "a.outbox", host=told.host, api_key=TOKEN, limits=QUICK)
        receipt = sink.send([*good_scores(20), *more])
        assert (receipt.delivered, receipt.pending) == (22, 1)
        assert "no-trace" in (receipt.fault or "")
        known.add(trace_id(99))
        assert resend(tmp_path / "a.outbox")["phoenix"].delivered == 23
    assert kept[more[0].id]["result"] == {"label": "true", "score": 1.0, "explanation": None}
    assert kept[more[1].id]["result"] == {"label": "good", "score": None, "explanation": None}
    assert kept[good_scores(20)[5].id]["result"]["score"] == 0.25


def test_otel_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each score is one event of the trace that it judges; what a collector refuses in part is listed."""

    def answer(_: str, __: str, body: Any) -> tuple[int, object]:
        (record,) = body["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        name = record["attributes"][0]["value"]["stringValue"]
        return 200, {"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "no"}} if name == "bad" else {}

    more = [OutScore("bad", 1.0), OutScore("passed", value=False, trace_id=trace_id(5), observation_id=SPAN)]
    with recorded(answer) as told:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", told.host)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hush%20hush,x=1")
        receipt = OtelSink(tmp_path / "a.outbox", limits=QUICK).send([*good_scores(3), *more])
    assert (receipt.delivered, receipt.pending, [one.name for one in receipt.rejected]) == (4, 0, ["bad"])
    assert {path for _, path, _ in told.asked} == {"/v1/logs"}
    assert told.headers[0]["api-key"] == "hush hush"
    record = told.asked[-1][2]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    attributes = {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}
    assert (record["eventName"], record["traceId"], record["spanId"]) == ("gen_ai.evaluation.result", trace_id(5), SPAN)
    assert attributes["gen_ai.evaluation.score.label"] == "fail"
    assert attributes["gen_ai.evaluation.score.value"] == 0.0


def test_otel_without_a_trace(tmp_path: Path) -> None:
    """A trace id that is none of OpenTelemetry's is not forged into one."""
    with recorded(lambda *_: (200, {})) as told:
        assert OtelSink(tmp_path / "a.outbox", endpoint=told.host).send([OutScore("q", 1.0, trace_id="t1")]).delivered
    assert "traceId" not in told.asked[0][2]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
