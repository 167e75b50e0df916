"""GitHub: annotations as workflow commands, and a step summary in Markdown; text in them stays text."""

import re
from collections.abc import Sequence
from itertools import accumulate, count

from adjudge.sinks._checks import Check, shown, tally
from adjudge.sinks._clean import clean_text

__all__ = ["github_annotations", "github_summary"]

_MOST = 10  # annotations of a kind that GitHub shows of a step
_LONGEST = 1_000
_LARGEST = 900_000  # bytes; GitHub shows no summary over 1 MiB
_MARKS = {"passed": "✅", "failed": "❌", "undecided": "❔"}
_TICKS = re.compile("`+")


def github_annotations(checks: Sequence[Check]) -> str:
    """Return workflow commands, one a line: an error for each failed check, a warning for each undecided one.

    >>> print(github_annotations([Check("refunds", "failed", "100% wrong", file="scenarios/a.yaml", line=3)]), end="")
    ::error file=scenarios/a.yaml,line=3,title=refunds::100%25 wrong
    """
    lines: list[str] = []
    for outcome, command in (("failed", "error"), ("undecided", "warning")):
        found = [check for check in checks if check.outcome == outcome]
        several = found if len(found) <= _MOST else found[: _MOST - 1]
        lines += [_command(command, check) for check in several]
        if len(several) < len(found):
            lines.append(f"::{command} title=adjudge::{len(found) - len(several)} more checks {outcome}")
    return "".join(f"{line}\n" for line in lines)


def github_summary(checks: Sequence[Check], *, title: str = "adjudge") -> str:
    """Return a step summary: counts, then a table of what did not pass and of what did, with reasons and scores."""
    counts = tally(checks)
    heading = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    lines = [f"## {_code(title)}: {heading}", ""]
    if checks:
        lines += ["| | check | reason | scores |", "|---|---|---|---|"]
        order = {"failed": 0, "undecided": 1, "passed": 2}
        rows = [_row(check) for check in sorted(checks, key=lambda check: order[check.outcome])]
        ends = accumulate(len(row.encode()) for row in rows)
        fit = sum(end <= _LARGEST for end in ends)
        lines += rows[:fit] if fit == len(rows) else [*rows[:fit], f"| | {len(rows) - fit} more | | |"]
    return "\n".join(lines) + "\n"


def _command(command: str, check: Check) -> str:
    about = {"file": check.file or None, "line": check.line if check.file else None, "title": check.id}
    told = ",".join(f"{key}={_property(str(value))}" for key, value in about.items() if value is not None)
    return f"::{command} {told}::{_message(check.reason or check.outcome)}"


def _message(text: str) -> str:
    # `##[` begins a command of the older form wherever it stands in a line.
    flat = clean_text(text, _LONGEST).replace("##[", "## [").replace("\u2028", " ").replace("\u2029", " ")
    return flat.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _row(check: Check) -> str:
    scores = ", ".join(f"{_code(key)} {shown(value, 4)}" for key, value in check.scores.items())
    reason = _code(check.reason) if check.reason else ""
    return f"| {_MARKS[check.outcome]} | {_code(check.id)} | {reason} | {scores} |"


def _code(text: str) -> str:
    """Return text as a code span: no Markdown, HTML, link or mention in it is one.

    A bar would end the table's cell whatever stands around it, so it becomes a broken one.
    """
    flat = " ".join(clean_text(text, _LONGEST).replace("|", "¦").split()) or "�"
    runs = {len(run) for run in _TICKS.findall(flat)}
    fence = "`" * next(length for length in count(1) if length not in runs)
    return f"{fence} {flat} {fence}"
