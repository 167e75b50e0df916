"""DeepEval's ToolCorrectness and ours, on the same calls.

Its default score is the recall of `tools_f1`; exact matching is the order `strict`, and a score of 1 with its ordering
is `in_order`. Where they differ, `DIFFERENCES` says why.
"""

import os
from collections.abc import Sequence
from typing import Any

import pytest

from adjudge.rewards import tools_f1
from adjudge.workflow import check_workflow

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
deepeval = pytest.importorskip("deepeval.metrics")
cases = pytest.importorskip("deepeval.test_case")
models = pytest.importorskip("deepeval.models")

# What was called, and what was wanted.
ROWS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "same": (["a"], ["a"]),
    "same two": (["a", "b"], ["a", "b"]),
    "another order": (["b", "a"], ["a", "b"]),
    "one of two": (["a"], ["a", "b"]),
    "one too many": (["a", "b"], ["a"]),
    "one between": (["a", "c", "b"], ["a", "b"]),
    "another": (["c"], ["a"]),
    "none": ([], ["a"]),
    "three in another order": (["c", "a", "b"], ["a", "b", "c"]),
    "one twice, once wanted": (["a", "a"], ["a"]),
    "one twice": (["a", "a"], ["a", "a"]),
    "once, twice wanted": (["a"], ["a", "a"]),
}
ALIKE = "to DeepEval two calls with the same name and arguments are one; adjudge counts each"
DIFFERENCES = {("one twice", "recall"): ALIKE}


class Nobody(models.DeepEvalBaseLLM):  # type: ignore[misc, name-defined]  # the package may not be there
    """A model that is asked for, and never called: names are compared without one."""

    def load_model(self) -> None:
        """Load nothing."""

    def generate(self, prompt: str) -> str:
        """Refuse."""
        raise AssertionError(prompt)

    async def a_generate(self, prompt: str) -> str:
        """Refuse."""
        raise AssertionError(prompt)

    def get_model_name(self) -> str:
        """Return a name."""
        return "nobody"


def theirs(called: Sequence[str], wanted: Sequence[str], **options: Any) -> float:
    """Return DeepEval's score."""
    metric = deepeval.ToolCorrectnessMetric(model=Nobody(), async_mode=False, **options)
    case = cases.LLMTestCase(
        input="q",
        actual_output="a",
        tools_called=[cases.ToolCall(name=name) for name in called],
        expected_tools=[cases.ToolCall(name=name) for name in wanted],
    )
    return float(metric.measure(case, _show_indicator=False))


def conversation(called: Sequence[str]) -> list[dict[str, Any]]:
    """Return a run that called these tools, one after the other."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "q"}]
    for index, name in enumerate(called):
        call = {"id": str(index), "function": {"name": name, "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(index), "content": "fine"})
    return [*messages, {"role": "assistant", "content": "a"}]


def passes(called: Sequence[str], wanted: Sequence[str], order: str) -> bool:
    """Return our verdict on an order."""
    expected = {"tools_should_include": wanted, "tools_order": order}
    return check_workflow({**expected, "unlisted": "ignore"}, conversation(called)).passed is True


@pytest.mark.parametrize("row", ROWS)
def test_the_same_score(row: str) -> None:
    """The share of the wanted tools is the recall of `tools_f1`; exact and ordered matches are our orders."""
    called, wanted = ROWS[row]
    found = tools_f1(conversation(called), tools=wanted)
    same = {
        "recall": found["recall"] == pytest.approx(theirs(called, wanted)),
        "strict": passes(called, wanted, "strict") == (theirs(called, wanted, should_exact_match=True) == 1),
        "in_order": passes(called, wanted, "in_order") == (theirs(called, wanted, should_consider_ordering=True) == 1),
    }
    assert {kind for kind, equal in same.items() if not equal} == {kind for name, kind in DIFFERENCES if name == row}
