"""Judged runs as a person starts them: real processes, a real server, real signals."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.testing import ChatCall, ChatServer, verdict
from cli.command import adjudge, start, write

KEY = "sk-test-0123456789abcdef"


def write_rows(path: Path, count: int) -> list[dict[str, Any]]:
    """Write rows of which every third response is wrong."""
    rows = [
        {
            "id": f"r{index}",
            "question": f"What is {index} + 1?",
            "reference": [str(index + 1), "the next number"],
            "response": f"It is {index + 1 + (index % 3 == 0)}.",
        }
        for index in range(count)
    ]
    write(path, rows)
    return rows


def by_number(call: ChatCall) -> str:
    """Judge as somebody would who can add: by the numbers in the prompt."""
    wrong = any(f"What is {n} + 1" in call.prompt for n in _thirds(call.prompt))
    return verdict(call, "WRONG" if wrong else "CORRECT")


def _thirds(prompt: str) -> list[int]:
    import re

    return [int(n) for n in re.findall(r"What is (\d+) \+ 1", prompt) if int(n) % 3 == 0]


def arguments(server: ChatServer, *more: str, run: str = "a.run", out: str = "out.jsonl") -> list[str]:
    """Return the arguments of a judged run."""
    named = ["--judge", "openai:m", "--base-url", server.base_url, "--run", run, "--out", out, "--cache", "off"]
    return ["judge", "run", "rows.jsonl", *named, *more]


def judge(
    folder: Path, server: ChatServer, *more: str, env: Mapping[str, str] | None = None, **names: str
) -> subprocess.CompletedProcess[bytes]:
    """Judge the rows and return how it ended."""
    return adjudge(*arguments(server, *more, **names), cwd=folder, env={"OPENAI_API_KEY": KEY, **(env or {})})


def begin(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command that is going to be interrupted."""
    os.environ["OPENAI_API_KEY"] = KEY
    try:
        return start(*arguments, cwd=folder)
    finally:
        del os.environ["OPENAI_API_KEY"]


def lines(path: Path) -> list[dict[str, Any]]:
    """Read an output file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
