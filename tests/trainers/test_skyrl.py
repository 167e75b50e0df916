"""Episodes of skyrl-gym, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has skyrl-gym.
"""

from typing import Any

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from skyrl_gym.envs.registration import deregister  # noqa: E402

from adjudge.errors import UsageError  # noqa: E402
from adjudge.integrations import RewardFault  # noqa: E402
from adjudge.integrations.skyrl import environment  # noqa: E402
from adjudge.model import Score  # noqa: E402
from trainers import golden  # noqa: E402


def own(final_response: str, answer: str, prompt: str, level: str) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    asked = (final_response, answer, prompt, level) == ("Paris", "Paris", "Capital?", "easy")
    return outcomes.get(final_response) or Score.scored(float(asked))


def play(made: Any, response: str, answer: Any = "Paris", question: str = "Capital?") -> tuple[Any, Any]:
    """Play an episode as SkyRL does, and return its step and its metrics."""
    extras = {"reward_spec": {"ground_truth": answer}, "level": "easy"}
    skyrl_gym.register(id="own", entry_point=made)
    episode = skyrl_gym.make("own", env_config={}, extras=extras)
    deregister("own")
    episode.init([{"role": "user", "content": question}])
    step = episode.step(response)
    return step, episode.get_metrics()


def test_a_row_without_a_number_is_zero_and_the_metrics_say_so() -> None:
    """Nothing else can be expressed; the episode's metrics and metadata say what it is."""
    made = environment(own, max_failed=1.0)
    found = [play(made, response) for response in ("Paris", "dead", "tie")]
    assert [step["reward"] for step, _ in found] == [1.0, 0.0, 0.0]
    assert all(step["done"] for step, _ in found)
    assert [metrics for _, metrics in found] == [
        {"unscored": 0.0, "error": 0.0},
        {"unscored": 0.0, "error": 1.0},
        {"unscored": 1.0, "error": 0.0},
    ]
    assert found[1][0]["metadata"] == {"status": "error", "reason": "env-died: gone"}


def test_too_many_faults_end_the_training() -> None:
    """The error ends it, with the reason."""
    made = environment(own, window=1)
    with pytest.raises(RewardFault, match="1 of the last 1"):
        play(made, "dead")


def talk(made: Any, *said: str, **extras: Any) -> list[Any]:
    """Play an episode of several turns until it ends, and return its steps."""
    skyrl_gym.register(id="own", entry_point=made)
    episode = skyrl_gym.make("own", env_config={}, extras={"reward_spec": {"ground_truth": "Paris"}, **extras})
    deregister("own")
    episode.init([{"role": "user", "content": "Capital?"}])
    steps: list[Any] = []
    for text in said:
        steps.append(episode.step(text))
        if steps[-1]["done"]:
            break
    return [*steps, episode.get_metrics()]


def looking(scorer: Any, **options: Any) -> Any:
    """Return an environment that can be asked."""

    class Looking(environment(scorer, **options)):  # type: ignore[misc]
        def reply(self, messages: list[dict[str, Any]]) -> Any:
            said = messages[-1]["content"]
            if said == "break":
                raise ConnectionError("no search engine")
            if said.startswith("say"):
                return "Yes?"
            return [{"role": "tool", "name": "search", "content": "Paris"}] if said.startswith("look") else None

    return Looking


def test_an_episode_of_several_turns_is_scored_at_its_end() -> None:
    """Only the last step has a reward; the scorer sees the tools that ran, and what was said last."""
    first, second, last, metrics = talk(looking("qa_f1_reward_tool"), "say: hm", "look: France", "Paris", max_turns=5)
    assert first == {
        "observations": [{"role": "user", "content": "Yes?"}], "reward": 0.0, "done": False, "metadata": {}
    }  # fmt: skip
    assert second["observations"] == [{"role": "tool", "name": "search", "content": "Paris"}]
    assert (last["observations"], last["reward"], last["done"]) == ([], 1.0, True)
    assert (metrics["em"], metrics["error"]) == (1.0, 0.0)
    without, _ = talk(looking("qa_f1_reward_tool"), "Paris", max_turns=5)
    assert (without["reward"], without["metadata"]["reason"]) == (0.0, "no-tool")


def test_the_last_turn_ends_the_episode() -> None:
    """After `max_turns` nobody answers: what was said last is the response."""
    first, last, _ = talk(looking("qa_f1_reward"), "look: Paris", "look: Paris", "Paris", max_turns=2)
    assert (first["done"], last["done"], last["observations"]) == (False, True, [])
    assert 0 < last["reward"] < 1


def test_an_environment_that_breaks_is_not_the_agents_fault() -> None:
    """The episode ends without a number, and its metrics say so."""
    last, metrics = talk(looking("qa_f1_reward", max_failed=1.0), "break", "Paris", max_turns=5)
    assert (last["reward"], last["done"], last["metadata"]["status"]) == (0.0, True, "error")
    assert "no search engine" in last["metadata"]["reason"]
    assert (metrics["error"], metrics["unscored"]) == (1.0, 0.0)


def test_episodes_do_not_share_their_messages() -> None:
    """Each has its own."""
    made = looking("qa_f1_reward_tool")
    assert talk(made, "look: France", "Paris", max_turns=5)[1]["reward"] == 1.0
    assert talk(made, "Paris", max_turns=5)[0]["reward"] == 0.0


def test_a_mask_is_refused() -> None:
    """SkyRL has none."""
    with pytest.raises(UsageError, match="cannot mask"):
        environment(own, on_fault="mask")


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number is 0.0."""
    made = environment(scorer, max_failed=1.0)
    steps = [play(made, row["response"], row["answer"], row["prompt"])[0] for row in golden.rows(scorer)]
    golden.check(scorer, [step["reward"] for step in steps], absent=0.0)
