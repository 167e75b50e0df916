r"""A program as an agent: one JSON line in, one JSON line out, as many processes as there are calls in flight.

{"id": "q1", "message": "Capital of France?", "history": [], "session_id": "..."}\n
{"response": "Paris"}\n
"""

import asyncio
import json
import os
import re
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from adjudge.agents._answer import session_of, to_trajectory
from adjudge.agents._secret import check_command
from adjudge.calling import agent_variables
from adjudge.errors import DataError, ProcessError, UsageError
from adjudge.model import Case, Message, Trajectory, decode_json

LARGEST = 16 << 20  # bytes of one answer
_PASSED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TMP|TEMP|XDG_\w+|SYSTEMROOT"
    r"|PYTHON\w*|VIRTUAL_ENV|CONDA_PREFIX|CONDA_DEFAULT_ENV|NODE_PATH|JAVA_HOME|LD_\w+|DYLD_\w+|CUDA_VISIBLE_DEVICES"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|OTEL_(?!\w*HEADERS)\w+"
)
"""What programs need to start, speak and be traced; none of it is a key."""


@dataclass(slots=True, eq=False)
class CommandAgent:
    """A program that answers JSON lines; it is started as often as needed and ended with the run.

    Of the environment it gets what every program needs (PATH, HOME, the language, Python's own, OpenTelemetry's without
    its headers), and the variables that are named: in `env`, or with `--agent-env`. Keys are not passed on by accident.
    """

    command: str
    name: str = ""
    env: tuple[str, ...] = ()
    _idle: list[asyncio.subprocess.Process] = field(default_factory=list)
    _all: set[asyncio.subprocess.Process] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.name = self.name or f"command:{self.command}"
        self.env = (*self.env, *agent_variables.get())
        if not shlex.split(self.command):
            raise UsageError("the command of the agent is empty")
        check_command(self.command)
        for name in self.env:
            if name not in os.environ:
                raise UsageError(f"{name[:80]} is not set, and the agent was to get it", code="unknown-variable")

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Send one case to an idle process, a new one if there is none, and read its answer."""
        process = self._idle.pop() if self._idle else await self._start()
        try:
            answer = await self._exchange(process, case, history)
        except BaseException:
            # Its next line would be the answer to this case, and be taken for that to another.
            self._end(process)
            raise
        self._idle.append(process)
        return to_trajectory(case, answer)

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            process = await asyncio.create_subprocess_exec(
                *shlex.split(self.command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LARGEST,
                env=self._environment(),
                start_new_session=True,  # a group of its own: what it starts is ended with it
            )
        except OSError as error:
            message = f"{self.command}: {error.strerror or error}"
            raise ProcessError(message, code="agent-not-started") from None
        self._all.add(process)
        return process

    def _environment(self) -> dict[str, str]:
        """Return the variables that the program gets; an empty one hides nothing, and may switch something off."""
        return {
            name: value
            for name, value in os.environ.items()
            if name in self.env or not value or _PASSED.fullmatch(name)
        }

    async def _exchange(self, process: asyncio.subprocess.Process, case: Case, history: Sequence[Message]) -> object:
        assert process.stdin is not None  # noqa: S101 (piped above)
        assert process.stdout is not None  # noqa: S101 (same)
        question = {
            "id": case.id,
            "message": case.question,
            "history": [{"role": message.role, "content": message.content} for message in history],
            "session_id": session_of(case),
        }
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (BrokenPipeError, ConnectionResetError):
            line = b""
        except ValueError:
            raise DataError(f"the agent's answer is longer than {LARGEST} bytes", code="bad-answer") from None
        # A line without an end means that the process has ended, or is about to: wait, so that it leaves no zombie.
        if not line.endswith(b"\n"):
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await process.wait()
            hint = "of the environment it gets only PATH, HOME and the like: name others with --agent-env NAME"
            raise ProcessError(f"{self.command} ended without an answer ({hint})", code="agent-died")
        return decode_json(line, place="the agent's answer: ")

    def _end(self, process: asyncio.subprocess.Process) -> None:
        if process in self._all:
            self._all.discard(process)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    async def aclose(self) -> None:
        """End every process."""
        # All are killed before the first is waited for: they end side by side.
        processes, self._idle = list(self._all), []
        for process in processes:
            self._end(process)
        for process in processes:
            await process.wait()
