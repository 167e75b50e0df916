"""One definition behind every door: the same judge gives the same score for the same row, however it is asked."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adjudge import evaluate, get_scorer, open_run
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.judges import LocalJudge, judge_reward
from adjudge.judges.local import LocalRubricJudge
from adjudge.model import Judgement, Score
from adjudge.rewards import weighted
from adjudge.runs import RunConfig, RunResult, judge_file, resume_run, score_file
from adjudge.scenarios import Scenario, run_scenarios
from serve.serving import serving
from support import golden

JUDGE = "local:0"
TABLE = golden("doors")
ROWS = [{"id": row["id"], **row["row"]} for row in TABLE]


class Said(NamedTuple):
    """What a door says of a row, as far as all doors say it."""

    status: str
    value: float | None
    parts: dict[str, float | None]
    reason: str | None

    @classmethod
    def of(cls, score: Score) -> "Said":
        """Take it from a score."""
        return cls(score.status, score.value, dict(score.parts), score.reason)


def written(folder: Path) -> str:
    """Write the rows to a file."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def of_lines(path: Path) -> list[Said]:
    """Read an output file of scores."""
    lines = map(json.loads, path.read_text().splitlines())
    return [Said(line["status"], line["value"], line["parts"], line["reason"]) for line in lines]


def of_run(result: RunResult) -> list[Said]:
    """Read the scores of a run."""
    return [Said.of(one.score) for one in result.scores]


def score_command(folder: Path, *options: str) -> list[Said]:
    """Score by the command line."""
    out = folder / "scores.jsonl"
    command = [sys.executable, "-m", "adjudge", "score", written(folder), "--scorer", JUDGE, "--max-failed", "100%"]
    subprocess.run([*command, "--out", str(out), *options], check=True, capture_output=True)
    return of_lines(out)


def judge_command(folder: Path) -> list[Said]:
    """Judge by the command line."""
    run = folder / "judged.run"
    command = [sys.executable, "-m", "adjudge", "judge", "run", written(folder), "--judge", JUDGE, "--run", str(run)]
    subprocess.run([*command, "--max-unscored", "100%"], check=True, capture_output=True)
    return [Said.of(one.score) for one in open_run(run).scores()]


def resumed(folder: Path) -> list[Said]:
    """Judge half of the rows, end as a killed run does, and go on."""
    path = folder / "resumed.run"
    evaluate(ROWS, judge=JUDGE, run=path)
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM scores WHERE seq % 2 = 0")
    connection.close()
    assert open_run(path).state.state == "stopped"
    resume_run(str(path))
    assert open_run(path).state.state == "done"
    return [Said.of(one.score) for one in open_run(path).scores()]


def served(folder: Path) -> list[Said]:
    """Ask a reward server."""
    with serving(folder, "--scorer", JUDGE) as client:
        return [Said(one["status"], one["value"], one["parts"], one["reason"]) for one in client.scores(ROWS)]


DOORS: dict[str, Callable[[Path], list[Said]]] = {
    "score_many": lambda _: [Said.of(score) for score in get_scorer(JUDGE).score_many(ROWS)],
    "score": lambda _: [Said.of(get_scorer(JUDGE).score(row)) for row in ROWS],
    "ascore_many": lambda _: [Said.of(score) for score in asyncio.run(get_scorer(JUDGE).ascore_many(ROWS))],
    "a judge object": lambda _: [Said.of(score) for score in get_scorer(LocalJudge(tier=0)).score_many(ROWS)],
    "adjudge score": score_command,
    "adjudge score, two processes": lambda folder: score_command(folder, "--workers", "2"),
    "adjudge score --run": lambda folder: score_command(folder, "--run", str(folder / "a.run")),
    "adjudge judge run": judge_command,
    "evaluate(judge=)": lambda folder: of_run(evaluate(ROWS, judge=JUDGE, run=folder / "a.run")),
    "evaluate(judge=LocalJudge)": lambda folder: of_run(evaluate(ROWS, judge=LocalJudge(tier=0), run=folder / "a.run")),
    "evaluate(scorers=)": lambda folder: of_run(evaluate(ROWS, scorers=[JUDGE], run=folder / "a.run")),
    "evaluate(scorers=[judge_reward])": lambda folder: of_run(
        evaluate(ROWS, scorers=[judge_reward(LocalJudge(tier=0))], run=folder / "a.run")
    ),
    "a resumed run": resumed,
    "adjudge serve": served,
}


