"""Functions as agents: arguments by name, sync ones off the event loop."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.agents._answer import to_trajectory
from adjudge.calling import in_thread
from adjudge.errors import UsageError
from adjudge.model import Case, Message, Trajectory

KNOWN: dict[str, Callable[[Case, Sequence[Message]], Any]] = {
    "case": lambda case, _: case,
    "history": lambda _, history: [{"role": message.role, "content": message.content} for message in history],
    "message_history": lambda _, history: [{"role": message.role, "content": message.content} for message in history],
    "image": lambda case, _: case.image,
    "messages": lambda case, _: case.messages,
    **dict.fromkeys(("question", "query", "message", "prompt", "input"), lambda case, _: case.question),
}


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
        """Read off the signature what the function wants."""
        name = name or str(getattr(function, "__qualname__", type(function).__name__))
        parameters = list(inspect.signature(function).parameters.values())
        wanted = [one for one in parameters if one.name in KNOWN and one.kind is not one.POSITIONAL_ONLY]
        unknown = [one for one in parameters if one not in wanted and one.default is one.empty]
        unknown = [one for one in unknown if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        if not unknown:
            return cls(function, tuple(one.name for one in wanted), name)
        if len(unknown) == 1 and not wanted:
            return cls(function, (), name)
        message = f"agent {name}: nobody fills its argument {unknown[0].name!r}; known are {', '.join(KNOWN)}"
        raise UsageError(message, code="unknown-argument")

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Call the function for one case."""
        options = {name: KNOWN[name](case, history) for name in self.arguments}
        given = () if self.arguments else (case.question,)
        call = getattr(self.function, "__call__", self.function)  # noqa: B004 (an object may have an async __call__)
        if inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call):
            answer = await self.function(*given, **options)
        else:
            answer = await in_thread(self.function, *given, **options)
            if inspect.isawaitable(answer):
                answer = await answer
        return to_trajectory(case, answer)
