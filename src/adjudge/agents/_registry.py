"""Agents by name, by place, or as they are."""

from importlib import import_module
from typing import Any

from adjudge.agents._batch import BatchAgent
from adjudge.agents._command import CommandAgent
from adjudge.agents._function import FunctionAgent
from adjudge.errors import Caught, UsageError, closest
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
    return get_agent(load_place(spec), **options)


def load_place(spec: str) -> Any:
    """Return what stands at a place, `module:name`."""
    module_name, _, attribute = spec.partition(":")
    with Caught() as caught:
        module = import_module(module_name)
    if caught.reason is not None:
        reason = caught.reason.removeprefix("raised: ")
        raise UsageError(f"agent {spec}: cannot import {module_name!r}: {reason}", code="unknown-agent")
    found: Any = module
    for step in attribute.split("."):
        if not hasattr(found, step):
            hint = closest(step, dir(found))
            raise UsageError(f"agent {spec}: {module_name} has no {attribute!r}{hint}", code="unknown-agent")
        found = getattr(found, step)
    return found
