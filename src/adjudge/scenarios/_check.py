"""A release, checked: scenarios asked of an agent or read from its traces, and the results compared with a gate."""

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.agents import wait_for_agent
from adjudge.errors import UsageError
from adjudge.judges import quality_judge
from adjudge.model import Trajectory
from adjudge.runs import Progress, RunConfig, new_run_file
from adjudge.scenarios._agent import Receive, agent_for
from adjudge.scenarios._baseline import BaselineChanges
from adjudge.scenarios._gate import EXIT_CODES, Decision, Gate, GateFinding, decide
from adjudge.scenarios._load import ScenarioPlace, locate_scenarios
from adjudge.scenarios._run import ScenarioRun, execute, limits_of
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._select import Selection
from adjudge.traces import AgentNames, RememberedNames
from adjudge.workflow import WorkflowExpectation

if TYPE_CHECKING:
    from adjudge.receivers import OtlpEndpoint
    from adjudge.scenarios._against import EarlierRun
    from adjudge.scenarios._traces import TraceFiles

MOST_NAMED = 3  # names of files without a scenario in a warning

_NO_JUDGE = "expected_answer_criteria, and there is no --judge that looks at them"
_NO_SCORERS = "references, and no scorers that look at them"
_NO_RULES = "no expectation, no criteria and no scorers: whatever the agent answers passes"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How to check a release: an agent or its `traces`, a judge, a gate, and the limits of the run.

    `endpoint` is where a local OTLP endpoint listens, `HOST:PORT` or `PORT`, 0 for any free one; None for none.
    `select` says which of the scenarios run, `wait` how many seconds to wait until an agent behind a URL answers.
    `baseline` is the run file or the JSON report of an earlier check, to say what changed since, and for the rules of a
    gate that has them; `baseline_missing` says what becomes of a check without it.
    With `stop_early` the scenarios come in random order, and the check ends as soon as the gate is decided.
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
    accept_changes: bool = False
    select: Selection = field(default_factory=Selection)
    wait: float | None = None
    agents: AgentNames = field(default_factory=dict)
    baseline: str | Path | None = None
    baseline_missing: Literal["refuse", "pass"] = "refuse"
    stop_early: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The run of a check, the decision of the gate, which signal ended it, if one did, and what changed, if asked."""

    run: ScenarioRun
    decision: Decision
    signal: int | None = None
    places: Mapping[str, ScenarioPlace] = field(default_factory=dict)
    changes: BaselineChanges | None = None

    @property
    def headline(self) -> str:
        """The verdict, and what it lets pass: failed and undecided runs that the gate allows are always named."""
        words = f"{self.decision.verdict.upper()} (exit code {self.exit_code})"
        outcomes = self.run.outcomes
        short = " and ".join(f"{number:,} {how}" for how, number in outcomes.items() if how != "passed" and number)
        if self.decision.verdict != "pass" or not short:
            return words
        return f"{words}, although {short} of {sum(outcomes.values()):,} runs: the gate allows that"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 the gate failed, 3 undecided, 130 or 143 interrupted."""
        return EXIT_CODES[self.decision.verdict] if self.signal is None else 128 + self.signal


