"""Real evaluations of Inspect, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has Inspect.
"""

import math
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import Task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall  # noqa: E402

from adjudge.errors import DataError, UsageError  # noqa: E402
from adjudge.integrations.inspect import scorer, task  # noqa: E402
from adjudge.model import Case, Score  # noqa: E402
from adjudge.rewards import reward  # noqa: E402
from trainers import golden  # noqa: E402

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "Capital of France?", "answer": "Paris"},
    {"id": "b", "question": "Capital of Italy?", "answer": ["Rome", "Roma"]},
    {"id": "c", "question": "Capital of Atlantis?"},
]


def evaluate(given: Any, answers: list[str], folder: Path, **options: Any) -> Any:
    """Run a task with scripted answers."""
    outputs = []
    for text in answers:
        output = ModelOutput.from_content("mock", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it is counted with a download
        outputs.append(output)
    model = get_model("mockllm/model", custom_outputs=outputs)
    return inspect_ai.eval(given, model=model, display="none", log_dir=str(folder), max_samples=1, **options)[0]


def test_a_row_without_a_number_is_unscored(tmp_path: Path) -> None:
    """The mean is that of the rows with a number; Inspect counts the others, and each says why."""
    log = evaluate(task(ROWS, scorer=scorer("qa_f1_reward")), ["Paris", "Lyon", "?"], tmp_path)
    assert log.status == "success", log.error
    (result,) = log.results.scores
    assert {name: metric.value for name, metric in result.metrics.items()} == {"mean": 0.5, "stderr": 0.5}
    assert (result.scored_samples, result.unscored_samples) == (2, 1)
    scores = {sample.id: sample.scores["qa_f1_reward"] for sample in log.samples}
    assert [scores[name].value for name in "ab"] == [1.0, 0.0]
    assert math.isnan(scores["c"].value)
    assert scores["c"].explanation.startswith("missing-column: row")
    assert (scores["c"].reason, scores["c"].metadata["status"]) == ("missing-column", "error")
    assert scores["a"].metadata["f1"] == 1.0


def test_epochs_reduce_what_has_a_number(tmp_path: Path) -> None:
    """Of two epochs, one without a number, the sample's score is that of the other."""

    @reward
    def own(final_response: str) -> Score:
        return Score.error("env-died: gone") if final_response == "dead" else Score.scored(1.0)

    log = evaluate(task(ROWS[:1], scorer=scorer(own)), ["dead", "Paris"], tmp_path, epochs=2)
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_an_empty_target_is_no_reference(tmp_path: Path) -> None:
    """A sample without a target has "" for one: an empty response does not equal it."""
    given = Task(dataset=MemoryDataset([Sample(input="?", target="")]), scorer=scorer("qa_em_reward"))
    log = evaluate(given, [""], tmp_path)
    score = log.samples[0].scores["qa_em_reward"]
    assert math.isnan(score.value)
    assert score.metadata["status"] == "error"


def test_the_target_is_the_answer(tmp_path: Path) -> None:
    """Data sets have the worked solution in the metadata, which is not what is compared with."""
    solution = {"answer": "48 / 2 = 24, and 24 + 48 = 72. #### 72", "reference": "24", "question": "How many?"}
    sample = Sample(input="How many?", target="72", metadata=solution)
    for name in ("math_equal_reward", "local:0"):
        log = evaluate(Task(dataset=MemoryDataset([sample]), scorer=scorer(name)), ["It is 72."], tmp_path)
        assert log.results.scores[0].metrics["mean"].value == 1.0
    # What our own task reads keeps its form: 3.0 is a number, and not the text "30".
    rows = [{"question": "How many?", "answer": 3.0}]
    log = evaluate(task(rows, scorer=scorer("qa_em_reward")), ["3"], tmp_path)
    assert log.results.scores[0].metrics["mean"].value == 1.0


@pytest.mark.parametrize(("before", "expected"), [(True, 0.0), (False, 1.0)])
def test_tools_of_the_input_are_not_the_agents(tmp_path: Path, before: bool, expected: float) -> None:
    """A tool that ran in the input was not called by the agent; one that ran afterwards was."""
    used: list[Any] = [
        ChatMessageAssistant(content="", tool_calls=[ToolCall(id="1", function="search", arguments={"q": "x"})]),
        ChatMessageTool(content="Paris", tool_call_id="1", function="search"),
    ]

    @inspect_ai.solver.solver  # type: ignore[untyped-decorator]
    def add_tools() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.messages.extend([] if before else used)
            return await generate(state)

        return solve

    sample = Sample(input=[ChatMessageUser(content="Capital?"), *(used if before else [])], target="Paris")
    given = Task(dataset=MemoryDataset([sample]), solver=add_tools(), scorer=scorer("qa_f1_reward_tool"))
    log = evaluate(given, ["Paris"], tmp_path)
    assert log.samples[0].scores["qa_f1_reward_tool"].value == expected


def test_a_judge_is_a_scorer_too(tmp_path: Path) -> None:
    """The question is the sample's input, the references its target; cases are samples."""
    cases = [Case("a", "Capital of France?", references=("Paris",))]
    log = evaluate(task(cases, scorer=scorer("local:0", name="judge")), ["It is Paris."], tmp_path)
    assert log.samples[0].scores["judge"].value == 1.0


def test_raise_and_zero(tmp_path: Path) -> None:
    """`raise` makes the sample an error of Inspect's, `zero` a 0 that says what it is."""
    log = evaluate(task(ROWS[2:], scorer=scorer("qa_f1_reward", on_fault="raise")), ["?"], tmp_path)
    assert log.status == "error"
    assert "missing-column" in log.error.message
    log = evaluate(task(ROWS[2:], scorer=scorer("qa_f1_reward", on_fault="zero")), ["?"], tmp_path)
    assert log.samples[0].scores["qa_f1_reward"].value == 0.0
    assert log.samples[0].scores["qa_f1_reward"].metadata["status"] == "error"


@pytest.mark.parametrize("name", golden.SCORERS)
def test_golden_rows(tmp_path: Path, name: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number has none."""
    rows = golden.rows(name)
    samples = [{"id": row["id"], "question": row["prompt"], "answer": row["answer"]} for row in rows]
    log = evaluate(task(samples, scorer=scorer(name)), [row["response"] for row in rows], tmp_path)
    values = {sample.id: sample.scores[name].value for sample in log.samples}
    golden.check(name, [None if math.isnan(values[row["id"]]) else values[row["id"]] for row in rows])


def test_wrong_calls_are_refused() -> None:
    """A case that asks nothing, and a scorer of groups."""
    with pytest.raises(DataError, match="no question"):
        task([{"id": "a", "answer": "x"}], scorer=None)

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [0.0] * len(final_response)

    with pytest.raises(UsageError, match="asks for one"):
        scorer(rank)
    with pytest.raises(UsageError, match="did you mean 'mask'"):
        scorer("qa_f1_reward", on_fault="msak")  # type: ignore[arg-type]
