"""Why the local judge says what it says: the steps end at its verdict, and name who was outvoted."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import DataError
from adjudge.judges.local import LocalJudge
from cli import command


def steps_of(tier: int, question: str, reference: str, response: str) -> dict[str, str]:
    """Return the steps by name."""
    return dict(LocalJudge(tier=tier).explain(question, reference, response))


@pytest.mark.parametrize("tier", [0, 1])
def test_the_steps_end_at_the_verdict(training: Any, tier: int) -> None:
    """On validation rows the last step that names a verdict has the judge's own, and its probability."""
    rows, _ = training
    judge = LocalJudge(tier=tier)
    for row in rows.read("agent-pairs-val")[::4]:
        said = judge.judge(row["question"], row["reference"], row["candidate"])
        steps = judge.explain(row["question"], row["reference"], row["candidate"])
        last = [re.search(r"(CORRECT|WRONG) at (\d\.\d\d)", one.said) for one in steps]
        verdict = next(one for one in reversed(last) if one is not None)
        assert verdict[1] == said.verdict
        assert float(verdict[2]) == pytest.approx(said.probability, abs=0.0051)


def test_what_is_read_and_who_is_outvoted() -> None:
    """What is judged is shown where it is not the response, and a rule or model that another opinion overrules."""
    steps = steps_of(
        1,
        "How many votes did the motion get in favour?",
        "34",
        '{"answer": "The protocol has 12 in favour and 34 against."}',
    )
    assert steps["read as"] == "The protocol has 12 in favour and 34 against."
    assert steps["tier 0"] == "contained, low-confidence, CORRECT at 0.50"
    assert steps["asserted"] == '"12"'
    assert steps["tier 1"].endswith("contained is outvoted")
    assert steps["elsewhere"].startswith("WRONG at")


def test_a_rule_that_decides_spares_the_encoders() -> None:
    """Where a rule decides, the encoders are not asked, and that is said."""
    steps = steps_of(1, "Capital of France?", "Paris", "Not Paris.")
    assert steps["tier 0"] == "the rule negated decides, WRONG at 0.02"
    assert steps["encoders"] == "not asked: the rule decides"


def test_what_cannot_be_judged_is_an_error() -> None:
    """Without a reference there is nothing to explain."""
    with pytest.raises(DataError, match="no-reference"):
        LocalJudge(tier=0).explain("q", "", "x")


@settings(max_examples=30)
@given(st.text(), st.text(min_size=1), st.text())
def test_every_input_has_steps(question: str, reference: str, response: str) -> None:
    """Whatever the row is, there are steps, or its reference is missing."""
    try:
        steps = LocalJudge(tier=1).explain(question, reference, response)
    except DataError:
        assert not reference.strip()
    else:
        assert {one.name for one in steps} >= {"tier 0"}


def test_the_command_shows_them(tmp_path: Any) -> None:
    """The command prints the verdict and its steps; nothing of a response moves the cursor."""
    given = (
        "--question",
        "Who won?",
        "--reference",
        "Ana Sol",
        "--response",
        "\x1b[2JKarlo won.\nAna Sol came second.",
    )
    done = command.adjudge("judge", "explain", *given, "--judge", "local:1", cwd=tmp_path, env={})
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0].startswith("WRONG at 0.")
    assert lines[1].split() == ["tier", "0", "the", "rule", "other-answer", "decides,", "WRONG", "at", "0.18"]
    assert b"\x1b" not in done.stdout
    wrong = command.adjudge("judge", "explain", *given, "--judge", "openai:gpt-4o", cwd=tmp_path, env={})
    assert (wrong.returncode, b"explain takes local" in wrong.stderr) == (2, True)