def check(
    scenarios: Any,
    options: CheckOptions,
    *,
    watch: Callable[[Progress], None] | None = None,
    on_endpoint: Callable[[str], None] | None = None,
    on_wait: Callable[[str | None], None] | None = None,
    signals: bool = False,
) -> CheckResult:
    """Run the scenarios of a file, a folder or Python objects, and compare the results with the gate.

    `watch` is called with the progress of the run, `on_endpoint` with the address at which the OTLP endpoint listens,
    `on_wait` with a line while the agent is waited for; with `signals`, SIGINT and SIGTERM end the run in good order.
    """
    if (options.agent is None) == (options.traces is None):
        raise UsageError("give an agent, or the traces of what it did")
    if options.traces is not None and options.endpoint is not None:
        raise UsageError("--otlp-endpoint needs --agent: saved traces are read with --traces", code="bad-option")
    # Everything that can be wrong with the call is found before the agent is asked.
    located = locate_scenarios(scenarios)
    everything = [scenario for scenario, _ in located]
    gate, earlier = (Gate(), None) if options.gate is None and options.baseline is None else _gate_of(options)
    looked_for: set[str] = set()  # names that a record had
    if gate.agents or options.agents:
        # What is said in the call comes before what a scenario says, and that before the gate.
        everything = [
            replace(one, agents=RememberedNames({**gate.agents, **one.agents, **options.agents}, looked_for))
            for one in everything
        ]
    judge = None if options.judge is None else _judge_of(options)
    if options.gate is not None:
        gate.check(everything, judge=None if judge is None else judge.name)
    loaded = everything if options.select == Selection() else options.select.apply(everything)
    gate, unchecked = gate.narrow(loaded) if len(loaded) < len(everything) else (gate, ())

    loaded, files, config = _repeated(options, everything, loaded)
    path = Path(options.run) if options.run is not None else new_run_file("check")

    # The endpoint comes first: an agent's module may read its address when it is loaded.
    with nullcontext() if options.endpoint is None else _listen(options.endpoint) as endpoint:
        if endpoint is not None and on_endpoint is not None:
            on_endpoint(endpoint.base_url)
        agent = agent_for(options.agent, files, loaded, config)
        if options.wait is not None:
            wait_for_agent(agent.agent, options.wait, watch=on_wait)
        if endpoint is not None:
            agent = replace(agent, receive=_receive_from(endpoint), during=endpoint.during)
        how = {"retry_failed": options.retry_failed, "watch": watch, "signals": signals}
        run, session = asyncio.run(
            execute(loaded, agent, judge, path, config, gate if options.stop_early else None, **how)
        )

    decision = decide(gate, run.results, run.early)
    if session.stopped is not None:
        # What a stopped run holds may look like a pass: the stop is a finding of its own, and the first.
        stopped = GateFinding("run", "undecided", f"it was stopped: {session.stopped.reason}")
        decision = Decision((stopped, *decision.findings))
    warnings: list[str] = []
    if earlier is not None and session.signal is None:
        findings, warnings = earlier.judge(run.file, run.results)
        decision = Decision((*decision.findings, *findings))
    warnings += [_name_unmatched(files, options)] if files is not None and files.unmatched else []
    warnings += _name_idle(options, looked_for) if looked_for else ()
    warnings += [_name_left(len(loaded), len(everything), unchecked)] if len(loaded) < len(everything) else []
    warnings += _name_unlooked_at(loaded, is_judged=judge is not None)
    run = replace(run, warnings=(*run.warnings, *warnings))
    changes = None if earlier is None else earlier.changes(run.results, known=[one.id for one in everything])
    return CheckResult(run, decision, session.signal, {one.id: at for one, at in located if at is not None}, changes)


def _name_unlooked_at(scenarios: Sequence[Scenario], *, is_judged: bool) -> list[str]:
    """Return a warning for each kind of words in scenarios that nobody looks at, and for those that check nothing."""
    unjudged = 0 if is_judged else sum(one.expected_answer_criteria is not None for one in scenarios)
    unread = sum(bool(one.references) and not one.scorers for one in scenarios)
    # One that has criteria or references has warnings of its own.
    without_rules = sum(
        one.workflow == WorkflowExpectation(unlisted=one.workflow.unlisted)
        and not (one.expected_answer_criteria or one.references or one.scorers)
        for one in scenarios
    )
    counts = {_NO_JUDGE: unjudged, _NO_SCORERS: unread, _NO_RULES: without_rules}
    return [_name_unread(count, what) for what, count in counts.items() if count]


