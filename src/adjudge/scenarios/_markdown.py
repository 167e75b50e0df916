"""A check as markdown: a summary that can be posted as a comment on a pull request as it is.

    ## ❌ adjudge: FAIL (exit code 1)
    20 runs of 20 scenarios: 18 passed, 1 failed, 1 undecided
    a table of what did not pass, with the reasons
    collapsed: what happened there, what changed since the baseline, the gate, what passed

Whatever a scenario, an agent or a judge wrote is in code spans, where it is text and nothing else.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from adjudge.scenarios._account import account_of
from adjudge.scenarios._baseline import BaselineChanges, ScenarioStanding
from adjudge.scenarios._check import CheckResult
from adjudge.scenarios._run import Outcome, outcome_of
from adjudge.scenarios._summary import WORST_FIRST, ScenarioSummary, summaries_of
from adjudge.sinks import markdown_code as code

COMMENT = 60_000  # bytes; GitHub takes comments of 65,536 characters
FRAME = 4_000  # bytes of headings and the like, which always fit
LONGEST = 300  # characters of a question, an answer or a reason
MOST_WARNINGS = 10
MOST_NAMES = 10  # questions, agents or tools of one run
MARKS: dict[Outcome, str] = {"passed": "✅", "failed": "❌", "undecided": "❔"}
VERDICTS = {"pass": "✅", "fail": "❌", "undecided": "❔"}


class _Page:
    """Markdown that grows until it is full: tables lose their last rows, never their frame."""

    def __init__(self, largest: int) -> None:
        self.lines: list[str] = []
        self.left = largest - FRAME

    def add(self, *lines: str) -> None:
        """Add lines of the frame."""
        self.lines += lines

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table with as many rows as fit, and say how many do not; without columns that are empty."""
        used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
        lines = [f"| {' | '.join(row[at] for at in used)} |" for row in rows]
        fit = sum(end <= self.left for end in accumulate(len(line.encode()) + 1 for line in lines))
        self.left -= sum(len(line.encode()) + 1 for line in lines[:fit])
        self.add(f"| {' | '.join(heads[at] for at in used)} |", f"|{'---|' * len(used)}", *lines[:fit])
        if fit < len(lines):
            self.add("", f"… and {len(lines) - fit:,} more, which do not fit in here.")
        self.add("")

    def folded(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table that is collapsed until a reader opens it; none where it has no rows."""
        if rows:
            # GitHub reads markdown inside HTML again only after an empty line.
            self.add(f"<details><summary>{title}</summary>", "")
            self.table(heads, rows)
            self.add("</details>", "")


def markdown_of(result: CheckResult, *, largest: int = COMMENT) -> str:
    """Return the summary of a check, in at most so many bytes."""
    run, findings, comparison = result.run, result.decision.findings, result.changes
    scenarios = summaries_of(run.results)
    ends = ", ".join(f"{number:,} {outcome}" for outcome, number in run.outcomes.items())
    runs = f"{_count(len(run.results), 'run')} of {_count(len(scenarios), 'scenario')}"
    page = _Page(largest)
    page.add(f"## {VERDICTS[result.decision.verdict]} adjudge gate: {result.headline}", "", f"{runs}: {ends}  ")
    if comparison is not None:
        page.add(f"Since the baseline: {comparison.headline}")
    page.add("")

    open_ones = sorted((one for one in scenarios if one.outcome != "passed"), key=_severity)
    if open_ones:
        heads = ("", "scenario", "passed", "before", "quality", "scores", "why")
        page.table(heads, _problems(open_ones, comparison))
    page.add(*(f"- ⚠️ {code(warning, LONGEST)}" for warning in run.warnings[:MOST_WARNINGS]), "")

    if open_ones:
        page.folded("What happened there", ("scenario", "question", "agents", "tools", "answer"), _accounts(result))
    if comparison is not None:
        changes = [(one.change, code(one.id), _standing(one.before), _standing(one.now)) for one in comparison.changes]
        page.folded("What changed since the baseline", ("", "scenario", "before", "now"), changes)
    gate = [(VERDICTS[one.verdict], code(one.name), code(one.reason, LONGEST)) for one in findings]
    passed = sum(one.verdict == "pass" for one in findings)
    title = f"The gate: {passed} of {_count(len(gate), 'threshold')} passed"
    page.folded(title, ("", "threshold", "why"), gate)
    good = [(code(one.id), *_numbers(one)) for one in scenarios if one.outcome == "passed"]
    page.folded(f"{_count(len(good), 'scenario')} passed", ("scenario", "quality", "scores", "notes"), good)
    return "\n".join(page.lines).rstrip("\n") + "\n"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _severity(scenario: ScenarioSummary) -> int:
    return WORST_FIRST.index(scenario.outcome)


def _problems(scenarios: Sequence[ScenarioSummary], comparison: BaselineChanges | None) -> list[Sequence[str]]:
    """Return a row for each scenario that did not pass."""
    changes = {} if comparison is None else {one.id: one for one in comparison.changes}
    rows: list[Sequence[str]] = []
    for one in scenarios:
        times = "" if one.runs == 1 else f"{one.passed} of {one.runs}"
        before = ""
        if comparison is not None:
            # A scenario that did not change had the outcome that it has.
            before = _standing(changes[one.id].before, "new") if one.id in changes else MARKS[one.outcome]
        rows.append((MARKS[one.outcome], code(one.id), times, before, *_numbers(one)))
    return rows


def _reasons(scenario: ScenarioSummary) -> str:
    return "<br>".join(scenario.reason_lines(lambda reason: code(reason, LONGEST)))


def _numbers(scenario: ScenarioSummary) -> tuple[str, str, str]:
    quality = "" if scenario.quality is None else f"{scenario.quality:.2f}"
    return quality, "<br>".join(scenario.score_lines(code)), _reasons(scenario)


def _standing(standing: ScenarioStanding | None, missing: str = "–") -> str:
    if standing is None:
        return missing
    times = "" if standing.runs == 1 else f" {standing.passed} of {standing.runs}"
    return f"{MARKS[standing.outcome]}{times}"


def _accounts(result: CheckResult) -> list[Sequence[str]]:
    """Return what was asked and done in the first run of each scenario that did not pass."""
    accounts: dict[str, Sequence[str]] = {}
    # Runs are in the order of their results.
    for row, one in result.run.pairs():
        if one["id"] in accounts or outcome_of(one) == "passed":
            continue
        account = account_of(row)
        question = _names(account["turns"] or [account["question"]])
        tools = None if account["calls"] is None else [call["name"] for call in account["calls"] if call["executed"]]
        answer = "" if one["response"] is None else _text(one["response"])
        accounts[one["id"]] = (code(one["id"]), question, _names(account["agents"]), _names(tools), answer)
    return list(accounts.values())


def _names(names: Sequence[Any] | None) -> str:
    """Return names or questions, a line each; what is not known is not an empty list."""
    if names is None:
        return "not known"
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return "<br>".join([*(_text(name) for name in names[:MOST_NAMES]), *more]) or "none"


def _text(text: Any) -> str:
    return code(str(text), LONGEST)
