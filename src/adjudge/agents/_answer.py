"""What agents return, as trajectories."""

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.errors import DataError
from adjudge.model import Case, Message, ToolCall, Trajectory

RESPONSES = ("response", "final_response", "answer", "output", "message", "content", "text")


def to_trajectory(case: Case, answer: Any) -> Trajectory:
    """Return an agent's answer as a trajectory: a text, a mapping with one, messages, or a trajectory.

    >>> to_trajectory(Case("1", "2+2?"), "4").final_response
    '4'
    >>> to_trajectory(Case("1", "2+2?"), {"response": "4", "sources": ["a"]}).sources
    ('a',)
    """
    if isinstance(answer, Trajectory):
        return answer
    if isinstance(answer, str):
        return _of_text(case, answer)
    if isinstance(answer, Mapping) and "messages" not in answer:
        return _of_mapping(case, answer)
    if isinstance(answer, Mapping | Sequence):
        return Trajectory.from_messages(answer)
    raise DataError(f"the agent returned a {type(answer).__name__}, not an answer", code="bad-answer")


def _of_text(case: Case, text: str) -> Trajectory:
    messages = (*asked(case), Message("assistant", text))
    return Trajectory(messages, None, final_response=text)  # a text alone cannot show which tools were used


def _of_mapping(case: Case, answer: Mapping[str, Any]) -> Trajectory:
    for name in RESPONSES:
        text = answer.get(name)
        if isinstance(text, str):
            sources = answer.get("sources") or ()
            agents = answer.get("agents_called") or ()
            return Trajectory(
                (*asked(case), Message("assistant", text)),
                _tools(answer.get("tools_used")),
                final_response=text,
                sources=tuple(str(source) for source in sources) if isinstance(sources, list | tuple) else (),
                agents_called=tuple(str(agent) for agent in agents) if isinstance(agents, list | tuple) else (),
            )
    raise DataError(f"the agent's answer has none of {', '.join(RESPONSES)}", code="bad-answer")


def _tools(names: object) -> tuple[ToolCall, ...] | None:
    """Return the tools that an answer says were used; None where it says nothing of them."""
    if not isinstance(names, list | tuple):
        return None
    return tuple(ToolCall(str(name), executed=True) for name in names)


def asked(case: Case) -> tuple[Message, ...]:
    """Return what the agent is asked, as messages."""
    return case.messages or (Message("user", case.question),)
