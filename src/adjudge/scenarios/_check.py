"""A release, checked: scenarios asked of an agent or of its traces, and the results held against a gate."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.agents import HttpAgent
from adjudge.errors import UsageError
from adjudge.http import Limits
from adjudge.judges import quality_judge
from adjudge.runs import Progress, new_run_file
from adjudge.scenarios._agent import ScenarioAgent, agent_for
from adjudge.scenarios._gate import Decision, Finding, Gate, decide
from adjudge.scenarios._gate_file import load_gate
from adjudge.scenarios._load import Place, located
from adjudge.scenarios._passes import ScenarioRun, outcomes_of
from adjudge.scenarios._run import conducted, limits_of
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._traces import TraceFiles

if TYPE_CHECKING:
    from adjudge.receivers import OtlpEndpoint

MOST_NAMED = 3  # files that belong to nobody, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How a release is checked: an agent or its `traces`, a judge, a gate, and the limits of the run.

    `endpoint` is where a local OTLP endpoint listens, `HOST:PORT` or `PORT`, 0 for any; None for none.
    """

    agent: Any = None
    traces: str | Path | None = None
    judge: Any = None
    base_url: str | None = None
    repeat: int | None = None
    gate: Any = None
    run: str | Path | None = None
    workers: int = 16
    deadline: float | None = None
    endpoint: str | None = None
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a check: the run, what the gate says of it, and which signal ended it, if one did."""

    run: ScenarioRun
    decision: Decision
    signal: int | None = None
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The verdict, and what it lets pass: failed and undecided runs that the gate allows are never silent."""
        words = f"{self.decision.verdict.upper()} (exit code {self.exit_code})"
        ends = outcomes_of(self.run.results)
        short = " and ".join(f"{number:,} {how}" for how, number in ends.items() if how != "passed" and number)
        if self.decision.verdict != "pass" or not short:
            return words
        return f"{words}, although {short} of {sum(ends.values()):,} runs: the gate allows that"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 the gate failed, 3 undecided, 130 or 143 interrupted."""
        return self.decision.exit_code if self.signal is None else 128 + self.signal


def check(
    scenarios: Any,
    options: CheckOptions,
    *,
    watch: Callable[[Progress], None] | None = None,
    told: Callable[[str], None] | None = None,
    signals: bool = False,
) -> Checked:
    """Check a release; `watch` is told how the run stands, `told` where the endpoint listens."""
    if (options.agent is None) == (options.traces is None):
        raise UsageError("give an agent, or the traces of what it did")
    found = located(scenarios)
    loaded = [scenario for scenario, _ in found]
    places = {scenario.id: place for scenario, place in found if place is not None}
    checked = _checked(loaded, options, watch=watch, told=told, signals=signals)
    return replace(checked, places=places)


def _checked(
    loaded: list[Scenario], options: CheckOptions, *, told: Callable[[str], None] | None, **how: Any
) -> Checked:
    gate = Gate() if options.gate is None else load_gate(options.gate)
    address = {} if options.base_url is None else {"base_url": options.base_url}
    judge = None if options.judge is None else quality_judge(options.judge, **address)
    if options.traces is not None:
        return _check_traces(loaded, options, gate, judge, **how)
    if options.repeat is not None:
        loaded = [replace(one, repeats=options.repeat) for one in loaded]
    gate.check(loaded, judge=None if judge is None else judge.name)
    with _listening(options.endpoint) as endpoint:
        if endpoint is not None and told is not None:
            told(endpoint.base_url)
        agent = agent_for(_agent(loaded, options), None, {one.id: one for one in loaded})
        if endpoint is not None:
            agent = replace(agent, receive=lambda session, turns: endpoint.trajectory(session, roots=turns))
        return _conducted(loaded, agent, options, gate, judge, **how)


def _agent(scenarios: Sequence[Scenario], options: CheckOptions) -> Any:
    """Return the agent; one behind an address has as long for an answer as a scenario gives it."""
    spec = options.agent
    if not isinstance(spec, str) or not spec.strip().startswith(("http://", "https://")):
        return spec
    seconds = options.deadline or limits_of(scenarios).deadline
    limits = Limits(in_flight=options.workers, attempts=3, attempt_timeout_s=seconds, deadline_s=seconds)
    return HttpAgent(spec.strip(), limits=limits)


def _check_traces(scenarios: list[Scenario], options: CheckOptions, gate: Gate, judge: Any, **how: Any) -> Checked:
    if options.endpoint is not None:
        raise UsageError("traces that are saved come over no endpoint: give an agent with it", code="bad-option")
    gate.check(scenarios, judge=None if judge is None else judge.name)
    files = TraceFiles.of(options.traces or "", {one.id for one in scenarios})
    wanted = {one.id: options.repeat or max(1, len(files.records.get(one.id, ()))) for one in scenarios}
    scenarios = [replace(one, repeats=wanted[one.id]) for one in scenarios]
    agent = agent_for(None, files, {one.id: one for one in scenarios})
    checked = _conducted(scenarios, agent, options, gate, judge, **how)
    if not files.unmatched:
        return checked
    named = ", ".join(ascii(file.name) for file in files.unmatched[:MOST_NAMED])
    more = "" if len(files.unmatched) <= MOST_NAMED else f" and {len(files.unmatched) - MOST_NAMED} more"
    warning = f"{named}{more} in {options.traces}: no scenario is named by the file or in it"
    return replace(checked, run=replace(checked.run, warnings=(*checked.run.warnings, warning)))


def _conducted(
    scenarios: Sequence[Scenario], agent: ScenarioAgent, options: CheckOptions, gate: Gate, judge: Any, **how: Any
) -> Checked:
    limits = limits_of(scenarios)
    config = replace(limits, workers=options.workers, deadline=options.deadline or limits.deadline)
    path = Path(options.run) if options.run is not None else new_run_file("check")
    work = conducted(scenarios, agent, judge, path, config, retry_failed=options.retry_failed, **how)
    run, session = asyncio.run(work)
    decision = decide(gate, run.results)
    if session.stopped is not None:
        stopped = Finding("run", "undecided", f"it was stopped: {session.stopped.reason}")
        decision = Decision((stopped, *decision.findings))
    return Checked(run, decision, session.signal)


@contextmanager
def _listening(place: str | None) -> "Iterator[OtlpEndpoint | None]":
    """Listen for spans, and let whatever is started from here know where."""
    if place is None:
        yield None
        return
    from adjudge.receivers import OtlpEndpoint

    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise UsageError(f"the endpoint is PORT or HOST:PORT, got {place!r}", code="bad-option")
    with OtlpEndpoint(host.strip("[]") or "127.0.0.1", int(port)) as endpoint:
        wanted = endpoint.environment()
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield endpoint
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
