"""`rubric`: weighted criteria of a row, one verdict for each, all in one call."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import ArgumentError, UsageError
from adjudge.judges import CriteriaJudge, Criterion, RubricScorer
from adjudge.judges._criteria import read_rubric, weigh
from adjudge.model import ChatRequest, Provenance, Score
from adjudge.prompts import load_prompt
from adjudge.rewards import get_scorer
from adjudge.scenarios import run_scenario
from adjudge.testing import ChatServer
from judges.models import Scripted

RUBRIC = [
    {"criterion": "Names Reye's syndrome", "weight": 5, "name": "reye"},
    "Advises to ask a doctor",
    {"criterion": "Gives a dose", "weight": -3},
]
ROW = {"question": "Is aspirin safe for children?", "response": "No: Reye's syndrome.", "rubric": RUBRIC}


YES, NO = True, False


def says(*met: object) -> str:
    """Return a reply with these verdicts."""
    return json.dumps({"reasoning": "Seen.", **{f"criterion_{n}": one for n, one in enumerate(met, 1)}})


def scorer(*replies: Any, **options: Any) -> RubricScorer:
    """Return a scorer whose model says these replies."""
    return RubricScorer(CriteriaJudge(chat=Scripted(*replies)), **options)


VALUES = [
    ((True, True, False), 1.0),
    ((True, False, False), 5 / 6),
    ((False, True, False), 1 / 6),
    ((True, True, True), 0.5),
    ((False, False, True), 0.0),
    (("true", "False", False), 5 / 6),
]


@pytest.mark.parametrize(("met", "value"), VALUES)
def test_the_weighted_share(met: tuple[object, ...], value: float) -> None:
    """Every criterion is a part, by its name; faults count against the response, and never below 0."""
    score = scorer(says(*met)).score(ROW)
    assert score.value == pytest.approx(value)
    assert list(score.parts) == ["reye", "criterion_2", "criterion_3"]
    assert score.reason == "Seen."


def test_one_call_with_all_criteria() -> None:
    """The model is asked once, by a schema with a verdict for each criterion; what it is shown can be read back."""
    one = scorer(says(YES, YES, NO))
    one.score(ROW)
    model: Any = one.judge.chat
    (request,) = model.requests
    assert request.schema["properties"]["criterion_3"] == {"type": "boolean"}
    assert request.schema["required"] == ["reasoning", "criterion_1", "criterion_2", "criterion_3"]
    shown = load_prompt("evaluation/criteria/v1").read(request.messages[1].text)
    assert shown["criteria"] == (
        "criterion_1: Names Reye's syndrome",
        "criterion_2: Advises to ask a doctor",
        "criterion_3: Gives a dose",
    )


UNREADABLE = [
    says(YES, YES),
    says(YES, YES, 1),
    says(YES, YES, None),
    says(YES, YES, "perhaps"),
    "Yes, all met.",
]


@pytest.mark.parametrize("reply", UNREADABLE)
def test_half_a_set_is_none(reply: str) -> None:
    """A verdict that is missing, or is neither true nor false, leaves the row unscored after a second try."""
    score = scorer(reply, reply).score(ROW)
    assert (score.status, score.value) == ("unscored", None)
    assert score.parts == dict.fromkeys(("reye", "criterion_2", "criterion_3"))


def test_without_schemas() -> None:
    """With a key in place of a schema, the verdicts stand on the line of the key."""

    def reply(request: ChatRequest) -> str:
        key = request.messages[1].text.rpartition("the key ")[2].partition(" ")[0]
        return f"Let me see.\n{key} {says(YES, NO, NO)}"

    one = RubricScorer(CriteriaJudge(chat=Scripted(reply), structured=False))
    assert one.score(ROW).value == pytest.approx(5 / 6)


def test_nothing_said_meets_nothing() -> None:
    """A response that says nothing scores 0 without a call, although it has no fault either."""
    one = scorer(says(YES, YES, NO))
    assert one.score({**ROW, "response": "Sure, here is my answer:"}).value == 0.0
    model: Any = one.judge.chat
    assert model.requests == []


WRONG: list[tuple[object, str]] = [
    (None, "must be a list of criteria"),
    ("Names a doctor", "must be a list of criteria"),
    ([], "must be a list of criteria"),
    ([""], "must have a text"),
    ([{"criterion": "a", "points": 3}], "not 'points'"),
    ([{"criterion": "a", "weight": 0}], "a number other than 0"),
    ([{"criterion": "a", "weight": float("nan")}], "a number other than 0"),
    ([{"criterion": "a", "weight": True}], "a number other than 0"),
    ([{"criterion": "a", "weight": -1}], "a weight above 0"),
    ([{"criterion": "a", "name": "x"}, {"criterion": "b", "name": "x"}], "must differ"),
    ([3], "a text or a mapping"),
    (["a"] * 101, "at most 100"),
]


@pytest.mark.parametrize(("rubric", "message"), WRONG)
def test_wrong_rubrics(rubric: object, message: str) -> None:
    """A rubric that cannot be used is an error of its row, and of the call where it is for all rows."""
    score = scorer(says(YES)).score({**ROW, "rubric": rubric})
    assert score.status == "error"
    assert message in str(score.reason)
    if rubric is not None:
        with pytest.raises(ArgumentError, match=message):
            scorer(says(YES), rubric=rubric)


def test_by_name_in_a_scenario() -> None:
    """A scenario names it with its rubric and a threshold; the criteria are parts of the score."""
    with ChatServer(says(YES, NO)) as server:
        use = {
            "name": "rubric:openai:m",
            "arguments": {"rubric": ["a", "b"], "base_url": server.base_url, "api_key": "k"},
            "threshold": 0.75,
        }
        result = run_scenario({"id": "s", "question": "?", "scorers": [use]}, lambda question: "An answer of weight.")
    assert result["pass"] is False
    found = result["scores"]["rubric:openai:m"]
    assert (found["value"], found["parts"]) == (0.5, {"criterion_1": 1.0, "criterion_2": 0.0})


def test_names() -> None:
    """Only models can check criteria, and a row needs its rubric."""
    with pytest.raises(UsageError, match="cannot check criteria"):
        get_scorer("rubric:local")
    with pytest.raises(UsageError, match="write rubric:openai:MODEL"):
        get_scorer("rubric")
    with pytest.raises(ArgumentError, match="no column 'rubric'"):
        get_scorer("rubric:openai:m").check(["question", "response"])
    get_scorer("rubric:openai:m", rubric=["a"]).check(["question", "response"])
    again = pickle.loads(pickle.dumps(get_scorer("rubric:openai:m", rubric=["a"])))  # noqa: S301 (our own)
    assert (again.name, again.rubric) == ("rubric:openai:m", (Criterion("a", 1.0, "criterion_1"),))


WEIGHTS = st.floats(-100, 100, allow_nan=False).filter(bool)


@given(st.lists(st.tuples(WEIGHTS, st.booleans()), min_size=1, max_size=8))
def test_the_share_is_a_share(pairs: list[tuple[float, bool]]) -> None:
    """The score lies in 0..1, and meeting one more criterion never lowers it, unless that is a fault."""
    try:
        rubric = read_rubric([{"criterion": "c", "weight": weight} for weight, _ in pairs])
    except ArgumentError:
        return

    def value(met: list[bool]) -> float:
        parts = {f"criterion_{n}": float(one) for n, one in enumerate(met)}
        found = weigh(rubric, Score.scored(0.0, parts=parts, provenance=Provenance("r", "1"))).value
        assert found is not None
        assert 0 <= found <= 1
        return found

    met = [one for _, one in pairs]
    before = value(met)
    for index, (weight, _) in enumerate(pairs):
        after = value([*met[:index], True, *met[index + 1 :]])
        assert after >= before - 1e-12 if weight > 0 else after <= before + 1e-12
