"""`adjudge judge calibrate`: figures against people, kept in a file, and used by a later run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import DataError, UsageError
from adjudge.judges import Calibration, load_calibration
from adjudge.judges._calibration import LabelledRow, calibrate, labelled
from adjudge.statistics import Estimate
from adjudge.testing import ChatCall, ChatServer, correct, wrong
from cli import command


def adjudge(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Run the command and return its exit code, output and errors."""
    done = command.adjudge(*arguments, cwd=cwd, env={"OPENAI_API_KEY": "none", "COLUMNS": "120"})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def calibration() -> Calibration:
    """Return what is known of a judge that errs once in forty rows."""
    rows = [LabelledRow(f"q{n}", label=n % 2 == 0, status="scored", verdict=n % 2 == 0 or n == 1) for n in range(40)]
    return calibrate(rows, judge="local:0", version="2")


def labels(count: int = 40) -> list[dict[str, Any]]:
    """Return rows on which the local judge is right but for every tenth."""
    return [
        {
            "id": number,
            "question": f"Which number comes after {number // 2}?",
            "reference": [str(number // 2 + 1), f"the number {number // 2 + 1}"],
            "response": f"It is {number // 2 + 1 + number % 2}.",
            "label": int(number % 2 == 0) if number % 10 else 0,
            "annotators": [int(number % 2 == 0), int(number % 2 == 0), None],
            "group": "even" if number % 4 < 2 else "odd",
        }
        for number in range(count)
    ]


def test_figures_files_and_correction(tmp_path: Path) -> None:
    """The table has accuracy and kappa, the folder a file and a curve, and a run that names the file is corrected."""
    command.write(tmp_path / "labels.jsonl", labels())
    code, out, err = adjudge("judge", "calibrate", "labels.jsonl", "--judge", "local:0", "--out", "known", cwd=tmp_path)
    assert code == 0, err
    assert " .900 ± " in out
    assert f"is kept in {Path('known', 'local-0.json')}, its curve in {Path('known', 'local-0.svg')};" in err
    assert max(map(len, out.splitlines()[:4])) <= 80
    assert "even" in out
    known = load_calibration(tmp_path / "known" / "local-0.json")
    assert known.agreement is not None
    assert known.agreement.accuracy.clusters == 20
    assert (known.rows, known.counts["scored"], known.agreement.accuracy.value) == (40, 40, 0.9)
    assert known.alpha_people == 1.0
    assert set(known.groups) == {"even", "odd"}
    assert not known.probes
    named = ("judge", "run", "labels.jsonl", "--calibration", "known/local-0.json", "--run", "a.run", "--judge")
    for call in ((*named, "local:0"), ("show", "a.run"), ("resume", "a.run")):
        code, out, err = adjudge(*call, cwd=tmp_path)
        assert code == 0, err
        assert "accuracy 0.500, corrected 0.400 ±" in out
        assert "agreement with people" in out


def test_only_the_judge_that_was_measured(tmp_path: Path) -> None:
    """A calibration of another judge, or of another version of it, is refused before anything is judged."""
    known = calibration()
    command.write(tmp_path / "labels.jsonl", labels(4))
    for other in (replace(known, judge="openai:m"), replace(known, version="0")):
        other.save(tmp_path / "known.json")
        call = ("judge", "run", "labels.jsonl", "--calibration", "known.json", "--judge", "local:0", "--run", "a.run")
        code, _, err = adjudge(*call, cwd=tmp_path)
        assert code == 2
        assert "the calibration is of" in err
        assert not (tmp_path / "a.run").exists()
    known.check("local:0", "2", None)
    with pytest.raises(UsageError, match="another prompt"):
        replace(known, prompts=("abc",)).check("local:0", "2", "def")


def test_a_perfect_judge_is_corrected_too() -> None:
    """A judge without an error on its labels has a correction with a width, not none."""
    rows = [LabelledRow(f"q{n}", label=n % 2 == 0, status="scored", verdict=n % 2 == 0) for n in range(40)]
    found = calibrate(rows, judge="j").corrected(Estimate(0.72, 0.01, 0.7, 0.74, 2000, None, None, "wilson"))
    assert found is not None
    assert found.rogan_gladen is not None
    for one in (found.rogan_gladen, found.prediction_powered):
        assert one.low is not None
        assert one.high is not None
        assert one.low < 0.7
        assert one.high > 0.74


def test_a_model_is_probed(tmp_path: Path) -> None:
    """A model is asked some rows once more and with the references reversed; a judge that wavers is seen to."""

    def say(call: ChatCall) -> str:
        return wrong(call) if call.repeat else correct(call)

    command.write(tmp_path / "labels.jsonl", labels(20))
    with ChatServer(say) as server:
        code, _, err = adjudge(
            "judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", server.base_url,
            "--out", "known", "--cache", "off", "--probes", "5", cwd=tmp_path,
        )  # fmt: skip
    assert code == 0, err
    known = load_calibration(tmp_path / "known" / "openai-m.json")
    again, turned = known.probes
    assert (again.name, again.rows) == ("same question again", 5)
    assert again.same is not None
    assert again.same.value == 0.0
    assert turned.same is not None
    assert turned.same.value == 1.0
    assert len(known.prompts) == 1


@pytest.mark.parametrize("bad", [{}, {"label": 2}, {"label": "maybe"}, {"label": 1, "annotators": "yes"}])
def test_bad_labels_cost_nothing(tmp_path: Path, bad: dict[str, Any]) -> None:
    """A label that cannot be read is refused with its row before the judge is asked."""
    row = {key: value for key, value in labels(1)[0].items() if key not in ("label", "annotators")}
    command.write(tmp_path / "labels.jsonl", [*labels(3), {**row, **bad, "id": "odd one"}])
    call = ("judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", "http://127.0.0.1:1/v1")
    code, _, err = adjudge(*call, cwd=tmp_path)
    assert code == 2
    assert "odd one" in err


def test_unreadable_rows_cost_nothing(tmp_path: Path) -> None:
    """A line that is no row is refused before the judge is asked: labels are few and dear."""
    command.write(tmp_path / "labels.jsonl", [*labels(3), "{"])
    code, _, err = adjudge("judge", "calibrate", "labels.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert code == 2
    assert "labels.jsonl, row 4" in err


def test_all_is_checked_before_anybody_is_paid(tmp_path: Path) -> None:
    """A judge that is none, or a folder that cannot be made, is refused before the first judge is asked."""
    command.write(tmp_path / "labels.jsonl", labels(3))
    with ChatServer(correct) as server:
        call = ("judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", server.base_url)
        for more in (("--judge", "opnai:m"), ("--out", "labels.jsonl"), ("--error-budget", "5%")):
            assert adjudge(*call, "--cache", "off", *more, cwd=tmp_path)[0] == 2
        assert server.counts.calls == 0


def test_budgets_hold_for_everything(tmp_path: Path) -> None:
    """Calls of all judges and of their probes are within the budget; what was measured is kept all the same."""
    command.write(tmp_path / "labels.jsonl", labels(20))
    with ChatServer(correct) as server:
        call = ("judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", server.base_url)
        code, out, err = adjudge(*call, "--cache", "off", "--max-calls", "27", cwd=tmp_path)
        assert code == 0, err
        assert server.counts.calls <= 27
        again, turned = load_calibration(tmp_path / "calibration" / "openai-m.json").probes
        assert (again.rows, turned.rows) == (7, 0)
        assert "same question again" in out
        assert "reversed" not in out


def test_a_stopped_calibration_goes_on(tmp_path: Path) -> None:
    """A calibration that a budget stopped keeps nothing and says how to go on; no call is paid twice."""
    command.write(tmp_path / "labels.jsonl", labels(20))
    with ChatServer(correct) as server:
        call = (
            "judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", server.base_url,
            "--cache", "off", "--probes", "0", "--run", "a.run",
        )  # fmt: skip
        code, _, err = adjudge(*call, "--max-calls", "12", cwd=tmp_path)
        assert code == 3
        assert "to resume: the same command with --run a.run" in err
        assert not list((tmp_path / "calibration").iterdir())
        code, _, err = adjudge(*call, cwd=tmp_path)
        assert code == 0, err
        assert server.counts.calls == 20
        for probes in ("3", "5", "5"):
            code, _, err = adjudge(*call[:-4], "--probes", probes, *call[-2:], cwd=tmp_path)
            assert code == 0, err
        assert server.counts.calls == 20 + 2 * 3 + 2 * 5


def test_undecided_is_not_kept(tmp_path: Path) -> None:
    """Where too many rows have no verdict, an older file stays as it is, and the reason is said."""
    command.write(tmp_path / "labels.jsonl", labels(20))
    calibration().save(tmp_path / "openai-m.json")
    before = (tmp_path / "openai-m.json").read_bytes()
    with ChatServer(lambda _: "I cannot say.") as server:
        call = ("judge", "calibrate", "labels.jsonl", "--judge", "openai:m", "--base-url", server.base_url)
        code, out, err = adjudge(*call, "--cache", "off", "--out", ".", cwd=tmp_path)
    assert code == 3
    assert "20 of 20 rows have no verdict" in out
    assert "is not kept: undecided, more than 0.05 of the rows have no score" in err
    assert (tmp_path / "openai-m.json").read_bytes() == before


def test_a_group_for_every_row(tmp_path: Path) -> None:
    """Where there are very many groups, the largest are kept and a few are shown; time grows with the rows only."""
    rows = [LabelledRow(f"q{n}", label=True, status="scored", verdict=True, group=f"g{n}") for n in range(5000)]
    known = calibrate([*rows, rows[4999]], judge="j")
    assert len(known.groups) == 100
    assert known.groups["g4999"].n == 2
    command.write(tmp_path / "labels.jsonl", [row | {"group": row["id"]} for row in labels(30)])
    code, out, _ = adjudge("judge", "calibrate", "labels.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert code == 0
    assert "10 more groups are in the file" in out


def test_one_kind_of_label(tmp_path: Path) -> None:
    """Where every label is the same, the output says what cannot be told."""
    command.write(tmp_path / "labels.jsonl", [row | {"label": 1} for row in labels(10)])
    code, out, _ = adjudge("judge", "calibrate", "labels.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert code == 0
    assert "every response is right by its label" in out


def test_rows_without_a_verdict_are_counted_apart() -> None:
    """Unscored rows and errors are in the counts and in no figure."""
    rows = [
        LabelledRow("a", label=True, status="scored", verdict=True, probability=0.9),
        LabelledRow("b", label=True, status="unscored"),
        LabelledRow("c", label=False, status="error"),
    ]
    known = calibrate(rows, judge="j")
    assert known.counts == {"scored": 1, "unscored": 1, "error": 1}
    assert known.agreement is not None
    assert (known.rows, known.agreement.n) == (3, 1)


def test_files_that_are_none(tmp_path: Path) -> None:
    """A file that is missing, damaged or newer is named as such."""
    with pytest.raises(UsageError, match="No such file"):
        load_calibration(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"judge": 3}')
    with pytest.raises(DataError, match="is not a calibration"):
        load_calibration(tmp_path / "bad.json")
    calibrate([], judge="j").save(tmp_path / "new.json")
    newer = json.loads((tmp_path / "new.json").read_text()) | {"format": 99}
    (tmp_path / "new.json").write_text(json.dumps(newer))
    with pytest.raises(DataError, match="newer"):
        load_calibration(tmp_path / "new.json")


def test_changed_numbers_are_not_believed(tmp_path: Path) -> None:
    """A file in which somebody changed a number, or took one out, is refused."""
    path = tmp_path / "known.json"
    calibration().save(path)
    assert load_calibration(path) == calibration()
    text = path.read_text()
    for changed in (text.replace('"rows":40', '"rows":4000'), text.replace(',"digest":', ',"labels":"","digest":')):
        assert changed != text
        path.write_text(changed)
        with pytest.raises(DataError, match=r"changed after it was written|is not a calibration"):
            load_calibration(path)


def test_labels_in_other_words() -> None:
    """Labels may be numbers, booleans or words; annotators may be a list or a mapping."""
    assert labelled({"label": True})[0] is True
    assert labelled({"correct": "wrong", "annotators": {"a": 1, "b": None}}) == (False, (True, None), None)


def test_judges_are_compared_row_by_row(tmp_path: Path) -> None:
    """Each further judge is compared with the first on the rows that both judged; equal ones differ in nothing."""
    command.write(tmp_path / "labels.jsonl", labels(80))
    with ChatServer(wrong) as server:
        code, out, err = adjudge(
            "judge", "calibrate", "labels.jsonl", "--judge", "local:0", "--judge", "openai:m", "--base-url",
            server.base_url, "--probes", "0", cwd=tmp_path,
        )  # fmt: skip
    assert code == 0, err
    right = sum(row["label"] == 0 for row in labels(80))
    far = (right - 72) / 80  # the local judge errs in every tenth row
    assert f"openai:m against local:0: accuracy {far:.3f} ± " in out
    assert "on the 80 rows that both judged\n" in out
    code, out, _ = adjudge("judge", "calibrate", "labels.jsonl", "--judge", "local:0", cwd=tmp_path)
    assert (code, " against " in out) == (0, False)
