"""Scores for the tests, and a program that sends them."""

import sys
from dataclasses import replace
from typing import Any

from adjudge.http import Limits
from adjudge.sinks import LangfuseSink, OutScore, Receipt

PUBLIC, SECRET = "pk-lf-tests", "sk-lf-hush-hush"
KEYS = (PUBLIC, SECRET)
ENV = {"LANGFUSE_PUBLIC_KEY": PUBLIC, "LANGFUSE_SECRET_KEY": SECRET}
QUICK = Limits(in_flight=8, attempts=5, attempt_timeout_s=10.0, deadline_s=20.0, max_wait_s=5.0)


def trace_id(number: int) -> str:
    """Return a trace id as the runner makes them."""
    return f"{number:032x}"


def good_scores(count: int) -> list[OutScore]:
    """Return scores that every receiver takes, each of a trace of its own."""
    return [
        OutScore(
            "quality_completeness",
            number / count,
            comment=f"Reason {number}.",
            trace_id=trace_id(number),
            metadata={"scenario_id": f"s{number}", "tags": ["smoke"]},
            run="july",
        )
        for number in range(count)
    ]


def bad_scores() -> list[OutScore]:
    """Return scores that must be listed, not sent."""
    like = OutScore("quality_overall", 1.0, run="july", trace_id=trace_id(1))
    changes: list[dict[str, Any]] = [
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": 10**400},
        {"value": None, "reason": "unscored: the judge refused"},
        {"value": "0.5"},
        {"value": 0.5, "data_type": "boolean"},
        {"value": " ", "data_type": "categorical"},
        {"trace_id": None},
        {"trace_id": "two\nlines"},
        {"trace_id": "\ud800"},
        {"session_id": "", "trace_id": None},
        {"name": " "},
    ]
    return [replace(like, **{"name": f"bad_{at}", "id": "", **change}) for at, change in enumerate(changes)]


def odd_scores() -> list[OutScore]:
    """Return scores that are valid, once they are made fit to travel."""
    like = OutScore("odd", 1.0, run="july", trace_id=trace_id(2))
    changes: list[dict[str, Any]] = [
        {"comment": "lone \ud800 surrogate"},
        {"comment": "x" * 2_000_000},
        {"comment": "é" * 2_000_000},
        {"comment": "\x00\x1b[31m\x9b"},
        {"metadata": {"n": float("nan"), "deep": {"a": {"b": {"c": {"d": 1}}}}, "bytes": b"\xff", "\udcff": {1, 2}}},
        {"name": "na\udfffme"},
        {"value": True, "data_type": None},
        {"value": "good", "data_type": None},
        {"value": 10**15},
    ]
    return [replace(like, **{"name": f"odd_{at}", "id": "", **change}) for at, change in enumerate(changes)]


def send(outbox: object, host: str, scores: list[OutScore]) -> Receipt:
    """Send scores with the tests' keys and patience."""
    sink = LangfuseSink(str(outbox), host=host, public_key=PUBLIC, secret_key=SECRET, limits=QUICK)
    return sink.send(scores)


if __name__ == "__main__":
    send(sys.argv[1], sys.argv[2], good_scores(int(sys.argv[3])))
