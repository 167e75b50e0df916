"""`adjudge plan` and `--dry-run`: what would be called, by whom, and what cannot be known; and nobody is called."""

import re
from pathlib import Path

import pytest

from adjudge.testing import ChatServer, Fault
from cli.command import adjudge, said, write
from cli.judging import KEY, by_number, judge, write_rows

HELPERS = """
from adjudge.judges import LLMJudge, judge_reward
from adjudge.rewards import reward

asked = judge_reward(LLMJudge("m", base_url="http://127.0.0.1:9/v1"), name="asked")

@reward
async def opaque(final_response):
    raise SystemExit("nobody may be asked")

def answer(question):
    raise SystemExit("nobody may be asked")
"""


def numbers(shown: str) -> dict[str, int]:
    """Return the numbers of a plan by their names."""
    found = re.findall(r"^( *[a-z ]+?)  +([\d,]+)$", shown, re.MULTILINE)
    return {name.strip(): int(number.replace(",", "")) for name, number in found}


def plan(folder: Path, *arguments: str) -> str:
    """Return what `adjudge plan` shows."""
    result = adjudge("plan", "rows.jsonl", *arguments, "--cache", "off", cwd=folder, env={"OPENAI_API_KEY": KEY})
    assert result.returncode == 0, result.stderr
    return result.stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with rows, one of them unreadable, and functions of a user's own."""
    rows = [{"id": n, "question": f"What is {n} + 1?", "reference": "x", "response": "old"} for n in range(20)]
    write(tmp_path / "rows.jsonl", [*rows, "{cut"])
    (tmp_path / "helpers.py").write_text(HELPERS)
    return tmp_path


def test_agent_and_judge(folder: Path) -> None:
    """A chat model as agent and one as judge: both are counted and priced, and what depends on answers is said."""
    shown = plan(folder, "--agent", "openai:a", "--judge", "openai:m", "--scorer", "contains_reward", "--price", "1,1")
    found = numbers(shown)
    assert (found["rows"], found["unreadable"]) == (21, 1)
    assert (found["calls"], found["of the agent"], found["of judges"]) == (40, 20, 20)
    assert re.search(r"^cost, about +\$0\.\d\d$", shown, re.MULTILINE)
    assert "not known         what the agent will say: judges are counted as if" in shown
    assert "not known         retries, and replies that have to be asked for twice" in shown


def test_other_agents(folder: Path) -> None:
    """Of a function as agent one call a row is known, and that no more is."""
    shown = plan(folder, "--agent", "helpers:answer", "--scorer", "contains_reward")
    assert numbers(shown) | {"calls": 20, "of the agent": 20, "of judges": 0} == numbers(shown)
    assert "not known         what answer calls and costs beside one call a row" in shown


def test_later_turns(folder: Path) -> None:
    """That the history of later turns is not known is said."""
    turns = [{"id": n, "question": "?", "conversation_id": "c", "turn": n, "answer": "x"} for n in range(3)]
    write(folder / "rows.jsonl", turns)
    shown = plan(folder, "--agent", "openai:a", "--scorer", "contains_reward")
    assert "not known         what is said before the later turns of a conversation" in shown


def test_scorers(folder: Path) -> None:
    """A judge among the scorers is counted; what another async scorer calls is not known; others call nobody."""
    assert numbers(plan(folder, "--scorer", "contains_reward"))["calls"] == 0
    rows = [{"question": f"{n}?", "reference": "x", "final_response": "y"} for n in range(5)]
    write(folder / "rows.jsonl", rows)
    assert numbers(plan(folder, "--scorer", "helpers:asked"))["calls"] == 5
    assert "not known         what the scorer opaque calls" in plan(folder, "--scorer", "helpers:opaque")


def test_dry_resume(tmp_path: Path) -> None:
    """`resume --dry-run` counts only what is left, failed rows too if they are to be asked again, and calls nobody."""
    write_rows(tmp_path / "rows.jsonl", 20)
    script: list[Fault | str] = [*[Fault("400")] * 3, *['{"verdict": "CORRECT"}'] * 5, Fault("401")]
    with ChatServer(script) as server:
        judge(tmp_path, server, "--workers", "1")
        before = server.counts.calls
        for more, left in (([], 12), (["--retry-failed"], 15)):
            result = adjudge("resume", "a.run", "--dry-run", *more, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert result.returncode == 0, result.stderr
            found = numbers(result.stdout.decode())
            assert (found["rows"], found["calls"]) == (left, left)
        assert server.counts.calls == before


def test_dry_rescore(tmp_path: Path) -> None:
    """`rescore --dry-run` counts the calls of the new judge, and writes nothing."""
    write_rows(tmp_path / "rows.jsonl", 20)
    with ChatServer(by_number) as server:
        judge(tmp_path, server)
        before = server.counts.calls
        options = ["--judge", "openai:other", "--base-url", server.base_url, "--run", "b.run", "--cache", "off"]
        result = adjudge("rescore", "a.run", *options, "--dry-run", cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert (result.returncode, server.counts.calls) == (0, before)
    assert numbers(result.stdout.decode())["calls"] == 20
    assert not (tmp_path / "b.run").exists()


def test_nothing_to_plan(folder: Path) -> None:
    """A plan without a scorer or a judge is refused."""
    result = adjudge("plan", "rows.jsonl", "--agent", "openai:a", cwd=folder)
    assert result.returncode == 2
    assert "name a scorer or a judge" in said(result)
