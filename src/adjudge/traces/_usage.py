"""How many tokens a model call used and what it cost, wherever a format has it.

    Usage(prompt_tokens=20, completion_tokens=7, cost=0.00015)          None is what was not recorded

A number that is not a count, or not a price, was not recorded: nothing is guessed.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from adjudge.traces._values import loose

T = TypeVar("T")

_PROMPT = ("input_tokens", "prompt_tokens", "input", "promptTokens")
_COMPLETION = ("output_tokens", "completion_tokens", "output", "completionTokens")
_COST = ("total_cost", "cost", "totalCost", "calculatedTotalCost")
_PROMPT_ATTRIBUTES = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_COMPLETION_ATTRIBUTES = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
_COST_ATTRIBUTES = ("llm.cost.total", "gen_ai.usage.cost", "operation.cost")
_LANGFUSE_TOKENS, _LANGFUSE_COSTS = "langfuse.observation.usage_details", "langfuse.observation.cost_details"
_MOST = 10**15  # tokens that can be a count


class Usage(NamedTuple):
    """What a model call used; None is what was not recorded."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


def read_usage(*places: object) -> Usage:
    """Return what the first of several objects that knows says was used, in the words of any service or format.

    >>> read_usage(None, {"input_tokens": 20, "output_tokens": 7}, {"total_cost": 0.5})
    Usage(prompt_tokens=20, completion_tokens=7, cost=0.5)
    """
    held = [found for place in places if isinstance(found := loose(place)[0], Mapping)]
    return Usage(_first(held, _PROMPT, _count), _first(held, _COMPLETION, _count), _first(held, _COST, _price))


def read_usage_attributes(attributes: Mapping[str, Any]) -> Usage:
    """Return what the attributes of a span say was used, in any of the dialects."""
    plain = [attributes]
    found = Usage(
        _first(plain, _PROMPT_ATTRIBUTES, _count),
        _first(plain, _COMPLETION_ATTRIBUTES, _count),
        _first(plain, _COST_ATTRIBUTES, _price),
    )
    details, prices = attributes.get(_LANGFUSE_TOKENS), attributes.get(_LANGFUSE_COSTS)
    if details is None and prices is None:
        return found
    costs = loose(prices)[0]
    total = {"cost": costs.get("total")} if isinstance(costs, Mapping) else None
    return read_usage(details, total, found._asdict())


def total_usage(calls: Sequence[Usage | None]) -> Usage:
    """Return what several model calls used together; what one of them does not know is not known."""
    every = [Usage() if one is None else one for one in calls] or [Usage()]
    prompts = [one.prompt_tokens for one in every if one.prompt_tokens is not None]
    completions = [one.completion_tokens for one in every if one.completion_tokens is not None]
    costs = [one.cost for one in every if one.cost is not None]
    return Usage(
        sum(prompts) if len(prompts) == len(every) else None,
        sum(completions) if len(completions) == len(every) else None,
        math.fsum(costs) if len(costs) == len(every) else None,
    )


def _first(held: Iterable[Mapping[str, Any]], names: Iterable[str], read: Callable[[object], T | None]) -> T | None:
    for place in held:
        for name in names:
            value = place.get(name)
            if value is not None and (found := read(value)) is not None:
                return found
    return None


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and 0 <= value < _MOST else None


def _price(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _MOST else None
