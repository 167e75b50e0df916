"""Samples that lm-evaluation-harness writes now: two tasks with its dummy model, and what is read of them.

Run by itself with a folder, it makes the samples of tests/golden/results.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.comparison import Results, read_results
from adjudge.errors import UsageError

os.environ["HF_HUB_OFFLINE"] = "1"
evaluator = pytest.importorskip("lm_eval")
loggers = pytest.importorskip("lm_eval.loggers")
models = pytest.importorskip("lm_eval.models.dummy")
tasks_of = pytest.importorskip("lm_eval.tasks")

DOCUMENTS = [
    {"q": "Capital of France?", "a": "Paris", "topic": "places"},
    {"q": "Largest planet?", "a": "Jupiter", "topic": "space"},
    {"q": "2 + 2?", "a": "4", "topic": "numbers"},
]
GENERATE = """
task: small
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["END"]}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
  - {metric: bleu, aggregation: bleu, higher_is_better: true}
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: first-word, filter: [{function: regex, regex_pattern: "(\\\\w+)"}, {function: take_first}]}
metadata: {version: 1.0}
"""
CHOOSE = """
task: choices
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: ["Paris", "Jupiter", "4"]
doc_to_target: "{{['Paris', 'Jupiter', '4'].index(a)}}"
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
metadata: {version: 2.0}
"""


class Scripted(models.DummyLM):  # type: ignore[misc, name-defined]  # the package may not be there
    """A model with one reply for every document, which chooses by the length of the choice."""

    def __init__(self, replies: tuple[str, ...]) -> None:
        super().__init__()
        self.replies = replies

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Reply."""
        del disable_tqdm
        return list(self.replies[: len(requests)])

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Choose."""
        del disable_tqdm
        return [(float(len(request.args[1])), False) for request in requests]


def run(folder: Path, replies: tuple[str, ...], *tasks: str) -> Path:
    """Evaluate the tasks, and return the folder of their samples."""
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS), encoding="utf-8")
    for name, text in (("small", GENERATE), ("choices", CHOOSE)):
        (folder / f"{name}.yaml").write_text(text.replace("DATA", str(data)), encoding="utf-8")
    manager = tasks_of.TaskManager(include_path=str(folder), include_defaults=False)
    found = evaluator.simple_evaluate(Scripted(replies), tasks=list(tasks), task_manager=manager, log_samples=True)
    tracker = loggers.EvaluationTracker(output_path=str(folder / "out"))
    tracker.general_config_tracker.model_name_sanitized = "scripted"
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task in tasks:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    (place,) = {path.parent for path in (folder / "out").rglob("samples_*.jsonl")}
    return place


def values(found: Results, metric: str) -> dict[str, list[float | None]]:
    """Return the values of a metric."""
    return {case: list(repeats) for case, repeats in found.metrics[metric].values.items()}


def test_a_folder_of_two_tasks(tmp_path: Path) -> None:
    """Every task, metric and filter is a metric; what is not a number of each row is left out."""
    found = read_results(run(tmp_path, ("Paris", "Saturn", "4 indeed"), "small", "choices"), keep=["topic"])
    assert values(found, "small/exact_match,strict") == {"small/0": [1.0], "small/1": [0.0], "small/2": [0.0]}
    assert values(found, "small/exact_match,first-word") == {"small/0": [1.0], "small/1": [0.0], "small/2": [1.0]}
    assert values(found, "choices/acc") == {"choices/0": [0.0], "choices/1": [1.0], "choices/2": [0.0]}
    assert found.metrics["choices/acc"].range == (0.0, 1.0)
    assert found.metrics["choices/acc"].origin == {"task_version": "2.0"}
    assert "bleu is not a number for each row" in " ".join(found.notes)
    assert found.cases["small/1"].columns == {"topic": "space"}


def test_another_run_has_the_same_digests(tmp_path: Path) -> None:
    """The digest of a case is of its document and target, not of the response."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = read_results(run(tmp_path / "a", ("Paris", "Saturn", "4"), "small"))
    two = read_results(run(tmp_path / "b", ("Rome", "Jupiter", "4"), "small"))
    assert {case: fact.digest for case, fact in one.cases.items()} == {
        case: fact.digest for case, fact in two.cases.items()
    }
    assert values(two, "exact_match,strict") == {"0": [0.0], "1": [1.0], "2": [1.0]}


def test_two_evaluations_in_one_folder_are_refused(tmp_path: Path) -> None:
    """A folder with samples of two evaluations of a task is not one run."""
    place = run(tmp_path, ("Paris", "Saturn", "4"), "choices")
    (file,) = place.glob("samples_*.jsonl")
    (place / "samples_choices_2020-01-01T00-00-00.000000.jsonl").write_bytes(file.read_bytes())
    with pytest.raises(UsageError, match="samples of more than one evaluation"):
        read_results(place)


if __name__ == "__main__":
    for name, replies in (("base", ("Paris", "Jupiter", "4 indeed")), ("new", ("Paris", "Saturn", "4"))):
        folder = Path(sys.argv[1], name)
        folder.mkdir(parents=True)
        run(folder, replies, "small")
