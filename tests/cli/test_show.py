"""`adjudge show`: a check with its scenarios, and one row of a run whole."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate, open_run
from adjudge.errors import AdjudgeError
from adjudge.judges import LLMJudge
from adjudge.model import Score
from adjudge.rewards import reward
from adjudge.runs import RunConfig
from adjudge.scenarios import read_scenario_run
from adjudge.testing import ChatServer, Fault
from cli.checking import write_scenarios
from cli.command import adjudge, said

OFF = RunConfig(cache="off")
EVIL = "\x1b[2J\x1b]0;title\x07 \u202eright to left\u2066 \x9b2J\n::error::no\n##vso[task.complete]"

WAITING = """
import asyncio, adjudge
from adjudge.runs import RunConfig

async def agent(question):
    await asyncio.sleep(600 if int(question) >= 4 else 0)
    return question

@adjudge.reward
def waits(final_response):
    return 1.0 if int(final_response) else adjudge.Score.error("zero: a row that failed")

rows = [{"id": n, "question": str(n)} for n in range(9)]
adjudge.evaluate(rows, agent=agent, scorers=[waits], run="a.run", config=RunConfig(cache="off", max_unscored=1.0))
"""


def shown(tmp_path: Path, *arguments: str, columns: str = "200") -> str:
    """Run the command, which ends well, and return what it prints."""
    result = adjudge("show", *arguments, cwd=tmp_path, env={"COLUMNS": columns})
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


def check(tmp_path: Path) -> None:
    """Run a check in which one scenario passes, one fails, and one ends in an error, three times each."""
    write_scenarios(tmp_path, {"fine": "hello", "bad": "nothing", "down": "raise"}, tags=["smoke"])
    call = ("check", "scenarios", "--agent", "agent:answer", "--repeat", "3", "--run", "a.run")
    assert adjudge(*call, cwd=tmp_path).returncode == 3


def test_check(tmp_path: Path) -> None:
    """The run of a check is shown with its scenarios, its tags, pass@k, and the interval that its gate used."""
    check(tmp_path)
    text = shown(tmp_path, "a.run")
    lines = [line.split() for line in text.splitlines()]
    assert ["pass", "fine", "3", "of", "3"] in lines
    assert any(line[:5] == ["FAIL", "bad", "0", "of", "3"] for line in lines)
    assert any(line[:5] == ["undecided", "down", "0", "of", "3"] for line in lines)
    assert "9 runs: 3 passed, 3 failed, 3 undecided" in text
    assert "pass@3 0.5000*" in text
    # Six decided runs of two scenarios: as independent ones they would give .1876 .. .8124.
    assert "0.0635 .. 0.9365" in text


def test_failures_of_a_check(tmp_path: Path) -> None:
    """`--failures` lists every run of a check that did not pass, with its reason."""
    check(tmp_path)
    text = shown(tmp_path, "a.run", "--failures")
    assert "bad#2: FAIL: missing: tool 'pdf_retrieval' is expected and was not called" in text
    assert "down#3: undecided: agent-failed: raised: RuntimeError: the agent is down" in text
    assert "fine#1:" not in text


def test_results_of_a_check_are_read_back(tmp_path: Path) -> None:
    """What the file gives is what the check had; a run whose result is damaged is undecided, and never a pass."""
    check(tmp_path)
    found = read_scenario_run(tmp_path / "a.run")
    assert [one["id"] for one in found.results] == ["fine"] * 3 + ["bad"] * 3 + ["down"] * 3
    assert found.outcomes == {"passed": 3, "failed": 3, "undecided": 3}
    assert [row.case.id for row, _ in found.pairs()][:2] == ["fine#1", "fine#2"]


@pytest.mark.parametrize(
    "detail",
    [None, [], {"id": "x"}, {"id": "x", "status": "scored", "pass": True, "reasons": 3}, "text", {"status": "scored"}],
)
def test_a_result_from_a_stranger(tmp_path: Path, detail: Any) -> None:
    """A result that is not one counts as undecided, and is shown."""

    @reward(name="scenario")
    def scenario(answer: str) -> Score:
        return Score.scored(1.0, detail=detail)

    evaluate([{"id": "a#1", "answer": "x", "group_id": "a"}], scorers=[scenario], run=tmp_path / "a.run", config=OFF)
    assert "1 run: 0 passed, 0 failed, 1 undecided" in shown(tmp_path, "a.run", "--failures")


def test_a_row_whole(tmp_path: Path) -> None:
    """A row has its question, conversation, scores, the judge's prompt and raw reply, attempts, tokens and time."""
    row = {
        "id": "q1",
        "question": "Capital of France?",
        "reference": ["Paris", "the city of Paris"],
        "response": "It is Paris.",
        "topic": "cities",
        "trajectory": {
            "messages": [
                {"role": "user", "content": "Capital of France?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": '{"q": "France"}'}}],
                },
                {"role": "tool", "tool_call_id": "c", "content": "Paris, says the atlas."},
                {"role": "assistant", "content": "It is Paris."},
            ],
            "prompt_tokens": 12,
        },
    }
    with ChatServer([Fault("500"), '{"reasoning": "It names Paris.", "verdict": "CORRECT"}']) as server:
        judge = LLMJudge("a-model", base_url=server.base_url)
        evaluate([row], judge=judge, run=tmp_path / "a.run", config=RunConfig(cache="off", price=(1.0, 2.0)))
    text = shown(tmp_path, "a.run", "q1")
    for part in (
        "row 1 of 1: q1",
        "question: Capital of France?",
        "reference: Paris",
        "reference: the city of Paris",
        "column topic: cities",
        'calls search: {"q": "France"}',
        "tool: Paris, says the atlas.",
        "response: It is Paris.",
        "1. search: ran",
        "score openai:a-model: 1",
        "It names Paris.",
        "request 1 to a-model: call, 2 attempts, ",
        "attempt 1 failed after ",
        "500",
        "prompt",
        "raw",
    ):
        assert part in text, part
    assert "$" in text
    assert "tokens" in text
    assert shown(tmp_path, "a.run", "1") == text


