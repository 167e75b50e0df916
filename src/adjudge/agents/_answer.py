"""What agents return, as trajectories, and the sessions that they are asked in."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from adjudge.errors import DataError, RowError, printable
from adjudge.model import Case, Message, Question, ToolCall, Trajectory, decode_json
from adjudge.traces import load_messages

RESPONSES = ("response", "final_response", "answer", "output", "message", "content", "text")
_QUOTED = 100  # characters of an answer that is not JSON
_MOST_KEYS = 20  # of an answer that are looked at, or named, in an error
_MISNAMED = {
    "agents_called": ("agent", "agents", "agent_names"),
    "tools_used": ("tool", "tools", "tools_called", "tool_names"),
}
_NO_AGENTS = "the agent's answer does not name them: return agents_called, messages or a trace"
_NO_TOOLS = "the agent's answer does not name them: return tools_used (an empty list for none), messages or a trace"
_NO_REQUESTS = "tools_used says what ran, and not what was asked for: return messages, or record a trace"


def to_trajectory(case: Case, answer: Any) -> Trajectory:
    """Return an agent's answer as a trajectory: a text, a mapping with one, messages, or a trajectory.

    Messages may be objects of a framework, as LangChain's are.

    >>> to_trajectory(Case("1", "2+2?"), "4").final_response
    '4'
    >>> to_trajectory(Case("1", "2+2?"), {"response": "4", "sources": ["a"]}).sources
    ('a',)
    """
    if isinstance(answer, Trajectory):
        return answer
    if isinstance(answer, str):
        answer = plain(answer)
        # A text alone cannot show which agents and tools were called.
        messages = (*question_of(case), Message("assistant", answer))
        return Trajectory(messages, None, final_response=answer, unknown={"agents": _NO_AGENTS, "tools": _NO_TOOLS})
    dump = getattr(answer, "model_dump", None)
    if callable(dump):
        answer = dump()
        if "content" in answer and ("type" in answer or "role" in answer):  # one message
            answer = [answer]
    if isinstance(answer, Mapping):
        _refuse_error(answer)
        return _with_messages(answer) if "messages" in answer else _of_mapping(case, answer)
    # `return text, messages` makes a pair, whose text would be what somebody said.
    is_pair = isinstance(answer, tuple) and any(isinstance(one, str) for one in answer)
    if isinstance(answer, Sequence) and not is_pair:
        return load_messages(answer)
    said = f"the agent returned a {type(answer).__name__}, not an answer"
    raise DataError(f"{said}: return a text, messages, or a mapping with response and messages", code="bad-answer")


def decode_answer(body: bytes) -> Any:
    """Read an agent's answer as JSON, with a byte order mark or without; what is not JSON is quoted."""
    body = body.removeprefix(BOM_UTF8)
    try:
        return decode_json(body, place="the agent's answer: ")
    except RowError as error:
        said = printable(" ".join(body[: _QUOTED * 4].decode("utf-8", "replace").split()), _QUOTED)
        raise RowError(f"{error.message}; it begins with {said}" if said else "the agent's answer is empty") from None


def _refuse_error(answer: Mapping[str, Any]) -> None:
    """Refuse an answer that is an error; a `message` beside one is its text, and not what the user got.

    Beside an answer, only the status `error` is that of the agent: another may be that of a payment. So is an error
    that is an object: what the user got is then an excuse, and what the agent did before is not what it does.
    """
    status, error = answer.get("status"), answer.get("error")
    texts = (answer[name] for name in RESPONSES if name != "message" and isinstance(answer.get(name), str))
    is_answered = "messages" in answer or bool(next(texts, "").strip())
    name = status.strip().lower() if isinstance(status, str) else ""
    is_refused = name in ("failed", "failure") or (isinstance(status, int) and 400 <= status < 600)
    # A text may be a remark: "one of three sources timed out".
    is_fault = isinstance(error, Mapping) and any(error.values())
    if name == "error" or is_fault or ((error or is_refused) and not is_answered):
        said = error or answer.get("message") or answer.get("response") or status
        raise DataError(f"the agent's answer is an error: {str(said)[:200]}", code="bad-answer")


