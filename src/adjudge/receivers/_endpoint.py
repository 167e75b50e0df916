"""A local OTLP/HTTP endpoint, to which instrumented agents send their spans."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from adjudge.http import ThreadedServer
from adjudge.model import Trajectory
from adjudge.receivers._collector import LOGS_PATH, PATH, Collector
from adjudge.receivers._store import EndpointCounts, EndpointLimits
from adjudge.receivers._whole import SETTLE, TIMEOUT, Wait, trajectory_of
from adjudge.traces import AgentNames, Record, faults_of

_TRACE_ID = re.compile("[0-9a-fA-F]{32}")


class OtlpEndpoint(ThreadedServer):
    """Takes the spans that agents export to it, over OTLP/HTTP in JSON or protobuf, and gives them as trajectories.

    It serves from a thread of its own, for sync and async code alike (`with`, `async with`), on `host` and a free port
    unless one is given. What it holds is limited: beyond that, whole traces are dropped, oldest first, and counted.

    >>> with OtlpEndpoint() as endpoint:
    ...     endpoint.url.startswith("http://127.0.0.1:"), endpoint.counts.spans
    (True, 0)
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, *, limits: EndpointLimits | None = None) -> None:
        self._collector = Collector(limits or EndpointLimits())
        super().__init__(
            host, port, called="endpoint", serving=lambda: self._collector.serving(self._host, self._wanted)
        )

    @property
    def base_url(self) -> str:
        """The value for `OTEL_EXPORTER_OTLP_ENDPOINT`."""
        return super().base_url

    @property
    def url(self) -> str:
        """The address for spans."""
        return self.base_url + PATH

    @property
    def counts(self) -> EndpointCounts:
        """The counts so far."""
        return self._collector.counts

    def environment(self) -> dict[str, str]:
        """Return the variables that make an instrumented agent send all its spans and log records here, and soon.

        Headers meant for another endpoint are emptied: they may hold a key.
        """
        return {
            "OTEL_SDK_DISABLED": "false",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_TRACES_SAMPLER": "always_on",
            "OTEL_PROPAGATORS": "tracecontext,baggage",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_BLRP_SCHEDULE_DELAY": "200",
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.base_url,
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": self.url,
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": self.base_url + LOGS_PATH,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_HEADERS": "",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "",
            "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "",
        }

    async def trajectory(
        self,
        trace_id: str,
        *,
        timeout: float = TIMEOUT,  # noqa: ASYNC109 (what comes after it is an answer, not an error)
        roots: int = 1,
        settle: float = SETTLE,
        parent: str | None = None,
        agents: AgentNames | None = None,
        also: Sequence[str] = (),
    ) -> Trajectory:
        """Wait until a trace is whole and return what its agent did.

        It is whole when as many root spans as `roots` have ended, no parent is missing, and nothing more has arrived
        for `settle` seconds. A conversation in one trace has a root for every turn. A trace that is not whole after
        `timeout` seconds is returned as it is, with `complete=False`. `trace_id` may also be a session that spans name
        (`session.id`); `parent` is the outer span that the agent was given, by default the first half of the trace id,
        as adjudge sends it. `agents` are names of agents, as for `traces.load`. `also` are further traces of the same
        run, such as one that the agent names in its answer.
        """
        wait = Wait(timeout, roots, settle, parent or trace_id[:16])
        others = [one.lower() for one in also if _TRACE_ID.fullmatch(one) and one.lower() != trace_id]
        future = self._running().submit(self._collector.run(trace_id, wait, others))
        record, late, astray = await asyncio.wrap_future(future)
        found = await asyncio.to_thread(
            trajectory_of, record, trace_id=trace_id, parent=wait.parent, late=late, agents=agents
        )
        if astray is None:
            return found
        # What was seen is known, what was not seen may be there.
        return replace(found, unknown={"agents": astray, "tools": astray, **found.unknown})

    @contextmanager
    def during(self, trace_id: str) -> Iterator[None]:
        """Say that the run of a trace or session is under way, from before its agent is asked until it is judged.

        Its trajectory then also says where spans of agents, tools or models arrived meanwhile under a trace that
        belongs to no run, as from a thread that was not given the context: agents and tools are then `unknown`.
        """
        self._running().call(self._collector.begin, trace_id)
        try:
            yield
        finally:
            self._running().call(self._collector.end, trace_id)

    def wait(
        self,
        trace_id: str,
        *,
        timeout: float = TIMEOUT,
        roots: int = 1,
        settle: float = SETTLE,
        parent: str | None = None,
        agents: AgentNames | None = None,
    ) -> Trajectory:
        """Return the same as `trajectory`, for code that cannot await."""
        wait = Wait(timeout, roots, settle, parent or trace_id[:16])
        record, late = self._running().submit(self._collector.whole(trace_id, wait)).result()
        return trajectory_of(record, trace_id=trace_id, parent=wait.parent, late=late, agents=agents)

    def missing(self, trace_id: str, *, roots: int = 1, parent: str | None = None) -> tuple[str, ...]:
        """Return what is missing from a trace so far; nothing for a complete one."""
        wait = Wait(0.0, roots, 0.0, parent or trace_id[:16])
        record, late = self._running().call(self._collector.now, trace_id, wait)
        # What the record itself lacks is the better message; what is late may only need time.
        faults = faults_of(record, parent=wait.parent)
        return faults if late is None or faults else (late,)

    def record(self, trace_id: str) -> Record:
        """Return the spans of a trace that have arrived so far."""
        wait = Wait(0.0, 1, 0.0, trace_id[:16])
        record, _ = self._running().call(self._collector.now, trace_id, wait)
        return record

    @property
    def trace_ids(self) -> tuple[str, ...]:
        """The traces that are held, the one that was touched last at the end."""
        return tuple(self._running().call(lambda: self._collector.store.ids))

    def forget(self, trace_id: str) -> None:
        """Drop a trace that nobody will ask for again."""
        self._running().call(self._collector.store.forget, trace_id)
