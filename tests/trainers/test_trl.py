"""A real training of TRL, of three steps, with rewards that have a number, and some that have none.

`make integration` runs it in an environment that has TRL.
"""

import math
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

trl = pytest.importorskip("trl")

from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer  # noqa: E402

from adjudge.errors import AdjudgeError, UsageError  # noqa: E402
from adjudge.integrations._policy import RewardFault  # noqa: E402
from adjudge.integrations.trl import environment_factory, reward_function, trial_reward  # noqa: E402
from adjudge.model import Score  # noqa: E402
from adjudge.rewards import get_scorer, reward, weighted  # noqa: E402
from datasets import Dataset  # noqa: E402
from trainers import golden, tiny  # noqa: E402

QUESTION = "What is the capital of France ?"
CHAT = [{"role": "user", "content": QUESTION}]
SETTINGS: dict[str, Any] = {
    "per_device_train_batch_size": 4,
    "num_generations": 4,
    "max_completion_length": 6,
    "max_steps": 3,
    "logging_steps": 1,
    "report_to": [],
    "use_cpu": True,
    "bf16": False,
    "save_strategy": "no",
    "learning_rate": 1e-3,
}


class Turns:
    """A reward whose rollouts are scored, unscored and errors in turn."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, final_response: str) -> Score:
        """Score by turns: 1, unscored, error, 0."""
        self.asked += 1
        return [Score.scored(0.0), Score.scored(1.0), Score.unscored("tie"), Score.error("env-died: gone")][
            self.asked % 4
        ]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a tiny model."""
    return tiny.model(tmp_path_factory.mktemp("model"))


