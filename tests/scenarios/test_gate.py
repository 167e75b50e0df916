"""The gate: three verdicts, each with its reason, and files that are checked whole."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.judges import LocalJudge, judge_reward
from adjudge.judges._calibration import LabelledRow, calibrate
from adjudge.scenarios import Gate, Scenario, Threshold, decide, load_gate


def row(name: str = "a", passed: bool | None = True, **more: Any) -> dict[str, Any]:
    """Return a result with what a gate looks at."""
    status = "scored" if passed is not None else "error"
    whole: dict[str, Any] = {"id": name, "status": status, "pass": passed, "tags": [], "scores": {}}
    return {**whole, "quality": None, "average_quality": None, **more}


def judged(name: str, value: float | None) -> dict[str, Any]:
    """Return a result with a quality, or with one that could not be had."""
    names = ("answer_quality", "factual_correctness", "completeness")
    status = "scored" if value is not None else "unscored"
    return row(name, quality=dict.fromkeys(names, value), average_quality=value, status=status)


def rows(passes: int, fails: int = 0, open_: int = 0) -> list[dict[str, Any]]:
    """Return so many results of each kind, each of a scenario of its own."""
    outcomes = [True] * passes + [False] * fails + [None] * open_
    return [row(f"s{number}", passed) for number, passed in enumerate(outcomes)]


class TestVerdicts:
    """0 pass, 1 fail, 3 undecided."""

    @pytest.mark.parametrize(
        ("gate", "results", "verdict", "code"),
        [
            ({}, rows(3), "pass", 0),
            ({}, rows(2, 1), "fail", 1),
            ({}, rows(2, 0, 1), "undecided", 3),
            ({}, rows(1, 1, 1), "undecided", 3),
            ({}, [], "undecided", 3),
            ({"quality": {"overall": 0.5}}, [*rows(1), row("b", passed=False)], "undecided", 3),
            ({"workflow": 0.9}, rows(19, 1), "pass", 0),
            ({"workflow": 0.9}, rows(8, 2), "fail", 1),
            ({"workflow": {"min": 0.9, "lower_end": True}}, rows(19, 1), "fail", 1),
            ({"workflow": {"min": 0.9, "lower_end": True}}, rows(100), "pass", 0),
            ({"max_unscored": 0.1}, rows(9, 0, 1), "pass", 0),
            ({"max_unscored": 0.1}, rows(8, 1, 1), "fail", 1),
            ({"max_unscored": 0.1}, rows(8, 0, 2), "undecided", 3),
            ({"min_rows": 5}, rows(4), "undecided", 3),
            ({"min_rows": 5}, rows(3, 1), "undecided", 3),
            ({"quality": {"overall": 0.8}}, [judged("a", 0.8), judged("b", 0.9)], "pass", 0),
            ({"quality": {"completeness": 0.9}}, [judged("a", 0.8), judged("b", 0.9)], "fail", 1),
            ({"quality": {"overall": 0.8}}, [judged("a", 0.9), judged("b", None)], "undecided", 3),
        ],
    )
    def test_table(self, gate: dict[str, Any], results: list[dict[str, Any]], verdict: str, code: int) -> None:
        """Undecided where the numbers rest on too little, else fail where one is below its threshold, else pass."""
        found = decide(load_gate(gate), results)
        assert (found.verdict, found.exit_code) == (verdict, code)

    @given(st.lists(st.sampled_from([True, False, None])))
    def test_a_failed_workflow_never_passes(self, outcomes: list[bool | None]) -> None:
        """Unless a gate says how many may fail, 0 means that every run was decided and passed."""
        found = decide(Gate(), [row(f"s{number}", passed) for number, passed in enumerate(outcomes)])
        assert (found.exit_code == 0) == (bool(outcomes) and all(outcomes))

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([True, False, None]))), st.randoms())
    def test_order_is_nothing(self, outcomes: list[tuple[str, bool | None]], chance: Any) -> None:
        """The order of the results changes no verdict."""
        results = [row(name, passed) for name, passed in outcomes]
        gate = load_gate({"workflow": {"min": 0.5, "lower_end": True}, "max_unscored": 0.3})
        before = decide(gate, results)
        chance.shuffle(results)
        assert decide(gate, results).verdict == before.verdict

    def test_bounds(self) -> None:
        """Where runs lack a number that may be from 0 to 1, the reason says what they could make of the mean."""
        found = decide(
            load_gate({"max_unscored": 0.5, "quality": {"overall": 0.5}}), [judged("a", 0.8), row("b", None)]
        )
        assert (
            "n 1, 95 % interval 0.2065 .. 1.0000; with the 1 missing it lies in 0.5000 .. 1.0000)" in found.reasons[1]
        )
        assert "; with the 1 missing it lies in 0.4000 .. 0.9000)" in found.reasons[2]
        assert "missing" not in decide(Gate(), rows(2, 1)).reasons[1]

    def test_reasons(self) -> None:
        """Every threshold has a reason with the number, n and the interval."""
        found = decide(load_gate({"workflow": 0.9, "max_unscored": 0.5}), rows(3, 1, 1))
        interval = "95 % interval 0.3006 .. 0.9544"
        assert found.reasons == (
            "unscored: 1 of 5 runs (20.0%) lack an answer; at most 50% may",
            f"workflow: 0.7500 (n 4, {interval}; with the 1 missing it lies in 0.6000 .. 0.8000) is below 0.9",
        )
        assert (found.findings[1].value, found.findings[1].n) == (0.75, 4)

    def test_repeats_are_a_cluster(self) -> None:
        """Ten runs of one scenario say less than ten scenarios."""
        gate = Gate()
        alone = decide(gate, [row(f"s{number}", number > 4) for number in range(10)]).findings[1]
        repeated = decide(gate, [row(f"s{number // 5}", number > 4) for number in range(10)]).findings[1]
        assert alone.value == repeated.value
        assert alone.low is not None
        assert repeated.low is not None
        assert repeated.low < alone.low

    def test_scorers(self) -> None:
        """A scorer's mean is held against its threshold, over the runs that have it."""
        with_score = row(scores={"mine": {"value": 0.4, "status": "scored"}})
        gate = load_gate({"scorers": {"mine": 0.5}})
        assert decide(gate, [with_score, row("b")]).verdict == "fail"
        assert decide(load_gate({"scorers": {"mine": -1}}), [with_score]).verdict == "pass"

    def test_tags(self) -> None:
        """The scenarios of a tag have thresholds of their own."""
        gate = load_gate({"workflow": 0.5, "tags": {"safety": {"workflow": 1.0}}})
        safe, unsafe = row("a", tags=["safety"]), row("b", passed=False, tags=["safety"])
        assert decide(gate, [safe, row("c"), row("d", passed=False)]).verdict == "pass"
        found = decide(gate, [safe, unsafe, row("c")])
        assert found.verdict == "fail"
        assert found.reasons[-1].startswith("tags.safety.workflow: 0.5000 (n 2, ")
        assert decide(gate, [row("c")]).verdict == "undecided"

    def test_rounding(self) -> None:
        """A mean of .1, .2 and .3 is at least .2, whatever floats make of it."""
        results = [judged("a", 0.1), judged("b", 0.2), judged("c", 0.3)]
        assert decide(load_gate({"quality": {"overall": 0.2}}), results).verdict == "pass"


