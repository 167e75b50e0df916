"""The facts of the JUnit schema that Jenkins, GitLab and GitHub's reporters rely on, as checks."""

import re
from xml.etree import ElementTree as ET

NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
COUNT = re.compile(r"[0-9]+")

CHILDREN: dict[str, list[str]] = {  # in the order in which the schema wants them
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "testcase": ["skipped", "error", "failure", "system-out", "system-err"],
    "failure": [],
    "error": [],
    "system-out": [],
}
REQUIRED: dict[str, set[str]] = {
    "testsuites": set(),
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name", "classname"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}
ALLOWED: dict[str, set[str]] = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "disabled"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "disabled", "timestamp", "hostname", "id"},
    "testcase": {"name", "classname", "time", "assertions", "status"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}


def check_junit(data: bytes) -> ET.Element:
    """Parse a report and check every element, attribute, order and count; return its root."""
    root = ET.fromstring(data)  # noqa: S314 (our own)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert element.tag in CHILDREN, element.tag
        assert REQUIRED[element.tag] <= element.attrib.keys() <= ALLOWED[element.tag], element.attrib
        order = [CHILDREN[element.tag].index(child.tag) for child in element if child.tag in CHILDREN[element.tag]]
        assert len(order) == len(element)
        assert order == sorted(order)
        for name in ("tests", "failures", "errors", "skipped"):
            assert COUNT.fullmatch(element.attrib.get(name, "0"))
        assert NUMBER.fullmatch(element.attrib.get("time", "0"))
    for counted in (root, *root.findall("testsuite")):
        for name, path in {"tests": ".//testcase", "failures": ".//failure", "errors": ".//error"}.items():
            assert int(counted.attrib[name]) == len(counted.findall(path))
    return root