def _with_messages(answer: Mapping[str, Any]) -> Trajectory:
    """Return what the messages show, completed by the other fields of the answer."""
    record = load_messages(answer["messages"] if "tool_calls" not in answer else answer)
    # What the answer says of itself counts beside what its messages show.
    agents, tools = _names(answer, "agents_called"), _names(answer, "tools_used")
    text = next((plain(answer[name]) for name in RESPONSES if isinstance(answer.get(name), str)), None)
    unknown = dict(record.unknown)
    if agents is not None:
        unknown.pop("agents", None)
        unknown.pop("others", None)
    if text is not None:
        unknown.pop("answer", None)
    calls = record.tool_calls
    if tools is not None:
        unknown.pop("tools", None)
        unknown.pop("inside", None)
        unknown.pop("behind", None)
        # Messages may be only what the user saw.
        unseen = Counter(tools) - Counter(record.tools_used)
        calls = (*(calls or ()), *(ToolCall(name, requested=False, executed=True) for name in unseen.elements()))
    return replace(
        record,
        tool_calls=calls,
        agents_called=tuple(dict.fromkeys((*(agents or ()), *record.agents_called))),
        final_response=record.final_response if text is None else text,
        unknown=unknown,
        sources=_names(answer, "sources") or record.sources,
        trace_id=_trace(answer) or record.trace_id,
    )


def _of_mapping(case: Case, answer: Mapping[str, Any]) -> Trajectory:
    for name in RESPONSES:
        text = answer.get(name)
        if isinstance(text, str):
            text = plain(text)
            agents, names = _names(answer, "agents_called"), _names(answer, "tools_used")
            # A name says that the tool ran: not that it was asked for, nor with which arguments.
            tools = None if names is None else tuple(ToolCall(one, requested=False, executed=True) for one in names)
            unknown: dict[Question, str] = {}
            if agents is None:
                unknown["agents"] = _misnamed(answer, "agents_called") or _NO_AGENTS
            if names is None:
                unknown["tools"] = _misnamed(answer, "tools_used") or _NO_TOOLS
            elif not names:
                unknown["requests"] = _NO_REQUESTS
            return Trajectory(
                (*question_of(case), Message("assistant", text)),
                tools,
                final_response=text,
                sources=_names(answer, "sources") or (),
                agents_called=agents or (),
                unknown=unknown,
                trace_id=_trace(answer),
            )
    there = ", ".join(ascii(str(key)[:40]) for key in list(answer)[:_MOST_KEYS]) or "nothing"
    message = f"the agent's answer has none of {', '.join(RESPONSES)} as a text; it has {there}"
    raise DataError(f"{message}: name its place with --field response=PATH", code="bad-answer")


def _misnamed(answer: Mapping[Any, Any], name: str) -> str | None:
    """Say what an answer calls a field that it lacks, where one of its keys looks like it."""
    from difflib import get_close_matches

    if name in answer:
        return f"{name} is null in the agent's answer: return a list, an empty one for none"
    keys = [key for key in list(answer)[:_MOST_KEYS] if isinstance(key, str) and len(key) <= len(name) + 8]
    found = [key for key in keys if key in _MISNAMED[name]] or get_close_matches(name, keys, 1, 0.75)
    return f"the agent's answer has {found[0]!a}: call it {name}, or say --field {name}={found[0]}" if found else None


def plain(text: str) -> str:
    """Return a text as nothing but a text: LangChain and smolagents answer with classes of their own."""
    return str.__str__(text)


def _trace(answer: Mapping[str, Any]) -> str | None:
    """Return the trace under which an agent says that it worked."""
    found = answer.get("trace_id")
    return found if isinstance(found, str) and found else None


def _names(answer: Mapping[str, Any], field: str) -> tuple[str, ...] | None:
    """Return the names in a field of an answer: texts, or objects with a `name`; None where it is not there.

    What is neither would become the name of something that nobody called.
    """
    given = answer.get(field)
    if given is None:
        return None
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, list | tuple):
        raise DataError(f"{field} of the agent's answer must be a list, got {type(given).__name__}", code="bad-answer")
    names: list[str] = []
    for one in several:
        name = one.get("name") if isinstance(one, Mapping) else one
        if not isinstance(name, str):
            message = f"{field} of the agent's answer must hold names, got {str(one)[:80]!a}"
            raise DataError(message, code="bad-answer")
        names.append(name)
    return tuple(names)


def question_of(case: Case) -> tuple[Message, ...]:
    """Return what the agent is asked, as messages."""
    return case.messages or (Message("user", case.question),)


def session_of(case: Case) -> str:
    """Return the session of a case: that of its conversation, or its own; 32 hexadecimal digits, so a trace id too.

    >>> len(session_of(Case("q1"))), session_of(Case("a", conversation_id="c")) == session_of(
    ...     Case("b", conversation_id="c"))
    (32, True)
    """
    key = f"case {case.id}" if case.conversation_id is None else f"conversation {case.conversation_id}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