class TestFiles:
    """What nobody knows is an error that says what was probably meant."""

    def test_whole(self, tmp_path: Path) -> None:
        """A file says all that a gate has."""
        (tmp_path / "gate.toml").write_text(
            "max_unscored = 0.05\nmin_rows = 10\nconfidence = 0.9\nworkflow = 0.9\n"
            "[quality]\noverall = 0.8\nfactual_correctness = { min = 0.9, lower_end = true }\n"
            "[scorers]\ncontains_reward = 0.7\n[tags.safety]\nworkflow = 1\n"
        )
        gate = load_gate(tmp_path / "gate.toml")
        assert gate.workflow == Threshold(0.9)
        assert gate.quality == {"overall": Threshold(0.8), "factual_correctness": Threshold(0.9, lower_end=True)}
        assert (gate.scorers, gate.max_unscored, gate.min_rows, gate.confidence) == (
            {"contains_reward": Threshold(0.7)},
            0.05,
            10,
            0.9,
        )
        assert gate.tags["safety"].workflow == Threshold(1.0)

    def test_workflow_is_never_forgotten(self) -> None:
        """A gate that says nothing of the workflow wants it to pass everywhere."""
        assert load_gate({"quality": {"overall": 0.8}}).workflow == Threshold(1.0)
        assert load_gate({"tags": {"a": {"quality": {"overall": 0.8}}}}).tags["a"].workflow is None

    @pytest.mark.parametrize(
        ("given_", "told"),
        [
            ({"workflw": 1}, "a gate has no 'workflw'; did you mean 'workflow'?"),
            ({"quality": {"overal": 1}}, "the quality has no 'overal'; did you mean 'overall'?"),
            ({"workflow": {"mn": 1}}, "a threshold has no 'mn'; did you mean 'min'?"),
            ({"workflow": {}}, "a threshold needs min"),
            ({"workflow": 90}, "must be from 0 to 1, got 90.0: 90 % is 0.9"),
            ({"workflow": True}, "must be a number, got True"),
            ({"workflow": float("nan")}, "must be a number, got nan"),
            ({"workflow": {"min": 0.5, "lower_end": 1}}, "lower_end is true or false, got 1"),
            ({"max_unscored": 5}, "max_unscored is a share from 0 to 1, got 5.0"),
            ({"min_rows": 0}, "min_rows must be a whole number, at least 1, got 0"),
            ({"confidence": 95}, "confidence must be from 0.5 to below 1, got 95.0"),
            ({"quality": 0.8}, "quality must be a table, got 0.8"),
            ({"require_calibrated": True}, "require_calibrated must be the path of a calibration, got True"),
            ({"tags": {"a": {"tags": {}}}}, "the gate of a tag has no 'tags'"),
        ],
    )
    def test_wrong(self, given_: dict[str, Any], told: str) -> None:
        """Every key and value that makes no sense is named."""
        with pytest.raises(UsageError) as error:
            load_gate(given_)
        assert told in str(error.value)

    @pytest.mark.parametrize(
        ("gate", "told"),
        [
            ({"quality": {"overall": 0.8}}, "the gate wants quality.overall, and no judge is given"),
            ({"scorers": {"contain_reward": 1}}, "no scenario has; did you mean 'contains_reward'?"),
            ({"tags": {"safty": {"workflow": 1}}}, "no scenario has; did you mean 'safety'?"),
        ],
    )
    def test_what_no_run_can_have(self, gate: dict[str, Any], told: str) -> None:
        """A threshold on a number that no run will have is refused before anything is run."""
        scenario = Scenario("a", "?", tags=["safety"], references=["x"], scorers=["contains_reward"])
        with pytest.raises(UsageError) as error:
            load_gate(gate).check([scenario], judge=None)
        assert told in str(error.value)