def train(model: str, folder: Path, rewards: Any, *, prompt: Any = CHAT, kind: Any = None, **more: Any) -> Any:
    """Train three steps and return the trainer."""
    trainer_class, config_class = kind or (GRPOTrainer, GRPOConfig)
    callbacks = more.pop("callbacks", [])
    environments = more.pop("environment_factory", None)
    tokenizer = more.pop("tokenizer", None) or tiny.tokenizer()
    given = {} if environments is None else {"environment_factory": environments}
    rows = [{"prompt": prompt, "answer": "Paris", "task_id": 0, "final_response": "a column"}] * 8
    trainer = trainer_class(
        model=model,
        processing_class=tokenizer,
        reward_funcs=rewards,
        args=config_class(output_dir=str(folder), **{k: v for k, v in {**SETTINGS, **more}.items() if v is not None}),
        train_dataset=Dataset.from_list(rows),
        callbacks=callbacks,
        **given,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.train()
    return trainer


def logged(trainer: Any, name: str) -> list[float]:
    """Return what was logged under a name."""
    return [entry[name] for entry in trainer.state.log_history if name in entry]


@pytest.mark.parametrize("kind", [(GRPOTrainer, GRPOConfig), (RLOOTrainer, RLOOConfig)])
@pytest.mark.parametrize("prompt", [CHAT, QUESTION])
def test_rows_without_a_number_move_nothing(model: str, tmp_path: Path, kind: Any, prompt: Any) -> None:
    """In every group of four one is 0, one 1, and two have no number: TRL's mean is that of the two that have one."""
    good = reward_function(Turns(), name="good", max_failed=1.0)
    trainer = train(model, tmp_path, good, prompt=prompt, kind=kind)
    assert logged(trainer, "rewards/good/mean") == [0.5] * 3
    assert logged(trainer, "good/scored") == [0.5] * 3
    assert logged(trainer, "good/unscored") == logged(trainer, "good/error") == [0.25] * 3


def test_advantages_of_masked_rows_are_zero(model: str, tmp_path: Path) -> None:
    """A row without a number has no advantage, and its siblings' are those of a group without it."""
    seen: list[Any] = []

    class Watched(GRPOTrainer):  # type: ignore[misc]
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            output = super()._generate_and_score_completions(inputs)
            seen.append(output["advantages"].tolist())
            return output

    train(model, tmp_path, reward_function(Turns(), max_failed=1.0), kind=(Watched, GRPOConfig), scale_rewards="none")
    assert [sorted(advantages) for advantages in seen[:3]] == [[-0.5, 0.0, 0.0, 0.5]] * 3


def test_scores_are_those_of_score_many(model: str, tmp_path: Path) -> None:
    """The adapter's numbers, parts and logged means are those of the scorer for the same rows."""
    asked: list[dict[str, Any]] = []

    @reward(parts=("words",))
    def own(final_response: str, answer: str, prompt: str, trajectory: Any) -> dict[str, float]:
        asked.append({"final_response": final_response, "answer": answer, "prompt": prompt, "trajectory": trajectory})
        words = final_response.split()
        return {"reward": words.count("Paris") / 10, "words": len(words)}

    trainer = train(model, tmp_path, reward_function(own))
    assert {row["answer"] for row in asked} == {"Paris"}
    assert {row["prompt"] for row in asked} == {QUESTION}
    assert all(row["trajectory"][-1]["role"] == "assistant" for row in asked)
    batch = get_scorer(own).score_many(asked[:4])
    mean = sum(score.value or 0.0 for score in batch) / 4
    assert logged(trainer, "rewards/own/mean")[0] == pytest.approx(mean, abs=1e-6)
    assert logged(trainer, "own/words")[0] == pytest.approx(sum(score.parts["words"] or 0 for score in batch) / 4)


def test_an_async_scorer_is_awaited(model: str, tmp_path: Path) -> None:
    """A scorer that waits is async for TRL as well."""

    async def slow(final_response: str) -> float:
        return 0.25

    trainer = train(model, tmp_path, reward_function(slow))
    assert logged(trainer, "rewards/slow/mean") == [0.25] * 3


def test_too_many_faults_stop_the_training_in_order(model: str, tmp_path: Path) -> None:
    """With the callback the training stops after the step; without it, and alone, it ends with the reason."""
    bad = reward_function(Turns(), name="bad", max_failed=0.1, window=16)
    trainer = train(model, tmp_path, bad, callbacks=[bad.callback], max_steps=50)
    assert trainer.state.global_step == 1
    alone = reward_function(Turns(), name="bad", max_failed=0.1, window=16)
    assert alone.callback is not None  # made, and given to no trainer
    with pytest.raises(RewardFault, match="bad: 2 of the last 16"):
        train(model, tmp_path, alone)


RANKS = """
import os, sys
from trainers.test_trl import train
from adjudge.integrations.trl import reward_function

def own(final_response):
    if os.environ["RANK"] == "1":
        raise ValueError("broken here")
    return len(final_response) / 100

good = reward_function(own, name="good")
trainer = train(sys.argv[1], sys.argv[2], good, callbacks=[good.callback], max_steps=50)
print(f"rank {os.environ['RANK']} ended at {trainer.state.global_step}")
"""


def test_faults_of_one_rank_stop_both(model: str, tmp_path: Path) -> None:
    """No rank waits for one that has stopped: 16 faults of one of them are four steps of both."""
    (tmp_path / "ranks.py").write_text(RANKS)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*launch, str(tmp_path / "ranks.py"), model, str(tmp_path / "out")],
        env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(line for line in done.stdout.splitlines() if line.startswith("rank ")) == [
        "rank 0 ended at 4",
        "rank 1 ended at 4",
    ]


def test_a_short_training_of_faults_alone_does_not_end_as_usual(model: str, tmp_path: Path) -> None:
    """Where no rollout has had a number it stops after four steps of four, whatever share is allowed, and says why."""

    def never(final_response: str, solution: str) -> float:
        return 1.0

    bad = reward_function(never, max_failed=0.5)
    trainer = train(model, tmp_path, bad, callbacks=[bad.callback], max_steps=6)
    assert trainer.state.global_step == 4
    assert "none of the first 16 rollouts has a number" in str(bad.policy.excess)
    assert "no column 'solution'" in str(bad.policy.excess)


def test_raise_ends_the_training(model: str, tmp_path: Path) -> None:
    """With `on_fault="raise"` the first row without a number is the end, with its reason."""
    with pytest.raises(RewardFault, match=r"unscored: tie|error: env-died"):
        train(model, tmp_path, reward_function(Turns(), on_fault="raise"))


