"""What a run would call and cost, before it starts: the requests are made, and not sent."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adjudge.errors import AdjudgeError, Caught
from adjudge.model import Ask, ChatReply, ChatRequest
from adjudge.runs._ask import endpoint_of
from adjudge.runs._cache import Cache, request_body, request_key
from adjudge.runs._canaries import mixed
from adjudge.runs._cases import read_cases
from adjudge.runs._clients import ready
from adjudge.runs._config import RunConfig
from adjudge.runs._evaluate import make_job
from adjudge.runs._job import judge_row

BYTES_PER_TOKEN = 4  # about, for English text
REPLY_TOKENS = 200  # about, where nothing says more


@dataclass(slots=True)
class Estimate:
    """What a run would do: rows, calls that it would make, and tokens and dollars, about."""

    rows: int = 0
    unreadable: int = 0
    without_call: int = 0
    calls: int = 0
    cached: int = 0
    repeated: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


def estimate(
    rows: str, judge: str, *, options: Mapping[str, Any] | None = None, config: RunConfig | None = None
) -> Estimate:
    """Say what judging a file would call and cost; nobody is asked anything."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    return asyncio.run(_estimate(rows, make_job(judge=judge, **given), config or RunConfig()))


async def _estimate(rows: str, job: Any, config: RunConfig) -> Estimate:
    path = config.cache_path
    cache = Cache.open(path) if path is not None and path.exists() else None
    found = Estimate()
    seen: set[bytes] = set()

    def asks() -> tuple[Ask, list[ChatRequest]]:
        wanted: list[ChatRequest] = []

        async def ask(request: ChatRequest) -> ChatReply:
            wanted.append(request)
            raise AdjudgeError("only planned", code="planned")

        return ask, wanted

    async with ready(job, config, cache):
        chats = getattr(job.judge, "chats", {})
        for read in mixed(read_cases(rows), config):
            found.rows += 1
            if read.row is None:
                found.unreadable += 1
                continue
            ask, wanted = asks()
            with Caught():
                await judge_row(job.judge, read.row, ask if chats else None)
            found.without_call += not wanted
            for request in wanted:
                _count(found, request, endpoint_of(chats[request.model]), cache, seen)
    if cache is not None:
        cache.close()
    if config.price is not None:
        prompt, completion = config.price
        found.cost = (found.prompt_tokens * prompt + found.completion_tokens * completion) / 1e6
    return found


def _count(found: Estimate, request: ChatRequest, endpoint: str, cache: Cache | None, seen: set[bytes]) -> None:
    key = request_key(endpoint, request_body(request))
    if key in seen:
        found.repeated += 1
    elif cache is not None and cache.find(key) is not None:
        found.cached += 1
    else:
        found.calls += 1
        size = sum(len(message.text.encode("utf-8", "replace")) for message in request.messages)
        found.prompt_tokens += size // BYTES_PER_TOKEN
        found.completion_tokens += min(REPLY_TOKENS, request.max_tokens or REPLY_TOKENS)
    seen.add(key)
