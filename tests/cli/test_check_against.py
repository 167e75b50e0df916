"""`[baseline]` in a gate: the suite must not be worse than an earlier run; critical scenarios pass every time."""

import json
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.scenarios import load_gate
from cli.checking import write_scenarios
from cli.command import adjudge

AGENT = ("--agent", "agent:answer")
BEHAVIOUR = """
def answer(question):
    number = int(question.split()[1])
    if {wrong} <= number < {down}:
        raise RuntimeError("the agent is down")
    tools = [] if number < {wrong} else ["pdf_retrieval"]
    return {{"response": question, "agents_called": ["orchestrator"], "tools_used": tools}}
"""
GATE = """
workflow = 0.1
max_unscored = 0.5

[baseline]
run = "main.run"
"""


def suite(folder: Path, wrong: int, *, of: int = 30, faulty: int = 0) -> None:
    """Write scenarios, and an agent that fails the first of them, and is down for those after them."""
    write_scenarios(folder, {f"s{at}": f"question {at}" for at in range(of)})
    (folder / "agent.py").write_text(BEHAVIOUR.format(wrong=wrong, down=wrong + faulty))


def check(folder: Path, *options: str) -> tuple[int, str]:
    """Check the scenarios, and return the exit code with all that was printed."""
    done = adjudge("check", "scenarios", *AGENT, *options, cwd=folder)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a baseline in which 3 of 30 scenarios fail."""
    suite(tmp_path, 3)
    (tmp_path / "gate.toml").write_text(GATE)
    assert check(tmp_path, "--run", "main.run", "--json", "main.json")[0] == 1
    return tmp_path


@pytest.mark.parametrize(
    ("wrong", "more", "code", "words"),
    [
        (3, "", 0, "pass       baseline.workflow: no difference shown: 0.9000 -> 0.9000"),
        (5, "", 0, "pass       baseline.workflow: no difference shown: 0.9000 -> 0.8333"),
        (15, "", 1, "FAIL       baseline.workflow: worse: 0.9000 -> 0.5000, -0.4000"),
        (3, "margin = 0.3", 0, "pass       baseline.workflow: non-inferior"),
        (5, "margin = 0.1", 3, "undecided  baseline.workflow: undecided"),
        (15, "margin = 0.1", 1, "FAIL       baseline.workflow: inferior"),
        (15, 'block = []\nwarn = ["workflow"]', 0, "warning: baseline.workflow: worse: 0.9000 -> 0.5000"),
    ],
)
def test_the_suite_as_a_whole(folder: Path, wrong: int, more: str, code: int, words: str) -> None:
    """A loss that is more than chance fails the gate, or is a warning; one within chance passes."""
    (folder / "gate.toml").write_text(f"{GATE}{more}\n")
    suite(folder, wrong)
    found = check(folder, "--gate", "gate.toml")
    assert (found[0], words in found[1]) == (code, True), found[1]


def test_a_report_is_a_baseline_as_good_as_its_run(folder: Path) -> None:
    """`--baseline` names another file than the gate, a report of --json gives the same verdict, changes are listed."""
    suite(folder, 15)
    by_run, by_report = (check(folder, "--gate", "gate.toml", *more) for more in ((), ("--baseline", "main.json")))
    assert by_run[0] == by_report[0] == 1
    findings = [[line for line in out.splitlines() if "baseline.workflow" in line] for _, out in (by_run, by_report)]
    assert findings[0] == findings[1] != []
    assert "since" in by_run[1]
    assert "12 worse, 18 as before" in by_run[1]


def test_too_much_missing_is_undecided(folder: Path) -> None:
    """Where faults leave more than 5 % of the pairs without a verdict, the comparison is undecided, never a pass."""
    suite(folder, 3, faulty=4)
    code, out = check(folder, "--gate", "gate.toml")
    words = "undecided  baseline.workflow: undecided, 13.3% of the pairs lack a score"
    assert (code, words in out) == (3, True), out


def test_critical_scenarios_follow_a_rule(folder: Path) -> None:
    """A scenario tagged critical must pass in every repeat, however the suite does; a rule and not a test."""
    path = folder / "scenarios" / "critical.yaml"
    path.write_text("id: vital\nquestion: question 40\ntags: [critical]\ntools_should_include: [pdf_retrieval]\n")
    code, out = check(folder, "--gate", "gate.toml", "--repeat", "2")
    assert (code, "pass       baseline.critical: 1 of 1 critical scenarios passed in every repeat" in out) == (
        0,
        True,
    ), out
    path.write_text("id: vital\nquestion: question 0\ntags: [critical]\ntools_should_include: [pdf_retrieval]\n")
    code, out = check(folder, "--gate", "gate.toml", "--repeat", "2")
    words = "FAIL       baseline.critical: 0 of 1 critical scenarios passed in every repeat;"
    assert "not 'vital'" in out
    assert (code, words in out) == (1, True), out


def test_a_baseline_that_is_not_there(folder: Path) -> None:
    """It is exit code 2 before the agent is asked, or a warning where the first time is allowed."""
    (folder / "main.run").unlink()
    code, out = check(folder, "--gate", "gate.toml")
    assert (code, "main.run: No such file" in out) == (2, True), out
    code, out = check(folder, "--gate", "gate.toml", "--baseline-missing", "pass", "--run", "main.run")
    assert (code, "there is no baseline yet (main.run): nothing was compared with it" in out) == (0, True), out
    assert check(folder, "--gate", "gate.toml")[0] == 0


def test_what_the_gate_wants_and_nobody_has(folder: Path) -> None:
    """A number that neither run has, and a baseline of another thing, are wrong calls."""
    (folder / "gate.toml").write_text(GATE + 'block = ["quality.overall"]\n')
    assert check(folder, "--gate", "gate.toml")[0] == 2
    (folder / "gate.toml").write_text(GATE)
    (folder / "main.run").write_text("{}")
    code, out = check(folder, "--gate", "gate.toml")
    assert (code, "main.run is not a report of adjudge check --json" in out) == (2, True), out


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("1", "must be a table"),
        ({"runs": "x"}, "a baseline has no 'runs'; did you mean 'run'"),
        ({"run": 1}, "run must be a path"),
        ({"block": "workflow"}, "block must be a list of names"),
        ({"margin": "a"}, "margin must be a number"),
        ({"margin": 0}, "margin must be a number greater than 0"),
        ({"max_missing": 2}, "max_missing is a share"),
        ({"block": []}, "block and warn are both empty"),
    ],
)
def test_wrong_tables(table: object, why: str) -> None:
    """A table that makes no sense is refused with what was meant."""
    with pytest.raises(UsageError, match=why):
        load_gate({"baseline": table})


def test_no_early_stop_with_a_baseline(folder: Path) -> None:
    """Scenarios that are spared cannot be compared: the two do not go together."""
    code, out = check(folder, "--gate", "gate.toml", "--stop-early")
    assert (code, "--stop-early spares scenarios that the [baseline] of the gate needs" in out) == (2, True), out


def test_the_finding_in_the_report(folder: Path) -> None:
    """The report has the finding with its numbers, beside the changes."""
    suite(folder, 15)
    check(folder, "--gate", "gate.toml", "--json", "now.json")
    whole = json.loads((folder / "now.json").read_text())
    (finding,) = [one for one in whole["gate"] if one["name"] == "baseline.workflow"]
    assert (finding["verdict"], finding["value"], finding["n"]) == ("fail", pytest.approx(-0.4), 30)
    assert whole["baseline"]["counts"]["worse"] == 12


def test_a_scenario_that_was_changed_is_not_compared(folder: Path) -> None:
    """The same id with other expectations is another case: it is left out, with a warning."""
    path = folder / "scenarios" / "all.toml"
    before = path.read_text()
    path.write_text(before.replace('["pdf_retrieval"]', "[]", 1))
    code, out = check(folder, "--gate", "gate.toml")
    assert "not compared with the baseline, because the scenario was changed: 's0'" in out
    assert "29 pairs" in out
    path.write_text(before.replace('["pdf_retrieval"]', "[]"))
    code, out = check(folder, "--gate", "gate.toml")
    assert (code, "the runs have no case in common" in out) == (3, True), out


def test_critical_scenarios_of_the_baseline_have_to_run(folder: Path) -> None:
    """A critical scenario that is excluded, deleted or no longer tagged still has to pass: else it is undecided."""
    path = folder / "scenarios" / "critical.yaml"
    text = "id: vital\nquestion: question 40\ntags: [critical]\ntools_should_include: [pdf_retrieval]\n"
    path.write_text(text)
    assert check(folder, "--gate", "gate.toml", "--baseline", "main.run", "--run", "next.run")[0] == 0
    code, out = check(folder, "--gate", "gate.toml", "--baseline", "next.run", "--exclude", "vital")
    assert (code, "undecided  baseline.critical: 0 of 1 critical scenarios" in out) == (3, True), out
    path.write_text(text.replace("question 40", "question 0").replace("critical", "calm"))
    code, out = check(folder, "--gate", "gate.toml", "--baseline", "next.run")
    assert (code, "FAIL       baseline.critical: 0 of 1 critical scenarios" in out) == (1, True), out


def test_a_run_is_not_its_own_baseline(folder: Path) -> None:
    """The run file of the check cannot be the baseline, and no report is written over it."""
    code, out = check(folder, "--gate", "gate.toml", "--run", "main.run")
    assert (code, "main.run is the baseline: this check needs a run file of its own" in out) == (2, True), out
    before = (folder / "main.run").read_bytes()
    code, out = check(folder, "--baseline", "main.run", "--json", "main.run")
    assert (code, "main.run is read by this call: it would be overwritten" in out) == (2, True), out
    assert (folder / "main.run").read_bytes() == before
