"""Outside values, read with care: each helper returns what was asked for, or says what is wrong and where."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from adjudge.errors import RowError, TrajectoryError
from adjudge.model import decode_json

DEPTH = 64  # how deep values may be nested; real traces are far from it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = 1_000  # in nanoseconds
_OPENERS = ("{", "[")
_DOCUMENT_LISTS = ("documents", "results", "output", "data")
_DOCUMENT_KEYS = ("page_content", "content", "text", "title", "name", "url", "source", "id")
_WRAPPING = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})  # the last is of smolagents
_HANDOVERS = ("transfer_to_", "transfer_back_to_", "handoff_to_")
# What LangGraph's supervisor and swarm write as a result. Any tool may: the rest of the record tells whether there is
# such an agent.
TRANSFERRED = re.compile(r"Successfully transferred to (.+)")
# Tools that hand over to the agent that they are given: Google's ADK, Strands, LlamaIndex, CrewAI.
HANDOVER_TOOLS = frozenset(
    {"transfer_to_agent", "handoff_to_agent", "handoff", "delegate_work_to_coworker", "ask_question_to_coworker"}
)
_AGENT_KEYS = ("agent_name", "to_agent", "agent", "coworker")
_CUT = re.compile(  # what may be between the place of an error and the end of a text that was cut off
    r"\s*|-|\.|[eE][+-]?|\.[0-9]+[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul|\\?u[0-9a-fA-F]{0,3}|[0-9a-fA-F]{1,3}"
)


def mapping(value: object, where: str) -> Mapping[str, Any]:
    """Return a value that must be an object."""
    if type(value) is dict:  # nearly always, and much faster to ask
        return value
    if not isinstance(value, Mapping):
        raise TrajectoryError(f"{where} must be an object, got {kind_of(value)}")
    return value


def sequence(value: object, where: str) -> Sequence[Any]:
    """Return a value that must be a list; None is an empty one."""
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TrajectoryError(f"{where} must be a list, got {kind_of(value)}")
    return value


def text(value: object, where: str) -> str | None:
    """Return a value that must be text, where there is one; ids may be numbers or UUIDs."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, UUID | int) and not isinstance(value, bool):
        return str(value)
    raise TrajectoryError(f"{where} must be text, got {kind_of(value)}")


class RecordPart:
    """An object in a record, with its place for errors; each method reads the first of its keys that has a value."""

    __slots__ = ("data", "where")

    def __init__(self, value: object, where: str) -> None:
        self.data = mapping(value, where)
        self.where = where

    def get(self, *keys: str) -> Any:
        return first(self.data, *keys)

    def text(self, *keys: str) -> str | None:
        return text(first(self.data, *keys), f"{self.where}.{keys[0]}")

    def identity(self, *keys: str) -> str:
        """Return an id that must be there."""
        found = self.text(*keys)
        if not found:
            raise TrajectoryError(f"{self.where}.{keys[0]} is missing")
        return found

    def time(self, *keys: str) -> int | None:
        return instant(first(self.data, *keys), f"{self.where}.{keys[0]}")

    def items(self, *keys: str) -> Sequence[Any]:
        return sequence(first(self.data, *keys), f"{self.where}.{keys[0]}")


def kind_of(value: object) -> str:
    """Return what a value is, for an error."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), type(value).__name__)


def instant(value: object, where: str) -> int | None:
    """Return a time as nanoseconds since 1970: of ISO text, a datetime, or a number of s, ms, us or ns."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return _nanoseconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TrajectoryError(f"{where} must be a time, got {kind_of(value)}")
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return _to_nanoseconds(int(value))
        try:
            return _nanoseconds(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            raise TrajectoryError(f"{where} is not a time: {quote(value)}") from None
    # NaN is the only value that differs from itself.
    if value != value or abs(value) > 1e20:  # noqa: PLR0124 (NaN)
        raise TrajectoryError(f"{where} is not a time: {value}")
    return _to_nanoseconds(value)


def _nanoseconds(value: datetime) -> int:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    # In whole numbers: a float of seconds has too few digits for nanoseconds.
    return (aware - _EPOCH) // timedelta(microseconds=1) * _MICROSECOND


def _to_nanoseconds(number: float) -> int:
    """Bring a number of seconds, milli-, micro- or nanoseconds to nanoseconds, by its size."""
    for limit, factor in ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000)):
        if number < limit:
            return int(number * factor)
    return int(number)


