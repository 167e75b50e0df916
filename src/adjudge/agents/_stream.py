r"""The answer of an agent that streams: server-sent events, or JSON lines, put together once the stream has ended.

data: {"choices": [{"delta": {"content": "Par"}}]}      deltas as OpenAI's, and Anthropic's
data: {"delta": "is"}      data: {"response": "Paris"}  objects with a text, and with fields of an answer
data: Paris                                             plain text

A stream that breaks off is an error, never half an answer. Where it is not plain which text is the answer, that is an
error as well, which says how to name it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adjudge.agents._answer import RESPONSES
from adjudge.agents._shape import FIELDS, AnswerFields, JsonPath
from adjudge.errors import DataError, RowError, printable
from adjudge.model import decode_json

EVENTS, LINES = "text/event-stream", ("application/x-ndjson", "application/jsonl", "application/json-lines")
DONE = "[DONE]"
_NOT_TEXT = re.compile(r"tool|function|argument|reasoning|thinking|audio|json", re.IGNORECASE)
"""Kinds of deltas that are not part of the answer."""
_ENDS = ("response.completed", "message_stop", "finish", "done", "end")
_ENDED_ON_PURPOSE = re.compile(r"response\.|message_start$")
"""Kinds of events of interfaces that always say where they end."""


def is_stream(content_type: str) -> bool:
    """Say whether a reply of this type is a stream."""
    return content_type.partition(";")[0].strip().lower() in (EVENTS, *LINES)


def read_stream(body: bytes, content_type: str, fields: AnswerFields) -> Any:
    """Return the answer that a whole stream holds: a text, or a mapping with its fields in their usual places."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _broken("it is not UTF-8") from None
    lines = re.split("\r\n|\r|\n", text)
    last = lines.pop()
    if last and last.removeprefix("data:").strip() != DONE and EVENTS in content_type:
        raise _broken("it stops in the middle of a line")
    if EVENTS in content_type:
        events = list(_events([*lines, last]))
    else:
        events = [("", line) for line in (*lines, last) if line.strip()]
    is_done = any(data.strip() == DONE for _, data in events)
    events = [(kind, data) for kind, data in events if data.strip() != DONE]
    for kind, data in events:
        if kind == "error":
            raise _broken(f"it reports an error: {printable(data)}")
    decoded = [_decode(data) for _, data in events]
    # An event without data only says that something has happened.
    objects = [one for one, (_, data) in zip(decoded, events, strict=True) if data.strip()]
    if objects and all(isinstance(one, dict) for one in objects):
        return _Objects(*fields.split()).read(objects, is_done=is_done)
    # Words of a plain text may look like JSON numbers, but a text of whole objects with one that is not is torn.
    if any(isinstance(one, dict) for one in decoded):
        raise _broken("some of its events are JSON objects, and some are not")
    if not events:
        raise _broken("it holds no text")
    if any(isinstance(one, list) for one in decoded):
        raise _broken("its events are JSON lists, which are not known")
    if len({kind for kind, data in events if data.strip()}) > 1:
        names = " and ".join(sorted(kind or "no name" for kind in {kind for kind, _ in events}))
        raise _broken(f"it has texts of several events ({printable(names)}), and which is the answer is not known")
    if all(isinstance(one, str) for one in decoded):
        return "".join(decoded)
    return "".join(data for _, data in events)


def _broken(why: str) -> DataError:
    return DataError(f"the agent's stream is not an answer: {why}", code="bad-answer")


