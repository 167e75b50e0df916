"""Results of ours, and tables: what of a file becomes the value of which case."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate
from adjudge.comparison import Results, check_results, read_results
from adjudge.errors import DataError, UsageError
from adjudge.runs import RunConfig, score_file
from support import GOLDEN

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Capital?", "answer": "Paris", "final_response": "Paris"},
    {"id": "q2", "question": "Planet?", "answer": "Jupiter", "final_response": "Saturn"},
    {"id": "q3", "question": "Author?", "answer": "Jane Austen"},
]


def write(path: Path, *rows: Any) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def values(found: Results, metric: str) -> dict[str, list[float | None]]:
    """Return the values of a metric."""
    return {case: list(repeats) for case, repeats in found.metrics[metric].values.items()}


def evaluated(path: Path, rows: list[dict[str, Any]], *scorers: str) -> Results:
    """Score rows into a run file, and read it."""
    evaluate(rows, scorers=scorers or ("qa_f1_reward",), run=path, config=RunConfig(cache="off"))
    return read_results(path)


def test_a_run_gives_every_scorer_and_its_parts(tmp_path: Path) -> None:
    """A scorer decides, with its range and version; its parts do not; a row that could not be scored has None."""
    found = evaluated(tmp_path / "a.run", ROWS)
    assert values(found, "qa_f1_reward") == {"q1": [1.0], "q2": [0.0], "q3": [None]}
    metric = found.metrics["qa_f1_reward"]
    assert (metric.range, metric.origin, metric.is_gated) == ((0.0, 1.0), {"version": "3"}, True)
    assert not found.metrics["qa_f1_reward.precision"].is_gated


def test_a_row_that_was_not_reached_has_no_score() -> None:
    """Every case of a run that was stopped is there, with None where it has no score."""
    found = read_results(GOLDEN / "runs" / "stopped.run")
    scores = values(found, "openai:m")
    assert len(scores) == 12
    assert [None] in scores.values()
    assert found.metrics["openai:m"].origin["judge"] == "openai:m"


def test_the_digest_is_of_question_and_reference(tmp_path: Path) -> None:
    """Another response leaves the digest of a case as it is; another question or reference changes it."""
    changed = [{**ROWS[0], "final_response": "Rome"}, {**ROWS[1], "question": "Moon?"}, {**ROWS[2], "answer": "Emma"}]
    before, after = evaluated(tmp_path / "a.run", ROWS), evaluated(tmp_path / "b.run", changed)
    same = [before.cases[row["id"]].digest == after.cases[row["id"]].digest for row in ROWS]
    assert same == [True, False, False]


def test_clusters_are_conversations_and_groups(tmp_path: Path) -> None:
    """Rows of one conversation, and rollouts of one group, are a cluster."""
    rows = [
        {**ROWS[0], "conversation_id": "c1", "group_id": "g"},
        {**ROWS[1], "group_id": "g"},
        {**ROWS[2], "tags": ["hard", "new"]},
    ]
    found = evaluated(tmp_path / "a.run", rows)
    assert [found.cases[row["id"]].cluster for row in ROWS] == ["c1", "g", None]
    assert found.cases["q3"].tags == ("hard", "new")


def test_columns_are_kept_when_asked_for(tmp_path: Path) -> None:
    """`keep` names columns of the rows; one that no row has is an error that names those that there are."""
    rows = [{**ROWS[0], "level": 2}, {**ROWS[1], "level": "hard"}, ROWS[2]]
    evaluated(tmp_path / "a.run", rows)
    found = read_results(tmp_path / "a.run", keep=["level"])
    assert [found.cases[row["id"]].columns for row in ROWS] == [{"level": "2"}, {"level": "hard"}, {}]
    with pytest.raises(UsageError, match="no column 'levle'; did you mean 'level'"):
        read_results(tmp_path / "a.run", keep=["levle"])


def test_repeats_of_a_scenario_are_one_case() -> None:
    """The runs of a scenario are the repeats of one case, and its numbers have the names of the gate."""
    found = read_results(GOLDEN / "runs" / "scenarios.run")
    assert values(found, "workflow") == {"capital": [1.0, 1.0], "other": [0.0]}
    latency = found.metrics["latency"]
    assert (latency.is_gated, latency.higher_is_better) == (False, False)


def test_results_of_a_check() -> None:
    """The gate's numbers decide; a quality's dimensions, parts, times and costs are shown."""
    result = {
        "id": "refund",
        "status": "scored",
        "pass": False,
        "quality": {"completeness": 0.5, "reasoning": "short"},
        "average_quality": 0.75,
        "scores": {"f1": {"value": 0.5, "status": "scored", "parts": {"recall": 1.0}}},
        "tags": ["money"],
        "seconds": 2.0,
        "cost": 0.01,
    }
    failed = {**result, "pass": None, "quality": {"completeness": None}, "average_quality": None, "scores": {}}
    found = check_results([result, failed], "now")
    assert {name: values(found, name)["refund"] for name in found.metrics} == {
        "workflow": [0.0, None],
        "quality.overall": [0.75, None],
        "quality.completeness": [0.5, None],
        "scorers.f1": [0.5, None],
        "scorers.f1.recall": [1.0, None],
        "latency": [2.0, 2.0],
        "cost": [0.01, 0.01],
    }
    gated = {name for name, metric in found.metrics.items() if metric.is_gated}
    assert gated == {"workflow", "quality.overall", "scorers.f1"}
    assert found.cases["refund"].tags == ("money",)


def test_a_report_of_a_check(tmp_path: Path) -> None:
    """A `--json` report has the same numbers."""
    result = {"id": "refund", "status": "scored", "pass": True, "scores": {}, "tags": ["money"], "seconds": 2.0}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"schema": 1, "verdict": "pass", "results": [result]}, indent=1))
    found = read_results(report)
    assert values(found, "workflow") == {"refund": [1.0]}
    assert found.cases["refund"].tags == ("money",)


def test_a_score_file(tmp_path: Path) -> None:
    """Lines of `adjudge score --out`: a value, parts that do not decide, the range of a reward of ours."""
    rows = write(tmp_path / "rows.jsonl", *ROWS, {**ROWS[0], "final_response": "Rome"})
    score_file(str(rows), ["qa_f1_reward", "qa_em_reward"], out=str(tmp_path / "scores.jsonl"))
    found = read_results(tmp_path / "scores.jsonl")
    assert values(found, "qa_f1_reward") == {"q1": [1.0, 0.0], "q2": [0.0], "q3": [None]}
    assert values(found, "qa_f1_reward.recall")["q1"] == [1.0, 0.0]
    metric = found.metrics["qa_em_reward"]
    assert (metric.range, metric.origin, metric.is_gated) == ((0.0, 1.0), {"version": "3"}, True)


def test_a_value_of_a_row_that_was_not_scored_is_none(tmp_path: Path) -> None:
    """A line counts by its status, whatever its value is."""
    line = {"id": 1, "scorer": "mine:f", "value": 0.5, "status": "error", "version": None}
    found = read_results(write(tmp_path / "a.jsonl", line, {**line, "id": 2, "status": "scored"}))
    assert values(found, "mine:f") == {"1": [None], "2": [0.5]}


def test_a_score_file_of_two_versions_is_refused(tmp_path: Path) -> None:
    """Scores of two versions of a scorer are not one metric."""
    line = {"id": 1, "scorer": "f", "value": 0.5, "status": "scored", "version": "1"}
    with pytest.raises(DataError, match="f has rows of version 1 and rows of 2"):
        read_results(write(tmp_path / "a.jsonl", line, {**line, "version": "2"}))


def test_verdicts(tmp_path: Path) -> None:
    """Lines of `adjudge judge run --out`: CORRECT is 1, WRONG is 0, anything else is no score."""
    line = {"id": "q1", "status": "scored", "verdict": "CORRECT", "reason": None, "judge": "local:0"}
    lines = [line, {**line, "id": "q2", "verdict": "WRONG"}, {**line, "id": "q3", "status": "error", "verdict": None}]
    found = read_results(write(tmp_path / "verdicts.jsonl", *lines))
    assert values(found, "local:0") == {"q1": [1.0], "q2": [0.0], "q3": [None]}


CRAG = """\
session_id,interaction_id,turn_idx,query,ground_truth,is_exact_match,is_correct,is_miss,status
s1,s1/0,0,Colour?,red,True,True,False,scored
s1,s1/1,1,Shape?,round,False,False,True,scored
s2,s2/0,0,Size?,large,False,False,False,scored
s2,s2/1,1,Age?,old,False,False,False,unscored
"""


def test_a_folder_of_crag_results(tmp_path: Path) -> None:
    """A turn is a case, its session the cluster; a turn without a verdict has no rates."""
    (tmp_path / "turn_evaluation_results_all.csv").write_text(CRAG)
    (tmp_path / "turn_scorer_results.csv").write_text(
        "session_id,interaction_id,turn_idx,scorer,value,status,reason\ns1,s1/0,0,f1,0.5,scored,\ns1,s1/1,1,f1,,error,x\n"
    )
    found = read_results(tmp_path)
    assert values(found, "truthfulness_score") == {"s1:0": [1.0], "s1:1": [0.0], "s2:0": [-1.0], "s2:1": [None]}
    assert values(found, "hallucination_rate")["s2:0"] == [1.0]
    assert values(found, "f1") == {"s1:0": [0.5], "s1:1": [None]}
    assert {found.cases[case].cluster for case in ("s2:0", "s2:1")} == {"s2"}
    gated = {name for name, metric in found.metrics.items() if metric.is_gated}
    assert gated == {"accuracy", "truthfulness_score", "f1"}
    assert not found.metrics["missing"].higher_is_better
    assert read_results(tmp_path / "turn_evaluation_results_all.csv").metrics.keys() == found.metrics.keys()


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0.5", 0.5),
        (" 1e-1 ", 0.1),
        ("", None),
        ("true", 1.0),
        ("False", 0.0),
        ("PASS", 1.0),
        ("failed", 0.0),
        ("correct", 1.0),
        ("wrong", 0.0),
        ("nan", None),
        ("-inf", None),
        ("1e999", None),
    ],
)
def test_cells(tmp_path: Path, cell: str, value: float | None) -> None:
    """An empty cell is no score, pass and true are 1, fail and false are 0; NaN and infinity are not numbers."""
    path = tmp_path / "a.csv"
    path.write_text(f"id,score\nq1,{cell}\nq2,0.25\n")
    found = read_results(path)
    assert values(found, "score") == {"q1": [value], "q2": [0.25]}
    assert bool(found.notes) is (cell.strip() in ("nan", "-inf", "1e999"))


@pytest.mark.parametrize("cell", ["0,5", "85%", "1_000", "good", "0x10", "١"])
def test_words_are_not_guessed(tmp_path: Path, cell: str) -> None:
    """A text that is not a number is an error with its place, never a number."""
    path = tmp_path / "a.csv"
    path.write_text(f'id,score\nq1,1\nq2,"{cell}"\n')
    with pytest.raises(DataError, match=r"a\.csv, row 2: score is .* which is not a number"):
        read_results(path)


def test_the_range_of_true_and_false_is_known(tmp_path: Path) -> None:
    """A column of true and false lies between 0 and 1; of numbers nobody says so."""
    path = tmp_path / "a.csv"
    path.write_text("id,passed,other\nq1,true,1\nq2,false,0\n")
    found = read_results(path, scores=["passed", "other"])
    assert found.metrics["passed"].range == (0.0, 1.0)
    assert found.metrics["other"].range is None


def test_rows_of_one_id_are_repeats(tmp_path: Path) -> None:
    """Rows with the same id are repeats of one case, in their order; the number 1 and the text 1 are the same id."""
    rows = [{"id": 1, "score": 0.5}, {"id": "2", "score": 1}, {"id": "1", "score": None}, {"id": 1}]
    assert values(read_results(write(tmp_path / "a.jsonl", *rows)), "score") == {"1": [0.5, None, None], "2": [1.0]}


@pytest.mark.parametrize("form", ["jsonl", "array", "csv", "parquet"])
def test_a_table_in_any_format(tmp_path: Path, form: str) -> None:
    """CSV, JSON lines, a JSON array and Parquet give the same, whatever the file is called."""
    rows = [{"name": "q1", "a": 1.0, "b": 0.5, "level": "x"}, {"name": "q2", "a": 0.0, "b": None, "level": "y"}]
    path = tmp_path / "table"
    if form == "jsonl":
        write(path, *rows)
    elif form == "array":
        path.write_text(json.dumps(rows, indent=2))
    elif form == "csv":
        path.write_text("name,a,b,level\nq1,1.0,0.5,x\nq2,0.0,,y\n")
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    found = read_results(path, id="name", scores=("a", "b"), keep=("level",))
    assert values(found, "a") == {"q1": [1.0], "q2": [0.0]}
    assert values(found, "b") == {"q1": [0.5], "q2": [None]}
    assert found.cases["q2"].columns == {"level": "y"}


def test_columns_are_guessed_only_without_a_choice(tmp_path: Path) -> None:
    """A usual name is taken if it is the only one; else the error lists the columns and says how to name one."""
    path = tmp_path / "a.csv"
    path.write_text("case_id,reward\nq1,1\n")
    assert values(read_results(path), "reward") == {"q1": [1.0]}
    path.write_text("id,score,value\nq1,1,2\n")
    with pytest.raises(UsageError, match="more than one column that may be the score: score, value; name it with --sc"):
        read_results(path)
    path.write_text("name,score\nq1,1\n")
    with pytest.raises(UsageError, match="no column 'id'; name it with --id COLUMN; it has name, score"):
        read_results(path)
    with pytest.raises(UsageError, match="no column 'nmae'; did you mean 'name'"):
        read_results(path, id="nmae")


@pytest.mark.parametrize("name", ["seconds", "latency_ms", "duration_s", "prompt_tokens", "error_rate", "latency"])
def test_less_of_a_cost_is_better(name: str, tmp_path: Path) -> None:
    """A column that is named decides; times, costs and errors are better when lower, which a note says."""
    path = write(tmp_path / "a.jsonl", {"id": 1, name: 2.0})
    found = read_results(path, scores=[name])
    metric = found.metrics[name]
    assert (metric.is_gated, metric.higher_is_better) == (True, False)
    assert found.notes == (f"{name} is taken to be better when lower, by its name (--higher-is-better {name})",)


def test_a_first_row_may_lack_its_score(tmp_path: Path) -> None:
    """A score that the first line lacks is a missing score, as in any other line."""
    found = read_results(write(tmp_path / "a.jsonl", {"id": 1}, {"id": 2, "score": 1.0}))
    assert values(found, "score") == {"1": [None], "2": [1.0]}


def test_an_id_with_two_questions(tmp_path: Path) -> None:
    """Rows with one id and different questions are several cases, not repeats of one."""
    rows = ({"id": at % 2, "question": f"What is {at}?", "score": 1.0} for at in range(4))
    assert read_results(write(tmp_path / "a.jsonl", *rows)).mixed == ("0", "1")
    same = ({"id": 0, "question": "What?", "score": float(at)} for at in range(4))
    assert read_results(write(tmp_path / "b.jsonl", *same)).mixed == ()


def test_numbers_beyond_computing(tmp_path: Path) -> None:
    """A number whose square no float holds is an error that names its row."""
    with pytest.raises(DataError, match=r"a\.jsonl, line 1: score is 1e\+200"):
        read_results(write(tmp_path / "a.jsonl", {"id": 1, "score": 1e200}))
