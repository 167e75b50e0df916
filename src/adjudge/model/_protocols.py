"""What adjudge asks of the things it works with, by shape: nobody has to inherit from us."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from adjudge.model._cases import Case
from adjudge.model._messages import Message
from adjudge.model._score import Score
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
    """How an episode stands; reading it never advances the environment."""

    reward: float | None = None
    success: bool | None = None
    failed: bool | None = None
    score_raw: float | None = None
    observation: str = ""
    done_reason: str | None = None
    task: Any = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model answered, as it came."""

    text: str | None
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    raw: str = ""


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
        """Say how the episode stands, without advancing it."""
        ...

    async def health(self) -> bool:
        """Say whether the environment still answers."""
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
    """Anything that answers a list of messages."""

    @property
    def name(self) -> str:
        """What provenance calls it."""
        ...

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        """Answer the messages, as JSON of that schema where one is given."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Turns a question, its references and a response into a score, in three steps of which one does I/O."""

    @property
    def name(self) -> str:
        """What provenance calls it."""
        ...

    def build(self, question: str, references: Sequence[str], response: str) -> Sequence[Message]:
        """Write the request; pure."""
        ...

    async def complete(self, request: Sequence[Message]) -> ChatReply:
        """Ask; the only step that reaches outside."""
        ...

    def parse(self, reply: ChatReply) -> Score:
        """Read the reply; pure."""
        ...


@runtime_checkable
class Agent(Protocol):
    """The agent under test."""

    @property
    def name(self) -> str:
        """What the results call it."""
        ...

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Answer one case, given what was said before it."""
        ...
