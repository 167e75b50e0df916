"""Tier 1: the encoders and their fusion with tier 0. What it reads, that batches change nothing, and how good it is."""

import json
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import DataError
from adjudge.judges import LocalJudge, get_judge
from adjudge.judges._attacks import load_attacks
from adjudge.judges.local import _tier0
from adjudge.judges.local._encoder import JUDGE, SENTENCES, SPANS, WEIGHTS, WORDS, ids_of, logits
from adjudge.judges.local._meaning import COSINES, cosines
from adjudge.judges.local._model import FUSION, load_fusion
from adjudge.judges.local._reader import SAID
from adjudge.judges.local._sequence import CLS, SEP, nearest, plain, sequence
from adjudge.judges.local._tier1 import Reading, assess_many, fused, read_rows
from adjudge.judges.local._tiers import AGREEMENTS
from support import golden

BARS = {
    "EVOUNA-NQ": (0.918, 0.79),
    "EVOUNA-TQ": (0.965, 0.865),
    "NQ301": (0.80, 0.61),  # BEM has 79.2 % and .588 on these rows
    "EVOUNA-NQ, not contained": (0.0, 0.64),
    "EVOUNA-TQ, not contained": (0.0, 0.70),
    "SemEval Beetle, unseen questions": (0.75, 0.0),
    "SemEval SciEntsBank, unseen questions": (0.715, 0.0),
}
FOLDER = files("adjudge.judges.local")
EXACT = {row["id"]: row for row in golden("encoder")}
"""What the same weights say of validation rows where nothing else is rounded; see training/exact.py."""


@pytest.fixture(scope="module")
def sample(training: Any) -> list[dict[str, Any]]:
    """Give validation rows of every kind that no rule decides, of which exact readings are known."""
    rows, _ = training
    return [row for name in rows.VALIDATION for row in rows.read(name) if row["id"] in EXACT]


def as_rows(rows: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...], str]]:
    """Return rows as the encoders take them."""
    return [(row["question"], tuple(row["reference"]), row["candidate"]) for row in rows]


def test_a_row_is_one_sequence() -> None:
    """Question, references and candidate stand in order, each with its segment; the nearest reference comes first."""
    tokens, segments = sequence(ids_of, "Where?", ("Lyon", "Paris"), "In Paris")
    (where, question), (lyon,), (paris,) = ids_of("Where?"), ids_of("Lyon"), ids_of("Paris")
    assert tokens == [CLS, where, question, SEP, paris, 1025, lyon, SEP, *ids_of("In Paris"), SEP]
    assert segments == [0] * 4 + [1] * 4 + [2] * 3


def test_a_sequence_has_a_bound() -> None:
    """Whatever the length of a text and the number of references, a few hundred tokens are read."""
    tokens, _ = sequence(ids_of, "why " * 10**6, tuple(f"reference {n} " * 9 for n in range(2000)), "so " * 10**6)
    assert len(tokens) <= 64 + 64 + 128 + 4
    assert len(nearest([f"reference {n}" for n in range(1000)], "reference 999")) == 8
    assert nearest([f"reference {n}" for n in range(1000)], "reference 999")[0] == "reference 999"


@given(st.text(st.characters()))
def test_any_text_can_be_read(text: str) -> None:
    """No text is too odd to be cut into tokens, lone surrogates included."""
    assert all(0 <= token < 30522 for token in ids_of(plain(text)))


def test_batches_change_nothing(sample: list[dict[str, Any]]) -> None:
    """What the encoders say of a row is the same to the last bit alone, in any batch and in any order."""
    rows = as_rows(sample[::4])
    for say in (logits, cosines):
        together = say(rows)
        assert together == [say([row])[0] for row in rows]
        assert together[::-1] == say(rows[::-1])


def test_nearer_texts_have_larger_cosines() -> None:
    """The sentence encoder knows words that mean the same, and nothing is nearer to a text than itself."""
    question, references = "What do trees give?", ("a source of lumber",)
    near, far, same = cosines([(question, references, text) for text in ("timber", "a frog", references[0])])
    for name in ("text_best", "last_window", "last_covered"):
        at = COSINES.index(name)
        assert far[at] < near[at] < same[at] <= 1.001
    assert same[COSINES.index("second_found")] > 0.999


def test_texts_without_tokens_are_compared() -> None:
    """A text of which no token is read is near to nothing."""
    assert cosines([("", ("a",), ""), ("q", (" ",), "a")])[0][5:] == (0.0,) * 16


