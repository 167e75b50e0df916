"""What the messages of a conversation say that was done.

This is `assemble` for one model call that wrote them all, without the spans, the tree and the log that it needs; a
property test compares the two. A list shows what its own speakers called, and no more: what an agent behind a tool did
is in a trace. Where a call looks like one of an agent, what ran inside is unknown; where a list says itself that it
leaves something out, its tools are.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from adjudge.errors import TrajectoryError
from adjudge.model import Message, PendingCalls, Question, ToolCall, Trajectory
from adjudge.traces._agent_names import BEHIND, SILENT, hidden_agent, open_questions, started_agent
from adjudge.traces._message_lists import CHANGED, CUT, EDITED
from adjudge.traces._messages import RESULT_ROLES, plain_result
from adjudge.traces._parts import strange_kind
from adjudge.traces._spans import NO_TOOL_NAMED, NOBODY_NAMED, NOTHING_DONE, ONE_UNNAMED
from adjudge.traces._values import (
    HANDOVER_TOOLS,
    TRANSFERRED,
    as_text,
    called_agent,
    handed_over,
    loose,
    quote,
    style,
)

_ROLES = frozenset({"system", "developer", "user", "assistant", "unknown"}) | RESULT_ROLES
# What OpenAI Agents, LangGraph, AutoGen, AG2, LlamaIndex and Strands return from a handoff, with the agent's name.
_HANDED_OVER = re.compile(
    r'\s*(?:\{"assistant": *"(?P<json>[^"]+)"\}|(?:successfully )?transfer(?:red)? to (?P<plain>[\w .-]*\w)'
    r"|agent (?P<named>.+) is now handling the request|handing off to (?P<to>[^:]+):)",
    re.IGNORECASE,
)
_MANAGED = "Here is the final answer from your managed agent '"  # smolagents
_ANSWERED = "Returning structured response:"  # LangChain, where a ToolStrategy makes the answer a call
_COWORKERS = frozenset({"delegate_work_to_coworker", "ask_question_to_coworker"})  # CrewAI
ALONE = "an answer alone shows no calls: return all messages since the question, and the question itself"
_CHOSEN = (
    "what {} did may not all be here, as each node of a graph chooses what it returns: return tools_used beside the"
    " messages, or record a trace"
)
_SEVERAL_RESULTS = "the list ends with the results of tools, and no message says which is the answer: return it, too"
_IN_NAME_OF = "the user's message named {} may be an agent's last words: return its own messages, or record a trace"
_SHORTENED = "the messages of {} leave out what it did: output_mode='full_history', or record a trace"


def find_gaps(messages: Sequence[Message]) -> dict[Question, str]:
    """Return what a list of LangChain's messages may leave out: each node of a graph chooses what it returns.

    Whoever is not in it may have run. Of one speaker the list is whole; of several, one that says words and calls
    nothing may have done more before.
    """
    unknown: dict[Question, str] = {}
    asked = False
    segments = 0
    before = ""
    busy: dict[str, bool] = {}  # by speaker; those without a name are told apart by where they begin
    for message in messages:
        if message.role == "user":
            if asked and message.name:
                unknown |= dict.fromkeys(("agents", "tools"), _IN_NAME_OF.format(quote(message.name)))
            asked = True
        if message.role == "assistant":
            segments += before == "assistant"
            speaker = message.name or f" {segments}"
            busy[speaker] = busy.get(speaker, False) or bool(message.tool_calls)
        before = message.role
    if not asked:
        unknown |= dict.fromkeys(("agents", "inside"), CUT)
    if unknown and before == "user":
        unknown["answer"] = unknown["agents"]
    unnamed = [speaker for speaker in busy if speaker[0] == " "]
    if unnamed and len(unnamed) < len(busy):
        unknown.setdefault("agents", ONE_UNNAMED)
    quiet = [speaker for speaker, is_busy in busy.items() if not is_busy and (speaker not in unnamed[:-1])]
    if len(busy) > 1 and quiet:
        who = "an agent" if quiet[0] in unnamed else quote(quiet[0])
        unknown.setdefault("inside", _CHOSEN.format(who))
    if busy:
        unknown.setdefault("others", SILENT)
    return unknown


def _check_messages(messages: Iterable[Message]) -> None:
    """Refuse what is not known and could hold a call: silence would look like a run without tools."""
    for index, message in enumerate(messages):
        if message.role not in _ROLES:
            raise TrajectoryError(f"message {index} has the role {quote(message.role)}, which is not known")
        if isinstance(message.content, tuple):
            for part in message.content:
                kind = strange_kind(part)
                if kind is not None:
                    raise TrajectoryError(f"message {index} has a part of kind {quote(kind)}, which is not known")


def read_conversation(messages: Sequence[Message], unknown: dict[Question, str]) -> Trajectory:
    """Return what was done; `unknown` is what the reader of the messages knows that they cannot show."""
    _check_messages(messages)
    if any(one.text.startswith(_ANSWERED) for one in messages if one.role in RESULT_ROLES):
        messages = _answers_as_words(messages)
    calls = _join(messages)
    replies = [one for one in messages if one.role == "assistant"]
    speakers = tuple(dict.fromkeys(one.name for one in replies if one.name is not None))
    # A call that only names the next agent is a handoff: an agent that was called, not a tool that was used.
    styled = {style(name): name for name in speakers}
    # Whoever speaks here and was called by its name as a tool is an agent, too; not a tool that one calls its own.
    own = {
        style(call.name)
        for one in replies
        for call in one.tool_calls
        if one.name and style(call.name) == style(one.name)
    }
    targets = [_target(call, styled, styled.keys() - own) for call in calls]
    handed_to = [styled.get(style(name), name) for name in targets if name is not None]
    if handed_to and not speakers:
        messages = _name_the_next(messages, calls, targets)
    found: dict[Question, str] = dict(unknown)
    was_anybody = bool(calls) or any(one.role in {"assistant", *RESULT_ROLES} for one in messages)
    if not was_anybody and not unknown:
        found = dict.fromkeys(("agents", "tools", "arguments", "answer"), NOTHING_DONE)
    elif not speakers and was_anybody:
        found.setdefault("agents", NOBODY_NAMED)
    # A result comes after its call: where a list begins with one, what was before it is gone.
    if messages and messages[0].role in RESULT_ROLES and messages[0].tool_call_id and not calls[0].requested:
        for question in ("agents", "inside"):
            found.setdefault(question, CUT)
    if any(not call.name for call in calls):
        found["tools"] = NO_TOOL_NAMED
    for question, reason in _left_out(messages, calls, handed_to).items():
        found.setdefault(question, reason)
    # An agent is asked something: a call without arguments is none of one.
    made = list(zip(calls, targets, strict=True))
    hiding = [call for call, target in made if target is None and call.executed and call.arguments]
    if hiding and "tools" not in found and (hidden := hidden_agent(hiding, {})) is not None:
        found.setdefault("inside", BEHIND.format(quote(hidden)))
    # Who is started by a call is an agent that was called, between those that speak before it and after it.
    started = {agent for call in hiding if (agent := started_agent(call))}
    agents = dict.fromkeys((*speakers, *handed_to))
    if started:
        agents = _in_order_of_entry(messages, started) | agents
    if hiding or handed_to:
        found = _open_others(found, hiding, {*speakers, *handed_to}, is_handed_over=bool(handed_to))
    texts = (one.text for one in reversed(replies) if one.text or not one.tool_calls)
    is_graph = unknown.get("others") == SILENT
    direct = _direct_answer(messages, [call for call, target in made if target is None], found) if is_graph else None
    return Trajectory(
        messages=tuple(map(plain_result, messages)),
        tool_calls=None
        if found.get("tools") in (NOTHING_DONE, NO_TOOL_NAMED)
        else tuple(call for call, target in made if target is None),
        agents_called=tuple(agents),
        final_response=next(texts, None) if direct is None else direct,
        unknown=found,
    )


def _direct_answer(messages: Sequence[Message], calls: Sequence[ToolCall], unknown: dict[Question, str]) -> str | None:
    """Return the result with which a graph's list ends: of a tool that returns directly it is what the user gets."""
    if messages[-1].role not in RESULT_ROLES:
        return None
    ended = [call for call in calls if call.requested and call.executed and call.id == messages[-1].tool_call_id]
    if ended and messages[-2].role not in RESULT_ROLES:
        return messages[-1].text
    unknown.setdefault("answer", _SEVERAL_RESULTS)
    return None


