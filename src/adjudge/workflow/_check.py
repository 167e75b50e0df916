"""Expected against called: the plain dict, and everything beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.model import Question, Status, ToolCall, Trajectory
from adjudge.workflow._arguments import ArgumentRule, misfits
from adjudge.workflow._clarification import check_clarification
from adjudge.workflow._dimension import (
    INCOMPLETE,
    DimensionRules,
    Finding,
    called_as_tools,
    list_names,
    lists_of,
    quote_name,
    shorten,
    wrong_with,
)
from adjudge.workflow._expectation import DIMENSIONS, Dimension, WorkflowExpectation, names_of

EXCLUDED = "excluded-called"
_MAY_BE_MORE = frozenset({"inside", "behind", "hosted"})  # questions about calls that the record does not show
_RAN = (
    "ran, and no model call of it is in the record: if it is an agent, say --map-agent {0}={0}, else --ignore-agent {0}"
)
_UNSEEN = "may have been called where the record does not show it: {}"
# A graph's list without a call: nearly always the model called nothing.
_NO_CALL = (
    "the list shows no call of {}; where a node of a graph returns its last message alone, return tools_used beside "
    "the messages, or check its traces"
)
_AS_AGENT = "was called as an agent of that name: expect it among the agents"


@dataclass(frozen=True, slots=True)
class WorkflowResult:
    """The result of comparing a trajectory with an expectation.

    `workflow` is the plain dict of `validate_workflow`. `passed` is that and the clarification, where one is expected;
    None, with status `unscored`, where the record is incomplete. `findings` are what is wrong, `warnings` what does not
    make it fail; `requested_not_executed` are the tools that were asked for and never ran.
    """

    workflow: Mapping[str, Any]
    status: Status
    passed: bool | None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    requested_not_executed: tuple[str, ...] = ()
    clarification: Mapping[str, Any] | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it failed or could not be decided, in words."""
        return tuple(finding.reason for finding in self.findings)


@dataclass(frozen=True, slots=True)
class _Called:
    """What was executed, as far as it was recorded; None where the record cannot show it."""

    names: Mapping[Dimension, tuple[str, ...] | None]
    seen: Mapping[Dimension, tuple[str, ...]]  # also where it is not all
    calls: tuple[ToolCall, ...] | None = None
    requested: tuple[str, ...] = ()  # and never executed
    complete: bool = True
    unknown: Mapping[Question, str] = field(default_factory=dict)
    ordinary: tuple[str, ...] = ()  # tools that are not agents
    steps: tuple[str, ...] = ()  # what ran and is neither an agent nor a tool in the record
    bare: tuple[str, ...] = ()  # tools that were given nothing, in a record of several agents: perhaps handoffs


def validate_workflow(
    expectation: object, agents_called: Iterable[str] | None = (), tools_used: Iterable[str] | None = ()
) -> dict[str, Any]:
    """Return whether the right agents and tools were called, in the order given: the overall verdict and four lists.

    `expectation` is a `WorkflowExpectation`, an object or a mapping with its fields. None for what was called means
    that it is not known: what rests on it has `pass: None`, as have rules on arguments, which names do not show.

    >>> validate_workflow({"tools_should_include": ["pdf_retrieval", "web_search"]}, tools_used=["pdf_retrieval"])[
    ...     "tools"]
    {'pass': False, 'included': ['pdf_retrieval'], 'excluded': [], 'missing': ['web_search'], 'unexpected': []}
    """
    agents, tools = _names_or_none(agents_called, "agents_called"), _names_or_none(tools_used, "tools_used")
    workflow, _, _ = _judge(WorkflowExpectation.of(expectation), _Called({"agents": agents, "tools": tools}, {}))
    return workflow


