"""Results that other tools wrote (tests/golden/results/README.md), each run twice: what of them is compared."""

import json
import sys
from pathlib import Path

import pytest

from adjudge.comparison import Results, read_results
from support import GOLDEN

FOLDER = GOLDEN / "results"
Values = dict[str, list[float | None]]

CAPITAL, PLANET = 'capital {"question":"Capital of France? Paris"}', '{"question":"Largest planet?"}'
FILES: dict[str, dict[str, Values]] = {
    "inspect-base.eval": {
        "match": {"capital": [1.0, 1.0], "planet": [1.0, None], "3": [1.0, 0.0]},
        "parts.named": {"capital": [1.0, 1.0], "planet": [1.0, None], "3": [1.0, 0.0]},
        "parts.short": {"capital": [0.0, 0.0], "planet": [0.0, None], "3": [1.0, 1.0]},
    },
    "inspect-new.eval": {
        "match": {"capital": [1.0, 0.0], "planet": [0.0, 0.0], "3": [1.0, 1.0]},
        "parts.named": {"capital": [1.0, 0.0], "planet": [0.0, 0.0], "3": [1.0, 1.0]},
        "parts.short": {"capital": [0.0, 1.0], "planet": [0.0, 0.0], "3": [1.0, 1.0]},
    },
    "lm-eval-base": {
        "exact_match,strict": {"0": [1.0], "1": [1.0], "2": [0.0]},
        "exact_match,first-word": {"0": [1.0], "1": [1.0], "2": [1.0]},
    },
    "lm-eval-new": {
        "exact_match,strict": {"0": [1.0], "1": [0.0], "2": [1.0]},
        "exact_match,first-word": {"0": [1.0], "1": [0.0], "2": [1.0]},
    },
    "promptfoo-base.json": {
        "pass": {CAPITAL: [0.0, 0.0], PLANET: [0.0, 0.0]},
        "score": {CAPITAL: [0.25, 0.25], PLANET: [0.0, 0.0]},
    },
    "promptfoo-new.json": {
        "pass": {CAPITAL: [1.0, 1.0], PLANET: [1.0, 1.0]},
        "score": {CAPITAL: [1.0, 1.0], PLANET: [1.0, 1.0]},
    },
    "deepeval-base.json": {
        "Exact": {"places": [1.0], "space": [1.0], "sums": [None]},
        "Bias": {"places": [0.5], "space": [0.7], "sums": [None]},
    },
    "deepeval-new.json": {
        "Exact": {"places": [1.0], "space": [0.0], "sums": [1.0]},
        "Bias": {"places": [0.5], "space": [0.6], "sums": [0.1]},
    },
    # A server that was down is no answer, although NeMo Evaluator counts it as a reward of 0.
    "nemo-base": {"reward": {"0": [1.0, 1.0], "1": [1.0, 0.0], "2": [1.0, None]}},
    "nemo-new": {"reward": {"0": [1.0, 0.0], "1": [0.0, 0.0], "2": [1.0, 1.0]}},
    "harbor-base": {
        "reward": {"hello": [1.0, 1.0], "sort": [0.0, None]},
        "style": {"hello": [0.5, 0.5], "sort": [0.5, None]},
    },
    "harbor-new": {
        "reward": {"hello": [1.0, 0.0], "sort": [1.0, 1.0]},
        "style": {"hello": [0.5, 0.5], "sort": [0.5, 0.5]},
    },
}
PARTS = {
    "inspect-base.eval": "inspect-new.eval",
    "lm-eval-base": "lm-eval-new",
    "promptfoo-base.json": "promptfoo-new.json",
    "deepeval-base.json": "deepeval-new.json",
    "nemo-base": "nemo-new",
    "harbor-base": "harbor-new",
}
KEPT = {
    "inspect-base.eval": ("topic", "planet", "space"),
    "lm-eval-base": ("topic", "1", "space"),
    "promptfoo-base.json": ("topic", CAPITAL, "places"),
    "deepeval-base.json": ("topic", "space", "space"),
    "nemo-base": ("topic", "1", "space"),
    "harbor-base": ("agent", "sort", "oracle"),
}


def read(name: str, **options: object) -> Results:
    """Read one of the files; archives need a module that unpacks them."""
    if name.endswith(".eval"):
        pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    return read_results(FOLDER / name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FILES)