def loose(value: object) -> tuple[Any, bool]:
    """Read JSON text as its value, anything else as itself; the second says that the text ends too early.

    >>> loose('{"q": "Par'), loose('{"q": 1}'), loose("Paris")
    (('{"q": "Par', True), ({'q': 1}, False), ('Paris', False))
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in _OPENERS:
        return value, False
    try:
        return msgspec.json.decode(value), False
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    # Python's own reader is slower, takes what msgspec refuses (lone surrogates), and says where the text is wrong.
    try:
        return json.loads(value, parse_constant=_refuse), False
    except json.JSONDecodeError as error:
        # An attribute that a limit cut off ends within a token; a model's mistake is followed by more text.
        is_cut = error.msg.startswith("Unterminated") or _CUT.fullmatch(value, error.pos) is not None
        return value, is_cut and not error.msg.startswith("Extra")
    except (ValueError, RecursionError):
        return value, False


def _refuse(name: str) -> float:
    raise ValueError(name)


def read_json(content: bytes | str, where: str) -> Any:
    """Read a JSON document; what is wrong with it is a `TrajectoryError` with the place.

    Python's `NaN` and `Infinity`, which real logs have and JSON has not, are read as texts.
    """
    try:
        return decode_json(content, place=f"{where}: ")
    except RowError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(content, parse_constant=str)
        raise TrajectoryError(error.message) from None


def arguments_of(value: object) -> str | dict[str, Any]:
    """Return a call's arguments: an object where they are one, else the text as it is."""
    found, _ = loose(value)
    if isinstance(found, Mapping):
        return {str(key): item for key, item in found.items()}
    return as_text(found)


def call_arguments(value: object, parameters: object = None) -> str | dict[str, Any]:
    """Return a call's arguments where they may be wrapped as Python's: by position and by name.

    Those by position have the names that `parameters`, the tool's own by name, have in that order.

    >>> call_arguments({"args": ["Oslo"], "kwargs": {"days": 2}}, '{"city": {}, "days": {}}')
    {'city': 'Oslo', 'days': 2}
    """
    found, _ = loose(value)
    if not isinstance(found, Mapping) or not isinstance(found.get("kwargs"), Mapping) or not found.keys() <= _WRAPPING:
        return arguments_of(found)
    by_position, by_name = found.get("args"), found["kwargs"]
    if not by_position:
        return arguments_of(by_name)
    names = loose(parameters)[0]
    if not isinstance(by_position, list) or not isinstance(names, Mapping) or len(names) < len(by_position):
        return arguments_of(found)
    return arguments_of({**dict(zip(names, by_position, strict=False)), **by_name})


def as_text(value: object) -> str:
    """Return a value as text: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        raise TrajectoryError(
            f"a value cannot be written as JSON: it is {kind_of(value)} and refers to itself, "
            "is nested too deeply, or has keys that are not text"
        ) from None


def key_of(arguments: str | Mapping[str, Any] | None) -> str:
    """Return what equal arguments have in common, however their keys are ordered.

    >>> key_of({"b": 1, "a": 2}) == key_of({"a": 2, "b": 1}), key_of({}) == key_of("") == key_of(None)
    (True, True)
    """
    if not arguments:
        return ""
    if isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.encode(arguments, order="sorted").decode()
    except (ValueError, TypeError, RecursionError):
        pass  # what JSON lines cannot hold, such as lone surrogates
    try:
        return json.dumps(arguments, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):
        raise TrajectoryError("arguments of a tool call are nested too deeply or have keys that are not text") from None


def quote(value: str, limit: int = 60) -> str:
    """Return text for an error: short, and without characters that a terminal would obey."""
    return ascii(value if len(value) <= limit else f"{value[:limit]}...")


def first(record: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is there and not None."""
    for key in keys:
        value = record.get(key)
        if value is not None:
            return value
    return None


