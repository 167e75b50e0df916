"""Agents by name or as they are: functions, and batches of cases; sync ones run off the event loop."""

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.agents._answer import to_trajectory
from adjudge.calling import agent_options, check_code_allowed, in_thread, load_code
from adjudge.errors import AdjudgeError, Caught, DataError, UsageError, closest_model, describe_error
from adjudge.model import Agent, Case, Message, Trajectory, decode_json

QUESTIONS = ("question", "query", "message", "prompt", "input")
ARGUMENTS = ("case", "history", "message_history", "image", "messages", *QUESTIONS)
GATHER = 0.01  # seconds in which a batch fills up


def get_agent(agent: Any, **options: Any) -> Agent:
    """Return an agent: one that is given, a function, a batch agent, or the one that a text names.

    >>> get_agent(lambda question: question.upper()).name
    '<lambda>'
    """
    if isinstance(agent, str):
        spec = agent.strip()
        kind, _, rest = spec.partition(":")
        if agent_options.get() and kind not in ("http", "https"):
            given = " and ".join(f"--{name}" for name in agent_options.get())
            raise UsageError(f"{given} needs an agent behind a URL, and {spec!r} is not one", code="bad-option")
        if kind == "command" and rest.strip():
            # Each kind is imported where it is named: most runs need one of them.
            from adjudge.agents._command import CommandAgent

            check_code_allowed(spec)
            named: Agent = CommandAgent(rest.strip(), **options)
        elif kind in ("http", "https") and rest.startswith("//"):
            from adjudge.agents._http import HttpAgent
            from adjudge.agents._secret import check_query

            check_query(spec)
            named = HttpAgent(spec, **{**_http_options(), **options})
        elif kind in ("openai", "anthropic", "litellm") and rest:
            from adjudge.agents._http import ChatAgent
            from adjudge.chat import require_litellm

            if kind == "litellm":
                require_litellm()
            named = ChatAgent(rest, **{**options, "api": kind})
        elif kind and rest:
            named = get_agent(load_agent(spec), **options)
        else:
            kinds = "module:function, http://ADDRESS, openai:MODEL, anthropic:MODEL, litellm:MODEL, command: PROGRAM"
            hint = closest_model(spec)
            raise UsageError(f"{spec!r} does not name an agent{hint or f': write {kinds}'}", code="unknown-agent")
        return named
    # A class, as CRAG's agents are given: it is made without arguments.
    if isinstance(agent, type):
        agent = agent()
    if hasattr(agent, "batch_generate_response"):
        return BatchAgent(agent, **options)
    if isinstance(agent, Agent):
        return agent
    if callable(agent):
        return FunctionAgent.of(agent, **options)
    raise UsageError(f"an agent must be a function, an object with respond, or a name, got {type(agent).__name__}")


def _http_options() -> dict[str, Any]:
    """Return what the command line says of an agent behind a URL, as options of `HttpAgent`."""
    from adjudge.agents._secret import read_headers

    given, options = agent_options.get(), dict[str, Any]()
    if "header" in given:
        options["headers"], options["secrets"] = read_headers(given["header"])
    if "field" in given:
        options["fields"] = dict(given["field"])
    if "send" in given:
        options["send"] = decode_json(given["send"].encode(), place="--send: ")
    return options


def load_agent(spec: str) -> Any:
    """Return what `module:name` or `./file.py:name` names, for use as an agent."""
    try:
        return load_code(spec)
    except UsageError as error:
        raise UsageError(f"agent {error.message}", code="unknown-agent") from None


