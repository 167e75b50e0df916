"""The face of the local judge: which rows it takes, what a judgement says, and the arithmetic of its trained parts."""

from typing import Any

import pytest

from adjudge.judges.local import AGREEMENT, LocalJudge, _tiers
from adjudge.judges.local._model import Trees, chance
from adjudge.judges.local._tier0 import assess
from adjudge.judges.local._tier1 import assess_many
from adjudge.judges.local._tiers import AGREEMENTS, Assessment

LEAVES = Trees(((0, 2.0, (1, 5.0, 1.0, 2.0), 4.0), (1, 0.0, 10.0, 20.0)), start=0.5, scale=3.0, shift=-1.0)


@pytest.mark.parametrize(
    ("values", "log_odds"),
    [
        ((2.0, 5.0), 3 * (0.5 + 1 + 20) - 1),
        ((2.0, 5.1), 3 * (0.5 + 2 + 20) - 1),
        ((2.1, 0.0), 3 * (0.5 + 4 + 10) - 1),
    ],
)
def test_trees(values: tuple[float, ...], log_odds: float) -> None:
    """Up to its threshold, and on it, a node goes to its first tree; start and leaves are added, scaled and shifted."""
    assert LEAVES.log_odds(values) == log_odds


def test_chances() -> None:
    """Log-odds are a chance, whatever their size."""
    assert [chance(one) for one in (-1e9, -2.0, 0.0, 2.0, 1e9)] == pytest.approx([0, 0.1192029, 0.5, 0.8807971, 1])
    assert chance(-700.0) > 0.0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("Paris", "a row must be a mapping of columns, got str"),
        ({"question": "q", "response": "x"}, "the row has no reference to judge by"),
        ({"question": ["q"], "reference": "r", "response": "x"}, "question must be text, got list"),
        ({"question": "q", "reference": "r", "response": ["x"]}, "response must be text, got list"),
        ({"question": "q", "reference": "r", "candidate": b"x"}, "candidate must be text, got bytes"),
    ],
)
def test_rows_that_cannot_be_judged(row: Any, said: str) -> None:
    """A row that lacks something is an error that says what, of which judge, and has neither verdict nor chance."""
    (found,) = LocalJudge(tier=0).judge_many([row])
    assert (found.status, found.verdict, found.probability) == ("error", None, None)
    assert said in str(found.reason)
    assert (found.judge, found.tier) == ("local:0", 0)


def test_a_million_characters_are_read() -> None:
    """A response of a million characters is judged; of one more it is wrong, by rule and with that reason."""
    judge = LocalJudge(tier=0)
    most = f"Paris{' ' * 999_995}"
    assert judge.judge("q", "Paris", most).verdict == "CORRECT"
    found = judge.judge("q", "Paris", f"{most} ")
    assert (found.status, found.verdict, found.reasons, found.probability) == ("scored", "WRONG", ("too-long",), 0.02)
    assert found.reason == "too-long: 1000001 characters"


def test_a_judgement_says_what_was_seen() -> None:
    """It has the chance to four digits, the names of what was seen, and these in words with the known agreement."""
    statement = "The switch opens a gap in the path, so the bulb has no closed path to the battery."
    question, references, text = "Why is the bulb off?", (statement,), "There is a gap in the path."
    (seen,) = _tiers.assessor(0)([(question, references, text)])
    found = LocalJudge(tier=0).judge(question, references, text)
    assert len(seen.reasons) > 1
    assert found.reasons == seen.reasons
    assert found.reason == f"{', '.join(seen.reasons)} ({AGREEMENT})"
    assert found.probability == round(seen.probability, 4) != round(seen.probability, 3)
    assert found.verdict == ("CORRECT" if seen.is_right else "WRONG")
    assert LocalJudge(tier=0).prompt_hash is None


@pytest.mark.parametrize(("probability", "is_right"), [(0.5, True), (0.4999, False)])
def test_the_likelier_verdict(probability: float, is_right: bool) -> None:
    """From one half on, CORRECT is the verdict."""
    assert Assessment(probability, ("seen",)).is_right is is_right


@pytest.mark.parametrize(
    ("budget", "threshold"), [(0.2, 0.5), (0.1, 0.7), (0.06, 0.9), (0.05, 0.9), (0.04, 1.0), (0.0, 1.0)]
)
def test_thresholds(monkeypatch: pytest.MonkeyPatch, budget: float, threshold: float) -> None:
    """Down from the surest, the last step that errs within the budget; 1 where not even that one does."""
    steps = [(0.5, 0.15, 1.0), (0.6, 0.12, 0.9), (0.7, 0.1, 0.8), (0.8, 0.1, 0.7), (0.9, 0.05, 0.4)]
    monkeypatch.setattr(_tiers, "_known_errors", lambda: {"0": steps, "1": []})
    assert LocalJudge(tier=0).threshold_for(budget) == threshold
    assert LocalJudge(tier=1).threshold_for(budget) == 1.0


@pytest.mark.parametrize("missing", ["adjudge_weights", "onnxruntime", "tokenizers"])
def test_a_tier_needs_all_of_its_packages(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Where one package of tier 1 is missing, the best tier is 0."""
    monkeypatch.setattr(_tiers, "find_spec", lambda name: None if name == missing else name)
    assert LocalJudge().tier == 0


def test_a_tier_has_its_own_words_and_assessor() -> None:
    """Each tier assesses by itself, and says how far it agrees with people, not another."""
    assert (LocalJudge(tier=0).agreement, LocalJudge(tier=1).agreement) == (AGREEMENT, AGREEMENTS[1])
    assert AGREEMENT.startswith("local judge, tier 0;")
    assert AGREEMENTS[1].startswith("local judge, tier 1;")
    row = ("Where do goats come from?", ("Iran",), "They come from Persia, they say.")
    assert _tiers.assessor(0)([row]) == [assess(*row)]
    assert _tiers.assessor(1)([row]) == assess_many([row]) != [assess(*row)]


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("5", "±5"),
        ("5", ">5"),
        ("2", "√2"),
        ("3", "3²"),
        ("Area 51", "Area 51²"),
        ("route 66", "route 66a"),
    ],
)
def test_signs_beside_figures_count(reference: str, response: str) -> None:
    """Figures that are a reference word for word are another number where a sign beside them is another."""
    found = assess("What is it?", (reference,), response)
    assert (found.is_right, found.reasons, found.ruled) == (False, ("other-number",), True)
    assert assess("What is it?", (reference,), reference).reasons == ("contained",)