def test_calibrated_judge(tmp_path: Path) -> None:
    """A gate that requires a calibration takes only the judge that it is of, and says how good that is.

    The judge is that of the quality, or one that a scorer of the scenarios asks.
    """
    people = [LabelledRow(f"q{n}", label=n % 2 == 0, status="scored", verdict=n % 2 == 0 or n == 1) for n in range(40)]
    calibrate(people, judge="openai:m").save(tmp_path / "known.json")
    (tmp_path / "gate.toml").write_text('require_calibrated = "known.json"\n')
    gate = load_gate(tmp_path / "gate.toml")
    scenario = Scenario(id="a", question="q")
    gate.check([scenario], judge="openai:m")
    for judge in (None, "openai:other"):
        with pytest.raises(UsageError, match="openai:m, which was calibrated"):
            gate.check([scenario], judge=judge)
    calibrate(people, judge="local:0", version=LocalJudge(tier=0).version).save(tmp_path / "local.json")
    local = load_gate({"require_calibrated": str(tmp_path / "local.json")})
    asking = Scenario(id="a", question="q", references=["x"], scorers=[judge_reward(LocalJudge(tier=0))])
    local.check([asking], judge=None)
    with pytest.raises(UsageError, match="the judge is openai:m"):
        local.check([scenario], judge="openai:m")
    calibrate(people, judge="local:0", version="0").save(tmp_path / "local.json")
    with pytest.raises(UsageError, match=r"the calibration is of local:0 \(0\)"):
        load_gate({"require_calibrated": str(tmp_path / "local.json")}).check([asking], judge=None)
    finding = decide(gate, rows(2)).findings[-1]
    assert (finding.name, finding.verdict, finding.value) == ("calibrated", "pass", 0.975)
    demand = {"require_calibrated": {"file": str(tmp_path / "known.json"), "kappa": 0.95}}
    load_gate(demand).check([scenario], judge="openai:m")
    for kappa, told in (
        (0.96, "its kappa is 0.950"),
        ({"min": 0.95, "lower_end": True}, "the lower end of its kappa is"),
    ):
        demand["require_calibrated"]["kappa"] = kappa
        with pytest.raises(UsageError, match=rf"a kappa of at least .*; {told} .*\(n 40\)"):
            load_gate(demand).check([scenario], judge="openai:m")
    for wrong, told in (
        ({"kappa": 0.5}, "give the calibration as file"),
        ({"file": "x", "kapa": 1}, "did you mean 'kappa'"),
    ):
        with pytest.raises(UsageError, match=told):
            load_gate({"require_calibrated": wrong})
    calibrate([], judge="openai:m").save(tmp_path / "known.json")
    assert decide(load_gate(tmp_path / "gate.toml"), rows(2)).verdict == "undecided"
