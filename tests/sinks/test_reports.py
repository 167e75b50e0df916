"""Reports and files: hostile text is text in every one of them."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adjudge.sinks import (
    Check,
    JsonSink,
    LangfuseSink,
    MlflowSink,
    OtelSink,
    OutScore,
    PhoenixSink,
    Sink,
    github_annotations,
    github_summary,
    json_report,
    junit_xml,
)
from adjudge.testing import ScoreServer
from sinks.hostile import HOSTILE
from sinks.junit_rules import check_junit
from sinks.recorded import recorded
from sinks.scores import PUBLIC, QUICK, SECRET, trace_id

UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
texts = st.one_of(st.sampled_from(sorted(HOSTILE.values())), st.text(st.characters(exclude_categories=[])))
all_hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())


def checks_of(text: str) -> list[Check]:
    """Return checks with that text wherever text can stand."""
    scores = {text: 0.5, "none": None}
    return [
        Check(text, "failed", text, 1.5, file=text, line=3, tags=(text,), scores=scores),
        Check(text, "undecided", text, tags=(text,), scores=scores),
        Check(text, "passed", scores=scores),
    ]


def score_of(text: str) -> OutScore:
    """Return a score with that text wherever text can stand and the score be sent."""
    metadata = {"scenario_id": text, "tags": [text], text: text}
    return OutScore(f"n{text}", 1.0, comment=text, trace_id=trace_id(1), metadata=metadata, run=text)


def check_junit_of(text: str) -> None:
    """Check that a report is valid, has its three cases, and the text only as text."""
    data = junit_xml(checks_of(text), name=text)
    root = check_junit(data)
    assert UNFIT.search(data.decode()) is None
    assert len(root.findall("testsuite/testcase")) == 3
    assert len(root.findall(".//failure")) == len(root.findall(".//error")) == 1
    assert len({element.tag for element in root.iter()} - {"testsuites", "testsuite", "testcase"}) == 3


def check_commands_of(text: str) -> None:
    """Check that the annotations are two commands and nothing else."""
    out = github_annotations(checks_of(text))
    assert UNFIT.search(out) is None
    lines = re.split(r"\r\n|\r|\n|\u2028|\u2029|\x85", out)
    assert [line[: line.find(" ")] for line in lines] == ["::error", "::warning", ""]
    assert "##[" not in out
    for line in lines[:2]:
        properties, _, _ = line.partition(" ")[2].partition("::")
        names = [part.partition("=")[0] for part in properties.split(",")]
        assert names == (["file", "line", "title"] if text and line.startswith("::error") else ["title"])
        assert ":" not in properties


def check_summary_of(text: str) -> None:
    """Check that the summary renders as a heading and a table whose texts are code."""
    out = github_summary(checks_of(text), title=text)
    assert UNFIT.search(out) is None
    assert "::" not in {line[:2] for line in out.splitlines()}
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(out)
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2"]
    assert sum(token.type == "tr_open" for token in tokens) == 4
    assert sum(token.type in ("td_open", "th_open") for token in tokens) == 16
    inner = {child.type for token in tokens for child in token.children or []}
    assert inner <= {"text", "code_inline"}
    said = "".join(child.content for token in tokens for child in token.children or [] if child.type == "text")
    assert set(said) <= set("✅❌❔ check reason scores none 0.5: 1 failed, undecided, passed,")


def check_json_of(text: str) -> None:
    """Check that the report is JSON in plain ASCII without markup, and reads back."""
    out = json_report(checks_of(text))
    assert out.isascii()
    assert out.isprintable()
    assert not set(out) & set("<>&")
    assert len(json.loads(out)["checks"]) == 3


REPORTS = (check_junit_of, check_commands_of, check_summary_of, check_json_of)


@all_hostile
@pytest.mark.parametrize("check", REPORTS)
def test_hostile_reports(check: object, text: str) -> None:
    """In every report hostile text is inert."""
    assert callable(check)
    check(text)


@given(texts)
def test_any_text(text: str) -> None:
    """No text at all breaks a report."""
    for check in REPORTS:
        check(text)


@all_hostile
def test_hostile_scores(text: str, tmp_path: Path) -> None:
    """Every sink delivers a score with hostile text; what arrives is valid, bounded and without control characters."""
    score = score_of(text)
    bodies: list[str] = []

    def answer(method: str, path: str, body: object) -> tuple[int, object]:
        bodies.append(json.dumps(body, ensure_ascii=False))
        if path.startswith("/v1/logs"):
            return 200, {}
        return (404, {}) if method == "GET" else (200, {"data": [], "assessment": {}})

    with recorded(answer) as told, ScoreServer() as server:
        sinks: list[Sink] = [
            LangfuseSink(tmp_path / "l", host=server.host, public_key=PUBLIC, secret_key=SECRET, limits=QUICK),
            MlflowSink(tmp_path / "m", host=told.host, limits=QUICK),
            PhoenixSink(tmp_path / "p", host=told.host, limits=QUICK),
            OtelSink(tmp_path / "o", endpoint=told.host, limits=QUICK),
            JsonSink(tmp_path / "scores.jsonl"),
        ]
        receipts = [sink.send([score]) for sink in sinks]
        bodies += [json.dumps(one, ensure_ascii=False) for one in server.scores.values()]
    assert [receipt.delivered for receipt in receipts] == [1] * 5
    bodies.append((tmp_path / "scores.jsonl").read_text(encoding="ascii"))
    assert len(bodies) == 6
    for body in bodies:
        assert UNFIT.search(body.strip("\n")) is None
        body.encode("utf-8")
        assert len(body) < 100_000


@all_hostile
def test_hostile_scores_to_an_sdk_client(text: str) -> None:
    """A client of the SDK gets texts that its serialiser cannot choke on."""

    class Client:
        calls: list[str] = []  # noqa: RUF012 (one test, one client)

        def create_score(self, **given: object) -> None:
            self.calls.append(json.dumps(given, ensure_ascii=False, default=str))

    Client.calls.clear()
    assert LangfuseSink(client=Client()).send([score_of(text)]).unconfirmed == 1
    assert UNFIT.search(Client.calls[0]) is None


@pytest.mark.parametrize("hidden", ["\u061c", "\u200b", "\u200f", "\ufeff", "\u2060", "\u00ad", "\U000e0041"])
def test_github_shows_every_character(hidden: str) -> None:
    """A character that shows nothing, or turns what follows, cannot hide in an annotation or a summary."""
    checks = [Check(f"a{hidden}b", "failed", f"c{hidden}d", file=f"e{hidden}f")]
    assert github_annotations(checks) == "::error file=e�f,title=a�b::c�d\n"
    assert hidden not in github_summary(checks, title=hidden)


@pytest.mark.parametrize("command", ["##[error]", "##vso[task.complete]", "##TeamCity[message]"])
def test_annotations_command_no_other_system(command: str) -> None:
    """What another CI system would take for a command, in the same log, is not one."""
    out = github_annotations([Check(command, "failed", f"no\n  {command}")])
    assert command not in out
    assert command.replace("[", " [") in out


def test_annotations_are_bounded() -> None:
    """More failures than GitHub shows become one line that says how many."""
    out = github_annotations([Check(f"s{number}", "failed", "no") for number in range(25)])
    assert len(out.splitlines()) == 10  # GitHub drops the eleventh
    assert out.splitlines()[-1] == "::error title=adjudge::16 more checks failed"
    assert len(github_annotations([Check(f"s{number}", "failed") for number in range(10)]).splitlines()) == 10
    assert github_annotations([Check("a", "passed")]) == ""


def test_summary_is_bounded() -> None:
    """A summary stays under the size that GitHub shows: failed checks first, and a count of what is left out."""
    checks = [Check(f"s{number}", "passed", "x" * 1000) for number in range(2000)] + [Check("last", "failed", "no")]
    out = github_summary(checks)
    assert len(out.encode()) < 1_000_000
    assert "last" in out.splitlines()[4]
    assert re.fullmatch(r"\| \| [0-9]+ more \| \| \|", out.splitlines()[-1])


def test_no_number_is_text() -> None:
    """A number that is none is shown as none, in seconds as 0."""
    checks = [Check("a", "passed", seconds=bad, scores={"f1": bad}) for bad in (float("nan"), float("inf"))]
    check_junit(junit_xml(checks))
    everything = junit_xml(checks).decode() + github_summary(checks) + json_report(checks)
    assert not re.search("(?i)nan|inf", everything.replace("info", ""))


def test_junit_counts() -> None:
    """Failed checks are failures, undecided ones errors; the counts add up, and a schema check accepts it."""
    checks = [
        Check("a", "passed", seconds=0.25, scores={"f1": 1 / 3}),
        Check("b", "failed", "line one\nline two", 2.0),
        Check("c", "undecided", None),
    ]
    root = check_junit(junit_xml(checks, name="scenarios"))
    (suite,) = root
    assert suite.attrib["time"] == "2.250"
    assert [case.attrib["name"] for case in suite] == ["a", "b", "c"]
    failure = suite[1].find("failure")
    assert failure is not None
    assert (failure.attrib["message"], failure.text) == ("line one line two", "line one\nline two")
    output = suite[0].find("system-out")
    assert output is not None
    assert output.text == "f1: 0.333333"
    assert check_junit(junit_xml([])).attrib["tests"] == "0"


def test_junit_check_can_fail() -> None:
    """The schema check refuses a report that is wrong."""
    good = junit_xml([Check("a", "failed", "no")])
    for before, after in ((b'failures="1"', b'failures="2"'), (b"<testcase ", b"<case "), (b' name="a"', b"")):
        broken = good.replace(before, after).replace(
            b"</testcase>", b"</case>" if b"<case " in after else b"</testcase>"
        )
        with pytest.raises(AssertionError):
            check_junit(broken)


def test_json_sink(tmp_path: Path) -> None:
    """Every score is a line, also one without a value: null with its reason, never 0."""
    path = tmp_path / "scores.jsonl"
    scores = [OutScore("a", 0.5, trace_id="t"), OutScore("b", float("nan")), OutScore("c", None, reason="unscored: x")]
    assert JsonSink(path).send(scores).delivered == 3
    rows = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    assert [row["value"] for row in rows] == [0.5, None, None]
    assert rows[2]["reason"] == "unscored: x"
    assert list(tmp_path.iterdir()) == [path]


def test_parsed_back() -> None:
    """What was not hostile comes back from JUnit as it was."""
    reason = 'It said "a < b & c".'
    root = ET.fromstring(junit_xml([Check("é ✓ 漢字", "failed", reason)]))  # noqa: S314 (our own)
    assert [case.attrib["name"] for case in root.iter("testcase")] == ["é ✓ 漢字"]
    assert [failure.text for failure in root.iter("failure")] == [reason]
