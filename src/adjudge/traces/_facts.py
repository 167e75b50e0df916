"""What one dialect of attributes, or one format, knows about a span."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adjudge.model import Message
from adjudge.traces._messages import Known, read_messages
from adjudge.traces._spans import Kind
from adjudge.traces._values import loose


@dataclass(slots=True)
class Facts:
    """What one dialect knows about a span; None is what it does not know."""

    kind: Kind | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    result: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    text: str | None = None
    sources: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)

    def whole(self, key: str, value: object) -> Any:
        """Return an attribute's value, JSON read; one that ends too early is a fault."""
        found, is_cut = loose(value)
        if is_cut:
            self.faults.append(f"its attribute {key} is cut off")
        return found

    def messages(self, key: str, value: object, where: str, role: str, known: Known) -> tuple[Message, ...]:
        """Return an attribute's messages; one that ends too early has none, and that is a fault."""
        found = read_messages(value, f"{where}: {key}", role, known)
        if isinstance(value, str) and len(found) == 1 and found[0].content is value and loose(value)[1]:
            self.faults.append(f"its attribute {key} is cut off")
            return ()
        return found
