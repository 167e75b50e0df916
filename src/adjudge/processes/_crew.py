"""Who works, who is idle and who waits: the state of one pool in one process.

Every change is made under one lock that is held for microseconds, so that it may be taken on an event loop too. What
takes longer (starting a process, burying one) happens outside it: a keeper thread starts workers and sends idle ones
home; it lives only while there are workers, and never outlives the program.
"""

import threading
import time
from collections import deque
from collections.abc import Callable

from adjudge.errors import ProcessError
from adjudge.processes._errors import WorkerClosed, WorkerStartError
from adjudge.processes._worker import Worker

__all__ = ["Crew", "Ticket"]


class Ticket:
    """One caller's place in line. It is called once, with a worker or with an error."""

    __slots__ = ("_call", "error", "worker")

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.worker: Worker | None = None
        self.error: ProcessError | None = None

    def call(self) -> bool:
        """Tell the caller that its turn has come; whether there was still somebody to tell."""
        try:
            self._call()
        except WorkerClosed:
            return False
        return True

    def redeem(self) -> Worker:
        """Take the worker out; it is the caller's from now on."""
        if self.error is not None:
            raise self.error
        worker, self.worker = self.worker, None
        if worker is None:
            raise WorkerClosed("the place in line was given up")
        return worker


class Crew:
    """The workers of one pool: handed out first come, first served; replaced when dead; sent home when idle."""

    def __init__(self, new_worker: Callable[[], Worker], *, size: int, idle_s: float) -> None:
        self._new_worker = new_worker
        self._size = size
        self._idle_s = idle_s
        self._changed = threading.Condition(threading.Lock())
        self._idle: deque[tuple[Worker, float]] = deque()
        self._line: deque[Ticket] = deque()
        self._workers: set[Worker] = set()
        self._wanted = 0
        self._starting = False
        self._closed = False
        self._keeper: threading.Thread | None = None

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that there are now."""
        with self._changed:
            return tuple(worker.pid for worker in self._workers)

    def free_worker(self) -> Worker | None:
        """Take an idle worker at once; None: one has to stand in line."""
        while True:
            with self._changed:
                if not self._idle:
                    return None
                # The one that worked last: the others get the chance to be idle long enough to go home.
                worker, _ = self._idle.pop()
                if worker.alive:
                    return worker
                self._workers.discard(worker)
            worker.kill()

    def line_up(self, ticket: Ticket) -> None:
        """Stand in line, and have a worker started where there may be one more."""
        with self._changed:
            if self._closed:
                raise WorkerClosed("the pool was closed")
            if self._idle:  # one came back since the caller looked
                self._hand_over(self._idle.pop()[0], ticket)
                return
            self._line.append(ticket)
            self._top_up(len(self._line))

    def leave(self, ticket: Ticket) -> None:
        """Give up one's place, and the worker that one was handed but did not take."""
        with self._changed:
            if ticket in self._line:
                self._line.remove(ticket)
            worker, ticket.worker = ticket.worker, None
        if worker is not None:
            self.give_back(worker)

    def give_back(self, worker: Worker) -> None:
        """Return a worker, alive or dead."""
        with self._changed:
            if self._closed:
                pass
            elif worker.alive:
                self._offer(worker)
                return
            else:
                self._workers.discard(worker)
                # One that could not even load its target would only be followed by another such.
                self._top_up(max(len(self._line), int(worker.greeted)))
        worker.kill()

    def close(self) -> None:
        """Kill all workers and turn away whoever waits."""
        with self._changed:
            self._closed = True
            workers, line = list(self._workers), list(self._line)
            self._workers.clear()
            self._idle.clear()
            self._line.clear()
            self._changed.notify_all()
        for ticket in line:
            ticket.error = WorkerClosed("the pool was closed")
            ticket.call()
        for worker in workers:
            worker.kill()

    def _offer(self, worker: Worker) -> None:
        """Hand a worker to the first in line, or let it be idle."""
        while self._line:
            if self._hand_over(worker, self._line.popleft()):
                return
        self._idle.append((worker, time.monotonic()))

    def _hand_over(self, worker: Worker, ticket: Ticket) -> bool:
        ticket.worker = worker
        if ticket.call():
            return True
        ticket.worker = None
        return False

    def _top_up(self, wished: int) -> None:
        """Have workers started until `wished` are on their way, within the pool's size."""
        coming = self._wanted + self._starting
        room = self._size - len(self._workers) - coming
        more = min(wished - coming, room)
        if more <= 0:
            return
        self._wanted += more
        self._changed.notify_all()
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep, name="adjudge-keeper", daemon=True)
            try:
                self._keeper.start()
            except RuntimeError as error:
                self._keeper, self._wanted = None, 0
                raise WorkerStartError(f"no thread to start workers from: {error}") from error

    def _keep(self) -> None:
        """Start the workers that are wanted, send home the idle; return when there is nobody to look after."""
        while True:
            with self._changed:
                tired = self._tired()
                if not tired and not self._wanted:
                    if self._closed or not self._workers:
                        self._keeper = None
                        return
                    self._changed.wait(self._until_tired())
                    continue
                start = self._wanted > 0 and not self._closed
                self._starting = start
                self._wanted = max(self._wanted - 1, 0)
            for worker in tired:
                worker.kill()
            if start:
                self._start_one()

    def _tired(self) -> list[Worker]:
        """Take off the list the workers that have been idle for long enough."""
        now = time.monotonic()
        tired: list[Worker] = []
        while self._idle and now - self._idle[0][1] >= self._idle_s:
            tired.append(self._idle.popleft()[0])
        self._workers.difference_update(tired)
        return tired

    def _until_tired(self) -> float:
        """How long until the next idle worker may go; where all are busy, look again after one idle time."""
        if not self._idle:
            return max(self._idle_s, 0.05)
        return max(self._idle[0][1] + self._idle_s - time.monotonic(), 0.001)

    def _start_one(self) -> None:
        worker: Worker | None = None
        error: ProcessError | None = None
        try:
            worker = self._new_worker()
        except ProcessError as caught:
            error = caught
        with self._changed:
            self._starting = False
            if worker is not None and not self._closed:
                self._workers.add(worker)
                self._offer(worker)
                return
            if self._line and error is not None:
                ticket = self._line.popleft()
                ticket.error = error
                ticket.call()
            self._top_up(len(self._line))
        if worker is not None:
            worker.kill()
