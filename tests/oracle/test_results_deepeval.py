"""Test runs that DeepEval writes now, with metrics that ask no model, and what is read of them.

Run by itself with a folder, it makes the test run of tests/golden/results.
"""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.comparison import Results, read_results

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
deepeval = pytest.importorskip("deepeval")
configs = pytest.importorskip("deepeval.evaluate.configs")
metrics = pytest.importorskip("deepeval.metrics")
test_cases = pytest.importorskip("deepeval.test_case")

BASE = ("Paris", "Jupiter", "broken")
NEW = ("Paris", "Saturn", "4")


class Exact(metrics.BaseMetric):  # type: ignore[misc, name-defined]  # the package may not be there
    """1 where the answer is the expected one; it breaks at one."""

    __name__ = "Exact"
    is_less_better = False

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.evaluation_model = "nobody"
        self.error = self.reason = None
        self.score: float | None = None
        self.success: bool | None = None

    def measure(self, case: Any, *args: Any, **kwargs: Any) -> float:
        """Score one case."""
        del args, kwargs
        if case.actual_output == "broken":
            raise RuntimeError("the metric broke")
        number = self.number(case)
        self.score = number
        self.success = number <= self.threshold if self.is_less_better else number >= self.threshold
        return number

    def number(self, case: Any) -> float:
        """Return the number."""
        return float(case.actual_output == case.expected_output)

    async def a_measure(self, case: Any, *args: Any, **kwargs: Any) -> float:
        """Score one case."""
        return self.measure(case, *args, **kwargs)

    def is_successful(self) -> bool:
        """Say whether it passed."""
        return bool(self.success)


class Bias(Exact):
    """A metric of which less is better."""

    __name__ = "Bias"
    is_less_better = True

    def number(self, case: Any) -> float:
        """Return the number."""
        return len(case.actual_output) / 10


def run(folder: Path, replies: tuple[str, ...]) -> Path:
    """Test three answers, and return the file of the test run."""
    asked = [
        ("Capital of France?", "Paris", "places"),
        ("Largest planet?", "Jupiter", "space"),
        ("2 + 2?", "4", "sums"),
    ]
    cases = [
        test_cases.LLMTestCase(
            name=topic,
            input=question,
            expected_output=wanted,
            actual_output=reply,
            additional_metadata={"topic": topic},
        )
        for (question, wanted, topic), reply in zip(asked, replies, strict=True)
    ]
    before = Path.cwd()
    os.chdir(folder)
    os.environ["DEEPEVAL_RESULTS_FOLDER"] = str(folder / "results")
    try:
        deepeval.evaluate(
            test_cases=cases,
            metrics=[Exact(), Bias(0.6)],
            async_config=configs.AsyncConfig(run_async=False),
            display_config=configs.DisplayConfig(show_indicator=False, print_results=False),
            error_config=configs.ErrorConfig(ignore_errors=True),
        )
    finally:
        os.chdir(before)
    (file,) = (folder / "results").glob("test_run_*.json")
    return file


def values(found: Results, metric: str) -> dict[str, list[float | None]]:
    """Return the values of a metric."""
    return {case: list(repeats) for case, repeats in found.metrics[metric].values.items()}


def test_a_test_run(tmp_path: Path) -> None:
    """A metric that broke has no score; the judge is known; less is better of one that passes below its threshold."""
    found = read_results(run(tmp_path, BASE), keep=["topic"])
    assert values(found, "Exact") == {"places": [1.0], "space": [1.0], "sums": [None]}
    assert values(found, "Bias") == {"places": [0.5], "space": [0.7], "sums": [None]}
    assert found.metrics["Exact"].origin == {"judge": "nobody"}
    assert [found.metrics[name].higher_is_better for name in ("Exact", "Bias")] == [True, False]
    assert found.cases["space"].columns == {"topic": "space"}


def test_every_file_of_a_run_says_the_same(tmp_path: Path) -> None:
    """The file in the results folder, the folder, and the latest run beside it give the same."""
    file = run(tmp_path, NEW)
    found = read_results(file)
    for other in (tmp_path / "results", tmp_path / ".deepeval" / ".latest_test_run.json"):
        assert read_results(other).metrics == found.metrics
    assert values(found, "Exact") == {"places": [1.0], "space": [0.0], "sums": [1.0]}


if __name__ == "__main__":
    for name, replies in (("base", BASE), ("new", NEW)):
        folder = Path(sys.argv[1], name)
        folder.mkdir(parents=True)
        run(folder.resolve(), replies)
