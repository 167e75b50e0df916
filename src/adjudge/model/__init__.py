"""The types that everything else is made of: frozen, slotted, without behaviour of their own.

Case (what we wanted) ──┐
                        ├─> scorer ─> Score
Trajectory (what it did)┘
"""

from importlib import import_module
from typing import TYPE_CHECKING

from adjudge.model._cases import Case, Conversation, Turn
from adjudge.model._messages import Message, Part, ToolCall
from adjudge.model._score import Provenance, Score, Status
from adjudge.model._trajectory import Trajectory

if TYPE_CHECKING:
    from adjudge.model._json import decode_json, from_json, to_json
    from adjudge.model._protocols import (
        Agent,
        ChatModel,
        ChatReply,
        Context,
        Environment,
        Judge,
        Outcome,
        Step,
    )

__all__ = [
    "Agent",
    "Case",
    "ChatModel",
    "ChatReply",
    "Context",
    "Conversation",
    "Environment",
    "Judge",
    "Message",
    "Outcome",
    "Part",
    "Provenance",
    "Score",
    "Status",
    "Step",
    "ToolCall",
    "Trajectory",
    "Turn",
    "decode_json",
    "from_json",
    "to_json",
]

# Loaded when first used, so that a reward costs a trainer neither msgspec nor the protocols.
_JSON = ("decode_json", "from_json", "to_json")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'adjudge.model' has no attribute {name!r}")
    home = import_module("adjudge.model._json" if name in _JSON else "adjudge.model._protocols")
    value: object = getattr(home, name)
    globals()[name] = value
    return value