@pytest.fixture(scope="module")
def wanted() -> list[Said]:
    """Ask the scorer itself, and hold it against the table."""
    found = DOORS["score_many"](Path())
    for row, said in zip(TABLE, found, strict=True):
        reason = said.reason or ""
        assert (said.status, said.value) == (row["status"], row["value"]), (row["id"], said, row["why"])
        if row["reason"] is not None:
            assert reason.partition(":")[0] == row["reason"], (row["id"], reason)
        assert list(said.parts) == ["probability"]
    return found


@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_the_same(tmp_path: Path, wanted: list[Said], door: str) -> None:
    """Status, value, parts and reason of every row are the same through every door."""
    for row, said, known in zip(ROWS, DOORS[door](tmp_path), wanted, strict=True):
        assert said == known, row["id"]


def test_a_composite_of_one_says_the_same(wanted: list[Said]) -> None:
    """A weighted sum of one judge has its status, its value and, where there is no number, its reason."""
    for row, score, known in zip(ROWS, weighted({JUDGE: 1.0}).score_many(ROWS), wanted, strict=True):
        assert (score.status, score.value) == (known.status, known.value), row["id"]
        assert score.parts["local:0"] == known.value
        if known.value is None:
            code, _, words = str(known.reason).partition(": ")
            assert score.reason == f"{code}: {JUDGE}: {words}"


def expressible(row: dict[str, Any]) -> bool:
    """Say whether a scenario can be what this row is: it has a question, references that are texts, and a response."""
    material = row["question"] if isinstance(row.get("question"), str) else ""
    references = row.get("reference")
    listed = references if isinstance(references, list) else [references]
    texts = bool(listed) and all(isinstance(one, str) for one in listed)
    return bool(material) and texts and isinstance(row.get("response"), str)


def test_a_scenario_says_the_same(tmp_path: Path, wanted: list[Said]) -> None:
    """The rows that a scenario can express are judged the same in a check."""
    rows = {row["id"]: (row, known) for row, known in zip(ROWS, wanted, strict=True) if expressible(row)}
    assert len(rows) >= 15
    scenarios = [
        Scenario(str(id_), row["question"], references=row["reference"], scorers=[JUDGE])
        for id_, (row, _) in rows.items()
    ]
    saved = {str(id_): [{"role": "assistant", "content": row["response"]}] for id_, (row, _) in rows.items()}
    for result, (row, known) in zip(
        run_scenarios(scenarios, trajectories=saved, run=tmp_path / "a.run").results, rows.values(), strict=True
    ):
        given = result["scores"][JUDGE]
        assert Said(given["status"], given["value"], given["parts"], given["reason"]) == known, row["id"]


CRAG_DIFFERS = {
    "refusal": "an answer that says 'I don't know' is a miss, which nobody is asked about",
}


def test_crag_says_the_same(wanted: list[Said]) -> None:
    """A turn that is neither a miss nor an exact match is judged as everywhere; the others are settled before."""
    rows = [(row, known) for row, known in zip(ROWS, wanted, strict=True) if expressible(row)]
    turns = [
        {
            "session_id": str(row["id"]),
            "interaction_id": str(row["id"]),
            "turn_idx": 0,
            "query": row["question"],
            "ground_truth": row["reference"] if isinstance(row["reference"], str) else row["reference"][0],
            "references": row["reference"] if isinstance(row["reference"], list) else [row["reference"]],
            "agent_response": row["response"],
        }
        for row, _ in rows
    ]
    evaluator = CRAGEvaluator(eval_model_name=JUDGE)
    results, _ = evaluator.evaluate_agent_responses(turns)
    by_id = {turn["session_id"]: turn for turn in results}
    for row, known in rows:
        turn = by_id[str(row["id"])]
        if row["id"] in CRAG_DIFFERS:
            assert turn["is_miss"]
            continue
        if known.value is None:  # a ground truth that is none is unscored, never wrong
            assert (turn["status"], turn["is_correct"]) == ("unscored", False), row["id"]
            continue
        assert turn["is_correct"] is bool(known.value), row["id"]
        if not turn["is_exact_match"]:
            assert turn["api_response"]["reason"] == known.reason


def test_quality_reads_the_same_columns() -> None:
    """The rubric finds question and response where verdicts do; it needs no reference, and takes one as a criterion."""
    scorer = get_scorer(LocalRubricJudge(approximate=True, tier=0))
    for row, score in zip(TABLE, scorer.score_many(ROWS), strict=True):
        columns = row["row"]
        code = str(score.reason).partition(":")[0]
        if (
            row["status"] == "error"
            and row["reason"] in ("missing-column", "bad-value")
            and "reference" not in row["id"]
        ):
            assert (score.status, code) == ("error", row["reason"]), row["id"]
        elif any(columns.get(name) for name in ("criteria", "references", "answer", "ground_truth")):
            assert score.status == "scored", row["id"]


