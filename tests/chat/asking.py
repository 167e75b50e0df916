"""What the tests of the clients share."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjudge.chat import ChatClient, ChatError
from adjudge.model import ChatReply, ChatRequest, Message
from adjudge.testing import ChatServer

VERDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"enum": ["CORRECT", "WRONG"]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}

QUICK_LIMITS: dict[str, Any] = {"attempts": 2, "attempt_timeout_s": 60, "deadline_s": 120}


def question(text: str = "Capital of France?", **more: Any) -> ChatRequest:
    """Return a request with one message."""
    return ChatRequest("m", (Message("user", text),), **more)


def ask(
    server: ChatServer, request: ChatRequest | None = None, *, kind: type[ChatClient] = ChatClient, **options: Any
) -> ChatReply:
    """Ask one question on an event loop of its own."""

    async def run() -> ChatReply:
        async with kind("m", base_url=server.base_url, **options) as client:
            return await client.complete(request or question())

    return asyncio.run(run())


def failure(server: ChatServer, **options: Any) -> ChatError:
    """Ask one question and return the error."""
    try:
        reply = ask(server, **options)
    except ChatError as error:
        return error
    raise AssertionError(f"answered {reply.text!r}")


def left_behind(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many descriptors and threads a piece of work leaves behind."""
    folder = Path("/proc/self/fd")

    def now() -> tuple[int, int]:
        return len(list(folder.iterdir())) if folder.exists() else 0, threading.active_count()

    work()  # the first time loads what stays
    descriptors, threads = now()
    work()
    after = now()
    for _ in range(3000):  # the other end of a socket, in the server's thread, takes a moment
        if after <= (descriptors, threads):
            break
        time.sleep(0.02)
        after = now()
    return max(0, after[0] - descriptors), max(0, after[1] - threads)
