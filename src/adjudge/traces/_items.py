"""Items of the Responses API that are not messages: calls of tools, their results, and the rest.

{"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}        the caller runs the tool
{"type": "mcp_call", "id": "m1", "name": "weather", "arguments": "{}", "output": "sun"}  the service ran it
"""

import re
from collections.abc import Mapping
from typing import Any

from adjudge.traces._values import as_text, first, loose

_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_HOSTED = frozenset(
    {"mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
)
_BY_CALLER = frozenset({"local_shell_call", "shell_call", "computer_call", "apply_patch_call"})
_UNDER_WAY = frozenset({"in_progress", "calling", "searching", "interpreting", "generating"})
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
_WITHOUT_MEANING = frozenset(
    {"reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"}
)
CALLS = _NAMED | _HOSTED | _BY_CALLER
RESULTS = frozenset(f"{kind}_output" for kind in (_NAMED | _BY_CALLER) - _HOSTED)


BY_SERVICE = re.compile(
    r'"type": ?"(?:server_tool_use|server_tool_call|mcp_tool_use|' + "|".join(sorted(_HOSTED)) + ')"'
)
"""What a text of JSON has in it that holds calls of tools which the model's service ran itself."""


def item_kind(value: Mapping[str, Any]) -> str | None:
    """Return what an item is, where it is not a message."""
    kind = value.get("type")
    if isinstance(kind, str) and (kind in CALLS or kind in RESULTS or kind in _WITHOUT_MEANING):
        return kind
    return None


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

    >>> missing = "1 validation error for {}\\ncity\\n  Field required"
    >>> [fits_type(missing.format(name), "get_weather") for name in ("get_weatherargs", "Forecast")]
    [False, None]
    >>> fits_type("no connection", "get_weather")
    True
    """
    found = _VALIDATION.match(error)
    if found is None:
        return True
    return False if found[1].lower().removesuffix("args").removesuffix("schema") == name.lower() else None


def read_call(item: Mapping[str, Any], kind: str) -> tuple[object, object, str | None]:
    """Return the tool, the arguments and the result of a call, wherever its kind has them.

    A call that the service did not run, or has not finished, has no result; a generated image is left out of one.
    """
    # The service's own tools are named by the kind of the item.
    name = item.get("name") if kind in _NAMED else kind.removesuffix("_call")
    arguments = first(item, "arguments", "input", "action", "operation")
    if arguments is None:
        arguments = {key: item[key] for key in ("queries", "code") if item.get(key) is not None} or None
    status = item.get("status")
    if kind not in _HOSTED or (isinstance(status, str) and status in _UNDER_WAY):
        return name, arguments, None
    # MCP and file search return passages of text; anything else stays JSON.
    result = first(item, "output", "error", "results", "outputs")
    if isinstance(result, list) and all(
        isinstance(each, Mapping) and isinstance(each.get("text"), str) for each in result
    ):
        result = "\n".join(each["text"] for each in result)
    return name, arguments, as_text(result)
