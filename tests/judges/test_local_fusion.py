"""How tier 1 weighs what the encoders say, and how far it is bounded, with trees made up so that sums are plain."""

from dataclasses import replace
from itertools import pairwise
from math import exp, log1p

import pytest

from adjudge.judges.local import LocalJudge, _features, _tier0, _tier1
from adjudge.judges.local._features import NAMES
from adjudge.judges.local._meaning import COSINES
from adjudge.judges.local._mentions import Cues
from adjudge.judges.local._model import Fusion, Model, Trees, load_fusion, load_model
from adjudge.judges.local._pair import Candidate, prepare
from adjudge.judges.local._reader import SAID
from adjudge.judges.local._tier0 import OVERTURNED, assess, doubted, earned
from adjudge.judges.local._tier1 import Reading, are_names, assess_many, fused, read_rows
from adjudge.judges.local._tiers import Assessment

NONE = (0.0,) * len(NAMES)
CARD: dict[str, float] = {}
EVEN = Trees((), 0.0, 1.0, 0.0)
MODEL = Model(
    learnt=({}, Cues({}, frozenset())),
    names=NAMES,
    phrases=EVEN,
    mentions=EVEN,
    statements=Trees((), -3.0, 1.0, 0.0),
    doubt={"share": 0.25, "words": 5},
    earned={},
    card=CARD,
)
JUDGED = len(NAMES)
LEVELS = (-8.0, -3.0, -2.0, -1.0, -0.2, -0.01, 0.0, 0.2, 1.0, 2.0, 3.0, 8.0)


def as_it_is(start: float) -> Trees:
    """Return a tree that says the judge's logit, which is one of `LEVELS`, and `start` more."""
    node: object = LEVELS[0]
    for lower, level in pairwise(LEVELS):
        node = (JUDGED, (lower + level) / 2, node, level)
    return Trees((node,), start, 1.0, 0.0)


FUSION = Fusion(
    contained=as_it_is(4.0),
    apart=as_it_is(0.0),
    statements=as_it_is(1.5),
    doubt={"share": 0.25, "words": 5, "references": 3},
    earned=1.0,
    card=CARD,
)


@pytest.fixture(autouse=True)
def plain_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put made-up parts in the place of the trained ones, but where the trained ones are meant."""
    if "trained" not in request.function.__name__:
        monkeypatch.setattr(_tier1, "load_fusion", lambda: FUSION)


def seen(words: int = 30, references: int = 9, probability: float = 0.1, **features: float) -> Assessment:
    """Return what tier 0 saw of an answer of some words, beside some references."""
    given = {"size": log1p(words), "references": log1p(references), **features}
    return Assessment(probability, ("seen",), values=tuple(given.get(name, 0.0) for name in NAMES))


def reading(right: float, *, cosine: float = 0.9, names: bool = False, yes_no: bool = False, **said: float) -> Reading:
    """Return what the encoders say: the judge's logit, the best cosine of the whole text, what is asserted."""
    near = tuple(cosine if name == "text_best" else 0.0 for name in COSINES)
    return Reading("so", (right, 0.0), tuple(said.get(name, 0.0) for name in SAID), near, names, yes_no)


def chance(log_odds: float) -> float:
    """Return log-odds as a probability."""
    return 1 / (1 + exp(-log_odds))


def sure_of(log_odds: float) -> Model:
    """Return a model of tier 0 that says the same of every phrase, with the trained weights of words."""
    same = Trees((), log_odds, 1.0, 0.0)
    return replace(MODEL, learnt=load_model().learnt, phrases=same, mentions=same)


