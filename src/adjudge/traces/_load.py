"""One call for every format: find out what a record is, decode it, and make a Trajectory of it."""

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from adjudge.errors import TrajectoryError, UsageError, closest
from adjudge.model import Message, Trajectory
from adjudge.traces._agent_names import AgentNames, map_agents, read_agent_names
from adjudge.traces._conversation import ALONE, find_gaps, read_conversation
from adjudge.traces._message_lists import USUAL, Unknown, is_framework_message, plain_object, read_trajectory, to_chat
from adjudge.traces._messages import is_langchain_message, read_messages
from adjudge.traces._otlp import OtlpDocument, read_otlp_json
from adjudge.traces._spans import Record, join_traces
from adjudge.traces._values import kind_of, quote, read_json, sequence

Format: TypeAlias = Literal[
    "chat", "responses", "otlp", "otlp-protobuf", "langfuse", "langsmith", "openai-agents", "inspect", "atif"
]
"""How a record of what an agent did is written."""

FORMATS: tuple[Format, ...] = get_args(Format)


def load(
    path_or_data: object,
    format: str | None = None,  # noqa: A002 (the word that users expect)
    *,
    trace: str | None = None,
    parent: str | None = None,
    agents: AgentNames | Collection[str] = (),
) -> Trajectory:
    """Return what an agent did, from a record in any of the `FORMATS`.

    The record is a file's path, its content, or the data in it; its format is recognised unless it is given. A record
    of several runs needs the id of one (`trace`: a trace id; for Inspect, a sample's id). `parent` is the id of a span
    outside the record that the run was started from; `agents` are names of spans that are agents and do not say so, or
    a mapping of the names that the record has to those of the agents (`docs/reference/traces.md`).

    >>> load([{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]).final_response
    '4'
    """
    from adjudge.traces._assemble import assemble

    names = read_agent_names(agents) if agents else {}
    with reading():
        found = _read(path_or_data, format, trace)
        if isinstance(found, Trajectory):
            return map_agents(found, names) if names else found
        return assemble(found, parent=parent, agents=names)


def load_messages(messages: object) -> Trajectory:
    """Return what messages say was done: a list of them, an object that holds some, or their JSON in bytes.

    They are read by the rules for traces: a handoff is an agent that was called, not a tool. Unlike for `load`, a text
    is what somebody said, not the path of a file.

    >>> load_messages([{"role": "tool", "name": "search", "content": "Paris"}]).tools_used
    ('search',)
    """
    if isinstance(messages, bytes):  # as pydantic-ai's `all_messages_json` writes it
        return load(messages, format="chat")
    data = messages
    if isinstance(data, list | tuple):
        # Typed messages become plain ones again, so that the parts of their content are read like anybody's.
        data = [_mapping(one) if isinstance(one, Message) else one for one in data]
    if not isinstance(data, Mapping | list) or _is_own(data):
        return Trajectory.from_messages(data)
    unknown: Unknown = {}
    with reading():
        read = _read_chat(data, unknown)
        # Nothing but an answer, as a text is: what was done for it is not here. Google's ADK leaves out the question.
        if len(read) == 1 and read[0].role == "assistant" and not read[0].tool_calls:
            begin = plain_object(data[0]) if isinstance(data, list) else data
            if not isinstance(begin, Mapping) or "author" not in begin:
                unknown.setdefault("tools", ALONE)
        return read_conversation(read, unknown)


def _mapping(message: Message) -> dict[str, Any]:
    content = list(message.content) if isinstance(message.content, tuple) else message.content
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    about = {"role": message.role, "content": content, "tool_call_id": message.tool_call_id, "name": message.name}
    return {**about, "tool_calls": calls or None}


def missing(
    path_or_data: object,
    format: str | None = None,  # noqa: A002 (as in load)
    *,
    trace: str | None = None,
    parent: str | None = None,
) -> tuple[str, ...]:
    """Say why a record is incomplete: what is known to be missing, and from which span; nothing of a complete one."""
    from adjudge.traces._assemble import faults_of

    with reading():
        found = _read(path_or_data, format, trace)
        return () if isinstance(found, Trajectory) else faults_of(found, parent=parent)


