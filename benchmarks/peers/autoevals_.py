"""autoevals: `Factuality`, as many at once as the others."""

import asyncio

from _peer import IN_FLIGHT, ROWS, measure
from autoevals import init
from autoevals.llm import Factuality
from openai import AsyncOpenAI


async def judge_all():
    init(AsyncOpenAI())
    judge, gate = Factuality(model="m"), asyncio.Semaphore(IN_FLIGHT)

    async def one(row):
        async with gate:
            found = await judge.eval_async(row["response"], row["reference"], input=row["question"])
        return found.score

    return await asyncio.gather(*map(one, ROWS), return_exceptions=True)


measure(
    lambda: [
        f"raised: {type(one).__name__}" if isinstance(one, BaseException) else one for one in asyncio.run(judge_all())
    ]
)
