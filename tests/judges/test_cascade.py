"""A cascade: the first judge's verdict where it is sure, the second's otherwise, and what the summary says of both."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.judges import CascadeJudge, LLMJudge, RubricJudge, get_judge
from adjudge.model import Ask, Judgement
from adjudge.runs import RunConfig, evaluate
from adjudge.testing import ChatServer, wrong


@dataclass
class Sure:
    """A judge that says CORRECT, as sure as the response says."""

    name: str = "sure"
    version: str = "1"

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Read the probability out of the response."""
        del question, reference, ask
        if response == "none":
            return Judgement("unscored", reason="nothing", judge=self.name)
        probability = float(response or 0.0)
        verdict = "CORRECT" if probability >= 0.5 else "WRONG"
        return Judgement("scored", verdict, judge=self.name, probability=probability, reasons=("seen",), tier=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "asked", "verdict"),
    [
        ("0.95", False, "CORRECT"),
        ("0.9", False, "CORRECT"),
        ("0.89", True, "WRONG"),
        ("0.11", True, "WRONG"),
        ("0.05", False, "WRONG"),
        ("none", True, "WRONG"),
    ],
)
def test_who_decides(response: str, asked: bool, verdict: str) -> None:
    """The second judge is asked where the first is less sure than the threshold, or says nothing."""
    with ChatServer(wrong) as server:
        second = LLMJudge("m", base_url=server.base_url, api_key="none", gate=False)
        found = asyncio.run(CascadeJudge(Sure(), second, threshold=0.9).ajudge("q", "r", response))
        assert server.counts.calls == int(asked)
    assert (found.status, found.verdict, found.judge) == ("scored", verdict, "cascade:sure,openai:m")
    assert ("escalated" in found.reasons, "kept" in found.reasons) == (asked, not asked)
    assert (found.probability is None) == asked


def test_summary(tmp_path: Path) -> None:
    """The summary has the share escalated, how often both agreed there, and what was saved at the price paid."""
    rows = [
        {"id": n, "question": "q?", "reference": "r", "response": text}
        for n, text in enumerate(["0.95"] * 6 + ["0.6", "0.4"])
    ]
    with ChatServer(wrong) as server:
        judge = CascadeJudge(Sure(), LLMJudge("m", base_url=server.base_url, api_key="none", gate=False), threshold=0.9)
        config = RunConfig(cache="off", price=(1000.0, 1000.0))
        result = evaluate(rows, judge=judge, run=tmp_path / "a.run", config=config)
        assert server.counts.calls == 2
    report = result.summary.cascade
    assert report is not None
    assert (report.kept, report.escalated, report.agreed, report.share) == (6, 2, 1, 0.25)
    assert report.saved is not None
    assert report.saved > 0


def test_failures_stay_failures() -> None:
    """Where the second judge fails, the row is an error: the first one's guess is not taken instead."""
    second = LLMJudge("m", base_url="http://127.0.0.1:9/v1", api_key="none", attempts=1, gate=False)
    found = asyncio.run(CascadeJudge(Sure(), second, threshold=0.9).ajudge("q", "r", "0.6"))
    assert (found.status, found.verdict) == ("error", None)


def test_bad_cascades() -> None:
    """A cascade needs two judges for verdicts, and a threshold that can be had."""
    for spec in ("cascade:", "cascade:local", "cascade:local,", "cascade:local,cascade:local,local"):
        with pytest.raises(UsageError, match="a cascade has two judges"):
            get_judge(spec)
    with pytest.raises(UsageError, match="threshold of a cascade"):
        CascadeJudge(Sure(), Sure(), threshold=0.2)
    with pytest.raises(UsageError, match="does not say how sure"):
        CascadeJudge(Sure(), Sure())
    with pytest.raises(UsageError, match="for verdicts"):
        CascadeJudge(Sure(), RubricJudge("m"), threshold=0.9)


def test_local_knows_its_threshold() -> None:
    """The local judge chooses its threshold by the error budget: the smaller the budget, the surer it must be."""
    cascades = [get_judge("cascade:local:0,openai:m", error_budget=budget) for budget in (0.04, 0.02, 0.005, 0.0)]
    thresholds = [cascade.threshold or 0.0 for cascade in cascades if isinstance(cascade, CascadeJudge)]
    assert thresholds == sorted(thresholds)
    assert 0.5 <= thresholds[0] < thresholds[2] <= 1.0
    found = asyncio.run(cascades[1].ajudge("Capital of France?", "Paris", "It is Paris."))
    assert (found.verdict, found.tier, "kept" in found.reasons) == ("CORRECT", 0, True)
