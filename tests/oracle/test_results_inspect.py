"""Logs that Inspect writes now: two evaluations with a scripted model, and what is read of them.

Run by itself with a folder, it makes the logs of tests/golden/results.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.comparison import Results, read_results

inspect_ai = pytest.importorskip("inspect_ai")
datasets = pytest.importorskip("inspect_ai.dataset")
logs = pytest.importorskip("inspect_ai.log")
models = pytest.importorskip("inspect_ai.model")
scorers = pytest.importorskip("inspect_ai.scorer")
solvers = pytest.importorskip("inspect_ai.solver")

SAMPLES = [
    datasets.Sample(id="capital", input="Capital of France?", target="Paris", metadata={"topic": "places"}),
    datasets.Sample(id="planet", input="Largest planet?", target="Jupiter", metadata={"topic": "space"}),
    datasets.Sample(id=3, input="2 + 2?", target="4", metadata={"topic": "numbers"}),
]
BASE = ("Paris", "Jupiter", "4", "Paris", "broken", "five")
NEW = ("Paris", "Saturn", "4", "Rome", "Saturn", "4")


def parts() -> Any:
    """Return a scorer that gives two values in one score."""

    async def score(state: Any, target: Any) -> Any:
        said = state.output.completion
        return scorers.Score(value={"named": float(target.text in said), "short": len(said) < 5})

    return score


def words() -> Any:
    """Return a scorer that gives a word, which is not a number."""

    async def score(state: Any, target: Any) -> Any:
        del target
        return scorers.Score(value=f"said {state.output.completion}")

    return score


def break_sometimes() -> Any:
    """Return a solver that fails as an agent's tool does."""

    async def solve(state: Any, generate: Any) -> Any:
        del generate
        if "broken" in state.output.completion:
            raise RuntimeError("the tool broke")
        return state

    return solve


PARTS = scorers.scorer(metrics={name: [scorers.mean()] for name in ("named", "short")})(parts)
WORDS = scorers.scorer(metrics=[scorers.mean()])(words)
BREAK = solvers.solver(break_sometimes)


def run(folder: Path, replies: tuple[str, ...], **options: Any) -> Path:
    """Evaluate three samples in two epochs, and return the log."""
    outputs = []
    for reply in replies:
        output = models.ModelOutput.from_content("mockllm/model", reply)
        # Without it Inspect counts tokens, for which it fetches a tokenizer.
        output.usage = models.ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
        outputs.append(output)
    task = inspect_ai.Task(
        name="small",
        dataset=datasets.MemoryDataset(SAMPLES),
        solver=[solvers.generate(), BREAK()],
        scorer=[scorers.match(location="any"), PARTS(), WORDS()],
        **{"fail_on_error": False, **options},
    )
    model = models.get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(
        task, model=model, epochs=inspect_ai.Epochs(2, ["mean"]), log_dir=str(folder), display="none", max_samples=1
    )
    return Path(log.location.removeprefix("file://"))


def values(found: Results, metric: str) -> dict[str, list[float | None]]:
    """Return the values of a metric."""
    return {case: list(repeats) for case, repeats in found.metrics[metric].values.items()}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of the first evaluation."""
    return run(tmp_path_factory.mktemp("base"), BASE)


def test_samples_and_epochs(base: Path) -> None:
    """A sample is a case, its epochs the repeats; one that ended in an error has no scores."""
    found = read_results(base)
    assert values(found, "match") == {"capital": [1.0, 1.0], "planet": [1.0, None], "3": [1.0, 0.0]}
    assert values(found, "parts.named") == {"capital": [1.0, 1.0], "planet": [1.0, None], "3": [1.0, 0.0]}
    assert values(found, "prompt_tokens")["3"] == [5.0, 5.0]
    assert found.metrics.keys().isdisjoint({"words", "parts"})
    assert "words gives words and not numbers" in " ".join(found.notes)


def test_values_are_those_of_inspect(base: Path) -> None:
    """Every value is what Inspect's own `value_to_float` makes of it."""
    found, convert = read_results(base), scorers.value_to_float()
    samples = logs.read_eval_log(str(base)).samples or []
    for sample in samples:
        if sample.error is None:
            assert sample.scores is not None
            value = sample.scores["match"].value
            assert values(found, "match")[str(sample.id)][sample.epoch - 1] == convert(value)
    assert len(samples) == 6


def test_an_archive_and_its_json_say_the_same(base: Path, tmp_path: Path) -> None:
    """A log converted to JSON gives the same values, origins and digests."""
    logs.convert_eval_logs(str(base), "json", str(tmp_path))
    archive, (document,) = read_results(base, keep=["topic"]), tmp_path.glob("*.json")
    as_json = read_results(document, keep=["topic"])
    assert (archive.metrics, archive.cases) == (as_json.metrics, as_json.cases)
    assert archive.cases["3"].columns == {"topic": "numbers"}


def test_what_is_compared_is_the_same_in_two_runs(base: Path, tmp_path: Path) -> None:
    """Another evaluation of the same samples has the same digests and origins."""
    one, two = read_results(base), read_results(run(tmp_path, NEW))
    assert {case: fact.digest for case, fact in one.cases.items()} == {
        case: fact.digest for case, fact in two.cases.items()
    }
    assert one.metrics["match"].origin == two.metrics["match"].origin == {"options": '{"location":"any"}', **TASK}
    assert values(two, "match") == {"capital": [1.0, 0.0], "planet": [0.0, 0.0], "3": [1.0, 1.0]}


TASK = {"task_version": "0"}


def test_samples_that_were_not_reached_have_no_score(tmp_path: Path) -> None:
    """An evaluation that stopped at an error says so, and has every sample and epoch, with None where it stopped."""
    found = read_results(run(tmp_path, BASE, fail_on_error=True))
    assert {case: len(repeats) for case, repeats in found.metrics["match"].values.items()} == {
        "capital": 2,
        "planet": 2,
        "3": 2,
    }
    assert any(value is None for value in values(found, "match")["3"])
    assert "status is 'error'" in " ".join(found.notes)


def test_a_log_is_read_without_inspect(base: Path) -> None:
    """Reading a log imports nothing of Inspect."""
    code = (
        "import sys; from adjudge.comparison import read_results;"
        "read_results(sys.argv[1]); print('inspect_ai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(base)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


if __name__ == "__main__":
    for name, replies in (("base", BASE), ("new", NEW)):
        run(Path(sys.argv[1]), replies).replace(Path(sys.argv[1], f"inspect-{name}.eval"))