def test_what_decides(name: str) -> None:
    """The gated metrics of a file, with a value for every case and repeat; what broke has none."""
    found = read(name)
    gated = {
        metric: {case: list(repeats) for case, repeats in one.values.items()}
        for metric, one in found.metrics.items()
        if one.is_gated
    }
    assert gated == FILES[name]


@pytest.mark.parametrize("name", PARTS)
def test_two_runs_can_be_compared(name: str) -> None:
    """Two runs of the same questions have the same digests, ranges and origins, whatever was answered."""
    base, new = read(name), read(PARTS[name])
    assert {case: fact.digest for case, fact in base.cases.items()} == {
        case: fact.digest for case, fact in new.cases.items()
    }
    assert all(fact.digest is not None for fact in base.cases.values())
    for metric, one in base.metrics.items():
        other = new.metrics[metric]
        assert (one.range, one.origin, one.higher_is_better) == (other.range, other.origin, other.higher_is_better)


@pytest.mark.parametrize("name", KEPT)
def test_columns_are_kept(name: str) -> None:
    """What a tool keeps beside a question can be kept, to group by."""
    column, case, value = KEPT[name]
    assert read(name, keep=[column]).cases[case].columns == {column: value}


def test_costs_do_not_decide() -> None:
    """Times, tokens and costs are shown, less is better, and none of them decides."""
    for name in ("harbor-base", "inspect-base.eval"):
        found = read(name)
        costs = {"latency", "prompt_tokens", "completion_tokens"}
        assert costs <= found.metrics.keys()
        assert not any(found.metrics[cost].is_gated or found.metrics[cost].higher_is_better for cost in costs)
    assert read("harbor-base").metrics["latency"].values["hello"] == (3.0, 3.0)


def test_less_may_be_better() -> None:
    """Of a metric of DeepEval that passes below its threshold, less is better."""
    found = read("deepeval-base.json")
    assert [found.metrics[name].higher_is_better for name in ("Exact", "Bias")] == [True, False]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("nemo-base", "results.jsonl"),
        ("nemo-base", "eval-20260101T000000Z-small.json"),
        ("harbor-base", "result.json"),
        ("lm-eval-base", "samples_small_2026-01-01T00-00-00.000000.jsonl"),
    ],
)
def test_a_folder_or_its_file(name: str, part: str) -> None:
    """The file in a folder gives what the folder gives."""
    assert read(f"{name}/{part}").metrics == read(name).metrics


def test_several_benchmarks_are_several_metrics(tmp_path: Path) -> None:
    """A folder of bundles of several benchmarks has a metric for each, and their problems do not mix."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"eval-{name}.json").write_text(
            json.dumps({"run_id": name, "config": {}, "benchmark": {"name": name, "scores": {}}})
        )
        (folder / "results.jsonl").write_bytes((FOLDER / "nemo-base" / "results.jsonl").read_bytes())
    found = read_results(tmp_path)
    assert {metric for metric, one in found.metrics.items() if one.is_gated} == {"one/reward", "two/reward"}
    assert found.metrics["two/reward"].values["two/1"] == (1.0, 0.0)


def test_the_last_try_of_a_problem_counts(tmp_path: Path) -> None:
    """A problem that a resumed run has twice is not a repeat: what came last counts."""
    lines = [{"problem_idx": 0, "repeat": 0, "reward": reward} for reward in (0.0, 1.0)]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_results(path).metrics["reward"].values == {"0": (1.0,)}


@pytest.mark.parametrize(
    ("details", "reward"),
    [
        ({"error_category": "graceful"}, 0.0),
        ({"error_category": "context_window_exceeded"}, 0.0),
        ({"error_category": "rate_limit"}, None),
        ({"error_category": "system"}, None),
        ({"judge": {"error": "TimeoutError", "total": None}}, None),
        ({"judge": {"total": 3}}, 0.0),
    ],
)
def test_whose_fault_a_reward_of_0_is(tmp_path: Path, details: object, reward: float | None) -> None:
    """NeMo Evaluator's 0 counts where the agent failed by itself, not where a service or a judge broke."""
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"problem_idx": 0, "reward": 0.0, "scoring_details": details}) + "\n")
    assert read_results(path).metrics["reward"].values == {"0": (reward,)}