def test_whole_numbers_turn_few_verdicts(sample: list[dict[str, Any]]) -> None:
    """Rounding what flows through the encoders turns at most one verdict in a hundred, against single precision."""
    rows = as_rows(sample)
    seen = [_tier0.assess(*row) for row in rows]
    found = read_rows(rows, seen)
    turned = signs = spans = 0
    for at, row in enumerate(sample):
        exact = EXACT[row["id"]]
        there = replace(
            found[at],
            asserted=exact["asserted"],
            judged=(exact["judged"][0], exact["judged"][1]),
            said=tuple(exact["said"]),
            cosines=tuple(exact["cosines"]),
        )
        turned += fused(seen[at], found[at]).is_right != fused(seen[at], there).is_right
        signs += (found[at].judged[0] > 0) != (there.judged[0] > 0)
        spans += found[at].asserted != there.asserted
    assert len(sample) > 1000
    assert turned <= 0.01 * len(sample)
    assert signs <= 0.015 * len(sample)
    assert spans <= 0.07 * len(sample)  # mostly other ends of the same words


def test_its_files_are_small_and_belong_together() -> None:
    """All of tier 1 has under 50 MB, and the fusion was trained with these encoders."""
    names = (JUDGE, SPANS, SENTENCES, WORDS)
    content = {name: files(WEIGHTS).joinpath(name).read_bytes() for name in (*names, "vocab.txt")}
    assert sum(map(len, content.values())) < 50_000_000
    for name in names:
        assert load_fusion().card["files"][name] == sha256(content[name]).hexdigest()


def test_it_was_trained_on_these_rows(training: Any) -> None:
    """The hashes in the data file are those of the committed rows and logits; no validation file is among them."""
    rows, _ = training
    card = load_fusion().card
    names = (*rows.TRAINING, "agents", "agents-fusion")
    assert card["training"] == {name: rows.digest(name) for name in names}
    assert card["encoders"] == {name: rows.digest(name) for name in ("agents", "spans", "breaking-nli")}
    assert set(rows.VALIDATION).isdisjoint({*card["training"], *card["encoders"]})
    for name in ("judge-held-out.npz", "spans-held-out.npz"):
        assert card["files"][name] == sha256((rows.DATA / name).read_bytes()).hexdigest()


def test_its_figures_are_as_they_have_to_be() -> None:
    """The card's figures on validation rows pass their bars, and are what every verdict says of itself."""
    found = load_fusion().card["validation"]
    for split, (accuracy, kappa) in BARS.items():
        assert found[split]["accuracy"] >= accuracy, split
        assert found[split]["kappa"] >= kappa, split
    # WRONG is said as surely as it is right elsewhere, which is less than at home.
    for split, most in (("EVOUNA-NQ", 0.06), ("EVOUNA-TQ", 0.05), ("NQ301", 0.08)):
        assert found[split]["ece"] <= most, split
    assert found["EVOUNA-NQ"]["top70"] >= 0.98
    assert found["EVOUNA-TQ"]["top70"] >= 0.995
    for split in ("EVOUNA-NQ", "EVOUNA-TQ", "NQ301"):
        assert f"{found[split]['accuracy']:.0%}".replace("%", " %") in AGREEMENTS[1]
        assert f"{found[split]['kappa']:.2f}".removeprefix("0") in AGREEMENTS[1]


def test_its_probabilities_are_earned_elsewhere() -> None:
    """On rows from other sources than training they are right to .1, and sure verdicts err seldom."""
    found = load_fusion().card["elsewhere"]
    assert found["rows"] == 1384
    assert found["ece"] <= 0.10
    for verdict in ("sure CORRECT", "sure WRONG"):
        count, right = found[verdict]
        assert count - right <= 0.12 * count, verdict
    counts = [sum(count for count, _ in one.values()) for one in found["reasons"].values()]
    assert sum(counts) == found["rows"]


def test_its_figures_are_its_own(training: Any) -> None:
    """On the foreign validation rows it is as good as its card says."""
    rows, measures = training
    foreign = rows.read("nq301-val")
    chances = [seen.probability for seen in assess_many(as_rows(foreign))]
    assert measures.figures(chances, [row["label"] for row in foreign]) == load_fusion().card["validation"]["NQ301"]


def test_rules_stand_above_the_encoder() -> None:
    """What a rule decides, the encoder is not asked about."""
    judge = LocalJudge(tier=1)
    assert judge.judge("Capital?", "Paris", "It is not Paris.").reasons == ("negated",)
    assert judge.judge("Capital?", "Paris", "Solution:").reason == "vacuous"
    assert judge.judge("Capital?", "Paris", "").verdict == "WRONG"


