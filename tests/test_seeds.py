"""What the three seeds describe comes out as ever: files and dicts from before judges became scorers, to the byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.crag import sample
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.judges import RubricJudge
from adjudge.runs import RunConfig
from adjudge.scenarios import run_scenarios
from adjudge.scenarios.sample import SCENARIOS, answer, faulty_answer, lossy_answer
from adjudge.testing import ChatServer
from support import GOLDEN

SEEDS = GOLDEN / "seeds"
SAID = {"reasoning": "Mostly.", "answer_quality": 0.9, "factual_correctness": 0.75, "completeness": 0.5}
AGENTS = {"good": answer, "faulty": faulty_answer, "lossy": lossy_answer}


def test_the_files_of_crag(tmp_path: Path) -> None:
    """The four files of an evaluation are the same bytes as before."""
    evaluator = CRAGEvaluator(dataset=sample.path(), agent=sample.agent("brook"), eval_model_name="local:0")
    evaluator.save_results(*evaluator.evaluate_agent(), str(tmp_path))
    names = {path.name for path in SEEDS.iterdir()} - {"scenarios.json"}
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (SEEDS / name).read_bytes(), name


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("judged", [False, True])
def test_the_results_of_scenarios(tmp_path: Path, agent: str, judged: bool) -> None:
    """Every result has the same keys and values as before, in the same order; only times and trace ids are new."""
    with ChatServer(lambda _: json.dumps(SAID)) as server:
        judge = RubricJudge("m", base_url=server.base_url) if judged else None
        config = RunConfig(cache="off")
        run = run_scenarios(SCENARIOS, AGENTS[agent], judge=judge, run=tmp_path / "a.run", config=config)
    known = json.loads((SEEDS / "scenarios.json").read_text(encoding="utf-8"))
    wanted: list[dict[str, Any]] = known[f"{agent}, {'judged' if judged else 'not judged'}"]
    for result, before in zip(run.results, wanted, strict=True):
        kept = {name: value for name, value in result.items() if name not in ("trace_id", "seconds")}
        assert kept == before
        assert list(kept) == list(before)