def test_groups_are_given_or_refused(model: str, tmp_path: Path) -> None:
    """A scorer that looks at all rollouts of a prompt gets them; without their number it is refused."""
    sizes: list[int] = []

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        sizes.append(len(final_response))
        return [index / len(final_response) for index in range(len(final_response))]

    train(model, tmp_path, reward_function(rank, group_size=4))
    assert sizes == [4, 4, 4]
    with pytest.raises(UsageError, match="group_size"):
        train(model, tmp_path, reward_function(rank))


class ScriptedShopper(GRPOTrainer):  # type: ignore[misc]
    """A model that searches, and then buys nothing; every second rollout searches nothing either."""

    def _generate_single_turn(self, prompt_ids: list[Any], *_: Any, **more: Any) -> Any:
        call = '<tool_call>\n{"name": "search", "arguments": {"query": "red kettle"}}\n</tool_call>'
        texts = []
        for index, ids in enumerate(prompt_ids):
            has_searched = "<tool_response>" in self.processing_class.decode(ids)
            texts.append("nothing fits" if has_searched or index % 2 else call)
        return [self.processing_class.encode(f"{text}<|im_end|>") for text in texts], None


def test_our_worlds_are_environments(model: str, tmp_path: Path) -> None:
    """The shop as an environment: an episode for each rollout, the tools act in it, the reward is its own."""
    from trl.chat_template_utils import qwen3_chat_template

    factory = environment_factory("webshop", size=4)
    seen: list[Any] = []

    def watch(completions: Any, environments: Any, **_: Any) -> list[None]:
        seen.append((completions, environments))
        return [None] * len(completions)

    tokenizer = tiny.tokenizer(qwen3_chat_template)
    more = {"environment_factory": factory, "max_completion_length": 2048, "tokenizer": tokenizer}
    trainer = train(model, tmp_path, watch, kind=(ScriptedShopper, GRPOConfig), callbacks=[factory.callback], **more)
    assert logged(trainer, "rewards/ShopEpisode/mean") == [0.0] * 3
    assert logged(trainer, "tools/failure_frequency") == [0.0] * 3
    completions, environments = seen[0]
    assert ["tool" in [message["role"] for message in messages] for messages in completions] == [True, False] * 2
    assert len({environment.context.rollout_id for environment in environments}) == 4


def test_a_dead_environment_has_no_number() -> None:
    """An environment that dies is None for TRL, whatever the agent did; too many end the training."""
    factory = environment_factory(tiny.MortalSpec(), task="length", size=1, max_failed=0.5, window=4)
    world: Any = factory()
    world.reset(length=3)
    world.act(action="east")
    assert world.get_reward() == 1 / 3
    world.reset(length=3)
    with pytest.raises(AdjudgeError, match="fell into a pit"):
        world.act(action="jump")
    assert [world.get_reward() for _ in range(2)] == [None, None]
    with pytest.raises(RewardFault, match="3 of the last 4"):
        world.get_reward()


def test_a_world_that_cannot_be_started_is_a_fault_of_its_rollout(model: str, tmp_path: Path) -> None:
    """The training goes on: such a rollout has no number, and the others theirs."""
    from trl.chat_template_utils import qwen3_chat_template

    factory = environment_factory(tiny.MortalSpec(), task="answer", size=4, max_failed=1.0)  # a text is no length
    more = {"environment_factory": factory, "tokenizer": tiny.tokenizer(qwen3_chat_template)}
    trainer = train(model, tmp_path, None, callbacks=[factory.callback], **more)
    assert trainer.state.global_step == 3
    assert factory.settle({}, None, "env-died: gone") is None
    assert logged(trainer, "rewards/TextEpisode/mean") == [None] * 3


class Trial:
    """A trial as `trl.experimental.harbor` has it: its reward is read afterwards, and raises without a reward file."""

    count = 0

    def reset(self, **columns: Any) -> str:
        """Begin the next one."""
        Trial.count += 1
        self.number = Trial.count
        return "Do it."

    def bash(self, command: str) -> str:
        """Run a command.

        Args:
            command: What to run.
        """
        return command

    @property
    def reward(self) -> float:
        """Return what the verifier said."""
        if self.number % 2:
            raise FileNotFoundError("no reward file found")
        return self.number / 8


