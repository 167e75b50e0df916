"""Limits that a run has to keep, each 1 or 0: time, tokens, dollars, messages, tool calls.

max_latency(trajectory, seconds=5)                  unscored, where nobody knows how long it took
max_cost(trajectory, dollars=0.02)                  0.0, with the reason: too-expensive: it cost $0.031, ...
"""

from collections.abc import Sequence
from typing import Any

from adjudge.errors import ArgumentError
from adjudge.rewards._checks import RANGE, UNKNOWN_TOOLS, number_in, shows_tools, verdict
from adjudge.rewards._records import record_of
from adjudge.rewards._tag import reward


@reward(binary=True, range=RANGE, parts=())
def max_latency(trajectory: Any, *, seconds: float) -> dict[str, Any]:
    """1 if the agent took at most so many seconds, else 0; unscored where nobody measured it.

    >>> from adjudge.model import Trajectory
    >>> max_latency(Trajectory(seconds=2.5), seconds=2)["reason"]
    'too-slow: it took 2.5 s, and 2 s were allowed'
    """
    limit = number_in(seconds, "seconds")
    taken = record_of(trajectory).seconds
    if taken is None:
        return {"unscored": "no-time: nobody measured how long the agent took"}
    return verdict(taken <= limit, f"too-slow: it took {taken:.4g} s, and {limit:g} s were allowed")


@reward(version="2", binary=True, range=RANGE, parts=())
def max_tool_calls(trajectory: Any, *, calls: int) -> dict[str, Any]:
    """1 if at most so many tool calls were executed, else 0.

    >>> max_tool_calls([{"role": "tool", "name": "search", "content": "..."}], calls=0)["reward"]
    0.0
    """
    limit, record = number_in(calls, "calls"), record_of(trajectory)
    used = len(record.tools_used)
    # Too many are too many, whatever else is missing from the record.
    if used <= limit and not shows_tools(record):
        return UNKNOWN_TOOLS
    return verdict(used <= limit, f"too-many-calls: {used} tool calls, and {limit:g} were allowed")


@reward(binary=True, range=RANGE, parts=())
def max_turns(trajectory: Any, *, turns: int) -> dict[str, Any]:
    """1 if the agent's models wrote at most so many messages, else 0.

    >>> max_turns([{"role": "assistant", "content": "Hello."}], turns=1)["reward"]
    1.0
    """
    limit, record = number_in(turns, "turns"), record_of(trajectory)
    written = sum(message.role == "assistant" for message in record.messages)
    # A text has no turns, nor has an answer with nothing but names of tools beside it.
    is_seen = shows_tools(record) and all(call.requested or call.result is not None for call in record.tool_calls or ())
    if written <= limit and (not record.messages or not is_seen or "answer" in record.unknown):
        return {"unscored": "incomplete-trace: the record cannot show how many messages there were"}
    return verdict(written <= limit, f"too-many-turns: {written} messages, and {limit:g} were allowed")


@reward(binary=True, range=RANGE, parts=())
def max_tokens(trajectory: Any, *, tokens: int) -> dict[str, Any]:
    """1 if the agent's models read and wrote at most so many tokens, else 0; unscored where they were not recorded.

    >>> from adjudge.model import Trajectory
    >>> max_tokens(Trajectory(prompt_tokens=900, completion_tokens=200), tokens=1000)["reason"]
    'too-many-tokens: 1,100 tokens, and 1,000 were allowed'
    """
    limit, record = number_in(tokens, "tokens"), record_of(trajectory)
    known = [one for one in (record.prompt_tokens, record.completion_tokens) if one is not None]
    used = sum(known)
    # Too many are too many, whatever else was not recorded.
    if used <= limit and (len(known) < 2 or not record.complete):
        return {"unscored": "no-tokens: the record does not show how many tokens were used"}
    return verdict(used <= limit, f"too-many-tokens: {used:,} tokens, and {limit:,} were allowed")


@reward(binary=True, range=RANGE, parts=())
def max_cost(trajectory: Any, *, dollars: float, price: Sequence[float] | None = None) -> dict[str, Any]:
    """1 if the agent's model calls cost at most so many dollars, else 0; unscored where that was not recorded.

    `price` is what a million prompt tokens and a million completion tokens cost; without it, the cost is the recorded
    one.

    >>> from adjudge.model import Trajectory
    >>> record = Trajectory(prompt_tokens=10_000, completion_tokens=1_000)
    >>> max_cost(record, dollars=0.01, price=[0.15, 0.6])["reward"]
    1.0
    """
    limit, record = number_in(dollars, "dollars"), record_of(trajectory)
    cost = record.cost
    if price is not None:
        if not isinstance(price, list | tuple) or len(price) != 2:
            raise ArgumentError(f"price must be two numbers, such as [0.15, 0.60], got {price!r}", code="bad-option")
        each = [number_in(one, "price") for one in price]
        used = (record.prompt_tokens, record.completion_tokens)
        known = [count * one / 1e6 for count, one in zip(used, each, strict=True) if count is not None]
        cost = sum(known) if len(known) == 2 or sum(known) > limit else None
    if cost is None or (cost <= limit and not record.complete):
        return {"unscored": "no-cost: the record does not show what its model calls cost"}
    return verdict(cost <= limit, f"too-expensive: it cost ${cost:.4g}, and ${limit:g} were allowed")
