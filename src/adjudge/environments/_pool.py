"""Some instances of one spec, shared by any number of rollouts."""

import asyncio
import os
import time
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from copy import copy
from math import isnan
from typing import Self

from adjudge.environments._errors import EnvAcquireTimeout, EnvDied, EnvError, EnvStepTimeout
from adjudge.environments._joined import JoinedEnvironment
from adjudge.environments._lease import LeasedEnvironment
from adjudge.environments._local import backend_of
from adjudge.environments._loops import BACKGROUND, Ticket
from adjudge.environments._roster import Counts, InstanceTicket, Member, Roster
from adjudge.environments._world import Backend, EnvSpec, PoolLimits, SharingBackend
from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.processes import register_after_fork

__all__ = ["Pool"]

_MOST_HERE = 4096
_MOST_WORKERS = 8
_LOOKS = 4  # how often in a lease's time the reaper looks at it
_LONGEST_LOOK_S = 0.25
_HEALTH_S = 15.0
_MOST_EXPIRED = 10_000  # rollouts to remember that have lost their environment


class Pool:
    """Up to `size` instances of `spec`, started when they are needed and leased to one rollout at a time.

    `backend` is "process" (this one), "worker", or a backend object; by default the spec decides. Waiting is first
    come, first served and bounded. An instance that comes back is handed out again only if it answers, and its next
    rollout cannot act before a reset; one that died or is due is replaced. A lease without a call for `limits.lease_s`
    seconds is taken back. A pool serves any number of threads and event loops, one after another or at once.
    """

    def __init__(
        self,
        spec: EnvSpec,
        size: int | None = None,
        backend: str | Backend | None = None,
        *,
        limits: PoolLimits | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits or PoolLimits()
        self._backend = backend_of(spec.home if backend is None else backend)
        self._sharing = self._backend if isinstance(self._backend, SharingBackend) else None
        # Worlds in this process are cheap; a worker costs a process, and more of them than cores gain nothing.
        home = backend if isinstance(backend, str) else spec.home
        most = _MOST_HERE if home == "process" else min(_MOST_WORKERS, os.cpu_count() or 1)
        self.size = most if size is None else size
        if self.size < 1:
            raise UsageError(f"a pool needs at least one instance, not {size!r}", code="bad-limit")
        if type(spec.max_calls) is not int or spec.max_calls < 1:
            raise UsageError(f"max_calls must be a whole number from 1, not {spec.max_calls!r}", code="bad-limit")
        self._roster = Roster(self.size, self.limits, self._start, self._end)
        self._leases: dict[str, LeasedEnvironment] = {}
        self._expired: OrderedDict[str, LeasedEnvironment] = OrderedDict()
        self._acquiring: dict[str, list[Ticket]] = {}
        self._reaping = False
        self._in_progress: set[Future[None]] = set()  # starts and ends of instances
        register_after_fork(self)

    async def acquire(
        self,
        rollout_id: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109 (public name)
        holder: object = None,
    ) -> LeasedEnvironment:
        """Return the rollout's environment: the one that it has, or one that is free within `timeout` seconds.

        A rollout that has one in another process gets that one. A rollout that lost its environment because it did not
        call it gets an error, until it releases it.
        """
        deadline = time.monotonic() + _seconds(timeout)
        self._drop_stale(rollout_id)
        while True:
            ticket = None
            left = deadline - time.monotonic()
            with self._roster.lock:
                # The lease is the rollout's, whichever of its contexts, tasks or threads asks.
                lease = self._leases.get(rollout_id)
                if lease is not None:
                    lease.holders.add(holder)
                    return lease
                if rollout_id in self._expired:
                    self._expired[rollout_id].check_open()
                # Only the first task of a rollout acquires; the others wait for it, then find its lease.
                others = self._acquiring.get(rollout_id)
                if others is None:
                    self._acquiring[rollout_id] = []
                else:
                    ticket = Ticket()
                    others.append(ticket)
            if ticket is None:
                return await self._acquire_first(rollout_id, left, holder)
            try:
                async with asyncio.timeout(left):
                    await ticket.wait()  # another task of the rollout is acquiring it already
            except TimeoutError:
                raise self._too_late(timeout) from None

    def find(self, rollout_id: str) -> LeasedEnvironment | None:
        """Return the environment that the rollout has, or has lost because it did not call it; otherwise None."""
        return self._leases.get(rollout_id) or self._expired.get(rollout_id)

    async def reach(self, rollout_id: str, *, holder: object = None) -> LeasedEnvironment | None:
        """Return the environment that the rollout has here or in another process; None if nobody knows one.

        Unlike `acquire` it starts nothing.
        """
        lease = self.find(rollout_id)
        # Where another process holds it, it may be another one by now.
        if lease is None or lease.is_guest:
            return await self._join(rollout_id, holder, thorough=True)
        return lease

    def release(self, lease: LeasedEnvironment, *, holder: object = None, end: bool = False) -> None:
        """Remove a holder from a lease, and take the instance back with the last one; `end` ends the instance now."""
        with self._roster.lock:
            lease.holders.discard(holder)
            if lease.player is holder:
                lease.player = None  # whoever still holds it may start an episode of its own
            if self._expired.get(lease.rollout_id) is lease:
                del self._expired[lease.rollout_id]
            if lease.holders and not end:
                return
        self.take_back(lease, fit=not end)

    def counts(self) -> Counts:
        """Count instances, leases and waits."""
        return self._roster.counts()

    def close(self) -> None:
        """End every instance; open leases end with their next call, and whoever waits gets an error."""
        self._roster.close()
        for lease in list(self._leases.values()):
            self.take_back(lease, fit=False)

    async def aclose(self) -> None:
        """Close, and wait until every instance has ended, including those that are still starting."""
        self.close()
        # A start that is under way ends its instance when it finds the pool closed, which is more to wait for.
        while self._in_progress:
            await asyncio.gather(*map(asyncio.wrap_future, tuple(self._in_progress)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    def after_fork(self) -> None:
        """In a forked child: ignore the parent's instances and start with none."""
        self._roster.after_fork()
        self._leases, self._expired, self._acquiring = {}, OrderedDict(), {}
        self._reaping, self._in_progress = False, set()

    async def replace(self, lease: LeasedEnvironment, *, timeout: float) -> None:  # noqa: ASYNC109 (as acquire)
        """Give a lease a fresh instance for a dead one; it waits in front of those who have none yet."""
        with self._roster.lock:
            # Given back before the new one is asked for: in a full pool its place is the only one there is.
            dead, lease.member = lease.member, None
        if dead is not None:
            self._roster.give_back(dead, fit=False)
        lease.turn += 1
        member = await self._claimed_member(lease, timeout, first=True)
        if member is None:
            raise EnvDied(f"another process has replaced the environment of rollout {lease.rollout_id} meanwhile")
        with self._roster.lock:
            # The lease may have been released or have expired while its replacement started.
            if lease.is_open:
                lease.member = member
                return
        self._roster.give_back(member)
        lease.check_open()

    async def _acquire_first(self, rollout_id: str, timeout: float, holder: object) -> LeasedEnvironment:  # noqa: ASYNC109
        """Acquire for a rollout whose first task this is; wakes its other tasks that came meanwhile."""
        try:
            deadline = time.monotonic() + timeout
            while True:
                unsure: EnvError | None = None
                try:
                    joined = await self._join(rollout_id, holder)
                except EnvError as error:
                    joined, unsure = None, error
                if joined is not None:
                    return joined
                lease = LeasedEnvironment(self, rollout_id, None, unsure=unsure)
                lease.member = await self._claimed_member(lease, deadline - time.monotonic(), first=False)
                if lease.member is not None:  # else another process was quicker, and its environment is joined
                    self._give(lease, holder)
                    return lease
        finally:
            with self._roster.lock:
                others = self._acquiring.pop(rollout_id, [])
            for ticket in others:
                ticket.call()

    def _drop_stale(self, rollout_id: str) -> None:
        """Forget an environment of another process that has ended over there: the rollout may have another one."""
        lease = self._leases.get(rollout_id)
        if lease is not None and lease.is_stale:
            self.take_back(lease)

    def _give(self, lease: LeasedEnvironment, holder: object) -> None:
        """Enter a lease, and have somebody look whether it is used."""
        lease.holders.add(holder)
        with self._roster.lock:
            self._leases[lease.rollout_id] = lease
            self._roster.tally["given"] += 1
            is_reaping, self._reaping = self._reaping, True
        if not is_reaping:
            BACKGROUND.submit(self._reap())

    async def _join(self, rollout_id: str, holder: object, *, thorough: bool = False) -> LeasedEnvironment | None:
        """Return the environment that the rollout has in another process, or None."""
        if self._sharing is None:
            return None
        found = await self._sharing.join(self.spec, rollout_id, self.limits, thorough=thorough)
        old = self._leases.get(rollout_id)
        if isinstance(old, JoinedEnvironment):
            if found is not None and found.name == old.name and not old.is_stale:
                await found.instance.close()
                return old
            self.take_back(old)
        if found is None:
            return None
        lease = JoinedEnvironment(self, rollout_id, found)
        self._give(lease, holder)
        return lease

    async def _claimed_member(
        self,
        lease: LeasedEnvironment,
        timeout: float,  # noqa: ASYNC109 (as acquire)
        *,
        first: bool,
    ) -> Member | None:
        """Wait for a member that is the rollout's for every process; None where another one has claimed one already."""
        deadline = time.monotonic() + timeout
        while True:
            member = await self._ready_member(deadline - time.monotonic(), first=first)
            if self._sharing is None:
                return member
            is_ours = None
            try:
                is_ours = await self._sharing.claim(member.instance, lease.rollout_id, lease.turn)
            except (EnvDied, EnvStepTimeout):
                first = True  # it died meanwhile, and it is still this rollout's turn
            finally:
                if not is_ours:
                    self._roster.give_back(member, fit=is_ours is not None)
            if is_ours is not None:
                return member if is_ours else None

    async def _ready_member(self, timeout: float, *, first: bool) -> Member:  # noqa: ASYNC109 (as acquire)
        """Wait for a member that answers."""
        deadline = time.monotonic() + timeout
        while True:
            member = None if first else self._roster.take()
            if member is None:
                member = await self._in_line(deadline, timeout, first=first)
            fit = member.state == "idle"  # never used: there is nothing to ask
            try:
                # A used one may have died or hung since: whoever gets it asks, so that nobody pays for those never
                # handed out.
                if not fit and member.instance.alive:
                    with suppress(TimeoutError, AdjudgeError):
                        async with asyncio.timeout(_HEALTH_S):
                            fit = await member.instance.health()
            finally:
                if fit:
                    member.state = "leased"
                else:
                    self._roster.give_back(member, fit=False)
            if fit:
                return member
            first = True  # it is still this rollout's turn

    async def _in_line(self, deadline: float, timeout: float, *, first: bool) -> Member:  # noqa: ASYNC109 (as acquire)
        ticket = InstanceTicket()
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                self._roster.line_up(ticket, first=first)
                await ticket.wait()
            return self._roster.redeem(ticket)
        except TimeoutError:
            with self._roster.lock:
                self._roster.tally["timeouts"] += 1
            raise self._too_late(timeout) from None
        finally:
            self._roster.leave(ticket)

    def _too_late(self, timeout: float) -> AdjudgeError:
        """Return what to raise when a rollout's time is up: why nothing starts, or else that nothing became free."""
        counts, waited, failure = self.counts(), max(timeout, 0.0), self._roster.failure
        if failure is not None:
            late = copy(failure)
            late.message = f"{failure.message} (tried again for {waited:.3g} s)"
            late.args = (late.message,)
            return late
        return EnvAcquireTimeout(
            f"no {self.spec.kind} environment was free within {waited:.3g} s: {counts.leased} of {self.size} leased, "
            f"{counts.starting} starting, {counts.waiting} other rollouts waiting; make the pool larger or wait longer"
        )

    def take_back(self, lease: LeasedEnvironment, *, fit: bool = True, why: str = "released") -> None:
        """End a lease, whoever holds it; nothing here waits, so nothing here can be cancelled."""
        with self._roster.lock:
            if not lease.is_open:
                return
            lease.end(why)
            # The rollout may have another lease by now: only its own entry goes.
            if self._leases.get(lease.rollout_id) is lease:
                del self._leases[lease.rollout_id]
            self._roster.tally["returned"] += 1
            if why == "expired":
                self._roster.tally["reaped"] += 1
                # Kept, so that a late rollout gets an error instead of a fresh environment without its episode.
                if not lease.is_guest:
                    self._expired[lease.rollout_id] = lease
                if len(self._expired) > _MOST_EXPIRED:
                    self._expired.popitem(last=False)
            # Taken under the lock: two tasks that end the same lease must not both give its member back.
            member, lease.member = lease.member, None
        if member is not None:
            if self._sharing is not None:
                self._follow(BACKGROUND.submit(self._sharing.unclaim(member.instance, lease.rollout_id)))
            # With a call in progress nobody knows when it will be usable again.
            self._roster.give_back(member, fit=fit and not lease.is_busy)

    def _start(self, count: int, pause_s: float) -> None:
        for _ in range(count):
            self._follow(BACKGROUND.submit(self._start_one(pause_s)))

    async def _start_one(self, pause_s: float) -> None:
        if pause_s:
            # A start has just failed. Without a pause, a world that cannot start would keep the machine busy.
            await asyncio.sleep(pause_s)
            if self._roster.withdraw_start():
                return
        with Caught(fatal_too=True) as caught:
            async with asyncio.timeout(self.limits.start_s):
                member = Member(await self._backend.start(self.spec, self.limits))
        if caught.error is None:
            self._roster.add(member)
        elif isinstance(caught.error, AdjudgeError):
            self._roster.report_failure(caught.error)
        else:
            self._roster.report_failure(EnvDied(f"no {self.spec.kind} environment could be started: {caught.reason}"))

    def _end(self, member: Member) -> None:
        self._follow(BACKGROUND.submit(member.instance.close()))

    def _follow(self, work: Future[None]) -> None:
        self._in_progress.add(work)
        work.add_done_callback(self._in_progress.discard)

    async def _reap(self) -> None:
        """Take back the leases that nobody called in time, for as long as there are leases."""
        lease_s = self.limits.lease_s
        while True:
            # Looking a few times in a lease's time is soon enough, and costs nothing.
            await asyncio.sleep(min(_LONGEST_LOOK_S, lease_s / _LOOKS))
            now = time.monotonic()
            with self._roster.lock:
                if not self._leases:
                    self._reaping = False
                    return
                late = [one for one in self._leases.values() if not one.is_busy and now - one.used > lease_s]
            for lease in late:
                self.take_back(lease, fit=True, why="expired")


def _seconds(timeout: object) -> float:
    if not isinstance(timeout, int | float) or isnan(timeout):
        raise UsageError(f"timeout must be a number of seconds, not {timeout!r}", code="bad-limit")
    return timeout
