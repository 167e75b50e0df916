"""A cascade: the first judge's verdict where it is sure, the second's otherwise, and what the summary says of both."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adjudge.agents import ChatAgent
from adjudge.crag._judging import judge_of
from adjudge.errors import UsageError
from adjudge.judges import (
    CascadeJudge,
    LabelledRow,
    LLMJudge,
    LocalJudge,
    PanelJudge,
    RubricJudge,
    calibrate,
    get_judge,
    judge_reward,
)
from adjudge.judges._cascade import CascadeTally, steps_of
from adjudge.model import Ask, ChatModel, ChatReply, Judgement, Score, asking
from adjudge.rewards import get_reward
from adjudge.runs import RunConfig, evaluate
from adjudge.testing import ChatCall, ChatServer, Reply, wrong
from judges.models import CORRECT, WRONG, Scripted


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
    assert (report.kept, report.escalated, report.compared, report.agreed, report.share) == (6, 2, 2, 1, 0.25)
    assert report.saved is not None
    assert report.saved > 0


class Priced:
    """A cascade over rows with these probabilities, whose second judge and agent cost a dollar a call."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.runs = folder, url, 0

    def saved(self, answers: Sequence[str], **more: Any) -> float | None:
        """Return what a run of theirs says that it saved."""
        second = LLMJudge("m", base_url=self.url, api_key="none", gate=False)
        judge = CascadeJudge(Sure(), second, threshold=0.9)
        rows = [{"id": n, "question": f"q{n}?", "reference": "r", "response": one} for n, one in enumerate(answers)]
        config = RunConfig(**{"cache": "off", "price": (1e6, 0.0), **more.pop("config", {})})
        self.runs += 1
        result = evaluate(rows, judge=judge, run=self.folder / f"{self.runs}.run", config=config, **more)
        assert result.summary.cascade is not None
        return result.summary.cascade.saved


def said(call: ChatCall) -> Reply:
    """Answer as an agent that is in doubt about every other question, or call it wrong; for one token."""
    agent = {"q0?": "0.95", "q1?": "0.6"}.get(call.prompt.strip())
    return Reply(agent or wrong(call), prompt_tokens=1, completion_tokens=0)


def test_saved_is_the_second_judges(tmp_path: Path) -> None:
    """What was saved is what the second judge would have cost: no cost of an agent or of canaries is in it."""
    with ChatServer(said) as server:
        runs = Priced(tmp_path, server.base_url)
        assert runs.saved(["0.95"] * 3 + ["0.6", "0.4"]) == 3.0
        agent = ChatAgent("m", base_url=server.base_url, api_key="none")
        assert runs.saved(["", ""], agent=agent) == 1.0


