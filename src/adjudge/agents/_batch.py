"""Agents that answer many cases at once: whatever waits is put together, up to the size that the agent likes."""

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.agents._answer import to_trajectory
from adjudge.calling import in_thread
from adjudge.errors import AdjudgeError, Caught, DataError
from adjudge.model import Case, Message, Trajectory

GATHER = 0.01  # seconds in which a batch fills up


class BatchAgent:
    """A function from a list of cases to a list of answers, or an object with `batch_generate_response`.

    The function is called as `function(cases, histories)`, the object as
    `batch_generate_response(queries, images, message_histories)` with its own `get_batch_size()`. One batch is under
    way at a time.
    """

    def __init__(self, agent: Any, *, size: int | None = None, name: str | None = None) -> None:
        self.name: str = name or str(getattr(agent, "__qualname__", type(agent).__name__))
        self.size = max(1, size if size is not None else int(getattr(agent, "get_batch_size", lambda: 16)()))
        self._call: Callable[..., Any] = getattr(agent, "batch_generate_response", agent)
        self._is_object = self._call is not agent
        self._waiting: deque[tuple[Case, Sequence[Message], asyncio.Future[Trajectory]]] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one case with the next batch."""
        done: asyncio.Future[Trajectory] = asyncio.get_running_loop().create_future()
        self._waiting.append((case, history, done))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await done

    async def _work(self) -> None:
        while self._waiting:
            if len(self._waiting) < self.size:
                await asyncio.sleep(GATHER)
            batch = [self._waiting.popleft() for _ in range(min(self.size, len(self._waiting)))]
            batch = [one for one in batch if not one[2].done()]  # the others have been given up
            if not batch:
                continue
            with Caught(fatal_too=True) as caught:
                answers = await self._ask(batch)
                for (case, _, done), answer in zip(batch, answers, strict=True):
                    if not done.done():
                        _answer(done, case, answer)
            if caught.reason is not None:
                for _, _, done in batch:
                    if not done.done():
                        done.set_exception(_shared(caught))

    async def _ask(self, batch: Sequence[tuple[Case, Sequence[Message], Any]]) -> list[Any]:
        cases = [case for case, _, _ in batch]
        histories = [[{"role": one.role, "content": one.content} for one in history] for _, history, _ in batch]
        arguments: tuple[Any, ...] = (cases, histories)
        if self._is_object:
            arguments = ([case.question for case in cases], [case.image for case in cases], histories)
        if inspect.iscoroutinefunction(self._call):
            answers = await self._call(*arguments)
        else:
            answers = await in_thread(self._call, *arguments)
        if not isinstance(answers, list | tuple) or len(answers) != len(batch):
            count = len(answers) if isinstance(answers, list | tuple) else type(answers).__name__
            raise DataError(f"{self.name} gave {count} answers for {len(batch)} cases", code="bad-batch")
        return list(answers)


def _shared(caught: Caught) -> AdjudgeError:
    """Return what every case of a failed batch is told."""
    error = caught.error
    return error if isinstance(error, AdjudgeError) else DataError(caught.reason or "", code="batch-failed")


def _answer(done: "asyncio.Future[Trajectory]", case: Case, answer: Any) -> None:
    try:
        done.set_result(to_trajectory(case, answer))
    except DataError as error:
        done.set_exception(error)
