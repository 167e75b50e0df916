"""The command line as a person calls it: a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "adjudge"]
GOOD = {"final_response": "Paris", "answer": "Paris"}
F1 = ("--scorer", "qa_f1_reward")
PATIENCE = 300.0  # seconds after which a process counts as hanging, however busy the machine is


def adjudge(
    *arguments: str,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command and return its exit code and output."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start the command as a terminal would: with SIGINT not ignored, in a process group of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def write(path: Path, rows: Iterable[object]) -> None:
    """Write rows, and lines that are no rows, as JSON lines."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")


def lines_of(output: bytes) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in output.splitlines()]


def said(result: subprocess.CompletedProcess[bytes]) -> str:
    """Return the one line that a failed call says, and check that it is one."""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("adjudge: error: ")
    return line.removeprefix("adjudge: error: ")
