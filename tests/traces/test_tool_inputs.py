"""What OpenInference writes as the input of LangChain's tools: nothing of one without arguments, one argument bare."""

from typing import Any

import pytest

from adjudge.model import Trajectory
from adjudge.traces import load
from adjudge.workflow import check_workflow

SCOPE = "openinference.instrumentation.langchain"


def tool(number: int, name: str, scope: str = SCOPE, **attributes: str) -> dict[str, Any]:
    """Return a tool's span as OpenInference writes it."""
    given = {"openinference.span.kind": "TOOL", "tool.name": name, **attributes}
    return {
        "scope": {"name": scope},
        "spans": [
            {
                "traceId": "a" * 32,
                "spanId": f"{number:016x}",
                "name": name,
                "startTimeUnixNano": str(number),
                "endTimeUnixNano": str(number + 1),
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in given.items()],
            }
        ],
    }


def read(*scopes: dict[str, Any]) -> Trajectory:
    """Read spans."""
    return load({"resourceSpans": [{"scopeSpans": list(scopes)}]})


def passed(found: Trajectory, name: str, **exact: Any) -> bool | None:
    """Return the verdict of a rule on the arguments of one tool."""
    return check_workflow({"tools_arguments": {name: {"exact": exact}}}, found).passed


MAIL = tool(5, "send", **{"input.value": '{"to": "bob"}', "output.value": "sent"})


def test_a_tool_without_arguments() -> None:
    """A tool that was given nothing has no input: its arguments are known, and so are those of others."""
    found = read(tool(1, "inbox", **{"output.value": "at 5?"}), MAIL)
    assert "arguments" not in found.unknown
    assert (passed(found, "inbox"), passed(found, "inbox", day="1")) == (True, False)
    assert (passed(found, "send", to="bob"), passed(found, "send", to="eve")) == (True, False)


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        (SCOPE, {"input.value": "__REDACTED__", "output.value": "at 5?"}),
        (SCOPE, {"output.value": "__REDACTED__"}),
        (SCOPE, {}),
        ("openinference.instrumentation.crewai", {"output.value": "at 5?"}),
    ],
)
def test_an_input_that_was_hidden(scope: str, attributes: dict[str, str]) -> None:
    """Where contents are hidden, or another instrumentation has no input, the arguments are unknown."""
    found = read(tool(1, "inbox", scope, **attributes), MAIL)
    assert "arguments" in found.unknown
    assert passed(found, "inbox") is None


def test_one_argument_that_is_written_bare() -> None:
    """Of a call that no model asked for, a bare text lacks its argument's name: undecided, for it alone."""
    found = read(tool(1, "weather", **{"input.value": "Oslo", "output.value": "Sunny."}), MAIL)
    result = check_workflow({"tools_arguments": {"weather": {"exact": {"city": "Oslo"}}}}, found)
    assert result.passed is None
    assert result.reasons == ("incomplete-trace: the record does not show the arguments of tool 'weather'",)
    assert (passed(found, "send", to="bob"), passed(found, "send", to="eve")) == (True, False)
