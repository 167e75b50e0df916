"""What labelled rows say of a judge: each figure against its definition, and whom a calibration holds for."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError, UsageError
from adjudge.judges import Calibration, LabelledRow, calibrate, load_calibration
from adjudge.judges._calibration import MOST_GROUPS, ConfidenceStep, Probe, labelled
from adjudge.statistics import Estimate, krippendorff_alpha, prediction_powered, rogan_gladen

CONFIDENCES = [0.5, 0.51, 0.52, 0.75, 0.98, 0.99, 0.995, 0.999]  # some of the 52
OBSERVED = Estimate(0.72, 0.01, 0.7, 0.74, 2000, None, None, "wilson")
sure_rows = st.lists(
    st.builds(
        LabelledRow,
        question=st.just("q"),
        label=st.booleans(),
        status=st.just("scored"),
        verdict=st.booleans(),
        probability=st.sampled_from((0.0, 0.001, 0.005, 0.01, 0.25, 0.49, 0.5, 0.51, 0.75, 0.99, 0.995, 0.999, 1.0)),
    ),
    max_size=30,
)


def row(number: int, label: int, verdict: int | None, **more: Any) -> LabelledRow:
    """Return a labelled row of its own question; 1 is right, 0 wrong, None no verdict."""
    said = None if verdict is None else bool(verdict)
    return LabelledRow(f"q{number}", bool(label), "unscored" if said is None else "scored", said, **more)


def known(**changes: Any) -> Calibration:
    """Return a calibration of the judge `m`, version 2: 40 right and 20 wrong rows, 10 and 5 of them misjudged."""
    pairs = [(True, True)] * 30 + [(True, False)] * 10 + [(False, False)] * 15 + [(False, True)] * 5
    rows = [row(number, label, verdict) for number, (label, verdict) in enumerate(pairs)]
    return replace(calibrate(rows, judge="m", version="2"), **changes)


def with_steps(*steps: tuple[float, int, int]) -> Calibration:
    """Return a calibration that knows how often a judge errs beyond some confidences."""
    return known(steps=tuple(ConfidenceStep(*step) for step in steps))


@pytest.mark.parametrize(
    ("given_label", "wanted"),
    [
        *((one, True) for one in (1, 1.0, "1", "1.0", True, "true", "TRUE", "correct", " CORRECT ")),
        *((one, False) for one in (0, 0.0, "0", "0.0", False, "false", "wrong", "WRONG", "Incorrect\n")),
    ],
)
def test_labels_in_words_and_numbers(given_label: object, wanted: bool) -> None:
    """A label is 1 or 0 as a number, a truth value or a word, whatever its case and the white space around it."""
    assert labelled({"label": given_label}) == (wanted, (), None)
    assert labelled({"label": 0, "ann": [given_label, None]}) == (False, (wanted, None), None)


def test_names_of_columns() -> None:
    """The first name that has a value counts: label, correct; annotators, ann; group, source, split."""
    full = {"label": 1, "correct": 0, "annotators": [1], "ann": [0], "group": "g", "source": "s", "split": "p"}
    assert labelled(full) == (True, (True,), "g")
    assert labelled(full | {"label": None, "annotators": None, "group": None}) == (False, (False,), "s")
    assert labelled({"correct": 0, "split": 3}) == (False, (), "3")
    assert labelled({"label": 1, "group": "g" * 201})[2] == "g" * 200


@pytest.mark.parametrize(
    ("bad", "code", "said"),
    [
        ({}, "missing-column", "the row has no label"),
        ({"label": "x" * 41}, "bad-row", f"'{'x' * 40}' is not a label"),
        ({"label": 1, "ann": "10"}, "bad-row", "annotators must be a list"),
        ({"label": 1, "ann": 1}, "bad-row", "annotators must be a list"),
        ({"label": 1, "ann": [2]}, "bad-row", "'2' is not a label"),
    ],
)
def test_what_is_no_label(bad: dict[str, Any], code: str, said: str) -> None:
    """A row without a label, or with one that cannot be read, is an error that shows it, cut short."""
    with pytest.raises(DataError, match=said) as caught:
        labelled(bad)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("changes", "asked", "refused"),
    [
        ({}, ("m", "2", None), None),
        ({}, ("m", "2", "abc"), None),
        ({"version": ""}, ("m", "7", None), None),
        ({"prompts": ("abc", "def")}, ("m", "2", "def"), None),
        ({"prompts": ("abc",)}, ("m", "2", None), None),
        ({}, ("n", "2", None), "the calibration is of m (2), not of n (2): calibrate that one"),
        ({}, ("m", "3", None), "the calibration is of m (2), not of m (3): calibrate that one"),
        ({"version": ""}, ("n", "", None), "the calibration is of m, not of n: calibrate that one"),
        ({"prompts": ("abc",)}, ("m", "2", "def"), "the calibration is of m (2), not of m (2) with another prompt: "),
        ({"prompts": ("abc",)}, ("n", "2", "abc"), "the calibration is of m (2), not of n (2): calibrate that one"),
    ],
)
def test_whom_a_calibration_is_of(
    changes: dict[str, Any], asked: tuple[str, str, str | None], refused: str | None
) -> None:
    """It holds for its judge, in its version and with one of its prompts, where these are known on both sides."""
    if refused is None:
        known(**changes).check(*asked)
        return
    with pytest.raises(UsageError, match=re.escape(refused)) as caught:
        known(**changes).check(*asked)
    assert caught.value.code == "not-calibrated"


def test_corrections_are_those_of_the_statistics() -> None:
    """By rates with the sensitivity of .75 and the specificity of .75; by the mean of label minus verdict, 5 / 60."""
    found = known().corrected(OBSERVED)
    agreed = known().agreement
    correction = known().correction
    assert found is not None
    assert agreed is not None
    assert agreed.sensitivity is not None
    assert agreed.specificity is not None
    assert correction is not None
    assert (agreed.sensitivity.value, agreed.specificity.value) == (0.75, 0.75)
    assert correction.value == pytest.approx(5 / 60)
    assert correction.clusters == 60
    assert found.observed is OBSERVED
    assert found.rogan_gladen == rogan_gladen(OBSERVED, agreed.sensitivity, agreed.specificity)
    assert found.prediction_powered == prediction_powered(OBSERVED, correction)
    assert found.prediction_powered.value == pytest.approx(0.72 + 5 / 60)


@pytest.mark.parametrize(("label", "share"), [(True, 0.72 + 1 / 9), (False, 0.0)])
def test_one_kind_of_label_corrects_by_its_mean_alone(label: bool, share: float) -> None:
    """Without right rows there is no sensitivity, without wrong ones no specificity: nothing is corrected by rates."""
    found = calibrate([row(n, label, n != 1) for n in range(9)], judge="m").corrected(OBSERVED)
    assert found is not None
    assert found.rogan_gladen is None
    assert found.prediction_powered.value == pytest.approx(share)


def test_nothing_known_corrects_nothing() -> None:
    """Where no row has a verdict, or a part is missing from the file, there is no correction."""
    assert calibrate([], judge="m").corrected(OBSERVED) is None
    assert calibrate([row(1, 1, None)], judge="m").corrected(OBSERVED) is None
    assert known(agreement=None).corrected(OBSERVED) is None
    assert known(correction=None).corrected(OBSERVED) is None


@given(sure_rows)
def test_steps_are_counted(rows: list[LabelledRow]) -> None:
    """A step holds the rows at least as sure as it says, whichever verdict is the likelier, and the errors on them."""
    steps = {step.confidence: step for step in calibrate(rows, judge="m").steps}
    if not rows:
        assert steps == {}
        return
    assert list(steps) == sorted(steps)
    assert len(steps) == 52
    for confidence in CONFIDENCES:
        kept = [one for one in rows if max(one.probability or 0.0, 1.0 - (one.probability or 0.0)) >= confidence]
        assert steps[confidence] == ConfidenceStep(confidence, len(kept), sum(one.label != one.verdict for one in kept))


@pytest.mark.parametrize(
    ("steps", "budget", "least"),
    [
        ([(0.5, 400, 90), (0.7, 100, 4), (0.9, 46, 1)], 0.1, 0.7),
        ([(0.5, 400, 90), (0.7, 100, 11), (0.9, 46, 1)], 0.1, 0.9),
        ([(0.5, 400, 20), (0.7, 100, 11), (0.9, 46, 1)], 0.1, 0.9),
        ([(0.5, 400, 20), (0.7, 100, 4), (0.9, 20, 3)], 0.1, 1.0),
        ([(0.5, 400, 20), (0.7, 100, 4), (0.9, 9, 9)], 0.1, 0.5),
        ([(0.5, 100, 10), (0.7, 46, 1)], 0.1, 0.7),
        ([(0.5, 28, 0)], 0.1, 1.0),
        ([(0.5, 29, 0)], 0.1, 0.5),
        ([(0.5, 45, 1)], 0.1, 1.0),
        ([(0.5, 46, 1)], 0.1, 0.5),
        ([(0.5, 148, 0)], 0.02, 1.0),
        ([(0.5, 149, 0)], 0.02, 0.5),
        ([(0.5, 235, 1)], 0.02, 1.0),
        ([(0.5, 236, 1)], 0.02, 0.5),
        ([(0.5, 100_000, 1900)], 0.02, 0.5),
        ([(0.5, 100_000, 1990)], 0.02, 1.0),
        ([(0.5, 1000, 0)], 0.0, 1.0),
        ([(0.5, 0, 0)], 0.02, 1.0),
    ],
)
def test_thresholds(steps: list[tuple[float, int, int]], budget: float, least: float) -> None:
    """Down from the surest, the last step that is shown to err within the budget; steps too small say nothing."""
    assert with_steps(*steps).threshold_for(budget) == least


def test_rows_without_a_probability_are_in_no_step() -> None:
    """Steps and reliability are of the rows that have a probability, the other figures of all that have a verdict."""
    found = calibrate([row(1, 1, 1, probability=0.9), row(2, 0, 1), row(3, 1, None, probability=0.2)], judge="m")
    assert found.agreement is not None
    assert (found.rows, found.agreement.n, found.steps[0]) == (3, 2, ConfidenceStep(0.5, 1, 0))
    assert found.reliability is not None
    assert [(one.n, one.probability, one.share) for one in found.reliability.bins] == [(1, 0.9, 1.0)]
    assert found.reliability.brier == pytest.approx(0.01)
    assert calibrate([row(2, 0, 1)], judge="m").reliability is None


def test_surely_wrong_is_a_probability() -> None:
    """A probability of 0 is no missing one: it is in the lowest bin, and as sure as can be."""
    found = calibrate([row(1, 0, 0, probability=0.0), row(2, 1, 0, probability=0.0)], judge="m")
    assert found.reliability is not None
    assert [(one.n, one.probability, one.share) for one in found.reliability.bins] == [(2, 0.0, 0.5)]
    assert (found.reliability.error, found.reliability.brier) == (0.5, 0.5)
    assert found.steps[-1] == ConfidenceStep(0.999, 2, 1)


def test_a_perfect_judge_may_err_either_way() -> None:
    """Where no row differs, the correction is 0 ± u, u = z² / (n + z²): label minus verdict lies within -1..1."""
    correction = calibrate([row(n, n % 2, n % 2) for n in range(16)], judge="m").correction
    most = 1.959964**2 / (16 + 1.959964**2)
    assert correction is not None
    assert (correction.value, correction.low, correction.high) == pytest.approx((0.0, -most, most), abs=1e-6)


def test_probes_are_handed_on() -> None:
    """What probes found stands in the calibration as it is."""
    probe = Probe("same question again", 5, None)
    assert calibrate([row(1, 1, 1)], judge="m", probes=[probe]).probes == (probe,)


def test_people_among_themselves_and_with_the_judge() -> None:
    """Alpha of people is over their labels alone, that with the judge has its verdict as one more label."""
    people = ((True, True), (True, False), (False, None), (False, False))
    verdicts = (True, False, False, True)
    rows = [row(n, 1, verdict, annotators=each) for n, (each, verdict) in enumerate(zip(people, verdicts, strict=True))]
    unseen = [row(8, 1, 1, annotators=(None, None)), row(9, 1, None, annotators=(True, False))]
    found = calibrate([*rows, *unseen], judge="m")
    assert found.alpha_people == krippendorff_alpha(people)
    assert found.alpha == krippendorff_alpha([(*each, said) for each, said in zip(people, verdicts, strict=True)])
    assert found.alpha != found.alpha_people


def test_groups_are_told_apart_where_there_are_several() -> None:
    """Rows without a group are in none; one group alone is no group; of many the largest stay, by name where alike."""
    rows = [
        row(1, 1, 1, group="b"),
        row(2, 1, 0, group="a"),
        row(3, 1, 1, group="b"),
        row(4, 1, 1),
    ]
    found = calibrate(rows, judge="m").groups
    assert [(name, part.n, part.accuracy.value) for name, part in found.items()] == [("a", 1, 0.0), ("b", 2, 1.0)]
    assert calibrate([rows[0], rows[2], rows[3]], judge="m").groups == {}
    many = [row(n, 1, 1, group=f"g{n:03}") for n in range(MOST_GROUPS + 5)]
    assert MOST_GROUPS == 100
    assert list(calibrate([*many, row(0, 1, 1, group="g104")], judge="m").groups) == [
        *(f"g{n:03}" for n in range(99)),
        "g104",
    ]


def test_prompts_and_labels_are_named() -> None:
    """Prompts are those of verdicts, each once; the hash is of questions and labels, in any order."""
    rows = [row(n, n > 1, n != 3 or None, prompt_hash=name) for n, name in enumerate(("b", "a", "b", "c"))]
    found = calibrate(rows, judge="m")
    assert found.prompts == ("a", "b")
    assert len(found.labels) == 32
    assert (
        calibrate([replace(one, verdict=True, prompt_hash=None) for one in rows[::-1]], judge="m").labels
        == found.labels
    )
    assert calibrate([replace(rows[0], label=True), *rows[1:]], judge="m").labels != found.labels
    assert calibrate([replace(rows[0], question="other"), *rows[1:]], judge="m").labels != found.labels
    assert calibrate([replace(rows[0], question="\ud800")], judge="m").labels  # a lone surrogate is a text too


def test_a_file_is_what_was_saved(tmp_path: Path) -> None:
    """What is read back is what was saved, whatever it says of itself; this is format 1, in one line."""
    path = tmp_path / "known.json"
    before = known(prompts=("abc",), digest="not mine")
    before.save(path)
    assert path.read_bytes().endswith(b"}\n")
    record = json.loads(path.read_text())
    assert (record["format"], len(record["digest"])) == (1, 32)
    assert load_calibration(path) == replace(before, digest="")
    load_calibration(path).save(path)
    assert json.loads(path.read_text()) == record