def _open_others(
    unknown: dict[Question, str], calls: Sequence[ToolCall], agents: Collection[str], *, is_handed_over: bool
) -> dict[Question, str]:
    """Return what is unknown with who else may have been called, as one of the calls or without a message."""
    # A graph whose list shows one handoff shows all of them.
    if is_handed_over and unknown.get("others") == SILENT:
        unknown = {question: why for question, why in unknown.items() if question != "others"}
    # A list with several agents shows who was called; the calls of one, or of nobody, may each be of another.
    is_alone = not agents or ("agents" not in unknown and len(agents) == 1)
    for question, why in open_questions(calls, {}).items() if is_alone else ():
        unknown[question] = f"{why}; {unknown[question]}" if question in unknown else why
    return unknown


def _answers_as_words(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages in which an answer that LangChain's agent gave as a call is one, and not a tool.

    With it the agent ends; where it goes on, a tool of its own has said the same words.
    """
    given: set[str] = set()
    for index, message in enumerate(messages):
        if message.role in RESULT_ROLES and message.tool_call_id and message.text.startswith(_ANSWERED):
            said = next((one for one in reversed(messages[:index]) if one.role == "assistant"), None)
            after = next((one for one in messages[index:] if one.role not in RESULT_ROLES), None)
            if said and (after is None or (after.role, after.name) != ("assistant", said.name)):
                given.add(message.tool_call_id)
    if not given:
        return messages
    names = {call.name for message in messages for call in message.tool_calls if call.id in given}
    # Answers that did not fit its schema are no tools either.
    tried = {call.id for message in messages for call in message.tool_calls if call.name in names and call.id}
    found: list[Message] = []
    for message in messages:
        answers = [as_text(call.arguments) for call in message.tool_calls if call.id in given]
        calls = tuple(call for call in message.tool_calls if call.id not in tried)
        if message.role not in RESULT_ROLES or message.tool_call_id not in tried:
            found.append(replace(message, content=answers[-1] if answers else message.content, tool_calls=calls))
    return found


def _join(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the calls, each with its result; a result without one is an execution that nobody asked for."""
    try:
        repr([message.tool_calls for message in messages])
    except RecursionError:
        raise TrajectoryError("arguments of a tool call are nested too deeply") from None
    calls: list[ToolCall] = []
    pending: PendingCalls[int] = PendingCalls()
    for message in messages:
        is_result = message.role in RESULT_ROLES
        # A result answers a call from before its message, never one of its own.
        index, is_repeated = pending.take(message) if is_result else (None, False)
        for call in message.tool_calls:
            pending.add(len(calls), call.id, call.name)
            calls.append(call)
        identity = message.tool_call_id
        if index is not None:
            known = calls[index]
            named = identity if known.id is None else known.id
            calls[index] = replace(known, id=named, result=message.text, executed=True)
        elif is_result and not is_repeated:
            calls.append(ToolCall(message.name or "", "", identity, message.text, requested=False, executed=True))
    return calls


def _target(call: ToolCall, speakers: Collection[str], callable_speakers: Collection[str]) -> str | None:
    """Return the agent that a call entered: one that speaks here, or one that its result names; None of a tool."""
    if not call.executed:
        return None
    named = called_agent(call.name, call.arguments)
    result = call.result or ""
    # LangGraph's supervisor and swarm say so whatever the tool is called.
    transferred = TRANSFERRED.fullmatch(result)
    for target in (style(transferred[1]) if transferred else "", named):
        if target in speakers:
            return target
    if callable_speakers and style(call.name) in callable_speakers:  # AutoGen's list has what it did inside, too
        return style(call.name)
    # A tool with arguments may be one that transfers money.
    is_bare = not loose(call.arguments)[0] or style(call.name) in HANDOVER_TOOLS
    said = _HANDED_OVER.match(result) if named and is_bare else None
    if said is not None:
        return next(name for name in said.groups() if name is not None).strip()
    if result.startswith(_MANAGED):
        return call.name
    # OpenAI Agents says so whatever the tool is called.
    return handed_over(result) or None if result.startswith("{") else None


def _name_the_next(
    messages: Sequence[Message], calls: Iterable[ToolCall], targets: Iterable[str | None]
) -> Sequence[Message]:
    """Return messages of nobody with the names that handoffs give: who was handed over to speaks from then on."""
    entered = {call.id: target for call, target in zip(calls, targets, strict=True) if target is not None}
    speaker: str | None = None
    named: list[Message] = []
    for message in messages:
        if message.role == "user":
            speaker = None  # in the next turn, anybody may begin
        if message.role in RESULT_ROLES and message.tool_call_id is not None:
            speaker = entered.get(message.tool_call_id, speaker)
        named.append(replace(message, name=speaker) if message.role == "assistant" and speaker else message)
    return named


def _in_order_of_entry(messages: Iterable[Message], started: Collection[str]) -> dict[str, None]:
    """Return who speaks, and who was started by a call, in the order in which the messages have them."""
    found: dict[str, None] = {}
    for message in messages:
        if message.role == "assistant":
            named = [message.name, *map(started_agent, message.tool_calls)]
            found |= dict.fromkeys(name for name in named if name and (name == message.name or name in started))
    return found


def _left_out(
    messages: Sequence[Message], calls: Iterable[ToolCall], handed_to: Collection[str]
) -> dict[Question, str]:
    """Return what a list says itself that it leaves out.

    That is what agents did whose last words are all that is here, and what a person made of a call before it ran.
    """
    found: dict[Question, str] = {}
    comes_back = False
    for call in calls:
        comes_back = comes_back or call.name.startswith("transfer_back_to_")
        if call.executed and call.name.lower().replace(" ", "_") in _COWORKERS:
            arguments, _ = loose(call.arguments)
            named = arguments.get("coworker") if isinstance(arguments, Mapping) else None
            found |= dict.fromkeys(("agents", "tools"), BEHIND.format(quote(str(named or "a coworker"))))
        if call.executed and (call.result or "").startswith(_MANAGED):
            found["tools"] = BEHIND.format(quote(call.name))
        edited = EDITED.match(call.result or "")
        if edited is not None:
            found["arguments"] = CHANGED.format(quote(call.name))
            found |= {} if edited[1] == call.name else {"tools": found["arguments"]}
    if comes_back and "tools" not in found:
        # LangGraph's supervisor keeps only the last message of an agent unless it is asked for all of them.
        made = [(one.name, call.name) for one in messages for call in one.tool_calls]
        busy = {agent for agent, tool in made if not tool.startswith("transfer_back_to_")}
        quiet = next((name for name in handed_to if name not in busy), None)
        # The tools of one that it asked are here, so that all messages are: the quiet one only spoke.
        is_whole = any(agent in handed_to and not tool.startswith("transfer_") for agent, tool in made)
        found |= {} if quiet is None or is_whole else {"tools": _SHORTENED.format(quote(quiet))}
    return found
