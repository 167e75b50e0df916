"""One rollout's identity, through which its tools and its reward reach the same live environment.

Below it: the pools of this process for rollouts that bring none. Beside it: the same for code that cannot await.
"""

from collections.abc import Coroutine, Hashable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

from adjudge.environments._kinds import default_spec
from adjudge.environments._lease import ACTING, LeasedEnvironment
from adjudge.environments._loops import BACKGROUND
from adjudge.environments._pool import Pool
from adjudge.environments._world import EnvSpec
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step

__all__ = ["Context", "SyncContext", "SyncEnvironment", "close_pools"]

T = TypeVar("T")

# The pools of this process that nobody made by hand, one for each spec. A dict changes in one step, so no lock is
# needed; in a forked child the pools themselves start with nothing.
_DEFAULT_POOLS: dict[EnvSpec, Pool] = {}


def close_pools() -> None:
    """End every environment of the default pools; they are made again when they are needed."""
    for spec in list(_DEFAULT_POOLS):
        pool = _DEFAULT_POOLS.pop(spec, None)
        if pool is not None:
            pool.close()


def _default_pool(spec: EnvSpec) -> Pool:
    return _DEFAULT_POOLS.get(spec) or _DEFAULT_POOLS.setdefault(spec, Pool(spec))


class Context:
    """One rollout: `async with Context("rollout-1") as context`, or `with`; at the end it gives back all it holds.

    A lease belongs to the rollout and the spec: the same spec gives the same live environment, also through another
    `Context` of the same `rollout_id`; two specs give two. A bare kind ("webshop") means the rollout's open lease of
    that kind, or else the pool of that kind that was given here, or the kind's default spec. Specs for which no pool
    is among `pools` share default pools. Code that cannot await uses `context.sync`. A context that was left acquires
    nothing more until it is entered again.
    """

    def __init__(
        self,
        rollout_id: str,
        group_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        pools: Iterable[Pool] = (),
    ) -> None:
        self.rollout_id = rollout_id
        self.group_id = group_id
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._pools = tuple(pools)
        self._leases: dict[EnvSpec, LeasedEnvironment] = {}
        self._past: dict[EnvSpec, LeasedEnvironment] = {}
        self._holder = object()
        self._is_left = False

    def __repr__(self) -> str:
        return f"Context({self.rollout_id!r}, {self.group_id!r})"

    @property
    def sync(self) -> "SyncContext":
        """The same for code that cannot await, from any thread."""
        return SyncContext(self)

    async def acquire_resource(
        self,
        spec: Hashable,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109 (public name)
    ) -> LeasedEnvironment:
        """Return this rollout's environment of that spec or kind, waiting at most `timeout` seconds for a free one."""
        lease = self.find_resource(spec)
        pool = self._pool_of(spec) if lease is None else lease.pool
        self._check_entered()
        lease = await pool.acquire(self.rollout_id, timeout=timeout, holder=self._holder)
        if self._is_left:  # meanwhile: nobody would release it
            pool.release(lease, holder=self._holder)
            self._check_entered()
        self._leases[pool.spec] = self._past[pool.spec] = lease
        ACTING.set(self._holder)
        return lease

    def find_resource(self, spec: Hashable) -> LeasedEnvironment | None:
        """Return the environment of that spec or kind that this rollout has now, or None; acquires none."""
        if isinstance(spec, EnvSpec):
            return self._pool_of(spec).find(self.rollout_id)
        # By spec, with the given pools last: they win over default pools of the same spec.
        pools = {pool.spec: pool for pool in (*list(_DEFAULT_POOLS.values()), *self._pools) if pool.spec.kind == spec}
        found = [lease for pool in pools.values() if (lease := pool.find(self.rollout_id)) is not None]
        self._check_single(found, spec)
        return found[0] if found else None

    def last_resource(self, spec: Hashable) -> LeasedEnvironment | None:
        """Return the environment of that spec or kind that this rollout has, or had last, here; None if it had none."""
        # What this context has had itself: a lease that was released is not in its pool any more.
        past = [lease for lease in self._past.values() if spec in (lease.spec, lease.spec.kind)]
        return self.find_resource(spec) or (past[-1] if past else None)

    async def reach_resource(self, spec: Hashable) -> LeasedEnvironment | None:
        """Return the environment of that spec or kind that this rollout has, or had last, here or in another process.

        This is what a reward reads. It starts nothing: None means that neither this process nor the server of a given
        pool knows one. An environment that was released before it was scored is an error when it is read.
        """
        lease = self.last_resource(spec)
        # One of another process may have been replaced over there: its pool looks.
        if lease is not None and not lease.is_guest:
            return lease
        pools = [pool for pool in self._pools if spec in (pool.spec, pool.spec.kind)]
        found = [lease for pool in pools if (lease := await pool.reach(self.rollout_id, holder=self._holder))]
        self._check_single(found, spec)
        for lease in found:
            self._leases[lease.spec] = self._past[lease.spec] = lease
        return found[0] if found else None

    async def reset_resource(self, spec: Hashable, task: Any) -> str:
        """Start an episode in this rollout's environment and return the first observation."""
        return await (await self.acquire_resource(spec)).reset(task)

    async def release_resource(self, spec: Hashable | None = None) -> None:
        """Release an environment of this rollout, or all, if it has any; another rollout may have it next."""
        self._release(spec, end=False)

    async def end_resource(self, spec: Hashable | None = None) -> None:
        """End an environment of this rollout, or all, for good: the instance is closed and never used again."""
        self._release(spec, end=True)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *exception: object) -> None:
        self._is_left = True
        await self.release_resource()

    def __enter__(self) -> Self:
        self._is_left = False
        ACTING.set(self._holder)
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_left = True
        self.sync.release_resource()

    def _check_single(self, found: Sequence[LeasedEnvironment], spec: Hashable) -> None:
        # A guess could give a reward of the wrong environment.
        if len(found) > 1:
            raise UsageError(
                f"rollout {self.rollout_id} has {len(found)} environments of kind {spec!r}: name the spec",
                code="ambiguous-kind",
            )

    def _check_entered(self) -> None:
        if self._is_left:
            raise UsageError(
                f"rollout {self.rollout_id} has left its context: nobody would release what it acquires now",
                code="context-left",
            )

    def _release(self, spec: Hashable | None, *, end: bool) -> None:
        leases = [*self._leases.values()] if spec is None else [self.find_resource(spec)]
        for lease in leases:
            if lease is not None:
                self._leases.pop(lease.spec, None)
                lease.pool.release(lease, holder=self._holder, end=end)

    def _pool_of(self, spec: Hashable) -> Pool:
        """Return the pool that serves a spec or kind; an unknown kind is an error."""
        if isinstance(spec, EnvSpec):
            return next((pool for pool in self._pools if pool.spec == spec), None) or _default_pool(spec)
        if not isinstance(spec, str):
            raise UsageError(f"acquire a spec or the name of a kind, not {type(spec).__name__}", code="bad-spec")
        # A bare kind means a pool that the caller made, before any default: its spec has the caller's limits.
        given = [pool for pool in self._pools if pool.spec.kind == spec]
        if len(given) > 1:
            raise UsageError(f"there are {len(given)} pools of kind {spec!r}: name the spec", code="ambiguous-kind")
        return given[0] if given else _default_pool(default_spec(spec))


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return BACKGROUND.submit(work).result()


