"""Pages of the docs as what they tell a reader to do: files to write, and commands with their output."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

FENCE = re.compile(r"""^```(\w+)?(?: title="(\S+)")?\n(.*?)^```$""", re.MULTILINE | re.DOTALL)
NOT_RUN = ("make ", "pip ")  # what sets up the project itself


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block that are run, each with the output below it."""
    for call in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = call.partition("\n")
        if not command.startswith(NOT_RUN):
            yield command, expected


def run(command: str, folder: Path, programs: Path, **environment: str) -> str:
    """Run a command line as a reader would, in a folder of its own, with the programs of a virtual environment."""
    done = start(command, folder, programs, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def start(
    command: str, folder: Path, programs: Path, environment: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a command line and return what came of it."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S602 (our own docs)
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
