"""Items of the Responses API that are not messages: calls of tools, their results, and the rest.

{"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}        the caller runs the tool
{"type": "mcp_call", "id": "m1", "name": "weather", "arguments": "{}", "output": "sun"}  the service ran it
"""

import re
from collections.abc import Mapping
from typing import Any

from adjudge.traces._values import as_text, first

_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_HOSTED = frozenset(
    {"mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
)
_BY_CALLER = frozenset({"local_shell_call", "shell_call", "computer_call", "apply_patch_call"})
_UNDER_WAY = frozenset({"in_progress", "calling", "searching", "interpreting", "generating"})
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
