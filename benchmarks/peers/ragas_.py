"""ragas: `DiscreteMetric` with a prompt for correctness, as its documentation shows."""

import asyncio

from _peer import IN_FLIGHT, ROWS, measure
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics import DiscreteMetric

PROMPT = "Does the response give the expected answer? Question: {question} Expected: {reference} Response: {response}"


async def judge_all():
    judge = DiscreteMetric(name="correct", allowed_values=["pass", "fail"], prompt=PROMPT)
    llm, gate = llm_factory("m", client=AsyncOpenAI()), asyncio.Semaphore(IN_FLIGHT)

    async def one(row):
        async with gate:
            found = await judge.ascore(llm=llm, **row)
        return {"pass": 1.0, "fail": 0.0}.get(found.value, found.value)

    return await asyncio.gather(*map(one, ROWS), return_exceptions=True)


measure(
    lambda: [
        f"raised: {type(one).__name__}" if isinstance(one, BaseException) else one for one in asyncio.run(judge_all())
    ]
)
