"""Rollouts of Agent Lightning's own runner and store, with rows that have a number, and some that have none.

`make integration` runs it in an environment that has agentlightning.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("agentlightning")

import agentlightning as agl
from agentlightning.emitter import find_final_reward
from agentlightning.emitter.reward import find_reward_spans, get_rewards_from_span

from adjudge.errors import UsageError
from adjudge.integrations.agentlightning import make_emit_reward
from adjudge.model import Score
from adjudge.rewards import reward
from trainers import golden

TASK = {"question": "Capital?", "answer": "Paris"}


async def attempts(agent: Any, tasks: list[Any], **config: Any) -> list[tuple[Any, list[Any]]]:
    """Run rollouts until none is left; return each with the spans of its last attempt."""
    store = agl.InMemoryLightningStore()
    runner = agl.LitAgentRunner[Any](tracer=agl.OtelTracer(), poll_interval=0.01, interval_jitter=0.0)
    await store.add_resources({"main": agl.PromptTemplate(template="{question}", engine="f-string")})
    queued = [await store.enqueue_rollout(task, config=agl.RolloutConfig(**config)) for task in tasks]
    with runner.run_context(agent=agent, store=store):
        while any(one.status in ("queuing", "requeuing") for one in await store.query_rollouts()):
            following = await store.dequeue_rollout()
            await runner._step_impl(following)
    done = {one.rollout_id: one for one in await store.query_rollouts()}
    return [(done[one.rollout_id], await store.query_spans(one.rollout_id, "latest")) for one in queued]


def rollouts(emit: Callable[..., Any], texts: list[str], **config: Any) -> list[tuple[Any, list[Any]]]:
    """Have an agent that says these texts, one a rollout, emit its rewards."""

    @agl.rollout  # type: ignore[untyped-decorator]
    async def agent(task: Any, prompt_template: Any) -> None:
        found = emit(task["question"], task["text"], TASK)
        if asyncio.iscoroutine(found):
            await found

    return asyncio.run(attempts(agent, [{**TASK, "text": text} for text in texts], **config))


def own(final_response: str, answer: str) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(float(final_response == answer), parts={"words": 1.0})


def test_a_rollout_has_the_reward_of_its_scorer() -> None:
    """One reward a rollout, the number of the scorer first, its parts as further dimensions."""
    found = rollouts(make_emit_reward(own, name="good"), ["Paris", "Lyon"])
    assert [rollout.status for rollout, _ in found] == ["succeeded"] * 2
    assert [find_final_reward(spans) for _, spans in found] == [1.0, 0.0]
    (span,) = find_reward_spans(found[0][1])
    assert [(one.name, one.value) for one in get_rewards_from_span(span)] == [("good", 1.0), ("words", 1.0)]


@pytest.mark.parametrize(("text", "status"), [("dead", "error"), ("tie", "unscored")])
def test_a_row_without_a_number_is_a_failed_attempt(text: str, status: str) -> None:
    """It has no reward, and its trace says why."""
    ((rollout, spans),) = rollouts(make_emit_reward(own), [text])
    assert rollout.status == "failed"
    assert find_final_reward(spans) is None
    (said,) = [one.attributes for one in spans if "adjudge.status" in one.attributes]
    assert (said["adjudge.scorer"], said["adjudge.status"]) == ("own", status)


def test_a_failed_attempt_is_tried_again() -> None:
    """Where the store was told to, the next attempt may have a number, and the rollout then has its reward."""
    answers = iter([Score.error("env-died: gone"), Score.scored(1.0)])

    def flaky(final_response: str) -> Score:
        return next(answers)

    ((rollout, spans),) = rollouts(make_emit_reward(flaky), ["Paris"], max_attempts=2, retry_condition=["failed"])
    assert (rollout.status, find_final_reward(spans)) == ("succeeded", 1.0)


def test_zero_where_it_was_asked_for() -> None:
    """As if the agent had failed, beside what it is."""
    ((rollout, spans),) = rollouts(make_emit_reward(own, on_fault="zero"), ["dead"])
    assert (rollout.status, find_final_reward(spans)) == ("succeeded", 0.0)
    assert any(one.attributes.get("adjudge.reason") == "env-died: gone" for one in spans)


def test_too_many_faults_fail_the_rollouts_that_follow() -> None:
    """With zeros as well: a policy is not trained on faults alone."""
    found = rollouts(make_emit_reward(own, on_fault="zero", window=20), ["dead", "dead", "dead", "Paris"])
    assert [rollout.status for rollout, _ in found] == ["succeeded", "succeeded", "failed", "failed"]


def test_a_scorer_that_waits_is_awaited() -> None:
    """Its function is async."""

    @reward
    async def slow(final_response: str, answer: str) -> float:
        await asyncio.sleep(0)
        return float(final_response == answer)

    assert [find_final_reward(spans) for _, spans in rollouts(make_emit_reward(slow), ["Paris", "Lyon"])] == [1.0, 0.0]


def test_what_it_cannot_express_is_refused() -> None:
    """There are no masks and no groups."""

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [1.0 for _ in final_response]

    with pytest.raises(UsageError, match="asks for one"):
        make_emit_reward(rank)
    with pytest.raises(UsageError, match="cannot mask"):
        make_emit_reward("qa_f1_reward", on_fault="mask")
    with pytest.raises(UsageError, match="did you mean 'raise'"):
        make_emit_reward("qa_f1_reward", on_fault="raises")  # type: ignore[arg-type]


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number has no reward."""
    emit = make_emit_reward(scorer, max_failed=1.0)

    @agl.rollout  # type: ignore[untyped-decorator]
    async def agent(task: Any, prompt_template: Any) -> None:
        emit(task["prompt"], task["response"], {"question": task["prompt"], "answer": task["answer"]})

    found = asyncio.run(attempts(agent, golden.rows(scorer)))
    golden.check(scorer, [find_final_reward(spans) for _, spans in found])