def _events(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Give the events of a stream: kind and data. Comments, ids and times to wait say nothing about the answer."""
    kind, data = "", list[str]()
    for line in (*lines, ""):
        name, _, value = line.partition(":")
        if not line:
            if data:
                yield kind, "\n".join(data)
            kind, data = "", []
        elif name == "data":
            data.append(value.removeprefix(" "))
        elif name == "event":
            kind = value.strip()


def _decode(data: str) -> Any:
    try:
        return decode_json(data.encode())
    except RowError:
        return None


@dataclass(slots=True)
class _Objects:
    """What the objects of one stream amount to."""

    place: JsonPath | None
    others: AnswerFields
    texts: dict[str, list[str]] = field(default_factory=dict)  # by the key that they were found under
    answer: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, list[str]]] = field(default_factory=list)
    open_calls: dict[int, dict[str, list[str]]] = field(default_factory=dict)  # those that may have more parts
    ends_on_purpose: bool = False
    is_ended: bool = False

    def read(self, events: list[dict[str, Any]], *, is_done: bool) -> Any:
        """Return the answer."""
        for event in events:
            if event.get("error"):
                raise _broken(f"it reports an error: {printable(str(event['error']))}")
            self._note_end(event)
            if self.place is None:
                self._add_text(event)
            elif isinstance(piece := self.place.find(event), str):
                self.texts.setdefault(self.place.text, []).append(piece)
            # Of the other fields the last event that has one counts.
            found = self.others.apply(event)
            self.answer |= {name: found[name] for name in FIELDS if name != "response" and name in found}
        if self.ends_on_purpose and not (self.is_ended or is_done):
            raise _broken("it ended before the agent said that it was done")
        text = self._text()
        if self.calls:
            whole = [{name: "".join(parts) for name, parts in one.items()} for one in self.calls]
            called = [{"id": one["id"] or None, "function": one} for one in whole]
            message = {"role": "assistant", "content": text, "tool_calls": called}
            self.answer.setdefault("messages", [message])
        return {**self.answer, "response": text}

    def _note_end(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if isinstance(kind, str):
            self.ends_on_purpose = self.ends_on_purpose or _ENDED_ON_PURPOSE.match(kind) is not None
            self.is_ended = self.is_ended or kind in _ENDS
        choices = event.get("choices")
        if isinstance(choices, list) and choices:
            self.ends_on_purpose = True
            # The last one counts: an agent may send several completions, one after the other.
            reason = _first_choice(choices).get("finish_reason")
            self.is_ended = reason is not None
            if reason == "content_filter":
                raise _broken("it was withheld by a content filter")

    def _add_text(self, event: Mapping[str, Any]) -> None:
        """Note the part of the response that an event holds."""
        kind, delta, choices = event.get("type"), event.get("delta"), event.get("choices")
        if isinstance(choices, list):
            delta = _first_choice(choices).get("delta")
            if isinstance(delta, Mapping):
                self._add_calls(delta.get("tool_calls"))
        elif isinstance(kind, str) and _NOT_TEXT.search(kind):
            return
        if isinstance(delta, Mapping):
            delta = delta.get("content", delta.get("text"))
        if isinstance(delta, str):
            self.texts.setdefault("delta", []).append(delta)
            return
        name = next((name for name in ("token", "chunk", *RESPONSES) if isinstance(event.get(name), str)), None)
        if name is not None:
            self.texts.setdefault(name, []).append(event[name])

    def _add_calls(self, deltas: Any) -> None:
        """Put the calls of tools together, of which each event has a part; another id is another call."""
        for one in deltas if isinstance(deltas, list) else ():
            if not isinstance(one, Mapping) or not isinstance(one.get("index"), int):
                continue
            identity, function = one.get("id"), one.get("function")
            call = self.open_calls.get(one["index"])
            if call is None or (isinstance(identity, str) and call["id"] and [identity] != call["id"]):
                call = self.open_calls[one["index"]] = {"id": [], "name": [], "arguments": []}
                self.calls.append(call)
            if isinstance(identity, str) and not call["id"]:
                call["id"].append(identity)
            for name in ("name", "arguments"):
                part = function.get(name) if isinstance(function, Mapping) else None
                call[name] += [part] if isinstance(part, str) else []

    def _text(self) -> str:
        """Return the response: the parts under one key, joined."""
        whole = {name: _join(parts, grows=name in RESPONSES) for name, parts in self.texts.items()}
        if not whole and self.calls:
            return ""
        if not whole:
            raise _broken("none of its events holds text that is known: name it with --field response=PATH")
        if len(set(whole.values())) > 1:
            names = " and ".join(sorted(whole))
            message = f"it has different texts under {names}: name the answer with --field response=PATH"
            raise _broken(message)
        return next(iter(whole.values()))


def _first_choice(choices: list[Any]) -> Mapping[str, Any]:
    """Return the first of a model's choices, by its number: they need not be in order."""
    known = [one for one in choices if isinstance(one, Mapping)]
    return next((one for one in known if one.get("index", 0) == 0), {})


def _join(parts: list[str], *, grows: bool) -> str:
    """Return parts as one text; a last one that repeats all the others is the whole already.

    With `grows` each part may also be the text so far.
    """
    if grows and len(parts) > 1 and parts[0] and all(map(str.startswith, parts[1:], parts)):
        return parts[-1]
    before = "".join(parts[:-1])
    return before if len(parts) > 2 and parts[-1] == before else before + parts[-1]
