"""Trajectories in ATIF that NVIDIA's own models of the format write, and accept, are read as what they say.

`ADJUDGE_WRITE=1` writes them to `tests/golden/atif`, where the tests that need no package read them.
"""

import json
import os
from typing import Any

import pytest

from support import GOLDEN

atif = pytest.importorskip("nat.atif")

FOLDER = GOLDEN / "atif"


def step(number: int, source: str, message: object, **facts: Any) -> Any:
    """Return a step."""
    return atif.Step(step_id=number, source=source, message=message, **facts)


def call(identity: str, name: str, **arguments: object) -> Any:
    """Return a call of a tool."""
    return atif.ToolCall(tool_call_id=identity, function_name=name, arguments=arguments)


def results(*items: dict[str, Any]) -> Any:
    """Return what the environment answered."""
    return atif.Observation(results=[atif.ObservationResult(**item) for item in items])


def metrics(prompt: int, completion: int, cost: float) -> Any:
    """Return what a model call took."""
    return atif.Metrics(prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def helper(identity: str | None, session: str = "run-2", version: str = "ATIF-v1.7") -> Any:
    """Return the trajectory of a sub-agent that reads a page."""
    return atif.Trajectory(
        schema_version=version,
        session_id=session,
        trajectory_id=identity,
        agent=atif.Agent(name="reader", version="1"),
        steps=[
            step(1, "user", "When was the bridge opened?"),
            step(
                2,
                "agent",
                "",
                tool_calls=[call("r1", "open_page", url="bridge")],
                observation=results({"source_call_id": "r1", "content": "Opened on 19 March 1932."}),
                metrics=metrics(5, 3, 0.001),
            ),
            step(3, "agent", "In 1932.", metrics=metrics(9, 2, 0.002)),
        ],
    )


def coder(version: str) -> Any:
    """Return the trajectory of an agent without helpers: two tools in one step, one result as a list of parts."""
    second: Any = "1 failed"
    if version != "ATIF-v1.5":
        second = [atif.ContentPart(type="text", text="1 failed")]
    return atif.Trajectory(
        schema_version=version,
        session_id="run-1",
        agent=atif.Agent(name="coder", version="2.1", model_name="m"),
        steps=[
            step(1, "system", "You repair builds."),
            step(2, "user", "Repair the build."),
            step(
                3,
                "agent",
                "I look at it.",
                reasoning_content="First the files.",
                tool_calls=[call("c1", "read_file", path="Makefile"), call("c2", "bash", command="make test")],
                observation=results(
                    {"source_call_id": "c1", "content": "test: ..."}, {"source_call_id": "c2", "content": second}
                ),
                metrics=metrics(100, 20, 0.01),
            ),
            step(4, "agent", "The build is repaired.", metrics=metrics(150, 10, 0.02)),
        ],
        final_metrics=atif.FinalMetrics(total_prompt_tokens=250, total_completion_tokens=30, total_cost_usd=0.03),
    )


def leader(reference: dict[str, Any], helpers: list[Any] | None, version: str = "ATIF-v1.7") -> Any:
    """Return the trajectory of an agent that asks a helper."""
    return atif.Trajectory(
        schema_version=version,
        session_id="run-2" if version == "ATIF-v1.7" else "run-3",
        trajectory_id="leader" if version == "ATIF-v1.7" else None,
        agent=atif.Agent(name="leader", version="1"),
        steps=[
            step(1, "user", "When was the bridge opened?"),
            step(
                2,
                "agent",
                "",
                tool_calls=[call("c1", "ask_reader", question="When?")],
                observation=results(
                    {
                        "source_call_id": "c1",
                        "content": "In 1932.",
                        "subagent_trajectory_ref": [atif.SubagentTrajectoryRef(**reference)],
                    }
                ),
                metrics=metrics(10, 4, 0.01),
            ),
            step(3, "agent", "It was opened in 1932.", metrics=metrics(20, 6, 0.02)),
        ],
        subagent_trajectories=helpers,
    )


WRITTEN: dict[str, Any] = {
    "v1.5": coder("ATIF-v1.5"),
    "v1.6": coder("ATIF-v1.6"),
    "v1.7": coder("ATIF-v1.7"),
    "embedded": leader({"trajectory_id": "reader-1", "session_id": "run-2"}, [helper("reader-1")]),
    "beside": [
        leader({"session_id": "run-3a", "trajectory_path": "reader.json"}, None, "ATIF-v1.6"),
        helper(None, "run-3a", "ATIF-v1.6"),
    ],
    "elsewhere": leader({"trajectory_path": "reader.json"}, None),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_golden_files_are_what_the_package_writes(name: str) -> None:
    """The files that the other tests read are those that the package writes today."""
    made = WRITTEN[name]
    plain = [one.to_json_dict() for one in made] if isinstance(made, list) else made.to_json_dict()
    path = FOLDER / f"{name}.json"
    if os.environ.get("ADJUDGE_WRITE"):
        path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == plain
