"""What the readers of attributes share: the facts that one of them knows about a span, and lists in numbered names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adjudge.model import Message
from adjudge.traces._messages import MessageCache, read_messages
from adjudge.traces._spans import Span, SpanKind
from adjudge.traces._usage import Usage
from adjudge.traces._values import as_text, loose, text

if TYPE_CHECKING:
    from adjudge.traces._langgraph import GraphFacts

_PIECES = 16  # pieces of a name that can be one of ours
SHORT = 200  # characters of a name that is remembered


@dataclass(slots=True)
class Facts:
    """What one dialect of attributes, or one format, knows about a span; None is what it does not know."""

    kind: SpanKind | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    result: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    text: str | None = None
    sources: tuple[str, ...] = ()
    is_named: bool = True
    agent: str | None = None
    is_internal: bool = False
    is_whole: bool = False
    is_blind: bool = False
    unsent: str | None = None
    graph: "GraphFacts | None" = None
    joins: tuple[str, ...] = ()
    usage: Usage | None = None
    ran: bool | None = True
    has_tools: bool = False
    answers: tuple[str, ...] = ()
    is_asking: bool = False
    faults: list[str] = field(default_factory=list)

    def whole(self, key: str, value: object) -> Any:
        """Return an attribute's value, JSON read; one that ends too early is a fault."""
        found, is_cut = loose(value)
        if is_cut:
            self.faults.append(f"its attribute {key} is cut off")
        return found

    def messages(self, key: str, value: object, where: str, role: str, cache: MessageCache) -> tuple[Message, ...]:
        """Return an attribute's messages; one that ends too early has none, and that is a fault."""
        found = read_messages(value, f"{where}: {key}", role, cache)
        # JSON that cannot be read comes back as one message with the whole text.
        if isinstance(value, str) and len(found) == 1 and found[0].content is value and loose(value)[1]:
            self.faults.append(f"its attribute {key} is cut off")
            return ()
        return found

    def set_result(self, message: object, shown: str, where: str) -> None:
        """Take a tool's result; where it is LangChain's message of one, take the call's id and the text out of it."""
        if isinstance(message, Mapping) and isinstance(message.get("kwargs"), Mapping):
            message = message["kwargs"]
        self.result = shown
        if isinstance(message, Mapping) and "tool_call_id" in message:
            self.result = as_text(message.get("content"))
            self.call_id = self.call_id or text(message["tool_call_id"], f"{where}: tool_call_id")

    def to_span(
        self,
        identity: str,
        parent: str | None,
        name: str,
        *,
        start: int | None,
        end: int | None,
        error: str | None,
        is_entry: bool,
    ) -> Span:
        """Return the span that these facts are about."""
        return Span(
            identity,
            parent,
            self.kind or "other",
            self.name or name,
            start,
            end,
            self.call_id,
            self.arguments,
            self.result,
            error,
            self.input,
            self.output,
            self.text,
            tuple(self.faults),
            is_entry,
            self.sources,
            self.is_named,
            self.agent,
            self.graph,
            self.is_internal,
            self.is_whole,
            self.is_blind,
            self.unsent,
            self.joins,
            self.usage,
            self.ran,
            self.has_tools,
            self.answers,
            self.is_asking,
        )


def numbered_items(attributes: Mapping[str, Any], prefix: str) -> list[dict[Any, Any]]:
    """Return the items of a list, in order of their numbers; lists inside are objects with numbers as keys.

    >>> numbered_items({"p.1.role": "user", "p.0.calls.0.name": "f", "q": 1}, "p")
    [{'calls': {0: {'name': 'f'}}}, {'role': 'user'}]
    """
    start = f"{prefix}."
    return in_order(nest((key[len(start) :], value) for key, value in attributes.items() if key.startswith(start)))


def in_order(items: object) -> list[dict[Any, Any]]:
    """Return the objects that have numbers as keys, in order of those."""
    if not isinstance(items, dict):
        return []
    numbers = sorted(key for key in items if isinstance(key, int))
    return [items[number] for number in numbers if isinstance(items[number], dict)]


def nest(pairs: Iterable[tuple[str, Any]]) -> dict[Any, Any]:
    """Return names with dots in them as objects inside objects, numbers as numbers.

    >>> nest([("message.role", "user"), ("message.tool_calls.0.id", "c")])
    {'message': {'role': 'user', 'tool_calls': {0: {'id': 'c'}}}}
    """
    found: dict[Any, Any] = {}
    for name, value in pairs:
        *path, last = _pieces(name) if len(name) <= SHORT else _pieces.__wrapped__(name)
        here = found
        for piece in path:
            # Where a name is both a value and a prefix, whichever came first counts.
            inner = here.setdefault(piece, {})
            if not isinstance(inner, dict):
                break
            here = inner
        else:
            here.setdefault(last, value)
    return found


@lru_cache(maxsize=4096)  # every span has the same names
def _pieces(name: str) -> tuple[str | int, ...]:
    """Cut a name at its dots; one with too many is not one of ours and stays whole."""
    pieces = name.split(".", _PIECES)
    if len(pieces) > _PIECES:
        return (name,)
    return tuple(int(each) if each.isascii() and each.isdigit() and len(each) < 8 else each for each in pieces)
