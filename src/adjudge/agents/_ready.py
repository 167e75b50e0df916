"""Waiting for an agent that is starting: until it answers at all."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from adjudge.agents._http import HttpAgent
from adjudge.calling import run_sync
from adjudge.errors import UsageError
from adjudge.http import AddressRefused, Again, HttpClient, HttpError, HttpReply, Limits, Request

PAUSE = 0.25  # seconds between two tries
ATTEMPT = 5.0  # seconds that one try may take
_STARTING = (502, 503, 504)  # what a proxy answers for a server that is not there yet


def wait_for_agent(agent: Any, seconds: float, *, watch: Callable[[str | None], None] | None = None) -> None:
    """Return once an agent behind a URL answers, with whatever status; raise `UsageError` if it does not in time.

    It is asked for its page (`GET`) without a key: no question is spent. `watch` is called with a line on each try, and
    with None at the end.
    """
    url = agent.url if isinstance(agent, HttpAgent) else agent
    if not isinstance(url, str) or not url.strip().startswith(("http://", "https://")):
        raise UsageError("--wait needs an agent behind a URL: others are started by the run itself", code="bad-option")
    watch = watch or (lambda _: None)
    try:
        run_sync(_wait(url.strip(), seconds, watch), "wait_for_agent")
    finally:
        watch(None)


async def _wait(url: str, seconds: float, watch: Callable[[str | None], None]) -> None:
    shown = url.partition("?")[0]  # what follows may be a key
    began, tries, last = time.monotonic(), 0, ""
    while (left := seconds - (time.monotonic() - began)) > 0 or not tries:
        tries += 1
        limit = max(0.05, min(ATTEMPT, left))
        # A client of its own for each try: none of them slows the next one down.
        async with HttpClient(
            Limits(attempts=1, attempt_timeout_s=limit, deadline_s=2 * limit), proxied=True
        ) as client:
            try:
                status = await client.send(Request(url, None, "GET"), _status)
            except AddressRefused as error:
                raise UsageError(error.message, code=error.code) from None
            except HttpError as error:
                last = error.message
            else:
                if status not in _STARTING:
                    return
                last = f"it answered {status}"
        watch(f"waiting for {shown}: {last} ({time.monotonic() - began:.0f} of {seconds:g} s)")
        await asyncio.sleep(min(PAUSE, max(0.0, seconds - (time.monotonic() - began))))
    times = "once" if tries == 1 else f"{tries} times"
    message = f"{shown} was not ready within {seconds:g} s: GET was tried {times}, the last time: {last}"
    raise UsageError(message, code="agent-not-ready")


def _status(reply: HttpReply) -> int | Again:
    return reply.status