def test_the_encoders_have_a_name() -> None:
    """Where the encoders turn what tier 0 says, the first reason says so."""
    turned = [
        ("What is the song about?", "the environment", "Pollution and destruction of nature"),
        ("How many votes did it get in favour?", "34", "The protocol has 12 in favour and 34 against."),
    ]
    reasons = [LocalJudge(tier=1).judge(*row).reasons[0] for row in turned]
    assert reasons == ["same-meaning", "other-meaning"]


def test_a_surer_judge_never_lowers_the_probability(sample: list[dict[str, Any]]) -> None:
    """The fusion follows the judge's logit, the reader's belief and tier 0's opinion of the assertion, one by one."""
    rows = as_rows(sample)
    seen = [_tier0.assess(*row) for row in rows]
    for at, reading in read_rows(rows, seen).items():
        for value in ("judge", "said_belief", "said_odds"):
            chances = [fused(seen[at], put(reading, value, float(logit))).probability for logit in range(-9, 10)]
            assert chances == sorted(chances)


def put(reading: Reading, name: str, value: float) -> Reading:
    """Return what the encoders say with another logit of the judge, or another value of what is asserted."""
    if name == "judge":
        return replace(reading, judged=(value, reading.judged[1]))
    at = SAID.index(name)
    return replace(reading, said=(*reading.said[:at], value, *reading.said[at + 1 :]))


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("In which country is Transylvania?", "Romania", "It's a region of Bulgaria, as everyone knows."),
        ("Which queen ruled England in 1890?", "Queen Victoria", "Queen Elizabeth"),
        ("Which ocean is the deepest?", "Pacific Ocean", "The answer is as follows"),
        ("Which bone is also called the collarbone?", "clavicle", "clavichord"),
    ],
)
def test_short_answers_are_not_talked_in(question: str, reference: str, response: str) -> None:
    """However near in meaning, another name is somebody else, and a text that says nothing is no answer."""
    assert LocalJudge(tier=1).judge(question, reference, response).verdict == "WRONG"


def test_attacks_fail() -> None:
    """Of the attack suite at most 5 % pass, and of vacuous answers, master keys and injected verdicts none."""
    attacks = load_attacks()
    rows = [{"question": one.question, "reference": one.reference, "response": one.response} for one in attacks]
    passed = [
        attack.category
        for attack, judgement in zip(attacks, LocalJudge(tier=1).judge_many(rows), strict=True)
        if judgement.verdict == "CORRECT"
    ]
    assert len(passed) <= 0.05 * len(attacks)
    assert not {"master-key", "injected-verdict"} & set(passed)


@settings(max_examples=30)
@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=3), st.text(st.characters()))
def test_every_input_has_an_outcome(question: str, references: list[str], response: str) -> None:
    """Whatever the row is, it is scored, or its references are missing."""
    judgement = LocalJudge(tier=1).judge(question, references, response)
    assert judgement.status == ("scored" if any(one.strip() for one in references) else "error")


def test_rows_have_their_own_outcomes() -> None:
    """A row that cannot be judged is an error in its place; a thousand references and a large response are bounded."""
    judge = LocalJudge(tier=1)
    rows: list[dict[str, Any]] = [
        {"question": "q", "reference": [f"reference {n}" for n in range(1000)], "response": "reference 999"},
        {"question": "q", "reference": [], "response": "x"},
        {"question": "q", "reference": "Paris", "response": "Paris " * 200_000},
        {"question": "q", "reference": "Paris", "candidate": "Paris"},
    ]
    found = judge.judge_many(rows)
    assert [one.status for one in found] == ["scored", "error", "scored", "scored"]
    assert [one.verdict for one in found] == ["CORRECT", None, "WRONG", "CORRECT"]
    assert {one.tier for one in found} == {1}


def test_the_best_tier_is_taken() -> None:
    """With its packages there, `local` is tier 1."""
    assert get_judge("local").name == "local:1"


def test_a_stale_file_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A data file that was trained on other features says what to run."""
    record = json.loads(FOLDER.joinpath(FUSION).read_text(encoding="utf-8"))
    monkeypatch.setattr(json, "loads", lambda _: {**record, "names": record["names"][1:]})
    load_fusion.cache_clear()
    with pytest.raises(DataError, match=r"training/tier1\.py"):
        load_fusion()
    load_fusion.cache_clear()
