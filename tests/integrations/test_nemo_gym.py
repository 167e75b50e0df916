"""A resources server of NeMo Gym, whose classes are stood in for: what it verifies, with a number and without."""

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest

from adjudge.errors import RowError, UsageError
from adjudge.integrations import RewardFault
from adjudge.integrations.nemo_gym import resources_server, row_of_request
from adjudge.model import Score
from adjudge.rewards import reward
from trainers import golden


class Model:
    """What NeMo Gym has of pydantic's models."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        """Return all fields."""
        return dict(self.fields)


class JudgeError(Exception):
    """What makes a failure of a rollout."""


@pytest.fixture(autouse=True)
def nemo_gym(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the two modules, by the names of NeMo Gym at 07d6b0d0."""
    server = ModuleType("nemo_gym.base_resources_server")
    for name in ("BaseResourcesServerConfig", "BaseVerifyRequest", "BaseVerifyResponse"):
        setattr(server, name, type(name, (Model,), {}))
    vars(server)["SimpleResourcesServer"] = type("SimpleResourcesServer", (), {})
    judge = ModuleType("nemo_gym.judge")
    vars(judge)["JudgeError"] = JudgeError
    for module in (ModuleType("nemo_gym"), server, judge):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def body(text: str | None, question: str = "Capital?", **fields: Any) -> Model:
    """Return what an agent of NeMo Gym asks to verify."""
    output = [] if text is None else [{"type": "message", "role": "assistant", "content": text}]
    return Model(responses_create_params={"input": question}, response={"output": output}, **fields)


def verify(server: Any, asked: Model) -> dict[str, Any]:
    """Ask a server once."""
    found: dict[str, Any] = asyncio.run(server().verify(asked)).fields
    return found


def test_a_rollout_comes_back_with_its_reward() -> None:
    """All fields of the request are in the answer, with the reward and the parts as numbers beside them."""
    asked = body("It is Paris", expected_answer="Paris", uuid="u", em="mine")
    found = verify(resources_server("qa_f1_reward"), asked)
    assert found == {**asked.fields, "reward": 0.5, "f1": 0.5, "precision": pytest.approx(1 / 3), "recall": 1.0}


def test_the_expected_answer_is_the_answer() -> None:
    """A worked solution in another field of the row is not what is compared with."""
    fields = {"expected_answer": "72", "answer": "48 / 2 = 24, and 24 + 48 = 72. #### 72", "reference": "24"}
    for scorer in ("math_equal_reward", "local:0"):
        assert verify(resources_server(scorer), body("It is 72.", "How many?", **fields))["reward"] == 1.0
    assert verify(resources_server("qa_em_reward"), body("72", expected_answer=None, answer="72"))["reward"] == 1.0


def own(final_response: str) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(1.0)


def test_a_row_without_a_number_is_a_failed_judge() -> None:
    """NeMo Gym makes its failure class of this error; a 0 is only sent where it was asked for."""
    server = resources_server(own)
    for text, says in (("dead", "error: env-died: gone"), ("tie", "unscored: tie")):
        with pytest.raises(JudgeError, match=says):
            verify(server, body(text))
    assert verify(resources_server(own, on_fault="zero"), body("dead"))["reward"] == 0.0
    with pytest.raises(RewardFault, match="env-died"):
        verify(resources_server(own, on_fault="raise"), body("dead"))


def test_too_many_faults_fail_the_collection() -> None:
    """Then verifying fails with another error, which NeMo Gym does not set aside."""
    with pytest.raises(RewardFault, match="1 of the last 1"):
        verify(resources_server(own, window=1), body("dead"))


def test_a_scorer_of_groups_is_refused() -> None:
    """NeMo Gym asks for one rollout at a time."""

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [1.0 for _ in final_response]

    with pytest.raises(UsageError, match="asks for one"):
        resources_server(rank)


@pytest.mark.parametrize("broken", [{}, {"responses_create_params": {}, "response": "Paris"}])
def test_what_is_not_a_request_is_an_error(broken: dict[str, Any]) -> None:
    """Without what was asked and what was answered there is no row."""
    with pytest.raises(RowError, match="must be objects"):
        row_of_request(broken)


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number is a failure."""
    server, values = resources_server(scorer, max_failed=1.0), list[float | None]()
    for row in golden.rows(scorer):
        try:
            values.append(verify(server, body(row["response"], row["prompt"], answer=row["answer"]))["reward"])
        except JudgeError:
            values.append(None)
    golden.check(scorer, values)