def check_workflow(expectation: object, trajectory: object) -> WorkflowResult:
    """Compare what an agent did with what it should have done, with a reason in words for every failure.

    `trajectory` is a `Trajectory` or any record that becomes one. Called means executed. A record that is known to be
    incomplete is `unscored`: nothing passes or fails by what was not recorded.

    >>> result = check_workflow({"tools_should_exclude": ["search"]}, [{"role": "tool", "name": "search"}])
    >>> result.passed, result.reasons
    (False, ("excluded-called: tool 'search' is excluded and was called",))
    """
    wanted = WorkflowExpectation.of(expectation)
    record = trajectory if isinstance(trajectory, Trajectory) else Trajectory.from_messages(trajectory)
    calls, agents = record.tool_calls, record.agents_called
    unknown = record.unknown
    # A record that cannot show tool calls and names no agent does not show agents either.
    shows_agents = "agents" not in unknown and (bool(agents) or calls is not None)
    shows_tools = "tools" not in unknown and calls is not None
    seen: dict[Dimension, tuple[str, ...]] = {"agents": agents, "tools": record.tools_used}
    called = _Called(
        {"agents": agents if shows_agents else None, "tools": seen["tools"] if shows_tools else None},
        seen,
        calls if shows_tools and "arguments" not in unknown else None,
        tuple(
            dict.fromkeys(call.name for call in (calls or ()) if shows_tools and call.requested and not call.executed)
        ),
        record.complete,
        unknown,
        record.ordinary_tools,
        record.steps,
        tuple(call.name for call in (calls or ()) if len(set(agents)) > 1 and call.requested and not call.arguments),
    )
    workflow, findings, warnings = _judge(wanted, called)
    passed, clarification = workflow["pass"], None
    if wanted.clarification_expected is not None:
        clarification = check_clarification(
            wanted,
            called.names["agents"],
            record.final_response,
            complete=record.complete and "answer" not in unknown,
        )
        passed = _all([passed, clarification["pass"]])
        findings += _unclear(clarification)
    if called.requested:
        message = f"requested and never executed: {list_names(called.requested)}"
        warnings.append(Finding("requested-not-executed", "tools", message))
    return WorkflowResult(
        workflow=workflow,
        status="unscored" if passed is None else "scored",
        passed=passed,
        findings=tuple(findings),
        warnings=tuple(warnings),
        requested_not_executed=called.requested,
        clarification=clarification,
    )


