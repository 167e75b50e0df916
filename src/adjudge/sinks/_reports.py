"""What a gate found, scenario by scenario, as reports: JUnit XML, and GitHub's annotations and summary.

Text in a report stays text: no terminal, page, template or workflow takes a part of it for a command.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count
from typing import Literal, TypeAlias
from xml.etree import ElementTree as ET

from adjudge.errors import printable
from adjudge.sinks._scores import clean_text

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
"""How a check ended; a fault that leaves it open is `undecided`, never `failed`."""


@dataclass(frozen=True, slots=True)
class Check:
    """One scenario, or one threshold, that passed, failed or could not be decided, with the reason in words.

    `file` and `line` say where it is written; `scores` are its numbers, None where there is none.
    """

    id: str
    outcome: Outcome
    reason: str | None = None
    seconds: float | None = None
    file: str | None = None
    line: int | None = None
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)


def tally(checks: Iterable[Check]) -> dict[Outcome, int]:
    """Count the outcomes.

    >>> tally([Check("a", "passed"), Check("b", "failed", "web_search was not used")])
    {'passed': 1, 'failed': 1, 'undecided': 0}
    """
    counts: dict[Outcome, int] = {"passed": 0, "failed": 0, "undecided": 0}
    for check in checks:
        counts[check.outcome] += 1
    return counts


def shown(value: float | None, digits: int) -> str:
    """Return a number as a report shows it; NaN, the infinities and None are `none`."""
    return "none" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_LINE = 1_000


def junit_xml(checks: Sequence[Check], *, name: str = "adjudge") -> bytes:
    """Return checks as a JUnit report: a test suite with a test case a check.

    >>> print(junit_xml([Check("refunds", "failed", "web_search was not used", seconds=1.5)]).decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="adjudge" tests="1" failures="1" errors="0" time="1.500">
      <testsuite name="adjudge" tests="1" failures="1" errors="0" skipped="0" time="1.500">
        <testcase classname="adjudge" name="refunds" time="1.500">
          <failure type="failed" message="web_search was not used">web_search was not used</failure>
        </testcase>
      </testsuite>
    </testsuites>
    """
    counts = tally(checks)
    title = _fit(name, _LONGEST_LINE)
    numbers = {"tests": str(len(checks)), "failures": str(counts["failed"]), "errors": str(counts["undecided"])}
    seconds = {"time": _seconds(sum(check.seconds or 0.0 for check in checks))}
    root = ET.Element("testsuites", {"name": title, **numbers, **seconds})
    suite = ET.SubElement(root, "testsuite", {"name": title, **numbers, "skipped": "0", **seconds})
    for check in checks:
        _add_case(suite, check, title)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _add_case(suite: ET.Element, check: Check, title: str) -> None:
    about = {"classname": title, "name": _fit(check.id, _LONGEST_LINE), "time": _seconds(check.seconds or 0.0)}
    case = ET.SubElement(suite, "testcase", about)
    if check.outcome != "passed":
        reason = check.reason or check.outcome
        # JUnit's error is what could not be decided; CI systems show the two apart.
        kind = "failure" if check.outcome == "failed" else "error"
        first = " ".join(_fit(reason, _LONGEST_LINE).split())
        ET.SubElement(case, kind, {"type": check.outcome, "message": first}).text = _fit(reason)
    if check.scores or check.tags:
        lines = [f"{key}: {shown(value, 6)}" for key, value in check.scores.items()]
        lines += [f"tag: {tag}" for tag in check.tags]
        ET.SubElement(case, "system-out").text = _fit("\n".join(lines))


def _fit(text: str, most: int | None = None) -> str:
    """Return text that XML can hold."""
    return _NOT_XML.sub("\ufffd", clean_text(text) if most is None else clean_text(text, most))


def _seconds(value: float) -> str:
    return f"{value:.3f}" if 0.0 <= value < math.inf else "0.000"


_MOST = 10  # annotations of a kind that GitHub shows of a step
_LONGEST = 1_000
_LARGEST = 900_000  # bytes; GitHub shows no summary over 1 MiB
_MARKS = {"passed": "✅", "failed": "❌", "undecided": "❔"}
_TICKS = re.compile("`+")
_IN_MESSAGE = str.maketrans({"%": "%25"})
_IN_PROPERTY = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def github_annotations(checks: Sequence[Check]) -> str:
    """Return workflow commands, one a line: an error for each failed check, a warning for each undecided one.

    >>> print(github_annotations([Check("refunds", "failed", "100% wrong", file="scenarios/a.yaml", line=3)]), end="")
    ::error file=scenarios/a.yaml,line=3,title=refunds::100%25 wrong
    """
    lines: list[str] = []
    for outcome, command in (("failed", "error"), ("undecided", "warning")):
        found = [check for check in checks if check.outcome == outcome]
        # The last place is for the line that says how many more there are.
        several = found if len(found) <= _MOST else found[: _MOST - 1]
        lines += [_command(command, check) for check in several]
        if len(several) < len(found):
            lines.append(f"::{command} title=adjudge::{len(found) - len(several)} more checks {outcome}")
    return "".join(f"{line}\n" for line in lines)


def github_summary(checks: Sequence[Check], *, title: str = "adjudge") -> str:
    """Return a step summary: counts, then a table of what did not pass and of what did, with reasons and scores."""
    counts = tally(checks)
    heading = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    lines = [f"## {markdown_code(title)}: {heading}", ""]
    if checks:
        lines += ["| | check | reason | scores |", "|---|---|---|---|"]
        order = {"failed": 0, "undecided": 1, "passed": 2}
        rows = [_row(check) for check in sorted(checks, key=lambda check: order[check.outcome])]
        ends = accumulate(len(row.encode()) for row in rows)
        # GitHub drops a summary that is too large: a cut one is better than none.
        fit = sum(end <= _LARGEST for end in ends)
        lines += rows[:fit] if fit == len(rows) else [*rows[:fit], f"| | {len(rows) - fit} more | | |"]
    return "\n".join(lines) + "\n"


def _command(command: str, check: Check) -> str:
    about = {"file": check.file or None, "line": check.line if check.file else None, "title": check.id}
    properties = ",".join(
        f"{key}={_escape(str(value), _IN_PROPERTY)}" for key, value in about.items() if value is not None
    )
    return f"::{command} {properties}::{_escape(check.reason or check.outcome, _IN_MESSAGE)}"


def _escape(text: str, codes: Mapping[int, str]) -> str:
    """Return text as a workflow command takes it; other systems that read the same log find no command in it either."""
    lines = clean_text(text, _LONGEST).expandtabs(1).translate(codes).splitlines()
    return "%0A".join(printable(line, len(line)) for line in lines)


def _row(check: Check) -> str:
    scores = ", ".join(f"{markdown_code(key)} {shown(value, 4)}" for key, value in check.scores.items())
    reason = markdown_code(check.reason) if check.reason else ""
    return f"| {_MARKS[check.outcome]} | {markdown_code(check.id)} | {reason} | {scores} |"


def markdown_code(text: str, most: int = _LONGEST) -> str:
    """Return text as a code span, in which Markdown, HTML, links and mentions have no effect.

    A bar would end the cell of a table even there, so it becomes a broken bar.

    >>> markdown_code("<b> | @all `")
    '`` <b> ¦ @all ` ``'
    """
    flat = " ".join(clean_text(text, most).replace("|", "¦").split()) or "�"
    flat = "".join(one if one.isprintable() else "�" for one in flat)
    # A code span ends at as many backticks as it began with, so the fence has a length that the text lacks.
    runs = {len(run) for run in _TICKS.findall(flat)}
    fence = "`" * next(length for length in count(1) if length not in runs)
    return f"{fence} {flat} {fence}"
