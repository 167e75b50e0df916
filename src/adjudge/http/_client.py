"""A pooled client: one request is sent until it is answered, refused for good, or out of time."""

import asyncio
import os
import random
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Self, TypeVar

from adjudge.http._address import check_url
from adjudge.http._errors import BadStatus, ClientClosed
from adjudge.http._lane import Lane
from adjudge.http._reply import HttpReply
from adjudge.http._request import Again, Exchange, Limits, Reader, Request
from adjudge.http._retry import is_transient
from adjudge.http._sending import Sending

if TYPE_CHECKING:
    from types import TracebackType

    from adjudge.http._proxy import Proxies as _Proxies

__all__ = ["HttpClient"]

T = TypeVar("T")

_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_check_url = lru_cache(maxsize=256)(check_url)  # a run calls one address, many times


def _read_status(reply: HttpReply) -> "HttpReply | Again":
    """Accept every 2xx; retry what may pass; raise `BadStatus` for the rest."""
    if 200 <= reply.status < 300:
        return reply
    error = BadStatus(f"the server answered {reply.status}", status=reply.status)
    if is_transient(reply.status):
        return Again(error)
    raise error


class HttpClient:
    """Sends requests over pooled connections, on any event loop, as gently as the server asks.

    Redirects are not followed, certificates are verified, and with `allow_private=False` nothing but public addresses
    is called. With `proxied` the proxies that the environment names are used, as it is when the client is made; not for
    addresses of this machine, and not with `allow_private=False`: a proxy calls whatever it finds.

    Use it as `async with`, or call `close`; connections end with their event loop in any case.
    """

    def __init__(self, limits: Limits | None = None, *, allow_private: bool = True, proxied: bool = False) -> None:
        self.limits = limits or Limits()
        self._allow_private = allow_private
        self._proxies: _Proxies | None = None
        if proxied and allow_private and any(os.environ.get(name) for name in _PROXY_VARIABLES):
            from adjudge.http._proxy import Proxies

            self._proxies = Proxies.from_environment()
        self._lanes: dict[int, Lane] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._chance = random.Random()  # noqa: S311 (jitter)

    async def fetch(self, request: Request, *, deadline_s: float | None = None) -> HttpReply:
        """Return the reply to a request, once it is a good one."""
        return await self.send(request, _read_status, deadline_s=deadline_s)

    async def send(
        self,
        request: Request,
        read: "Reader[T]",
        *,
        deadline_s: float | None = None,
        exchange: "Exchange | None" = None,
    ) -> T:
        """Send until `read` returns a value or raises; where it returns `Again`, as far as the limits go.

        With an `exchange` the attempts are made by it, with the retries, the pace and the deadline of this client.
        """
        if exchange is None:
            _check_url(request.url, allow_private=self._allow_private)
        if self._closed:
            raise ClientClosed("the client is closed")
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(id(loop))
        # The id of a loop that is gone may be that of another loop today.
        if lane is None or lane.loop is not loop or lane.closed:
            with self._lock:
                for key, old in list(self._lanes.items()):
                    if old.closed or old.loop.is_closed():
                        del self._lanes[key]
                lane = self._lanes[id(loop)] = Lane(
                    in_flight=self.limits.in_flight, allow_private=self._allow_private, proxies=self._proxies
                )
            await anext(lane.keeper)
        # A deadline of the request replaces that of the client.
        total = self.limits.deadline_s if deadline_s is None else deadline_s
        return await Sending(lane, self.limits, request, read, total, self._chance).run(exchange)

    async def close(self) -> None:
        """Close every connection of this loop and refuse further requests."""
        self._closed = True
        with self._lock:
            lanes, self._lanes = list(self._lanes.values()), {}
        for lane in lanes:
            # A session can only be closed on its own event loop.
            if lane.loop is asyncio.get_running_loop():
                await lane.keeper.aclose()
            elif lane.loop.is_running():
                asyncio.run_coroutine_threadsafe(lane.keeper.aclose(), lane.loop)
            else:
                lane.forget()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.close()
