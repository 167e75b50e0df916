"""The floor: the bare openai SDK asks as many questions, and reads one word."""

import asyncio

from _peer import IN_FLIGHT, ROWS, measure
from openai import AsyncOpenAI


async def ask_all():
    client, gate = AsyncOpenAI(), asyncio.Semaphore(IN_FLIGHT)

    async def ask(row):
        text = f"GRADE the response.\n{row['question']}\n{row['reference']}\n{row['response']}"
        async with gate:
            reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
        return float("GRADE: C" in (reply.choices[0].message.content or ""))

    return await asyncio.gather(*map(ask, ROWS), return_exceptions=True)


measure(
    lambda: [
        f"raised: {type(one).__name__}" if isinstance(one, BaseException) else one for one in asyncio.run(ask_all())
    ]
)