def test_a_row_that_failed(tmp_path: Path) -> None:
    """A row without an answer says why."""

    def agent(question: str) -> str:
        raise RuntimeError("the agent is down")

    evaluate([{"id": "x", "question": "?"}], agent=agent, scorers=["max_turns"], run=tmp_path / "a.run", config=OFF)
    text = shown(tmp_path, "a.run", "x")
    assert "the agent failed: agent-failed: raised: RuntimeError: the agent is down" in text
    assert "score max_turns: error" in text


def test_hostile_texts(tmp_path: Path) -> None:
    """Nothing that a row says moves the cursor, turns the text or commands CI; what is long is cut and counted."""
    evil = {
        "id": EVIL,
        "question": EVIL,
        "reference": EVIL,
        "response": "x" * (1 << 20),
        EVIL: {EVIL: [EVIL, {EVIL: EVIL}]},
        "deep": json.loads("[" * 200 + "]" * 200),
        "trajectory": {
            "messages": [
                {"role": EVIL, "name": EVIL, "content": EVIL},
                {"role": "assistant", "content": "y" * (1 << 20)},
            ],
            "tool_calls": [{"name": EVIL, "arguments": EVIL, "result": EVIL}],
            "agents_called": [EVIL],
            "sources": [EVIL],
            "unknown": {"order": EVIL},
            "trace_id": EVIL,
        },
    }
    evaluate([evil], scorers=["qa_f1_reward"], run=tmp_path / "a.run", config=OFF)
    text = shown(tmp_path, "a.run", "1")
    for piece in ("\x1b", "\x9b", "\u202e", "\u2066", "\x07", "::error", "##vso["):
        assert piece not in text
    assert "1,028,576 more characters" in text
    assert len(text) < 200_000


def test_columns_of_odd_types(tmp_path: Path) -> None:
    """Whatever is where a text should be is shown as JSON."""
    odd: dict[str, Any] = {"a": [1, None, {"b": True}]}
    row = {"id": 7, "question": odd, "reference": [odd, 3], "response": 4.5, "sources": odd, "trajectory": {"no": 1}}
    evaluate([row], scorers=["qa_f1_reward"], run=tmp_path / "a.run", config=OFF)
    text = shown(tmp_path, "a.run", "7")
    assert 'question: {"a": [1, null, {"b": true}]}' in text
    assert "response: 4.5" in text
    assert 'trajectory: {"no": 1}' in text


