"""What was wanted: a case, and the conversations that cases come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adjudge.model._messages import Message


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to ask an agent, with what a good answer is.

    `references` are the accepted answers, `criteria` say in words what a good answer does, `workflow` holds the
    expected agents and tools. A case that is one turn of a conversation names it.
    """

    id: str
    question: str = ""
    messages: tuple[Message, ...] = ()
    image: str | None = None
    references: tuple[str, ...] = ()
    criteria: str | None = None
    workflow: Mapping[str, Any] | None = None
    conversation_id: str | None = None
    turn: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation, with its accepted answers."""

    question: str
    references: tuple[str, ...] = ()
    image: str | None = None
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that are asked in order, each with the history of those before it."""

    id: str
    turns: tuple[Turn, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def cases(self) -> tuple[Case, ...]:
        """Return one case a turn, numbered from 0.

        >>> Conversation("c", (Turn("Who?"), Turn("When?"))).cases()[1].id
        'c/1'
        """
        return tuple(
            Case(
                id=turn.id or f"{self.id}/{index}",
                question=turn.question,
                image=turn.image,
                references=turn.references,
                conversation_id=self.id,
                turn=index,
                metadata={**self.metadata, **turn.metadata},
            )
            for index, turn in enumerate(self.turns)
        )
