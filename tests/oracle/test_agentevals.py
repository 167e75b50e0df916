"""The verdicts of agentevals' trajectory matches and ours, on the same trajectories.

A reference trajectory is said as an expectation: its tools, how often each, the order of the mode, and the arguments.
Where the two verdicts differ, `DIFFERENCES` says why; `docs/reference/traces.md` has the same in words.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from adjudge.workflow import check_workflow

match = pytest.importorskip("agentevals.trajectory.match")

Call = tuple[str, Mapping[str, Any]]
Turns = Sequence[Sequence[Call]]  # the calls of each message

SF: Call = ("weather", {"city": "SF"})
LONDON: Call = ("weather", {"city": "London"})
BOTH: Call = ("weather", {"city": "SF and London"})
FULL: Call = ("weather", {"city": "SF", "unit": "F"})
NEWS: Call = ("news", {"city": "SF"})
NONE: Call = ("clock", {})

# What was done, and what was wanted.
ROWS: dict[str, tuple[Turns, Turns]] = {
    "same": ([[SF]], [[SF]]),
    "nothing": ([], []),
    "other arguments": ([[SF]], [[LONDON]]),
    "parallel calls in another order": ([[SF, LONDON]], [[LONDON, SF]]),
    "one after the other, wanted at once": ([[SF], [LONDON]], [[LONDON, SF]]),
    "one of two": ([[SF]], [[LONDON, SF]]),
    "another tool": ([[SF]], [[NEWS]]),
    "two for one": ([[SF, LONDON]], [[BOTH]]),
    "one for two": ([[BOTH]], [[SF, LONDON]]),
    "two tools in another order": ([[NEWS], [SF]], [[SF], [NEWS]]),
    "a tool too many": ([[SF], [NEWS]], [[SF]]),
    "a tool too few": ([[SF]], [[SF], [NEWS]]),
    "more arguments": ([[FULL]], [[SF]]),
    "fewer arguments": ([[SF]], [[FULL]]),
    "called, nothing wanted": ([[SF]], []),
    "nothing called": ([], [[SF]]),
    "without arguments": ([[NONE]], [[NONE]]),
    "twice": ([[SF], [SF]], [[SF], [SF]]),
    "once for twice": ([[SF]], [[SF], [SF]]),
    "each twice, the other way": ([[SF], [SF], [LONDON]], [[SF], [LONDON], [LONDON]]),
}
MODES = ("strict", "unordered", "subset", "superset")
ARGUMENTS = ("exact", "ignore", "subset", "superset")

MESSAGES = "agentevals compares the messages too: which calls are in one message; adjudge compares the calls"
PAIRS = "agentevals pairs the calls one to one; a rule of adjudge asks for a call that fits it, whichever"
REVERSED = "where the run must be within the reference, agentevals turns the arguments' mode round as well"
DIFFERENCES = {
    **{("one after the other, wanted at once", "strict", arguments): MESSAGES for arguments in ARGUMENTS},
    **{
        ("each twice, the other way", mode, arguments): PAIRS
        for mode in MODES
        for arguments in ("exact", "subset", "superset")
    },
    ("more arguments", "unordered", "superset"): REVERSED,
    ("more arguments", "subset", "subset"): REVERSED,
    ("more arguments", "subset", "superset"): REVERSED,
    ("fewer arguments", "unordered", "subset"): REVERSED,
    ("fewer arguments", "subset", "subset"): REVERSED,
    ("fewer arguments", "subset", "superset"): REVERSED,
}


def conversation(turns: Turns) -> list[dict[str, Any]]:
    """Return the messages of a run: a question, the calls of each turn with their results, an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How is it there?"}]
    for number, calls in enumerate(turns):
        asked = [
            {
                "id": f"c{number}.{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": asked})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in asked]
    return [*messages, {"role": "assistant", "content": "Fine."}]


def expectation(wanted: Turns, mode: str, arguments: str) -> dict[str, Any]:
    """Return a reference trajectory as what a run should call."""
    calls = [call for turn in wanted for call in turn]
    counts = Counter(name for name, _ in calls)
    names = [name for name, _ in calls] if mode == "strict" else list(counts)
    bounds = {"superset": "min", "subset": "max"}
    count = {name: {bounds[mode]: number} if mode in bounds else number for name, number in counts.items()}
    order = {"strict": "strict", "unordered": "any_order"}.get(mode, mode)
    made: dict[str, Any] = {
        "tools_should_include": names,
        "tools_order": order,
        "tools_count": count if mode != "strict" else None,
    }
    made["unlisted"] = "ignore" if mode == "superset" else "fail"
    if arguments != "ignore":
        made["tools_arguments"] = {
            name: rules([given for tool, given in calls if tool == name], mode, arguments) for name in counts
        }
    return made


def rules(wanted: Sequence[Mapping[str, Any]], mode: str, arguments: str) -> list[dict[str, Any]]:
    """Return rules for a tool's calls: each that is wanted is there, none is there that is not wanted, or both."""

    def fits(given: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
        if arguments == "exact":
            return given == one
        inner, outer = (given, one) if arguments == "subset" else (one, given)
        return inner.items() <= outer.items()

    every = {"calls": "every", "predicate": lambda given: any(fits(given, one) for one in wanted)}
    some = [{"predicate": lambda given, one=one: fits(given, one)} for one in wanted]
    return [*(some if mode != "subset" else []), *([every] if mode != "superset" else [])]


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ROWS)
def test_the_same_verdict(row: str, mode: str, arguments: str) -> None:
    """Both say the same of every row, but where the difference is known."""
    done, wanted = ROWS[row]
    evaluator = match.create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode=arguments)
    theirs = evaluator(outputs=conversation(done), reference_outputs=conversation(wanted))["score"]
    ours = check_workflow(expectation(wanted, mode, arguments), conversation(done)).passed
    assert (ours != theirs) == ((row, mode, arguments) in DIFFERENCES), (ours, theirs)


def test_requested_is_not_executed() -> None:
    """A call that was never executed is a match for agentevals; adjudge compares what ran, and says what did not."""
    asked = [message for message in conversation([[SF]]) if message["role"] != "tool"]
    evaluator = match.create_trajectory_match_evaluator(trajectory_match_mode="superset")
    assert evaluator(outputs=asked, reference_outputs=conversation([[SF]]))["score"] is True
    ours = check_workflow(expectation([[SF]], "superset", "exact"), asked)
    assert ours.passed is False
    assert ours.requested_not_executed == ("weather",)
