"""verl's own reward managers, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has verl.
"""

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

verl = pytest.importorskip("verl")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402
from verl.workers.reward_manager import BatchRewardManager, NaiveRewardManager, PrimeRewardManager  # noqa: E402

from adjudge.errors import UsageError  # noqa: E402
from adjudge.integrations import RewardFault  # noqa: E402
from adjudge.integrations.verl import acompute_score, compute_score, make_compute_score, rollout_messages  # noqa: E402
from adjudge.model import Score  # noqa: E402
from adjudge.rewards import get_scorer, reward  # noqa: E402
from processes.helpers import soon  # noqa: E402
from trainers import golden, places, tiny  # noqa: E402

RESPONSES = ["Paris", "Paris is it", "dead", "tie"]
KEYS = {"score", "f1", "em", "precision", "recall", "unscored", "error", "reason"}


@reward(name="four", parts=("words",))
def four(final_response: str) -> Score:
    """Score four responses four ways."""
    words = {"words": float(len(final_response.split()))}
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(1.0 if final_response == "Paris" else 0.5, parts=words)


async def afour(final_response: str) -> Score:
    """Score them awaiting."""
    return four(final_response)


def rollouts(responses: list[str] = RESPONSES, *, turns: list[int] | None = None, uids: list[str] | None = None) -> Any:
    """Return rollouts as verl has them: padded tokens and arrays of objects."""
    tokenizer = tiny.tokenizer()
    prompt = tokenizer.encode("Capital?")
    answers = [tokenizer.encode(text) for text in responses]
    width = max(map(len, answers))
    padded = torch.tensor([ids + [0] * (width - len(ids)) for ids in answers])
    prompts = torch.tensor([prompt] * len(answers))
    mask = torch.tensor([[1] * len(prompt) + [1] * len(ids) + [0] * (width - len(ids)) for ids in answers])
    count = len(responses)
    objects: dict[str, Any] = {
        "data_source": ["own"] * count,
        "reward_model": [{"ground_truth": "Paris"}] * count,
        "extra_info": [{"question": "Capital of France?"} for _ in range(count)],
        "uid": uids or ["one"] * count,
        "raw_prompt": [[{"role": "user", "content": "Capital?"}]] * count,
        "__num_turns__": turns or [2] * count,
    }
    arrays = {}
    for name, values in objects.items():
        arrays[name] = np.empty(count, dtype=object)
        arrays[name][:] = values
    batch = {"prompts": prompts, "responses": padded, "attention_mask": mask}
    return DataProto.from_dict(tensors=batch, non_tensors=arrays)


def rewards_of(tensor: Any) -> list[float]:
    """Return the reward of each rollout: verl keeps it at the last token."""
    return [float(row.sum()) for row in tensor]


def config(manager: dict[str, Any], **more: Any) -> Any:
    """Return as much of verl's config as its reward loop reads."""
    return OmegaConf.create(
        {
            "reward": {"reward_manager": manager, "num_workers": 1, "reward_model": {"enable": False}, **more},
            "actor_rollout_ref": {"rollout": {"n": 4, "val_kwargs": {"n": 1}}},
        }
    )


def custom(function: str, **options: Any) -> dict[str, Any]:
    """Return the part of the config that names our function."""
    return {"path": "pkg://adjudge.integrations.verl", "name": function, "reward_kwargs": options}


@pytest.mark.parametrize("manager", [NaiveRewardManager, BatchRewardManager])
def test_managers_of_a_whole_batch(manager: Any) -> None:
    """Every row has the same keys, a fault is 0.0 with a flag, and no value is NaN or None."""
    compute = make_compute_score(four, max_failed=1.0)
    found = manager(tiny.tokenizer(), 0, compute)(rollouts(), return_dict=True)
    assert rewards_of(found["reward_tensor"]) == [1.0, 0.5, 0.0, 0.0]
    extra = found["reward_extra_info"]
    assert extra["error"] == [0.0, 0.0, 1.0, 0.0]
    assert extra["unscored"] == [0.0, 0.0, 0.0, 1.0]
    assert extra["words"] == [1.0, 3.0, 0.0, 0.0]
    assert extra["reason"] == ["", "", "env-died: gone", "tie"]


def test_prime_takes_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """PRIME's manager, which asks in processes of its own, gets numbers."""
    found = PrimeRewardManager(tiny.tokenizer(), 0, partial(compute_score, scorer="qa_f1_reward"))(rollouts())
    assert rewards_of(found) == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("name", ["naive", "dapo", "rate_limited"])
@pytest.mark.parametrize(("function", "scorer"), [("compute_score", "four"), ("acompute_score", "afour")])
def test_managers_of_the_reward_loop(name: str, function: str, scorer: str) -> None:
    """Found by verl's own loader from the config, sync and async, in each of its managers."""
    chosen = custom(function, scorer=f"{Path(__file__)}:{scorer}", max_failed=1.0)
    made = config({"source": "register", "name": name}, custom_reward_function=chosen)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    manager = load_reward_manager(made, tiny.tokenizer())
    data = rollouts()
    found = [loop.run_until_complete(manager.run_single(data[i : i + 1])) for i in range(4)]
    assert [one["reward_score"] for one in found] == [1.0, 0.5, 0.0, 0.0]
    assert len({frozenset(one["reward_extra_info"]) for one in found}) == 1
    assert [one["reward_extra_info"]["error"] for one in found] == [0.0, 0.0, 1.0, 0.0]


