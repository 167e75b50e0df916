"""The trained part of tier 0: where it comes from, how good it is, and that it is what the training data gave."""

import json
from importlib.resources import files
from typing import Any

import pytest

from adjudge.errors import MissingExtra, UsageError
from adjudge.judges import QUALITY, CascadeJudge, PanelJudge, get_judge, judge_reward
from adjudge.judges.local import AGREEMENT, LocalJudge, LocalRubricJudge, _tiers
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._model import FILE, chance, load_model
from adjudge.judges.local._tier0 import assess_many
from adjudge.rewards import get_reward

BARS = {
    "EVOUNA-NQ": (0.90, 0.76),
    "EVOUNA-TQ": (0.955, 0.84),
    "NQ301": (0.80, 0.60),
    "EVOUNA-NQ, not contained": (0.0, 0.55),
    "EVOUNA-TQ, not contained": (0.0, 0.60),
    "SemEval Beetle, unseen questions": (0.73, 0.0),
    "SemEval SciEntsBank, unseen questions": (0.70, 0.0),
}


def test_it_was_trained_on_these_rows(training: Any) -> None:
    """The hashes in the data file are those of the committed training rows, and no validation file is among them."""
    rows, _ = training
    card = load_model().card
    assert card["training"] == {name: rows.digest(name) for name in (*rows.TRAINING, "agents", "agents-fusion")}
    assert not set(card["training"]) & set(rows.VALIDATION)
    assert card["command"].startswith("python training/tier0.py")


def test_no_question_is_on_both_sides(training: Any) -> None:
    """Questions of the honest validation files are in no training file."""
    rows, _ = training
    trained = {row["question"] for name in rows.TRAINING for row in rows.read(name)}
    for name in ("evouna-val", "nq301-val"):
        assert trained.isdisjoint(row["question"] for row in rows.read(name))


def test_its_figures_are_its_own(training: Any) -> None:
    """On the validation rows it is as good as its card says, and as it has to be."""
    _, measures = training
    found = measures.measure(measures.tier0)
    assert found == load_model().card["validation"]
    for split, (accuracy, kappa) in BARS.items():
        assert found[split]["accuracy"] >= accuracy, split
        assert found[split]["kappa"] >= kappa, split
    # WRONG is said as surely as it is right elsewhere, which is less than at home.
    for split, most in (("EVOUNA-NQ", 0.07), ("EVOUNA-TQ", 0.06), ("NQ301", 0.05)):
        assert found[split]["ece"] <= most, split
    assert found["EVOUNA-NQ"]["top70"] >= 0.97
    assert found["EVOUNA-TQ"]["top70"] >= 0.995


def test_its_probabilities_are_earned_elsewhere(training: Any) -> None:
    """On rows from other sources than training they are right to .1, and sure verdicts err seldom."""
    _, measures = training
    found = measures.elsewhere(assess_many)
    assert found == load_model().card["elsewhere"]
    assert (found["rows"], found["ece"] <= 0.10) == (1384, True)
    for verdict, most in (("sure CORRECT", 0.13), ("sure WRONG", 0.12)):
        count, right = found[verdict]
        assert count - right <= most * count, verdict


def test_the_agreement_is_that_of_the_card() -> None:
    """What every verdict says of its own accuracy is what was measured."""
    found = load_model().card["validation"]
    for split in ("EVOUNA-NQ", "EVOUNA-TQ", "NQ301"):
        assert f"{found[split]['accuracy']:.0%}".replace("%", " %") in AGREEMENT
        assert f"({found[split]['kappa']:.2f})".replace("0.", ".").replace("(", "") in AGREEMENT


def test_the_file_is_small_and_fits_the_features() -> None:
    """It has under half a megabyte, and a threshold for features that there are."""
    text = files("adjudge.judges.local").joinpath(FILE).read_text(encoding="utf-8")
    record = json.loads(text)
    assert len(text) < 500_000
    assert record["names"] == list(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    assert chance(0.0) == 0.5


def test_batches_change_nothing() -> None:
    """A verdict is the same alone and among others, in any order."""
    judge = LocalJudge(tier=0)
    rows = [{"question": "q", "reference": ["Paris"], "response": text} for text in ("Paris", "Lyon", "not Paris", "")]
    together = judge.judge_many(rows)
    assert together == [judge.judge_many([row])[0] for row in rows]
    assert together[::-1] == judge.judge_many(rows[::-1])


def test_weak_genres_are_flagged() -> None:
    """Explanations are judged with low confidence, and long answers are called so."""
    statement = ["The switch opens a gap in the path, so the bulb has no closed path to the battery."]
    judgement = LocalJudge(tier=0).judge("Why is the bulb off?", statement, "There is a gap in the path.")
    assert {"explanatory", "low-confidence"} <= set(judgement.reasons)
    long = f"Paris, which {'is large and old and '.join(['it', 'it', 'it'] * 8)}."
    assert "long-answer" in LocalJudge(tier=0).judge("What is the capital?", ["Paris"], long).reasons


def test_tier_1_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its packages the better tier says what to install, and `local` is tier 0."""
    monkeypatch.setattr(_tiers, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"adjudge\[local\]"):
        get_judge("local:1")
    assert get_judge("local").name == "local:0"


def test_it_is_no_rubric_judge_unless_asked() -> None:
    """Rubric scores come from the local judge only as an approximation that is asked for, and say so."""
    with pytest.raises(UsageError, match="approximate=True"):
        LocalRubricJudge()
    judge = LocalRubricJudge(approximate=True, tier=0)
    judgement = judge.judge("When?", ["It opens at nine", "It is closed on Monday"], "It opens at nine.")
    assert 0 < judgement.scores["completeness"] < 1
    assert "approximation" in str(judgement.reason)
    assert judge.judge("When?", [], "At nine").status == "unscored"
    assert judge.judge("When?", ["nine"], "").scores["completeness"] == 0
    assert judge.judge(["When?"], ["nine"], "At nine").status == "error"  # type: ignore[arg-type]


def test_the_approximation_is_a_rubric_judge() -> None:
    """Asked for, it stands where a rubric judge does, with criteria and sources, and not where verdicts are wanted."""
    judge = LocalRubricJudge(approximate=True, tier=0)
    row = {"question": "When?", "criteria": ["It opens at nine"], "sources": ["A notice"]}
    score = get_reward(judge_reward(judge)).score({**row, "final_response": "It opens at nine."})
    assert (score.status, set(score.parts)) == ("scored", set(QUALITY))
    assert (score.value or 0.0) > 0.5
    with pytest.raises(UsageError, match="for verdicts"):
        PanelJudge([LocalJudge(tier=0), judge])
    with pytest.raises(UsageError, match="for verdicts"):
        CascadeJudge(LocalJudge(tier=0), judge)
