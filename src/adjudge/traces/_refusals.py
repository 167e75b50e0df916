"""What frameworks write in place of a tool's result: that the tool is not there, or that the call does not fit it.

    Error: tool 'nope' not found in any workbench             AutoGen: the call was requested and not executed
    1 validation error for get_weatherargs                     the same: the arguments do not fit
    An error occurred while running the tool. ...              OpenAI Agents: nobody can tell whether the tool ran
    ValueError: no connection                                  the tool ran, and failed

Each rule returns whether the tool ran: True, False, or None where the words are the same for both.
"""

import re
from collections.abc import Mapping
from typing import Any

from adjudge.traces._values import loose

# What frameworks write in place of a result, in full: OpenAI Agents (two), and pydantic-ai.
_NOT_EXECUTED = frozenset(
    {"Tool execution was not approved.", "Multiple handoffs detected, ignoring this one."}
    | {"The tool call was denied.", "Tool not executed - a final result was already processed."}
)
_BEGINNINGS = (
    "Unknown tool name: '",  # pydantic-ai
    # OpenAI Agents before 0.24, which says no more since then.
    "An error occurred while running the tool. Please try again. Error: Invalid JSON input for tool ",
)
# What OpenAI Agents writes since 0.24 in place of a result, whether the tool failed or its arguments did not fit.
_FAILED = "An error occurred while running the tool. Please try again."
_VALIDATION = re.compile(r"(?:Error: )?[0-9]+ validation errors? for ([^\n]+)")  # pydantic's
# What leaves open whether a tool ran.
MAY_HAVE_RUN = (
    "the result of {} is an error that does not show whether it failed or its arguments did not fit: record a trace, "
    "or let the tool return errors of its own"
)
# What LangChain writes in place of a result, where a person, a limit, a missing tool or broken arguments kept a call
# from being executed.
NOT_EXECUTED = re.compile(
    r"User rejected the tool call for `|Tool call limit exceeded\. Do not "
    r"|Error: \S+ is not a valid tool, try one of \["
    r"|Tool call \S+ with id \S+ could not be executed - arguments were malformed or truncated"
)
# The same where arguments do not fit: what the tool was called with, and a line for each error, with its argument.
_MISFIT = re.compile(
    r"Error invoking tool '[^']+' with kwargs (?P<given>.+?) with error:\n(?P<errors>.+)\n Please fix the error",
    re.DOTALL,
)
_BROKEN_JSON = re.compile(r"Error: [^\n]+: line [0-9]+ column [0-9]+ \(char [0-9]+\)")  # AutoGen's, of arguments
# LlamaIndex has Python's words for arguments that do not fit a function, and words of its own for a missing tool.
_BAD_CALL = re.compile(r"(?:\S+\.)?(?P<name>\w+)\(\) (?:got an unexpected keyword argument '|missing [0-9]+ required )")
_NOT_FOUND = re.compile(r"Tool .+ not found\. Please select a tool that is available\.")
_NOT_CALLED = frozenset({"validation_error", "unknown_tool", "unavailable_tool"})  # why pydantic-ai asks again
_BEFORE_TOOLS = frozenset({"AgentToolCallError", "AgentParsingError"})  # smolagents' errors, with which no tool runs
_UNKNOWN_TOOL = re.compile(r"Unknown tool (\S+), should be one of: ")  # smolagents'


def is_refusal(result: str) -> bool:
    """Whether what is in place of a result says that its call was not executed, in the words of a framework.

    >>> is_refusal("Tool execution was not approved."), is_refusal("It was not approved.")
    (True, False)
    """
    return result in _NOT_EXECUTED or result.startswith(_BEGINNINGS)


def ran_with_error(result: str, arguments: object, schema: object = None) -> bool | None:
    """Return whether a call whose result OpenAI Agents wrote was executed; None where nobody can tell.

    The tool ran unless its arguments did not fit, which its schema shows.

    >>> city = {"required": ["city"], "properties": {"city": {"type": "string"}}}
    >>> failed = "An error occurred while running the tool. Please try again."
    >>> ran_with_error("18 degrees", "{"), ran_with_error(failed, "{"), ran_with_error(failed, '{"city": "Oslo"}')
    (True, False, None)
    >>> ran_with_error(failed, "{}", city), ran_with_error(failed, '{"city": "Oslo"}', city)
    (False, True)
    """
    if result != _FAILED:
        return not is_refusal(result)
    if arguments is None:
        return None
    given = loose(arguments or "{}")[0]
    if not isinstance(given, Mapping):
        return False
    wanted = loose(schema)[0]
    if not isinstance(wanted, Mapping):
        return None
    required, types = wanted.get("required"), wanted.get("properties")
    if isinstance(required, list) and not all(name in given for name in required):
        return False
    # Whether a value of another type fits is pydantic's to say; a text fits where one is wanted.
    known = types if isinstance(types, Mapping) else {}
    wants_texts = all(isinstance(one := known.get(name), Mapping) and one.get("type") == "string" for name in given)
    return True if wants_texts and all(isinstance(one, str) for one in given.values()) else None


