"""The agent under test, however it can be reached: a function, a batch of them, a command, an address.

get_agent(my_function)                    sync or async: question in, answer (or its whole trajectory) out
get_agent("my_agents:answer")             the same, by its place
get_agent("http://localhost:8000/chat")   POST {"message", "session_id"}
get_agent("openai:MODEL")                 an OpenAI-compatible endpoint; also anthropic:MODEL, litellm:MODEL
get_agent("command: ./agent --fast")      JSON lines over a program's standard input and output
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjudge.agents._batch import BatchAgent
    from adjudge.agents._command import CommandAgent
    from adjudge.agents._function import FunctionAgent
    from adjudge.agents._http import ChatAgent, HttpAgent
    from adjudge.agents._registry import get_agent

__all__ = ["BatchAgent", "ChatAgent", "CommandAgent", "FunctionAgent", "HttpAgent", "get_agent"]

_HOMES = {
    "_batch": ("BatchAgent",),
    "_command": ("CommandAgent",),
    "_function": ("FunctionAgent",),
    "_http": ("ChatAgent", "HttpAgent"),
    "_registry": ("get_agent",),
}


def __getattr__(name: str) -> object:
    """Load each kind of agent when it is first asked for."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"adjudge.agents.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'adjudge.agents' has no attribute {name!r}")
