"""Labels of people: the file that outlives a kill, samples that everybody gets alike, and what they say of a run."""

import json
import os
import signal
import subprocess
import sys
import time
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.runs import calibrate_file
from adjudge.view._label_figures import LabelFigures, figures_of_labels
from adjudge.view._label_sample import KINDS, DrawnRow, LabelSample, RowVerdict, SampleKind, draw, next_row
from adjudge.view._labels import Answer, Label, LabelFile

MATERIAL = {"question": "Capital of France?", "reference": ["Paris"], "response": "It is Paris."}
KILLED = """
import sys
from adjudge.view._labels import Label, LabelFile
file = LabelFile(sys.argv[1])
for number in range(10**6):
    file.append(Label(number, f"q{number}", "right", "ann", 0.5, {"rows": 9}, {"response": "x" * 5000}))
    print(number, flush=True)
"""


def label(row: int, answer: Answer = "right", annotator: str = "ann", **more: Any) -> Label:
    """Return a label of a row that was drawn from twenty."""
    known: dict[str, Any] = {"probability": 0.5, "sample": {"kind": "random", "seed": 0, "rows": 20}}
    return Label(row, f"q{row}", answer, annotator, **{**known, "material": MATERIAL, **more})


class TestFile:
    """What is written is there, whole, whatever ends the process."""

    def test_lines(self, tmp_path: Path) -> None:
        """A line has the row, the label, who, when, and the chance with which the row was drawn."""
        file = LabelFile.beside(tmp_path / "a.run")
        file.append(label(3, "wrong"))
        file.append(label(4, "unsure", "bob", probability=None))
        (first, second) = [json.loads(line) for line in (tmp_path / "a.run.labels.jsonl").read_text().splitlines()]
        at = first.pop("at")
        assert time.time() - time.mktime(time.strptime(at[:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone < 100
        sample = {"kind": "random", "seed": 0, "rows": 20}
        named = {"id": "q3", "run": "", "row": 3, "label": 0, "annotator": "ann", "probability": 0.5, "sample": sample}
        assert first == {**named, **MATERIAL}
        assert (second["label"], second["annotator"], second["probability"]) == ("unsure", "bob", None)
        labels, unread = file.read()
        assert [(one.row, one.answer, one.annotator) for one in labels] == [(3, "wrong", "ann"), (4, "unsure", "bob")]
        assert not unread
        assert file.path.stat().st_mode & 0o777 == 0o600

    def test_no_file(self, tmp_path: Path) -> None:
        """A file that is not there has no labels, and is not made by looking."""
        assert LabelFile(tmp_path / "none").read() == ([], Counter())
        assert list(tmp_path.iterdir()) == []

    @given(st.integers(1, 400), st.integers(0, 3))
    def test_a_torn_line(self, cut: int, whole: int) -> None:
        """Wherever a crash cuts the last line, it is ignored, and the next append takes it out."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "labels")
            file = LabelFile(path)
            for number in range(whole + 1):
                file.append(label(number))
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[:-1]) + lines[-1][: min(cut, len(lines[-1]) - 2)])
            assert [one.row for one in file.read()[0]] == list(range(whole))
            file.append(label(99))
            assert [one.row for one in file.read()[0]] == [*range(whole), 99]
            assert not file.read()[1]

    def test_a_missing_end(self, tmp_path: Path) -> None:
        """A last line that only lacks its line feed, as editors leave it, is kept."""
        file = LabelFile(tmp_path / "a")
        file.append(label(1))
        file.path.write_bytes(file.path.read_bytes().rstrip())
        file.append(label(2))
        assert [one.row for one in file.read()[0]] == [1, 2]

    @pytest.mark.parametrize(
        "last", ['{"id": 7, "question": "?", "reference": "a", "response": "b", "label": 1}', "7", "[1]", "no JSON"]
    )
    def test_a_last_line_that_is_not_ours(self, tmp_path: Path, last: str) -> None:
        """A whole last line without its line feed is kept, whatever it is: only a torn label is dropped."""
        file = LabelFile(tmp_path / "a")
        file.path.write_text(f"\ufeff{last}\n{last}", encoding="utf-8")
        file.append(label(1))
        assert file.path.read_text(encoding="utf-8-sig").splitlines()[:2] == [last, last]
        assert [one.row for one in file.read()[0]] == [1]

    def test_lines_edited_by_hand(self, tmp_path: Path) -> None:
        """A byte order mark and a missing end are no obstacle; a line that is not a label is counted by its reason."""
        file = LabelFile(tmp_path / "a")
        file.append(label(1))
        one = json.loads(file.path.read_text())
        odd = [json.dumps({**one, "label": given}) for given in ("1", "CORRECT", True, 7)]
        odd += ["garbage", json.dumps(one) * 2, "[1, 2]"]
        odd += [json.dumps({**one, **more}) for more in ({"row": "0"}, {"annotator": None}, {"probability": 2})]
        file.path.write_text("\ufeff" + "\n".join([json.dumps(one), *odd, json.dumps({**one, "row": 2})]), "utf-8")
        labels, unread = file.read()
        assert [one.row for one in labels] == [1, 2]
        assert unread == {
            'not a label: its label is not 1, 0 or "unsure"': 4,
            "not a label: not JSON": 2,
            "not a label: not an object": 1,
            "not a label: it has no row number": 1,
            "not a label: its id or its annotator is not a text": 1,
            "not a label: its probability is not above 0 and at most 1": 1,
        }

    @given(
        st.lists(st.one_of(st.binary(max_size=60), st.from_regex(rb'\{"row":.{0,30}\}', fullmatch=True)), max_size=5)
    )
    def test_lines_that_are_none(self, lines: list[bytes]) -> None:
        """Nothing in a file raises; what is not a label is counted."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "labels")
            path.write_bytes(b"".join(line + b"\n" for line in lines))
            labels, unread = LabelFile(path).read()
            there = [part for part in path.read_bytes().removeprefix(BOM_UTF8).split(b"\n")[:-1] if part.strip()]
            assert len(labels) + unread.total() == len(there)

    def test_killed(self, tmp_path: Path) -> None:
        """Every label that was acknowledged before a kill is there, and labelling goes on in the same file."""
        path = tmp_path / "a.labels.jsonl"
        for _ in range(3):
            with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                for _ in range(40):
                    last = process.stdout.readline()
                process.send_signal(signal.SIGKILL)
                rest = process.stdout.read().splitlines()
            acknowledged = int(rest[-1] if rest else last)
            labels, unread = LabelFile(path).read()
            assert {one.row for one in labels} >= set(range(acknowledged + 1))
            assert not unread

    def test_two_processes(self, tmp_path: Path) -> None:
        """Lines of two writers are never mixed, and none is lost."""
        path = tmp_path / "a.labels.jsonl"

        def write(name: str) -> None:
            for number in range(100):
                LabelFile(path).append(label(number, annotator=name, material={"response": name * 20_000}))

        threads = [Thread(target=write, args=(name,)) for name in "ab"]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        labels, unread = LabelFile(path).read()
        assert not unread
        assert sorted((one.annotator, one.row) for one in labels) == [(name, n) for name in "ab" for n in range(100)]

    def test_a_link_in_its_place(self, tmp_path: Path) -> None:
        """A link, a folder or a pipe in its place is refused, and what it names stays as it is."""
        (tmp_path / "precious").write_text("precious")
        (tmp_path / "link").symlink_to(tmp_path / "precious")
        (tmp_path / "folder").mkdir()
        os.mkfifo(tmp_path / "pipe")
        for name in ("link", "folder", "pipe", "none/there"):
            with pytest.raises(UsageError):
                LabelFile(tmp_path / name).append(label(1))
        assert (tmp_path / "precious").read_text() == "precious"

    def test_a_full_disk(self, tmp_path: Path) -> None:
        """Where the disk is full, an error says so, and the file keeps its whole lines."""
        path = tmp_path / "a"
        script = (
            "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000));"
            "from adjudge.view._labels import Label, LabelFile\n"
            "more = {'response': 'x' * 700}\n"
            "for n in range(100): LabelFile(sys.argv[1]).append(Label(n, 'q', 'right', 'a', material=more))"
        )
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=False)
        assert b"UsageError" in done.stderr
        assert path.read_bytes().endswith(b"\n")
        assert [one.row for one in LabelFile(path).read()[0]] == [0, 1, 2]

    def test_calibrate_reads_it(self, tmp_path: Path) -> None:
        """`calibrate` reads the file as it is: unsure rows and chosen ones do not count, of changed labels the last."""
        file = LabelFile(tmp_path / "a.labels.jsonl")
        wrong = {**MATERIAL, "response": "It is Rome."}
        file.append(label(0))
        file.append(label(1, "right", material=wrong))
        file.append(label(1, "wrong", material=wrong))
        file.append(label(1, "wrong", "bob", material=wrong))
        file.append(label(2, "unsure"))
        file.append(label(3, "wrong", probability=None, sample={"kind": "uncertain"}))
        done = calibrate_file(str(file.path), "local:0", run=str(tmp_path / "b.run"))
        found = done.calibration
        assert found is not None
        assert done.finished.warnings == ()
        assert found.rows == 3
        assert found.agreement is not None
        assert (found.agreement.right_called_right, found.agreement.wrong_called_wrong) == (1, 2)

    def test_calibrate_warns_of_unequal_chances(self, tmp_path: Path) -> None:
        """A calibration counts all rows alike, and says so where they were not drawn alike."""
        file = LabelFile(tmp_path / "a.labels.jsonl")
        drawn = {"kind": "stratified", "rows": 20}
        file.append(label(0, probability=0.1, sample=drawn))
        file.append(label(1, "wrong", probability=0.5, sample=drawn))
        done = calibrate_file(str(file.path), "local:0", run=str(tmp_path / "b.run"))
        assert len(done.finished.warnings) == 1
        assert "drawn with chances from 0.1 to 0.5" in done.finished.warnings[0]


def verdicts_of(count: int, *, every: int = 4) -> list[RowVerdict]:
    """Return verdicts of which every so many is WRONG, with probabilities."""
    return [RowVerdict(row, float(row % every != 0), (row * 37 % 101) / 100) for row in range(count)]


class TestSample:
    """Everybody gets the same rows in the same order."""

    @given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(0, 9), st.integers(1, 300))
    def test_the_same_for_everybody(self, kind: SampleKind, size: int, seed: int, count: int) -> None:
        """A sample is the same whenever it is drawn, has no row twice, and as many as it should."""
        verdicts = verdicts_of(count)
        drawn = draw(LabelSample(kind, size, seed), verdicts)
        assert drawn == draw(LabelSample(kind, size, seed), list(reversed(verdicts)))
        assert len({one.row for one in drawn}) == len(drawn) == min(size, count)

    @given(st.sampled_from(["random", "stratified"]), st.integers(1, 60), st.integers(1, 60), st.integers(0, 9))
    def test_a_larger_sample_has_the_smaller_one(self, kind: SampleKind, size: int, more: int, seed: int) -> None:
        """Asking for more rows keeps those that were labelled."""
        some = {one.row for one in draw(LabelSample(kind, size, seed), verdicts_of(300))}
        assert some <= {one.row for one in draw(LabelSample(kind, size + more, seed), verdicts_of(300))}

    def test_chances(self) -> None:
        """The chance of a row is how many of its stratum are drawn, of all there are."""
        drawn = draw(LabelSample("stratified", 40), verdicts_of(400))
        assert sorted({(one.stratum, one.probability) for one in drawn}) == [("right", 20 / 300), ("wrong", 20 / 100)]
        few = draw(LabelSample("stratified", 40), verdicts_of(400, every=40))
        assert sorted({(one.stratum, one.probability) for one in few}) == [("right", 30 / 390), ("wrong", 1.0)]
        assert {one.probability for one in draw(LabelSample("random", 40), verdicts_of(400))} == {0.1}

    def test_every_row_has_the_same_chance(self) -> None:
        """Over many seeds every row is drawn about equally often."""
        counts = np.zeros(50)
        for seed in range(2000):
            for one in draw(LabelSample("random", 10, seed), verdicts_of(50)):
                counts[one.row] += 1
        # Each is binomial with n = 2,000 and p = .2: five standard deviations are 90.
        assert counts.min() > 310
        assert counts.max() < 490

    def test_the_order_shows_no_verdict(self) -> None:
        """Whether a row comes early says nothing about its verdict."""
        first = [draw(LabelSample("stratified", 10, seed), verdicts_of(400))[0].stratum for seed in range(400)]
        assert 150 < first.count("right") < 250

    def test_least_certain_first(self) -> None:
        """The first row is the one of which the judge is least certain; nobody drew it by chance."""
        drawn = draw(LabelSample("uncertain", 3), [RowVerdict(n, 1.0, p) for n, p in enumerate((0.9, 0.52, 0.1, 0.45))])
        assert drawn == [DrawnRow(1, None, "uncertain"), DrawnRow(3, None, "uncertain"), DrawnRow(2, None, "uncertain")]
        with pytest.raises(UsageError, match="no probabilities"):
            draw(LabelSample("uncertain"), [RowVerdict(0, 1.0)])

    def test_what_is_no_sample(self) -> None:
        """A sample of another kind, or of no rows, is refused."""
        for kind, size in (("all", 10), ("random", 0), ("random", 10**9)):
            with pytest.raises(UsageError):
                LabelSample(kind, size)  # type: ignore[arg-type]

    def test_next(self) -> None:
        """The next row is not done; one that was skipped comes again at the end."""
        drawn = [DrawnRow(row, 0.5, "all") for row in (5, 3, 8)]
        assert next_row(drawn, set()) == drawn[0]
        assert next_row(drawn, {5}) == drawn[1]
        assert next_row(drawn, {5}, after=3) == drawn[2]
        assert next_row(drawn, {5, 8}, after=3) == drawn[1]
        assert next_row(drawn, {3, 5, 8}) is None
        assert next_row(drawn, set(), after=99) == drawn[0]


def figures(labels: Sequence[Label], verdicts: Sequence[RowVerdict], **more: Any) -> LabelFigures:
    """Return what labels say of a judge."""
    return figures_of_labels(labels, verdicts, scorer="local:0", **more)


class TestFigures:
    """What labels say, and what they do not."""

    def test_by_hand(self) -> None:
        """Of 20 rows the judge calls 15 right; of 3 such one is wrong, of 2 others one is right: 15 · 2/3 + 5 · 1/2."""
        verdicts = verdicts_of(20)
        right, wrong = [row for row in range(20) if row % 4], [row for row in range(20) if not row % 4]
        labels = [label(row, "wrong" if at == 0 else "right") for at, row in enumerate(right[:3])]
        labels += [label(row, "right" if at == 0 else "wrong") for at, row in enumerate(wrong[:2])]
        found = figures(labels, verdicts)
        assert (found.rows, found.judged, found.used) == (20, 0.75, 5)
        assert found.corrected is not None
        assert found.accuracy is not None
        assert found.kappa is not None
        assert found.more is not None
        assert found.corrected.value == pytest.approx((15 * 2 / 3 + 5 / 2) / 20)
        assert found.accuracy.value == pytest.approx((15 * 2 / 3 + 5 / 2) / 20)
        assert found.corrected.low is not None
        assert found.corrected.high is not None
        assert found.corrected.low < found.corrected.value < found.corrected.high
        assert 0 < found.more <= 15

    def test_what_is_left_out(self) -> None:
        """What enters no estimate is counted by its reason."""
        drawn = {"kind": "stratified", "rows": 20, "scorer": "local:0"}
        labels = [
            label(0),
            label(1, probability=None, sample={"kind": "uncertain", "rows": 20}),
            label(99),
            label(2, sample={"kind": "random", "rows": 7}),
            label(3, sample={**drawn, "scorer": "openai:m"}),
            label(4, material={"response": "another"}),
            label(5, "unsure"),
            label(6),
            label(6, "wrong", "bob"),
            label(7, sample=drawn),
        ]
        found = figures(labels, verdicts_of(20), is_current=lambda one: one.material["response"] == "It is Paris.")
        assert dict(found.left_out) == {
            "chosen, not drawn": 1,
            "no verdict of the judge": 1,
            "drawn when the run had other rows": 1,
            "drawn by the verdicts of another judge": 1,
            "about another response": 1,
            "unsure": 1,
            "people differ": 1,
        }
        assert found.used == 2
        assert found.corrected is None

    def test_unsure_rows_are_bounds(self) -> None:
        """Rows of which readers were unsure are no number: the score is also shown as if all were wrong, or right."""
        verdicts = verdicts_of(20)
        labels = [label(row, "unsure" if row in (5, 8) else "right" if row % 4 else "wrong") for row in range(12)]
        found = figures(labels, verdicts)
        assert found.corrected is not None
        assert found.bounds is not None
        low, high = found.bounds
        assert low < found.corrected.value < high

    def test_the_last_label_counts(self) -> None:
        """Who changes a label is taken at the last word; a row that was drawn stays drawn."""
        labels = [label(row) for row in range(8)]
        changed = [*labels, label(0, "wrong", probability=None, sample={"kind": "uncertain", "rows": 20})]
        first, second = figures(labels, verdicts_of(20)), figures(changed, verdicts_of(20))
        assert first.used == second.used == 8
        assert first.accuracy is not None
        assert second.accuracy is not None
        assert second.accuracy.value > first.accuracy.value

    def test_two_people(self) -> None:
        """Two people who labelled the same rows are compared with one another."""
        labels = [label(row, "right" if row % 2 else "wrong") for row in range(10)]
        labels += [label(row, "right" if row % 2 or row == 4 else "wrong", "bob") for row in range(10)]
        ((one, other, known),) = figures(labels, verdicts_of(20)).people
        assert (one, other, known.n, known.accuracy.value) == ("ann", "bob", 10, 0.9)
        assert known.kappa is not None
        assert known.kappa.low is not None

    def test_a_plain_sample_with_one_verdict(self) -> None:
        """Where a random sample has no row of one verdict, all rows together are the stratum."""
        verdicts = [RowVerdict(row, float(row != 0)) for row in range(20)]
        found = figures([label(row) for row in range(1, 9)], verdicts)
        assert found.corrected is not None
        assert found.corrected.low is not None
        assert found.corrected.low < 0.95

    @pytest.mark.parametrize("kind", ["random", "stratified"])
    def test_intervals_hold_what_all_labels_would_give(self, kind: SampleKind) -> None:
        """Through sampler, file lines and estimates, 93 to 97 % of the intervals hold the score of all labels."""
        chance = np.random.default_rng(5)
        hits = 0
        for seed in range(400):
            truth = chance.random(1500) < 0.7
            said = truth ^ (chance.random(1500) < np.where(truth, 0.1, 0.25))
            verdicts = [RowVerdict(row, float(one)) for row, one in enumerate(said)]
            sample = LabelSample(kind, 150, seed)
            note = sample.note(1500, "local:0")
            labels = [
                label(one.row, "right" if truth[one.row] else "wrong", probability=one.probability, sample=note)
                for one in draw(sample, verdicts)
            ]
            found = figures(labels, verdicts).corrected
            assert found is not None
            assert found.low is not None
            assert found.high is not None
            hits += found.low <= truth.mean() <= found.high
        assert 0.93 <= hits / 400 <= 0.97

    def test_graded_scores(self) -> None:
        """A score between 0 and 1 is corrected by its mean difference from the labels."""
        verdicts = [RowVerdict(row, 0.2 + 0.6 * (row % 3 > 0)) for row in range(20)]
        labels = [label(row, "right" if row % 3 else "wrong") for row in range(20)]
        found = figures(labels, verdicts)
        assert found.corrected is not None
        assert found.corrected.value == pytest.approx(np.mean([row % 3 > 0 for row in range(20)]))
        assert found.corrected.low == pytest.approx(found.corrected.high)
        assert found.more == 0
