"""Scenarios: questions with the workflow and the answer that are expected, from files, asked of an agent, judged.

load_scenarios("scenarios/")                          YAML or TOML files, or Python objects
run_scenario(scenario, agent, judge=...)              one -> {"workflow": ..., "quality": ..., "pass": ..., ...}
run_scenarios(scenarios, agent, judge=...)            many at once, with repeats, resumable
decide(load_gate("gate.toml"), run.results)           pass, fail or undecided, with the reasons
check("scenarios/", CheckOptions(agent=..., gate=...))  all of it, as `adjudge check` does; then write_junit, ...

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.scenarios._baseline import Baseline, BaselineChanges, ScenarioChange, ScenarioStanding, load_baseline
    from adjudge.scenarios._check import CheckOptions, CheckResult, check
    from adjudge.scenarios._gate import Decision, Gate, GateFinding, Threshold, Verdict, decide
    from adjudge.scenarios._gate_file import load_gate
    from adjudge.scenarios._load import ScenarioPlace, load_agent_names, load_scenarios
    from adjudge.scenarios._reports import (
        check_langfuse,
        github_lines,
        send_langfuse,
        write_json,
        write_junit,
        write_markdown,
    )
    from adjudge.scenarios._reward import workflow_reward
    from adjudge.scenarios._run import (
        PassEstimate,
        ScenarioRun,
        arun_scenario,
        arun_scenarios,
        outcome_of,
        pass_at_k,
        pass_hat_k,
        read_scenario_run,
        run_scenario,
        run_scenarios,
    )
    from adjudge.scenarios._scenario import Scenario, ScorerUse
    from adjudge.scenarios._select import Selection
    from adjudge.scenarios._summary import ScenarioSummary, summaries_of
    from adjudge.workflow import WorkflowExpectation

__all__ = [
    "Baseline",
    "BaselineChanges",
    "CheckOptions",
    "CheckResult",
    "Decision",
    "Gate",
    "GateFinding",
    "PassEstimate",
    "Scenario",
    "ScenarioChange",
    "ScenarioPlace",
    "ScenarioRun",
    "ScenarioStanding",
    "ScenarioSummary",
    "ScorerUse",
    "Selection",
    "Threshold",
    "Verdict",
    "WorkflowExpectation",
    "arun_scenario",
    "arun_scenarios",
    "check",
    "check_langfuse",
    "decide",
    "github_lines",
    "load_agent_names",
    "load_baseline",
    "load_gate",
    "load_scenarios",
    "outcome_of",
    "pass_at_k",
    "pass_hat_k",
    "read_scenario_run",
    "run_scenario",
    "run_scenarios",
    "send_langfuse",
    "summaries_of",
    "workflow_reward",
    "write_json",
    "write_junit",
    "write_markdown",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_baseline": ("Baseline", "BaselineChanges", "ScenarioChange", "ScenarioStanding", "load_baseline"),
        "_check": ("CheckOptions", "CheckResult", "check"),
        "_gate": ("Decision", "Gate", "GateFinding", "Threshold", "Verdict", "decide"),
        "_gate_file": ("load_gate",),
        "_load": ("ScenarioPlace", "load_agent_names", "load_scenarios"),
        "_reports": (
            "check_langfuse",
            "github_lines",
            "send_langfuse",
            "write_json",
            "write_junit",
            "write_markdown",
        ),
        "_reward": ("workflow_reward",),
        "_run": (
            "PassEstimate",
            "ScenarioRun",
            "arun_scenario",
            "arun_scenarios",
            "outcome_of",
            "pass_at_k",
            "pass_hat_k",
            "read_scenario_run",
            "run_scenario",
            "run_scenarios",
        ),
        "_scenario": ("Scenario", "ScorerUse"),
        "_select": ("Selection",),
        "_summary": ("ScenarioSummary", "summaries_of"),
        "adjudge.workflow": ("WorkflowExpectation",),
    },
)
