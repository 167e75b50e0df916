"""An environment that one rollout holds: one episode at a time, counted, replayed after a death if that is honest."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from adjudge.environments._errors import EnvBadTask, EnvDied, EnvError, EnvStepTimeout
from adjudge.environments._loops import FairLock
from adjudge.errors import AdjudgeError, UsageError
from adjudge.model import Outcome, Step

if TYPE_CHECKING:
    from adjudge.environments._pool import Pool
    from adjudge.environments._roster import Member
    from adjudge.environments._world import EnvSpec, Instance

__all__ = ["ACTING", "CALL_LIMIT", "NO_EPISODE", "LeasedEnvironment"]

T = TypeVar("T")

CALL_LIMIT = "call-limit"
NO_EPISODE = "no-episode"

_REPLAYS = 3
"""How often one episode is replayed: an action that kills its world would kill every one of them."""

_FINAL = frozenset({EnvStepTimeout.default_code, "replay-differs"})
"""Errors that another replay would only meet again."""

# The lease of a rollout is one object for all of its contexts, so that a reset cannot see through which one it was
# called. What it can see is the context through which this task acquired last.
ACTING: ContextVar[object] = ContextVar("adjudge-acting-holder", default=None)

_SURROGATES = re.compile("[\ud800-\udfff]")


class _Episode:
    """One episode: its actions and its observations, so that it can be replayed."""

    __slots__ = ("actions", "calls", "cut", "end", "first", "hashes", "last", "lost", "outcome", "replays", "task")

    def __init__(self, task: Any, first: Step) -> None:
        self.task = task
        self.first = self.last = first
        self.calls = 0
        self.replays = 0
        self.actions: list[str] = []
        self.hashes: list[int] = []  # of the observations
        self.end: str | None = None  # why it is over
        self.lost: AdjudgeError | None = None  # the error that ended it
        self.cut: EnvError | None = None  # set when a caller left a call in the middle: the instance's state is unknown
        self.outcome: Outcome | None = None  # read together with the end


class LeasedEnvironment:
    """A live environment that belongs to one rollout until it is released.

    Calls of one rollout run one after another, in the order in which they were made. After `done` nothing more happens:
    a further step returns the same end. The spec's `max_calls` is such an end too. If the instance dies, an episode
    continues only if the spec says that it is deterministic: its actions are replayed on a fresh instance, and each
    must be answered as before. A step or a reset that ends as an error ends the episode: every further call repeats
    the error, until a reset works.

    Contexts of one `rollout_id` share it, but only the one that started an episode may start the next: a second sample
    under the same id would wipe the first one's episode.
    """

    def __init__(
        self, pool: "Pool", rollout_id: str, member: "Member | None", *, unsure: EnvError | None = None
    ) -> None:
        self.rollout_id = rollout_id
        self.member: Member | None = member
        self.holders: set[object] = set()
        self.player: object = None  # the holder that started the episode
        self.used = time.monotonic()
        self.pool = pool
        self.turn = 0  # of how many instances, one after another, this is the latest
        self._unsure = unsure  # why another process may have an episode of this rollout that nobody can reach
        self._lock = FairLock()
        self._episode: _Episode | None = None
        self._ended: str | None = None
        self._keeps = pool.spec.deterministic
        self._most = pool.spec.max_calls

    @property
    def spec(self) -> "EnvSpec":
        """The kind of environment and its limits."""
        return self.pool.spec

    @property
    def is_open(self) -> bool:
        """Whether the rollout still holds it."""
        return self._ended is None

    @property
    def is_guest(self) -> bool:
        """Whether another process acquired the environment, and will give it back."""
        return False

    @property
    def is_stale(self) -> bool:
        """Whether that process has ended it."""
        return False

    @property
    def is_busy(self) -> bool:
        """Whether a call is in progress."""
        return self._lock.taken

    @property
    def task(self) -> Any:
        """The task of the episode, as JSON values; None before the first."""
        return None if self._episode is None else self._episode.task

    @property
    def first(self) -> Step | None:
        """The first step of the episode; None without one."""
        return None if self._episode is None or self._episode.lost is not None else self._episode.first

    @property
    def last(self) -> Step | None:
        """The last step of the episode; None without one."""
        return None if self._episode is None or self._episode.lost is not None else self._episode.last

    async def reset(self, task: Any) -> str:
        """Start an episode, whatever the state of the last one, and return the first observation."""
        await self._begin(plays=True)
        # Until the reset has worked, the episode counts as lost: a fault must not look as if there was no episode.
        self._episode = lost = _Episode(None, Step(""))
        lost.lost = EnvDied("the last reset did not finish")
        try:
            checked_task = self.spec.task(task)
            first = await self._reset(checked_task)
        except AdjudgeError as error:
            lost.lost = error
            raise
        except asyncio.CancelledError:
            lost.lost = _cancelled("reset")
            raise
        else:
            self._episode = _Episode(checked_task, first)
            return first.observation
        finally:
            self._finish()

    async def step(self, action: str) -> Step:
        """Do one action."""
        if type(action) is not str:
            raise UsageError(f"an action is text, not {type(action).__name__}", code="bad-action")
        if not action.isascii():
            action = _SURROGATES.sub("\ufffd", action)  # lone surrogates cannot be sent; the same over every backend
        if not self._lock.take():
            await self._lock.wait()
        try:
            episode = self._running()
            if episode.end is not None:
                return replace(episode.last, reward=None, done=True, info={**episode.last.info, "repeated": True})
            step = await self._retry(episode, "step", lambda instance: instance.step(action))
            if step.done or episode.calls + 1 >= self._most:
                await self._read_end(episode)
            return self._record(episode, action, step)
        except EnvError as error:
            # Nobody knows whether the action was done: the rest of the episode would not be the agent's doing.
            if self._episode is not None and self._episode.lost is None:
                self._episode.lost = error
            raise
        finally:
            self._finish()

    async def outcome(self) -> Outcome:
        """Return the state of the episode, without advancing it; `done_reason` is "no-episode" before the first."""
        await self._begin()
        try:
            if self._episode is None:
                # "No episode" scores 0, and that must be certain.
                if self._unsure is not None:
                    raise self._unsure
                return Outcome(done_reason=NO_EPISODE)
            episode = self._running()
            outcome = episode.outcome
            if outcome is None:
                outcome = await self._retry(episode, "read", lambda instance: instance.outcome())
            if outcome.task is None:
                outcome = replace(outcome, task=episode.task)
            return outcome if outcome.done_reason is not None else replace(outcome, done_reason=episode.end)
        finally:
            self._finish()

    async def health(self) -> bool:
        """Return whether the instance answers."""
        await self._begin()
        try:
            member = self.member
            return member is not None and member.instance.alive and await member.instance.health()
        finally:
            self._finish()

    async def close(self) -> None:
        """Return it to the pool; calling it twice is legal."""
        self.pool.take_back(self)

    def expect(self, task: Any) -> None:
        """Raise `EnvBadTask` unless the episode was started with this task."""
        if self._episode is None or self._episode.lost is not None:
            return
        checked_task = self.spec.task(task)
        if checked_task != self._episode.task:
            raise EnvBadTask(f"the episode was started with task {self._episode.task!r}, not with {checked_task!r}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def end(self, why: str) -> None:
        """Mark the lease as over; called by the pool."""
        self._ended = why

    def check_open(self) -> None:
        """Raise if the rollout no longer has the environment."""
        if self._ended is None:
            return
        if self._ended == "expired":
            raise EnvDied(
                f"rollout {self.rollout_id} made no call for {self.pool.limits.lease_s:g} s and lost its environment",
                code="lease-expired",
            )
        raise UsageError(f"rollout {self.rollout_id} has given its environment back", code="lease-released")

    def _claim_episode(self) -> None:
        """Make the acting context the one that plays; refuse it if another one already does."""
        acting = ACTING.get()
        if acting is None or acting not in self.holders:
            return  # without a context, or through another rollout's: nobody knows whose call this is
        if self.player is not None and self.player is not acting:
            raise UsageError(
                f"another Context already plays rollout {self.rollout_id}: a reset would wipe its episode; "
                f"give each sample a rollout_id of its own",
                code="rollout-shared",
            )
        self.player = acting

    async def _begin(self, *, plays: bool = False) -> None:
        """Wait for this call's turn; with `plays`, for the right to start an episode too."""
        if not self._lock.take():
            await self._lock.wait()
        try:
            self.check_open()
            if plays:
                self._claim_episode()
        except AdjudgeError:
            self._finish()
            raise

    def _finish(self) -> None:
        self.used = time.monotonic()
        self._lock.give()

    def _running(self) -> _Episode:
        """Return the episode if it can take an action; otherwise raise."""
        if self._ended is not None:
            self.check_open()
        episode = self._episode
        if episode is None:
            raise UsageError("no episode was started: call reset(task) first", code=NO_EPISODE)
        if episode.lost is not None:
            raise type(episode.lost)(episode.lost.message, code=episode.lost.code)
        return episode

    async def _read_end(self, episode: _Episode) -> None:
        """Read the outcome with the last step: when the reward is asked for, the worker may be dead."""
        if self.member is None:
            return
        try:
            episode.outcome = await self.member.instance.outcome()
        except asyncio.CancelledError:
            episode.cut = _cancelled("step")
            raise
        except EnvError:
            return  # the step itself was answered: `outcome` asks again, and says why if it fails again

    def _record(self, episode: _Episode, action: str, step: Step) -> Step:
        """Record a step, and end the episode if the step or the call limit ends it."""
        episode.calls += 1
        if self._keeps:
            # Hashes are enough to compare a replay with, and keep long episodes small.
            episode.actions.append(action)
            episode.hashes.append(hash(step.observation))
        if step.done:
            episode.end = str(step.info.get("done_reason") or "done")
        elif episode.calls >= self._most:
            # The agent sees the cap as an ordinary end, on the call that reaches it.
            episode.end = CALL_LIMIT
            step = replace(step, done=True, info={**step.info, "done_reason": CALL_LIMIT})
        episode.last = step
        return step

    async def _reset(self, task: Any) -> Step:
        """Reset the instance, or a fresh one if it is gone: a reset needs nothing of what was before."""
        for tries_left in (2, 1, 0):
            # Its own instance if it lives: a reset is far cheaper than a start.
            if self.member is None or not self.member.instance.alive:
                await self.pool.replace(self, timeout=self.pool.limits.start_s)
            member = self.member
            if member is None:
                self.check_open()
                continue
            member.episodes += 1
            try:
                return await member.instance.reset(task)
            except EnvDied:
                if not tries_left:
                    raise
        raise EnvDied(f"every new {self.spec.kind} environment died")

    async def _retry(self, episode: _Episode, what: str, call: Callable[["Instance"], Awaitable[T]]) -> T:
        """Do a call; on a revived instance if the episode's own is gone, failed or was left in the middle of a call."""
        error: EnvError | None = episode.cut
        try:
            while True:
                member = self.member
                if member is None or error is not None:
                    member = await self._revive(episode, error)
                try:
                    return await call(member.instance)
                except (EnvDied, EnvStepTimeout) as again:
                    error = again
        except asyncio.CancelledError:
            # The instance may have done the action or not, and most kinds are gone now: never ask this one again.
            episode.cut = _cancelled(what)
            raise

    async def _revive(self, episode: _Episode, error: EnvError | None) -> "Member":
        """Replay the episode in a fresh instance, or mark it as lost and raise."""
        self.check_open()
        # A lease whose replacement was cancelled has no instance, and no error either.
        error = error or EnvDied(f"the {self.spec.kind} environment of rollout {self.rollout_id} is gone")
        while True:
            if not self._keeps or error.code in _FINAL or episode.replays >= _REPLAYS:
                episode.lost = error
                raise error
            episode.replays += 1
            await self.pool.replace(self, timeout=self.pool.limits.start_s)
            member = self.member
            if member is None:
                self.check_open()
                continue
            try:
                await self._replay(episode, member)
            except (EnvDied, EnvStepTimeout) as again:
                error = again
                continue
            episode.cut = None
            return member

    async def _replay(self, episode: _Episode, member: "Member") -> None:
        member.episodes += 1
        # Every observation must be the same. Otherwise the agent would act on what it saw in another world.
        first = await member.instance.reset(episode.task)
        same = first.observation == episode.first.observation
        for action, expected in zip(episode.actions, episode.hashes, strict=True):
            if not same:
                break
            same = hash((await member.instance.step(action)).observation) == expected
        if not same:
            raise EnvDied(
                "the instance died, and the replay of the episode gave other observations", code="replay-differs"
            )


def _cancelled(what: str) -> EnvDied:
    return EnvDied(
        f"the caller cancelled a {what}, which ended without an answer: the state of the episode is unknown",
        code="call-cancelled",
    )
