"""JUnit XML, as CI systems read it: a failed check is a failure, an undecided one an error."""

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from adjudge.sinks._checks import Check, shown, tally
from adjudge.sinks._clean import clean_text

__all__ = ["junit_xml"]

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