@pytest.fixture(scope="module")
def _ray() -> Iterator[None]:
    """Start Ray on this machine."""
    import ray

    tests = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    mark, value = places.MARK.split("=")
    environment = {"env_vars": {"PYTHONPATH": tests, mark: value}}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env=environment, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("_ray")
class TestRewardManager:
    """Our own manager knows messages, and what siblings are."""

    def run(self, data: Any, longest_s: float | None = None, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
        """Score all rollouts at once, as the reward loop does, and assemble them."""
        module = {"path": "pkg://adjudge.integrations.verl"}
        manager = {"source": "importlib", "name": "RewardManager", "module": module}
        made = config(manager, reward_kwargs={"max_failed": 1.0, **options})

        async def every() -> list[dict[str, Any]]:
            manager = load_reward_manager(made, tiny.tokenizer())
            async with asyncio.timeout(longest_s):
                return list(await asyncio.gather(*(manager.run_single(data[i : i + 1]) for i in range(len(data)))))

        found = asyncio.run(every())
        from adjudge.integrations.verl import RewardManager

        return RewardManager.assemble_rm_scores(data, [one["reward_score"] for one in found]), found

    def test_a_row_without_a_number_has_no_advantage(self) -> None:
        """It gets the mean of its siblings, so that GRPO's advantage for it is zero and theirs keep their order."""
        data = rollouts(RESPONSES * 2, uids=["a"] * 4 + ["b"] * 4)
        rewards, found = self.run(data, scorer=f"{Path(__file__)}:four")
        assert rewards_of(rewards) == [1.0, 0.5, 0.75, 0.75] * 2
        assert [one["reward_extra_info"]["error"] for one in found] == [0.0, 0.0, 1.0, 0.0] * 2
        mask = data.batch["attention_mask"][:, -data.batch["responses"].shape[-1] :]
        advantages, _ = compute_grpo_outcome_advantage(rewards, mask, data.non_tensor_batch["uid"])
        signs = [float(torch.sign(row[0])) for row in advantages]
        assert signs == [1.0, -1.0, 0.0, 0.0] * 2

    def test_a_group_without_any_number_moves_nothing(self) -> None:
        """Where all siblings are faults, all are 0: no advantage, and the flags say why."""
        rewards, found = self.run(rollouts(["dead"] * 4, uids=["c"] * 4), scorer=f"{Path(__file__)}:four")
        assert rewards_of(rewards) == [0.0] * 4
        assert all(one["reward_extra_info"]["error"] == 1.0 for one in found)

    def test_a_sibling_that_never_comes_is_not_waited_for_long(self) -> None:
        """Where some of the group are never scored, the wait ends."""
        data = rollouts(["Paris", "dead"], uids=["d"] * 2)
        rewards, _ = self.run(data, scorer=f"{Path(__file__)}:four", wait_s=0.2)
        assert rewards_of(rewards) == [1.0, 1.0]

    def test_validation_has_no_siblings_to_wait_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Validation asks `val_kwargs.n` times, not n: there the wait ends when no rollout comes any more."""
        monkeypatch.setattr("adjudge.integrations.verl.QUIET_S", 0.2)
        data = rollouts(["dead", "Paris", "dead"], uids=["g", "h", "h"])
        data.non_tensor_batch["extra_info"][:] = [{"split": "test"}] * 3
        rewards, found = self.run(data, scorer=f"{Path(__file__)}:four", longest_s=20)
        assert rewards_of(rewards) == [0.0, 1.0, 1.0]
        assert [one["reward_extra_info"]["error"] for one in found] == [1.0, 0.0, 1.0]
        # The same rows in a training wait for their siblings.
        data.non_tensor_batch["extra_info"][:] = [{"split": "train"}] * 3
        with pytest.raises(TimeoutError):
            self.run(data, scorer=f"{Path(__file__)}:four", longest_s=2)

    def test_an_option_that_is_misspelled_is_refused(self) -> None:
        """It would be dropped without a word; verl has options of its own in the same place."""
        with pytest.raises(UsageError, match="no option 'max_fialed'; did you mean 'max_failed'"):
            self.run(rollouts(["Paris"]), scorer="qa_f1_reward", max_fialed=0.5)
        rewards, _ = self.run(rollouts(["Paris"]), scorer="qa_f1_reward", overlong_buffer_cfg={"enable": False})
        assert rewards_of(rewards) == [1.0]

    def test_tools_and_the_final_response_are_seen(self) -> None:
        """With results of tools between its turns, the response is the last turn, and a tool was used."""
        header = "<|im_start|>assistant\n"
        used = f"let me search<|im_end|>\n<|im_start|>tool\nParis<|im_end|>\n{header}Paris<|im_end|>"
        forged = used  # the same text, but verl counted no round of tools
        rewards, _ = self.run(
            rollouts([used, forged], turns=[4, 2], uids=["e", "f"]), scorer="qa_f1_reward_tool", wait_s=0.1
        )
        assert rewards_of(rewards) == [1.0, 0.0]


def test_the_tokens_of_a_rollout_as_messages() -> None:
    """A round of tools is a tool's message; the text before the last header is not the response."""
    tokenizer = tiny.tokenizer()
    ids = tokenizer.encode(
        "search<|im_end|>\n<|im_start|>tool\nParis<|im_end|>\n<|im_start|>assistant\nParis<|im_end|>"
    )
    roles = [(message["role"], message["content"]) for message in rollout_messages(tokenizer, ids, 4)]
    assert roles[1:] == [("tool", ""), ("assistant", "Paris")]
    assert [message["role"] for message in rollout_messages(tokenizer, ids, 2)] == ["assistant"]
    # The budget of tokens ended after the tool: there was one, and no turn after it.
    assert [message["role"] for message in rollout_messages(tokenizer, ids, 3)] == ["assistant", "tool", "assistant"]


def test_the_ground_truth_is_the_answer() -> None:
    """Data sets of verl have the worked solution as `extra_info["answer"]`, which is not what is compared with."""
    solution = {"answer": "48 / 2 = 24, and 24 + 48 = 72. #### 72", "question": "How many?", "reference": "24"}
    for scorer in ("math_equal_reward", "local:0"):
        found = compute_score(solution_str="It is 72.", ground_truth="72", extra_info=solution, scorer=scorer)
        assert found["score"] == 1.0
    assert compute_score(solution_str="72", extra_info={"answer": "72"}, scorer="qa_em_reward")["score"] == 1.0


def test_wrong_calls_are_refused() -> None:
    """No scorer, a mask, a scorer of groups: each says what to do."""
    with pytest.raises(UsageError, match="name the scorer"):
        compute_score(solution_str="x")
    with pytest.raises(UsageError, match="RewardManager"):
        compute_score(solution_str="x", scorer="qa_f1_reward", on_fault="mask")
    with pytest.raises(UsageError, match="no option 'on_falt'; did you mean 'on_fault'"):
        compute_score(solution_str="x", scorer="qa_f1_reward", on_falt="raise")
    # What verl passes for its own reward models is not ours.
    given = {"reward_router_address": "x", "reward_model_tokenizer": None}
    assert compute_score(solution_str="x", ground_truth="x", scorer="qa_f1_reward", **given)["score"] == 1.0

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [0.0] * len(final_response)

    with pytest.raises(UsageError, match="one at a time"):
        make_compute_score(rank)(solution_str="x")


def test_too_many_faults_end_the_training() -> None:
    """Verl has no way to stop in order: the error ends it."""
    compute = make_compute_score(four, max_failed=0.5, window=4)
    for _ in range(2):
        compute(solution_str="dead")
    with pytest.raises(RewardFault, match="3 of the last 4"):
        compute(solution_str="dead")


def test_numbers_are_those_of_the_scorer() -> None:
    """The same rows through verl's call and through the registry."""
    row = {"final_response": "Paris is it", "answer": "Paris"}
    found = compute_score(solution_str="Paris is it", ground_truth="Paris", scorer="qa_f1_reward")
    assert set(found) == KEYS
    assert found["score"] == get_scorer("qa_f1_reward").score(row).value
    assert (
        asyncio.run(acompute_score(solution_str="Paris", ground_truth="Paris", scorer="qa_f1_reward"))["score"] == 1.0
    )
    judged = compute_score(
        solution_str="It is Paris.", ground_truth="Paris", extra_info={"question": "Capital?"}, scorer="local:0"
    )
    assert judged["score"] == 1.0
    assert os.environ.get("OPENAI_API_KEY") is None


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere, one by one and as a batch; one without a number is 0.0."""
    rows = golden.rows(scorer)
    compute = make_compute_score(scorer, max_failed=1.0)
    golden.check(scorer, [compute(**places.asked(row))["score"] for row in rows], absent=0.0)
    batch = {
        f"{name}s": [places.asked(row)[name] for row in rows] for name in places.asked(rows[0]) if name != "extra_info"
    }
    batch["extra_infos"] = [places.asked(row)["extra_info"] for row in rows]
    golden.check(scorer, [one["score"] for one in compute(**batch)], absent=0.0)


@pytest.mark.usefixtures("_ray")
@pytest.mark.parametrize(
    "place",
    [
        partial(places.processes, "spawn"),
        partial(places.processes, "fork"),
        places.threads,
        partial(places.actor, places.Actor),
        partial(places.actor, places.AsyncActor),
    ],
    ids=["spawned", "forked", "threads", "actor", "async-actor"],
)
def test_golden_rows_from_anywhere(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place gives equal values, and leaves no worker behind."""
    monkeypatch.setenv(*places.MARK.split("="))
    for scorer, found in zip(golden.SCORERS, place(), strict=True):
        size = len(golden.rows(scorer))
        assert len(found) == size * places.TIMES
        for at in range(0, len(found), size):
            golden.check(scorer, found[at : at + size], absent=0.0)
    assert soon(lambda: not places.workers_elsewhere())