@dataclass(frozen=True, slots=True, eq=False)
class FunctionAgent:
    """A function as an agent.

    Its arguments are filled by name: `question` (or `query`, `message`, `prompt`), `history`, `image`, `messages`,
    `case`. A single argument of any other name is the question. It returns a text, a mapping with `response`, the
    messages, or a `Trajectory`; a sync function runs in a thread.
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, function: Callable[..., Any], name: str | None = None) -> "FunctionAgent":
        """Read from its signature which arguments the function takes."""
        name = name or str(getattr(function, "__qualname__", type(function).__name__))
        # What is known by name is filled by name; anything else must have a default, or be the only argument.
        parameters = list(inspect.signature(function).parameters.values())
        wanted = [one for one in parameters if one.name in ARGUMENTS and one.kind is not one.POSITIONAL_ONLY]
        unknown = [one for one in parameters if one not in wanted and one.default is one.empty]
        unknown = [one for one in unknown if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        if not unknown:
            return cls(function, tuple(one.name for one in wanted), name)
        if len(unknown) == 1 and not wanted:  # `def agent(text)`: its one argument is the question
            return cls(function, (), name)
        message = f"agent {name} has an unknown argument {unknown[0].name!r}; known are {', '.join(ARGUMENTS)}"
        raise UsageError(message, code="unknown-argument")

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Call the function for one case."""
        messages = [{"role": message.role, "content": message.content} for message in history]
        known = {"case": case, "history": messages, "message_history": messages, "image": case.image}
        known |= {"messages": case.messages, **dict.fromkeys(QUESTIONS, case.question)}
        options = {name: known[name] for name in self.arguments}
        given = () if self.arguments else (case.question,)
        # A sync function would stop the event loop, and with it all other cases.
        call = getattr(self.function, "__call__", self.function)  # noqa: B004 (an object may have an async __call__)
        if inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call):
            answer = await _own_fault(self.function(*given, **options))
        else:
            answer = await in_thread(self.function, *given, **options)
            # A lambda around an async function is not async itself, but what it returns is to be awaited.
            if inspect.isawaitable(answer):
                answer = await _own_fault(answer)
        return to_trajectory(case, answer)


async def _own_fault(answer: Awaitable[Any]) -> Any:
    """Await an agent's answer; what it raises is an ordinary error, and never the end of the run."""
    try:
        return await answer
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        # Somebody else cancelled us; otherwise it is the agent that raised it.
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise RuntimeError(describe_error(error)) from None


class BatchAgent:
    """A function from a list of cases to a list of answers, or an object with `batch_generate_response`.

    The function is called as `function(cases, histories)`, the object as
    `batch_generate_response(queries, images, message_histories)` with its own `get_batch_size()`. Cases that wait are
    put together, up to the size; one batch is under way at a time.
    """

    def __init__(self, agent: Any, *, size: int | None = None, name: str | None = None) -> None:
        self.name: str = name or str(getattr(agent, "__qualname__", type(agent).__name__))
        self.size = max(1, size if size is not None else int(getattr(agent, "get_batch_size", lambda: 16)()))
        self.agent = agent
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
            # Cases start one after the other; those that come at nearly the same time go into one batch.
            if len(self._waiting) < self.size:
                await asyncio.sleep(GATHER)
            batch = [self._waiting.popleft() for _ in range(min(self.size, len(self._waiting)))]
            batch = [one for one in batch if not one[2].done()]  # the others were cancelled while they waited
            if not batch:
                continue
            with Caught(fatal_too=True) as caught:
                answers = await self._ask(batch)
                for (case, _, done), answer in zip(batch, answers, strict=True):
                    if done.done():
                        continue
                    try:
                        done.set_result(to_trajectory(case, answer))
                    except DataError as error:  # the fault of one answer is not the others'
                        done.set_exception(error)
            # A batch that failed as a whole fails each of its cases; nobody may wait forever.
            if caught.reason is not None:
                shared = caught.error
                if not isinstance(shared, AdjudgeError):
                    shared = DataError(caught.reason, code="batch-failed")
                for _, _, done in batch:
                    if not done.done():
                        done.set_exception(shared)

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
            raise DataError(f"{self.name} returned {count} answers for {len(batch)} cases", code="bad-batch")
        return list(answers)