def put_in(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """Put a model in the place of the trained one, wherever tier 0 asks for it."""
    for module in (_features, _tier0):
        monkeypatch.setattr(module, "load_model", lambda: model)


def test_what_is_weighed() -> None:
    """There are trees for references that stand in the response, for those that do not, and for statements."""
    assert fused(seen(contained=1.0), reading(-1.0)).probability == pytest.approx(chance(3.0))
    assert fused(seen(), reading(2.0)).probability == pytest.approx(chance(2.0))
    statement = Assessment(0.1, ("seen",), values=NONE, statement=True)
    assert fused(statement, reading(-3.0)).probability == pytest.approx(chance(-1.5))


@pytest.mark.parametrize("at", range(2 + len(SAID) + len(COSINES)))
def test_the_order_of_values(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Trees find the features first, then both logits of the judge, what is asserted, and the cosines."""
    given = [float(n) for n in range(2 + len(SAID) + len(COSINES))]
    tree = Trees(((len(NAMES) + at, at - 0.5, 9.0, (len(NAMES) + at, at + 0.5, 1.0, 9.0)),), 0.0, 1.0, 0.0)
    monkeypatch.setattr(_tier1, "load_fusion", lambda: replace(FUSION, apart=tree))
    told = Reading("so", (given[0], given[1]), tuple(given[2 : 2 + len(SAID)]), tuple(given[2 + len(SAID) :]))
    assert fused(seen(), told).probability == pytest.approx(chance(1.0))


@pytest.mark.parametrize(
    ("words", "cosine", "alike", "names", "before", "right", "left"),
    [
        (12, 0.39, 0.0, False, 0.1, 3.0, True),
        (12, 0.4, 0.0, False, 0.1, 3.0, False),
        (13, 0.39, 0.0, False, 0.1, 3.0, False),
        (12, 0.39, 0.0, False, 0.5, 3.0, False),
        (4, 0.9, 0.0, True, 0.1, 3.0, True),
        (5, 0.9, 0.0, True, 0.1, 3.0, False),
        (4, 0.9, 0.24, True, 0.1, 3.0, True),
        (4, 0.9, 0.25, True, 0.1, 3.0, False),
        (4, 0.9, 0.25, True, 0.1, 1.0, True),
        (4, 0.9, 0.25, False, 0.1, 1.0, True),
        (4, 0.9, 0.24, False, 0.1, 1.0, False),
        (4, 0.0, 0.25, False, 0.1, 3.0, False),
    ],
)
def test_few_words_need_a_voucher(
    words: int, cosine: float, alike: float, names: bool, before: float, right: float, left: bool
) -> None:
    """Up to 12 words that tier 0 takes for wrong are right only if near in meaning; up to 4 not as another name."""
    told = reading(right, cosine=cosine, names=names)
    found = fused(seen(words, probability=before, trigram=alike), told)
    assert found.probability == pytest.approx(0.49 if left else chance(right))
    # What tier 0 is sure of when it reads the assertion alone needs no other voucher.
    told = reading(right, cosine=cosine, names=names, said_odds=2.9)
    assert fused(seen(words, probability=before, trigram=alike), told).probability == pytest.approx(chance(right))


@pytest.mark.parametrize(
    ("sure", "before", "contained", "left"),
    [(-8.01, 0.1, 0.0, True), (-8.0, 0.1, 0.0, False), (-15.0, 0.5, 0.0, False), (-15.0, 0.1, 1.0, False)],
)
def test_what_asserts_nothing(sure: float, before: float, contained: float, left: bool) -> None:
    """Where the reader is sure that nothing is asserted, and no reference is there, nearness does not make it right."""
    found = fused(seen(probability=before, contained=contained), reading(3.0, said_sure=sure)).probability
    assert (found == pytest.approx(0.49)) is left


@pytest.mark.parametrize(
    ("words", "references", "right", "doubts"),
    [
        (5, 3, -2.0, True),
        (6, 3, -2.0, False),
        (5, 4, -2.0, False),
        (5, 3, 0.0, False),
        (5, 3, 0.2, False),
        (1, 1, -0.01, True),
    ],
)
def test_doubt(words: int, references: int, right: float, doubts: bool) -> None:
    """A wrong answer of few words beside few references is doubted by a share of its distance from one half."""
    found = fused(seen(words, references, probability=0.9), reading(right)).probability
    p = chance(right)
    assert found == pytest.approx(p + 0.25 * (1 - 2 * p) if doubts else p)


@pytest.mark.parametrize("rule", sorted(OVERTURNED))
@pytest.mark.parametrize(
    ("right", "odds", "says_so", "turned"),
    [
        (3.0, 2.9, False, True),
        (3.0, 2.8, False, False),
        (-3.0, 4.0, False, False),
        (0.0, 4.0, False, True),
        (3.0, 4.0, True, True),
    ],
)
def test_rules_that_are_overturned(rule: str, right: float, odds: float, says_so: bool, turned: bool) -> None:
    """A rule is overturned where the trees say right, and tier 0 is sure of what is asserted.

    A yes or no is not asserted by a span: there the trees suffice, unless the response says yes or no itself.
    """
    ruled = replace(seen(), reasons=(rule,), ruled=True)
    if rule == "yes-no":
        turned = right >= 0 and not says_so
    found = fused(ruled, reading(right, said_odds=odds, yes_no=says_so))
    if not turned:
        assert found == replace(ruled, asserted="so")
        return
    assert found.probability == pytest.approx(chance(right))
    assert found.reasons[:2] == ("same-meaning", rule)
    assert (found.ruled, found.asserted) == (False, "so")


@pytest.mark.parametrize(
    ("before", "right", "reasons"),
    [
        (0.1, -3.0, ("seen",)),
        (0.9, 3.0, ("seen",)),
        (0.9, -3.0, ("other-meaning", "seen")),
        (0.1, 3.0, ("same-meaning", "seen")),
        (0.1, 1.0, ("same-meaning", "seen", "low-confidence")),
        (0.9, 0.0, ("seen", "low-confidence")),
        (0.1, 0.0, ("same-meaning", "seen", "low-confidence")),
        (0.1, 0.2, ("same-meaning", "seen", "low-confidence")),
        (0.1, -0.2, ("seen", "low-confidence")),
        (0.9, -0.2, ("other-meaning", "seen", "low-confidence")),
    ],
)
def test_reasons(before: float, right: float, reasons: tuple[str, ...]) -> None:
    """A verdict that is turned says so first; low confidence is said where it is low now, not where it was."""
    given = Assessment(before, ("seen", "low-confidence"), values=seen().values)
    found = fused(given, reading(right))
    assert found.reasons == reasons
    assert (found.values, found.ruled, found.statement, found.asserted) == (given.values, False, False, "so")
    statement = fused(Assessment(0.1, ("seen",), values=NONE, statement=True), reading(right))
    assert statement.reasons[-1] == "low-confidence"
    assert statement.statement


@pytest.mark.parametrize(
    ("references", "are"),
    [
        (["Jane Austen"], True),
        (["Austen"], True),
        (["Lake of the Woods"], True),
        (["Lake of stones"], False),
        (["Area 51st"], True),
        (["Area 1989"], True),
        (["1989 Area"], False),
        (["Emu"], False),
        (["emus"], False),
        (["the lake", "Como Lake"], True),
        (["x"] * 49 + ["Jane Austen"], True),
        (["x"] * 50 + ["Jane Austen"], False),
        ([], False),
    ],
)
def test_names(references: list[str], are: bool) -> None:
    """Names are words of more than three letters that all begin with a capital or a digit; fifty are looked at."""
    assert are_names(references) is are


@pytest.mark.parametrize(
    ("references", "is_read"),
    [(("東京",), False), (("東京",) * 50 + ("Tokyo",), False), (("Tokyo",), True), (("東京", "Tokyo"), True)],
)
def test_other_scripts_with_the_trained_parts(references: tuple[str, ...], is_read: bool) -> None:
    """Of references without a letter or figure that the encoders know, what tier 0 says stands."""
    row = ("Which city is the capital of Japan?", references, "a big place by the sea with many people in it")
    own = assess(*row)
    assert not own.ruled
    assert not own.is_right
    assert (assess_many([row]) != [earned(own, load_fusion().earned)]) is is_read


@pytest.mark.parametrize(
    ("probability", "reasons", "expected", "said"),
    [
        (0.5, ("seen",), 0.5, ("seen",)),
        (0.9, ("seen",), 0.9, ("seen",)),
        (0.02, ("negated",), 1 / 8, ("negated",)),
        (1 / 10, ("seen",), 1 / 4, ("seen", "low-confidence")),
        (1 / 10, ("seen", "low-confidence"), 1 / 4, ("seen", "low-confidence")),
        (0.02, ("vacuous",), 0.02, ("vacuous",)),
        (0.02, ("injected-verdict",), 0.02, ("injected-verdict",)),
    ],
)
def test_wrong_is_said_as_surely_as_it_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
    probability: float,
    reasons: tuple[str, ...],
    expected: float,
    said: tuple[str, ...],
) -> None:
    """The log-odds of WRONG are worth a share of themselves, here one half; what a response does is always wrong."""
    monkeypatch.setattr(_tier1, "load_fusion", lambda: replace(FUSION, earned=0.5))
    monkeypatch.setattr(_tier0, "assess", lambda *_: Assessment(probability, reasons, ruled=True))
    (found,) = assess_many([("q", ("r",), "x")])
    assert found.probability == pytest.approx(expected)
    assert found.reasons == said


def test_what_the_trained_encoders_are_asked() -> None:
    """What a rule decides is not read, but for rules that may be overturned; cosines are of phrases that are apart."""
    statement = "The switch opens a gap in the path, so the bulb has no closed path to the battery."
    rows = [
        ("What is the song about?", ("the environment",), "Pollution and destruction of nature"),
        ("Which city is it?", ("Paris",), "A walk through Paris by night."),
        ("Why is the bulb off?", (statement,), "There is a gap in the path."),
        ("Which city is it?", ("Paris",), "It is not Paris."),
        ("How many seats does it have?", ("14",), "It has 15 seats."),
        ("Is it open?", ("yes",), "No, it is not."),
        ("Which city is it?", ("Paris",), "Paris"),
    ]
    found = read_rows(rows, [assess(*row) for row in rows])
    near = len(COSINES)
    assert {at: len(one.cosines) for at, one in found.items()} == {0: near, 1: 0, 2: 0, 4: near, 5: near}
    assert [one.names for one in found.values()] == [False, True, False, False, False]
    assert [one.yes_no for one in found.values()] == [False, False, False, False, True]
    assert all(len(one.said) == len(SAID) for one in found.values())
    values = dict(zip(SAID, found[1].said, strict=True))
    assert (found[1].asserted, values["said_there"], values["said_right"]) == ("Paris", 1.0, 1.0)
    assert values["said_odds"] == pytest.approx(4.595, abs=0.001)  # log(.99 / .01)
    assert values["said_size"] == pytest.approx(1 / 12)
    assert found[4].asserted == "15"
    assert dict(zip(SAID, found[4].said, strict=True))["said_right"] == 0.0


def test_what_is_asserted_is_in_the_trained_judgement() -> None:
    """A judgement has what the reader found, where it was asked; tier 0 and rules that decide have none."""
    row = ("Who won the final?", "Ana Sol", "Karlo came second, behind Ana Sol, who won.")
    assert LocalJudge(tier=1).judge(*row).asserted == "Ana Sol"
    assert LocalJudge(tier=0).judge(*row).asserted is None
    assert LocalJudge(tier=1).judge("Who won the final?", "Ana Sol", "Not Ana Sol.").asserted is None


@pytest.mark.parametrize(
    ("probability", "text", "doubts"),
    [
        (0.1, "one two three four five", True),
        (0.1, "one two three four five six", False),
        (0.5, "one", False),
        (0.55, "one", False),
        (0.9, "one", False),
        (0.4999, "one", True),
    ],
)
def test_doubt_of_tier_0(probability: float, text: str, doubts: bool) -> None:
    """A short answer that is taken for wrong is doubted, by a share of its distance from one half; never turned."""
    found = doubted(probability, MODEL, prepare(("Paris",)), Candidate(text))
    assert found == pytest.approx(probability + 0.25 * (1 - 2 * probability) if doubts else probability)
    assert (found < 0.5) == (probability < 0.5)


@pytest.mark.parametrize(
    ("question", "reference", "text", "reasons", "probability"),
    [
        ("Capital?", "Paris", "Paris", ("contained",), 0.99),
        ("Who?", "Barack Obama", "Obama, Barack", ("same-name",), 0.99),
        ("Is it?", "yes", "Yes, it is.", ("yes-no",), 0.95),
        ("Who?", "I don't know", "I do not know.", ("both-refuse",), 0.95),
        ("Which body is it?", "United Nations", "UN", ("acronym",), 0.95),
        ("Where was he born?", "Lyon", "In France.", ("coarser-place", "low-confidence"), 0.6),
        ("Is it?", "yes", "No, it is not.", ("yes-no",), 0.05),
        ("Capital?", "Paris", "It is not Paris.", ("negated",), 0.02),
        ("Capital?", "Paris", "Solution:", ("vacuous",), 0.02),
    ],
)
def test_how_sure_rules_are(
    question: str, reference: str, text: str, reasons: tuple[str, ...], probability: float
) -> None:
    """A rule that says right has .99, one that may err .95, a coarser place .6; wrong is .02, and .05 if it may err."""
    found = assess(question, (reference,), text)
    assert (found.reasons, found.ruled) == (reasons, True)
    assert found.probability == probability


@pytest.mark.parametrize(
    ("question", "reference", "text", "reason"),
    [
        ("Who?", "Barack Obama", "Michelle Obama", "near-name"),
        ("When did Rome fall?", "476 AD", "476 BC", "other-unit"),
    ],
)
def test_rules_about_words_bound_the_model(
    monkeypatch: pytest.MonkeyPatch, question: str, reference: str, text: str, reason: str
) -> None:
    """However sure the model is, a rule about the words of an answer leaves it .18, before the doubt of short ones."""
    for log_odds, left in ((3.0, 0.18), (-3.0, chance(-3.0))):
        put_in(monkeypatch, sure_of(log_odds))
        found = assess(question, (reference,), text)
        assert (found.reasons, found.ruled, found.statement) == ((reason,), True, False)
        assert found.probability == pytest.approx(left + 0.25 * (1 - 2 * left))
        assert len(found.values) == len(NAMES)


@pytest.mark.parametrize(
    ("log_odds", "words", "said"),
    [
        (3.0, 60, ()),
        (3.0, 61, ("long-answer",)),
        (1.4, 60, ()),
        (1.37, 60, ("low-confidence",)),
        (0.0, 61, ("long-answer", "low-confidence")),
        (-1.37, 60, ("low-confidence",)),
        (-1.4, 60, ()),
    ],
)
def test_what_is_said_of_weak_rows(
    monkeypatch: pytest.MonkeyPatch, log_odds: float, words: int, said: tuple[str, ...]
) -> None:
    """More than 60 words are a long answer, and between .2 and .8, which is ±1.386 in log-odds, confidence is low."""
    put_in(monkeypatch, sure_of(log_odds))
    text = " ".join(["A walk through Paris by night", *["and"] * (words - 6)])
    found = assess("Which city is it?", ("Paris",), text)
    assert (found.reasons[1:], found.ruled) == (said, False)
    assert found.probability == pytest.approx(chance(log_odds))
