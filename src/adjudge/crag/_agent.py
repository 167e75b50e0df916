"""The agent under test, as the engine asks it: with the image of its conversation, its answer cut to size.

An agent is an object with `get_batch_size()` and `batch_generate_response(queries, images, message_histories)`, which
may take `rag_context_list` and `domains` too; a function `(query, image, history) -> str`, sync or async; or whatever
`adjudge.agents` knows.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
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
class Props:
    """What an agent is given with a question: each a function of the case, called where it may take its time."""

    image: Callable[[Case], Any]
    domain: Callable[[Case], str]
    cut: Callable[[str], str]
    rag_context: Callable[[str, Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn that waits for its answer."""

    case: Case
    history: list[dict[str, Any]]
    done: asyncio.Future[Trajectory]


def agent_of(given: Any) -> Any:
    """Return the agent that is meant: what stands at a place, an instance of a class, or the thing itself."""
    kind, colon, _ = given.partition(":") if isinstance(given, str) else ("", "", "")
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
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise UsageError(f"get_batch_size() of the agent gave {size!r}, not a whole number", code="bad-agent")
    return max(config.MIN_BATCH_SIZE, min(int(size), largest))


class BatchTurns:
    """An agent that answers batches; `batches` says which turns stand in which. One batch is under way at a time.

    A batch has `deadline` seconds for each of its turns. What goes wrong with a whole batch is told to each of its
    turns; an image that cannot be had, or an answer that is no text, only to its own.
    """

    def __init__(self, agent: Any, props: Props, batches: Iterable[list[str]], *, size: int, deadline: float) -> None:
        self.name = str(getattr(agent, "name", None) or type(agent).__qualname__)
        self.together = size
        self._call: Callable[..., Any] = getattr(agent, BATCH)
        self._extra = _accepted(self._call, ("rag_context_list", "domains"))
        self._props = props
        self._batches: Iterator[list[str]] = iter(batches)
        self._next = next(self._batches, None)
        self._deadline = deadline
        self._waiting: dict[str, Asked] = {}
        self._task: asyncio.Task[None] | None = None

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one turn, together with the others of its batch."""
        done: asyncio.Future[Trajectory] = asyncio.get_running_loop().create_future()
        self._waiting[case.id] = Asked(case, _plain(history), done)
        self._start()
        return await done

    async def aclose(self) -> None:
        """Give up the batch that is under way."""
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        """Ask the next batch if nothing is under way and everybody who belongs to it is there."""
        if self._task is None and self._next is not None and all(id_ in self._waiting for id_ in self._next):
            batch = [self._waiting.pop(id_) for id_ in self._next]
            self._next = next(self._batches, None)
            self._task = asyncio.create_task(self._answer(batch))

    async def _answer(self, batch: list[Asked]) -> None:
        with Caught(fatal_too=True) as caught:
            images = await in_thread(self._images, batch)
            seen = [asked for asked, image in zip(batch, images, strict=True) if not _refused(asked, image)]
            if seen:
                pictures = [image for image in images if not isinstance(image, Caught)]
                for asked, answer in zip(seen, await self._ask(seen, pictures), strict=True):
                    with Caught() as own:
                        _tell(asked, _trajectory(asked.case, answer, self._props.cut))
                    _fail(asked, own)
        for asked in batch:
            _fail(asked, caught)
        self._task = None
        self._start()

    def _images(self, batch: Sequence[Asked]) -> list[Any]:
        """Load the images; one that cannot be had is the `Caught` that says why."""
        found: list[Any] = []
        for asked in batch:
            with Caught() as caught:
                found.append(self._props.image(asked.case))
            if caught.reason is not None:
                found.append(caught)
        return found

    async def _ask(self, batch: Sequence[Asked], images: list[Any]) -> list[Any]:
        queries = [asked.case.question for asked in batch]
        limit = self._deadline * len(batch)
        try:
            async with asyncio.timeout(limit):
                given = (queries, images, [asked.history for asked in batch])
                if inspect.iscoroutinefunction(self._call):
                    answers = await self._call(*given, **await in_thread(self._extras, batch, images))
                else:
                    answers = await in_thread(lambda: self._call(*given, **self._extras(batch, images)))
        except TimeoutError:
            raise AdjudgeError(f"the agent gave no answers within {limit:g} seconds", code="deadline") from None
        if not isinstance(answers, list | tuple) or len(answers) != len(batch):
            count = len(answers) if isinstance(answers, list | tuple) else f"a {type(answers).__name__}, not"
            raise DataError(f"{self.name} gave {count} answers to {len(batch)} queries", code="bad-batch")
        return list(answers)

    def _extras(self, batch: Sequence[Asked], images: Sequence[Any]) -> dict[str, Any]:
        """Return those of the optional arguments that the agent takes."""
        extras: dict[str, Any] = {}
        if "rag_context_list" in self._extra:
            context = self._props.rag_context or (lambda _query, _image: "")
            pairs = zip(batch, images, strict=True)
            extras["rag_context_list"] = [context(asked.case.question, image) for asked, image in pairs]
        if "domains" in self._extra:
            extras["domains"] = [self._props.domain(asked.case) for asked in batch]
        return extras


class SingleTurns:
    """An agent that answers one turn at a time: a function `(query, image, history)`, or an agent of any other kind."""

    def __init__(self, agent: Any, props: Props) -> None:
        self._function: Callable[..., Any] | None = agent if _takes_three(agent) else None
        self._agent: Agent | None = None if self._function is not None else get_agent(agent)
        named = agent if self._agent is None else self._agent
        self.name = str(getattr(named, "name", None) or getattr(named, "__qualname__", type(named).__qualname__))
        self._props = props

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one turn."""
        image = await in_thread(self._props.image, case)
        if self._agent is not None:
            done = await self._agent.respond(replace(case, image=image), history)
            # What was said before is known from the turns before; and the image is not to stand in the run file.
            kept = _trajectory(case, done.final_response, self._props.cut)
            return replace(kept, tool_calls=done.tool_calls, agents_called=done.agents_called, sources=done.sources)
        assert self._function is not None  # noqa: S101 (one of the two is there)
        given = (case.question, image, _plain(history))
        if _is_async(self._function):
            answer = await self._function(*given)
        else:
            answer = await in_thread(self._function, *given)
            answer = await answer if inspect.isawaitable(answer) else answer
        return _trajectory(case, answer, self._props.cut)

    async def aclose(self) -> None:
        """End what the agent holds open."""
        close = getattr(self._agent, "aclose", None)
        if close is not None:
            await close()


