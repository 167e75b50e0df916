"""A server of MCP tools for the tests: a till that counts what it is given."""

import os
import sys
import time

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("till", instructions="A till.")
state = {"asked": 30, "given": 0}


@server.tool()  # type: ignore[untyped-decorator]
def start(change: int) -> str:
    """Start an episode."""
    if change < 0:
        raise ToolError("no such change")
    state.update(asked=change, given=0)
    return f"Give {change}."


@server.tool()  # type: ignore[untyped-decorator]
def give(cents: int) -> str:
    """Give a coin."""
    if cents == 777:
        time.sleep(600)
    if cents == 666:
        os._exit(1)
    state["given"] += cents
    return str(state["given"])


@server.tool()  # type: ignore[untyped-decorator]
def done(fail: bool = False) -> str:
    """Say that it is done."""
    if fail:
        raise ToolError("not yet")
    return "Closed."


@server.tool()  # type: ignore[untyped-decorator]
def number() -> float:
    """Say how it went."""
    return state["given"] / state["asked"]


@server.tool()  # type: ignore[untyped-decorator]
def fields() -> dict[str, object]:
    """Say how it went, at length."""
    return {"reward": state["given"] / state["asked"], "success": state["given"] == state["asked"]}


@server.tool()  # type: ignore[untyped-decorator]
def words() -> str:
    """Say how it went, in words."""
    return "quite well"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