class Counting:
    """A judge that takes many rows at once, and counts how often it is asked."""

    name, version = "counting", "1"

    def __init__(self) -> None:
        self.batches: list[int] = []

    async def ajudge(self, question: str, reference: Any, response: str | None, *, ask: Any = None) -> Judgement:
        """Judge one row."""
        return (await self.ajudge_many([{"question": question, "reference": reference, "response": response}]))[0]

    async def ajudge_many(self, rows: Any) -> list[Judgement]:
        """Judge many rows."""
        self.batches.append(len(rows))
        return [Judgement("scored", "CORRECT", judge=self.name) for _ in rows]


MANY = [{"id": n, "question": f"{n}?", "reference": "x", "response": "x"} for n in range(50)]


def in_a_scenario(judge: Any, folder: Path) -> None:
    """Ask the judge as a scorer of fifty scenarios."""
    scenarios = [Scenario(f"s{n}", f"{n}?", references=["x"], scorers=[judge]) for n in range(50)]
    run_scenarios(scenarios, lambda question: "x", run=folder / "a.run")


@pytest.mark.parametrize(
    "door",
    [
        lambda judge, _: get_scorer(judge).score_many(MANY),
        lambda judge, _: asyncio.run(get_scorer(judge).ascore_many(MANY)),
        lambda judge, _: weighted({get_scorer(judge): 1.0}).score_many(MANY),
        lambda judge, folder: evaluate(MANY, judge=judge, run=folder / "a.run"),
        lambda judge, folder: evaluate(MANY, scorers=[judge, "qa_em_reward"], run=folder / "a.run"),
        lambda judge, folder: evaluate(MANY, judge=judge, agent=lambda question: "x", run=folder / "a.run"),
        in_a_scenario,
    ],
    ids=["score_many", "ascore_many", "weighted", "evaluate(judge=)", "evaluate(scorers=)", "with an agent", "check"],
)
def test_fifty_rows_are_one_batch(tmp_path: Path, door: Callable[[Any, Path], object]) -> None:
    """A judge that takes many rows at once is asked about fifty rows at most twice, through every door."""
    judge = Counting()
    door(judge, tmp_path)
    assert sum(judge.batches) == 50
    assert len(judge.batches) <= 2


@pytest.mark.parametrize("door", ["score_file", "judge_file"])
def test_fifty_rows_of_a_file_are_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    """The same for the local judge behind the commands."""
    batches: list[int] = []
    before = LocalJudge._judge_some

    def counted(self: LocalJudge, rows: Any) -> list[Judgement]:
        batches.append(len(rows))
        return before(self, rows)

    monkeypatch.setattr(LocalJudge, "_judge_some", counted)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in MANY))
    if door == "score_file":
        score_file(str(path), [JUDGE])
    else:
        judge_file(str(path), JUDGE, run=str(tmp_path / "a.run"), config=RunConfig())
    assert sum(batches) == 50
    assert len(batches) <= 2


class Hanging(Counting):
    """A judge whose batches never end."""

    async def ajudge_many(self, rows: Any) -> list[Judgement]:
        """Wait for ever."""
        await asyncio.Event().wait()
        return []


class Refusing(Counting):
    """A judge that cannot judge many rows at once, although it says so."""

    async def ajudge_many(self, rows: Any) -> list[Judgement]:
        """Judge one row, and no more."""
        if len(rows) > 1:
            raise ValueError("too many")
        return await super().ajudge_many(rows)


def test_a_batch_that_hangs_is_bounded(tmp_path: Path) -> None:
    """Rows whose batch never ends are errors at their deadline, as any other row is."""
    config = RunConfig(deadline=0.5)
    result = evaluate(MANY[:5], judge=Hanging(), agent=lambda question: "x", run=tmp_path / "a.run", config=config)
    assert result.counts == {"scored": 0, "unscored": 0, "error": 5}
    assert {str(row.score.reason).partition(":")[0] for row in result.scores} == {"deadline"}


def test_a_batch_that_fails_is_asked_row_by_row(tmp_path: Path) -> None:
    """What a judge raises over many rows at once fails none of them that it can judge alone."""
    for number, agent in enumerate((None, lambda question: "x")):
        judge = Refusing()
        result = evaluate(MANY, judge=judge, agent=agent, run=tmp_path / f"{number}.run")
        assert result.counts["scored"] == 50
        assert judge.batches == [1] * 50
