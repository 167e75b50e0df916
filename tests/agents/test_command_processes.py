"""Programs as agents, and what they start, print and leave behind: none of it holds up a run."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents import CommandAgent, get_agent
from adjudge.agents._command import MOST_BYTES, MOST_LINES
from adjudge.errors import AdjudgeError
from adjudge.model import Case

LIMIT = 20.0  # seconds; only what hangs takes as long

PROGRAM = """
import json, os, signal, subprocess, sys
from pathlib import Path

def leave_behind(twice):
    # A process in a session of its own, which holds all of our pipes.
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    if twice and os.fork():
        os.wait()
        return
    child = subprocess.Popen(command, start_new_session=True)
    Path(__file__).with_name("pids").open("a").write(f"{child.pid}\\n")
    if twice:
        os._exit(0)

for line in sys.stdin:
    asked = json.loads(line)["message"]
    if asked.startswith("leave"): leave_behind(twice="twice" in asked)
    if asked.endswith("and die"): sys.exit(7)
    if asked.endswith("and hang"): signal.pause()
    if asked == "signal": os.kill(os.getpid(), signal.SIGKILL)
    if asked == "close": os.close(1); signal.pause()
    if asked == "words": sys.stderr.write(sys.argv[1].encode().decode("unicode_escape")); sys.stderr.flush()
    while asked == "flood": sys.stdout.write("{}\\n" * 10_000)
    if asked == "many":
        for number in range(10_000): print(number, "e" * 80, file=sys.stderr, flush=True)
    if asked == "long":
        for _ in range(300): sys.stderr.write("e" * 10_000)
    answer = json.dumps({"response": asked.upper()})
    print(f"{answer}\\n{answer}" if asked == "two" else f"{answer}\\n" if asked == "blank" else answer, flush=True)
    if asked == "once": break
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Write the program; whatever it left behind is ended."""
    (tmp_path / "agent.py").write_text(PROGRAM)
    yield tmp_path
    with suppress(FileNotFoundError):
        for pid in (tmp_path / "pids").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def talk(folder: Path, *questions: str, words: str = "") -> list[Any]:
    """Ask one after another; the answers, or the reasons why there are none."""

    async def ask() -> list[Any]:
        agent = get_agent(f"command: {sys.executable} {folder / 'agent.py'} '{words}'")
        assert isinstance(agent, CommandAgent)
        found: list[Any] = []
        for question in questions:
            try:
                async with asyncio.timeout(1.0 if question.endswith("hang") else LIMIT):
                    found.append((await agent.respond(Case("1", question), ())).final_response)
            except TimeoutError:
                found.append("deadline")
            except AdjudgeError as error:
                found.append(error.reason)
        async with asyncio.timeout(LIMIT):
            await agent.aclose()
        return found

    return asyncio.run(ask())


@pytest.mark.parametrize("question", ["leave", "leave twice"])
def test_a_process_in_another_session_holds_nothing_up(folder: Path, question: str) -> None:
    """A program that answers, and leaves a process that holds its pipes, is done with its answer."""
    assert talk(folder, question, "next") == [question.upper(), "NEXT"]
    pid = int((folder / "pids").read_text())
    os.kill(pid, 0)  # it is still there: nobody may end the processes of another session


def test_a_deadline_does_not_wait_for_descendants(folder: Path) -> None:
    """After a deadline neither the row nor the end of the run waits for who holds the pipes."""
    assert talk(folder, "leave and hang") == ["deadline"]


def test_a_death_is_seen_while_a_descendant_holds_the_pipes(folder: Path) -> None:
    """A program that ends without an answer is seen to end, although its output stays open."""
    (reason,) = talk(folder, "leave and die")
    assert "ended without an answer, with exit code 7" in reason


def test_a_flood_of_lines_ends_with_its_first(folder: Path) -> None:
    """A program that prints lines without end gives one answer, and is ended."""
    (reason, answer) = talk(folder, "flood", "next")
    assert reason.startswith("bad-answer")
    assert answer == "NEXT"


def test_a_second_line_is_nobodys_answer(folder: Path) -> None:
    """What a program prints after its answer is not taken for that to the next question; empty lines do not matter."""
    assert talk(folder, "two", "next", "blank", "last") == ["TWO", "NEXT", "BLANK", "LAST"]


def test_a_program_that_ended_after_its_answer_is_replaced(folder: Path) -> None:
    """A program that answers once and ends fails no other question."""
    agent = f"command: {sys.executable} {folder / 'agent.py'} x"

    async def ask() -> list[Any]:
        started = get_agent(agent)
        assert isinstance(started, CommandAgent)
        first = await started.respond(Case("1", "once"), ())
        (program,) = started._all
        await asyncio.wait_for(asyncio.shield(program.exited), LIMIT)
        second = await started.respond(Case("2", "next"), ())
        await started.aclose()
        return [first.final_response, second.final_response]

    assert asyncio.run(ask()) == ["ONCE", "NEXT"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("and die", "ended without an answer, with exit code 7"),
        ("signal", "ended without an answer, with SIGKILL"),
        ("close", "closed its input or its output without an answer"),
    ],
)
def test_how_it_ended(folder: Path, question: str, words: str) -> None:
    """The error of a program that gives no answer says how it ended."""
    (reason,) = talk(folder, question)
    assert reason.startswith("agent-died: ")
    assert words in reason


def test_standard_error_is_made_safe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a program prints on standard error is passed on, but commands no terminal and no CI system."""
    words = r"red \x1b[31m\n::error::a\r\n  ##vso[task.complete]\n##TeamCity[x]\nlast words"
    assert talk(folder, "words", words=words) == ["WORDS"]
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["red �[31m", ": :error: :a", "  ##vso [task.complete]", "##TeamCity [x]", "last words"]


@pytest.mark.parametrize("question", ["many", "long"])
def test_standard_error_is_bounded(folder: Path, capsys: pytest.CaptureFixture[str], question: str) -> None:
    """So much of standard error is passed on for an answer, and the next answer has as much again."""
    assert talk(folder, question, question) == [question.upper()] * 2
    err = capsys.readouterr().err
    assert err.count("... (more omitted)\n") == 2
    assert len(err.splitlines()) <= 2 * (MOST_LINES + 1)
    assert len(err) <= 2 * (MOST_BYTES + 1000)
