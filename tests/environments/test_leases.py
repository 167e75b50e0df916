"""A rollout's tools and its reward reach the same live environment, and nobody else does."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from adjudge.environments import Context, EnvBadTask, EnvError, Pool, close_pools
from adjudge.environments._loops import FairLock
from adjudge.errors import UsageError
from adjudge.model import Context as ContextShape
from adjudge.model import Environment
from environments.toys import ChancySpec, ToySpec
from environments.waiting import until


async def test_shapes_are_those_of_the_model() -> None:
    """A context and a leased environment have the shapes that rewards ask for."""
    async with Context("r", "g", {"step": 1}) as context:
        env = await context.acquire_resource(ToySpec())
        assert isinstance(context, ContextShape)
        assert isinstance(env, Environment)
        assert (context.group_id, context.metadata) == ("g", {"step": 1})


async def test_same_spec_same_instance() -> None:
    """The same spec gives the same live environment, another spec another one."""
    async with Context("r") as context:
        red = await context.acquire_resource(ToySpec())
        blue = await context.acquire_resource(ToySpec(colour="blue"))
        assert await context.acquire_resource(ToySpec(colour="red")) is red
        assert blue is not red
        await red.reset(5)
        await blue.reset(5)
        await red.step("a")
        assert (await blue.outcome()).observation == ""


async def test_a_kind_means_the_open_lease() -> None:
    """A bare kind is the rollout's open lease of that kind, whatever its spec; with two of them it says nothing."""
    with Pool(ToySpec(colour="green"), 1) as pool:
        async with Context("r", pools=[pool]) as context:
            assert context.find_resource("toy") is None
            env = await context.acquire_resource("toy")
            assert env.spec == ToySpec(colour="green")
            assert context.find_resource("toy") is env
            await context.acquire_resource(ToySpec(colour="blue"))
            with pytest.raises(UsageError, match="name the spec"):
                await context.acquire_resource("toy")


async def test_a_wrong_kind_is_explained() -> None:
    """A name that is no kind names the closest."""
    with pytest.raises(UsageError, match="did you mean 'webshop'"):
        await Context("r").acquire_resource("webshp")
    with pytest.raises(UsageError, match="a spec or the name"):
        await Context("r").acquire_resource(7)


async def test_two_contexts_of_one_rollout_share() -> None:
    """The lease is the rollout's: a second Context of its id has the same instance, which stays until both are done."""
    async with Context("r") as tools:
        env = await tools.acquire_resource(ToySpec())
        await env.reset(5)
        async with Context("r") as judge:
            assert await judge.acquire_resource("toy") is env
        assert (await env.step("still here")).observation == "1: still here"
    with pytest.raises(UsageError, match="given its environment back"):
        await env.step("gone")


async def test_a_second_sample_does_not_wipe_the_first() -> None:
    """A reset through another context of the rollout is refused, in any task; step and outcome are shared."""

    async def second(pool: Pool) -> None:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            with pytest.raises(UsageError, match="rollout_id of its own") as refused:
                await env.reset(7)
            assert refused.value.code == "rollout-shared"
            with pytest.raises(UsageError, match="rollout_id of its own"):
                await context.reset_resource("toy", 7)
            with pytest.raises(UsageError, match="rollout_id of its own"):
                await asyncio.to_thread(context.sync.reset_resource, "toy", 7)
            sync = await asyncio.to_thread(context.sync.acquire_resource, "toy")
            with pytest.raises(UsageError, match="rollout_id of its own"):
                await asyncio.to_thread(sync.reset, 7)
            assert (await env.step("b")).observation == "2: b"
            assert (await env.outcome()).observation == "a|b"

    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as first:
            env = await first.acquire_resource("toy")
            await env.reset(5)
            await env.step("a")
            await asyncio.create_task(second(pool))
            assert (await env.outcome()).observation == "a|b"
            await second_in_this_task(pool)
            assert (await env.outcome()).observation == "a|b"
            assert await first.reset_resource("toy", 5) == "count to 5"  # whoever started it may start it anew


async def second_in_this_task(pool: Pool) -> None:
    """Try to reset through another context, in the task of the first."""
    async with Context("r", pools=[pool]) as context:
        with pytest.raises(UsageError, match="rollout_id of its own"):
            await context.reset_resource("toy", 7)


async def test_a_context_that_only_watched_may_play_after_the_first_has_left() -> None:
    """Once the context that played has left, there is no episode to wipe."""
    async with Pool(ToySpec(), 1) as pool, Context("r", pools=[pool]) as later:
        async with Context("r", pools=[pool]) as first:
            await first.reset_resource("toy", 5)
            await later.acquire_resource("toy")
        assert await later.reset_resource("toy", 3) == "count to 3"


