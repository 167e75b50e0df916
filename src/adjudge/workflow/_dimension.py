"""One dimension of a workflow, agents or tools: the four lists, and what is wrong with the calls.

expected    research             called    orchestrator, research
excluded    clarification        ->  included research | excluded clarification | missing - | unexpected -
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adjudge.workflow._arguments import ArgumentRule
from adjudge.workflow._expectation import GAP, Count, Dimension, Order, Policy, WorkflowExpectation

INCOMPLETE = "incomplete-trace"
SHOWN = 20  # names that a sentence shows
LONGEST = 80  # characters of a name in a sentence
_TO_CALL = re.compile(r"^(?:ask|call|run|invoke|consult|query|use|talk_to|(?:delegate|transfer|handoff)(?:_to)?)_")
_TOOL_ENDS = re.compile(r"_(?:agent|tool|agent_tool)$")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth a warning: `code` stays the same over releases, `message` is for a person."""

    code: str
    dimension: str
    message: str

    @property
    def reason(self) -> str:
        """The code and the message."""
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class DimensionRules:
    """What an expectation says of one dimension."""

    kind: Dimension
    include: tuple[str, ...] | None
    exclude: tuple[str, ...] | None
    always: tuple[str, ...]
    unlisted: Policy
    order: Order
    counts: Mapping[str, Count]
    forbidden: tuple[tuple[str, ...], ...]
    arguments: Mapping[str, tuple[ArgumentRule, ...]]
    is_stated: bool  # whether anything is said of the dimension at all

    @classmethod
    def of(cls, expectation: WorkflowExpectation, kind: Dimension) -> "DimensionRules":
        """Take one dimension out of an expectation."""
        include, exclude = (getattr(expectation, f"{kind}_should_{verb}") for verb in ("include", "exclude"))
        counts, forbidden = getattr(expectation, f"{kind}_count") or {}, getattr(expectation, f"{kind}_forbidden")
        arguments = (expectation.tools_arguments or {}) if kind == "tools" else {}
        return cls(
            kind,
            include,
            exclude,
            always=tuple(expectation.always_expected) if kind == "agents" else (),
            unlisted=expectation.policy(kind),
            order=getattr(expectation, f"{kind}_order"),
            counts=counts,
            forbidden=forbidden,
            arguments=arguments,
            is_stated=include is not None or exclude is not None or bool(counts or forbidden or arguments),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that the rules ask for, once."""
        forbidden = (name for sequence in self.forbidden for name in sequence if name != GAP)
        asked = (*(self.include or ()), *(self.exclude or ()), *self.counts, *self.arguments, *forbidden)
        return tuple(dict.fromkeys(asked))

    @property
    def is_closed(self) -> bool:
        """Whether a call that is not expected makes it fail."""
        # `strict` and `subset` mean that there are no others; `superset` means that there may be, whatever the policy.
        return self.order in ("strict", "subset") or (self.unlisted == "fail" and self.order != "superset")

    @property
    def is_ordered(self) -> bool:
        """Whether the verdict rests on the order of the calls."""
        return self.order in ("strict", "in_order") or bool(self.forbidden)

    def find_lacking(self, called: Sequence[str]) -> tuple[str, ...]:
        """Return the names of which the rules ask for more calls than there are."""
        counts = Counter(called)
        asked = (name for name, rules in self.arguments.items() if any(rule.calls == "some" for rule in rules))
        often = (name for name, (least, _) in self.counts.items() if counts[name] < least)
        lacking = (name for name in (*(self.include or ()), *asked) if not counts[name])
        return tuple(dict.fromkeys((*lacking, *often)))

    def finding(self, code: str, message: str, name: str | None = None) -> Finding:
        """Return a finding on the dimension; the message begins with the agent or tool, where one is named."""
        return Finding(code, self.kind, message if name is None else f"{self.kind[:-1]} {quote_name(name)} {message}")


def lists_of(rules: DimensionRules, called: Sequence[str]) -> dict[str, list[str]]:
    """Return the four lists: expected and called, excluded and not called, expected and missing, not expected.

    The lists say what happened, whatever the policy and the order make of it.
    """
    include, exclude, calls = map(dict.fromkeys, (rules.include or (), rules.exclude or (), called))
    # Without a list of what is expected, nothing is unexpected but what is excluded.
    expected = None if rules.include is None else {*include, *rules.always}
    return {
        "included": [name for name in include if name in calls],
        "excluded": [name for name in exclude if name not in calls],
        "missing": [name for name in include if name not in calls],
        "unexpected": [name for name in calls if name in exclude or (expected is not None and name not in expected)],
    }


def wrong_with(
    rules: DimensionRules,
    called: Sequence[str],
    found: Mapping[str, list[str]],
    requested: Iterable[str],
    doubts: Mapping[str, str],
    maybe_agents: Mapping[str, str],
    bare: Collection[str],
) -> Iterator[Finding]:
    """Give everything that makes the dimension fail, `found` being its lists.

    `requested` are the calls that were asked for and never executed. `doubts` are names that may have been called more
    often than the record shows, each with the reason: where one is missing that is open, and where it is rightly not
    there, too. `maybe_agents` are tools that may not be any: where one is not expected, that is open. `bare` are tools
    that were given nothing, in a record of several agents, as a handoff is.
    """
    asked = set(requested)
    for name in found["missing"] if rules.order != "subset" else ():
        how = "was requested and never executed" if name in asked else "was not called"
        if name not in doubts:
            yield rules.finding("missing", f"is expected and {how}", name)
        else:
            yield rules.finding(INCOMPLETE, f"is expected and {doubts[name]}", name)
    for name in found["excluded"]:
        if name in doubts:
            yield rules.finding(INCOMPLETE, f"is excluded and {doubts[name]}", name)
    for name in found["unexpected"]:
        if name in (rules.exclude or ()):
            yield rules.finding("excluded-called", "is excluded and was called", name)
        elif rules.is_closed and name in maybe_agents:
            yield rules.finding(INCOMPLETE, f"was called and is not expected, and {maybe_agents[name]}", name)
        elif rules.is_closed:
            hint = f"; if it hands over to an agent, say --map-agent {name}=NAME" if name in bare else ""
            yield rules.finding("unlisted-called", f"was called and is not expected{hint}", name)
    # An order can only be wrong where all that is expected was called, or may have been.
    if rules.order in ("strict", "in_order") and all(name in doubts for name in found["missing"]):
        yield from _wrong_order(rules, called, doubts)
    if rules.counts:
        yield from _wrong_counts(rules, called, doubts)
    if rules.forbidden:
        yield from _forbidden(rules, called, doubts)


def called_as_tools(agents: Iterable[str], tools: Sequence[str]) -> dict[str, str]:
    """Return the agents that may have been called as one of the tools: by its name they were.

    >>> called_as_tools(["Researcher", "writer"], ["search", "ask_researcher"])
    {'Researcher': 'ask_researcher'}
    """
    by_form: dict[str, str] = {}
    for tool in tools:
        by_form.setdefault(_TO_CALL.sub("", _TOOL_ENDS.sub("", _plain(tool))), tool)
    return {agent: by_form[form] for agent in agents if (form := _TOOL_ENDS.sub("", _plain(agent))) in by_form}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def list_names(names: Sequence[str]) -> str:
    """Return names as a sentence shows them."""
    some = ", ".join(quote_name(name) if name != GAP else GAP for name in names[:SHOWN])
    more = len(names) - SHOWN
    return f"{some} and {more} more" if more > 0 else some or "nothing"


def quote_name(name: str) -> str:
    """Return a name in quotes, its odd characters as codes: agents and tools may be called anything."""
    return ascii(name if len(name) <= LONGEST else f"{name[:LONGEST]}...")


def shorten(text: str) -> str:
    """Return text of any origin as a sentence can hold it: without control characters, and not too long."""
    kept = text if len(text) <= 3 * LONGEST else f"{text[: 3 * LONGEST]}..."
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in kept)


def _wrong_order(rules: DimensionRules, called: Sequence[str], doubts: Mapping[str, str]) -> Iterator[Finding]:
    wanted = list(rules.include or ())
    # What is always expected may come anywhere; any other name is a finding of its own, or fine.
    calls = [name for name in called if name in wanted]
    is_strict = rules.order == "strict"
    if calls == wanted if is_strict else _in_order(wanted, calls):
        return
    # Calls that the record does not show can only come between those that it does.
    sure = [name for name in wanted if name not in doubts]
    if len(sure) < len(wanted) and _in_order(sure, calls) and (not is_strict or _in_order(calls, wanted)):
        unsure = next(name for name in wanted if name in doubts)
        if all(name in calls for name in wanted):  # else a finding says already what is missing
            yield rules.finding(INCOMPLETE, f"is expected in an order, and {doubts[unsure]}", unsure)
        return
    message = f"{rules.kind} are expected as {list_names(wanted)} and were called as {list_names(calls)}"
    yield rules.finding("wrong-order", message)


def _in_order(names: Iterable[str], calls: Iterable[str]) -> bool:
    """Say whether the calls have all these names in this order, others between them or not."""
    # `name in rest` reads on from where the last name was found.
    rest = iter(calls)
    return all(name in rest for name in names)


def _wrong_counts(rules: DimensionRules, called: Sequence[str], doubts: Mapping[str, str]) -> Iterator[Finding]:
    counts = Counter(called)
    for name, (least, most) in rules.counts.items():
        if name in doubts and (most is None or counts[name] <= most):
            if most is not None or counts[name] < least:
                yield rules.finding(INCOMPLETE, doubts[name], name)
        elif counts[name] < least or (most is not None and counts[name] > most):
            before = "" if most == least else "at least " if most is None else f"{least} to "
            wanted = f"{before}{_times(least if most is None else most)}"
            yield rules.finding("wrong-count", f"is expected {wanted} and was called {_times(counts[name])}", name)


def _forbidden(rules: DimensionRules, called: Sequence[str], doubts: Mapping[str, str]) -> Iterator[Finding]:
    for sequence in rules.forbidden:
        unsure = [name for name in sequence if name in doubts]
        if _occurs(sequence, called):
            yield rules.finding("forbidden-sequence", f"{rules.kind} were called as {list_names(sequence)}")
        elif unsure and all(name in doubts or name in called or name == GAP for name in sequence):
            message = f"is part of {list_names(sequence)}, which is forbidden, and {doubts[unsure[0]]}"
            yield rules.finding(INCOMPLETE, message, unsure[0])


def _times(number: int) -> str:
    return f"{number} time" if number == 1 else f"{number} times"


def _occurs(sequence: Sequence[str], called: Sequence[str]) -> bool:
    """Say whether a sequence of calls occurs: its runs one behind the other, each run without a gap."""
    # Gaps cut the sequence into runs of names that follow one another directly.
    runs: list[list[str]] = [[]]
    for name in sequence:
        if name == GAP:
            runs.append([])
        else:
            runs[-1].append(name)
    start = 0
    for run in filter(None, runs):
        # The earliest place is the best one: it leaves the most room for what follows.
        ends = len(called) - len(run) + 1
        place = next((at for at in range(start, ends) if list(called[at : at + len(run)]) == run), None)
        if place is None:
            return False
        start = place + len(run)
    return True
