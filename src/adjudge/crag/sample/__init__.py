"""A sample in the layout of CRAG-MM: 30 conversations of 71 turns about drawn images, answered by three agents.

    from adjudge.crag import sample

    sample.conversations()       the conversations, as `adjudge.datasets.read_conversations` gives them
    sample.path()                their folder: a data set like any other
    sample.agent("brook")        an agent that gives the saved answers
    sample.turn_data("brook")    those answers, as turn data

The agents are invented: `atlas` is good, `brook` middling, `cinder` poor, and once talks to the judge instead of
answering. Texts and images are our own and in the public domain (CC0).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.datasets import Conversations, read_conversations, read_rows
from adjudge.errors import UsageError, closest

__all__ = ["AGENTS", "SampleAgent", "agent", "answers_path", "conversations", "path", "turn_data"]

AGENTS = ("atlas", "brook", "cinder")
"""The agents whose answers are saved, from good to poor."""


def path() -> Path:
    """Return the folder of the sample, which can be read as a data set."""
    return Path(__file__).parent


def conversations(num_conversations: int | None = None) -> Conversations:
    """Return the conversations, or the first few of them.

    >>> [len(read.conversation.turns) for read in conversations(12)]
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 3]
    """
    return read_conversations(path(), num_conversations=num_conversations)


def answers_path(agent: str) -> Path:
    """Return the file of an agent's answers: turn data, one JSON object a line."""
    if agent not in AGENTS:
        raise UsageError(f"the sample has no agent {agent!r}{closest(agent, AGENTS)} (there are {', '.join(AGENTS)})")
    return path() / "answers" / f"{agent}.jsonl"


def turn_data(agent: str) -> list[dict[str, Any]]:
    """Return an agent's answers as turn data, in order.

    >>> turn_data("atlas")[0]["agent_response"]
    'It has eight sides.'
    """
    return list(_rows(agent))


def agent(name: str) -> "SampleAgent":
    """Return an agent that gives the answers which are saved under its name.

    >>> agent("brook").batch_generate_response(["How many sides does this sign have?"], [None], [[]])
    ['eight']
    """
    return SampleAgent(name)


class SampleAgent:
    """An agent of the sample, with the interface that CRAG-MM's agents have: it knows its answer to every query."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._answers: Mapping[str, str] = {row["query"]: row["agent_response"] for row in _rows(name)}

    def get_batch_size(self) -> int:
        """Return how many queries it likes to be asked together."""
        return 8

    def batch_generate_response(
        self, queries: Sequence[str], images: Sequence[Any], message_histories: Sequence[Sequence[Mapping[str, Any]]]
    ) -> list[str]:
        """Return the saved answers; it does not know what it was never asked."""
        del images, message_histories
        return [self._answers.get(query, "I don't know.") for query in queries]


def _rows(agent: str) -> Iterator[dict[str, Any]]:
    return (row.columns for row in read_rows(str(answers_path(agent))) if row.columns is not None)
