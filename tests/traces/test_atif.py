"""ATIF: trajectories as NVIDIA's models of the format write them (`tests/oracle/test_atif.py`), and hostile ones."""

import json
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.traces import load, missing
from adjudge.workflow import check_workflow
from support import GOLDEN


def written(name: str) -> Any:
    """Return a trajectory, or a list of them."""
    return json.loads((GOLDEN / "atif" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", ["v1.5", "v1.6", "v1.7"])
def test_every_version_says_the_same(version: str) -> None:
    """Agent, tools with arguments and results, tokens, cost and answer are those of the steps, in every version."""
    found = load(written(version))
    assert found == load(written("v1.7"), format="atif")
    assert found.agents_called == ("coder",)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls or ()] == [
        ("read_file", {"path": "Makefile"}, "test: ..."),
        ("bash", {"command": "make test"}, "1 failed"),
    ]
    assert all(call.requested and call.executed for call in found.tool_calls or ())
    assert found.final_response == "The build is repaired."
    assert (found.prompt_tokens, found.completion_tokens, found.cost) == (250, 30, 0.03)
    assert (found.complete, found.unknown) == (True, {})
    roles = [message.role for message in found.messages]
    assert roles[:3] == ["system", "user", "assistant"]


@pytest.mark.parametrize("name", ["embedded", "beside"])
def test_sub_agents_are_part_of_the_run(name: str) -> None:
    """A trajectory that a result refers to, embedded or beside it in a list, is an agent that was called."""
    found = load(written(name))
    assert found.agents_called == ("leader", "reader")
    assert found.tools_used == ("ask_reader", "open_page")
    assert found.final_response == "It was opened in 1932."
    assert (found.prompt_tokens, found.completion_tokens) == (44, 15)
    assert found.cost == pytest.approx(0.033)
    assert found.complete


def test_a_file_that_a_reference_names_is_missing() -> None:
    """A sub-agent's file is never opened; what it would say is missing, and the record incomplete."""
    record = written("elsewhere")
    assert not load(record).complete
    assert missing(record) == (
        "the trajectory of a sub-agent, 'reader.json', is not in the record: embed it, or give both in a list",
    )
    assert load(record).agents_called == ("leader",)


def test_a_trajectory_that_goes_on_elsewhere_is_incomplete() -> None:
    """The rest of a trajectory in another file is missing."""
    record = {**written("v1.7"), "continued_trajectory_ref": "part2.json"}
    assert missing(record) == ("trajectory 0 continues in 'part2.json', which is not in the record",)


def test_copied_context_is_from_before() -> None:
    """Steps that were copied from an earlier trajectory are context: their calls are not this run's."""
    record = written("v1.7")
    record["steps"][2]["is_copied_context"] = True
    assert load(record).tools_used == ()
    assert load(record).final_response == "The build is repaired."


def test_several_runs_need_a_name() -> None:
    """Trajectories that do not refer to one another are several runs, told apart by their ids."""
    record = [written("v1.7"), written("elsewhere")]
    with pytest.raises(TrajectoryError, match=r"2 runs \('run-1', 'leader'"):
        load(record)
    assert load(record, trace="run-1").agents_called == ("coder",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": {"version": "1"}}, "agent.name is missing"),
        ({"steps": [{"step_id": 1, "source": "robot", "message": ""}]}, "has the source 'robot', which is not known"),
        ({"steps": [{"source": "agent", "tool_calls": [{"tool_call_id": "c"}]}]}, "function_name is missing"),
        ({"steps": 3}, "steps must be a list"),
    ],
)
def test_what_cannot_be_read_is_an_error(change: dict[str, Any], words: str) -> None:
    """What a step does not say is an error that names the place, never an empty run."""
    with pytest.raises(TrajectoryError, match=words):
        load({**written("v1.7"), **change})


def test_references_in_a_circle_end() -> None:
    """Two trajectories that refer to each other, or one to itself, are each read once."""
    one, two = written("beside")
    two["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": one["session_id"]}]
    assert load([one, two]).agents_called == ("leader", "reader")
    own = written("embedded")
    own["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"trajectory_id": "leader"}]
    assert not load(own).complete
    own["subagent_trajectories"] = [own]
    assert load(own).agents_called == ("leader",)


@pytest.mark.parametrize(
    ("version", "numbers", "words"),
    [
        ("ATIF-v1.9", (1, 2, 3), "is 'ATIF-v1.9', and ATIF-v1.0 to 1.7 are known: convert it"),
        ("ATIF-v2.0", (1, 2, 3), "is 'ATIF-v2.0'"),
        ("ATIF-v1.7", (1, 3, 4), "steps[1] should have the step_id 2, and has '3'"),
        ("ATIF-v1.7", (2, 3, 4), "steps[0] should have the step_id 1, and has '2'"),
        ("ATIF-v1.7", (1, None, 3), "steps[1] should have the step_id 2, and has ''"),
    ],
)
def test_what_may_be_missing(version: str, numbers: tuple[int | None, ...], words: str) -> None:
    """A version of the future, and steps that are not numbered without a gap, decide nothing, and say why."""
    said = [("user", "?"), ("agent", "I look."), ("agent", "Done.")]
    steps: list[dict[str, Any]] = [
        {"source": who, "message": what, **({} if number is None else {"step_id": number})}
        for (who, what), number in zip(said, numbers, strict=True)
    ]
    agent = {"name": "coder", "version": "1"}
    record = {"schema_version": version, "session_id": "s", "agent": agent, "steps": steps}
    assert not load(record).complete
    assert [words in fault for fault in missing(record)] == [True]
    assert check_workflow({"tools_should_include": ["bash"]}, load(record)).passed is None
