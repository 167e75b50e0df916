"""The sample system behind an address, as an agent under test is."""

import re
from collections import OrderedDict
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal

from adjudge.errors import DataError, UsageError, closest
from adjudge.http import HttpClient, Request, ThreadedServer, listening
from adjudge.model import decode_json, to_json
from adjudge.scenarios.sample._system import FAULTY, LOSSY, SOUND, Answer, ask

if TYPE_CHECKING:
    from aiohttp import web

VARIANTS = {"sound": SOUND, "faulty": FAULTY, "lossy": LOSSY}
_MOST_SESSIONS = 1000
_LARGEST = 64 << 10  # bytes of a question
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


class SampleServer(ThreadedServer):
    """Answers `POST {"message", "session_id"}` with JSON that has a `response`; earlier turns are kept by session.

    The answer also says what was done, so that it can be checked without a trace. With `otlp_url` (the `url` of an
    `OtlpEndpoint`) it says only the `response` and its `sources`, and the spans go there, under the trace of the
    request's `traceparent`: as an instrumented agent behaves. It serves from a thread of its own.

    >>> with SampleServer(variant="faulty") as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        *,
        variant: Literal["sound", "faulty", "lossy"] = "sound",
        otlp_url: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        if variant not in VARIANTS:
            hint = closest(str(variant), VARIANTS)
            raise UsageError(f"there is no variant {variant!r}{hint} (there are {', '.join(VARIANTS)})")
        self._variant = VARIANTS[variant]
        self._otlp_url = otlp_url
        self._sessions: OrderedDict[str, list[str]] = OrderedDict()
        self._client = HttpClient()
        super().__init__(host, port, called="server", serving=self._listening)

    @property
    def url(self) -> str:
        """Where questions are sent to."""
        return f"{self.base_url}/"

    def _listening(self) -> AbstractAsyncContextManager[int]:
        from aiohttp import web

        app = web.Application(client_max_size=_LARGEST)
        app.router.add_post("/", self._answer)
        return listening(app, self._host, self._wanted)

    async def _answer(self, request: "web.Request") -> "web.Response":
        from aiohttp import web

        try:
            asked = decode_json(await request.read(), place="the question: ")
            if not isinstance(asked, dict) or not isinstance(asked.get("message"), str):
                raise DataError("send {'message': ..., 'session_id': ...}")
        except DataError as error:
            return web.Response(status=400, body=to_json({"error": error.message}), content_type="application/json")
        outer = _TRACEPARENT.fullmatch(request.headers.get("traceparent", ""))
        trace, parent = (outer[1], outer[2]) if outer else (None, None)
        earlier = self._earlier(str(asked.get("session_id", "")))
        done = ask(asked["message"], tuple(earlier), self._variant, trace_id=trace, parent=parent)
        earlier.append(asked["message"])
        if self._otlp_url is not None:
            await self._export(done)
        return web.Response(body=to_json(self._body(done, parent)), content_type="application/json")

    def _body(self, done: Answer, parent: str | None) -> dict[str, Any]:
        plain = {"response": done.reply.text, "sources": list(done.reply.sources)}
        if self._otlp_url is not None:
            return plain
        return {**decode_json(to_json(done.trajectory(parent))), **plain}

    def _earlier(self, session: str) -> list[str]:
        found = self._sessions.setdefault(session, [])
        self._sessions.move_to_end(session)
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return found

    async def _export(self, done: Answer) -> None:
        headers = {"Content-Type": "application/json"}
        await self._client.fetch(Request(str(self._otlp_url), to_json(done.document), headers=lambda: headers))