async def test_of_two_samples_at_once_one_is_refused() -> None:
    """Two rollouts that run at once under one id by mistake: one plays to its end, the other is told."""

    async def sample(name: str) -> str:
        async with Context("same", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(3)
            for number in range(3):
                await env.step(f"{name}{number}")
                await asyncio.sleep(0)
            return (await env.outcome()).observation

    with Pool(ToySpec(), 2, "worker") as pool:
        ends = await asyncio.gather(sample("a"), sample("b"), return_exceptions=True)
        assert [type(end) for end in ends].count(UsageError) == 1
        assert {"a0|a1|a2", "b0|b1|b2"} & set(map(str, ends))


async def test_concurrent_acquires_of_one_rollout_agree() -> None:
    """Tasks of one rollout that ask at once get one instance."""
    with Pool(ToySpec(), 4, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            found = await asyncio.gather(*(context.acquire_resource("toy") for _ in range(20)))
            assert len(set(map(id, found))) == 1
            assert pool.counts().given == pool.counts().leased == 1


async def test_nothing_is_seen_of_the_rollout_before() -> None:
    """A reused instance shows nothing of its last episode: no outcome, and no step before a reset."""
    with Pool(ToySpec(), 1) as pool:
        async with Context("a", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(5)
            await env.step("secret")
        async with Context("b", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            assert pool.counts().starts == 1
            assert await env.outcome() == await env.outcome()
            assert (await env.outcome()).done_reason == "no-episode"
            with pytest.raises(UsageError, match=r"call reset\(task\) first"):
                await env.step("peek")
            assert await env.reset(2) == "count to 2"
            assert (await env.outcome()).observation == ""


async def test_outcome_is_a_pure_read() -> None:
    """Reading an outcome any number of times changes nothing."""
    async with Context("r") as context:
        env = await context.acquire_resource(ToySpec())
        await env.reset(2)
        await env.step("one")
        first = await env.outcome()
        assert all([await env.outcome() == first for _ in range(5)])
        assert (await env.step("two")).done
        assert (await env.outcome()).reward == 1.0
        assert (await env.outcome()).task == {"goal": 2}


async def test_after_the_end_nothing_is_done() -> None:
    """A step after the end returns the end again, and counts for nothing."""
    async with Context("r") as context:
        env = await context.acquire_resource(ToySpec())
        await env.reset(1)
        assert (await env.step("one")).done
        again = await env.step("two")
        assert (again.done, again.reward, again.observation) == (True, None, "1: one")
        assert (await env.outcome()).observation == "one"


async def test_the_call_limit_is_an_end() -> None:
    """After `max_calls` steps the episode is over, with the reason; the world is not asked again."""
    async with Context("r") as context:
        env = await context.acquire_resource(ToySpec(max_calls=3))
        await env.reset(100)
        steps = [await env.step(str(number)) for number in range(5)]
        assert [step.done for step in steps] == [False, False, True, True, True]
        assert steps[2].info["done_reason"] == "call-limit"
        outcome = await env.outcome()
        assert (outcome.done_reason, outcome.observation) == ("call-limit", "0|1|2")
        await env.reset(100)
        assert not (await env.step("new")).done


async def test_a_bad_task_is_typed() -> None:
    """What is no task is `EnvBadTask`, from the spec or from the world, and the instance is as good as before."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            for task in ("nonsense", 1000, None):
                with pytest.raises(EnvBadTask):
                    await env.reset(task)
            assert await env.reset(1) == "count to 1"
            env.expect(1)
            with pytest.raises(EnvBadTask, match="was started with"):
                env.expect(2)
        assert pool.counts().starts == 1


@pytest.mark.parametrize("task", ["nonsense", 1000, {"goal": 1, "deadly": True}])
async def test_a_reset_that_fails_is_not_no_episode(task: object) -> None:
    """After a reset that failed neither the episode before nor "no episode" is what stands: the failure is."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(1)
            await env.step("done")
            with pytest.raises(EnvError) as failure:
                await env.reset(task)
            for call in (env.outcome(), env.step("x")):
                with pytest.raises(type(failure.value)):
                    await call
            await env.reset(1)
            assert (await env.outcome()).reward == 0.0


async def test_what_was_given_back_is_remembered() -> None:
    """The last environment of a kind is known after it was given back, and says so; one that never was is None."""
    async with Context("r") as context:
        assert context.last_resource("toy") is None
        env = await context.acquire_resource(ToySpec())
        assert context.last_resource("toy") is context.last_resource(ToySpec()) is env
        await context.release_resource()
        assert context.find_resource("toy") is None
        assert context.last_resource("toy") is env
        with pytest.raises(UsageError, match="given its environment back"):
            await env.outcome()


async def test_calls_of_one_rollout_wait_for_one_another() -> None:
    """Steps that a rollout makes at once are done one after another, in order."""
    for backend in ("process", "worker"):
        with Pool(ToySpec(), 1, backend) as pool:
            async with Context("r", pools=[pool]) as context:
                env = await context.acquire_resource("toy")
                await env.reset(500)
                steps = await asyncio.gather(*(env.step(f"{number}") for number in range(50)))
                assert [step.observation for step in steps] == [f"{n + 1}: {n}" for n in range(50)]


async def test_nobody_overtakes_a_call_that_was_made_before() -> None:
    """A call that waits for another one is done before any call that is made later, by whichever task."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(500)

            async def three(name: str) -> None:
                for number in range(3):
                    await env.step(f"{name}{number}")

            await asyncio.gather(env.step("sleep 0.2"), *(three(name) for name in "abc"))
            heard = (await env.outcome()).observation.split("|")
            assert heard == ["sleep 0.2", *(f"{name}{number}" for number in range(3) for name in "abc")]


async def test_a_turn_is_passed_on_by_whoever_gives_up() -> None:
    """A call that is cancelled while it waits, or as its turn comes, holds up nobody."""
    turn = FairLock()
    assert turn.take()
    waiting = [asyncio.create_task(turn.wait()) for _ in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    turn.give()
    assert turn.taken  # it went over, without a moment in which somebody else could take it
    waiting[0].cancel()
    await asyncio.wait(waiting[:3])
    assert [task.cancelled() for task in waiting[:3]] == [True, True, False]
    turn.give()
    await waiting[3]
    turn.give()
    assert not turn.taken


async def test_a_context_that_was_left_takes_nothing_more() -> None:
    """Once a rollout has left its context, a straggler of it gets no environment that nobody would give back."""
    async with Pool(ToySpec(), 1) as pool:
        held = await pool.acquire("other")
        context = Context("r", pools=[pool])
        async with context:
            straggler = asyncio.create_task(context.acquire_resource("toy"))
            await until(lambda: pool.counts().waiting == 1)
        await held.close()
        with pytest.raises(UsageError, match="has left its context"):
            await straggler
        with pytest.raises(UsageError, match="has left its context"):
            await context.acquire_resource("toy")
        assert pool.counts().leased == 0
        async with context:
            assert await context.reset_resource("toy", 1) == "count to 1"


async def test_release_reset_and_end() -> None:
    """`release_resource` gives back, `reset_resource` starts an episode, `end_resource` closes for good."""
    with Pool(ToySpec(), 1, "worker") as pool:
        context = Context("r", pools=[pool])
        assert await context.reset_resource("toy", 3) == "count to 3"
        first = await context.acquire_resource("toy")
        pid = (await first.step("who")).info["pid"]
        await context.release_resource("toy")
        await context.release_resource("toy")
        await context.reset_resource("toy", 3)
        again = await context.acquire_resource("toy")
        assert (await again.step("who")).info["pid"] == pid
        await context.end_resource("toy")
        await context.reset_resource("toy", 3)
        other = await context.acquire_resource("toy")
        assert (await other.step("who")).info["pid"] != pid
        await context.release_resource()
        await context.end_resource()


def test_two_event_loops_in_a_row() -> None:
    """A lease, its pool and its context outlive the event loop that made them."""
    for backend in ("process", "worker"):
        with Pool(ToySpec(), 1, backend) as pool:
            context = Context("r", pools=[pool])

            async def begin(context: Context = context) -> None:
                env = await context.acquire_resource("toy")
                await env.reset(5)
                await env.step("first loop")

            async def go_on(context: Context = context) -> str:
                env = await context.acquire_resource("toy")
                await env.step("second loop")
                return (await env.outcome()).observation

            asyncio.run(begin())
            assert asyncio.run(go_on()) == "first loop|second loop"
            asyncio.run(context.release_resource())
            asyncio.run(begin())
            asyncio.run(context.release_resource())
            assert pool.counts().leased == 0


def test_from_code_that_cannot_await() -> None:
    """`context.sync` does the same from plain threads, several at once."""

    def play(number: int) -> str:
        with Context(f"r{number}", pools=[pool]) as context:
            env = context.sync.acquire_resource("toy")
            env.reset(3)
            for step in range(3):
                env.step(f"{number}.{step}")
            assert env.health()
            return env.outcome().observation

    with Pool(ToySpec(), 2, "worker") as pool, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(play, range(16))) == [f"{n}.0|{n}.1|{n}.2" for n in range(16)]
        assert pool.counts().leased == 0


def test_sync_calls_inside_a_loop_do_not_deadlock() -> None:
    """A sync tool that is called inside an event loop gets its answer."""

    async def main() -> str:
        with Context("r") as context:
            env = context.sync.acquire_resource(ToySpec())
            env.reset(1)
            return env.step("hello").observation

    assert asyncio.run(main()) == "1: hello"


def test_several_loops_share_a_pool() -> None:
    """Event loops in several threads share the instances of one pool."""
    results: list[str] = []

    async def play(name: str) -> None:
        for number in range(5):
            async with Context(f"{name}{number}", pools=[pool]) as context:
                env = await context.acquire_resource("toy")
                await env.reset(2)
                await env.step(name)
                await asyncio.sleep(0.001)
                results.append("ok" if (await env.outcome()).observation == name else "bad")

    with Pool(ToySpec(), 2, "worker") as pool:
        threads = [threading.Thread(target=lambda name=name: asyncio.run(play(name))) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == ["ok"] * 20
        assert pool.counts().given == pool.counts().returned == 20


async def test_default_pools_are_by_spec() -> None:
    """Contexts that were given no pool share one for each spec; `close_pools` ends them and they can be made anew."""
    async with Context("a") as context:
        await context.acquire_resource(ChancySpec())
    close_pools()
    async with Context("a") as context:
        assert await context.reset_resource(ChancySpec(), 1) == "count to 1"
