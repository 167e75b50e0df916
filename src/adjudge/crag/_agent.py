"""The agent under test, as the engine asks it: with the image of its conversation, its answer cut to size.

An agent is an object with `get_batch_size()` and `batch_generate_response(queries, images, message_histories)`, which
may take `rag_context_list` and `domains` too; a function `(query, image, history) -> str`, sync or async; or any agent
that `adjudge.agents.get_agent` takes.

A batch has one turn of each of several conversations, in order of the data set:

    conversations of 1, 3 and 2 turns, two at a time:   a0 b0 | b1 c0 | b2 c1

It depends on the data set and the size alone: neither how long answers take nor where a run was interrupted changes it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adjudge.agents import get_agent, load_agent
from adjudge.calling import in_thread
from adjudge.crag import config
from adjudge.errors import AdjudgeError, Caught, DataError, UsageError
from adjudge.model import Case, Message, Trajectory

if TYPE_CHECKING:
    from adjudge.model import Agent

BATCH = "batch_generate_response"


@dataclass(frozen=True, slots=True)
class TurnExtras:
    """What an agent gets with a question: functions of the case, which may be slow and are called in a thread."""

    image: Callable[[Case], Any]
    domain: Callable[[Case], str]
    cut: Callable[[str], str]
    rag_context: Callable[[str, Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """One turn that waits for its answer."""

    case: Case
    history: list[dict[str, Any]]
    done: asyncio.Future[Trajectory]

    def fail(self, caught: Caught) -> None:
        """Pass on an error that was caught, if one was and the turn still waits."""
        if caught.reason is None or self.done.done():
            return
        error = caught.error
        self.done.set_exception(
            error if isinstance(error, AdjudgeError) else DataError(caught.reason, code="batch-failed")
        )


def agent_of(given: Any) -> Any:
    """Return the agent: the code that a text names, an instance of a class, or the object itself."""
    kind, colon, _ = given.partition(":") if isinstance(given, str) else ("", "", "")
    # A text with a colon is code, unless what comes before it is a kind of agent that has a colon too.
    if colon and kind not in ("command", "http", "https", "openai", "anthropic", "litellm"):
        given = load_agent(given)
    if not isinstance(given, type):
        return given
    with Caught() as caught:
        return given()
    raise UsageError(f"the agent {given.__qualname__} cannot be made: {caught.reason}", code="bad-agent")


def batch_size_of(agent: Any) -> int | None:
    """Return how many turns the agent answers together, clipped to the limits; None where it answers one by one."""
    if not hasattr(agent, BATCH):
        return None
    largest = config.MAX_BATCH_SIZE
    ask = getattr(agent, "get_batch_size", None)
    if ask is None:
        return largest
    with Caught() as caught:
        size = ask()
    if caught.reason is not None:
        raise UsageError(f"get_batch_size() of the agent failed: {caught.reason}", code="bad-agent")
    # Numbers of numpy and torch are whole numbers too; true is not.
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise UsageError(f"get_batch_size() of the agent gave {size!r}, not a whole number", code="bad-agent")
    return max(config.MIN_BATCH_SIZE, min(int(size), largest))


def batches(conversations: Iterable[Sequence[str]], size: int, done: Container[str] = ()) -> Iterator[list[str]]:
    """Give the ids of the turns of each batch; those that are `done` are left out.

    Conversations are lists of their turns' ids. One that has ended makes room for the next.

    >>> list(batches([["a0"], ["b0", "b1", "b2"], ["c0", "c1"]], 2))
    [['a0', 'b0'], ['b1', 'c0'], ['b2', 'c1']]
    """
    # Read as room is made: a data set may be larger than memory.
    waiting = iter(conversations)
    open_: list[tuple[Sequence[str], int]] = []
    while True:
        while len(open_) < size:
            turns = next(waiting, None)
            if turns is None:
                break
            if turns:
                open_.append((turns, 0))
        if not open_:
            return
        batch = [turns[at] for turns, at in open_ if turns[at] not in done]
        if batch:
            yield batch
        open_ = [(turns, at + 1) for turns, at in open_ if at + 1 < len(turns)]


class BatchTurns:
    """An agent that answers batches, one at a time; `batches` are the ids of the turns in each.

    A batch has `deadline` seconds for each of its turns. The failure of a whole batch fails each of its turns; an image
    that cannot be loaded, or an answer that is not text, only its own.
    """

    def __init__(
        self, agent: Any, extras: TurnExtras, batches: Iterable[list[str]], *, size: int, deadline: float
    ) -> None:
        self.name = str(getattr(agent, "name", None) or type(agent).__qualname__)
        self.together = size
        self._call: Callable[..., Any] = getattr(agent, BATCH)
        self._accepted = _accepted(self._call, ("rag_context_list", "domains"))
        self._extras = extras
        self._batches: Iterator[list[str]] = iter(batches)
        self._next = next(self._batches, None)
        self._deadline = deadline
        self._waiting: dict[str, PendingTurn] = {}
        self._task: asyncio.Task[None] | None = None

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one turn, together with the others of its batch."""
        done: asyncio.Future[Trajectory] = asyncio.get_running_loop().create_future()
        self._waiting[case.id] = PendingTurn(case, _plain(history), done)
        self._start()
        return await done

    async def aclose(self) -> None:
        """Give up the batch that is under way."""
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        """Ask the next batch if no batch is under way and all turns of the next one wait."""
        if self._task is None and self._next is not None and all(id_ in self._waiting for id_ in self._next):
            batch = [self._waiting.pop(id_) for id_ in self._next]
            self._next = next(self._batches, None)
            # The task is the lock: one batch at a time, and it starts the next one when it ends.
            self._task = asyncio.create_task(self._answer(batch))

    async def _answer(self, batch: list[PendingTurn]) -> None:
        with Caught(fatal_too=True) as caught:
            ready, images = [], []
            # Images are loaded in a thread: a fetch would hold up the answers of other conversations.
            for turn, image in zip(batch, await in_thread(self._load_images, batch), strict=True):
                if isinstance(image, Caught):
                    turn.fail(image)
                else:
                    ready.append(turn)
                    images.append(image)
            answers = await self._ask(ready, images) if ready else []
            for turn, answer in zip(ready, answers, strict=True):
                with Caught() as own:
                    trajectory = _trajectory(turn.case, answer, self._extras.cut)
                    # A turn that was given up meanwhile has no use for an answer.
                    if not turn.done.done():
                        turn.done.set_result(trajectory)
                turn.fail(own)
        for turn in batch:
            turn.fail(caught)
        self._task = None
        self._start()

    def _load_images(self, batch: Sequence[PendingTurn]) -> list[Any]:
        """Load the images; in place of one that cannot be loaded is the `Caught` that says why."""
        found: list[Any] = []
        for turn in batch:
            with Caught() as caught:
                found.append(self._extras.image(turn.case))
            if caught.reason is not None:
                found.append(caught)
        return found

    async def _ask(self, batch: Sequence[PendingTurn], images: list[Any]) -> list[Any]:
        given = ([turn.case.question for turn in batch], images, [turn.history for turn in batch])
        # A batch of sixteen may take as long as sixteen turns one by one.
        limit = self._deadline * len(batch)
        try:
            async with asyncio.timeout(limit):
                # What the agent gets beside the questions may be slow, so it is made in a thread in either case.
                if inspect.iscoroutinefunction(self._call):
                    answers = await self._call(*given, **await in_thread(self._optional, batch, images))
                else:
                    answers = await in_thread(lambda: self._call(*given, **self._optional(batch, images)))
        except TimeoutError:
            raise AdjudgeError(f"the agent gave no answers within {limit:g} seconds", code="deadline") from None
        if not isinstance(answers, list | tuple) or len(answers) != len(batch):
            count = len(answers) if isinstance(answers, list | tuple) else f"a {type(answers).__name__}, not"
            raise DataError(f"{self.name} returned {count} answers to {len(batch)} queries", code="bad-batch")
        return list(answers)

    def _optional(self, batch: Sequence[PendingTurn], images: Sequence[Any]) -> dict[str, Any]:
        """Return those of the optional arguments that the agent takes."""
        found: dict[str, Any] = {}
        if "rag_context_list" in self._accepted:
            context = self._extras.rag_context or (lambda _query, _image: "")
            pairs = zip(batch, images, strict=True)
            found["rag_context_list"] = [context(turn.case.question, image) for turn, image in pairs]
        if "domains" in self._accepted:
            found["domains"] = [self._extras.domain(turn.case) for turn in batch]
        return found


