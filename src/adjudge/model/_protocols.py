"""The interfaces of what adjudge works with, by shape: nobody has to inherit from our classes."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from adjudge.model._cases import Case
from adjudge.model._messages import Message
from adjudge.model._score import Status
from adjudge.model._trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Step:
    """What an environment answers to one action."""

    observation: str
    reward: float | None = None
    done: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of an episode; reading it never advances the environment."""

    reward: float | None = None
    success: bool | None = None
    failed: bool | None = None
    score_raw: float | None = None
    observation: str = ""
    done_reason: str | None = None
    task: Any = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a chat model, with everything that its answer may depend on: equal requests are the same call.

    `schema` asks for JSON of that JSON schema; `sample` numbers several answers to one question.
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model answered; `raw` is the body as it came.

    `left_out` names the parts of the request that were not sent, or not under their usual name, because the endpoint
    rejects them.
    """

    text: str | None
    refusal: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    raw: str = ""
    left_out: tuple[str, ...] = ()


Ask: TypeAlias = Callable[[ChatRequest], Awaitable[ChatReply]]
"""The one step of judging that reaches outside: the engine may write down, repeat, limit or replay it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer about one response: a verdict, or numbers by rubric, or why there is neither.

    `raw` is the text of the last reply, `calls` the number of requests. Some judges also give `probability`, that of
    CORRECT, `reasons`, which name what they saw, `tier`, which of their tiers decided, and `asserted`, the words of the
    response that they read as its answer.
    """

    status: Status
    verdict: Literal["CORRECT", "WRONG"] | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    raw: str | None = None
    judge: str = ""
    prompt_hash: str | None = None
    calls: int = 0
    probability: float | None = None
    reasons: tuple[str, ...] = ()
    tier: int | None = None
    asserted: str | None = None


@runtime_checkable
class Environment(Protocol):
    """A world in which an agent acts, one episode at a time."""

    async def reset(self, task: Any) -> str:
        """Start an episode and return the first observation."""
        ...

    async def step(self, action: str) -> Step:
        """Do one action."""
        ...

    async def outcome(self) -> Outcome:
        """Return the state of the episode, without advancing it."""
        ...

    async def health(self) -> bool:
        """Return whether the environment still answers."""
        ...

    async def close(self) -> None:
        """End the episode and free what it holds."""
        ...


@runtime_checkable
class Context(Protocol):
    """One rollout's identity, through which its tools and its reward reach the same live environment."""

    @property
    def rollout_id(self) -> str:
        """Which rollout this is."""
        ...

    @property
    def group_id(self) -> str | None:
        """Which group of rollouts of one prompt it belongs to."""
        ...

    async def acquire_resource(self, spec: Hashable, *, timeout: float = 60.0) -> Environment:  # noqa: ASYNC109 (public name)
        """Return this rollout's environment of that spec, or kind, waiting at most `timeout` seconds."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Anything that answers a chat request."""

    @property
    def name(self) -> str:
        """Its name in provenance."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer; every failure is an `AdjudgeError` with a code."""
        ...


asking: ContextVar["Callable[[Mapping[str, ChatModel]], Ask] | None"] = ContextVar("adjudge_asking", default=None)
"""Returns the function that asks chat models, by name, in this context; set by the engine for each row."""

gathering: ContextVar["Callable[[Judge, Sequence[Mapping[str, Any]]], Awaitable[Sequence[Judgement]]] | None"] = (
    ContextVar("adjudge_gathering", default=None)
)
"""Gathers rows for a judge that takes many at once, in a context where rows are scored one by one."""


@runtime_checkable
class Judge(Protocol):
    """Turns a question, its references (or criteria) and a response into a judgement.

    Writing the request and reading the reply are pure; the step between them is `ask`, the judge's own model unless
    the caller gives another way.

    A judge that is better asked about many rows at once also has `async ajudge_many(rows)`: mappings with `question`,
    `reference` (a list of texts) and `response` in, one `Judgement` a row out, in order. If it has `warm_up()`, a run
    calls that before the time of the first rows begins. `parts` names the numbers beside its verdict, where it gives
    some.
    """

    @property
    def name(self) -> str:
        """Its name in provenance."""
        ...

    @property
    def version(self) -> str:
        """The version of its rules and prompts."""
        ...

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response."""
        ...


@runtime_checkable
class Agent(Protocol):
    """The agent under test."""

    @property
    def name(self) -> str:
        """Its name in results."""
        ...

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one case, given what was said before it."""
        ...
