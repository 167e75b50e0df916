"""A rollout's environment that another process acquired: a reward or a tool over there reaches the same episode.

    process A    env = await Context("r1", pools=[pool]).acquire_resource(spec); await env.reset(3)
    process B    env = await Context("r1", pools=[pool]).acquire_resource(spec); await env.outcome()    A's episode

Nothing of the episode is kept here, because A's next step would make it wrong: every call goes to the server.
"""

from typing import TYPE_CHECKING, Any

from adjudge.environments._errors import EnvBadTask, EnvError
from adjudge.environments._lease import NO_EPISODE, LeasedEnvironment
from adjudge.environments._loops import BACKGROUND
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step

if TYPE_CHECKING:
    from adjudge.environments._pool import Pool
    from adjudge.environments._world import Joined

__all__ = ["JoinedEnvironment"]


class JoinedEnvironment(LeasedEnvironment):
    """A lease of the same rollout, held by another process; giving it back leaves that one as it is.

    It may step and read, but not reset: that would wipe the episode of whoever started it.
    """

    def __init__(self, pool: "Pool", rollout_id: str, joined: "Joined") -> None:
        super().__init__(pool, rollout_id, None)
        self.name = joined.name
        self._instance = joined.instance
        self._task = joined.task
        self._first = joined.first
        self._last = joined.last

    @property
    def is_guest(self) -> bool:
        """Whether another process acquired the environment, and will give it back."""
        return True

    @property
    def is_stale(self) -> bool:
        """Whether that process has ended it."""
        return not self._instance.alive

    @property
    def task(self) -> Any:
        """The task of the episode, as far as it is known; None before the first."""
        return self._task

    @property
    def first(self) -> Step | None:
        """The first step of the episode, as it was when this was acquired."""
        return self._first

    @property
    def last(self) -> Step | None:
        """The last step that is known here."""
        return self._last

    async def reset(self, task: Any) -> str:  # noqa: ARG002 (as of any environment)
        """Refuse: the episode belongs to the process that acquired the environment first."""
        raise UsageError(
            f"another process holds the environment of rollout {self.rollout_id}: a reset would wipe its episode; "
            f"give each sample a rollout_id of its own",
            code="rollout-shared",
        )

    async def step(self, action: str) -> Step:
        """Do one action."""
        await self._begin()
        try:
            self._last = step = await self._instance.step(action)
            return step
        finally:
            self._finish()

    async def outcome(self) -> Outcome:
        """Return the state of the episode, without advancing it."""
        await self._begin()
        try:
            outcome = await self._instance.outcome()
        except EnvError as error:
            if error.code == NO_EPISODE:
                return Outcome(done_reason=NO_EPISODE)
            raise
        finally:
            self._finish()
        self._task = outcome.task
        return outcome

    async def health(self) -> bool:
        """Return whether the instance answers."""
        await self._begin()
        try:
            return await self._instance.health()
        finally:
            self._finish()

    def expect(self, task: Any) -> None:
        """Raise `EnvBadTask` unless the episode was started with this task."""
        checked_task = self.spec.task(task)
        if self._task is not None and checked_task != self._task:
            raise EnvBadTask(f"the episode was started with task {self._task!r}, not with {checked_task!r}")

    def end(self, why: str) -> None:
        """Mark the lease as over; called by the pool."""
        super().end(why)
        BACKGROUND.submit(self._instance.close())