@contextmanager
def reading() -> Iterator[None]:
    """Name what is nested too deeply, and keep the garbage collector from looking through what is only growing.

    A record makes very many objects and no circles; looking for some takes a third of the time.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    except RecursionError:
        raise TrajectoryError("the record is nested too deeply") from None
    finally:
        if is_on:
            gc.enable()


def _read(path_or_data: object, named: str | None, trace: str | None) -> Record | Trajectory:
    found, where = read_runs(path_or_data, named)
    if not isinstance(found, Trajectory):
        return _choose(found, trace, where)
    if trace:
        _choose((), trace, where)  # a conversation is not one of several runs: this says so
    return found


def read_runs(path_or_data: object, named: str | None = None) -> tuple[Sequence[Record] | Trajectory, str]:
    """Return every run that a record holds, or the trajectory that it is, and its name for errors."""
    if named is not None and named not in FORMATS:
        raise UsageError(f"no format is called {named!r}{closest(named, FORMATS)} (there are {', '.join(FORMATS)})")
    data, where = path_or_data, "the record"
    if isinstance(data, Trajectory):
        return data, where
    if isinstance(data, str | Path | bytes | bytearray | memoryview):
        data, where = _open(data, named)
    if not isinstance(data, dict | list):
        data = plain_object(data)
    kind = named or detect(data, where)
    if kind == "chat":
        return load_messages(data), where
    if kind == "responses":
        unknown: Unknown = {}
        return read_conversation(_read_responses(data, unknown), unknown), where
    # A decoder is loaded when it is used.
    home, name = _DECODERS[kind].split(":")
    records: Sequence[Record] = getattr(import_module(f"adjudge.traces.{home}"), name)(data)
    return records, where


def _open(given: str | Path | bytes | bytearray | memoryview, named: str | None) -> tuple[object, str]:
    """Return the data in a file or in its content, and its name for errors."""
    if isinstance(given, str) and given.lstrip()[:1] not in ("{", "["):
        given = Path(given)
    if isinstance(given, Path):
        try:
            # Nobody waits for a writer.
            if given.is_fifo():
                raise UsageError(f"{given!s:.200} is not a regular file", code="cannot-read")
            return _content(given.read_bytes(), str(given), named), str(given)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{given!s:.200}: {getattr(error, 'strerror', None) or error}", code="cannot-read"
            ) from None
    content = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else bytes(given)
    return _content(content, "the record", named), "the record"


def _content(content: bytes, where: str, named: str | None) -> object:
    """Read a file's content: an archive of Inspect, protobuf, JSON, or JSON lines."""
    if content[:4] == b"PK\x03\x04":  # an archive
        from adjudge.traces._inspect import unpack

        return unpack(content)
    if named == "otlp-protobuf":
        return content
    # Protobuf begins with a length, or with the tag of its first field, which is a line end to a reader of text.
    if named is None and content[:1] in (b"\x00", b"\n") and content.lstrip()[:1] not in (b"{", b"["):
        return content
    try:
        return read_otlp_json(content, where) if named in (None, "otlp") else read_json(content, where)
    except TrajectoryError:
        # Not one document: perhaps one in each line.
        lines = content.splitlines()
        if len(lines) > 1 and lines[0].strip():
            if lines[0].rstrip().endswith((b"}", b"]")):
                several = [
                    read_json(line, f"{where}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
                ]
                if len(several) > 1 and all(isinstance(one, dict) and "messages" in one for one in several):
                    raise TrajectoryError(
                        f"{where} holds {len(several)} conversations, one in each line: load one"
                    ) from None
                return several
        elif content[:1] == b"\n" and named is None:
            return content  # protobuf: a field's tag and a length that look like the beginning of JSON
        raise


def _is_own(data: object) -> bool:
    """Say whether a record is a trajectory in adjudge's own form, or nothing but texts, which cannot show tools."""
    if isinstance(data, Mapping):
        return "messages" in data and "tool_calls" in data and "agents_called" in data
    if not isinstance(data, Sequence) or isinstance(data, str | bytes) or not data:
        return False
    return all(
        isinstance(item, str)
        or (isinstance(item, list | tuple) and item and all(isinstance(each, str) for each in item))
        for item in data
    )


def _choose(found: Sequence[Record], trace: str | None, where: str) -> Record:
    """Return the run that is asked for, or the only one."""
    if trace is not None:
        wanted = [one for one in found if trace in (one.id, one.id.replace("-", ""), *one.names)]
        if not wanted:
            raise TrajectoryError(f"{where} has no run {quote(trace)}{closest(trace, [one.id for one in found])}")
        exact = [one for one in wanted if trace == one.id]
        found = exact[:1] or wanted
    runs = join_traces(found)
    if len(runs) > 1:
        names = ", ".join(quote(record.id) for record in runs[:3])
        more = ", ..." if len(runs) > 3 else ""
        raise TrajectoryError(
            f"{where} holds {len(runs)} runs ({names}{more}): say which with trace=; "
            "if they are one run, put a span around it in your code"
        )
    return runs[0] if runs else Record("", ())


def detect(data: object, where: str) -> Format:
    """Return the format of a record; one that cannot be recognised is an error that asks for its name."""
    if isinstance(data, bytes | OtlpDocument):
        return "otlp-protobuf" if isinstance(data, bytes) else "otlp"
    sample: object = data
    if isinstance(data, list | tuple):
        if all(isinstance(item, str) for item in data):
            return "chat"
        # Empty items say nothing about the format.
        sample = next((item for item in data if not isinstance(item, Mapping | list | tuple) or item), data[0])
        if isinstance(sample, bytes):
            return "otlp-protobuf"
        if isinstance(sample, list | tuple):  # segments, or pages of observations
            sample = sample[0] if sample else {}
            if isinstance(sample, str):
                return "chat"
        sample = plain_object(sample)
    found = None
    if isinstance(sample, Mapping):
        found = _recognise(sample)
    elif type(sample).__module__.startswith("adjudge.model"):
        found = "chat"
    if found is None:
        names = ", ".join(FORMATS)
        keys = [quote(str(key)) for key in list(sample)[:5]] if isinstance(sample, Mapping) else []
        shape = f"{kind_of(sample)} with {', '.join(keys)}" if keys else kind_of(sample)
        raise TrajectoryError(
            f"cannot tell the format of {where} ({shape}); say which it is, with format= or --format ({names})"
        )
    return found


def _recognise(sample: Mapping[str, Any]) -> Format | None:
    """Return the format that an object is written in; the order matters, as the last signs are the weakest."""

    def has(*keys: str) -> bool:
        return any(key in sample for key in keys)

    def first_has(name: str, key: str) -> bool:
        items = sample.get(name)
        return isinstance(items, list) and bool(items) and isinstance(items[0], Mapping) and key in items[0]

    # What is not obvious from one key; the rest is in the table.
    kind, object_name = sample.get("type"), sample.get("object")
    is_item = isinstance(kind, str) and (kind in ("message", "reasoning") or kind.endswith(("_call", "_call_output")))
    is_page = isinstance(sample.get("data"), list) and (has("meta") or first_has("data", "traceId"))
    is_observation = has("traceId") and has("startTime", "parentObservationId")
    is_reply = isinstance(sample.get("output"), list) and not has("role")
    signs: dict[Format, bool] = {
        "otlp": has("resourceSpans", "resource_spans", "resourceLogs", "resource_logs"),
        "openai-agents": object_name in ("trace", "trace.span") or has("span_data") or first_has("data", "object"),
        "langsmith": has("run_type") or first_has("runs", "run_type"),
        "langfuse": has("observations") or is_observation or is_page,
        "inspect": has("samples") or (has("events") and has("epoch")),
        "atif": str(sample.get("schema_version")).startswith("ATIF-v") or (has("steps") and has("session_id", "agent")),
        "responses": object_name == "response" or is_item or is_reply,
        "chat": has("role", "messages", "choices", "parts", "tasks_output")
        or is_langchain_message(sample)
        or is_framework_message(sample),
    }
    return next((name for name, is_it in signs.items() if is_it), None)


def _read_chat(data: object, unknown: Unknown) -> Sequence[Message]:
    """Read messages, segments of messages (lists, or objects with `messages`), or an object that holds them."""
    if isinstance(data, Mapping):
        if "messages" in data and data.get("tool_calls"):
            raise TrajectoryError("the record has tool_calls beside its messages: they belong into the messages")
        steps = read_trajectory(data)
        if steps is not None:
            data, more = steps
            unknown |= more
        else:
            data = data.get(
                "messages", data.get("tasks_output", [data] if "role" in data or is_framework_message(data) else data)
            )
    if isinstance(data, Mapping):
        return read_messages(data, "the reply", "assistant")
    # Segments are read one by one; a list without any is one conversation.
    messages: list[Message] = []
    items = sequence(data, "the conversation")
    for index, item in enumerate(items):
        is_segment = isinstance(item, Mapping) and not ("role" in item or is_framework_message(item))
        held = item.get("messages") if is_segment else item
        if isinstance(held, Sequence) and not isinstance(held, str | bytes):
            messages.extend(_read_list(held, f"segment {index}", unknown))
    return messages or _read_list(items, "the conversation", unknown)


def _read_list(items: Sequence[Any], where: str, unknown: Unknown) -> tuple[Message, ...]:
    # The usual shape comes first: nearly all messages have it. AG2's end with the words of whoever asked.
    is_usual = all(type(one) is dict and "role" in one and one.keys() <= USUAL for one in items)
    if not is_usual or (items and items[-1]["role"] == "user"):
        items, more = to_chat(items, where)
        unknown |= more
    messages = read_messages(items, where)
    if not is_usual and any(isinstance(one, Mapping) and is_langchain_message(one) for one in items):
        # A summary stands for the question, too.
        unknown |= find_gaps(messages) if "tools" not in unknown else {}
    return messages


def _read_responses(data: object, unknown: Unknown) -> Sequence[Message]:
    """Read items of the Responses API: a list, a response, or an object with `input` and `output`."""
    if not isinstance(data, Mapping):
        return _read_list(sequence(data, "the items"), "the items", unknown)
    if "role" in data:
        return _read_list([data], "the message", unknown)
    if data.get("status") in _NOT_ENDED:
        unknown |= dict.fromkeys(("agents", "tools", "answer"), f"the response is {data['status']}: wait for its end")
    given = {key: data[key] for key in ("input", "instructions") if data.get(key) is not None}
    start = read_messages({"input": [], **given}, "input") if given else ()
    return start + read_messages(data.get("output"), "output", "assistant")


_NOT_ENDED = frozenset({"incomplete", "in_progress", "queued", "failed", "cancelled"})
_DECODERS: Mapping[str, str] = {  # a module and its function
    "otlp": "_dialects:decode_otlp",
    "otlp-protobuf": "_dialects:decode_protobuf",
    "langfuse": "_langfuse:decode_langfuse",
    "langsmith": "_langsmith:decode_langsmith",
    "openai-agents": "_agents_sdk:decode_agents_sdk",
    "inspect": "_inspect:decode_inspect",
    "atif": "_atif:decode_atif",
}
