"""A module whose first imports kill their process: FRAIL_DEATHS of them, counted in the file FRAIL_LOG."""

import os
import signal
from pathlib import Path


def frail_import() -> None:
    """Note this import, and die if it is one of the first."""
    log = Path(os.environ["FRAIL_LOG"])
    with log.open("a", encoding="ascii") as file:
        file.write("import\n")
    if len(log.read_text(encoding="ascii").splitlines()) <= int(os.environ["FRAIL_DEATHS"]):
        os.kill(os.getpid(), signal.SIGKILL)


if "FRAIL_LOG" in os.environ:
    frail_import()
