"""What strangers broke: scorers, rows and files as nobody here would write them."""

import asyncio
import datetime as dt
import decimal
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate, get_scorer, open_run
from adjudge.errors import RunError, UsageError
from adjudge.judges import LocalJudge
from adjudge.model import Judgement, Score
from adjudge.runs import RunConfig, list_runs

ROW = {"question": "Capital of France?", "reference": "Paris", "response": "Paris"}
ROWS = [{"id": n, **ROW, "response": f"x {n}"} for n in range(20)]


class Own:
    """A judge of one's own, which says whatever it is made with."""

    name, version = "own", "1"

    def __init__(self, **said: Any) -> None:
        self.said = said

    async def ajudge(self, question: str, reference: Any, response: str | None, *, ask: Any = None) -> Judgement:
        """Judge one row."""
        return Judgement("scored", **{"verdict": "CORRECT", **self.said})


@pytest.mark.parametrize("verdict", ["correct", "MAYBE", "", "CORRECT ", True, 1, 0.5, ["CORRECT"]])
def test_a_verdict_is_one_of_two_words(verdict: Any) -> None:
    """What is neither CORRECT nor WRONG is an error, never a number."""
    score = get_scorer(Own(verdict=verdict)).score(ROW)
    assert (score.status, str(score.reason).partition(":")[0]) == ("error", "bad-judgement")


@pytest.mark.parametrize(
    "said", [{"reason": object()}, {"raw": object()}, {"scores": {"a": "much"}}, {"probability": "high", "tier": 1}]
)
def test_a_malformed_judgement_is_an_error_of_its_row(tmp_path: Path, said: dict[str, Any]) -> None:
    """A judgement with parts of the wrong kind fails its row, and no run."""
    result = evaluate(ROWS[:3], judge=Own(**said), run=tmp_path / "a.run")
    assert result.counts == {"scored": 0, "unscored": 0, "error": 3}
    assert len(list(result.scores)) == 3


def test_parts_may_be_truth_values(tmp_path: Path) -> None:
    """A part that is a truth value is a number, and a run that holds it can be read."""
    result = evaluate(ROWS[:2], judge=Own(scores={"a": True}), run=tmp_path / "a.run")
    assert [row.score.parts for row in result.scores] == [{"a": 1.0}] * 2

    def scored(response: str) -> Score:
        return Score.scored(1.0, parts={"a": True})

    other = evaluate(ROWS[:2], scorers=[scored], run=tmp_path / "b.run")
    assert [row.score.parts for row in other.scores] == [{"a": 1.0}] * 2


def deep() -> Any:
    """Return a list that is nested beyond all bounds."""
    found: list[Any] = []
    for _ in range(100_000):  # more than any Python allows
        found = [found]
    return found


@pytest.mark.parametrize("detail", [object(), {None: 1}, {(1, 2): 3}, len, ValueError("x"), deep()])
def test_a_detail_that_json_cannot_hold_is_an_error_of_its_row(tmp_path: Path, detail: Any) -> None:
    """One score that cannot be kept fails its own row; the run goes on, and is read back."""

    def scored(response: str) -> Score:
        return Score.scored(1.0, detail=detail if response == "x 7" else {"a": 1})

    result = evaluate(ROWS, scorers=[scored], run=tmp_path / "a.run")
    assert result.counts == {"scored": 19, "unscored": 0, "error": 1}
    failed = next(row.score for row in result.scores if row.id == 7)
    assert str(failed.reason).startswith("bad-result")


@pytest.mark.parametrize(
    "response", [b"Paris", dt.date(2024, 1, 1), decimal.Decimal(1), {"Paris"}, frozenset({"Paris"})]
)
def test_what_is_not_text_is_an_error_in_a_run_too(tmp_path: Path, response: Any) -> None:
    """JSON would turn bytes, dates and sets into texts; a judge of a run is not shown what was never written."""
    row = {**ROW, "response": response}
    assert get_scorer("local:0").score(row).status == "error"
    assert evaluate([row], judge="local:0", run=tmp_path / "a.run").counts["error"] == 1


def test_values_of_data_libraries_are_kept_as_what_they_hold(tmp_path: Path) -> None:
    """Numbers, texts and arrays of numpy are scored in a run as outside of one."""
    numpy = pytest.importorskip("numpy")
    rows = [
        {**ROW, "id": numpy.int64(3), "response": numpy.str_("Paris"), "extra": numpy.zeros(3)},
        {**ROW, "id": "b", "reference": numpy.array(["Paris", "Lutetia"]), "response": "Paris"},
        {**ROW, "id": "c", "reference": numpy.float64(2.5), "response": numpy.float64(2.5)},
    ]
    known = [score.value for score in get_scorer("local:0").score_many(rows)]
    result = evaluate(rows, judge="local:0", run=tmp_path / "a.run")
    assert [row.score.value for row in result.scores] == known == [1.0, 1.0, 1.0]
    assert [row.id for row in result.scores] == [3, "b", "c"]


@pytest.mark.parametrize("workers", [1, 4])
def test_few_workers_are_few_batches(tmp_path: Path, workers: int) -> None:
    """Fifty rows are few batches, however few workers there are."""
    batches: list[int] = []

    class Many(Own):
        async def ajudge_many(self, rows: Any) -> list[Judgement]:
            batches.append(len(rows))
            return [Judgement("scored", "CORRECT") for _ in rows]

    rows = [{"id": n, **ROW} for n in range(50)]
    evaluate(rows, judge=Many(), run=tmp_path / "a.run", config=RunConfig(workers=workers))
    assert sum(batches) == 50
    assert len(batches) <= 2


