"""Hard budgets: a call that could go over one is not made.

What a call will cost is not known before it is made, so the most that it can cost is set aside first, and what it did
cost is booked when it is known.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from adjudge.errors import RunStopped
from adjudge.model import ChatReply, ChatRequest
from adjudge.runs._plan import RunConfig
from adjudge.runs._records import encode

REPLY_TOKENS = 1024  # set aside for a reply whose length the request does not bound
IMAGE_TOKENS = 3000  # set aside for an image: more than any common model counts for one
MESSAGE_TOKENS = 16  # what a message costs beside its text


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is set aside for one call."""

    tokens: int
    cost: float


class Budget:
    """What a run may still spend."""

    def __init__(self, config: RunConfig, calls: int = 0, tokens: int = 0, cost: float = 0.0) -> None:
        self._config = config
        self.calls = calls
        self.tokens = tokens
        self.cost = cost
        self._held_calls = 0
        self._held_tokens = 0
        self._held_cost = 0.0
        self._settled = asyncio.Event()

    async def reserve(self, request: ChatRequest | None) -> Reserve:
        """Set aside the most that one more call can cost; where that is too much even alone, raise `RunStopped`.

        Of a call without a request nothing is known but that it is one.
        """
        if request is None or (self._config.max_tokens is None and self._config.max_cost is None):
            prompt, reply = 0, 0
        else:
            prompt, reply = most_tokens(request)
        reserve = Reserve(prompt + reply, self.price(prompt, reply) or 0.0)
        config = self._config
        while True:
            spent = None
            if config.max_calls is not None and self.calls + self._held_calls + 1 > config.max_calls:
                spent = f"{config.max_calls} calls"
            elif config.max_tokens is not None and self.tokens + self._held_tokens + reserve.tokens > config.max_tokens:
                spent = f"{config.max_tokens} tokens"
            elif config.max_cost is not None and self.cost + self._held_cost + reserve.cost > config.max_cost:
                spent = f"{config.max_cost:g} dollars"
            if spent is None:
                break
            if not self._held_calls:
                raise RunStopped(f"the next call could go over the budget of {spent}", code="budget-spent")
            self._settled.clear()
            await self._settled.wait()  # what is set aside for calls in flight is mostly more than they cost
        self._held_calls += 1
        self._held_tokens += reserve.tokens
        self._held_cost += reserve.cost
        return reserve

    def again(self) -> None:
        """Book one more attempt of a call that is under way, or raise `RunStopped`."""
        most = self._config.max_calls
        if most is not None and self.calls + self._held_calls + 1 > most:
            raise RunStopped(f"the next call could go over the budget of {most} calls", code="budget-spent")
        self.calls += 1

    def settle(self, reserve: Reserve, reply: ChatReply | None, *, made: bool = True) -> float | None:
        """Book what a call did cost, if it was made, and return that in dollars, where the price is known."""
        self._held_calls -= 1
        self._held_tokens -= reserve.tokens
        self._held_cost -= reserve.cost
        self._settled.set()
        self.calls += made
        if reply is None:
            return None
        prompt, completion = reply.prompt_tokens or 0, reply.completion_tokens or 0
        cost = self.price(prompt, completion)
        self.tokens += prompt + completion
        self.cost += cost or 0.0
        return cost

    def price(self, prompt: int, completion: int) -> float | None:
        """Return what so many tokens cost, in dollars."""
        if self._config.price is None:
            return None
        return (prompt * self._config.price[0] + completion * self._config.price[1]) / 1e6


def most_tokens(request: ChatRequest) -> tuple[int, int]:
    """Return the most tokens that a request and its reply can have: a token of text has at least one byte."""
    text = sum(len(message.text.encode("utf-8", "replace")) + MESSAGE_TOKENS for message in request.messages)
    if request.schema is not None:
        text += len(encode(request.schema))
    images = sum(_images(message.content) for message in request.messages)
    return text + images * IMAGE_TOKENS, request.max_tokens or REPLY_TOKENS


def _images(content: object) -> int:
    """Return how many parts of a message are no text."""
    parts = content if isinstance(content, list | tuple) else ()
    return sum(not isinstance(part, Mapping) or part.get("type") != "text" for part in parts)
