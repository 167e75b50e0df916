"""The shop behind an address: aiohttp serves its pages; each visitor has a world, the items are shared."""

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

from adjudge.environments._errors import EnvBadTask
from adjudge.environments.webshop._html import home_page, message_page, visit_page
from adjudge.environments.webshop._world import ShopWorld, WebShopSpec

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["ShopSite"]

MOST_VISITORS = 4096  # the one who was away longest makes room
_LARGEST = 64 << 10  # bytes of a form
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class ShopSite:
    """Serves the pages of a shop: `async with site.serving("127.0.0.1", 0) as address`.

    `/` lists tasks, `/task/7` starts task 7 and leads to the visitor's own page, whose buttons post actions.
    """

    def __init__(self, spec: WebShopSpec | None = None) -> None:
        self._spec = spec or WebShopSpec()
        self._visitors: OrderedDict[str, tuple[int, ShopWorld]] = OrderedDict()
        self._style = files("adjudge.environments.webshop").joinpath("style.css").read_text(encoding="utf-8")

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Listen, and yield the address."""
        from aiohttp import web

        app = web.Application(client_max_size=_LARGEST)
        app.router.add_get("/", self._home)
        app.router.add_get("/style.css", self._css)
        app.router.add_get("/task", self._chosen)
        app.router.add_get("/task/{number}", self._start)
        app.router.add_get("/visit/{visitor}", self._show)
        app.router.add_post("/visit/{visitor}", self._act)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            name = f"[{host}]" if ":" in host else host
            yield f"http://{name}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _home(self, _request: "web.Request") -> "web.Response":
        return _page(home_page(self._spec.catalogue()))

    async def _css(self, _request: "web.Request") -> "web.Response":
        from aiohttp import web

        return web.Response(text=self._style, content_type="text/css", headers=_HEADERS)

    async def _chosen(self, request: "web.Request") -> "web.Response":
        return self._begin(request.query.get("number", ""))

    async def _start(self, request: "web.Request") -> "web.Response":
        return self._begin(request.match_info["number"])

    def _begin(self, number: str) -> "web.Response":
        world = self._spec.build()
        try:
            world.reset(number)
        except EnvBadTask as error:
            return _page(message_page("No such task", error.message), 404)
        visitor = secrets.token_urlsafe(12)
        self._visitors[visitor] = (int(number), world)
        if len(self._visitors) > MOST_VISITORS:
            self._visitors.popitem(last=False)
        return _see(visitor)

    async def _show(self, request: "web.Request") -> "web.Response":
        visitor = request.match_info["visitor"]
        found = self._visitors.get(visitor)
        if found is None or found[1].shop is None:
            return _gone()
        task, world = found
        return _page(visit_page(f"/visit/{visitor}", task, found[1].shop, world.visit))

    async def _act(self, request: "web.Request") -> "web.Response":
        visitor = request.match_info["visitor"]
        found = self._visitors.get(visitor)
        if found is None:
            return _gone()
        self._visitors.move_to_end(visitor)
        form = await request.post()
        action, query = form.get("action"), form.get("search_query")
        if isinstance(query, str):
            found[1].step(f"search[{query}]")
        elif isinstance(action, str):
            found[1].step(action)
        return _see(visitor)


def _page(text: str, status: int = 200) -> "web.Response":
    from aiohttp import web

    return web.Response(text=text, status=status, content_type="text/html", headers=_HEADERS)


def _see(visitor: str) -> "web.Response":
    from aiohttp import web

    return web.Response(status=303, headers={**_HEADERS, "Location": f"/visit/{visitor}"})


def _gone() -> "web.Response":
    return _page(message_page("This visit is over", "The shop no longer knows it. Start the task again."), 404)
