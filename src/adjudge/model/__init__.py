"""The types that everything else is made of: frozen, slotted, without behaviour of their own.

Case (what we wanted) ──┐
                        ├─> scorer ─> Score
Trajectory (what it did)┘
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.model._cases import Case, Conversation, Turn
    from adjudge.model._json import decode_json, encode_json, from_json, to_json
    from adjudge.model._messages import Message, Part, ToolCall
    from adjudge.model._protocols import (
        Agent,
        Ask,
        ChatModel,
        ChatReply,
        ChatRequest,
        Context,
        Environment,
        Judge,
        Judgement,
        Outcome,
        Step,
        asking,
        gathering,
    )
    from adjudge.model._score import Provenance, Score, Status
    from adjudge.model._trajectory import PendingCalls, Question, Trajectory

__all__ = [
    "Agent",
    "Ask",
    "Case",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Context",
    "Conversation",
    "Environment",
    "Judge",
    "Judgement",
    "Message",
    "Outcome",
    "Part",
    "PendingCalls",
    "Provenance",
    "Question",
    "Score",
    "Status",
    "Step",
    "ToolCall",
    "Trajectory",
    "Turn",
    "asking",
    "decode_json",
    "encode_json",
    "from_json",
    "gathering",
    "to_json",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_cases": ("Case", "Conversation", "Turn"),
        "_json": ("decode_json", "encode_json", "from_json", "to_json"),
        "_messages": ("Message", "Part", "ToolCall"),
        "_protocols": (
            *("Agent", "Ask", "ChatModel", "ChatReply", "ChatRequest", "Context", "Environment", "Judge", "Judgement"),
            *("Outcome", "Step", "asking", "gathering"),
        ),
        "_score": ("Provenance", "Score", "Status"),
        "_trajectory": ("PendingCalls", "Question", "Trajectory"),
    },
)
