"""`adjudge judge calibrate`: figures against people, kept in a file, and used by a later run."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import DataError, UsageError
from adjudge.judges import load_calibration
from adjudge.judges._calibration import LabelledRow, labelled, measure
from adjudge.testing import ChatCall, ChatServer, correct, wrong
from cli import command


def adjudge(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Run the command and return its exit code, output and errors."""
    done = command.adjudge(*arguments, cwd=cwd, env={"OPENAI_API_KEY": "none", "COLUMNS": "120"})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


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
    assert "0.900 ±" in out
    assert "even" in out
    known = load_calibration(tmp_path / "known" / "local-0.json")
    assert known.agreement is not None
    assert known.agreement.accuracy.clusters == 20
    assert (known.rows, known.counts["scored"], known.agreement.accuracy.value) == (40, 40, 0.9)
    assert known.alpha_people == 1.0
    assert set(known.groups) == {"even", "odd"}
    assert not known.probes
    named = ("judge", "run", "labels.jsonl", "--calibration", "known/local-0.json", "--judge")
    assert "accuracy 0.500, corrected 0.400 ±" in adjudge(*named, "local:0", cwd=tmp_path)[1]
    assert "nothing is corrected" in adjudge(*named, "panel:local:0,local:0", cwd=tmp_path)[1]


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
    assert code == 3
    assert "odd one" in err


def test_rows_without_a_verdict_are_counted_apart() -> None:
    """Unscored rows and errors are in the counts and in no figure."""
    rows = [
        LabelledRow("a", label=True, status="scored", verdict=True, probability=0.9),
        LabelledRow("b", label=True, status="unscored"),
        LabelledRow("c", label=False, status="error"),
    ]
    known = measure(rows, judge="j")
    assert known.counts == {"scored": 1, "unscored": 1, "error": 1}
    assert known.agreement is not None
    assert (known.rows, known.agreement.n) == (3, 1)


def test_files_that_are_none(tmp_path: Path) -> None:
    """A file that is missing, damaged or newer is named as such."""
    with pytest.raises(UsageError, match="No such file"):
        load_calibration(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"judge": 3}')
    with pytest.raises(DataError, match="is no calibration"):
        load_calibration(tmp_path / "bad.json")
    measure([], judge="j").save(tmp_path / "new.json")
    newer = json.loads((tmp_path / "new.json").read_text()) | {"format": 99}
    (tmp_path / "new.json").write_text(json.dumps(newer))
    with pytest.raises(DataError, match="newer"):
        load_calibration(tmp_path / "new.json")


def test_labels_in_other_words() -> None:
    """Labels may be numbers, booleans or words; annotators may be a list or a mapping."""
    assert labelled({"label": True})[0] is True
    assert labelled({"correct": "wrong", "annotators": {"a": 1, "b": None}}) == (False, (True, None), None)
