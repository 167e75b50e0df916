"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.7: what coding agents did, step by step.

    {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "coder", "version": "1"}, "steps": [
        {"step_id": 1, "source": "user", "message": "Repair the build."},
        {"step_id": 2, "source": "agent", "message": "I look.", "metrics": {"prompt_tokens": 20},
         "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "make"}}],
         "observation": {"results": [{"source_call_id": "c1", "content": "ok"}]}},
        {"step_id": 3, "source": "agent", "message": "Done."}]}

A result refers to the trajectories of sub-agents that worked for it. They are looked for in the record: embedded in it
(`subagent_trajectories`), or beside it in a list of trajectories. A file that a reference names is never opened; what
it would say is missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.model import Message
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import Record, Span
from adjudge.traces._usage import Usage
from adjudge.traces._values import RecordPart, arguments_of, as_text, mapping, quote, sequence

_VERSION = re.compile(r"ATIF-v1\.[0-7](?:\.[0-9]+)?")
_STEPS = "should have the step_id"
_ROLES = {"agent": "assistant", "user": "user", "system": "system"}
_TOTALS = {
    "prompt_tokens": ("total_prompt_tokens", "prompt_tokens"),
    "completion_tokens": ("total_completion_tokens", "completion_tokens"),
    "cost": ("total_cost_usd", "cost_usd"),
}


def decode_atif(data: object) -> list[Record]:
    """Read a trajectory, or a list of them; those that another one refers to are part of it."""
    items = data if isinstance(data, list | tuple) else [data]
    documents = [RecordPart(item, f"trajectory {index}") for index, item in enumerate(items)]
    reading = _Reading()
    for document in documents:
        reading.collect(document)
    referred = {key for document in reading.known for key in _references(document)}
    tops = [one for one in documents if not any(key in referred for key in _keys(one))] or documents[:1]
    return [reading.record(one) for one in tops]


@dataclass(slots=True)
class _Reading:
    """The trajectories of a record, and the spans of the one that is being read."""

    known: list[RecordPart] = field(default_factory=list)
    by_key: dict[str, RecordPart] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    working: set[int] = field(default_factory=set)  # the agents that are being read, each inside the one before
    spans: list[Span] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    usage: dict[str, float] = field(default_factory=dict)

    def collect(self, document: RecordPart) -> None:
        """Find every trajectory in the record; of two with one key the first counts."""
        waiting = [document]
        while waiting:
            one = waiting.pop()
            if id(one.data) in self.seen:
                continue
            self.seen.add(id(one.data))
            self.known.append(one)
            for key in _keys(one):
                self.by_key.setdefault(key, one)
            waiting += _embedded(one)

    def record(self, document: RecordPart) -> Record:
        """Return the run of one trajectory, with those that worked for it."""
        self.spans, self.faults, self.usage = [], [], {}
        self.read_agent(document, None)
        totals = {name: self.usage.get(name) for name in _TOTALS}
        prompt, completion = totals["prompt_tokens"], totals["completion_tokens"]
        name = document.text("trajectory_id", "session_id") or ""
        return Record(
            name,
            tuple(self.spans),
            tuple(self.faults),
            tuple(_keys(document)),
            Usage(
                None if prompt is None else int(prompt), None if completion is None else int(completion), totals["cost"]
            ),
        )

    def read_agent(self, document: RecordPart, parent: str | None) -> None:
        """Add the span of an agent, and what is inside it; a trajectory that was read counts once."""
        if id(document.data) in self.read:
            return
        self.read.add(id(document.data))
        self.working.add(id(document.data))
        agent = RecordPart(document.get("agent"), f"{document.where}.agent")
        own = self.add(parent, kind="agent", name=agent.identity("name"))
        place = len(self.spans) - 1
        version = document.text("schema_version")
        if version is not None and _VERSION.fullmatch(version) is None:
            self.faults.append(f"{document.where} is {quote(version)}, and ATIF-v1.0 to 1.7 are known: convert it")
        answer, given = None, []
        for index, item in enumerate(document.items("steps")):
            step = RecordPart(item, f"{document.where}.steps[{index}]")
            # Steps are numbered from 1 on: a gap is a step that somebody left out.
            if str(step.get("step_id")) != str(index + 1) and not any(_STEPS in fault for fault in self.faults):
                self.faults.append(f"{step.where} {_STEPS} {index + 1}, and has {quote(as_text(step.get('step_id')))}")
            message = _message(step)
            # What was copied from an earlier trajectory is context, as is what users say.
            if message.role != "assistant" or step.get("is_copied_context") is True:
                given.append(message)
                continue
            self.add(own, kind="llm", name=step.text("model_name") or "model", input=tuple(given), output=(message,))
            given = []
            answer = message.text if message.text or not message.tool_calls else answer
            self.read_results(step, message, own)
        self.count(document)
        for child in _embedded(document):  # those that no result refers to
            self.read_agent(child, own)
        if document.get("continued_trajectory_ref") is not None:
            rest = quote(as_text(document.get("continued_trajectory_ref")))
            self.faults.append(f"{document.where} continues in {rest}, which is not in the record")
        self.spans[place] = replace(self.spans[place], text=answer, end=len(self.spans))
        self.working.discard(id(document.data))

    def read_results(self, step: RecordPart, message: Message, parent: str) -> None:
        """Add the tools that a step executed, each with the sub-agents that worked for it."""
        calls = {call.id: call for call in message.tool_calls}
        observation = step.get("observation")
        results = RecordPart(observation, f"{step.where}.observation").items("results") if observation else ()
        for index, item in enumerate(results):
            result = RecordPart(item, f"{step.where}.observation.results[{index}]")
            call, here = calls.get(result.text("source_call_id")), parent
            if call is not None:
                content = _text(result.get("content"), result.where)
                about = {"call_id": call.id, "arguments": call.arguments, "result": content}
                here = self.add(parent, kind="tool", name=call.name, **about)
            for reference in result.items("subagent_trajectory_ref"):
                self.follow(RecordPart(reference, f"{result.where}.subagent_trajectory_ref"), here)

    def follow(self, reference: RecordPart, parent: str) -> None:
        """Read the trajectory that a reference names; one that is not in the record is missing."""
        found = next((self.by_key[key] for key in _keys(reference) if key in self.by_key), None)
        # An agent does not work for itself: such a reference is by a session that the two share.
        if found is not None and id(found.data) not in self.working:
            self.read_agent(found, parent)
            return
        named = reference.text("trajectory_path", "trajectory_id", "session_id") or "without a name"
        fix = "embed it, or give both in a list"
        self.faults.append(f"the trajectory of a sub-agent, {quote(named)}, is not in the record: {fix}")

    def add(self, parent: str | None, **facts: Any) -> str:
        """Add a span; the order of the steps stands for the time, which steps need not have."""
        now = len(self.spans)
        self.spans.append(Span(f"span {now}", parent, start=now, end=now, **facts))
        return f"span {now}"

    def count(self, document: RecordPart) -> None:
        """Count the tokens and the cost of a trajectory: its totals, or the sum of its steps."""
        totals = document.get("final_metrics")
        steps = [step.get("metrics") for step in document.items("steps") if isinstance(step, Mapping)]
        for name, (total, part) in _TOTALS.items():
            whole = _number(totals, total)
            known = [whole] if whole is not None else [_number(one, part) for one in steps]
            numbers = [number for number in known if number is not None]
            if numbers:
                self.usage[name] = self.usage.get(name, 0) + sum(numbers)