def _names_or_none(names: Iterable[str] | None, where: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    return names_of(names if isinstance(names, Sequence | set | frozenset) else tuple(names), where)


def _judge(expectation: WorkflowExpectation, called: _Called) -> tuple[dict[str, Any], list[Finding], list[Finding]]:
    """Return the plain dict, what is wrong, and what is worth a warning."""
    workflow: dict[str, Any] = {"pass": None}
    findings: list[Finding] = []
    warnings: list[Finding] = []
    team = DimensionRules.of(expectation, "agents")
    for kind in DIMENSIONS:
        rules = DimensionRules.of(expectation, kind)
        names, requested = called.names[kind], called.requested if kind == "tools" else ()
        lists = lists_of(rules, names or ())
        if rules.unlisted == "warn":
            unlisted = [name for name in lists["unexpected"] if name not in (rules.exclude or ())]
            warnings += [rules.finding("unlisted-called", "was called and is not expected", name) for name in unlisted]
        wrong: list[Finding] = []
        unknown = _unknown(rules, names, called)
        # Where nothing is asked of a dimension, it passes, whatever the record lacks.
        if rules.is_stated and unknown is not None:
            wrong = [rules.finding(INCOMPLETE, unknown)]
            # What was called and must not be is wrong, whatever else was called.
            if names is None and called.complete and rules.exclude and called.seen:
                barred = [name for name in rules.exclude if name in called.seen[kind]]
                wrong = [rules.finding(EXCLUDED, "is excluded and was called", name) for name in barred] or wrong
            # What is missing, and what was rightly not called, cannot be said.
            lists |= {"excluded": [], "missing": []}
        elif rules.is_stated:
            is_open = team.is_stated or not called.unknown.keys().isdisjoint(_MAY_BE_MORE)
            doubts, maybe_agents, more = _doubts(team, rules, called) if is_open else ({}, {}, None)
            missing = lists["missing"]
            if kind == "tools":
                as_agents = [name for name in missing if name in (called.names["agents"] or ())]
                missing = [name for name in missing if name not in as_agents]
                wrong += [rules.finding(INCOMPLETE, _AS_AGENT, name) for name in as_agents]
            found = {**lists, "missing": missing}
            bare = called.bare if kind == "tools" else ()
            if kind == "tools" and "others" in called.unknown and called.calls == ():
                silent = [name for name in missing if name not in doubts]
                wrong += [Finding("missing", kind, _NO_CALL.format(f"tool {quote_name(name)}")) for name in silent]
                found["missing"] = [name for name in missing if name not in silent]
            wrong += wrong_with(rules, names or (), found, requested, doubts, maybe_agents, bare)
            if rules.arguments:
                wrong += _wrong_arguments(rules.arguments, called.calls or (), lists["missing"], doubts)
            behind = called.unknown.get("behind") if kind == "tools" else None
            limit = _limit(rules) if (more or behind) is not None and not wrong else None
            if limit is not None:
                finding = rules.finding(INCOMPLETE, f"{limit} {more or _UNSEEN.format(behind)}")
                # Most tools that talk are ordinary ones, so that those leave the verdict as it is.
                (warnings if more is None else wrong).append(finding)
        # A verdict is open where nothing but the gaps of the record keeps it from passing.
        is_open = bool(wrong) and all(finding.code == INCOMPLETE for finding in wrong)
        workflow[kind] = {"pass": None if is_open else not wrong, **lists}
        findings += wrong
    workflow["pass"] = _all([workflow[kind]["pass"] for kind in DIMENSIONS])
    return workflow, findings, warnings


def _limit(rules: DimensionRules) -> str | None:
    """Say what must not be called, which passes only where the record shows all that was; None where all may be."""
    if rules.include is not None and rules.is_closed:
        only = f"only {list_names(rules.include)} may be called, and others"
        return only if rules.include else f"no {rules.kind[:-1]} may be called, and some"
    return f"{list_names(rules.exclude)} must not be called, and" if rules.exclude else None


def _doubts(
    team: DimensionRules, rules: DimensionRules, called: _Called
) -> tuple[dict[str, str], dict[str, str], str | None]:
    """Return the names that may have been called though the record does not show it, and the tools that may be agents.

    Last comes why any tool may have been called, where that is so.

    In messages and spans an agent may be another's tool: one that the expectation names, and a tool is named after.
    What ran under an agent's name without a model, as a node of a graph does, may be that agent.
    Where a record does not show who else was called, an expected agent may be any tool; a forbidden one is not looked
    for behind tools of other names. What such an agent called is not in the record, so that it may be any tool.
    """
    entered = called.seen.get("agents", ())
    agents = [name for name in team.names if name not in entered]
    # What an agent says of itself counts: there, nobody asked for the calls.
    calls = [call for call in called.calls or () if call.requested and call.executed]
    calls = [call for call in calls if call.name not in called.ordinary]
    hidden = called_as_tools(agents, [call.name for call in calls]) if agents and calls else {}
    hint = "may have been called as tool {0}: if it was, say --map-agent {1}={2}, else --ignore-agent {1}"
    doubts = {agent: hint.format(quote_name(tool), tool, agent) for agent, tool in hidden.items()}
    others = called.unknown.get("others")
    wanted = [name for name in agents if name not in (team.exclude or ())] if others is not None else []
    doubts = {**dict.fromkeys(wanted, _UNSEEN.format(others)), **doubts}
    doubts |= {agent: _RAN.format(agent) for agent in agents if agent in called.steps}
    if rules.kind == "agents":
        return doubts, {}, None
    why = called.unknown.get("inside")
    for agent, tool in hidden.items() if why is None else ():
        why = f"{quote_name(tool)} may be agent {quote_name(agent)}, whose calls are not in the record: record a trace"
        break
    if why is None and doubts:
        why = others
    # Of a tool that only looks like an agent, what is missing is in doubt; what is forbidden is not looked for in it.
    behind = called.unknown.get("behind")
    lacking = () if behind is None else rules.find_lacking(called.seen["tools"])
    doubts = dict.fromkeys(lacking, _UNSEEN.format(behind))
    more = None
    if "hosted" in called.unknown:
        # Those of an MCP server that the service calls may have any name.
        more = f"may have been called by the model's service: {called.unknown['hosted']}"
    if why is not None:
        more = f"may have been called inside another: {why}"
    doubts |= {} if more is None else dict.fromkeys(rules.names, more)
    # An agent is not a tool: one that is not expected may be the agent that is.
    asked = [call.name for call in calls if (wanted and call.is_asked_in_words) or (lacking and call.is_conversation)]
    answer = "may be an agent: if it is, say --map-agent {0}=NAME, else --ignore-agent {0}"
    return doubts, {tool: answer.format(tool) for tool in (*hidden.values(), *asked)}, more


def _unknown(rules: DimensionRules, names: tuple[str, ...] | None, called: _Called) -> str | None:
    """Say what the rules ask and the record cannot show; None where it shows all of it."""
    question: Question
    if names is None:
        question, what = rules.kind, f"the record cannot show which {rules.kind} were called"
    elif not called.complete:
        return f"part of the record is missing; of the {rules.kind} it shows {list_names(names)}"
    elif rules.arguments and called.calls is None:
        question, what = "arguments", "the record does not show the arguments of the calls"
    elif "order" in called.unknown and rules.is_ordered:
        question, what = "order", f"the record does not show the order in which {rules.kind} were called"
    else:
        return None
    reason = called.unknown.get(question)
    return what if reason is None else f"{what}: {reason}"


def _wrong_arguments(
    rules: Mapping[str, Sequence[ArgumentRule]],
    calls: Sequence[ToolCall],
    missing: Sequence[str],
    doubts: Mapping[str, str],
) -> Iterator[Finding]:
    for tool, several in rules.items():
        made = [call for call in calls if call.executed and call.name == tool]
        if tool in missing:
            continue  # a finding says already that it was not called
        for rule in several:
            recorded = [call for call in made if _shows_arguments(call)]
            unfit = [reason for reason in misfits(rule, recorded) if reason is not None]
            all_known = len(recorded) == len(made)
            if len(unfit) < len(recorded) if rule.calls == "some" else not unfit and all_known and tool not in doubts:
                continue
            if tool in doubts and (rule.calls == "some" or not unfit):
                yield Finding(INCOMPLETE, "tools", f"tool {quote_name(tool)} {doubts[tool]}")
                continue
            # One of the unknown calls may be the one that fits, or the only one that does not.
            if not all_known and (rule.calls == "some" or not unfit):
                yield Finding(INCOMPLETE, "tools", f"the record does not show the arguments of tool {quote_name(tool)}")
                continue
            what = "no call" if rule.calls == "some" else "not every call"
            cause = unfit[0] if unfit else "it was not called"
            message = f"{what} of tool {quote_name(tool)} has {shorten(rule.words)}: {shorten(cause)}"
            yield Finding("wrong-arguments", "tools", message)


def _shows_arguments(call: ToolCall) -> bool:
    """Say whether a record shows the arguments of a call.

    Where no model asked for it, a text that is not an object is how OpenInference writes the only argument of a tool.
    """
    is_object = not isinstance(call.arguments, str) or call.arguments.lstrip().startswith("{")
    return call.requested or is_object


def _unclear(clarification: Mapping[str, Any]) -> list[Finding]:
    if clarification["pass"]:
        return []
    if clarification["pass"] is None:
        return [Finding(INCOMPLETE, "clarification", "the record cannot show whether the user was asked back")]
    if clarification["expected"]:
        return [Finding("clarification-missing", "clarification", "the user should have been asked back and was not")]
    return [Finding("clarification-unwanted", "clarification", "the user was asked back and should not have been")]


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """Return False if any is, else None if any is not known, else True."""
    if False in verdicts:
        return False
    return None if None in verdicts else True
