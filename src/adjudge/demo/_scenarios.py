"""Chapter 6: a release, gated: the scenarios of a small multi-agent system, run against two versions of it.

The system is that of `adjudge.scenarios.sample`. Its new version makes one mistake of every kind, and once its record
of what it did has holes; nothing is played but the model's decisions.
"""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from adjudge.demo._scene import Scene
from adjudge.model import Case, Trajectory
from adjudge.scenarios import CheckOptions, CheckResult, check, sample

WORDS = {True: "pass", False: "FAIL", None: "undecided"}
HOLES = "When does the fish market open?"


def new_version(question: str, history: list[Mapping[str, Any]], case: Case) -> Trajectory:
    """Answer as the faulty variant does; of one question the record is lost in part."""
    return (sample.lossy_answer if question == HOLES else sample.faulty_answer)(question, history, case)


def chapter(scene: Scene) -> None:
    """Check the old and the new version; show how each scenario ended, and what the exit codes mean."""
    gate = {"max_unscored": 0.1}
    old, new = (
        check(sample.SCENARIOS, CheckOptions(agent=agent, gate=gate, run=scene.new_run(name)))
        for name, agent in (("old", sample.answer), ("new", new_version))
    )
    scene.say(
        f"6. Gates: {len(new.run.results)} scenarios of a system with several agents (adjudge check). The version in "
        f"production: {old.run.passes['passed']} passed, exit code {old.exit_code}. The new one:"
    )
    scene.say("\n".join(_table(new)))
    reasons = [f"  {one.verdict:<9}  {one.name}: {one.reason}" for one in new.decision.findings]
    scene.say("\n".join([f"  gate: {new.decision.verdict}, exit code {new.exit_code}", *reasons]))
    scene.say(
        "Exit code 1 means that the gate failed, and nothing else. The last scenario is not a failure: spans of its "
        "trace were lost, and neither pass nor fail can rest on what was not recorded. This gate lets a tenth of the "
        "runs be so; with more of them the exit code would be 3, undecided, as when an agent or a judge is down."
    )


def _table(result: CheckResult) -> list[str]:
    """Return the scenarios with their outcomes and the first reason of each, in 80 columns."""
    lines = []
    for one in result.run.results:
        first, *more = wrap((one["reasons"] or [""])[0].partition(": ")[2], 41) or [""]
        lines.append(f"  {WORDS[one['pass']]:<9}  {one['id']:<24}  {first}".rstrip())
        lines += [f"{'':39}{line}" for line in more]
    return lines
