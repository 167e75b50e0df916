"""The three usage snippets of the benchmark's own documentation, unchanged but for the import."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.testing import ChatServer
from crag.worlds import Batches, by_color, dataset

BASIC = """
from adjudge.crag.evaluator import CRAGEvaluator

# Load dataset and agent
dataset = load_dataset("your-dataset")
agent = YourAgent()

# Create evaluator with semantic evaluation
evaluator = CRAGEvaluator(
    dataset=dataset,
    agent=agent,
    eval_model_name="gpt-4o",
    eval_api_key="your-api-key",
    num_conversations=100,
    num_workers=4,
)

# Run evaluation
turn_results, scores = evaluator.evaluate_agent()

# Save results
evaluator.save_results(turn_results, scores, output_dir="./results")
"""

GENERATE = """
# For generating responses without evaluation
evaluator = CRAGEvaluator(
    dataset=dataset,
    agent=agent,
    num_conversations=100,
)

evaluator.initialize_for_generation()
evaluator.generate_agent_responses()
evaluator.save_turn_data("./output/turn_data.jsonl")
"""

SAVED = """
# Evaluate previously generated responses
evaluator = CRAGEvaluator(
    dataset=None,
    agent=None,
    eval_model_name="gpt-4o",
    eval_api_key="your-api-key",
    num_workers=8,
)

turn_data = evaluator.load_turn_data("./output/turn_data.jsonl")
turn_results, scores = evaluator.evaluate_agent_responses(turn_data)
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """Serve a judge where `OPENAI_BASE_URL` points, and work in a folder of our own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "cache.sqlite"))
    with ChatServer(by_color, key="your-api-key") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def run(snippet: str, **names: Any) -> dict[str, Any]:
    """Run a snippet with these names."""
    exec(compile(textwrap.dedent(snippet), "snippet", "exec"), names)  # noqa: S102 (our own text)
    return names


def test_basic_evaluation(server: ChatServer, tmp_path: Path) -> None:
    """The agent is asked every turn of exactly 100 conversations, judged, and the three files are written."""
    names = run(BASIC, load_dataset=lambda _: dataset(120), YourAgent=Batches)
    scores = names["scores"]
    turns = sum(number % 4 + 1 for number in range(100))
    assert scores["all"]["total"] == turns == len(names["turn_results"])
    assert 0 < scores["ego"]["total"] < turns
    assert scores["all"]["correct"] + scores["all"]["miss"] + scores["all"]["hallucination"] == turns
    assert server.counts.calls < turns
    assert json.loads((tmp_path / "results" / "scores_dictionary.json").read_text()) == json.loads(json.dumps(scores))
    assert len((tmp_path / "results" / "turn_evaluation_results_all.csv").read_text().splitlines()) == turns + 1
    assert (tmp_path / "results" / "turn_evaluation_results_ego.csv").exists()


def test_generation_then_saved_turns(server: ChatServer, tmp_path: Path) -> None:
    """Turns that were generated and saved give the same scores as an evaluation in one go."""
    whole = run(BASIC, load_dataset=lambda _: dataset(120), YourAgent=Batches)
    made = run(GENERATE, CRAGEvaluator=whole["CRAGEvaluator"], dataset=dataset(120), agent=Batches())
    calls = server.counts.calls
    saved = run(SAVED, CRAGEvaluator=made["CRAGEvaluator"])
    assert saved["scores"] == whole["scores"]
    assert list(saved["turn_results"]) == list(whole["turn_results"])
    assert server.counts.calls == calls  # everything was in the cache
    lines = [json.loads(line) for line in (tmp_path / "output" / "turn_data.jsonl").read_text().splitlines()]
    assert list(lines[0])[:13] == [
        *("session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain"),
        *("dynamism", "query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history"),
    ]
