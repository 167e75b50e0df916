"""Agents by name, by place, or as they are."""

from typing import Any

from adjudge.agents._batch import BatchAgent
from adjudge.agents._command import CommandAgent
from adjudge.agents._function import FunctionAgent
from adjudge.calling import load_code
from adjudge.errors import UsageError
from adjudge.model import Agent


def get_agent(agent: Any, **options: Any) -> Agent:
    """Return an agent: one that is given, a function, a batch agent, or what a text names.

    >>> get_agent(lambda question: question.upper()).name
    '<lambda>'
    """
    if isinstance(agent, str):
        return _named(agent.strip(), options)
    if isinstance(agent, type):
        agent = agent()
    if hasattr(agent, "batch_generate_response"):
        return BatchAgent(agent, **options)
    if isinstance(agent, Agent):
        return agent
    if callable(agent):
        return FunctionAgent.of(agent, **options)
    raise UsageError(f"a {type(agent).__name__} is no agent: give a function, an object with respond, or a name")


def _named(spec: str, options: dict[str, Any]) -> Agent:
    kind, colon, rest = spec.partition(":")
    if kind == "command" and rest.strip():
        return CommandAgent(rest.strip(), **options)
    if kind in ("http", "https") and rest.startswith("//"):
        from adjudge.agents._http import HttpAgent

        return HttpAgent(spec, **options)
    if kind in ("openai", "anthropic", "litellm") and rest:
        from adjudge.agents._http import ChatAgent
        from adjudge.chat import require_litellm

        if kind == "litellm":
            require_litellm()
        return ChatAgent(rest, **{**options, "api": kind})
    if not colon or not kind or not rest:
        kinds = "module:function, http://ADDRESS, openai:MODEL, anthropic:MODEL, litellm:MODEL, command: PROGRAM"
        raise UsageError(f"no agent is called {spec!r}: write {kinds}", code="unknown-agent")
    return get_agent(load_agent(spec), **options)


def load_agent(spec: str) -> Any:
    """Return the agent's code at a place, `module:name` or `./file.py:name`."""
    try:
        return load_code(spec)
    except UsageError as error:
        raise UsageError(f"agent {error.message}", code="unknown-agent") from None
