"""The interface of an agent behind an address, where it is not adjudge's own: what is sent, and where the answer is.

BodyTemplate({"input": "{question}", "thread": "{session_id}"})
AnswerFields({"response": "$.output.text", "tools_used": "$.steps[*].tool"})
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adjudge.errors import DataError, UsageError, closest
from adjudge.model import Question

FIELDS = ("response", "agents_called", "tools_used", "messages", "trace_id", "sources")
_LISTS = ("agents_called", "tools_used", "sources")
PLACEHOLDERS = ("question", "session_id", "messages")
MOST_NAMED = 8  # keys of an answer in a message

_EVERY: Final = None  # the step `[*]`
_MISSING: Final = object()
_STEP = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[(-?[0-9]{1,9})\]|(\[\*\])|\['([^']+)'\]|\["([^"]+)"\]""")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class JsonPath:
    """A place in JSON: `$.output.text`, `$.choices[0].message`, `$.steps[*].tool`, `$['a key']`; `$` may be left out.

    >>> JsonPath("$.steps[*].tool").find({"steps": [{"tool": "search"}, {}, {"tool": "read"}]})
    ['search', 'read']
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps: list[str | int | None] = []
        at = 1 if text.startswith("$") else 0
        while at < len(text):
            step = _STEP.match(text, at)
            if step is None:
                how = "write $.name, [0] and [*], as in $.output[0].text"
                raise UsageError(f"{text!r} is not a place in JSON from character {at + 1} on: {how}", code="bad-path")
            name, index, every, *quoted = step.groups()
            if index is not None:
                self.steps.append(int(index))
            else:
                self.steps.append(_EVERY if every else name or quoted[0] or quoted[1])
            at = step.end()

    def find(self, value: Any) -> Any:
        """Return what is at the place; `_MISSING` where there is nothing."""
        return _walk(value, self.steps)

    def describe_missing(self, value: Any) -> str:
        """Say how far the place can be followed, and what is there instead."""
        for at, step in enumerate(self.steps):
            found = _walk(value, self.steps[: at + 1])
            if found is not _MISSING and found != []:
                continue
            above = _walk(value, self.steps[:at])
            if isinstance(step, str) and isinstance(above, Mapping):
                keys = [str(key)[:40] for key in above]
                there = ", ".join(map(ascii, keys[:MOST_NAMED])) or "nothing"
                return f"; there it has {there}{closest(step, keys)}"
            return f"; there it has a {type(above).__name__}"
        return ""


def _walk(value: Any, steps: Sequence[str | int | None]) -> Any:
    for at, step in enumerate(steps):
        if step is _EVERY:
            if not isinstance(value, list):
                return _MISSING
            rest = steps[at + 1 :]
            found = [one for one in (_walk(each, rest) for each in value) if one is not _MISSING]
            if value and not found:
                return _MISSING  # there are items, and none has it: that is not the same as none
            # Lists of an inner `[*]` are joined: the result is one list, whatever the number of them.
            return [inner for one in found for inner in one] if _EVERY in rest else found
        is_there = isinstance(value, Mapping) and isinstance(step, str) and step in value
        if isinstance(step, int) and isinstance(value, list):
            is_there = -len(value) <= step < len(value)
        if not is_there:
            return _MISSING
        value = value[step]
    return value


class AnswerFields:
    """Where the fields of an answer are, each a `JsonPath`; fields that are not named keep their usual places."""

    def __init__(self, places: Mapping[str, str]) -> None:
        for name in places:
            if name not in FIELDS:
                message = f"an answer has no field {name!r}{closest(name, FIELDS)} (there are {', '.join(FIELDS)})"
                raise UsageError(message, code="bad-option")
        self.paths = {name: JsonPath(place) for name, place in places.items()}

    def apply(self, answer: Any) -> Any:
        """Return the answer with its fields at their usual places; one without its response is an error."""
        if not self.paths:
            return answer
        # What is mapped is looked for there and nowhere else.
        given = answer if isinstance(answer, Mapping) else {}
        kept = {key: value for key, value in given.items() if key not in self.paths}
        for name, path in self.paths.items():
            value = path.find(answer)
            if value is not _MISSING and value is not None:
                kept[name] = _checked(name, path, value)
            elif name == "response":
                message = f"the agent's answer has nothing at {path.text}{path.describe_missing(answer)}"
                raise DataError(message, code="bad-answer")
        return kept

    def find_missing(self, answer: Any, found: Mapping[str, Any]) -> dict[Question, str]:
        """Say of the agents and the tools that are not in the answer `found` where they were looked for."""
        questions: tuple[tuple[Question, str], ...] = (("agents", "agents_called"), ("tools", "tools_used"))
        unknown: dict[Question, str] = {}
        for question, name in questions:
            path = self.paths.get(name)
            if path is not None and name not in found:
                there = "" if answer is None else path.describe_missing(answer)
                unknown[question] = f"the agent's answer has nothing at {path.text}, where --field {name} is{there}"
        return unknown

    def split(self) -> tuple[JsonPath | None, "AnswerFields"]:
        """Return the place of the response, of which each event of a stream has a part, and the other fields."""
        others = AnswerFields({})
        others.paths = {name: path for name, path in self.paths.items() if name != "response"}
        return self.paths.get("response"), others


def _checked(name: str, path: JsonPath, value: Any) -> Any:
    """Return a value that its field may have; a single name is a list of one."""
    if name in ("response", "trace_id") and not isinstance(value, str):
        message = f"{name} must be text, and at {path.text} the agent's answer has a {type(value).__name__}"
        raise DataError(message, code="bad-answer")
    if name in _LISTS:
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            hint = f": write {path.text}[*].NAME" if isinstance(value, list) else ""
            message = f"{name} must be a list of names, and at {path.text} the agent's answer has something else{hint}"
            raise DataError(message, code="bad-answer")
    return value


class BodyTemplate:
    """The body of a request as JSON, in which the texts `{question}`, `{session_id}` and `{messages}` are filled in.

    Only a whole text is a placeholder, and what is filled in is never read again: a question cannot change the body.

    >>> BodyTemplate({"input": "{question}", "stream": False}).fill(question="{session_id}?", session_id="1")
    {'input': '{session_id}?', 'stream': False}
    """

    def __init__(self, template: Any) -> None:
        self.template = template
        names = _placeholders(template)
        for name in names:
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                raise UsageError(f"nothing is sent for {{{name}}}{closest(name, PLACEHOLDERS)} (there are {known})")
        if not {"question", "messages"} & set(names):
            raise UsageError("the body holds neither {question} nor {messages}: the agent would not be asked anything")

    def fill(self, **values: Any) -> Any:
        """Return the body with the values in their places."""
        return _fill(self.template, values)


def _placeholders(node: Any) -> list[str]:
    if isinstance(node, Mapping):
        return [name for one in node.values() for name in _placeholders(one)]
    if isinstance(node, list | tuple):
        return [name for one in node for name in _placeholders(one)]
    found = _PLACEHOLDER.fullmatch(node) if isinstance(node, str) else None
    return [] if found is None else [found[1]]


def _fill(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, Mapping):
        return {key: _fill(one, values) for key, one in node.items()}
    if isinstance(node, list | tuple):
        return [_fill(one, values) for one in node]
    found = _PLACEHOLDER.fullmatch(node) if isinstance(node, str) else None
    return node if found is None else values[found[1]]
