"""Scenarios: questions with the workflow and the answer that are expected, from files, asked of an agent, judged.

load_scenarios("scenarios/")                          YAML or TOML files, or Python objects
run_scenario(scenario, agent, judge=...)              one -> {"workflow": ..., "quality": ..., "pass": ..., ...}
run_scenarios(scenarios, agent, judge=...)            many at once, with repeats, resumable
decide(load_gate("gate.toml"), run.results)           pass, fail or undecided, with the reasons

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.scenarios._gate import Decision, Finding, Gate, Threshold, Verdict, decide
    from adjudge.scenarios._gate_file import load_gate
    from adjudge.scenarios._load import load_scenarios
    from adjudge.scenarios._passes import PassEstimate, ScenarioRun, pass_at_k, pass_hat_k
    from adjudge.scenarios._reward import workflow_reward
    from adjudge.scenarios._run import arun_scenario, arun_scenarios, run_scenario, run_scenarios
    from adjudge.scenarios._scenario import Scenario, ScorerUse
    from adjudge.workflow import WorkflowExpectation

__all__ = [
    "Decision",
    "Finding",
    "Gate",
    "PassEstimate",
    "Scenario",
    "ScenarioRun",
    "ScorerUse",
    "Threshold",
    "Verdict",
    "WorkflowExpectation",
    "arun_scenario",
    "arun_scenarios",
    "decide",
    "load_gate",
    "load_scenarios",
    "pass_at_k",
    "pass_hat_k",
    "run_scenario",
    "run_scenarios",
    "workflow_reward",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_gate": ("Decision", "Finding", "Gate", "Threshold", "Verdict", "decide"),
        "_gate_file": ("load_gate",),
        "_load": ("load_scenarios",),
        "_passes": ("PassEstimate", "ScenarioRun", "pass_at_k", "pass_hat_k"),
        "_reward": ("workflow_reward",),
        "_run": ("arun_scenario", "arun_scenarios", "run_scenario", "run_scenarios"),
        "_scenario": ("Scenario", "ScorerUse"),
        "adjudge.workflow": ("WorkflowExpectation",),
    },
)
