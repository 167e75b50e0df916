"""openevals: `create_async_llm_as_judge` with its prompt for correctness."""

import asyncio

from _peer import IN_FLIGHT, ROWS, measure
from openevals.llm import create_async_llm_as_judge
from openevals.prompts import CORRECTNESS_PROMPT


async def judge_all():
    judge, gate = create_async_llm_as_judge(prompt=CORRECTNESS_PROMPT, model="openai:m"), asyncio.Semaphore(IN_FLIGHT)

    async def one(row):
        async with gate:
            found = await judge(inputs=row["question"], outputs=row["response"], reference_outputs=row["reference"])
        return None if found["score"] is None else float(found["score"])

    return await asyncio.gather(*map(one, ROWS), return_exceptions=True)


measure(
    lambda: [
        f"raised: {type(one).__name__}" if isinstance(one, BaseException) else one for one in asyncio.run(judge_all())
    ]
)
