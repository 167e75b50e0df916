"""The samples of slime, as its source has them, with rows that have a number, and some that have none."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.integrations import RewardFault
from adjudge.integrations.slime import make_custom_rm
from adjudge.model import Score
from adjudge.rewards import reward
from trainers import golden

ALONE = SimpleNamespace(group_rm=False)
GROUP = SimpleNamespace(group_rm=True)


def own(final_response: str, answer: str, level: str) -> Score:
    """Score four responses four ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(1.0 if (final_response, level) == (answer, "easy") else 0.5)


def sample(response: str, label: Any = "Paris", prompt: str = "Capital?", **metadata: Any) -> Any:
    """Return what the rewards read of a sample."""
    return SimpleNamespace(
        prompt=prompt, response=response, label=label, metadata=metadata, group_index=3, remove_sample=False
    )


def test_a_row_without_a_number_is_removed_alone() -> None:
    """Its siblings are unknown: 0.0, and out of the loss; its metadata say why."""
    rm = make_custom_rm(own, max_failed=1.0)
    good, dead = sample("Paris", level="easy"), sample("dead", level="easy")
    assert [asyncio.run(rm(ALONE, one)) for one in (good, dead)] == [1.0, 0.0]
    assert (good.remove_sample, dead.remove_sample) == (False, True)
    assert dead.metadata == {"level": "easy", "adjudge": {"status": "error", "reason": "env-died: gone"}}


def test_in_a_group_it_has_the_mean_of_the_others() -> None:
    """The mean of the group, which slime takes over all of it, is then that of the rows with a number."""
    group = [sample(response, level="easy") for response in ("Paris", "Lyon", "dead", "tie")]
    assert asyncio.run(make_custom_rm(own, max_failed=1.0)(GROUP, group)) == [1.0, 0.5, 0.75, 0.75]
    assert [one.remove_sample for one in group] == [False, False, True, True]


def test_samples_of_one_rollout_are_not_a_group() -> None:
    """A list without --group-rm is one rollout's samples, from which no mean of siblings follows."""
    samples = [sample("Paris", level="easy"), sample("dead", level="easy")]
    assert asyncio.run(make_custom_rm(own, max_failed=1.0)(ALONE, samples)) == [1.0, 0.0]


def test_a_removed_sample_stays_removed() -> None:
    """What slime has removed itself is not brought back by a number."""
    one = sample("Paris", level="easy")
    one.remove_sample = True
    asyncio.run(make_custom_rm(own)(ALONE, one))
    assert one.remove_sample


def test_metadata_that_are_no_mapping_are_no_columns() -> None:
    """Slime allows that, so it is no fault of the row."""
    one = sample("Paris")
    one.metadata = "a note"
    assert asyncio.run(make_custom_rm("qa_em_reward")(ALONE, one)) == 1.0
    assert one.metadata == "a note"


def test_zero_stays_in_the_loss() -> None:
    """With `on_fault="zero"` the row is trained on; with "raise" the training ends."""
    one = sample("dead", level="easy")
    assert asyncio.run(make_custom_rm(own, on_fault="zero")(ALONE, one)) == 0.0
    assert not one.remove_sample
    with pytest.raises(RewardFault, match="env-died"):
        asyncio.run(make_custom_rm(own, on_fault="raise")(ALONE, one))


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "</s>", "<end_of_turn>\n", "<|im_end|>\n<|endoftext|>", "<｜end▁of▁sentence｜>"]
)
def test_special_tokens_at_the_end_are_not_the_response(end: str) -> None:
    """By default slime decodes with special tokens, so a finished response ends in one."""
    for response, wanted in (("Paris", 1.0), ("Lyon", 0.0)):
        assert asyncio.run(make_custom_rm("qa_em_reward")(ALONE, sample(response + end))) == wanted


def test_too_many_faults_raise() -> None:
    """The training ends with the reason."""
    with pytest.raises(RewardFault, match="2 of the last 2"):
        asyncio.run(make_custom_rm(own, window=2)(GROUP, [sample("dead", level="easy")] * 2))


def test_groups_need_the_option() -> None:
    """A scorer of groups is asked with whole groups, or refused."""

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [index / len(final_response) for index in range(len(final_response))]

    group = [sample("a"), sample("b")]
    assert asyncio.run(make_custom_rm(rank)(GROUP, group)) == [0.0, 0.5]
    for one in group:
        one.group_index = None  # slime does not say it of every sample
    assert asyncio.run(make_custom_rm(rank)(GROUP, group)) == [0.0, 0.5]
    with pytest.raises(UsageError, match="--group-rm"):
        asyncio.run(make_custom_rm(rank)(ALONE, group[0]))


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number is removed."""
    rm = make_custom_rm(scorer, max_failed=1.0)
    samples = [sample(row["response"], row["answer"], row["prompt"]) for row in golden.rows(scorer)]
    values = [asyncio.run(rm(ALONE, one)) for one in samples]
    golden.check(scorer, [None if one.remove_sample else value for one, value in zip(samples, values, strict=True)])
