"""Who is free, who is out and who waits: the state of one pool, changed under one lock that is held for microseconds.

A member is starting, idle, leased, dirty or dead:

    starting ──> idle ──> leased ──> dirty ──> leased ...
                  │         │          │
                  └─────────┴──────────┴─────> dead

A dirty member was used before: whoever gets it asks first whether it answers, and cannot act in it before it was
reset. Nothing here waits, starts or ends anything; that is done by whoever is told to, on the background loop.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from copy import copy
from typing import Literal

from adjudge.environments._backend import Instance, PoolLimits
from adjudge.environments._counts import Counts, Waits
from adjudge.environments._ticket import Ticket
from adjudge.errors import AdjudgeError, UsageError

__all__ = ["Member", "Place", "Roster"]

State = Literal["idle", "leased", "dirty", "dead"]


class Member:
    """One instance of a pool."""

    __slots__ = ("born", "episodes", "instance", "state")

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.state: State = "idle"
        self.episodes = 0
        self.born = time.monotonic()


class Place(Ticket):
    """A ticket for a member, or for the error that stands in its stead."""

    __slots__ = ("error", "member", "since")

    def __init__(self) -> None:
        super().__init__()
        self.member: Member | None = None
        self.error: AdjudgeError | None = None
        self.since = time.monotonic()


class Roster:
    """The members of one pool, handed out first come, first served."""

    def __init__(
        self, size: int, limits: PoolLimits, start: Callable[[], object], bury: Callable[[Member], object]
    ) -> None:
        self.lock = threading.Lock()
        self.limits = limits
        self.waits = Waits()
        self._size = size
        self._start = start
        self._bury = bury
        self._free: list[Member] = []
        self._line: OrderedDict[Place, None] = OrderedDict()  # whoever gives up leaves it at no cost to the others
        self._out: set[Member] = set()
        self._starting = 0
        self._closed = False
        self.tally = dict.fromkeys(
            ("starts", "dead", "recycles", "given", "returned", "reaped", "timeouts", "faults"), 0
        )

    def take(self) -> Member | None:
        """Take a free member at once; None: one has to stand in line."""
        with self.lock:
            self._check_open()
            return self._hand_out(self._free.pop()) if self._free and not self._line else None

    def line_up(self, place: Place, *, first: bool = False) -> None:
        """Stand in line (in front, for whoever has lost what it had), and have a member started where there may be."""
        with self.lock:
            self._check_open()
            self._line[place] = None
            if first:
                self._line.move_to_end(place, last=False)
            if self._free:
                self._offer(self._free.pop())
            starts = self._top_up()
        self._begin(starts)

    def leave(self, place: Place) -> None:
        """Give up one's place, and the member that one was handed but did not take."""
        with self.lock:
            self._line.pop(place, None)
            member, place.member = place.member, None
        if member is not None:
            self.give_back(member)

    def redeem(self, place: Place) -> Member:
        """Take the member out of a place that was called; it is the caller's from now on."""
        if place.error is not None:
            raise place.error
        member, place.member = place.member, None
        if member is None:
            raise UsageError("the pool was closed", code="pool-closed")
        self.waits.add(time.monotonic() - place.since)
        return member

    def give_back(self, member: Member, *, fit: bool = True) -> None:
        """Return a member; one that is unfit, dead or due is buried, and another started if somebody waits."""
        due = fit and self._is_due(member)
        alive = fit and not due and member.instance.alive
        with self.lock:
            self._out.discard(member)
            member.state = "dirty"
            if alive and not self._closed:
                self._offer(member)
                starts = 0
            else:
                member.state = "dead"
                self.tally["dead"] += 1
                self.tally["recycles"] += due
                self.tally["faults"] += not due and not self._closed and not member.instance.alive
                starts = self._top_up()
        if member.state == "dead":
            self._bury(member)
        self._begin(starts)

    def started(self, member: Member) -> None:
        """Take in a member that has been started."""
        with self.lock:
            self._starting -= 1
            if not self._closed:
                self._offer(member)
                return
            member.state = "dead"
            self.tally["dead"] += 1
        self._bury(member)

    def failed(self, error: AdjudgeError) -> None:
        """Tell whoever is next that no member could be started: it would only be followed by another such.

        What is wrong with the call, such as a missing package, is told to all: the next start would end so too.
        """
        is_for_all = isinstance(error, UsageError)
        with self.lock:
            self._starting -= 1
            self.tally["dead"] += 1
            self.tally["faults"] += 1
            while self._line:
                place, _ = self._line.popitem(last=False)
                place.error = copy(error)
                if place.call() and not is_for_all:
                    break
            starts = self._top_up()
        self._begin(starts)

    def close(self) -> None:
        """Bury what is free and turn away whoever waits; what is out is buried when it comes back."""
        with self.lock:
            self._closed = True
            free, self._free = self._free, []
            line, self._line = list(self._line), OrderedDict()
            for member in free:
                member.state = "dead"
            self.tally["dead"] += len(free)
        for place in line:
            place.call()
        for member in free:
            self._bury(member)

    def after_fork(self) -> None:
        """In a forked child: all members are the parent's."""
        self.lock = threading.Lock()
        self._free, self._line, self._out = [], OrderedDict(), set()
        self._starting = 0
        self.tally = dict.fromkeys(self.tally, 0)

    def counts(self) -> Counts:
        """Count."""
        with self.lock:
            idle = sum(member.state == "idle" for member in self._free)
            return Counts(
                starting=self._starting,
                idle=idle,
                dirty=len(self._free) - idle,
                leased=len(self._out),
                waiting=len(self._line),
                waited_s=self.waits.total_s,
                longest_wait_s=self.waits.longest_s,
                median_wait_s=self.waits.median_s,
                **self.tally,
            )

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("the pool was closed", code="pool-closed")

    def _hand_out(self, member: Member) -> Member:
        self._out.add(member)
        return member

    def _offer(self, member: Member) -> None:
        """Hand a member to the first in line that is still there, or keep it."""
        while self._line:
            place, _ = self._line.popitem(last=False)
            place.member = self._hand_out(member)
            if place.call():
                return
            place.member = None
            self._out.discard(member)
        self._free.append(member)

    def _top_up(self) -> int:
        """Say how many members to start for those who wait, and count them as starting."""
        room = self._size - len(self._out) - len(self._free) - self._starting
        starts = 0 if self._closed else max(0, min(len(self._line) - self._starting, room))
        self._starting += starts
        self.tally["starts"] += starts
        return starts

    def _begin(self, starts: int) -> None:
        for _ in range(starts):
            self._start()

    def _is_due(self, member: Member) -> bool:
        limits = self.limits
        if limits.episodes is not None and member.episodes >= limits.episodes:
            return True
        if limits.age_s is not None and time.monotonic() - member.born >= limits.age_s:
            return True
        return limits.memory_mb is not None and (member.instance.memory_mb() or 0.0) > limits.memory_mb