def _repeated(
    options: CheckOptions, everything: Sequence[Scenario], selected: Sequence[Scenario]
) -> "tuple[list[Scenario], TraceFiles | None, RunConfig]":
    """Return the scenarios with their repeats, the saved traces of them, and the limits of their run."""
    files = None
    repeats = {one.id: options.repeat or one.repeats for one in selected}
    if options.traces is not None:
        files = _saved_traces(options.traces, everything, selected)
        # Without --repeat, a scenario has as many repeats as there are traces of it.
        repeats = {name: options.repeat or max(1, len(files.records.get(name, ()))) for name in repeats}
    loaded = [one if repeats[one.id] == one.repeats else replace(one, repeats=repeats[one.id]) for one in selected]
    limits = limits_of(loaded)
    config = replace(
        limits,
        workers=options.workers,
        deadline=options.deadline or limits.deadline,
        accept_changes=options.accept_changes,
    )
    return loaded, files, config


def _gate_of(options: CheckOptions) -> "tuple[Gate, EarlierRun | None]":
    """Return the gate, and the baseline that it or the call names."""
    from adjudge.scenarios._against import find_baseline
    from adjudge.scenarios._gate_file import load_gate

    gate = Gate() if options.gate is None else load_gate(options.gate)
    if gate.baseline is None and options.baseline is None:
        return gate, None
    if gate.baseline is not None and options.stop_early:
        raise UsageError("--stop-early spares scenarios that the [baseline] of the gate needs", code="bad-option")
    may_miss = options.baseline_missing == "pass"
    return gate, find_baseline(options.baseline, gate.baseline, options.run, may_miss=may_miss)


def _name_left(ran: int, number: int, unchecked: Sequence[str]) -> str:
    """Return a warning that not all scenarios ran."""
    left = f"; the gate's {', '.join(unchecked)} had nothing to look at" if unchecked else ""
    return f"only {ran} of {number} scenarios ran, as selected{left}"


def _name_idle(options: CheckOptions, looked_for: Collection[str]) -> Iterator[str]:
    """Give a warning with the names of agents that no record has: typing mistakes, more often than not."""
    idle = [name for name in options.agents if name not in looked_for and name != "*"]
    if idle:
        yield f"no record has the name {', '.join(map(ascii, idle))}, which --map-agent or a table names"


def _name_unread(number: int, what: str) -> str:
    """Return a warning that nobody looks at what so many scenarios have."""
    return f"a scenario has {what}" if number == 1 else f"{number} scenarios have {what}"


def _judge_of(options: CheckOptions) -> Any:
    """Return the judge of the quality, at its address where one is given."""
    address = {} if options.base_url is None else {"base_url": options.base_url}
    return quality_judge(options.judge, **address)


def _saved_traces(place: str | Path, everything: Sequence[Scenario], selected: Sequence[Scenario]) -> "TraceFiles":
    """Return the traces of the selected scenarios."""
    from adjudge.scenarios._traces import TraceFiles

    # Files of scenarios that are not selected belong to somebody: they are only not read.
    files = TraceFiles.of(place, {one.id: one.agents for one in everything})
    ids = {one.id for one in selected}
    return replace(files, records={name: found for name, found in files.records.items() if name in ids})


def _receive_from(endpoint: "OtlpEndpoint") -> Receive:
    async def receive(session: str, turns: int, agents: AgentNames, named: Sequence[str]) -> Trajectory:
        return await endpoint.trajectory(session, roots=turns, agents=agents, also=named)

    return receive


def _name_unmatched(files: "TraceFiles", options: CheckOptions) -> str:
    """Return a warning with the files that belong to no scenario."""
    named = ", ".join(ascii(file.name) for file in files.unmatched[:MOST_NAMED])
    more = "" if len(files.unmatched) <= MOST_NAMED else f" and {len(files.unmatched) - MOST_NAMED} more"
    return f"{named}{more} in {options.traces}: no scenario is named by the file or in it"


@contextmanager
def _listen(place: str) -> "Iterator[OtlpEndpoint]":
    """Listen for spans, at an address that is in the environment of every program started meanwhile."""
    from adjudge.receivers import OtlpEndpoint

    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise UsageError(f"the endpoint must be PORT or HOST:PORT, got {place!r}", code="bad-option")
    with OtlpEndpoint(host.strip("[]") or "127.0.0.1", int(port)) as endpoint:
        # The agent's module or program reads these when it starts; they are put back because check is also a function.
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
