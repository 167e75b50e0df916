"""One writer a run."""

from pathlib import Path

from adjudge.errors import RunError
from adjudge.files import FileLock


class RunLock(FileLock):
    """The right to write one run, held until `release`; `RunError` names the process that has it."""

    def __init__(self, run: Path) -> None:
        super().__init__(run, RunError, code="run-locked")