def test_a_trial_without_a_reward_file_is_left_out(model: str, tmp_path: Path) -> None:
    """Of four trials two have a number, whose mean it is; the others are errors and end nothing."""
    from trl.chat_template_utils import qwen3_chat_template

    good = trial_reward(max_failed=1.0)
    Trial.count = 0
    more = {"environment_factory": Trial, "max_steps": 1, "tokenizer": tiny.tokenizer(qwen3_chat_template)}
    trainer = train(model, tmp_path, good, callbacks=[good.callback], **more)
    assert logged(trainer, "trial/error") == [0.5]
    assert logged(trainer, "rewards/trial/mean") == [(2 / 8 + 4 / 8) / 2]
    with pytest.raises(UsageError, match="environment_factory="):
        trial_reward()(prompts=["?"], completions=["x"])


def test_a_dead_world_beside_a_reward_function_is_refused(model: str, tmp_path: Path) -> None:
    """TRL would add the function's number to nothing; with `own_reward=False` both are one function's."""
    from trl.chat_template_utils import qwen3_chat_template

    good = weighted({"webshop_reward": 0.8, "contains_reward": 0.2})
    more = {"tokenizer": tiny.tokenizer(qwen3_chat_template), "max_completion_length": 16}
    shop = environment_factory("webshop", size=4)
    with pytest.raises(UsageError, match="own_reward=False"):
        train(model, tmp_path, reward_function(good), environment_factory=shop, **more)
    bare = environment_factory("webshop", size=4, own_reward=False)
    trainer = train(model, tmp_path, reward_function(good, name="good"), environment_factory=bare, **more)
    assert logged(trainer, "good/scored") == [1.0] * 3


def test_a_column_called_self_is_a_column() -> None:
    """TRL passes columns by name."""
    row = {"prompts": ["?"], "completions": ["Paris"], "answer": ["Paris"], "self": ["x"]}
    assert reward_function("qa_f1_reward")(**row) == [1.0]


def test_it_travels_to_a_spawned_child() -> None:
    """AsyncGRPO pickles its reward functions."""
    good = reward_function(weighted({"qa_f1_reward": 0.8, "contains_reward": 0.2}), name="good")
    copy = pickle.loads(pickle.dumps(good))  # noqa: S301 (our own)
    assert copy.__name__ == "good"
    assert copy(prompts=["?"], completions=["Paris"], answer=["Paris"]) == [1.0]


def test_online_dpo_trains_with_pairs(model: str, tmp_path: Path) -> None:
    """Three real steps of Online DPO with a fault in every second pair."""
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer

    more = {"num_generations": None, "max_completion_length": None, "max_new_tokens": 6}
    good = reward_function(Turns(), pairs=True, max_failed=1.0)
    trainer = train(model, tmp_path, good, kind=(OnlineDPOTrainer, OnlineDPOConfig), **more)
    assert trainer.state.global_step == 3


def test_online_dpo_gets_a_coin_flip() -> None:
    """Online DPO cannot leave a row out: one without a number has that of the other one of its prompt."""
    state = {"trainer_state": object()}
    with pytest.raises(UsageError, match="pairs=True"):
        reward_function(Turns())(prompts=["a"] * 2, completions=["b"] * 2, **state)
    paired = reward_function(Turns(), pairs=True, max_failed=1.0)
    values = paired(prompts=["a", "b", "a", "b"], completions=["x"] * 4, **state)
    assert values == [1.0, 0.0, 1.0, 0.0]
    assert not any(value is None or math.isnan(value) for value in values)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str, chat: bool) -> None:
    """Rows have the numbers that they have everywhere, as chat and as text; one without a number is None."""
    rows = golden.rows(scorer)
    good = reward_function(scorer, max_failed=1.0)
    prompts = [[{"role": "user", "content": row["prompt"]}] if chat else row["prompt"] for row in rows]
    completions = [[{"role": "assistant", "content": row["response"]}] if chat else row["response"] for row in rows]
    golden.check(scorer, good(prompts=prompts, completions=completions, answer=[row["answer"] for row in rows]))