class SingleTurns:
    """An agent that answers one turn at a time: a function `(query, image, history)`, or an agent of any other kind."""

    def __init__(self, agent: Any, extras: TurnExtras) -> None:
        self._function: Callable[..., Any] | None = agent if _takes_three(agent) else None
        self._agent: Agent | None = None if self._function is not None else get_agent(agent)
        named = agent if self._agent is None else self._agent
        self.name = str(getattr(named, "name", None) or getattr(named, "__qualname__", type(named).__qualname__))
        self._extras = extras

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one turn."""
        image = await in_thread(self._extras.image, case)
        if self._agent is not None:
            done = await self._agent.respond(replace(case, image=image), history)
            # The turns before are known already, and the image must not get into the run file.
            kept = _trajectory(case, done.final_response, self._extras.cut)
            return replace(kept, tool_calls=done.tool_calls, agents_called=done.agents_called, sources=done.sources)
        assert self._function is not None  # noqa: S101 (one of the two is there)
        given = (case.question, image, _plain(history))
        call = getattr(self._function, "__call__", self._function)  # noqa: B004 (an object may have an async __call__)
        if inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(call):
            answer = await self._function(*given)
        else:
            answer = await in_thread(self._function, *given)
            # A plain function may still return something to wait for.
            answer = await answer if inspect.isawaitable(answer) else answer
        return _trajectory(case, answer, self._extras.cut)

    async def aclose(self) -> None:
        """End what the agent holds open."""
        close = getattr(self._agent, "aclose", None)
        if close is not None:
            await close()


def _plain(history: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in history]


def _trajectory(case: Case, answer: Any, cut: Callable[[str], str]) -> Trajectory:
    """Return an answer as a trajectory: the messages hold all of it, the final response the part that counts."""
    if not isinstance(answer, str):
        raise DataError(f"the agent answered with a {type(answer).__name__}, not with text", code="bad-answer")
    messages = (Message("user", case.question), Message("assistant", answer))
    return Trajectory(messages, final_response=cut(answer))


def _accepted(function: Callable[..., Any], names: Sequence[str]) -> frozenset[str]:
    """Return those of the names that the function takes as arguments."""
    try:
        parameters = inspect.signature(function).parameters
    # Some compiled functions do not say what they take.
    except (TypeError, ValueError):
        return frozenset()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return frozenset(name for name in names if takes_any or name in parameters)


def _takes_three(agent: Any) -> bool:
    """Return whether an agent is a function of a query, an image and a history."""
    if not callable(agent) or hasattr(agent, "respond"):
        return False
    try:
        inspect.signature(agent).bind("query", None, [])
    except TypeError:
        return False
    # It has no signature: only a call can show.
    except ValueError:
        return True
    return True
