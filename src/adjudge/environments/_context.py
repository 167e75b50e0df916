"""One rollout's identity, through which its tools and its reward reach the same live environment."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

from adjudge.environments._kinds import default_pool, default_pools, default_spec
from adjudge.environments._lease import LeasedEnvironment
from adjudge.environments._pool import Pool
from adjudge.environments._sync import SyncContext
from adjudge.environments._world import EnvSpec
from adjudge.errors import UsageError

__all__ = ["Context"]


class Context:
    """One rollout: `async with Context("rollout-1") as context`, or `with`, and all that it holds is given back.

    A lease belongs to the rollout and the spec: the same spec gives the same live environment, also through another
    `Context` of the same `rollout_id`; two specs give two. A bare kind ("webshop") means the rollout's open lease of
    that kind, or else the pool of that kind that was given here, or the kind's default spec. Specs for which no pool
    is among `pools` share default pools. Code that cannot await uses `context.sync`. Once it was left, a context takes
    nothing more, until it is entered again.
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
        self._mine: dict[EnvSpec, LeasedEnvironment] = {}
        self._had: dict[EnvSpec, LeasedEnvironment] = {}
        self._holder = object()
        self._is_left = False

    def __repr__(self) -> str:
        return f"Context({self.rollout_id!r}, {self.group_id!r})"

    @property
    def sync(self) -> SyncContext:
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
        if self._is_left:  # meanwhile: nobody would give it back
            pool.release(lease, holder=self._holder)
            self._check_entered()
        self._mine[pool.spec] = self._had[pool.spec] = lease
        return lease

    def find_resource(self, spec: Hashable) -> LeasedEnvironment | None:
        """Return the environment of that spec or kind that this rollout has now, or None; takes none."""
        if isinstance(spec, EnvSpec):
            return self._pool_of(spec).find(self.rollout_id)
        pools = {pool.spec: pool for pool in (*default_pools(), *self._pools) if pool.spec.kind == spec}
        found = [lease for pool in pools.values() if (lease := pool.find(self.rollout_id)) is not None]
        if len(found) > 1:
            raise UsageError(
                f"rollout {self.rollout_id} has {len(found)} environments of kind {spec!r}: name the spec",
                code="ambiguous-kind",
            )
        return found[0] if found else None

    def last_resource(self, spec: Hashable) -> LeasedEnvironment | None:
        """Return the environment of that spec or kind that this rollout has, or else had last; None: never one.

        This is what a reward reads: an environment that was given back before it was scored is an error to be told, and
        not an episode that never was.
        """
        had = [lease for lease in self._had.values() if spec in (lease.spec, lease.spec.kind)]
        return self.find_resource(spec) or (had[-1] if had else None)

    async def reset_resource(self, spec: Hashable, task: Any) -> str:
        """Start an episode in this rollout's environment and return the first observation."""
        return await (await self.acquire_resource(spec)).reset(task)

    async def release_resource(self, spec: Hashable | None = None) -> None:
        """Give back an environment of this rollout, or all; another rollout may have it next. None held is legal."""
        for lease in self._held(spec):
            self._mine.pop(lease.spec, None)
            lease.pool.release(lease, holder=self._holder)

    async def end_resource(self, spec: Hashable | None = None) -> None:
        """End an environment of this rollout, or all, for good: the instance is closed and never used again."""
        for lease in self._held(spec):
            self._mine.pop(lease.spec, None)
            lease.pool.release(lease, holder=self._holder, end=True)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *exception: object) -> None:
        self._is_left = True
        await self.release_resource()

    def __enter__(self) -> Self:
        self._is_left = False
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_left = True
        self.sync.release_resource()

    def _check_entered(self) -> None:
        if self._is_left:
            raise UsageError(
                f"rollout {self.rollout_id} has left its context: what it took now nobody would give back",
                code="context-left",
            )

    def _held(self, spec: Hashable | None) -> list[LeasedEnvironment]:
        if spec is None:
            return list(self._mine.values())
        lease = self.find_resource(spec)
        return [] if lease is None else [lease]

    def _pool_of(self, spec: Hashable) -> Pool:
        """Return the pool that serves a spec or kind; a wrong name is an error here."""
        if isinstance(spec, EnvSpec):
            return next((pool for pool in self._pools if pool.spec == spec), None) or default_pool(spec)
        if not isinstance(spec, str):
            raise UsageError(f"a spec or the name of a kind, not {type(spec).__name__}", code="bad-spec")
        given = [pool for pool in self._pools if pool.spec.kind == spec]
        if len(given) > 1:
            raise UsageError(f"there are {len(given)} pools of kind {spec!r}: name the spec", code="ambiguous-kind")
        return given[0] if given else default_pool(default_spec(spec))