def fits_type(error: str, name: str) -> bool | None:
    r"""Return False where pydantic's error says that the arguments of a tool did not fit, None where it may say so.

    The type of a tool's arguments is called after the tool; that of anything else may be used inside of it.

    >>> missing = "1 validation error for {}\ncity\n  Field required"
    >>> [fits_type(missing.format(name), "get_weather") for name in ("get_weatherargs", "Forecast")]
    [False, None]
    >>> fits_type("no connection", "get_weather")
    True
    """
    found = _VALIDATION.match(error)
    if found is None:
        return True
    return False if found[1].lower().removesuffix("args").removesuffix("schema") == name.lower() else None


def langchain_ran(error: str, name: str) -> bool | None:
    """Return whether a tool ran whose result in LangChain is an error; None where nobody can tell."""
    if NOT_EXECUTED.match(error):
        return False
    misfit = _MISFIT.match(error)
    if misfit is None:
        return fits_type(error, name)
    # What it was given is wrong or missing; anything else was wrong inside of the tool.
    given, lines = misfit["given"], [line.strip() for line in misfit["errors"].split("\n")]
    places = [(re.split(r"[.:]", line, maxsplit=1)[0], line.endswith(": Field required")) for line in lines]
    return not any(is_missing or f"'{place}':" in given for place, is_missing in places)


def autogen_ran(error: str, name: str) -> bool | None:
    """Return whether a tool ran whose result in AutoGen is an error; None where nobody can tell."""
    if error in (f"Error: tool '{name}' not found in any workbench", f"Tool {name} not found."):
        return False
    return False if _BROKEN_JSON.fullmatch(error) else fits_type(error, name)


def is_refused_by_crew(result: Mapping[str, Any]) -> bool:
    """Whether CrewAI wrote a result in place of the tool: the tool is not there, or its arguments do not fit."""
    name, said = result.get("name"), result.get("content")
    refusals = (
        "Error: Failed to parse tool arguments as JSON: ",
        f"Error executing tool: Tool '{name}' arguments validation failed: ",
        f"Tool execution blocked by hook. Tool: {name}",
        f"Tool '{name}' has reached its usage limit of ",
        f"Tool '{name}' has reached its maximum usage limit ",
    )
    return isinstance(said, str) and (said == "Tool not found" or said.startswith(refusals))


def llama_index_ran(said: str, name: str) -> bool | None:
    """Return whether a tool of LlamaIndex ran, by its result; None where nobody can tell."""
    bad = _BAD_CALL.match(said)
    if bad is None:
        return not _NOT_FOUND.fullmatch(said)
    # A function of another name may be one that the tool called.
    return False if bad["name"] == name else None


def smolagents_ran(kind: object, said: str, name: str, *, is_alone: bool) -> bool | None:
    """Return whether a tool ran in a step of smolagents that ended with an error; None where nobody can tell."""
    if kind in _BEFORE_TOOLS:
        return False if is_alone else None  # which of several did not fit is not said
    missing = _UNKNOWN_TOOL.match(said)
    return missing is None or missing[1] != name


def pydantic_ai_refusal(part: Mapping[str, Any]) -> str | None:
    """Return why a part in place of a tool's result says that its call was not executed; None of a result."""
    kind, content, outcome = part.get("part_kind"), part.get("content"), part.get("outcome")
    if kind == "tool-return":
        if outcome in ("denied", "interrupted"):
            return str(outcome)
        retry = part.get("retry")
        cause = retry.get("cause") if outcome == "retried" and isinstance(retry, Mapping) else None
        if cause in _NOT_CALLED:
            return str(cause)
    elif kind != "retry-prompt" or part.get("tool_name") is None:
        return None
    elif isinstance(content, list | tuple):  # the errors of a validation
        return "validation_error"
    return "refused" if isinstance(content, str) and is_refusal(content) else None