def unquoted(value: object) -> object:
    """Return a value that may be a text written as JSON: that text, else the value as it is.

    >>> unquoted('"call_1"'), unquoted("call_1"), unquoted('"cut')
    ('call_1', 'call_1', '"cut')
    """
    if isinstance(value, str) and value[:1] == '"':
        found = loose(f"[{value}]")[0]
        if isinstance(found, list) and len(found) == 1 and isinstance(found[0], str):
            return found[0]
    return value


def style(name: str) -> str:
    """Return a name in the form that tools have: lower-case letters, digits and underscores.

    >>> style("Research Agent")
    'research_agent'
    """
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def handoff_target(tool: str) -> str:
    """Return the agent that a tool's name hands over to, in the style of tools; nothing where it names none.

    >>> handoff_target("transfer_to_research_agent"), handoff_target("search")
    ('research_agent', '')
    """
    for prefix in _HANDOVERS:
        if tool.startswith(prefix):
            return style(tool.removeprefix(prefix))
    return ""


def called_agent(tool: str, arguments: str | Mapping[str, Any]) -> str:
    """Return the agent that a call hands over to, in the style of tools: by the tool's name, or by its arguments.

    >>> called_agent("transfer_to_research", ""), called_agent("handoff", {"to_agent": "Research"})
    ('research', 'research')
    """
    lowered = tool.lower()
    if "transfer" not in lowered and "handoff" not in lowered:  # nearly always, and much faster to ask
        return ""
    if style(tool) in HANDOVER_TOOLS:
        read, _ = loose(arguments)
        named = [read.get(key) for key in _AGENT_KEYS] if isinstance(read, Mapping) else []
        target = next((name for name in named if isinstance(name, str) and name), None)
        if target is not None:
            return style(target)
    return handoff_target(tool)


def handed_over(result: str) -> str:
    """Return the agent that a result of OpenAI Agents hands over to; nothing where it is any other result.

    >>> handed_over('{"assistant": "vip"}'), handed_over('{"assistant": "vip", "since": 2}')
    ('vip', '')
    """
    if not result.startswith('{"assistant": "'):
        return ""
    found = loose(result)[0]
    named = found["assistant"] if isinstance(found, dict) and len(found) == 1 else ""
    return named if isinstance(named, str) else ""


def documents_of(value: object) -> tuple[str, ...]:
    """Return the text of each document that a retriever found, else its name; one with neither is left out.

    >>> documents_of('[{"page_content": "Opened in 1932."}, {"document": {"id": "d2"}}, "A text."]')
    ('Opened in 1932.', 'd2', 'A text.')
    """
    found, _ = loose(value)
    # Retrievers wrap their list under various keys, or return one document without a list.
    if isinstance(found, Mapping):
        held = next((found[key] for key in _DOCUMENT_LISTS if isinstance(found.get(key), list)), None)
        found = [found] if held is None else held
    if not isinstance(found, list | tuple):
        found = [found]
    return tuple(filter(None, map(_document_text, found)))


def _document_text(item: Any) -> str:
    if isinstance(item, Mapping) and isinstance(item.get("document"), Mapping):
        item = item["document"]
    if not isinstance(item, Mapping):
        return item if isinstance(item, str) else ""
    held = item.get("kwargs")  # LangChain's serialised form
    if isinstance(held, Mapping):
        item = held
    for key in _DOCUMENT_KEYS:
        if item.get(key):
            return as_text(item[key])
    return ""
