"""`adjudge serve`: addresses, who may ask, how much at once, and what is answered.

    POST /score         {"rows": [...], "scorer"?: name} -> {"scores": [{"value", "status", "reason", "parts"}]};
                        JSON lines in, JSON lines out, where the content type is application/x-ndjson
    POST /get_reward    OpenRLHF;  POST /slime  slime;  POST /verify  NeMo Gym
    GET /health, /metrics, /openapi.json

A body is read only as far as it takes to cut it into rows: what the rows hold is read in the scoring processes.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import Caught, UsageError, closest
from adjudge.http import is_loopback, listening
from adjudge.integrations import FaultPolicy
from adjudge.model import Score
from adjudge.processes import WorkerPool
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs import Desk, RunConfig, new_run_file
from adjudge.serve._batches import BATCH, Batches, Queue
from adjudge.serve._bodies import (
    OpenRLHFBody,
    RequestRefused,
    RowsBody,
    body_faults,
    busy,
    cut_body,
    cut_fields,
    expect_body,
)
from adjudge.serve._lines import score_lines
from adjudge.serve._metrics import Metrics
from adjudge.serve._shapes import ScoreReply, Shape, nemo_reply, openrlhf_reply, slime_reply
from adjudge.serve._worker import as_json, code_of, failed, read_row

if TYPE_CHECKING:
    from aiohttp import web

TOKEN_VARIABLE = "ADJUDGE_SERVE_TOKEN"  # noqa: S105 (its name)
JSON, LINES = "application/json", "application/x-ndjson"
AT_ONCE = 16  # times what one request may hold: what all of them together may
HEADER_S = 5.0  # seconds for the headers of a connection's first request
WRITTEN_AT_ONCE = 1 << 16  # bytes of a reply that are written without waiting for who reads them
IDLE_S = 60.0  # seconds that a connection may be kept between two
CLIENTS = 256  # of OpenRLHF, whose faults are counted apart

_BEARER = re.compile(r"\Abearer ", re.IGNORECASE)
_encode = msgspec.json.Encoder().encode
_SCORE = msgspec.json.Decoder(ScoreReply)


@dataclass(frozen=True, slots=True)
class ServeLimits:
    """What a server allows.

    A request may have `max_rows` rows and `max_bytes` bytes. A row may take `timeout` seconds of a process, which may
    have `memory_mb` megabytes of address space; 0 means any number, which a model on a GPU needs.
    """

    workers: int = 2
    max_rows: int = 8192
    max_bytes: int = 32 << 20
    timeout: float = 30.0
    memory_mb: int = 4096

    def __post_init__(self) -> None:
        for name in ("workers", "max_rows", "max_bytes", "timeout"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be more than 0, got {getattr(self, name)}", code="bad-limit")
        if self.memory_mb < 0:
            raise UsageError(f"memory_mb must be at least 0, got {self.memory_mb}", code="bad-limit")


class RewardServer:
    """Scores the rows of whoever asks over HTTP, with the scorers that it was started with.

    `token` is what a request must have, as `Authorization: Bearer TOKEN` or `?token=TOKEN`; without one only this
    machine may reach the server. `judging` are the budget and the cache of the scorer that asks a model, `run` its run
    file.
    """

    def __init__(
        self,
        scorers: Sequence[str],
        *,
        token: str | None = None,
        limits: ServeLimits | None = None,
        judging: RunConfig | None = None,
        run: str | Path | None = None,
    ) -> None:
        if not scorers:
            raise UsageError("name a scorer")
        self.scorers: dict[str, Scorer] = {name: get_scorer(name) for name in scorers}
        self.limits = limits or ServeLimits()
        self.metrics = Metrics()
        self.run = run
        self._asking = [name for name, scorer in self.scorers.items() if scorer.asks]
        if len(self._asking) > 1:
            names = " and ".join(self._asking)
            raise UsageError(f"{names} ask models: start a server for each, so that each has its own budget and run")
        self._judging = judging or RunConfig(deadline=120.0)
        self._token = token
        self._held = 0  # bytes of the requests that are here
        self._desk: Desk | None = None
        self._batches: Batches | None = None
        self._queues: dict[tuple[str, Shape], Queue] = {}
        self._policy = lru_cache(maxsize=CLIENTS)(self._new_policy)
        self._posts: dict[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]] = {
            "/score": self._score_request,
            "/get_reward": partial(self._read, self._openrlhf),
            "/slime": partial(self._read, self._slime),
            "/verify": partial(self._read, self._nemo),
        }
        self._gets: dict[str, Callable[[], tuple[str, bytes]]] = {
            "/health": lambda: (JSON, b'{"status":"ok"}'),
            "/metrics": lambda: ("text/plain; version=0.0.4", self.metrics.as_text().encode()),
            "/openapi.json": lambda: (JSON, _openapi()),
        }

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
        """Start the scoring processes, listen, and yield the port; at the end requests that are here are answered."""
        if self._token is None and not is_loopback(host):
            raise UsageError(f"other machines can reach {host}: give a token", code="token-needed")
        limits = self.limits
        async with AsyncExitStack() as stack:
            pooled = [name for name in self.scorers if name not in self._asking]
            if pooled:
                pool = stack.enter_context(_pool(limits))
                self._batches = Batches(pool, limits.workers, self.metrics)
                # Before anybody asks: imports, and what heavy rows need, take seconds.
                warm = [pool.arun((name, "row", [])) for name in pooled for _ in range(limits.workers)]
                await asyncio.gather(*warm)
            for name in self._asking:
                self.run = self.run or new_run_file("serve")
                self._desk = await stack.enter_async_context(Desk.open(name, self.run, self._judging))
            drain_s = self._judging.deadline if self._asking else limits.timeout
            yield await stack.enter_async_context(
                listening(
                    self._handle,
                    host,
                    port,
                    header_s=HEADER_S,
                    idle_s=IDLE_S,
                    drain_s=drain_s + 5.0,
                    any_name=self._token is not None,
                    auto_decompress=False,
                )
            )

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, whatever it holds."""
        began = time.perf_counter()
        path = request.path
        with Caught() as caught:
            response = await self._answer(request, path)
        if caught.reason is not None:
            error = caught.error
            status = error.status if isinstance(error, RequestRefused) else 500
            response = _reply(_encode({"error": caught.reason}), status)
            if status == 429:
                response.headers["Retry-After"] = "1"
        known = path if path in self._posts or path in self._gets else "other"
        self.metrics.add_request(known, response.status, time.perf_counter() - began)
        return response

    async def _answer(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        # Probes of health have no token, and learn nothing else.
        if path != "/health" and not self._is_allowed(request):
            message = "the token is missing or wrong: send Authorization: Bearer TOKEN"
            raise RequestRefused(message, status=401, code="unauthorised")
        if path in self._posts:
            if request.method != "POST":
                raise RequestRefused(f"{path} answers POST", status=405, code="bad-method")
            if request.headers.get("Content-Encoding", "identity") != "identity":
                raise RequestRefused("send the body as it is, not compressed", status=415, code="bad-encoding")
            return await self._posts[path](request)
        if path not in self._gets:
            hint = closest(path[:100], [*self._posts, *self._gets])
            raise RequestRefused(f"there is no {path[:100]}{hint}", status=404, code="unknown-path")
        if request.method not in ("GET", "HEAD"):
            raise RequestRefused(f"{path} answers GET", status=405, code="bad-method")
        kind, body = self._gets[path]()
        return _reply(body, kind=kind)

    def _is_allowed(self, request: web.BaseRequest) -> bool:
        if self._token is None:
            return True
        given = _BEARER.sub("", request.headers.get("Authorization", "")) or request.query.get("token", "")
        # Compared in constant time: the time of an answer must not tell how much of a guess was right.
        return hmac.compare_digest(given.encode(errors="surrogateescape"), self._token.encode())

    async def _score_request(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.content_type == LINES:
            name = self._named(request.query.get("scorer"))
            if self.scorers[name].is_group:
                message = f"{name} looks at groups: send all rows of a group in one object"
                raise RequestRefused(message, status=400, code="unknown-groups")
            score = partial(self._score_patiently, name)
            most, timeout_s = self.limits.max_bytes, self.limits.timeout
            size = min(BATCH, self.limits.max_rows)
            return await score_lines(request, score, size=size, most_bytes=most, timeout_s=timeout_s)
        return await self._read(self._score_body, request)

    async def _read(
        self, work: Callable[[bytes, web.BaseRequest], Awaitable[bytes]], request: web.BaseRequest
    ) -> web.StreamResponse:
        """Read a body within the limits, have it answered, and keep count of what is held."""
        most = self.limits.max_bytes
        if (request.content_length or 0) > most:
            raise RequestRefused(f"a request may have {most:,} bytes", status=413, code="too-large")
        await expect_body(request)
        content, body = request.content, bytearray()
        deadline = asyncio.get_running_loop().time() + self.limits.timeout
        try:
            while not content.at_eof():
                # A small body has mostly come with its headers.
                part = content.read_nowait()
                if not part:
                    async with asyncio.timeout_at(deadline):
                        part = await content.readany()
                body += part
                self._held += len(part)
                if len(body) > most:
                    raise RequestRefused(f"a request may have {most:,} bytes", status=413, code="too-large")
                if self._held > AT_ONCE * most:
                    raise busy()
            return await self._send(await work(bytes(body), request), request)
        except body_faults() as error:
            raise RequestRefused(f"the body does not arrive: {error}", status=400, code="bad-body") from None
        except TimeoutError:
            raise RequestRefused(
                f"the body did not arrive within {self.limits.timeout:g} seconds", status=408, code="slow-body"
            ) from None
        finally:
            self._held -= len(body)

    async def _send(self, body: bytes, request: web.BaseRequest) -> web.StreamResponse:
        """Send a large reply, which counts as held until it is taken, and is not kept for who does not take it."""
        reply = _reply(body)
        if len(body) <= WRITTEN_AT_ONCE:
            return reply
        self._held += len(body)
        try:
            async with asyncio.timeout(self.limits.timeout):
                await reply.prepare(request)
                await reply.write_eof()
        except (TimeoutError, ConnectionError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            self._held -= len(body)
        return reply

    def _named(self, name: str | None) -> str:
        """Return the scorer that a request names: its name, or what it was called when the server was started."""
        if name is None:
            return next(iter(self.scorers))
        for spec, scorer in self.scorers.items():
            if name in (spec, scorer.name):
                return spec
        known = list(self.scorers)
        message = f"this server has {', '.join(known)}{closest(name[:200], known)}"
        raise RequestRefused(message, status=400, code="unknown-scorer")

    async def _score_body(self, body: bytes, request: web.BaseRequest) -> bytes:
        found = cut_body(RowsBody, body)
        name = self._named(found.scorer or _asked(request, "scorer"))
        return b'{"scores":[' + b",".join(await self._score(name, "row", [bytes(row) for row in found.rows])) + b"]}"

    async def _openrlhf(self, body: bytes, request: web.BaseRequest) -> bytes:
        """Score rollouts for OpenRLHF, which knows no row without a number: where too many are, it gets no reward."""
        found = cut_body(OpenRLHFBody, body)
        labels = found.labels or [msgspec.Raw(b"null")] * len(found.query)
        if not len(found.query) == len(found.prompts) == len(labels):
            raise RequestRefused("query, prompts and labels must have one length", status=400, code="bad-body")
        name = self._named(_asked(request, "scorer"))
        rows = [
            b'{"query":%b,"prompt":%b,"label":%b}' % one for one in zip(found.query, found.prompts, labels, strict=True)
        ]
        answers = await self._answers(name, "openrlhf", rows)
        # The faults of one training are not those of another. Its address tells it from others, or the name it gives.
        policy = self._policy(name, _asked(request, "client") or str(request.remote))
        policy.settle([Score.scored(0.0) if one.value is not None else Score.error(str(one.reason)) for one in answers])
        if policy.excess is not None:
            raise RequestRefused(policy.excess, status=503, code="too-many-faults")
        return _encode(openrlhf_reply(answers))

    def _new_policy(self, name: str, client: str) -> FaultPolicy:
        del client
        return FaultPolicy(name, "zero")

    async def _slime(self, body: bytes, request: web.BaseRequest) -> bytes:
        name = self._named(_asked(request, "scorer"))
        return _encode(slime_reply((await self._answers(name, "slime", [body]))[0]))

    async def _nemo(self, body: bytes, request: web.BaseRequest) -> bytes:
        fields = cut_fields(body)
        (score,) = await self._answers(self._named(_asked(request, "scorer")), "nemo", [body])
        return _encode({**fields, **nemo_reply(score)})

    async def _answers(self, name: str, shape: Shape, rows: Sequence[bytes]) -> list[ScoreReply]:
        return [_SCORE.decode(score) for score in await self._score(name, shape, rows)]

    async def _score(self, name: str, shape: Shape, rows: Sequence[bytes], first: int = 0) -> Sequence[bytes]:
        """Return the scores of rows, as JSON, or refuse them all where too many are waiting."""
        most = self.limits.max_rows
        if len(rows) > most:
            message = f"a request may have {most:,} rows, got {len(rows):,}"
            raise RequestRefused(message, status=413, code="too-many-rows")
        if self.metrics.queued + len(rows) > AT_ONCE * most:
            raise busy()
        self.metrics.queued += len(rows)
        try:
            if name in self._asking:
                return await asyncio.gather(*(self._ask(name, shape, row) for row in rows))
            queue = self._queues.get((name, shape))
            if queue is None:
                queue = self._queues[name, shape] = Queue(name, shape, self.scorers[name])
            assert self._batches is not None  # noqa: S101 (set while it serves)
            return await self._batches.score(queue, rows, first)
        finally:
            self.metrics.queued -= len(rows)

    async def _score_patiently(self, name: str, rows: Sequence[bytes], first: int) -> Sequence[bytes]:
        """Return the scores of rows that are part of a stream: where too many are waiting, its sender waits, too."""
        while self.metrics.queued + len(rows) > AT_ONCE * self.limits.max_rows:  # noqa: ASYNC110 (rarely so)
            await asyncio.sleep(0.05)
        return await self._score(name, "row", rows, first)

    async def _ask(self, name: str, shape: Shape, text: bytes) -> bytes:
        """Ask a model about a row; all requests share its budget."""
        assert self._desk is not None  # noqa: S101 (set while it serves)
        fault, row = read_row(text, shape)
        score = failed(self.scorers[name], fault) if fault is not None else await self._desk.score(row)
        self.metrics.add_rows(self.scorers[name].name, {code_of(score): 1})
        return as_json(score)


def _pool(limits: ServeLimits) -> WorkerPool:
    # Workers stay for as long as the server: the next request should not wait for one to start.
    return WorkerPool(
        "adjudge.serve._worker:score",
        size=limits.workers,
        cpu_s=limits.timeout,
        wall_s=limits.timeout,
        memory_mb=limits.memory_mb or None,
        warm=(),
        idle_s=1e8,
    )


def _asked(request: web.BaseRequest, option: str) -> str | None:
    """Return what the address of a request says; most have nothing to read."""
    return request.query.get(option) if "?" in request.raw_path else None


def _reply(body: bytes, status: int = 200, kind: str = JSON) -> web.Response:
    from aiohttp import web

    return web.Response(body=body, status=status, headers={"Content-Type": kind})


@cache
def _openapi() -> bytes:
    from adjudge import __version__

    found = msgspec.json.decode(resources.files(__package__).joinpath("openapi.json").read_bytes())
    found["info"]["version"] = __version__
    return _encode(found)