def test_saved_is_told_by_what_was_paid(tmp_path: Path) -> None:
    """Replies that were paid for in an earlier run do not make the second judge look cheap."""
    with ChatServer(said) as server:
        runs = Priced(tmp_path, server.base_url)
        kept = {"cache": str(tmp_path / "cache.sqlite")}
        assert runs.saved(["0.6", "0.95", "0.95"], config=kept) == 2.0
        assert runs.saved(["0.6", "0.95", "0.95", "0.6"], config=kept) == 2.0
        assert runs.saved(["0.6", "0.95", "0.95", "0.6"], config=kept) is None


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"threshold": 0.9}, "a confidence of 0.9 is needed"),
        (
            {"error_budget": 0.1, "calibrated": 1.0},
            "the labels show that beyond a confidence of 0.87 it errs in at most 10.0%",
        ),
        (
            {"error_budget": 0.02, "calibrated": 0.5},
            "the labels show for no confidence that it errs in at most 2.0%",
        ),
    ],
)
def test_the_rule_is_stated(tmp_path: Path, options: dict[str, Any], rule: str) -> None:
    """A run says from which confidence on the first judge's verdict stands, and by which budget that was chosen."""
    if worth := options.pop("calibrated", None):
        options["calibration"] = calibrate(rows_of(worth), judge="sure", version="1")
    second = LLMJudge("m", base_url="http://127.0.0.1:9/v1", api_key="none", attempts=1)
    judge = CascadeJudge(Sure(), second, **options)
    assert judge.rule == rule
    rows = [{"id": 1, "question": "q?", "reference": "r", "response": "1.0"}]
    result = evaluate(rows, judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off"))
    assert (result.counts["error"] == 1) == ("for no confidence" in rule)
    assert result.summary.cascade is not None
    assert result.summary.cascade.rule == rule


def test_only_verdicts_are_compared(tmp_path: Path) -> None:
    """Rows that the second judge failed on are escalated, and say nothing of how often the two agree."""
    second = LLMJudge("m", base_url="http://127.0.0.1:9/v1", api_key="none", attempts=1, gate=False)
    rows = [{"id": n, "question": "q?", "reference": "r", "response": text} for n, text in enumerate(("0.6", "0.95"))]
    judge = CascadeJudge(Sure(), second, threshold=0.9)
    result = evaluate(rows, judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off"))
    report = result.summary.cascade
    assert report is not None
    assert (report.kept, report.escalated, report.compared, report.agreed) == (1, 1, 0, 0)


def test_as_a_reward() -> None:
    """Scores of a cascade have the same parts whoever decided: the probability is None where the second judge did."""
    with ChatServer(wrong) as server:
        second = LLMJudge("m", base_url=server.base_url, api_key="none", gate=False)
        scorer = get_reward(judge_reward(CascadeJudge(Sure(), second, threshold=0.9)))
        rows = [{"question": "q", "answer": "r", "final_response": text} for text in ("0.95", "0.6")]
        kept, escalated = scorer.score_many(rows)
    assert (kept.value, kept.parts) == (1.0, {"probability": 0.95})
    assert (escalated.value, escalated.parts) == (0.0, {"probability": None})


def test_known_agreement_is_handed_on() -> None:
    """Whoever asks the local judge among others says how far that one agrees with people."""
    local = LocalJudge(tier=0)
    assert CascadeJudge(local, LLMJudge("m")).agreement == local.agreement
    assert CascadeJudge(Sure(), LLMJudge("m"), threshold=0.9).agreement is None
    assert PanelJudge([local, local, LLMJudge("m")]).agreement == local.agreement
    assert PanelJudge([LLMJudge("m"), LLMJudge("n")]).agreement is None


def test_in_crag() -> None:
    """CRAG takes a cascade by its name, as every other judge."""
    judge, why_not = judge_of("cascade:local:0,openai:m", base_url="http://127.0.0.1:9/v1")
    assert why_not is None
    assert judge is not None
    assert judge.name == "cascade:local:0,openai:m"


@pytest.mark.parametrize("spec", ["local", "openai:m", "panel:local,local"])
def test_budgets_are_for_cascades(spec: str) -> None:
    """An error budget for a judge that is no cascade is an error: it would change nothing."""
    with pytest.raises(UsageError, match="cascade"):
        get_judge(spec, error_budget=0.05)
    with pytest.raises(UsageError, match="cascade"):
        get_judge(spec, first_calibration="known.json")


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
    with pytest.raises(UsageError, match="has no threshold for an error budget: put local first"):
        CascadeJudge(Sure(), Sure())
    with pytest.raises(UsageError, match="for verdicts"):
        CascadeJudge(Sure(), RubricJudge("m"), threshold=0.9)


@pytest.mark.parametrize("budget", [2, 1, 0.6, -0.1, float("nan")])
def test_budgets_are_shares(budget: float) -> None:
    """An error budget of 2, or of 1, is a slip for a percentage, and would let every first verdict stand."""
    with pytest.raises(UsageError, match="an error budget is a share from 0 to one half"):
        get_judge("cascade:local:0,openai:m", error_budget=budget)


def test_options_that_no_judge_takes() -> None:
    """An option that no judge takes is an error, also for one that asks no model: it is not dropped."""
    assert get_judge("local:0", base_url="http://127.0.0.1:9/v1", api_key="none").name == "local:0"
    for spec in ("local", "openai:m", "panel:local,openai:m", "cascade:local,openai:m"):
        with pytest.raises(UsageError, match="no judge takes 'tier' by name: write local:0 or local:1"):
            get_judge(spec, tier=0)
        with pytest.raises(UsageError, match="did you mean 'temperature'"):
            get_judge(spec, temprature=0)


def rows_of(worth: float, count: int = 2000) -> list[LabelledRow]:
    """Return rows of a judge that says how sure it is, and is right in `worth` of what it says beyond one half."""
    chance = Random(7)  # noqa: S311 (drawn rows)
    rows = []
    for number in range(count):
        sure = chance.uniform(0.5, 1.0)
        is_right = chance.random() < 0.5 + worth * (sure - 0.5)
        rows.append(LabelledRow(f"q{number}", is_right, "scored", verdict=True, probability=sure))
    return rows


@pytest.mark.parametrize("budget", [0.02, 0.05, 0.1])
def test_thresholds_by_labels(budget: float) -> None:
    """A calibration of the first judge chooses the threshold: beyond it, that judge errs within the budget."""
    rows = rows_of(1.0, 60_000)
    known = calibrate(rows, judge="sure", version="1")
    threshold = CascadeJudge(Sure(), LLMJudge("m"), error_budget=budget, calibration=known).threshold
    assert threshold is not None
    assert threshold == known.threshold_for(budget)
    kept = [row for row in rows if (row.probability or 0.0) >= threshold]
    assert sum(not row.label for row in kept) <= budget * len(kept)
    assert 1.0 - 3.0 * budget <= threshold < 1.0


def test_no_threshold_by_few_labels() -> None:
    """Where too few labels bear out the budget, or the judge is too sure of itself, no verdict of the first is kept."""
    assert calibrate(rows_of(1.0, 40), judge="sure").threshold_for(0.01) == 1.0
    assert calibrate(rows_of(0.5), judge="sure").threshold_for(0.02) == 1.0
    assert calibrate(rows_of(1.0), judge="sure").threshold_for(0.0) == 1.0
    with pytest.raises(UsageError, match="gives no probabilities"):
        calibrate([LabelledRow("q", label=True, status="scored", verdict=True)], judge="m").threshold_for(0.1)


def test_thresholds_by_labels_of_another(tmp_path: Path) -> None:
    """A cascade by name reads the calibration of its first judge, and takes no other."""
    local = LocalJudge(tier=0)
    known = calibrate(rows_of(1.0), judge=local.name, version=local.version)
    known.save(tmp_path / "known.json")
    found = get_judge("cascade:local:0,openai:m", error_budget=0.05, first_calibration=str(tmp_path / "known.json"))
    assert isinstance(found, CascadeJudge)
    assert found.threshold == known.threshold_for(0.05)
    with pytest.raises(UsageError, match="the calibration is of local:0"):
        get_judge("cascade:openai:m,local:0", first_calibration=str(tmp_path / "known.json"))


def test_local_knows_its_threshold() -> None:
    """The local judge chooses its threshold by the error budget: the smaller the budget, the surer it must be."""
    cascades = [get_judge("cascade:local:0,openai:m", error_budget=budget) for budget in (0.04, 0.02, 0.005, 0.0)]
    thresholds = [cascade.threshold or 0.0 for cascade in cascades if isinstance(cascade, CascadeJudge)]
    assert thresholds == sorted(thresholds)
    assert 0.5 <= thresholds[0] < thresholds[2] <= 1.0
    found = asyncio.run(cascades[1].ajudge("Capital of France?", "Paris", "It is Paris."))
    assert (found.verdict, found.tier, "kept" in found.reasons) == ("CORRECT", 0, True)


@dataclass
class Fixed:
    """A judge that always says the same, and keeps the ways in which it was told to ask."""

    said: Judgement
    name: str = "fixed"
    version: str = "3"
    prompt_hash: str | None = None
    ways: list[Ask | None] = field(default_factory=list)

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Say it."""
        del question, reference, response
        self.ways.append(ask)
        return self.said


KEPT = Judgement("scored", "CORRECT", probability=0.95, reasons=("seen",), calls=2)
UNSURE = Judgement("scored", "CORRECT", probability=0.6, calls=2)
SECOND = Judgement("scored", "WRONG", reasons=("read",), calls=3)


@pytest.mark.parametrize(
    ("first", "verdict", "reasons", "calls"),
    [
        (KEPT, "CORRECT", ("seen", "kept"), 2),
        (UNSURE, "WRONG", ("read", "escalated", "first-said-correct"), 5),
        (Judgement("scored", "WRONG", probability=0.4), "WRONG", ("read", "escalated", "first-said-wrong"), 3),
        (Judgement("unscored", probability=0.99), "WRONG", ("read", "escalated", "first-said-unscored"), 3),
        (Judgement("error", reason="x"), "WRONG", ("read", "escalated", "first-said-error"), 3),
        (Judgement("scored", "CORRECT"), "WRONG", ("read", "escalated", "first-said-correct"), 3),
        (Judgement("unscored", "CORRECT", probability=1.0), "WRONG", ("read", "escalated", "first-said-correct"), 3),
        (Judgement("scored", probability=1.0), "WRONG", ("read", "escalated", "first-said-scored"), 3),
    ],
)
def test_what_is_said_of_both(first: Judgement, verdict: str, reasons: tuple[str, ...], calls: int) -> None:
    """Only a verdict with a probability is kept; a judgement says who decided, what the first said, and all calls."""
    cascade = CascadeJudge(Fixed(first), Fixed(SECOND, "second"), threshold=0.9)
    found = cascade.judge("q", "r", "text")
    assert (found.verdict, found.reasons, found.calls, found.judge) == (verdict, reasons, calls, "cascade:fixed,second")
    assert cascade.is_sure(first) is ("kept" in reasons)


@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_thresholds_from_one_half_to_one(threshold: float) -> None:
    """At .5 every verdict is kept, at 1 none, however certain; beyond there is no threshold."""
    cascade = CascadeJudge(Fixed(KEPT), Fixed(SECOND), threshold=threshold)
    certain = Judgement("scored", "WRONG", probability=0.0)
    assert [cascade.is_sure(said) for said in (UNSURE, KEPT, certain)] == [threshold == 0.5] * 3
    assert cascade.version == f"3+3 at {threshold:g}"
    with pytest.raises(UsageError, match=r"between \.5 and 1"):
        CascadeJudge(Fixed(KEPT), Fixed(SECOND), threshold=threshold + (0.1 if threshold == 1.0 else -0.01))


def test_two_errors_in_a_hundred_unless_said() -> None:
    """Without a threshold and a budget, the first judge may err in 2 % of what it keeps."""
    local = LocalJudge(tier=0)
    assert CascadeJudge(local, LLMJudge("m")).threshold == local.threshold_for(0.02)
    assert local.threshold_for(0.02) not in (local.threshold_for(0.024), local.threshold_for(0.016))


def test_labels_under_another_prompt() -> None:
    """A calibration of the first judge under another prompt than it has now chooses no threshold."""
    rows = [LabelledRow("q", label=True, status="scored", verdict=True, probability=0.9, prompt_hash="old")] * 149
    known = calibrate(rows, judge="fixed", version="3")
    assert CascadeJudge(Fixed(KEPT, prompt_hash="old"), Fixed(SECOND), calibration=known).threshold == 0.5
    with pytest.raises(UsageError, match="another prompt"):
        CascadeJudge(Fixed(KEPT, prompt_hash="new"), Fixed(SECOND), calibration=known)


def test_who_answers_their_requests() -> None:
    """Both judges are handed the way to ask; without one, each asks its own models as the context has them asked."""

    async def way(request: object) -> ChatReply:
        del request
        return ChatReply(WRONG)

    first, second = Fixed(UNSURE), Fixed(SECOND)
    asyncio.run(CascadeJudge(first, second, threshold=0.9).ajudge("q", "r", "text", ask=way))
    assert (first.ways, second.ways) == ([way], [way])
    asked: list[ChatModel] = []

    def ways(chats: Mapping[str, ChatModel]) -> Ask:
        asked.extend(chats.values())
        return way

    one, two = Scripted(CORRECT, "one"), Scripted(CORRECT, "two")
    token = asking.set(ways)
    try:
        judges = (LLMJudge(chat=one, gate=False), LLMJudge(chat=two, gate=False))
        found = CascadeJudge(*judges, threshold=0.9).judge("q", "r", "text")
    finally:
        asking.reset(token)
    assert asked == [one, two]
    assert (found.verdict, one.requests, two.requests) == ("WRONG", [], [])


@pytest.mark.parametrize(
    ("notes", "steps"),
    [
        (None, ()),
        ({}, ()),
        ({"reasons": "seen", "verdict": "CORRECT"}, ()),
        ({"reasons": "seen kept", "verdict": "CORRECT"}, ("kept",)),
        ({"reasons": "escalated first-said-correct", "verdict": "CORRECT"}, ("escalated", "compared", "agreed")),
        ({"reasons": "escalated first-said-wrong", "verdict": "WRONG"}, ("escalated", "compared", "agreed")),
        ({"reasons": "escalated first-said-wrong", "verdict": "CORRECT"}, ("escalated", "compared")),
        ({"reasons": "escalated first-said-unscored", "verdict": "CORRECT"}, ("escalated",)),
        ({"reasons": "escalated first-said-wrong"}, ("escalated",)),
        ({"reasons": "escalated", "verdict": "CORRECT"}, ("escalated",)),
    ],
)
def test_steps(notes: dict[str, str] | None, steps: tuple[str, ...]) -> None:
    """What a score counts for: kept, or escalated, compared where both gave verdicts, agreed where these are alike."""
    assert steps_of(Score(1.0, notes=notes)) == steps


@pytest.mark.parametrize(
    ("kept", "escalated", "saved"),
    [
        ([0.0] * 6, [0.2, 0.3], 1.5),
        ([0.0] * 6, [0.2, 0.4, None], 1.8),  # what was known already says nothing of the price
        ([0.5] * 6, [0.7, 0.8], 1.5),  # an agent that answers is paid for either way
        ([0.0] * 6, [0.0, 0.0], None),
        ([0.0] * 6, [None, None], None),
        ([0.0] * 6, [], None),
        ([], [0.25] * 4, 0.0),
    ],
)
def test_what_is_saved(kept: list[float | None], escalated: list[float | None], saved: float | None) -> None:
    """Rows kept would have cost the mean of those escalated; nothing is said without a price or such a row."""
    tally = CascadeTally()
    for cost in kept:
        tally.add(Score(1.0, notes={"reasons": "seen kept", "verdict": "CORRECT"}), cost)
    for cost in escalated:
        tally.add(Score(1.0, notes={"reasons": "escalated first-said-wrong", "verdict": "CORRECT"}), cost)
    found = tally.report("by heart")
    assert found is not None
    assert (found.kept, found.escalated, found.compared, found.agreed) == (len(kept), len(escalated), len(escalated), 0)
    assert found.share == len(escalated) / (len(kept) + len(escalated))
    assert found.saved == (saved if saved is None else pytest.approx(saved))
    assert found.rule == "by heart"


def test_no_cascade_at_work() -> None:
    """Scores of other judges make no report of a cascade."""
    tally = CascadeTally()
    tally.add(Score(1.0, notes={"reasons": "seen", "verdict": "CORRECT"}), 0.5)
    assert tally.report(None) is None