def _keys(document: RecordPart) -> Iterator[str]:
    """Give what a trajectory, or a reference to one, can be found by: its own id, before 1.7 its session."""
    for key in ("trajectory_id", "session_id"):
        found = document.text(key)
        if found:
            yield found
            return


def _embedded(document: RecordPart) -> list[RecordPart]:
    inside = document.items("subagent_trajectories")
    return [RecordPart(one, f"{document.where}.subagent_trajectories[{index}]") for index, one in enumerate(inside)]


def _references(document: RecordPart) -> Iterator[str]:
    """Give the keys of the trajectories that the results of one refer to."""
    for step in document.items("steps"):
        observation = mapping(step, f"{document.where}.steps").get("observation")
        results = sequence(mapping(observation, document.where).get("results"), document.where) if observation else ()
        for result in results:
            for reference in sequence(mapping(result, document.where).get("subagent_trajectory_ref"), document.where):
                yield from _keys(RecordPart(reference, f"{document.where}: a reference"))


def _message(step: RecordPart) -> Message:
    source = step.text("source") or ""
    if source not in _ROLES:
        raise TrajectoryError(f"{step.where} has the source {quote(source)}, which is not known")
    calls = []
    for index, item in enumerate(step.items("tool_calls")):
        call = RecordPart(item, f"{step.where}.tool_calls[{index}]")
        name, arguments = call.identity("function_name"), arguments_of(call.get("arguments"))
        calls.append({"id": call.text("tool_call_id"), "name": name, "arguments": arguments})
    given = {"role": _ROLES[source], "content": step.get("message"), "tool_calls": calls or None}
    found = read_messages([given], step.where)
    return found[0] if found else Message(_ROLES[source])


def _text(content: object, where: str) -> str | None:
    """Return the content of a result as text; since 1.6 it may be a list of parts."""
    if content is None or isinstance(content, str):
        return content
    found = read_messages([{"role": "tool", "content": content}], where)
    return found[0].text if found else None


def _number(metrics: object, name: str) -> float | None:
    value = metrics.get(name) if isinstance(metrics, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 1e18 else None