@pytest.mark.parametrize("row", ["rwo-3", "99", "0", "-1", "", "1.5", "\u0663", "9" * 400])
def test_unknown_row(tmp_path: Path, row: str) -> None:
    """A row that is not there is refused with an id that is near, and exit code 2."""
    rows = [{"id": f"row-{n}", "answer": "a", "final_response": "a"} for n in range(5)]
    evaluate(rows, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    result = adjudge("show", "a.run", "--", row, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, b"")
    line = said(result)
    assert "it has 5 cases" in line
    if row == "rwo-3":
        assert "did you mean 'row-3'?" in line


def test_an_id_comes_before_a_number(tmp_path: Path) -> None:
    """An id that looks like a number is that id; the number of a row counts from 1."""
    rows = [{"id": n, "answer": "a", "final_response": "a"} for n in (3, 2, "x")]
    evaluate(rows, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    assert shown(tmp_path, "a.run", "3").startswith("row 1 of 3: 3\n")
    assert shown(tmp_path, "a.run", "1").startswith("row 1 of 3: 3\n")


def test_rows_with_the_same_id(tmp_path: Path) -> None:
    """Where several rows have an id, the first one is shown, and how to see the others."""
    rows = [{"id": name, "answer": "a", "final_response": "a"} for name in "xyx"]
    evaluate(rows, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    line = "several rows have this id: 1, 3; give a number to see that row"
    assert shown(tmp_path, "a.run", "x").splitlines()[:2] == ["row 1 of 3: x", line]
    assert shown(tmp_path, "a.run", "3").splitlines()[:2] == ["row 3 of 3: x", line]
    assert "several" not in shown(tmp_path, "a.run", "y")


@pytest.mark.parametrize("call", [("show",), ("view", "--no-browser"), ("report", "--out", "x.html")])
def test_what_is_not_a_file(tmp_path: Path, call: tuple[str, ...]) -> None:
    """A pipe, and links that name each other, are refused at once: nobody waits for a writer."""
    os.mkfifo(tmp_path / "pipe.run")
    (tmp_path / "a.run").symlink_to("b.run")
    (tmp_path / "b.run").symlink_to("a.run")
    pipe = adjudge(*call, "pipe.run", cwd=tmp_path)
    assert (pipe.returncode, said(pipe)) == (2, "pipe.run is not a regular file")
    loop = adjudge(*call, "a.run", cwd=tmp_path)
    assert loop.returncode == 2
    assert said(loop).startswith("a.run: ")


def test_a_row_is_shown_alone(tmp_path: Path) -> None:
    """A row goes with no option that is about all of them."""
    evaluate([{"answer": "a", "final_response": "a"}], scorers=["qa_em_reward"], run=tmp_path / "a.run", config=OFF)
    assert adjudge("show", "a.run", "1", "--failures", cwd=tmp_path).returncode == 2
    assert open_run(tmp_path / "a.run").size == 1


def test_rows_to_do_are_no_errors(tmp_path: Path) -> None:
    """Of a run that goes on, or was killed, rows that wait are counted apart, and are neither errors nor failures."""
    with subprocess.Popen([sys.executable, "-c", WAITING], cwd=tmp_path) as process:
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until and not _has_done(tmp_path / "a.run", 4):
                time.sleep(0.1)
            found = [shown(tmp_path, "a.run", "--failures")]
        finally:
            process.kill()
    found.append(shown(tmp_path, "a.run", "--failures"))
    for state, text in zip(("running", "stopped"), found, strict=True):
        lines = text.splitlines()
        assert lines[0].startswith(f"{state}: 4 of 9 rows")
        assert lines[3].split()[:6] == ["waits", "4", "3", "0", "1", "1.0000*"]
        assert "5 rows to do" in lines
        assert "not-run" not in text
        assert lines[-1] == "0: waits: error: zero: a row that failed"


def _has_done(file: Path, count: int) -> bool:
    try:
        return open_run(file).state.done >= count
    except AdjudgeError:  # it is not there yet
        return False