def _plain(history: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in history]


def _text(answer: Any) -> str:
    if not isinstance(answer, str):
        raise DataError(f"the agent answered with a {type(answer).__name__}, not with text", code="bad-answer")
    return answer


def _trajectory(case: Case, answer: Any, cut: Callable[[str], str]) -> Trajectory:
    """Return an answer as what the agent did: all that it said, and what counts of it."""
    text = _text(answer)
    said = (Message("user", case.question), Message("assistant", text))
    return Trajectory(said, final_response=cut(text))


def _tell(asked: Asked, trajectory: Trajectory) -> None:
    if not asked.done.done():  # else it has been given up
        asked.done.set_result(trajectory)


def _fail(asked: Asked, caught: Caught) -> None:
    if caught.reason is None or asked.done.done():
        return
    error = caught.error
    asked.done.set_exception(
        error if isinstance(error, AdjudgeError) else DataError(caught.reason, code="batch-failed")
    )


def _refused(asked: Asked, image: Any) -> bool:
    """Tell a turn that its image cannot be had, if so."""
    if isinstance(image, Caught):
        _fail(asked, image)
    return isinstance(image, Caught)


def _accepted(function: Callable[..., Any], names: Sequence[str]) -> frozenset[str]:
    """Return those of the names that the function takes as arguments."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled functions do not say
        return frozenset()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return frozenset(name for name in names if takes_any or name in parameters)


def _takes_three(agent: Any) -> bool:
    """Say whether an agent is a function of a query, an image and a history."""
    if not callable(agent) or hasattr(agent, "respond"):
        return False
    try:
        inspect.signature(agent).bind("query", None, [])
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", function)  # noqa: B004 (an object may have an async __call__)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
