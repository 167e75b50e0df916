"""OpenRLHF's own executor of single turns, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has OpenRLHF, without vLLM: a scripted engine takes its place.
"""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("openrlhf")

import torch
from openrlhf.utils.agent import SingleTurnAgentExecutor

from adjudge.integrations import RewardFault
from adjudge.integrations.openrlhf import make_reward_func
from trainers import golden, tiny

ASKED = "<|im_start|>user\nCapital of France?<|im_end|>\n<|im_start|>assistant\n"
REWARD = """
from adjudge.integrations.openrlhf import make_reward_func
from adjudge.model import Score

def own(final_response, answer):
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(float(final_response == answer))

reward_func = make_reward_func(own, max_failed=1.0)
"""


class Engine:
    """What vLLM would generate."""

    def __init__(self, tokenizer: Any, response: str) -> None:
        self.ids = tokenizer.encode(response)

    async def generate(self, ids: list[int], params: Any, *, multi_modal_data: Any) -> Any:
        """Return the response with its end."""
        output = SimpleNamespace(token_ids=[*self.ids, 1], finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def rollout(file: Path, response: str, label: str | None = "Paris") -> Any:
    """Play one rollout through OpenRLHF's executor."""
    tokenizer = tiny.tokenizer()
    executor = SingleTurnAgentExecutor(str(file))
    params = SimpleNamespace(max_tokens=64, logprobs=None)
    return asyncio.run(executor.execute(ASKED, label, params, 4096, tokenizer, Engine(tokenizer, response)))


def test_the_executor_gets_rewards(tmp_path: Path) -> None:
    """A row without a number is 0.0 with its flag; every rollout logs the same names."""
    file = tmp_path / "reward.py"
    file.write_text(REWARD)
    found = [rollout(file, response) for response in ("Paris", "Lyon", "dead", "tie")]
    assert [float(one["reward"]) for one in found] == [1.0, 0.0, 0.0, 0.0]
    assert [float(one["scores"]) for one in found] == [1.0, 0.0, 0.0, 0.0]
    logs = [{name: float(value) for name, value in one["extra_logs"].items()} for one in found]
    assert [one["error"] for one in logs] == [0.0, 0.0, 1.0, 0.0]
    assert [one["unscored"] for one in logs] == [0.0, 0.0, 0.0, 1.0]
    assert len({frozenset(one) for one in logs}) == 1


def test_without_a_label_key_no_row_has_a_number(tmp_path: Path) -> None:
    """OpenRLHF's data set has "" for a label then, which is not an accepted answer: else all would be 0, or 1."""
    file = tmp_path / "reward.py"
    file.write_text(REWARD.replace("own, ", "'qa_em_reward', "))
    assert [float(rollout(file, response, "")["extra_logs"]["error"]) for response in ("Paris", "")] == [1.0, 1.0]


def test_empty_lists_are_answered() -> None:
    """A batch of nothing has no rewards."""
    found = make_reward_func("qa_f1_reward")([], [], [])
    assert found["rewards"].tolist() == found["extra_logs"]["error"].tolist() == []


def test_a_query_without_its_prompt_is_an_error() -> None:
    """Where the prompt was cut off, the response is unknown: an error, and nothing that the model wrote is taken."""
    found = make_reward_func("qa_f1_reward", max_failed=1.0)(["of France?Paris"], ["Capital of France?"], ["Paris"])
    assert (found["rewards"].tolist(), found["extra_logs"]["error"].tolist()) == ([0.0], [1.0])


def test_too_many_faults_raise() -> None:
    """OpenRLHF logs it for each rollout from then on."""
    function = make_reward_func("qa_f1_reward", max_failed=0.5, window=2)
    with pytest.raises(RewardFault, match="2 of the last 2"):
        function(["aParis", "aParis"], ["a", "a"], [None, None])


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number is 0.0."""
    rows = golden.rows(scorer)
    prompts = [f"<|im_start|>user\n{row['prompt']}<|im_end|>\n<|im_start|>assistant\n" for row in rows]
    queries = [f"{prompt}{row['response']}<|im_end|>" for prompt, row in zip(prompts, rows, strict=True)]
    found = make_reward_func(scorer, max_failed=1.0)(queries, prompts, [row["answer"] for row in rows])
    assert found["rewards"].dtype == torch.float32
    golden.check(scorer, [pytest.approx(value, abs=1e-7) for value in found["rewards"].tolist()], absent=0.0)