class SyncEnvironment:
    """A leased environment, called without await from any thread."""

    def __init__(self, environment: LeasedEnvironment, holder: object = None) -> None:
        self.environment = environment
        self._holder = holder

    def reset(self, task: Any) -> str:
        """Start an episode and return the first observation."""
        return _wait(self._reset(task))

    async def _reset(self, task: Any) -> str:
        # Said here, because what the acquiring task has set is not seen by the task that runs this.
        ACTING.set(self._holder)
        return await self.environment.reset(task)

    def step(self, action: str) -> Step:
        """Do one action."""
        return _wait(self.environment.step(action))

    def outcome(self) -> Outcome:
        """Return the state of the episode, without advancing it."""
        return _wait(self.environment.outcome())

    def health(self) -> bool:
        """Return whether the instance answers."""
        return _wait(self.environment.health())

    def close(self) -> None:
        """Give it back to the pool."""
        _wait(self.environment.close())


class SyncContext:
    """A `Context`, called without await from any thread."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def acquire_resource(self, spec: Hashable, *, timeout: float = 60.0) -> SyncEnvironment:
        """Return this rollout's environment of that spec or kind, waiting at most `timeout` seconds for a free one."""
        lease = _wait(self.context.acquire_resource(spec, timeout=timeout))
        return SyncEnvironment(lease, self.context._holder)  # noqa: SLF001 (its own other face)

    def reset_resource(self, spec: Hashable, task: Any) -> str:
        """Start an episode in this rollout's environment and return the first observation."""
        return _wait(self.context.reset_resource(spec, task))

    def release_resource(self, spec: Hashable | None = None) -> None:
        """Release an environment of this rollout, or all."""
        _wait(self.context.release_resource(spec))

    def end_resource(self, spec: Hashable | None = None) -> None:
        """End an environment of this rollout, or all, for good."""
        _wait(self.context.end_resource(spec))
