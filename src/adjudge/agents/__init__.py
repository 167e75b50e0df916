"""The agent under test: a function, one that answers batches, a command, or an address.

get_agent(my_function)                    sync or async: question in, answer (or its whole trajectory) out
get_agent("my_agents:answer")             the same, by its place
get_agent("http://localhost:8000/chat")   POST {"message", "session_id"}
get_agent("openai:MODEL")                 an OpenAI-compatible endpoint; also anthropic:MODEL, litellm:MODEL
get_agent("command: ./agent --fast")      JSON lines over a program's standard input and output
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.agents._answer import session_of, to_trajectory
    from adjudge.agents._command import CommandAgent
    from adjudge.agents._functions import BatchAgent, FunctionAgent, get_agent, load_agent
    from adjudge.agents._http import ChatAgent, HttpAgent
    from adjudge.agents._ready import wait_for_agent

__all__ = [
    "BatchAgent",
    "ChatAgent",
    "CommandAgent",
    "FunctionAgent",
    "HttpAgent",
    "get_agent",
    "load_agent",
    "session_of",
    "to_trajectory",
    "wait_for_agent",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_command": ("CommandAgent",),
        "_functions": ("BatchAgent", "FunctionAgent", "get_agent", "load_agent"),
        "_http": ("ChatAgent", "HttpAgent"),
        "_ready": ("wait_for_agent",),
        "_answer": ("session_of", "to_trajectory"),
    },
)