@pytest.mark.parametrize("cases", [3, 0, True])
def test_cases_that_are_none_are_refused(tmp_path: Path, cases: Any) -> None:
    """What cannot be gone through is refused at once."""
    with pytest.raises(UsageError, match="cases"):
        evaluate(cases, judge="local:0", run=tmp_path / "a.run")


@pytest.mark.parametrize("judge", [object(), type("N", (), {"ajudge": None})(), LocalJudge])
def test_half_a_judge_is_refused(judge: Any) -> None:
    """A judge has a name, a version and `ajudge`; what has not is refused in one line."""
    with pytest.raises(UsageError):
        get_scorer(judge)


@pytest.mark.parametrize("options", [{"base_url": 3}, {"temperature": "hot"}, {"max_tokens": "many"}])
def test_options_of_the_wrong_kind_are_refused(options: dict[str, Any]) -> None:
    """An option of a judge that makes no sense is refused when the judge is made."""
    with pytest.raises(UsageError, match=next(iter(options))):
        get_scorer("openai:m", **options)


@pytest.mark.parametrize(
    "command",
    [
        ["show", "a.run", "--out", "a.run"],
        ["resume", "a.run", "--out", "./a.run"],
        ["score", "rows.jsonl", "--scorer", "local:0", "--run", "b.run", "--out", "b.run"],
        ["judge", "run", "rows.jsonl", "--judge", "local:0", "--run", "b.run", "--out", "b.run"],
        ["rescore", "a.run", "--scorer", "local:0", "--run", "b.run", "--out", "a.run"],
    ],
    ids=lambda command: command[0],
)
def test_a_run_is_not_overwritten_by_its_output(tmp_path: Path, command: list[str]) -> None:
    """An output that names a run file of the call is refused, and the run is as it was."""
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    evaluate(ROWS, judge="local:0", run=tmp_path / "a.run")
    before = (tmp_path / "a.run").read_bytes()
    done = subprocess.run([sys.executable, "-m", "adjudge", *command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, b"overwritten" in done.stderr) == (2, True)
    assert (tmp_path / "a.run").read_bytes() == before


def test_a_run_is_not_overwritten_by_its_export(tmp_path: Path) -> None:
    """The same from Python."""
    evaluate(ROWS, judge="local:0", run=tmp_path / "a.run")
    with pytest.raises(UsageError, match="overwritten"):
        open_run(tmp_path / "a.run").export(tmp_path / "a.run")


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    """A flipped bit in the text of the tables is a damaged file, or does not matter; it is never a bare exception."""
    evaluate(ROWS, judge="local:0", run=tmp_path / "a.run")
    whole = (tmp_path / "a.run").read_bytes()
    first, last = whole.index(b"CREATE TABLE"), whole.rindex(b"WITHOUT ROWID")
    refused = 0
    for place in range(first, last, 11):
        data = bytearray(whole)
        data[place] ^= 0x80
        (tmp_path / "a.run").write_bytes(data)
        try:
            list(open_run(tmp_path / "a.run").scores())
        except RunError:
            refused += 1
            assert list_runs(str(tmp_path))[0].state in ("damaged", "stopped", "done")
    assert refused


def test_a_judge_that_is_cancelled_inside(tmp_path: Path) -> None:
    """A judge that raises CancelledError by itself fails its rows; the run ends."""

    class Cancelled(Own):
        async def ajudge(self, *_: Any, **__: Any) -> Judgement:
            raise asyncio.CancelledError

    result = evaluate(ROWS[:3], judge=Cancelled(), run=tmp_path / "a.run")
    assert result.counts["error"] == 3
    assert open_run(tmp_path / "a.run").state.state == "done"


def test_workers_limit_a_judge_of_ones_own(tmp_path: Path) -> None:
    """A judge that has its own means is asked about at most `workers` rows at once, as a model is."""
    asked, most = 0, 0

    class Slow(Own):
        async def ajudge(self, question: str, reference: Any, response: str | None, *, ask: Any = None) -> Judgement:
            nonlocal asked, most
            asked += 1
            most = max(most, asked)
            await asyncio.sleep(0.01)
            asked -= 1
            return Judgement("scored", verdict="CORRECT")

    evaluate(ROWS, judge=Slow(), run=tmp_path / "a.run", config=RunConfig(workers=3))
    assert most == 3


def test_a_mapped_column_counts_or_is_refused(tmp_path: Path) -> None:
    """A name given by `--map` that another column of the row would hide is an error that says which name to use."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "Capital?", "answer": "Rome", "x": "Paris", "response": "Paris"}) + "\n")
    command = [sys.executable, "-m", "adjudge", "score", str(rows), "--scorer", "local:0", "--out", "-"]
    hidden = subprocess.run([*command, "--map", "ground_truth=x"], capture_output=True, text=True, check=False)
    assert hidden.returncode == 2
    assert "--map reference=x" in hidden.stderr
    used = subprocess.run([*command, "--map", "reference=x"], capture_output=True, text=True, check=True)
    assert json.loads(used.stdout.splitlines()[0])["value"] == 1.0
